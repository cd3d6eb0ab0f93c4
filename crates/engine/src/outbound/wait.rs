//! Waiting for the outcome of a run. The work is never in here: the dispatcher does it whether or not anybody waits, so a
//! caller that hangs up stops nothing. A commit of this process wakes whoever waits for that run; what another replica
//! commits is found by looking.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use effectgate_core::ids::RunId;
use tokio::{sync::watch, time::Instant};

use super::{
    OutAnswer, Waiting,
    stand::{Stand, is_over_budget, stand},
};
use crate::{
    engine::Engine,
    error::{EngineError, Result},
};

/// The first look after a miss, and the longest pause between looks: an answer of another replica is then seen a moment
/// after it is there, and a hundred waiting requests are a hundred small reads a second.
const LOOK_FIRST: Duration = Duration::from_millis(100);
const LOOK_LAST: Duration = Duration::from_millis(1_000);

/// A run is bounded in attempts, and each of them waits for a budget once; this is far beyond.
const ENTRIES_MAX: u32 = 1_000;

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
struct Place<'a> {
    waits: &'a Waits,
    run: RunId,
    changes: watch::Receiver<u64>,
    /// How many waited before.
    others: usize,
}

impl Waits {
    fn enter(&self, run: RunId) -> Place<'_> {
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
    /// Waits until the outcome is known or the time is over, and says what there is to say. A repeat that comes while
    /// another request waits for the same run is answered at once. Dropping this stops nothing.
    ///
    /// # Errors
    /// The run is gone, the store.
    pub async fn out_wait(&self, waiting: &Waiting) -> Result<OutAnswer> {
        let mut place = self.inner().waits.enter(waiting.run);
        let is_second = waiting.is_repeat && place.others > 0;
        let patience = if is_second { Duration::ZERO } else { Duration::from_millis(waiting.wait_ms) };
        let until = Instant::now() + patience;
        let mut pause = LOOK_FIRST;
        loop {
            place.changes.borrow_and_update();
            let answer = match self.out_stand(waiting).await? {
                Stand::Settled(answer) => Some(answer),
                Stand::Open { due, otherwise } => {
                    let left = until.saturating_duration_since(Instant::now());
                    let wait_ms = due.map_or(0, |due| due.ms_since(self.now()));
                    let comes_in_time = u128::try_from(wait_ms).unwrap_or(0) < left.as_millis();
                    (!comes_in_time).then_some(otherwise)
                }
            };
            if let Some(answer) = answer {
                return Ok(of(answer, waiting.is_repeat));
            }
            let look = until.min(Instant::now() + pause);
            pause = (pause * 2).min(LOOK_LAST);
            tokio::select! {
                _ = place.changes.changed() => {}
                () = tokio::time::sleep_until(look) => {}
            }
        }
    }

    async fn out_stand(&self, waiting: &Waiting) -> Result<Stand> {
        let agg = self.store().run_load(&waiting.tenant, waiting.run).await?;
        let agg = agg.ok_or(EngineError::NotFound("run"))?;
        let content = match agg.run.state.is_final() {
            true => self.store().run_content(&waiting.tenant, waiting.run).await?,
            false => None,
        };
        let switches = if agg.run.effects.open > 0 { self.switches_in_force().await } else { Vec::new() };
        let now = self.now();
        let entries = match is_over_budget(&agg, now) {
            true => self.store().journal_read(waiting.run, 0, ENTRIES_MAX).await?,
            false => Vec::new(),
        };
        Ok(stand(&agg, content.as_ref(), &entries, &switches, now))
    }
}

/// Whether an answer is a repeat is the request's part, not the run's.
fn of(answer: OutAnswer, is_repeat: bool) -> OutAnswer {
    match answer {
        OutAnswer::Kept { kept, run, .. } => OutAnswer::Kept { kept, replayed: is_repeat, run },
        other => other,
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
