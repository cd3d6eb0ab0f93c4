//! Counters for the answers to reservations, the one thing that is counted on the hot path: found without a lock, counted
//! by one addition.
//!
//! A lane belongs to one tenant and flow and stays for the life of the process. Its counters only rise; what was taken
//! out of them is remembered beside them, and the difference is what is new. A lane counts for one day at a time: the
//! first answer of another day says so, and the caller takes out what belongs to the day before.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{
        OnceLock,
        atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use effectgate_core::ids::{FlowName, Tenant};

use super::count::Count;

/// The counts that a lane keeps, in its order.
pub(crate) const ANSWERS: [Count; 5] = [Count::Granted, Count::Repeated, Count::Busy, Count::Replay, Count::Conflict];

/// Chains of lanes; flows and tenants are few, so most chains are of one.
const CHAINS: usize = 256;
/// About half a megabyte. What does not find a place is counted under a lock instead.
const LANES_MAX: usize = 4_096;

pub(crate) struct Answers {
    chains: Vec<OnceLock<Box<Node>>>,
    lanes: AtomicUsize,
}

struct Node {
    lane: Lane,
    next: OnceLock<Box<Node>>,
}

pub(crate) struct Lane {
    pub(crate) tenant: Tenant,
    pub(crate) flow: FlowName,
    day: AtomicI32,
    counts: [AtomicU64; ANSWERS.len()],
    taken: [AtomicU64; ANSWERS.len()],
}

impl Default for Answers {
    fn default() -> Self {
        Self { chains: (0..CHAINS).map(|_| OnceLock::new()).collect(), lanes: AtomicUsize::new(0) }
    }
}

impl Answers {
    /// The lane of a flow, made at its first answer. `None` when there are too many.
    pub(crate) fn lane(&self, tenant: &Tenant, flow: &FlowName, day: i32) -> Option<&Lane> {
        let mut hasher = DefaultHasher::new();
        (tenant, flow).hash(&mut hasher);
        #[expect(clippy::cast_possible_truncation, reason = "the remainder is below 256")]
        let mut place = &self.chains[(hasher.finish() % CHAINS as u64) as usize];
        loop {
            let node = match place.get() {
                Some(node) => node,
                None if self.lanes.load(Relaxed) >= LANES_MAX => return None,
                None => place.get_or_init(|| {
                    self.lanes.fetch_add(1, Relaxed);
                    Box::new(Node { lane: Lane::new(tenant, flow, day), next: OnceLock::new() })
                }),
            };
            if node.lane.flow == *flow && node.lane.tenant == *tenant {
                return Some(&node.lane);
            }
            place = &node.next;
        }
    }

    pub(crate) fn each(&self, mut see: impl FnMut(&Lane)) {
        for chain in &self.chains {
            let mut place = chain;
            while let Some(node) = place.get() {
                see(&node.lane);
                place = &node.next;
            }
        }
    }
}

impl Lane {
    fn new(tenant: &Tenant, flow: &FlowName, day: i32) -> Self {
        Self {
            tenant: tenant.clone(),
            flow: flow.clone(),
            day: AtomicI32::new(day),
            counts: std::array::from_fn(|_| AtomicU64::new(0)),
            taken: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    pub(crate) fn is_of(&self, day: i32) -> bool {
        self.day.load(Relaxed) == day
    }

    /// Counts one answer. Two threads at midnight may count one for the day beside; none is lost.
    pub(crate) fn add(&self, answer: usize) {
        self.counts[answer].fetch_add(1, Relaxed);
    }

    /// Takes out what is new, with the day it belongs to. One caller at a time: the tally's lock is held.
    pub(crate) fn take(&self, mut see: impl FnMut(Count, i32, u64)) {
        let day = self.day.load(Relaxed);
        for ((count, counted), taken) in ANSWERS.into_iter().zip(&self.counts).zip(&self.taken) {
            let now = counted.load(Relaxed);
            let new = now - taken.swap(now, Relaxed);
            if new > 0 {
                see(count, day, new);
            }
        }
    }

    /// From here on it counts for another day. What was counted before was taken out.
    pub(crate) fn turn(&self, day: i32) {
        self.day.store(day, Relaxed);
    }
}
