//! What an event says: its kind, its moment, and the ids and states of what it is about. No content: whoever may read
//! that reads it with the ids.
//!
//! States are those of the moment at which the message is made, which may be later than the event: a receiver that acts
//! on a state reads it again.

use effectgate_core::{
    approval::{Approval, Outcome},
    effect::Effect,
    event::{Event, EventKind},
    ids::{ApprovalId, EffectId, RunId},
    run::{Aggregate, Run},
    time::Timestamp,
};
use serde::Serialize;
use utoipa::ToSchema;

/// The body of one delivery. The names are those of runs, approvals and effects elsewhere.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventBody {
    /// What happened.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    pub kind: EventKind,
    /// When it happened.
    #[schema(value_type = String)]
    pub at: Timestamp,
    pub data: EventData,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EventData {
    #[schema(inline)]
    pub run: RunState,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(inline)]
    pub approval: Option<ApprovalState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(inline)]
    pub effect: Option<EffectState>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RunState {
    #[schema(value_type = String)]
    pub id: RunId,
    pub flow: String,
    pub key: String,
    pub state: String,
    pub reason: Option<String>,
    pub version: i64,
    pub correlation_id: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalState {
    #[schema(value_type = String)]
    pub id: ApprovalId,
    pub state: String,
    /// `approved`, `rejected`, `expired`, `withdrawn` or `undeliverable`; null while it is open.
    pub outcome: Option<String>,
    pub effects_hash: String,
    #[schema(value_type = String)]
    pub expires_at: Timestamp,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EffectState {
    #[schema(value_type = String)]
    pub id: EffectId,
    #[serde(rename = "type")]
    pub effect_type: String,
    pub provider: String,
    pub state: String,
    pub reason: Option<String>,
    pub external_id: Option<String>,
}

/// The body of one event, of the run as it is now.
pub(super) fn of(event: Event, at: Timestamp, agg: &Aggregate) -> EventBody {
    let run = agg.run.id;
    let approval = event.approval(run).and_then(|id| agg.approvals.iter().find(|a| a.id == id));
    let effect = event.effect(run).and_then(|id| agg.effects.iter().find(|e| e.id == id));
    let data = EventData {
        run: run_state(&agg.run),
        approval: approval.map(approval_state),
        effect: effect.map(effect_state),
    };
    EventBody { kind: event.kind, at, data }
}

fn run_state(run: &Run) -> RunState {
    RunState {
        id: run.id,
        flow: run.flow.as_str().to_owned(),
        key: run.key.clone(),
        state: run.state.as_str().to_owned(),
        reason: run.state.reason().map(str::to_owned),
        version: run.version,
        correlation_id: run.origin.correlation_id.clone(),
    }
}

fn approval_state(approval: &Approval) -> ApprovalState {
    ApprovalState {
        id: approval.id,
        state: approval.state.as_str().to_owned(),
        outcome: approval.outcome().map(|outcome: Outcome| outcome.as_str().to_owned()),
        effects_hash: format!("sha256:{}", approval.effects_hash),
        expires_at: approval.expires_at,
    }
}

fn effect_state(effect: &Effect) -> EffectState {
    EffectState {
        id: effect.id,
        effect_type: effect.effect_type.as_str().to_owned(),
        provider: effect.provider.as_str().to_owned(),
        state: effect.state.as_str().to_owned(),
        reason: effect.reason.clone(),
        external_id: effect.external_id.clone(),
    }
}
