//! Waiting for the outcome of a run, at the outbound door and for the tools of agents. The work is never in here: the
//! dispatcher does it whether or not anybody waits, so a caller that hangs up stops nothing. A commit of this process
//! wakes whoever waits for that run; what another replica commits is found by looking. What a run as it stands means for
//! whoever asks is not said here, but by those who wait.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use effectgate_core::{budget, ids::RunId, journal::SealedEntry, run::Aggregate, time::Timestamp};
use tokio::{sync::watch, time::Instant};

use crate::{engine::Engine, error::Result};

/// The first look after a miss, and the longest pause between looks: an answer of another replica is then seen a moment
/// after it is there, and a hundred waiting requests are a hundred small reads a second.
const LOOK_FIRST: Duration = Duration::from_millis(100);
const LOOK_LAST: Duration = Duration::from_millis(1_000);

/// A run is bounded in attempts, and each of them waits for a budget once; this is far beyond.
const ENTRIES_MAX: u32 = 1_000;

/// Whether a run as it stands is an answer, or something may still come of it in the time a caller has.
#[derive(Debug)]
pub(crate) enum Stand<A> {
    Settled(A),
    /// `due` is when something may happen at the earliest, `otherwise` the answer if time is over.
    Open {
        due: Option<Timestamp>,
        otherwise: A,
    },
}

/// Who waits for which run in this process. Bounded by the open connections.
#[derive(Default)]
pub(crate) struct Waits {
    /// Read on every commit; nobody waits most of the time.
    count: AtomicUsize,
    runs: Mutex<HashMap<RunId, Heard>>,
}

struct Heard {
    waiting: usize,
    changes: watch::Sender<u64>,
}

/// One request's place; gives it back when dropped.
pub(crate) struct Place<'a> {
    waits: &'a Waits,
    run: RunId,
    changes: watch::Receiver<u64>,
    /// How many waited before.
    pub(crate) others: usize,
}

impl Waits {
    /// Takes a place, before the first look: what is committed after that wakes it.
    pub(crate) fn enter(&self, run: RunId) -> Place<'_> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = runs.entry(run).or_insert_with(|| Heard { waiting: 0, changes: watch::Sender::new(0) });
        let others = heard.waiting;
        heard.waiting += 1;
        self.count.fetch_add(1, Ordering::AcqRel);
        Place { waits: self, run, changes: heard.changes.subscribe(), others }
    }

    /// Wakes whoever waits for a run.
    pub(crate) fn changed(&self, run: &RunId) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(heard) = runs.get(run) {
            heard.changes.send_modify(|n| *n += 1);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut runs = self.waits.runs.lock().unwrap_or_else(PoisonError::into_inner);
        self.waits.count.fetch_sub(1, Ordering::AcqRel);
        if let Some(heard) = runs.get_mut(&self.run) {
            heard.waiting -= 1;
            if heard.waiting == 0 {
                runs.remove(&self.run);
            }
        }
    }
}

impl Engine {
    /// Looks until the outcome is known or the patience is over, and says what there is to say. Dropping this stops
    /// nothing.
    pub(crate) async fn watch<A, F>(
        &self,
        place: &mut Place<'_>,
        patience: Duration,
        look: impl Fn() -> F + Send,
    ) -> Result<A>
    where
        A: Send,
        F: Future<Output = Result<Stand<A>>> + Send,
    {
        let until = Instant::now() + patience;
        let mut pause = LOOK_FIRST;
        loop {
            place.changes.borrow_and_update();
            match look().await? {
                Stand::Settled(answer) => return Ok(answer),
                Stand::Open { due, otherwise } => {
                    let left = until.saturating_duration_since(Instant::now());
                    let wait_ms = due.map_or(0, |due| due.ms_since(self.now()));
                    let comes_in_time = u128::try_from(wait_ms).unwrap_or(0) < left.as_millis();
                    if !comes_in_time {
                        return Ok(otherwise);
                    }
                }
            }
            let look = until.min(Instant::now() + pause);
            pause = (pause * 2).min(LOOK_LAST);
            tokio::select! {
                _ = place.changes.changed() => {}
                () = tokio::time::sleep_until(look) => {}
            }
        }
    }

    /// The journal of a run whose effect waits for a budget, which says for which; of any other, nothing.
    pub(crate) async fn budget_entries(&self, agg: &Aggregate, now: Timestamp) -> Result<Vec<SealedEntry>> {
        let is_over_budget = agg.effects.iter().any(|effect| budget::is_waiting(effect, now));
        match is_over_budget {
            true => Ok(self.store().journal_read(agg.run.id, 0, ENTRIES_MAX).await?),
            false => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use effectgate_core::ids::{FlowName, Tenant};

    use super::*;

    #[tokio::test]
    async fn only_who_waits_for_the_run_is_woken_and_places_are_given_back() {
        let waits = Waits::default();
        let run = |key: &str| RunId::derive(&Tenant::new("t"), &FlowName::new("f"), key);
        let mut first = waits.enter(run("a"));
        let second = waits.enter(run("a"));
        let mut other = waits.enter(run("b"));
        assert_eq!((first.others, second.others, other.others), (0, 1, 0));

        waits.changed(&run("a"));

        assert!(first.changes.has_changed().unwrap() && !other.changes.has_changed().unwrap());
        first.changes.borrow_and_update();
        other.changes.borrow_and_update();
        drop((first, second, other));
        assert_eq!((waits.count.load(Ordering::Acquire), waits.runs.lock().unwrap().len()), (0, 0));
    }
}
