//! Replay plans and their items, as the store keeps them. Texts of JSON are the engine's; nothing here reads them.

use effectgate_core::{
    ids::{ReplayId, RunId, Tenant},
    replay::ReplayFilter,
    time::Timestamp,
};

/// Runs that one page of a search by time looks at, at most. A page may hold fewer than were asked for, even none, and
/// have a next one: the search goes on there.
pub const MATCHING_SCANNED_MAX: i64 = 20_000;

/// Where a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayStage {
    /// Made, and to be executed until it expires.
    Planned,
    /// Its items are being worked on, or wait for a replica that does.
    Running,
    /// Every item is done or skipped.
    Done,
}

impl ReplayStage {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Running => "running",
            Self::Done => "done",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        [Self::Planned, Self::Running, Self::Done].into_iter().find(|stage| stage.as_str() == word)
    }
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayRow {
    pub id: ReplayId,
    pub tenant: Tenant,
    pub filter: ReplayFilter,
    pub limit: i32,
    /// JSON: counts, providers, cost.
    pub summary: String,
    pub made_by: String,
    pub reason: String,
    pub stage: ReplayStage,
    pub made_at: Timestamp,
    pub expires_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub started_by: Option<String>,
    pub start_reason: Option<String>,
    pub ended_at: Option<Timestamp>,
    /// From then on the plan may be removed.
    pub purge_after: Timestamp,
}

/// A plan with how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayFound {
    pub row: ReplayRow,
    /// Judged by the database's clock; only a plan that was not started expires.
    pub is_expired: bool,
    pub waiting: i64,
    pub done: i64,
    pub skipped: i64,
    pub refused: i64,
}

/// What became of one run of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayItemState {
    /// The plan says why it is not touched.
    Refused {
        why: String,
    },
    Waiting,
    /// JSON: how the run stands after it.
    Done {
        outcome: String,
    },
    Skipped {
        why: String,
    },
}

impl ReplayItemState {
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "refused",
            Self::Waiting => "waiting",
            Self::Done { .. } => "done",
            Self::Skipped { .. } => "skipped",
        }
    }

    pub(crate) fn why(&self) -> Option<&str> {
        match self {
            Self::Refused { why } | Self::Skipped { why } => Some(why),
            _ => None,
        }
    }

    pub(crate) fn outcome(&self) -> Option<&str> {
        match self {
            Self::Done { outcome } => Some(outcome),
            _ => None,
        }
    }

    pub(crate) fn from_parts(word: &str, why: Option<String>, outcome: Option<String>) -> Option<Self> {
        Some(match (word, why, outcome) {
            ("refused", Some(why), None) => Self::Refused { why },
            ("waiting", None, None) => Self::Waiting,
            ("done", None, Some(outcome)) => Self::Done { outcome },
            ("skipped", Some(why), None) => Self::Skipped { why },
            _ => return None,
        })
    }
}

/// One run of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayItem {
    /// From 1, in the plan's order.
    pub n: i32,
    pub run: RunId,
    /// The run's version when the plan was made.
    pub version: i64,
    pub state: ReplayItemState,
    /// JSON: what the plan says of the run.
    pub planned: String,
}

/// A change of a plan, in the same transaction as its entry in the house chain.
#[derive(Debug, Clone)]
pub enum ReplayWrite {
    /// A new plan with all its items.
    Plan(Box<ReplayRow>, Vec<ReplayItem>),
    /// Planned and not expired (by the database's clock) → running.
    Start { id: ReplayId, by: String, reason: String, at: Timestamp },
    /// Running and nothing waits → done.
    End { id: ReplayId, at: Timestamp },
}
