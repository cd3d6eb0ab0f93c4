//! Busy answers from memory, for keys that are asked for again and again. A duplicate of a run that somebody works on
//! is told "busy" without asking the database, as long as nothing can have changed: this process forgets the run at
//! each of its own commits, and a reading is only kept for as long as the store says that it stays true (another replica
//! may have committed). Only "busy" is answered so: it promises nothing, and asking again is what the caller does next.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use effectgate_core::{
    ids::RunId,
    run::{Lease, Run},
    time::Timestamp,
};

const SHARDS: usize = 64;
/// Runs remembered in one shard; 4,096 in all, a few MB. When it is full it starts anew: hot keys come back at once.
const RUNS_MAX: usize = 64;

pub(crate) struct Hot {
    shards: Vec<Mutex<Shard>>,
    stays_true_ms: i64,
}

#[derive(Default)]
struct Shard {
    /// Commits of this process so far; a reading that began before the last one is not kept.
    commits: u64,
    busy: HashMap<RunId, Busy>,
}

struct Busy {
    read_at: Timestamp,
    run: Run,
    lease: Lease,
}

/// What was known before a reading began.
#[derive(Clone, Copy)]
pub(crate) struct Ticket {
    commits: u64,
    at: Timestamp,
}

impl Hot {
    pub(crate) fn new(stays_true: Duration) -> Self {
        let stays_true_ms = i64::try_from(stays_true.as_millis()).unwrap_or(i64::MAX);
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), stays_true_ms }
    }

    fn shard(&self, id: &RunId) -> MutexGuard<'_, Shard> {
        let n = usize::from(id.as_bytes()[0]) % SHARDS;
        self.shards[n].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be taken before a reading that may be kept.
    pub(crate) fn ticket(&self, id: &RunId, now: Timestamp) -> Ticket {
        Ticket { commits: self.shard(id).commits, at: now }
    }

    /// Keeps a run that was read with a live lease, unless this process committed something in between.
    pub(crate) fn keep(&self, ticket: Ticket, run: &Run, lease: Lease) {
        let mut shard = self.shard(&run.id);
        if shard.commits != ticket.commits {
            return;
        }
        if shard.busy.len() >= RUNS_MAX {
            shard.busy.clear();
        }
        shard.busy.insert(run.id, Busy { read_at: ticket.at, run: run.clone(), lease });
    }

    /// Looks at a run whose lease lives for certain; the lease's rest is what is left of it now.
    pub(crate) fn look<T>(&self, id: &RunId, now: Timestamp, see: impl FnOnce(&Run, Lease) -> Option<T>) -> Option<T> {
        let shard = self.shard(id);
        let busy = shard.busy.get(id)?;
        let age_ms = now.ms_since(busy.read_at);
        // A lease's last moment is the database's to judge; a clock that was set back makes a reading worthless.
        let left_ms = busy.lease.left_ms - age_ms - 1;
        if !(0..self.stays_true_ms).contains(&age_ms) || left_ms <= 0 {
            return None;
        }
        see(&busy.run, Lease { left_ms, ..busy.lease })
    }

    /// Forgets a run: this process has committed a change of it.
    pub(crate) fn changed(&self, id: &RunId) {
        let mut shard = self.shard(id);
        shard.commits += 1;
        shard.busy.remove(id);
    }
}
