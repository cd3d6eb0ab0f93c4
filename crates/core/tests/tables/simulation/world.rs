//! The run under simulation, the store that keeps its rows, and the provider that remembers.

use std::collections::BTreeMap;

use effectgate_core::{
    effect::Effect,
    ids::Fence,
    journal::SealedEntry,
    provider::{Class as ProviderClass, Provider},
    retry::Class,
    run::{Aggregate, Lease, RunState},
    transition::{LeaseGuard, LeaseWrite, SendingGuard, Transition},
};

use crate::{given::*, invariants};

/// What the provider has seen of one provider key.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) executed: u32,
    /// When the provider took the key into its memory.
    pub(super) known_since_ms: i64,
    /// A person said: send again, or it did not happen. From then on a second execution is on that word.
    pub(super) on_a_persons_word: bool,
}

pub(super) struct World {
    pub(super) agg: Aggregate,
    pub(super) provider: Provider,
    pub(super) entries: Vec<SealedEntry>,
    pub(super) now_ms: i64,
    /// Ends of the dispatcher's leases, by effect number.
    sending_until: BTreeMap<i32, i64>,
    /// What an attempt under way did over there, to be reported later or never.
    pub(super) under_way: Vec<(Effect, Class)>,
    pub(super) ledger: BTreeMap<String, Ledger>,
    /// The number of transitions committed and lost.
    committed: u32,
    pub(super) lost: u32,
    pub(super) seen: BTreeMap<String, u32>,
}

impl World {
    pub(super) fn new(provider: Provider) -> Self {
        let agg = agg(RunState::Queued, vec![]);
        Self {
            agg,
            provider,
            entries: Vec::new(),
            now_ms: 0,
            sending_until: BTreeMap::new(),
            under_way: Vec::new(),
            ledger: BTreeMap::new(),
            committed: 0,
            lost: 0,
            seen: BTreeMap::new(),
        }
    }

    pub(super) fn now(&self) -> effectgate_core::time::Timestamp {
        at(self.now_ms)
    }

    /// The lease as the database's clock sees it now.
    pub(super) fn look(&mut self) {
        let now = self.now();
        if let Some(lease) = &mut self.agg.lease {
            lease.left_ms = lease.expires_at.ms_since(now);
            lease.is_live = lease.left_ms > 0;
        }
    }

    fn guards_hold(&self, t: &Transition) -> bool {
        let processing = self.agg.run.state == RunState::Processing;
        let live = self.agg.lease.is_some_and(|l| l.expires_at > self.now());
        let lease = match &t.lease_guard {
            LeaseGuard::Any => true,
            LeaseGuard::Live { owner, fence } => {
                processing && live && self.agg.run.owner.as_ref() == Some(owner) && self.agg.run.fence == *fence
            }
            LeaseGuard::Over => processing && !live,
            LeaseGuard::Free => !processing || !live,
        };
        let sends = |n: i32, fence: Fence| self.agg.effects.iter().any(|e| e.id.n == n && e.fence == fence);
        let until = |n: i32| self.sending_until.get(&n).copied();
        let sending = match t.sending_guard {
            SendingGuard::Any => true,
            SendingGuard::Live { effect: e, fence } => sends(e.n, fence) && until(e.n).is_some_and(|u| u > self.now_ms),
            SendingGuard::Over { effect: e, fence } => {
                sends(e.n, fence) && until(e.n).is_some_and(|u| u <= self.now_ms)
            }
        };
        t.expected_seq == self.agg.run.head.seq && lease && sending
    }

    /// Commits as the store does, or loses; checks everything.
    pub(super) fn commit(&mut self, t: &Transition) -> bool {
        if !self.guards_hold(t) {
            self.lost += 1;
            return false;
        }
        let before = self.agg.clone();
        let mut after = invariants::applied(&before, t);
        after.lease = match t.lease {
            LeaseWrite::Keep => after.lease,
            LeaseWrite::Clear => None,
            LeaseWrite::Grant { ms } => {
                Some(Lease { since: self.now(), expires_at: self.now().plus_ms(ms), is_live: true, left_ms: ms })
            }
            LeaseWrite::Renew { ms, total_ms_max } => after
                .lease
                .map(|l| Lease { expires_at: self.now().plus_ms(ms).min(l.since.plus_ms(total_ms_max)), ..l }),
        };
        assert_eq!(after.lease.is_some(), after.run.state == RunState::Processing, "a lease lives in processing only");
        for write in &t.effects {
            match write.sending_ms {
                Some(ms) => self.sending_until.insert(write.effect.id.n, self.now_ms + ms),
                None => self.sending_until.remove(&write.effect.id.n),
            };
        }
        self.entries.extend(t.entries.iter().cloned());
        self.agg = after;
        self.committed += 1;
        *self.seen.entry(word(&self.agg.run.state)).or_default() += 1;
        for effect in &self.agg.effects {
            *self.seen.entry(format!("effect {}", effect.state.as_str())).or_default() += 1;
        }
        true
    }

    /// What happens over there: an enforcing provider executes one key once inside its window and then forgets it.
    pub(super) fn perform(&mut self, effect: &Effect) {
        let window_ms = match self.provider.class {
            ProviderClass::Enforcing { key_window_ms, .. } => key_window_ms,
            ProviderClass::Advisory => 0,
        };
        let now_ms = self.now_ms;
        let entry = self.ledger.entry(effect.provider_key.clone()).or_default();
        if entry.executed == 0 || now_ms - entry.known_since_ms >= window_ms {
            entry.executed += 1;
            entry.known_since_ms = now_ms;
        }
        let executed = entry.executed;
        assert!(executed <= 1 || entry.on_a_persons_word, "{} was performed twice: {effect:?}", effect.id);
    }
}
