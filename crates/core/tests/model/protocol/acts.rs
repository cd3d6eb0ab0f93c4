//! What happens.

use super::words::{Action, Broken, Pending, Protocol, State, Wire};
use crate::moves::{Answer, ApprovalWord, Eff, Move, Run, Sent, step};

impl Protocol {
    pub(super) fn act(&self, state: &mut State, action: Action) -> Option<()> {
        match action {
            Action::Reserve { worker, key, hears } => self.reserve(state, worker, key, hears),
            Action::LooksForKey { worker, key } => {
                state.one(key).absent_for[usize::from(worker)] = true;
                Some(())
            }
            Action::Inserts { worker, key } => {
                state.one(key).absent_for[usize::from(worker)] = false;
                state.insert(*self, worker, key, true);
                Some(())
            }
            Action::WorkerReads { worker, what } => {
                let belief = state.beliefs[usize::from(worker)]?;
                let what = what.of(worker, belief.fence);
                let read = state.row(belief.key);
                step(read, what, self.enforcing)?;
                state.worker = Some(Pending { key: belief.key, what, read, fresh: true });
                Some(())
            }
            Action::WorkerWrites => self.write_pending(state.worker.take()?, state),
            Action::PersonReads { person, key, approves } => {
                let (what, read) = (Move::Decide { person, approves }, state.row(key));
                step(read, what, self.enforcing)?;
                state.people[usize::from(person)] = Some(Pending { key, what, read, fresh: true });
                Some(())
            }
            Action::PersonClicks { person } => {
                let pending = state.people[usize::from(person)].take()?;
                self.write_pending(pending, state)
            }
            Action::LeaseRunsOut { key } => {
                let fence = state.row(key).fence;
                state.one(key).row.lease_lives = false;
                let beliefs = state.beliefs.iter_mut().flatten();
                beliefs.filter(|b| b.key == key && b.fence == fence).for_each(|b| b.live = false);
                Some(())
            }
            Action::Sweep { key } => state.at_once(*self, key, Move::Overtaken).map(drop),
            Action::ApprovalExpires { key } => state.at_once(*self, key, Move::ExpireApproval).map(drop),
            Action::SendingRunsOut { key } => {
                state.one(key).row.sending_lives = false;
                Some(())
            }
            Action::SendingExpires { key } => state.at_once(*self, key, Move::ExpireSending).map(drop),
            Action::Reconcile { key } => state.at_once(*self, key, Move::Reconcile).map(drop),
            Action::Resolve { key, how } => state.at_once(*self, key, Move::Resolve { how }).map(drop),
            Action::WindowEnds { key } => {
                state.one(key).row.sent = Sent::Past;
                Some(())
            }
            Action::ProviderForgets { key } => {
                state.one(key).remembers = false;
                Some(())
            }
            Action::Switch { on } => {
                state.switch_on = on;
                Some(())
            }
            Action::Claim { key } => self.claim(state, key),
            Action::Write { key, place, refused } => self.write(state, key, place, refused),
            Action::Answered { key, place, class } => self.answered(state, key, place, class),
            Action::DispatcherDies { key, place } => {
                state.one(key).wires[usize::from(place)] = None;
                Some(())
            }
        }
    }

    fn reserve(&self, state: &mut State, worker: u8, key: u8, hears: bool) -> Option<()> {
        let row = state.row(key);
        if row.run == Run::Absent {
            state.insert(*self, worker, key, hears);
            return Some(());
        }
        // The same owner asks again while its lease lives.
        if row.run == Run::Processing && row.lease_lives && row.owner == worker {
            state.believe(worker, key);
            return Some(());
        }
        let granted = state.at_once(*self, key, Move::Claim { worker })?;
        let after = state.row(key);
        if granted && hears && after.run == Run::Processing && after.owner == worker {
            state.believe(worker, key);
        }
        Some(())
    }

    /// What was decided on what was read.
    fn write_pending(&self, pending: Pending, state: &mut State) -> Option<()> {
        let made = step(pending.read, pending.what, self.enforcing)?;
        state.commit(*self, pending.key, pending.fresh, pending.what, made);
        Some(())
    }

    /// The dispatcher writes its attempt, and has it in hand; or (broken) has it in hand alone.
    fn claim(&self, state: &mut State, key: u8) -> Option<()> {
        let place = state.keys[usize::from(key)].wires.iter().position(Option::is_none)?;
        let row = state.row(key);
        if self.broken == Some(Broken::AttemptAfterCall) {
            if row.effect != Eff::Pending || !state.switch_on {
                return None;
            }
            state.one(key).wires[place] = Some(Wire { fence: row.effect_fence + 1, written: false });
            return Some(());
        }
        let was_on = state.switch_on;
        if !state.at_once(*self, key, Move::Send)? {
            return Some(());
        }
        let after = state.row(key);
        if after.effect == Eff::Sending {
            state.falls(11, !was_on);
            state.one(key).wires[place] = Some(Wire { fence: after.effect_fence, written: false });
        }
        Some(())
    }

    /// The first byte, after the gate's word: the switch is on, and the attempt still has its time.
    fn write(&self, state: &mut State, key: u8, place: u8, refused: bool) -> Option<()> {
        let (row, on) = (state.row(key), state.switch_on);
        let mut wire = state.keys[usize::from(key)].wires[usize::from(place)]?;
        let is_on_record = row.effect == Eff::Sending && row.effect_fence == wire.fence;
        let has_time = row.sending_lives && is_on_record;
        let broken = self.broken == Some(Broken::AttemptAfterCall);
        if !on || !(has_time || broken) {
            return None;
        }
        state.falls(8, !is_on_record);
        state.falls(5, row.approval != Some(ApprovalWord::Approved));
        state.falls(11, !on);
        wire.written = true;
        let one = state.one(key);
        one.wires[usize::from(place)] = Some(wire);
        let knows = self.enforcing && one.remembers;
        if !refused && !knows {
            (one.executed, one.remembers) = (one.executed + 1, true);
        }
        Some(())
    }

    /// The attempt ends as its dispatcher saw it, and is settled if that still fits.
    fn answered(&self, state: &mut State, key: u8, place: u8, class: Answer) -> Option<()> {
        let one = state.keys[usize::from(key)];
        let wire = one.wires[usize::from(place)]?;
        state.one(key).wires[usize::from(place)] = None;
        if self.broken == Some(Broken::AttemptAfterCall) {
            state.at_once(*self, key, Move::Send);
        }
        state.at_once(*self, key, Move::Settle { fence: wire.fence, class });
        Some(())
    }
}
