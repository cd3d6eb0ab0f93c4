//! The connector of a provider of kind `record`: nothing leaves. The decision that let the effect go is the outcome, kept
//! with its journal and shown like every other; for questions whose answer is all that is wanted.

use async_trait::async_trait;
use effectgate_core::{
    effect::Effect,
    ids::EffectType,
    outcome::{Phase, Report},
    retry::{Class, Classified, Look, Success},
};
use serde_json::Value;

use crate::{connect::WriteGate, connector::Connector, view::FindingView};

/// See the module.
#[derive(Debug, Default)]
pub struct RecordConnector;

#[async_trait]
impl Connector for RecordConnector {
    /// Asks the gate like everybody: with the switch off nothing is recorded as done.
    async fn attempt(&self, _: &Effect, gate: &dyn WriteGate) -> Report {
        match gate.may_write().await {
            Ok(()) => Report { phase: Phase::Answered, bytes_sent: 0, answer: None, error: None, handle: None },
            Err(reason) => Report::not_sent(Phase::Prepared, reason),
        }
    }

    fn success(&self, _: &EffectType) -> Success {
        Success { external_id: None, member: None }
    }

    fn means(&self, _: &Effect, report: &Report) -> Option<Classified> {
        let detail = Some("recorded; nothing leaves here".to_owned());
        let recorded =
            Classified { class: Class::Applied, external_id: None, retry_after_ms: None, detail, repeats: false };
        (report.phase == Phase::Answered).then_some(recorded)
    }

    fn kind(&self) -> Option<&'static str> {
        Some("record: nothing leaves")
    }

    async fn look(&self, _: &Effect) -> Look {
        Look::Nothing { detail: "there is nobody to ask".to_owned() }
    }

    fn check(&self, _: &EffectType, _: &str, _: &Value) -> Vec<FindingView> {
        Vec::new()
    }
}
