//! The store's promise: all or nothing, and what a write must never do.

use super::words::{Belief, Broken, Fallen, One, Protocol, State};
use crate::moves::{Answer, ApprovalWord, Eff, Guard, Key, Move, Run, Step, step};

pub(super) const fn bit(guarantee: u8) -> Fallen {
    1 << guarantee
}

impl State {
    pub(super) fn one(&mut self, key: u8) -> &mut One {
        &mut self.keys[usize::from(key)]
    }

    pub(super) fn row(&self, key: u8) -> Key {
        self.keys[usize::from(key)].row
    }

    pub(super) fn falls(&mut self, guarantee: u8, has_fallen: bool) {
        if has_fallen {
            self.fallen |= bit(guarantee);
        }
    }

    /// The store: all or nothing, if the row is as it was read and the guard holds now. True if it was written.
    pub(super) fn commit(&mut self, protocol: Protocol, key: u8, fresh: bool, what: Move, made: Step) -> bool {
        let row = self.row(key);
        let decides = matches!(what, Move::Decide { .. });
        let asks_nothing = match protocol.broken {
            Some(Broken::NoFence) => true,
            Some(Broken::TokenTwice) => decides,
            _ => false,
        };
        let guarded = match made.guard {
            Guard::Nothing => true,
            Guard::LeaseLives { worker, fence } => {
                row.run == Run::Processing && row.lease_lives && (row.owner, row.fence) == (worker, fence)
            }
            Guard::LeaseFree => row.run != Run::Processing || !row.lease_lives,
            Guard::SendingLives { fence } => {
                row.effect == Eff::Sending && row.sending_lives && row.effect_fence == fence
            }
            Guard::SendingOver { fence } => {
                row.effect == Eff::Sending && !row.sending_lives && row.effect_fence == fence
            }
        };
        if !asks_nothing && (!fresh || !guarded || (made.switched && !self.switch_on)) {
            return false;
        }
        self.watch(key, row, made, what);
        let mut after = made.after;
        if protocol.broken == Some(Broken::UnknownResent) && matches!(after.effect, Eff::Unknown | Eff::Review) {
            (after.effect, after.in_doubt) = (Eff::Pending, false);
        }
        self.put(protocol, key, after);
        true
    }

    /// Every change is noticed by all who have read: what they would write is lost by compare-and-set, so it may as well
    /// be dropped at once. Where a variant writes it all the same it is kept.
    fn put(&mut self, protocol: Protocol, key: u8, row: Key) {
        let before = self.row(key);
        self.one(key).row = row;
        if row.run != Run::Processing {
            // Given back with the write that ended the work.
            let holders = self.beliefs.iter_mut().flatten();
            holders.filter(|b| b.key == key && b.fence == before.fence).for_each(|b| b.live = false);
        }
        let keeps = matches!(protocol.broken, Some(Broken::NoFence | Broken::TokenTwice));
        for pending in self.people.iter_mut().chain([&mut self.worker]) {
            match pending {
                Some(p) if p.key == key && keeps => p.fresh = false,
                Some(p) if p.key == key => *pending = None,
                _ => {}
            }
        }
    }

    /// What a commit must never do, judged by the row before it and after it.
    fn watch(&mut self, key: u8, before: Key, made: Step, what: Move) {
        let after = made.after;
        if let Move::Propose { worker, fence } | Move::Complete { worker, fence } | Move::Fail { worker, fence } = what
        {
            let is_theirs = before.run == Run::Processing && (before.owner, before.fence) == (worker, fence);
            self.falls(2, !(is_theirs && before.lease_lives));
        }
        let starts = matches!(after.run, Run::Processing | Run::Retryable);
        self.falls(4, starts && (before.run.is_final() || matches!(before.run, Run::Approved | Run::AwaitsDecision)));
        let over = [Eff::Completed, Eff::Failed, Eff::Cancelled];
        let taken_back = over.contains(&before.effect) && after.effect != before.effect;
        self.falls(12, taken_back || (before.run.is_final() && after.run != before.run));
        self.falls(8, before.effect == Eff::Sending && after.effect == Eff::Pending && !is_end(what));
        if matches!(what, Move::Decide { .. }) {
            self.one(key).decisions += 1;
            let decisions = self.one(key).decisions;
            self.falls(6, decisions > 1 || before.approval != Some(ApprovalWord::Open));
        }
        let executed = self.keys[usize::from(key)].executed > 0;
        let lies = match after.effect {
            Eff::Completed => !executed,
            Eff::Failed | Eff::Cancelled => executed,
            _ => false,
        };
        self.falls(9, lies && after.effect != before.effect);
    }

    /// One of core's moves, read and written at once.
    pub(super) fn at_once(&mut self, protocol: Protocol, key: u8, what: Move) -> Option<bool> {
        let made = step(self.row(key), what, protocol.enforcing)?;
        Some(self.commit(protocol, key, true, what, made))
    }

    pub(super) fn believe(&mut self, worker: u8, key: u8) {
        let row = self.row(key);
        self.beliefs[usize::from(worker)] = Some(Belief { key, fence: row.fence, live: row.lease_lives });
    }

    pub(super) fn insert(&mut self, protocol: Protocol, worker: u8, key: u8, hears: bool) {
        self.put(protocol, key, Key::made(worker));
        if hears {
            self.believe(worker, key);
        }
    }
}

const fn is_end(what: Move) -> bool {
    matches!(what, Move::Settle { class: Answer::NotSent, .. })
}
