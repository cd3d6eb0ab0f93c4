//! Bulk replay: which runs a filter means, which of them may be recovered and why the others may not, and the recovery
//! itself as a transition. Recovery goes on with the same key: only failed_retryable, an expired lease, or quarantined
//! after a fix. A final run is never replayed; its answer is its state, and the way on is a correction
//! ([`crate::correct`]).
//!
//! Nothing here reads a database or sends anything; plans are made and executed by the engine.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    actor::Actor,
    effect::{Effect, EffectState, Executor},
    facts,
    ids::{FlowName, ReplayId},
    journal::EntryKind,
    lease::ClassOf,
    operate::allow_one_more,
    provider::Class,
    run::{Aggregate, AwaitReason, ExternalResult, RunState},
    time::Timestamp,
    transition::{Draft, LeaseGuard, Transition},
};

/// Runs of one plan: a person must be able to read what a plan would do, and an execution ends within minutes.
pub const LIMIT_MAX: u32 = 1_000;

/// Which runs a replay is about. Nothing of it may be left out, so that "all of them" is always somebody's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayFilter {
    pub flow: FlowName,
    /// The event type of the key's parts; `None` means any, and keys without parts.
    pub event_type: Option<String>,
    /// Created at or after.
    pub since: Timestamp,
    /// Created before.
    pub until: Timestamp,
    pub state: ReplayState,
}

/// The states that a replay may look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayState {
    FailedRetryable,
    /// Processing with a lease that is over.
    Processing,
    Quarantined,
    /// All of them, the ones that are refused included: to see what a replay would not touch, and why.
    Any,
}

impl ReplayState {
    pub const ALL: [Self; 4] = [Self::FailedRetryable, Self::Processing, Self::Quarantined, Self::Any];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FailedRetryable => "failed_retryable",
            Self::Processing => "processing",
            Self::Quarantined => "quarantined",
            Self::Any => "any",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// Why a run is not recovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// It has ended: its state is the answer. The way on is a correction.
    Final,
    /// Whether an effect of it happened is not known: a person settles that on the review desk first.
    UnknownEffect,
    /// It waits for a decision, or was decided: it does not start again (G4).
    NoRestart,
    /// Its owner works on it.
    LeaseAlive,
    /// It waits for a worker already.
    Queued,
    /// Its flow is not in the config any more.
    FlowGone,
    /// Its payload was erased: a worker would have nothing to work on.
    ContentErased,
    /// Its payload still breaks the flow's schema: nothing was mended.
    StillInvalid,
}

impl Refusal {
    pub const ALL: [Self; 8] = [
        Self::Final,
        Self::UnknownEffect,
        Self::NoRestart,
        Self::LeaseAlive,
        Self::Queued,
        Self::FlowGone,
        Self::ContentErased,
        Self::StillInvalid,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Final => "final",
            Self::UnknownEffect => "unknown_effect",
            Self::NoRestart => "no_restart",
            Self::LeaseAlive => "lease_alive",
            Self::Queued => "queued",
            Self::FlowGone => "flow_gone",
            Self::ContentErased => "content_erased",
            Self::StillInvalid => "still_invalid",
        }
    }

    /// What to do instead, in words.
    #[must_use]
    pub const fn next(self) -> &'static str {
        match self {
            Self::Final => "a correction: a new event with its own key from upstream, linked to this one",
            Self::UnknownEffect => "settle the effect on the review desk",
            Self::NoRestart => "decide the approval, or let its effects end",
            Self::LeaseAlive => "wait until its owner has ended or its lease is over",
            Self::Queued => "a worker claims it",
            Self::FlowGone => "put the flow back into the config",
            Self::ContentErased => "a correction with the payload from upstream",
            Self::StillInvalid => "mend the schema or close the run",
        }
    }
}

/// What the engine found out beside the aggregate, because it wants the config or the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub flow_known: bool,
    pub content_erased: bool,
    /// The stored payload breaks the schema that the flow has now.
    pub still_invalid: bool,
}

/// Says why a run may not be recovered; `None` if it may. The only place that knows.
#[must_use]
pub fn refusal(agg: &Aggregate, found: Found, class_of: &dyn ClassOf) -> Option<Refusal> {
    by_state(agg, class_of).or(match found {
        Found { flow_known: false, .. } => Some(Refusal::FlowGone),
        Found { content_erased: true, .. } => Some(Refusal::ContentErased),
        Found { still_invalid: true, .. } => Some(Refusal::StillInvalid),
        _ => None,
    })
}

fn by_state(agg: &Aggregate, class_of: &dyn ClassOf) -> Option<Refusal> {
    let in_doubt = agg.effects.iter().any(|effect| holds_up(effect, class_of));
    match &agg.run.state {
        RunState::Completed | RunState::FailedTerminal { .. } => Some(Refusal::Final),
        RunState::AwaitingHuman { reason: AwaitReason::UnknownEffect } => Some(Refusal::UnknownEffect),
        RunState::Processing if agg.lease.is_none_or(|lease| lease.is_live) => Some(Refusal::LeaseAlive),
        _ if in_doubt => Some(Refusal::UnknownEffect),
        RunState::AwaitingHuman { .. } | RunState::Approved => Some(Refusal::NoRestart),
        RunState::Queued => Some(Refusal::Queued),
        RunState::FailedRetryable { .. } | RunState::Processing | RunState::Quarantined { .. } => None,
    }
}

/// An effect that may have happened holds a recovery up, unless the next owner may re-issue it with the same provider
/// key: an inline one at an enforcing provider.
fn holds_up(effect: &Effect, class_of: &dyn ClassOf) -> bool {
    let enforcing = || matches!(class_of.class_of(&effect.provider), Some(Class::Enforcing { .. }));
    effect.is_in_doubt() && !(effect.executor == Executor::Inline && enforcing())
}

/// Recovers a run: a worker may claim it now, once more even where its attempts are used up. `None` where the state has
/// no such way; what [`refusal`] says is asked before.
///
/// Guarantees: the entry `replayed` names the plan and is in the same transaction, so an execution that was cut off
/// finds out what it had done. A lease that is over is judged by the database at the write.
#[must_use]
pub fn recover(agg: &Aggregate, replay: ReplayId, actor: &Actor, reason: &str, now: Timestamp) -> Option<Transition> {
    let retry = |reason: &str| RunState::FailedRetryable { reason: reason.to_owned(), next_attempt_at: now };
    let next = match &agg.run.state {
        RunState::FailedRetryable { reason, .. } => retry(reason),
        RunState::Processing => retry("lease_over"),
        RunState::Quarantined { .. } => RunState::Queued,
        _ => return None,
    };
    let was = agg.run.state.as_str();
    let mut draft = Draft::on(&agg.run, now);
    draft.require(LeaseGuard::Free);
    draft.state(next);
    allow_one_more(&mut draft);
    draft.entry(
        EntryKind::Replayed,
        actor,
        facts! { "replay" => replay, "reason" => reason, "was" => was, "next" => draft.run().state.as_str() },
    );
    Some(draft.changed())
}

/// How many of a run's effects stand in which state.
#[must_use]
pub fn effects_by_state(agg: &Aggregate) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for effect in &agg.effects {
        *counts.entry(effect.state.as_str().to_owned()).or_default() += 1;
    }
    counts
}

/// What a run has done outside.
#[must_use]
pub fn results(agg: &Aggregate) -> Vec<ExternalResult> {
    let done = agg.effects.iter().filter(|effect| effect.state == EffectState::Completed);
    done.map(|effect| ExternalResult {
        effect_type: effect.effect_type.as_str().to_owned(),
        provider: effect.provider.as_str().to_owned(),
        external_id: effect.external_id.clone(),
    })
    .collect()
}

/// The providers that a run's effects name, by name.
#[must_use]
pub fn providers(agg: &Aggregate) -> BTreeSet<String> {
    agg.effects.iter().map(|effect| effect.provider.as_str().to_owned()).collect()
}
