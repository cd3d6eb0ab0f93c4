//! The lease on a run: reserve's decision for a key that exists, claim, renew, and what becomes of a run whose lease
//! is over. Ends are never judged here: whether a lease lives was read from the database, and the transition's guard
//! makes the database judge again at the write.

use crate::{
    actor::Actor,
    effect::{Effect, EffectState, Executor},
    facts,
    flow::LeaseBounds,
    ids::{Fence, Owner},
    journal::EntryKind,
    notice::{Alert, Notice, NoticeKind},
    payload::PayloadHash,
    provider::Class,
    run::{Aggregate, AwaitReason, Lease, Run, RunState},
    time::Timestamp,
    transition::{Draft, LeaseGuard, LeaseWrite, Transition},
};

/// Refused tries that one run journals. Beyond this they are only counted, so that nobody can fill a disk (G15).
pub const REFUSALS_MAX: i32 = 32;

/// What a key that exists answers to a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The same owner asks again while its lease lives.
    Repeated,
    Busy {
        retry_after_ms: i64,
    },
    /// Not startable: the present state is the answer.
    Replay,
    /// The same key for another payload.
    Conflict,
    /// Free to be claimed.
    Claimable,
}

/// Says how a run stands towards a reservation with this payload hash (computed under the run's own identity rule).
#[must_use]
pub fn standing(run: &Run, lease: Option<&Lease>, hash: &PayloadHash, owner: &Owner) -> Standing {
    if run.payload_hash != *hash {
        return Standing::Conflict;
    }
    match (&run.state, lease) {
        (RunState::Processing, Some(lease)) if lease.is_live && run.owner.as_ref() == Some(owner) => Standing::Repeated,
        (RunState::Processing, Some(lease)) if lease.is_live => {
            Standing::Busy { retry_after_ms: lease.left_ms.clamp(RETRY_AFTER_MS_MIN, RETRY_AFTER_MS_MAX) }
        }
        (RunState::Processing | RunState::Queued | RunState::FailedRetryable { .. }, _) => Standing::Claimable,
        _ => Standing::Replay,
    }
}

/// A busy caller need not hammer, and need not sleep through the whole of a long lease that may end early.
const RETRY_AFTER_MS_MIN: i64 = 100;
const RETRY_AFTER_MS_MAX: i64 = 30_000;

/// What a claim comes to.
#[derive(Debug, Clone)]
pub enum Claim {
    /// The caller owns the run once this is committed.
    Granted(Transition),
    /// The run cannot be worked on: its attempts are used up, or an inline effect must be settled by a person first.
    Ended(Transition),
    /// Somebody holds it, or it does not start again (G1, G4).
    NotFree,
}

/// True if a claim may have it: queued, to be retried, or left behind by an owner whose lease is over.
#[must_use]
pub fn is_free(agg: &Aggregate) -> bool {
    match agg.run.state {
        RunState::Queued | RunState::FailedRetryable { .. } => true,
        RunState::Processing => agg.lease.is_some_and(|lease| !lease.is_live),
        _ => false,
    }
}

/// Claims a run that is free: fence and attempt rise by one.
#[must_use]
pub fn claim(agg: &Aggregate, owner: &Owner, ms: i64, now: Timestamp, class_of: &dyn ClassOf) -> Claim {
    if !is_free(agg) {
        return Claim::NotFree;
    }
    if let Some(ended) = overtaken(agg, now, class_of) {
        return Claim::Ended(ended);
    }
    let mut draft = Draft::on(&agg.run, now);
    let takeover = agg.run.state == RunState::Processing;
    draft.require(if takeover { LeaseGuard::Over } else { LeaseGuard::Free });
    draft.state(RunState::Processing);
    draft.transition_mut().lease = LeaseWrite::Grant { ms };
    let run = draft.run_mut();
    let before = run.owner.replace(owner.clone());
    run.fence = run.fence.next();
    run.attempts += 1;
    run.takeovers += i32::from(takeover);
    let (fence, attempt, takeovers) = (run.fence, run.attempts, run.takeovers);
    draft.entry(
        EntryKind::Claimed,
        &Actor::Worker(owner.clone()),
        facts! { "fence" => fence, "attempt" => attempt, "lease_ms" => ms,
        "taken_over_from" => before.filter(|_| takeover).map(|o| o.as_str().to_owned()) },
    );
    if takeover && takeovers >= 2 {
        alert(&mut draft, Alert::Takeover, format!("taken over {takeovers} times"));
    }
    Claim::Granted(draft.changed())
}

/// Tells the class of an effect's provider; the engine's table stands behind it.
pub trait ClassOf {
    /// `None` if the provider is not configured any more; treated as advisory.
    fn class_of(&self, provider: &crate::ids::ProviderName) -> Option<Class>;
}

/// What time has done to a free run: `Some` if nobody may go on with it. An inline effect that was begun and not
/// settled at an advisory provider goes to a person; a run whose attempts are used up ends, unless an inline effect of
/// it may have happened: no next owner will re-issue that one, so a person settles it first.
#[must_use]
pub fn overtaken(agg: &Aggregate, now: Timestamp, class_of: &dyn ClassOf) -> Option<Transition> {
    let used_up = agg.run.attempts >= agg.run.attempts_max;
    let doubt = if used_up { Doubt::Anywhere } else { Doubt::AtAdvisory(class_of) };
    let review = inline_to_review(agg, now, doubt, "lease_over", &Actor::System("sweeper"), LeaseGuard::Free);
    review.or_else(|| used_up.then(|| abandon(agg, now)))
}

fn abandon(agg: &Aggregate, now: Timestamp) -> Transition {
    let attempts = agg.run.attempts;
    let mut draft = Draft::on(&agg.run, now);
    draft.require(LeaseGuard::Free);
    draft.state(RunState::FailedTerminal { reason: "abandoned".into() });
    draft.entry(EntryKind::Abandoned, &Actor::System("sweeper"), facts! { "attempts" => attempts });
    drop_inline(&mut draft, agg, &Actor::System("sweeper"));
    alert(&mut draft, Alert::Exhausted, format!("abandoned {attempts} times"));
    draft.changed()
}

/// Which inline effects that may have happened must wait for a person.
#[derive(Clone, Copy)]
pub(crate) enum Doubt<'a> {
    /// Those at providers where nothing stops a second execution; the next owner re-issues the others.
    AtAdvisory(&'a dyn ClassOf),
    /// All: there will be no next owner.
    Anywhere,
}

impl Doubt<'_> {
    fn concerns(self, effect: &Effect) -> bool {
        effect.executor == Executor::Inline
            && effect.is_in_doubt()
            && match self {
                Self::AtAdvisory(class_of) => {
                    !matches!(class_of.class_of(&effect.provider), Some(Class::Enforcing { .. }))
                }
                Self::Anywhere => true,
            }
    }
}

/// Hands inline effects in doubt to a person, and the run with them; `None` if there are none. `why` says what ended
/// the worker's part.
pub(crate) fn inline_to_review(
    agg: &Aggregate,
    now: Timestamp,
    doubt: Doubt<'_>,
    why: &str,
    actor: &Actor,
    guard: LeaseGuard,
) -> Option<Transition> {
    let doubtful: Vec<_> = agg.effects.iter().filter(|e| doubt.concerns(e)).collect();
    if doubtful.is_empty() {
        return None;
    }
    let mut draft = Draft::on(&agg.run, now);
    draft.require(guard);
    for before in doubtful.iter().filter(|e| !matches!(e.state, EffectState::Review { .. })) {
        let mut after = Effect::clone(before);
        after.state = EffectState::Review { since: now };
        after.reason = Some("worker_lost".into());
        after.unknown_since.get_or_insert(now);
        after.updated_at = now;
        draft.entry(EntryKind::AttemptLost, actor, facts! { "effect" => after.id, "outcome" => "unknown" });
        draft.effect(Some(before), after, None);
    }
    draft.state(RunState::AwaitingHuman { reason: AwaitReason::UnknownEffect });
    let ids: Vec<_> = doubtful.iter().map(|e| e.id).collect();
    draft.entry(EntryKind::EffectsInDoubt, actor, facts! { "effects" => ids, "reason" => why });
    alert(&mut draft, Alert::Review, "an inline effect was begun and never settled".into());
    Some(draft.changed())
}

/// Cancels the inline effects that provably did not happen, when their run ends: nobody will perform them any more.
pub(crate) fn drop_inline(draft: &mut Draft, agg: &Aggregate, actor: &Actor) {
    for before in agg.effects.iter().filter(|e| e.is_open_inline() && !e.is_in_doubt()) {
        let mut after = before.clone();
        after.state = EffectState::Cancelled;
        after.reason = Some("run_ended".into());
        after.updated_at = draft.now();
        draft.entry(EntryKind::EffectCancelled, actor, facts! { "effect" => after.id, "reason" => "run_ended" });
        draft.effect(Some(before), after, None);
    }
}

/// Renews the caller's own lease, within the chain's total.
#[must_use]
pub fn renew(run: &Run, owner: &Owner, fence: Fence, ms: i64, bounds: &LeaseBounds, now: Timestamp) -> Transition {
    let mut draft = Draft::on(run, now);
    draft.require(LeaseGuard::Live { owner: owner.clone(), fence });
    draft.transition_mut().lease = LeaseWrite::Renew { ms, total_ms_max: bounds.total_ms_max };
    draft.entry(EntryKind::Renewed, &Actor::Worker(owner.clone()), facts! { "fence" => fence, "lease_ms" => ms });
    draft.noted()
}

/// Records that the key came with another payload: flagged for people, nothing of the run altered. `None` once the
/// run has recorded enough of them.
#[must_use]
pub fn conflict(run: &Run, other: &PayloadHash, caller: &Actor, now: Timestamp) -> Option<Transition> {
    let mut draft = Draft::on(run, now);
    count_refusal(&mut draft)?;
    draft.entry(
        EntryKind::Conflict,
        caller,
        facts! { "stored" => run.payload_hash.to_string(), "came" => other.to_string() },
    );
    alert(&mut draft, Alert::Conflict, "the same key came with another payload".into());
    Some(draft.noted())
}

pub(crate) fn count_refusal(draft: &mut Draft) -> Option<()> {
    let run = draft.run_mut();
    (run.refusals < REFUSALS_MAX).then(|| run.refusals += 1)
}

/// Notes that a run has stood still for too long.
pub fn note_stuck(draft: &mut Draft, state: &str) {
    draft.entry(EntryKind::Stuck, &Actor::System("sweeper"), facts! { "state" => state });
    alert(draft, Alert::Stuck, format!("{} has been {state} for too long", draft.run().id));
}

/// Adds an alert about the run, deduplicated by its kind.
pub(crate) fn alert(draft: &mut Draft, alert: Alert, detail: String) {
    let (seq, run, now) = (draft.run().head.seq, draft.run().id, draft.now());
    let place = u8::try_from(draft.transition_mut().notices.len()).unwrap_or(15).min(15);
    let notice = Notice::new(seq, place, NoticeKind::Alert { alert, detail }, format!("{}:{run}", alert.as_str()), now);
    draft.notice(notice);
}
