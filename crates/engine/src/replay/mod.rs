//! Bulk replay: a filter with a limit becomes a plan, a plan is executed once, and both are shown key by key. The rules
//! are core's ([`effectgate_core::replay`]); making a plan ([`plan`]) only reads, executing one ([`execute`]) writes
//! recoveries. Neither sends anything: what a recovered run does next is its worker's, through the usual gate.

mod execute;
mod found;
mod plan;

use std::collections::BTreeMap;

use effectgate_core::{
    ids::{FlowName, ReplayId, RunId},
    replay::{ReplayFilter, ReplayState},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use effectgate_core::replay::LIMIT_MAX;

/// The pace and the bounds of replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayPolicy {
    /// How long a plan may be executed: what it says of the runs grows old.
    pub plan_ms: i64,
    /// How long a plan and its report are kept.
    pub kept_ms: i64,
}

impl Default for ReplayPolicy {
    /// A quarter of an hour to read a plan; its report for a month, as long as people ask what was done.
    fn default() -> Self {
        Self { plan_ms: 900_000, kept_ms: 30 * 86_400_000 }
    }
}

/// A plan as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRequest {
    pub filter: ReplayFilter,
    /// 1 to [`LIMIT_MAX`].
    pub limit: u32,
    pub reason: String,
    /// Nothing is stored but one entry in the record.
    pub dry_run: bool,
}

/// A plan, and how far its execution is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ReplayView {
    /// None for a dry run: nothing was stored, so there is nothing to execute.
    #[schema(value_type = Option<String>)]
    pub id: Option<ReplayId>,
    pub dry_run: bool,
    pub state: ReplayStanding,
    pub filter: FilterView,
    pub limit: u32,
    pub reason: String,
    pub made_by: String,
    #[schema(value_type = String)]
    pub made_at: Timestamp,
    #[schema(value_type = Option<String>)]
    pub expires_at: Option<Timestamp>,
    pub started_by: Option<String>,
    #[schema(value_type = Option<String>)]
    pub started_at: Option<Timestamp>,
    #[schema(value_type = Option<String>)]
    pub ended_at: Option<Timestamp>,
    #[serde(flatten)]
    pub summary: Summary,
    /// Runs that the execution is about.
    pub total: i64,
    /// Of these, recovered.
    pub done: i64,
    /// Of these, left alone because they had changed since the plan.
    pub skipped: i64,
    /// In a list of plans, left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<KeyView>>,
}

impl ReplayView {
    /// Items that are dealt with, of [`total`](Self::total).
    #[must_use]
    pub fn dealt_with(&self) -> i64 {
        self.done + self.skipped
    }
}

/// Where a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayStanding {
    DryRun,
    /// May be executed until it expires.
    Planned,
    /// Was not executed in time.
    Expired,
    Running,
    Done,
}

impl ReplayStanding {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DryRun => "dry_run",
            Self::Planned => "planned",
            Self::Expired => "expired",
            Self::Running => "running",
            Self::Done => "done",
        }
    }
}

/// A filter as callers wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FilterView {
    pub flow: String,
    /// `*` means any.
    pub event_type: String,
    #[schema(value_type = String)]
    pub since: Timestamp,
    #[schema(value_type = String)]
    pub until: Timestamp,
    /// `failed_retryable`, `processing` (with a lease that is over), `quarantined` or `any`.
    #[schema(value_type = String)]
    pub state: ReplayState,
}

/// Means any event type.
pub const ANY_EVENT_TYPE: &str = "*";

impl From<&ReplayFilter> for FilterView {
    fn from(filter: &ReplayFilter) -> Self {
        Self {
            flow: filter.flow.as_str().to_owned(),
            event_type: filter.event_type.clone().unwrap_or_else(|| ANY_EVENT_TYPE.to_owned()),
            since: filter.since,
            until: filter.until,
            state: filter.state,
        }
    }
}

impl From<FilterView> for ReplayFilter {
    fn from(view: FilterView) -> Self {
        Self {
            flow: FlowName::new(view.flow),
            event_type: (view.event_type != ANY_EVENT_TYPE).then_some(view.event_type),
            since: view.since,
            until: view.until,
            state: view.state,
        }
    }
}

/// What a plan comes to, over all its runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Summary {
    pub counts: Counts,
    /// Systems that the recovered runs would touch.
    pub providers: Vec<ProviderTouched>,
    pub cost: Cost,
    /// More runs match than the limit lets in; a further plan takes them.
    pub more: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    /// Runs that match, up to the limit.
    pub matching: usize,
    pub replayable: usize,
    pub refused: usize,
    /// Runs that have done something outside already.
    pub with_results: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProviderTouched {
    pub name: String,
    /// `enforcing`, `advisory`, or `unknown` if the config has it no more.
    pub class: String,
    /// Effects at it that the recovered runs have already, in whatever state.
    pub effects: usize,
}

/// The most that an execution may cost, as far as it can be known before the workers work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Cost {
    /// Claims that it allows: one for each run.
    pub attempts: usize,
    /// Effects of these runs that are not final: the next owner goes on with them.
    pub effects_open: usize,
    /// How often a worker may call its model: once for each run.
    pub model_runs: usize,
}

/// What a plan says of one run, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeyView {
    #[schema(value_type = String)]
    pub run_id: RunId,
    pub key: String,
    pub state: String,
    pub reason: Option<String>,
    pub version: i64,
    pub verdict: Verdict,
    /// With `refused`: the code.
    pub refusal: Option<String>,
    /// With `refused`: what to do instead.
    pub next: Option<String>,
    /// External ids of what the run has done outside.
    pub results: Vec<String>,
    /// Systems that the run may touch: those of its effects, and those of its flow.
    pub providers: Vec<String>,
    pub before: Standing,
    /// What the execution did: `waiting`, `done` or `skipped`. Null before it and for what was refused.
    #[serde(default)]
    pub outcome: Option<String>,
    /// With `skipped`: why.
    #[serde(default)]
    pub why: Option<String>,
    /// With `done`: right after the recovery.
    #[serde(default)]
    pub after: Option<Standing>,
    /// With `done`: as it stands at the moment of reading, its worker's effects included.
    #[serde(default)]
    pub now: Option<Standing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Recover,
    Refused,
}

/// How a run stands: events in, effects out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Standing {
    pub state: String,
    pub version: i64,
    /// How many effects in which state.
    pub effects: BTreeMap<String, usize>,
}
