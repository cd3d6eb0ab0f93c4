//! What a committed transition counts as. Read from what it wrote, so nothing is counted that did not happen, and no verb
//! has to remember to count.

use effectgate_core::{
    approval::{Approval, Outcome},
    effect::EffectState,
    journal::EntryKind,
    run::RunState,
    transition::{EffectWrite, LeaseGuard, LeaseWrite, Transition},
};

use super::count::Count;
use crate::gate::SAMPLED;

/// The counts of one transition, and the wait of the approval that it decided, in milliseconds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    pub(crate) counts: Vec<Count>,
    pub(crate) wait_ms: Option<i64>,
}

pub(crate) fn of(t: &Transition) -> Turns {
    let mut turns = Turns::default();
    let has = |kind: EntryKind| t.entries.iter().any(|entry| entry.kind == kind.as_str());
    if has(EntryKind::Proposed) {
        turns.counts.push(if t.run.repairs_used > 0 { Count::ValidRepaired } else { Count::Valid });
    }
    if has(EntryKind::ProposalInvalid) {
        turns.counts.push(invalid(t));
    }
    // An inline effect passes the gate once, however often it is begun.
    if has(EntryKind::AutoApproved) && (has(EntryKind::Proposed) || t.effects.iter().any(|write| write.is_new)) {
        turns.counts.push(Count::Automatic);
    }
    if has(EntryKind::ApprovalRequested) && has(EntryKind::Proposed) {
        turns.counts.push(Count::Person);
        turns.counts.extend(t.approvals.iter().any(only_sampled).then_some(Count::Sampled));
    }
    approvals(t, &mut turns);
    if has(EntryKind::Abandoned) || (has(EntryKind::Failed) && is_exhausted(&t.run.state)) {
        turns.counts.push(Count::RunExhausted);
    }
    if t.lease_guard == LeaseGuard::Over && matches!(t.lease, LeaseWrite::Grant { .. }) {
        turns.counts.push(Count::Takeover);
    }
    t.effects.iter().for_each(|write| effect(write, &mut turns.counts));
    turns
}

/// The try that was invalid: a repair is counted in the run with the try that asks for it.
fn invalid(t: &Transition) -> Count {
    let before = t.run.repairs_used - i32::from(t.run.state == RunState::Processing);
    if before > 0 { Count::InvalidRepaired } else { Count::Invalid }
}

fn only_sampled(approval: &Approval) -> bool {
    let why = &approval.terms.why;
    !why.is_empty() && why.iter().all(|why| why.ends_with(SAMPLED))
}

/// The words of an approval's end, as the approval itself says them. It is written again after its end for a place where
/// somebody waits for it; the entry says that it turned.
fn approvals(t: &Transition, turns: &mut Turns) {
    const ENDS: [EntryKind; 3] = [EntryKind::Decided, EntryKind::ApprovalExpired, EntryKind::ApprovalWithdrawn];
    let has_ended = t.entries.iter().any(|entry| ENDS.iter().any(|end| entry.kind == end.as_str()));
    let ended = t.approvals.iter().filter(|_| has_ended);
    for (approval, outcome) in ended.filter_map(|approval| Some((approval, approval.outcome()?))) {
        turns.counts.push(match outcome {
            Outcome::Approved => Count::Approved,
            Outcome::Rejected => Count::Rejected,
            Outcome::Expired => Count::Expired,
            Outcome::Undeliverable => Count::Undeliverable,
            Outcome::Withdrawn => Count::Withdrawn,
        });
        if matches!(outcome, Outcome::Approved | Outcome::Rejected) {
            let at = approval.decided_at.unwrap_or(t.run.updated_at);
            turns.wait_ms = Some(at.ms_since(approval.created_at));
        }
    }
}

fn is_exhausted(state: &RunState) -> bool {
    matches!(state, RunState::FailedTerminal { reason } if reason == EXHAUSTED)
}

const EXHAUSTED: &str = "attempts_exhausted";

/// An effect that comes into doubt again after a re-issue is the same doubt.
fn effect(write: &EffectWrite, counts: &mut Vec<Count>) {
    let Some(before) = write.before else { return };
    let after = &write.effect;
    if after.unknown_since.is_some() && !before.is_in_doubt {
        counts.push(Count::Unknown);
    }
    let turned_to_review =
        matches!(after.state, EffectState::Review { .. }) && !matches!(before.state, EffectState::Review { .. });
    if turned_to_review {
        counts.push(Count::Review);
    }
    let turned = turned_to_review || (after.state == EffectState::Failed && !before.state.is_final());
    if turned && after.reason.as_deref() == Some(EXHAUSTED) {
        counts.push(Count::EffectExhausted);
    }
}
