//! What holds deliveries back: how many calls to a source's worker may be under way at once, and the pause while that
//! worker cannot be reached. Kept in the process: a replica finds out for itself.
//!
//! A worker that is away is asked with one run at a time, less and less often, so that a thousand runs that wait do not
//! put a thousand failures on record.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use effectgate_core::{ids::SourceName, time::Timestamp};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::policy::Policy;

/// The pause after the first call that reached nobody; doubled with each further one.
const PAUSE_MS_FIRST: i64 = 1_000;
/// A worker that is back is found within half a minute.
const PAUSE_MS_MAX: i64 = 30_000;

/// A lane for each source that delivers.
pub(crate) struct Lanes(BTreeMap<SourceName, Lane>);

struct Lane {
    permits: Arc<Semaphore>,
    concurrent: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Present while the worker cannot be reached.
    pause: Option<Pause>,
}

#[derive(Debug, Clone, Copy)]
struct Pause {
    ms: i64,
    begun_at: Timestamp,
}

impl Pause {
    fn until(self) -> Timestamp {
        self.begun_at.plus_ms(self.ms)
    }
}

/// The right to make one call; given back when dropped.
pub(crate) struct Permit {
    _one: OwnedSemaphorePermit,
}

impl Lanes {
    pub(crate) fn new(policy: &Policy) -> Self {
        let lane = |concurrent: usize| Lane {
            permits: Arc::new(Semaphore::new(concurrent)),
            concurrent,
            state: Mutex::default(),
        };
        let lanes = policy
            .sources
            .iter()
            .filter_map(|(name, source)| Some((name.clone(), lane(source.deliver.as_ref()?.concurrent))));
        Self(lanes.collect())
    }

    /// How many calls could begin now. One while the worker was last found away, and none during the pause.
    pub(crate) fn room(&self, source: &SourceName, now: Timestamp) -> usize {
        let Some(lane) = self.0.get(source) else { return 0 };
        let free = lane.permits.available_permits();
        match lane.state().pause {
            None => free,
            Some(pause) if pause.until() > now => 0,
            Some(_) => usize::from(free == lane.concurrent),
        }
    }

    /// `None` if there is no room after all.
    pub(crate) fn take(&self, source: &SourceName) -> Option<Permit> {
        let one = self.0.get(source)?.permits.clone().try_acquire_owned().ok()?;
        Some(Permit { _one: one })
    }

    /// Notes how a call ended. True if the worker is away since this one. Calls that were under way together are one
    /// sign, not several.
    pub(crate) fn note(&self, source: &SourceName, reached: bool, begun_at: Timestamp, now: Timestamp) -> bool {
        let Some(lane) = self.0.get(source) else { return false };
        let mut state = lane.state();
        match (reached, state.pause) {
            (true, _) => state.pause = None,
            (false, Some(pause)) if begun_at < pause.until() => {}
            (false, pause) => {
                let ms = pause.map_or(PAUSE_MS_FIRST, |pause| (pause.ms * 2).min(PAUSE_MS_MAX));
                state.pause = Some(Pause { ms, begun_at: now });
                return pause.is_none();
            }
        }
        false
    }

    /// Sources whose worker was last found away, with the moment of the next call.
    pub(crate) fn paused(&self) -> Vec<(SourceName, Timestamp)> {
        let paused = |(name, lane): (&SourceName, &Lane)| lane.state().pause.map(|pause| (name.clone(), pause.until()));
        self.0.iter().filter_map(paused).collect()
    }

    pub(crate) fn under_way(&self) -> usize {
        self.0.values().map(|lane| lane.concurrent - lane.permits.available_permits()).sum()
    }

    /// Waits until no call is under way.
    pub(crate) async fn idle(&self) {
        for lane in self.0.values() {
            // The semaphore is never closed.
            let _ = lane.permits.acquire_many(u32::try_from(lane.concurrent).unwrap_or(u32::MAX)).await;
        }
    }
}

impl Lane {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held left plain numbers behind, which are still good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
