//! How approvals look from outside: how they stand, who decided, what was edited. Values of edits are content: they are
//! in [`ChangeView`], for those who may read the effects, and nowhere else.

use effectgate_core::{
    approval::{Approval, ApprovalState, Decision, Edit, EffectChange, Outcome, Resume, changes},
    diff::ChangeKind,
    ids::{ApprovalId, RunId},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalView {
    #[schema(value_type = String)]
    pub id: ApprovalId,
    #[schema(value_type = String)]
    pub run_id: RunId,
    pub state: String,
    pub effects_hash: String,
    pub audience: Vec<String>,
    pub quorum: i32,
    /// All of them, those about earlier effects too.
    pub decisions: Vec<DecisionView>,
    /// Approvals of the effects as they are now.
    #[serde(default)]
    pub approvals: usize,
    /// How many are still wanted; 0 once it has ended.
    #[serde(default)]
    pub wanted: usize,
    /// True if the next one must be by somebody who edited nothing: whoever edited is not the only one who approves.
    #[serde(default)]
    pub wanted_by_non_editor: bool,
    /// What people changed, oldest first: where, not what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditView>,
    /// `approved`, `rejected`, `expired`, `withdrawn` or `undeliverable`; null while it is open.
    #[serde(default)]
    pub outcome: Option<String>,
    /// `undeliverable` as long as nobody could be told of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<WithdrawalView>,
    #[schema(value_type = String)]
    pub expires_at: Timestamp,
    /// Where an execution waits for it, and what became of telling it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<ResumeView>,
    /// Only where the flow says that the caller delivers the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecisionView {
    pub subject: String,
    pub decision: String,
    pub reason: Option<String>,
    #[schema(value_type = String)]
    pub at: Timestamp,
    /// The effects it is about; of an edit, those that came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects_hash: Option<String>,
    /// True if the effects are others by now: it stays on record and does not count.
    #[serde(default)]
    pub superseded: bool,
}

/// An edit by name only: its values are content and are read where the effects are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EditView {
    pub by: String,
    #[schema(value_type = String)]
    pub at: Timestamp,
    pub from_hash: String,
    pub to_hash: String,
    pub changes: Vec<ChangedView>,
}

/// Where something changed. `effect` counts from 0, `pointer` leads into its payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangedView {
    pub effect: usize,
    pub pointer: String,
    /// `added`, `removed` or `changed`.
    #[schema(value_type = String)]
    pub kind: ChangeKind,
}

/// Where something changed, and what from and to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ChangeView {
    #[serde(flatten)]
    pub place: ChangedView,
    #[schema(value_type = Option<Object>)]
    pub before: Option<Box<RawValue>>,
    #[schema(value_type = Option<Object>)]
    pub after: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WithdrawalView {
    pub by: String,
    #[schema(value_type = String)]
    pub at: Timestamp,
    pub reason: String,
}

/// A waiting execution. Its address is not shown: it gives the right to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResumeView {
    pub execution: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    pub state: ResumeState,
    /// The run whose effect is the call; there is none before the approval has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub run_id: Option<RunId>,
}

/// How far it is with telling a waiting execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResumeState {
    /// The approval is open.
    Waiting,
    /// It has ended, and the execution is being told.
    Queued,
    /// The execution has gone on.
    Resumed,
    /// Whether it has gone on is not known; a person looks.
    Review,
    /// It cannot be told: the execution is not there any more, or its address is no good.
    Failed,
}

#[must_use]
pub fn approval_view(approval: &Approval) -> ApprovalView {
    let wants = approval.outcome().is_none().then(|| approval.wants());
    let is_undeliverable = approval.terms.undeliverable && wants.is_some();
    ApprovalView {
        id: approval.id,
        run_id: approval.id.run,
        state: approval.state.as_str().to_owned(),
        effects_hash: format!("sha256:{}", approval.effects_hash),
        audience: approval.terms.audience.clone(),
        quorum: approval.terms.quorum,
        decisions: approval.decisions.iter().map(|d| decision_view(approval, d)).collect(),
        approvals: approval.approvals().count(),
        wanted: wants.map_or(0, |w| w.more),
        wanted_by_non_editor: wants.is_some_and(|w| w.by_non_editor),
        edits: approval.edits.iter().map(edit_view).collect(),
        outcome: approval.outcome().map(|o| o.as_str().to_owned()),
        delivery: is_undeliverable.then(|| Outcome::Undeliverable.as_str().to_owned()),
        withdrawn: approval.terms.withdrawn.as_ref().map(|w| WithdrawalView {
            by: w.by.clone(),
            at: w.at,
            reason: w.reason.clone(),
        }),
        expires_at: approval.expires_at,
        resume: approval.terms.resumes.last().map(|place| resume_view(place, approval.state)),
        link: None,
    }
}

fn resume_view(place: &Resume, state: ApprovalState) -> ResumeView {
    let state = if state == ApprovalState::Open { ResumeState::Waiting } else { ResumeState::Queued };
    ResumeView { execution: place.execution.clone(), node: place.node.clone(), state, run_id: None }
}

/// An edit with its values, for those who may read the effects.
#[must_use]
pub fn edit_changes(edit: &Edit) -> Vec<ChangeView> {
    changes(&edit.before, &edit.after).iter().map(change_view).collect()
}

fn edit_view(edit: &Edit) -> EditView {
    EditView {
        by: edit.by.to_string(),
        at: edit.at,
        from_hash: format!("sha256:{}", edit.from_hash),
        to_hash: format!("sha256:{}", edit.to_hash),
        changes: changes(&edit.before, &edit.after).iter().map(changed_view).collect(),
    }
}

fn changed_view(one: &EffectChange) -> ChangedView {
    ChangedView { effect: one.effect, pointer: one.change.pointer.clone(), kind: one.change.kind }
}

/// One change with its values.
#[must_use]
pub fn change_view(one: &EffectChange) -> ChangeView {
    let raw = |text: &Option<String>| text.as_ref().and_then(|text| RawValue::from_string(text.clone()).ok());
    ChangeView { place: changed_view(one), before: raw(&one.change.before), after: raw(&one.change.after) }
}

fn decision_view(approval: &Approval, decision: &Decision) -> DecisionView {
    DecisionView {
        subject: decision.subject.to_string(),
        decision: decision.verdict.as_str().to_owned(),
        reason: decision.reason.clone(),
        at: decision.at,
        effects_hash: decision.effects_hash.map(|hash| format!("sha256:{hash}")),
        superseded: !approval.counts(decision),
    }
}
