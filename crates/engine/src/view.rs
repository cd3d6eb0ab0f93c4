//! How runs, effects and approvals look from outside: the members of WIRE. The same shape is stored as the first answer
//! to a call and given again on a repeat, so it is read as well as written.

mod approval;

pub use approval::{
    ApprovalView, ChangeView, ChangedView, DecisionView, EditView, ResumeState, ResumeView, WithdrawalView,
    approval_view, change_view, edit_changes,
};
use effectgate_core::{
    effect::{Effect, EffectState},
    ids::{EffectId, RunId},
    run::{Aggregate, Lease, Run},
    switch::Switch,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// A run as callers see it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    #[schema(value_type = String)]
    pub id: RunId,
    pub flow: String,
    pub flow_revision: String,
    pub key: String,
    pub state: String,
    pub reason: Option<String>,
    pub version: i64,
    pub payload_hash: String,
    pub attempts: i32,
    pub attempts_max: i32,
    pub correlation_id: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub result: Option<Box<RawValue>>,
    pub effects: Vec<EffectView>,
    pub approval: Option<ApprovalView>,
    #[schema(value_type = Option<String>)]
    pub corrects: Option<RunId>,
    /// With `corrects`: what the original had done, for the worker of the correction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<OriginalView>,
    #[schema(value_type = Option<String>)]
    pub next_attempt_at: Option<Timestamp>,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    #[schema(value_type = String)]
    pub updated_at: Timestamp,
    #[schema(value_type = Option<String>)]
    pub expires_at: Option<Timestamp>,
}

/// The run that a correction corrects, as it had ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OriginalView {
    #[schema(value_type = String)]
    pub run_id: RunId,
    pub key: String,
    pub state: String,
    /// What happened outside, with the provider's ids.
    pub results: Vec<ResultView>,
    /// Who asked for the correction, and why.
    pub corrected_by: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResultView {
    #[serde(rename = "type")]
    pub effect_type: String,
    pub provider: String,
    pub external_id: Option<String>,
}

fn original_view(run: &Run) -> Option<OriginalView> {
    let (run_id, known) = (run.origin.corrects?, run.origin.correction.as_ref()?);
    let results = known.results.iter().map(|result| ResultView {
        effect_type: result.effect_type.clone(),
        provider: result.provider.clone(),
        external_id: result.external_id.clone(),
    });
    Some(OriginalView {
        run_id,
        key: known.original_key.clone(),
        state: known.original_state.clone(),
        results: results.collect(),
        corrected_by: known.by.clone(),
        reason: known.reason.clone(),
    })
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EffectView {
    #[schema(value_type = String)]
    pub id: EffectId,
    #[serde(rename = "type")]
    pub effect_type: String,
    pub target: String,
    pub provider: String,
    pub executor: String,
    pub state: String,
    pub reason: Option<String>,
    pub payload_hash: String,
    pub provider_key: String,
    pub external_id: Option<String>,
    pub attempts: i32,
    /// Rises with each attempt. `resolve` takes it, so that a word is about the attempt that was looked at.
    pub fence: i64,
    #[schema(value_type = Option<String>)]
    pub not_before: Option<Timestamp>,
    #[schema(value_type = Option<String>)]
    pub next_attempt_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeaseView {
    pub owner: String,
    pub fence: i64,
    #[schema(value_type = String)]
    pub expires_at: Timestamp,
    /// Two thirds of the lease: renew before this and one lost renewal can be repeated.
    #[schema(value_type = String)]
    pub renew_before: Timestamp,
}

/// One thing that is wrong, for the person or model that has to mend it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FindingView {
    pub pointer: String,
    pub message: String,
    pub keyword: String,
}

pub type Findings = Vec<FindingView>;

impl FindingView {
    #[must_use]
    pub fn new(pointer: impl Into<String>, keyword: &str, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), keyword: keyword.to_owned() }
    }
}

/// The run of an aggregate. `result` is the stored text, `switches` explain why a pending effect does not go.
#[must_use]
pub fn run_view(agg: &Aggregate, result: Option<&str>, switches: &[Switch]) -> RunView {
    let mut view = bare_run(&agg.run);
    view.result = result.and_then(|text| RawValue::from_string(text.to_owned()).ok());
    view.effects = agg.effects.iter().map(|e| effect_view(&agg.run, e, switches)).collect();
    view.approval = agg.approval().map(approval_view);
    view
}

/// A run without its children.
#[must_use]
pub fn bare_run(run: &Run) -> RunView {
    RunView {
        id: run.id,
        flow: run.flow.as_str().to_owned(),
        flow_revision: run.flow_revision.clone(),
        key: run.key.clone(),
        state: run.state.as_str().to_owned(),
        reason: run.state.reason().map(str::to_owned),
        version: run.version,
        payload_hash: run.payload_hash.to_string(),
        attempts: run.attempts,
        attempts_max: run.attempts_max,
        correlation_id: run.origin.correlation_id.clone(),
        result: None,
        effects: Vec::new(),
        approval: None,
        corrects: run.origin.corrects,
        original: original_view(run),
        next_attempt_at: run.state.next_attempt_at(),
        created_at: run.created_at,
        updated_at: run.updated_at,
        expires_at: run.expires_at,
    }
}

/// An effect. A pending one that a switch holds back says so, without a write for each row at the turn.
#[must_use]
pub fn effect_view(run: &Run, effect: &Effect, switches: &[Switch]) -> EffectView {
    let waits = matches!(effect.state, EffectState::Pending { .. } | EffectState::Scheduled { .. });
    let held = waits && effectgate_core::sending::applies(run, effect).stopped_by(switches).is_some();
    EffectView {
        id: effect.id,
        effect_type: effect.effect_type.as_str().to_owned(),
        target: effect.target.clone(),
        provider: effect.provider.as_str().to_owned(),
        executor: effect.executor.as_str().to_owned(),
        state: effect.state.as_str().to_owned(),
        reason: if held { Some("switch_off".into()) } else { effect.reason.clone() },
        payload_hash: format!("sha256:{}", effect.payload_hash()),
        provider_key: effect.provider_key.clone(),
        external_id: effect.external_id.clone(),
        attempts: effect.attempts,
        fence: effect.fence.0,
        not_before: match effect.state {
            EffectState::Scheduled { not_before } => Some(not_before),
            _ => None,
        },
        next_attempt_at: match effect.state {
            EffectState::Pending { due_at } => Some(due_at),
            EffectState::Unknown { look_at } => Some(look_at),
            _ => None,
        },
    }
}

/// The lease as its holder sees it.
#[must_use]
pub fn lease_view(run: &Run, lease: &Lease) -> LeaseView {
    let begin = lease.expires_at.plus_ms(-lease.left_ms);
    LeaseView {
        owner: run.owner.as_ref().map(|o| o.as_str().to_owned()).unwrap_or_default(),
        fence: run.fence.0,
        expires_at: lease.expires_at,
        renew_before: begin.plus_ms(lease.left_ms.max(0) * 2 / 3),
    }
}
