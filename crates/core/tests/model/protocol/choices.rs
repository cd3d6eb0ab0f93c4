//! What can happen next.

use super::words::{Action, Broken, Protocol, State};
use crate::moves::{Answer, ApprovalWord, Eff, Run, Sent, Word};

impl Protocol {
    pub(super) fn of_workers(&self, state: &State, key: u8, actions: &mut Vec<Action>) {
        let one = state.keys[usize::from(key)];
        for worker in 0..2_u8 {
            if self.broken == Some(Broken::CheckThenInsert) && one.row.run == Run::Absent {
                actions.push(Action::LooksForKey { worker, key });
            } else {
                actions.extend([true, false].map(|hears| Action::Reserve { worker, key, hears }));
            }
            if one.absent_for[usize::from(worker)] {
                actions.push(Action::Inserts { worker, key });
            }
        }
    }

    pub(super) fn of_people(&self, state: &State, key: u8, actions: &mut Vec<Action>) {
        let one = state.keys[usize::from(key)];
        if one.row.approval == Some(ApprovalWord::Open) {
            for person in (0..2_u8).filter(|p| state.people[usize::from(*p)].is_none()) {
                // The first approves or rejects; the second would reject.
                let verdicts: &[bool] = if person == 0 { &[true, false] } else { &[false] };
                actions.extend(verdicts.iter().map(|approves| Action::PersonReads {
                    person,
                    key,
                    approves: *approves,
                }));
            }
            actions.push(Action::ApprovalExpires { key });
        }
        if matches!(one.row.effect, Eff::Review | Eff::Unknown) {
            // People tell the truth as the provider has it now.
            let words: &[Word] = if one.executed > 0 { &[Word::Happened] } else { &[Word::SendAgain, Word::Cancel] };
            let is_quiet = one.wires.iter().flatten().all(|wire| wire.written || one.row.effect_fence != wire.fence);
            if is_quiet {
                actions.extend(words.iter().map(|how| Action::Resolve { key, how: *how }));
            }
        }
    }
}

pub(super) fn of_the_wire(state: &State, key: u8, actions: &mut Vec<Action>) {
    let one = state.keys[usize::from(key)];
    if one.row.effect == Eff::Pending {
        actions.push(Action::Claim { key });
    }
    for place in 0..2_u8 {
        let Some(wire) = one.wires[usize::from(place)] else { continue };
        actions.push(Action::DispatcherDies { key, place });
        if !wire.written {
            actions.push(Action::Answered { key, place, class: Answer::NotSent });
            actions.extend([false, true].map(|refused| Action::Write { key, place, refused }));
            continue;
        }
        actions.push(Action::Answered { key, place, class: Answer::Unknown });
        // A definite answer tells what is so.
        let told = if one.executed > 0 { Answer::Applied } else { Answer::Refused };
        actions.push(Action::Answered { key, place, class: told });
    }
}

pub(super) fn of_time(state: &State, key: u8, actions: &mut Vec<Action>) {
    let one = state.keys[usize::from(key)];
    let row = one.row;
    if row.run == Run::Processing {
        actions.push(if row.lease_lives { Action::LeaseRunsOut { key } } else { Action::Sweep { key } });
    }
    if row.effect == Eff::Sending {
        actions.push(if row.sending_lives { Action::SendingRunsOut { key } } else { Action::SendingExpires { key } });
    }
    if row.effect == Eff::Unknown {
        actions.push(Action::Reconcile { key });
    }
    if row.sent == Sent::InWindow && one.wires.iter().all(Option::is_none) {
        // The margin is longer than an attempt.
        actions.push(Action::WindowEnds { key });
    }
    if row.sent == Sent::Past && one.remembers && one.wires.iter().all(Option::is_none) {
        actions.push(Action::ProviderForgets { key });
    }
}
