//! Asking again: reminder, escalation, and what became of the telling. Delivery itself is the engine's.

use super::{Approval, ApprovalState};
use crate::{
    actor::Actor,
    facts,
    ids::ApprovalId,
    journal::EntryKind,
    notice::{Alert, Notice, NoticeKind, Urgency},
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

/// Notes that a request for a decision reached nobody: on the approval, where the inbox shows it, and as an alert.
pub fn note_undeliverable(draft: &mut Draft, agg: &Aggregate) {
    let open = agg.approvals.iter().find(|a| a.state == ApprovalState::Open);
    draft.entry(EntryKind::NoticeFailed, &Actor::System("notifier"), facts! { "approval" => open.map(|a| a.id) });
    draft.transition_mut().approvals.extend(open.map(|a| marked(a, true)));
    crate::lease::alert(draft, Alert::Undeliverable, "a request for a decision reached nobody".into());
}

/// Takes the mark back once somebody was told after all (a reminder, an escalation). `None` if there is none to take
/// back.
#[must_use]
pub fn note_told(agg: &Aggregate, id: ApprovalId, now: Timestamp) -> Option<Transition> {
    let is_marked = |a: &&Approval| a.id == id && a.state == ApprovalState::Open && a.terms.undeliverable;
    let approval = agg.approvals.iter().find(is_marked)?;
    let mut draft = Draft::on(&agg.run, now);
    draft.entry(EntryKind::NoticeDelivered, &Actor::System("notifier"), facts! { "approval" => id });
    draft.transition_mut().approvals.push(marked(approval, false));
    Some(draft.noted())
}

fn marked(approval: &Approval, undeliverable: bool) -> Approval {
    let mut next = approval.clone();
    next.terms.undeliverable = undeliverable;
    next
}
