//! A connector: how one provider is written to and asked. It makes one attempt and says what it saw; it decides
//! nothing, never repeats by itself, and holds the only copy of the provider's URL, templates and credentials.

use async_trait::async_trait;
use effectgate_core::{
    effect::Effect,
    ids::EffectType,
    outcome::Report,
    retry::{Look, Success},
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

    /// What this connector needs of a payload (a mail's recipient, a template's members), found before approval.
    /// Pointers are relative to the payload.
    fn check(&self, effect_type: &EffectType, target: &str, payload: &Value) -> Vec<FindingView>;

    /// What a person can search for at the provider: the Message-ID, or the provider key.
    fn handle(&self, effect: &Effect) -> String {
        effect.provider_key.clone()
    }
}
