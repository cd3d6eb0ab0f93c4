//! How an approval ends without a decision: nobody decided in time, or the question was taken back. Each is its own
//! outcome, never a person's verdict.

use super::{Approval, ApprovalState, Withdrawal, resume};
use crate::{
    actor::Actor,
    facts,
    ids::ApprovalId,
    journal::EntryKind,
    operate::{Asker, Refused, reason_given},
    run::{Aggregate, RunState},
    time::Timestamp,
    transition::{Draft, Transition},
};

/// Ends it, and tells those who wait for its end. Call it once the entry of the end is in the draft.
pub(super) fn close(draft: &mut Draft, approval: &mut Approval, state: ApprovalState) {
    let now = draft.now();
    resume::tell_all(draft, approval);
    approval.state = state;
    approval.decided_at = Some(now);
    approval.next_step_at = None;
}

/// Ends an approval that nobody decided in time.
#[must_use]
pub fn expire(agg: &Aggregate, now: Timestamp) -> Option<Transition> {
    let approval = agg.approvals.iter().find(|a| a.state == ApprovalState::Open && a.expires_at <= now)?;
    let actor = Actor::System("sweeper");
    let mut next = approval.clone();
    let mut draft = Draft::on(&agg.run, now);
    let outcome = if next.terms.undeliverable { super::Outcome::Undeliverable } else { super::Outcome::Expired };
    draft.entry(
        EntryKind::ApprovalExpired,
        &actor,
        facts! { "approval" => approval.id, "outcome" => outcome.as_str() },
    );
    close(&mut draft, &mut next, ApprovalState::Expired);
    draft.state(RunState::FailedTerminal { reason: "approval_expired".into() });
    draft.transition_mut().approvals.push(next);
    Some(draft.changed())
}

/// Takes the question back. For operators, and for a person who asked: what one asked for one may stop asking for.
///
/// # Errors
/// No reason, not entitled, or the approval has ended; nothing changes.
pub fn withdraw(
    agg: &Aggregate,
    id: ApprovalId,
    asker: &Asker,
    reason: &str,
    now: Timestamp,
) -> Result<Transition, Refused> {
    let approval = agg.approvals.iter().find(|a| a.id == id).ok_or(Refused::WrongState("absent"))?;
    let is_requester = |a: &Asker| a.person.as_ref().is_some_and(|p| approval.terms.requesters.iter().any(|r| p.is(r)));
    if !asker.is_operator && !is_requester(asker) {
        return Err(Refused::NotEntitled);
    }
    if !approval.is_open(now) {
        return Err(Refused::WrongState(approval.outcome().map_or("expired", super::Outcome::as_str)));
    }
    let reason = reason_given(reason)?;
    let mut next = approval.clone();
    next.terms.withdrawn = Some(Withdrawal { by: asker.actor.to_string(), at: now, reason: reason.clone() });
    let mut draft = Draft::on(&agg.run, now);
    draft.entry(EntryKind::ApprovalWithdrawn, &asker.actor, facts! { "approval" => id, "reason" => reason });
    close(&mut draft, &mut next, ApprovalState::Withdrawn);
    draft.state(RunState::FailedTerminal { reason: "approval_withdrawn".into() });
    draft.transition_mut().approvals.push(next);
    Ok(draft.changed())
}
