//! How a worker ends its work: complete with a result, or fail with a class from the matrix; and how a run ends when
//! its last effect is final. The answer to `fail` says whether, when and how often more, so that a workflow holds no
//! policy of its own.

use serde::{Deserialize, Serialize};

use crate::{
    actor::Actor,
    effect::Effect,
    facts,
    flow::Flow,
    ids::{Fence, Owner},
    journal::EntryKind,
    lease::{self, ClassOf, Doubt},
    notice::Alert,
    proposal::INVALID_OUTPUT,
    run::{Aggregate, Run, RunState},
    time::Timestamp,
    transition::{Draft, LeaseGuard, Transition},
};

/// What a worker reports when a step failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailClass {
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    Unparseable,
    SchemaInvalid,
    Semantic,
    PartialSuccess,
    AgentLimit,
    LostOwnership,
    /// Any other failure of the workflow that is worth another try.
    WorkerError,
}

impl FailClass {
    pub const ALL: [Self; 10] = [
        Self::ModelTimeout,
        Self::ModelUnavailable,
        Self::RateLimited,
        Self::Unparseable,
        Self::SchemaInvalid,
        Self::Semantic,
        Self::PartialSuccess,
        Self::AgentLimit,
        Self::LostOwnership,
        Self::WorkerError,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ModelTimeout => "model_timeout",
            Self::ModelUnavailable => "model_unavailable",
            Self::RateLimited => "rate_limited",
            Self::Unparseable => "unparseable",
            Self::SchemaInvalid => "schema_invalid",
            Self::Semantic => "semantic",
            Self::PartialSuccess => "partial_success",
            Self::AgentLimit => "agent_limit",
            Self::LostOwnership => "lost_ownership",
            Self::WorkerError => "worker_error",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.as_str() == word)
    }

    /// What the class means, before attempts and repairs are counted.
    #[must_use]
    pub const fn course(self) -> Course {
        match self {
            Self::ModelTimeout
            | Self::ModelUnavailable
            | Self::RateLimited
            | Self::PartialSuccess
            | Self::LostOwnership
            | Self::WorkerError => Course::Retry,
            Self::Unparseable | Self::SchemaInvalid => Course::Repair,
            Self::Semantic => Course::Person,
            Self::AgentLimit => Course::End,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    Retry,
    /// Bounded by the flow's repairs, then the end.
    Repair,
    /// Kept and not run until an operator releases or closes it.
    Person,
    End,
}

/// Why a worker's ending was not taken, besides a lost lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndRefused {
    LeaseLost,
    /// Inline effects are open: begun and not settled, so the run can neither be called complete nor go to the outbox.
    EffectsOpen,
}

/// Completes a run with its result. Inline effects that provably did not happen are cancelled with it.
///
/// # Errors
/// The lease is lost, or an inline effect may have happened.
pub fn complete(
    agg: &Aggregate,
    owner: &Owner,
    fence: Fence,
    result: &str,
    now: Timestamp,
) -> Result<Transition, EndRefused> {
    if !agg.holds_lease(owner, fence) {
        return Err(EndRefused::LeaseLost);
    }
    if agg.effects.iter().any(Effect::is_in_doubt) {
        return Err(EndRefused::EffectsOpen);
    }
    let mut draft = Draft::on(&agg.run, now);
    draft.require(LeaseGuard::Live { owner: owner.clone(), fence });
    draft.state(RunState::Completed);
    draft.transition_mut().content.result = Some(result.to_owned());
    let hash = crate::digest::Digest::of(result.as_bytes());
    draft.entry(
        EntryKind::Completed,
        &Actor::Worker(owner.clone()),
        facts! { "fence" => fence, "result_hash" => hash },
    );
    lease::drop_inline(&mut draft, agg, &Actor::Worker(owner.clone()));
    Ok(draft.changed())
}

/// Fails a run by the matrix. `jitter` is from 0 to 1. Where an inline effect may have happened and no next owner may
/// re-issue it, the run waits for a person instead.
///
/// # Errors
/// The lease is lost.
#[expect(clippy::too_many_arguments, reason = "every argument is a different type and a different question")]
pub fn fail(
    agg: &Aggregate,
    flow: &Flow,
    owner: &Owner,
    fence: Fence,
    class: FailClass,
    message: Option<&str>,
    now: Timestamp,
    jitter: f64,
    class_of: &dyn ClassOf,
) -> Result<Transition, EndRefused> {
    if !agg.holds_lease(owner, fence) {
        return Err(EndRefused::LeaseLost);
    }
    let actor = Actor::Worker(owner.clone());
    let guard = LeaseGuard::Live { owner: owner.clone(), fence };
    let next = next_state(agg, flow, class, now, jitter);
    let is_retry = matches!(next, RunState::FailedRetryable { .. });
    let doubt = if is_retry { Doubt::AtAdvisory(class_of) } else { Doubt::Anywhere };
    if let Some(review) = lease::inline_to_review(agg, now, doubt, class.as_str(), &actor, guard.clone()) {
        return Ok(review);
    }
    let mut draft = Draft::on(&agg.run, now);
    draft.require(guard);
    if class.course() == Course::Repair && is_retry {
        draft.run_mut().repairs_used += 1;
    }
    draft.entry(
        EntryKind::Failed,
        &actor,
        facts! { "class" => class.as_str(), "attempt" => agg.run.attempts, "next" => next.as_str(),
        "reason" => next.reason(), "next_attempt_at" => next.next_attempt_at(), "message" => message.map(short) },
    );
    if let RunState::FailedTerminal { reason } = &next {
        let kind = if reason == INVALID_OUTPUT { Alert::InvalidOutput } else { Alert::Exhausted };
        lease::alert(&mut draft, kind, reason.clone());
        lease::drop_inline(&mut draft, agg, &actor);
    }
    draft.state(next);
    Ok(draft.changed())
}

fn next_state(agg: &Aggregate, flow: &Flow, class: FailClass, now: Timestamp, jitter: f64) -> RunState {
    let attempts_left = agg.run.attempts_max - agg.run.attempts;
    let retry = |wait| RunState::FailedRetryable { reason: class.as_str().into(), next_attempt_at: now.plus_ms(wait) };
    match class.course() {
        Course::End => RunState::FailedTerminal { reason: class.as_str().into() },
        Course::Person => RunState::Quarantined { reason: class.as_str().into() },
        Course::Repair if agg.run.repairs_used >= flow.repairs_max => {
            RunState::FailedTerminal { reason: INVALID_OUTPUT.into() }
        }
        _ if attempts_left <= 0 => RunState::FailedTerminal { reason: "attempts_exhausted".into() },
        Course::Repair => retry(0),
        Course::Retry => retry(flow.backoff.wait_ms(agg.run.attempts, jitter)),
    }
}

/// A worker's words, bounded: the journal is no log.
fn short(message: &str) -> String {
    message.chars().take(200).collect()
}

/// Ends an approved run whose last effect has become final, by the counts in its row.
pub(crate) fn roll_up(draft: &mut Draft, actor: &Actor) {
    let run: &Run = draft.run();
    let counts = run.effects;
    if run.state != RunState::Approved || counts.open > 0 {
        return;
    }
    let (next, kind) = match (counts.failed, counts.cancelled) {
        (0, 0) => (RunState::Completed, EntryKind::Completed),
        (0, _) => (RunState::FailedTerminal { reason: "cancelled".into() }, EntryKind::Failed),
        _ => (RunState::FailedTerminal { reason: "effect_failed".into() }, EntryKind::Failed),
    };
    let happened = counts.total - counts.failed - counts.cancelled;
    let reason = next.reason().map(str::to_owned);
    draft.state(next);
    draft.entry(
        kind,
        actor,
        facts! { "effects" => counts.total, "happened" => happened, "failed" => counts.failed,
        "cancelled" => counts.cancelled, "reason" => reason },
    );
}
