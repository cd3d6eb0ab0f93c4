//! A connector: how one provider is written to and asked. It makes one attempt and says what it saw; it decides
//! nothing, never repeats by itself, and holds the only copy of the provider's URL, templates and credentials.

use async_trait::async_trait;
use effectgate_core::{
    effect::Effect,
    ids::EffectType,
    outcome::Report,
    provider::Provider,
    retry::{Classified, Look, Success},
    time::Timestamp,
};
use serde_json::Value;

use crate::{connect::WriteGate, outbound::Kept, view::FindingView};

#[async_trait]
pub trait Connector: Send + Sync + 'static {
    /// Makes one attempt with the effect's exact bytes and its provider key. Asks the gate right before the first byte.
    async fn attempt(&self, effect: &Effect, gate: &dyn WriteGate) -> Report;

    /// The same attempt, and the answer as a caller at the outbound door may be given it. `None` where this effect did
    /// not come through the door, or no answer was seen.
    async fn attempt_kept(&self, effect: &Effect, gate: &dyn WriteGate) -> (Report, Option<Kept>) {
        (self.attempt(effect, gate).await, None)
    }

    /// How a success of this type is recognised.
    fn success(&self, effect_type: &EffectType) -> Success;

    /// Asks what became of an effect, without writing. Only called where the provider declares a lookup.
    async fn look(&self, effect: &Effect) -> Look;

    /// [`Connector::look`], with the moment at which the last attempt began, for a connector that
    /// [goes by it](Connector::goes_by_time).
    async fn look_since(&self, effect: &Effect, _last_began: Option<Timestamp>) -> Look {
        self.look(effect).await
    }

    /// True if what a look finds is held against the time of the last attempt.
    fn goes_by_time(&self) -> bool {
        false
    }

    /// What this connector needs of a payload (a mail's recipient, a template's members), found before approval.
    /// Pointers are relative to the payload.
    fn check(&self, effect_type: &EffectType, target: &str, payload: &Value) -> Vec<FindingView>;

    /// The rules for effects of this type, where they are not those of the provider's section: not every place at one
    /// provider bears the same.
    fn rules(&self, _effect_type: &EffectType) -> Option<&Provider> {
        None
    }

    /// What a report means, where a status alone does not say it. `None` leaves it to the provider's rules.
    fn means(&self, _effect: &Effect, _report: &Report) -> Option<Classified> {
        None
    }

    /// The payload as people are shown it: without what would give them a right that they do not have.
    fn shown(&self, effect: &Effect) -> String {
        effect.payload.clone()
    }

    /// What kind of system it speaks to, for people, where that is neither a web server nor a mail server.
    fn kind(&self) -> Option<&'static str> {
        None
    }

    /// What a person can search for at the provider: the Message-ID, or the provider key.
    fn handle(&self, effect: &Effect) -> String {
        effect.provider_key.clone()
    }
}
