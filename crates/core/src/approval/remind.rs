//! Asking again: reminder and escalation. What became of the telling is in [`super::telling`].

use crate::{
    actor::Actor,
    facts,
    journal::EntryKind,
    notice::{Notice, NoticeKind, Urgency},
    run::Aggregate,
    time::Timestamp,
    transition::{Draft, Transition},
};

/// Reminds the audience, or widens it, when the moment has come.
#[must_use]
pub fn remind(agg: &Aggregate, now: Timestamp) -> Option<Transition> {
    let approval = agg.approvals.iter().find(|a| a.is_open(now))?;
    approval.next_step_at.filter(|at| *at <= now)?;
    let mut next = approval.clone();
    let mut draft = Draft::on(&agg.run, now);
    let actor = Actor::System("sweeper");
    let (kind, urgency) = if next.terms.escalate_at.is_some_and(|at| at <= now) {
        next.terms.escalate_at = None;
        next.terms.remind_at = None;
        let more = std::mem::take(&mut next.terms.escalate_to);
        next.terms.audience.extend(more);
        (EntryKind::ApprovalEscalated, Urgency::Escalation)
    } else {
        next.terms.remind_at = None;
        (EntryKind::ApprovalReminded, Urgency::Reminder)
    };
    next.next_step_at = [next.terms.remind_at, next.terms.escalate_at].into_iter().flatten().min();
    draft.entry(kind, &actor, facts! { "approval" => approval.id, "audience" => next.terms.audience });
    let ask = NoticeKind::ApprovalRequest { approval: approval.id, audience: next.terms.audience.clone(), urgency };
    let seq = draft.run().head.seq;
    draft.notice(Notice::new(seq, 0, ask, format!("{}:{seq}", approval.id), now));
    draft.transition_mut().approvals.push(next);
    Some(draft.noted())
}
