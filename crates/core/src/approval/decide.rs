//! Who may decide (audience, qualification, separation of duties, quorum), and what a decision does. One function for
//! every verdict and every door.

use super::{
    Approval, ApprovalState, Decision, LoginRule, REASON_CHARS_MAX, Refused, Verdict, Wish, edit, ending::close,
    is_in_audience,
};
use crate::{
    actor::{Actor, Person, SignIn},
    facts,
    ids::ApprovalId,
    journal::EntryKind,
    proposal,
    run::{Aggregate, RunState},
    time::Timestamp,
    transition::{Draft, Transition},
};

/// Separation of duties: may this person be one who approves? The only place that knows; every path calls it
/// before any change, for administrators too, whatever the amount. Rejecting one's own request is allowed. That whoever
/// edited is not the only one who approves is kept by [`Approval::wants`], because it depends on the others.
#[must_use]
pub fn separates_duties(approval: &Approval, person: &Person) -> bool {
    !approval.terms.separation || !is_requester(approval, person)
}

fn is_requester(approval: &Approval, person: &Person) -> bool {
    approval.terms.requesters.iter().any(|requester| person.is(requester))
}

/// Says whether the person may take this decision now.
///
/// # Errors
/// The first rule that stands in the way.
pub fn may_decide(approval: &Approval, person: &Person, wish: &Wish) -> Result<(), Refused> {
    if approval.state != ApprovalState::Open {
        return Err(Refused::Over);
    }
    is_entitled(approval, person)?;
    if wish.verdict != Verdict::Reject && !separates_duties(approval, person) {
        return Err(Refused::SeparationOfDuties);
    }
    if approval.has_decided(person) {
        return Err(Refused::AlreadyDecided);
    }
    if wish.shown != approval.effects_hash {
        return Err(Refused::Changed { now: approval.effects_hash });
    }
    let reason = wish.reason.as_deref().unwrap_or_default().trim();
    if wish.verdict == Verdict::Reject && reason.is_empty() {
        return Err(Refused::ReasonRequired);
    }
    if reason.chars().count() > REASON_CHARS_MAX {
        return Err(Refused::ReasonTooLong);
    }
    Ok(())
}

/// Asked, signed in as the flow wants it, and qualified.
fn is_entitled(approval: &Approval, person: &Person) -> Result<(), Refused> {
    if approval.terms.login == LoginRule::Required && person.sign_in == SignIn::Token {
        return Err(Refused::LoginRequired);
    }
    if !is_in_audience(approval, person) {
        return Err(Refused::NotInAudience);
    }
    let missing: Vec<String> =
        approval.terms.qualifications.iter().filter(|q| !person.roles.contains(*q)).cloned().collect();
    if missing.is_empty() { Ok(()) } else { Err(Refused::NotQualified { missing }) }
}

/// Takes a decision: the approval, the run's state, the outbox and the journal in one transition. With a quorum, a
/// first approval is recorded and the run waits on. That the payloads of an edit are valid is the caller's to see to,
/// as it is with a proposal; that nothing but payloads changes is seen to here.
///
/// # Errors
/// [`Refused`], with nothing changed.
pub fn decide(
    agg: &Aggregate,
    id: ApprovalId,
    person: &Person,
    wish: &Wish,
    now: Timestamp,
) -> Result<Transition, Refused> {
    let approval = agg.approvals.iter().find(|a| a.id == id && a.is_open(now)).ok_or(Refused::Over)?;
    may_decide(approval, person, wish)?;
    // The bytes at hand, not only the hash beside them.
    let bytes_now = proposal::effects_hash(&approval.proposed);
    if bytes_now != approval.effects_hash {
        return Err(Refused::Changed { now: bytes_now });
    }
    let edit = match wish.verdict {
        Verdict::Edit => Some(edit::made(approval, person, wish, now)?),
        Verdict::Approve | Verdict::Reject => None,
    };
    Ok(taken(agg, approval, person, wish, edit, now))
}

fn taken(
    agg: &Aggregate,
    approval: &Approval,
    person: &Person,
    wish: &Wish,
    edit: Option<edit::Edit>,
    now: Timestamp,
) -> Transition {
    let actor = Actor::Person(person.subject.clone());
    let (mut draft, mut next) = (Draft::on(&agg.run, now), approval.clone());
    if let Some(edit) = edit {
        edit::put(&mut draft, &mut next, edit, &actor);
    }
    let decision = decision(&next, person, wish, now);
    next.decisions.push(decision.clone());
    note_waiver(&mut draft, &next, person, &actor);
    draft.entry(
        EntryKind::Decided,
        &actor,
        facts! {
            "approval" => next.id, "decision" => decision.verdict.as_str(), "reason" => decision.reason,
            "effects_hash" => next.effects_hash, "quorum" => next.terms.quorum,
            "approvals" => next.approvals().count(),
        },
    );
    match wish.verdict {
        Verdict::Reject => reject(&mut draft, &mut next),
        Verdict::Approve | Verdict::Edit if next.wants().more == 0 => approve(&mut draft, &mut next, &actor),
        Verdict::Edit => edit::tell(&mut draft, &next, person),
        Verdict::Approve => {}
    }
    draft.transition_mut().approvals.push(next);
    draft.changed()
}

fn decision(approval: &Approval, person: &Person, wish: &Wish, now: Timestamp) -> Decision {
    Decision {
        subject: person.subject.clone(),
        aliases: person.aliases.clone(),
        verdict: wish.verdict,
        reason: wish.reason.as_deref().map(str::trim).filter(|r| !r.is_empty()).map(str::to_owned),
        at: now,
        sign_in: person.sign_in,
        effects_hash: Some(approval.effects_hash),
    }
}

/// A flow that opted out by name: noted on every use, be it for an own request or an own edit.
fn note_waiver(draft: &mut Draft, approval: &Approval, person: &Person, actor: &Actor) {
    let only_editors = || approval.wants().more == 0 && approval.approvals().all(|d| approval.is_by_editor(d));
    let what = match () {
        () if approval.terms.separation => return,
        () if is_requester(approval, person) => "own_request",
        () if approval.approvals().next().is_some() && only_editors() => "own_edit",
        () => return,
    };
    draft.entry(EntryKind::SeparationWaived, actor, facts! { "approval" => approval.id, "what" => what });
}

fn reject(draft: &mut Draft, approval: &mut Approval) {
    close(draft, approval, ApprovalState::Rejected);
    draft.state(RunState::FailedTerminal { reason: "rejected".into() });
}

fn approve(draft: &mut Draft, approval: &mut Approval, actor: &Actor) {
    close(draft, approval, ApprovalState::Approved);
    if approval.proposed.is_empty() {
        // Nothing will go out, so nothing would ever end the run.
        draft.state(RunState::Completed);
        draft.entry(EntryKind::Completed, actor, facts! { "effects" => 0 });
        return;
    }
    draft.state(RunState::Approved);
    for proposed in &approval.proposed {
        proposal::queue(draft, proposed, actor);
    }
}
