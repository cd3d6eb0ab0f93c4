//! What became of telling the audience, member by member: in the journal, on the approval where nobody could be told,
//! as an alert, and as a notice to those who are still to be told. Delivery itself is the engine's.

use serde_json::json;

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

/// One try to tell people of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telling {
    pub approval: ApprovalId,
    pub urgency: Urgency,
    /// Members that somebody was reached for.
    pub told: Vec<String>,
    /// Members that nobody was reached for, and why, in words without secrets.
    pub failed: Vec<(String, String)>,
    /// True: the others of the audience were told before, so an approval is not undeliverable for these.
    pub are_the_rest: bool,
    /// True where waiting longer is no plan: it is to be said that they could not be told.
    pub is_late: bool,
}

/// Notes what became of it. `None` where there is nothing to note: nobody was told, and it is tried again soon.
///
/// Guarantees: the mark `undeliverable` is set only where nobody was told, and taken back as soon as somebody was.
#[must_use]
pub fn note_telling(agg: &Aggregate, telling: &Telling, rest_due: Timestamp, now: Timestamp) -> Option<Transition> {
    let approval = agg.approvals.iter().find(|a| a.id == telling.approval && a.state == ApprovalState::Open)?;
    if telling.told.is_empty() && !telling.is_late {
        return None;
    }
    let mut draft = Draft::on(&agg.run, now);
    if !telling.told.is_empty() {
        let facts = facts! { "approval" => approval.id, "urgency" => telling.urgency, "told" => telling.told };
        draft.entry(EntryKind::NoticeDelivered, &Actor::System("notifier"), facts);
        mark(&mut draft, approval, false);
    }
    if !telling.failed.is_empty() {
        failed(&mut draft, approval, telling, rest_due);
    }
    Some(draft.noted())
}

fn failed(draft: &mut Draft, approval: &Approval, telling: &Telling, rest_due: Timestamp) {
    let failed: Vec<_> = telling.failed.iter().map(|(member, why)| json!({"member": member, "why": why})).collect();
    let facts = facts! { "approval" => approval.id, "urgency" => telling.urgency, "failed" => failed };
    draft.entry(EntryKind::NoticeFailed, &Actor::System("notifier"), facts);
    let members = || telling.failed.iter().map(|(member, _)| member.clone()).collect::<Vec<_>>();
    match (telling.told.is_empty(), telling.are_the_rest) {
        // Some were told: the others are asked again by a notice of their own.
        (false, _) => {
            let seq = draft.run().head.seq;
            let kind =
                NoticeKind::ApprovalRest { approval: approval.id, audience: members(), urgency: telling.urgency };
            let rest = Notice::new(seq, 0, kind, format!("{}:{seq}", approval.id), rest_due);
            draft.notice(rest);
        }
        (true, true) => {
            let detail = format!("a request for a decision did not reach {}", members().join(", "));
            crate::lease::alert(draft, Alert::Undeliverable, detail);
        }
        (true, false) if !approval.terms.undeliverable => {
            mark(draft, approval, true);
            crate::lease::alert(draft, Alert::Undeliverable, "a request for a decision reached nobody".into());
        }
        (true, false) => {}
    }
}

fn mark(draft: &mut Draft, approval: &Approval, undeliverable: bool) {
    if approval.terms.undeliverable != undeliverable {
        let mut next = approval.clone();
        next.terms.undeliverable = undeliverable;
        draft.transition_mut().approvals.push(next);
    }
}
