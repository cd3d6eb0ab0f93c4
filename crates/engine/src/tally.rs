//! The tally: what happened, counted per tenant, day (UTC), kind and flow, for the pages' weeks and for `/metrics`. It is
//! kept in the process and added to the database every ten seconds and at shutdown; a kill -9 loses at most one such
//! period of counts, never an entry of the journal, and a count is never the basis of a decision.
//!
//! What is counted is read from committed transitions ([`turns`]) and from the answers to reservations ([`answers`]).
//! Reading the weeks is [`crate::weeks`]'s work.

pub mod count;
pub mod wait;

mod answers;
mod turns;

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use effectgate_core::{
    ids::{FlowName, Tenant},
    time::Timestamp,
    transition::Transition,
};
use effectgate_store::{StoreError, TallyRow};

use self::{
    answers::{ANSWERS, Answers},
    count::Count,
};
use crate::{engine::Engine, error::Result, reserve::Reserved};

const DAY_MS: i64 = 86_400_000;
/// Different rows that wait for the database. Flows times kinds of a day are some hundreds; this bound holds where the
/// database is away for days, at about 10 MB. What comes beyond it is counted at `/metrics` only.
const ROWS_MAX: usize = 100_000;
/// Rows in one statement to the database.
const BATCH: usize = 500;

/// Days since 1970-01-01, UTC.
#[must_use]
pub fn day_of(at: Timestamp) -> i32 {
    i32::try_from(at.millis().div_euclid(DAY_MS)).unwrap_or(i32::MAX)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    tenant: Tenant,
    day: i32,
    count: Count,
    flow: FlowName,
    bucket: i32,
}

/// The counts of one process that are not in the database yet.
#[derive(Default)]
pub(crate) struct Tally {
    answers: Answers,
    waiting: Mutex<HashMap<Place, u64>>,
}

impl Tally {
    /// Counts an answer to a reservation.
    pub(crate) fn answered(&self, tenant: &Tenant, flow: &FlowName, answer: &Reserved, now: Timestamp) {
        self.counted(tenant, flow, count_of(answer), now);
    }

    /// Counts one of [`ANSWERS`].
    pub(crate) fn counted(&self, tenant: &Tenant, flow: &FlowName, count: Count, now: Timestamp) {
        let answer = ANSWERS.iter().position(|answer| *answer == count);
        let (answer, day) = (answer.expect("every answer to an event has a counter"), day_of(now));
        let Some(lane) = self.answers.lane(tenant, flow, day) else {
            self.add(&mut self.waiting(), tenant, flow, ANSWERS[answer], day, 0, 1);
            return;
        };
        if !lane.is_of(day) {
            let mut waiting = self.waiting();
            lane.take(|count, day, n| self.add(&mut waiting, &lane.tenant, &lane.flow, count, day, 0, n));
            lane.turn(day);
        }
        lane.add(answer);
    }

    /// Counts what was committed.
    pub(crate) fn turned(&self, turned: Turned, now: Timestamp) {
        let Turned { tenant, flow, turns } = turned;
        let (day, mut waiting) = (day_of(now), self.waiting());
        for count in turns.counts {
            self.add(&mut waiting, &tenant, &flow, count, day, 0, 1);
        }
        if let Some(ms) = turns.wait_ms {
            self.add(&mut waiting, &tenant, &flow, Count::Wait, day, wait::bucket(ms), 1);
            #[expect(clippy::cast_precision_loss, reason = "a histogram is coarser")]
            metrics::histogram!(WAIT_METRIC, "flow" => flow.as_str().to_owned()).record(ms.max(0) as f64 / 1_000.0);
        }
    }

    /// Takes the answers' counters into what waits, and so to `/metrics`.
    pub(crate) fn publish(&self) {
        let mut waiting = self.waiting();
        self.answers.each(|lane| {
            lane.take(|count, day, n| self.add(&mut waiting, &lane.tenant, &lane.flow, count, day, 0, n));
        });
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a row")]
    fn add(
        &self,
        waiting: &mut HashMap<Place, u64>,
        tenant: &Tenant,
        flow: &FlowName,
        count: Count,
        day: i32,
        bucket: i32,
        n: u64,
    ) {
        count.publish(flow.as_str(), n);
        let place = Place { tenant: tenant.clone(), day, count, flow: flow.clone(), bucket };
        put(waiting, place, n);
    }

    fn take(&self) -> Vec<(Place, u64)> {
        self.publish();
        mem::take(&mut *self.waiting()).into_iter().collect()
    }

    fn put_back(&self, rows: Vec<(Place, u64)>) {
        let mut waiting = self.waiting();
        rows.into_iter().for_each(|(place, n)| put(&mut waiting, place, n));
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<Place, u64>> {
        // A panic while the lock was held left plain numbers behind, which are still good.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wait's histogram at `/metrics`.
pub const WAIT_METRIC: &str = "effectgate_approval_wait_seconds";

fn put(waiting: &mut HashMap<Place, u64>, place: Place, n: u64) {
    if waiting.len() < ROWS_MAX || waiting.contains_key(&place) {
        *waiting.entry(place).or_default() += n;
    } else {
        metrics::counter!("effectgate_tally_dropped_total").increment(n);
    }
}

/// Its place among the lane's counters.
const fn count_of(answer: &Reserved) -> Count {
    match answer {
        Reserved::Granted { repeated: false, .. } => Count::Granted,
        Reserved::Granted { repeated: true, .. } => Count::Repeated,
        Reserved::Busy { .. } => Count::Busy,
        Reserved::Replay { .. } => Count::Replay,
        Reserved::Conflict { .. } => Count::Conflict,
    }
}

fn row((place, n): &(Place, u64)) -> TallyRow {
    TallyRow {
        tenant: place.tenant.clone(),
        day: place.day,
        name: place.count.name(place.flow.as_str()),
        bucket: place.bucket,
        count: i64::try_from(*n).unwrap_or(i64::MAX),
    }
}

/// What a transition will count as once it is committed.
pub(crate) struct Turned {
    tenant: Tenant,
    flow: FlowName,
    turns: turns::Turns,
}

/// Reads the counts of a transition before the store takes it; `None` where there is nothing to count.
pub(crate) fn turned(transition: &Transition) -> Option<Turned> {
    let turns = turns::of(transition);
    let run = &transition.run;
    (!turns.counts.is_empty()).then(|| Turned { tenant: run.tenant.clone(), flow: run.flow.clone(), turns })
}

impl Engine {
    /// Adds what was counted since the last time to the database; gives the number of rows.
    ///
    /// Guarantees: what could not be written is kept and goes with the next call. Where it is not known whether a
    /// commit happened, its counts are taken as written: a period that is missing is what is promised, one that is
    /// counted twice is not.
    ///
    /// # Errors
    /// The store.
    pub async fn tally_flush(&self) -> Result<usize> {
        let tally = &self.inner().tally;
        let mut rows = tally.take();
        let mut written = 0;
        while !rows.is_empty() {
            let rest = rows.split_off(rows.len().min(BATCH));
            let batch: Vec<TallyRow> = rows.iter().map(row).collect();
            match self.store().tally_add(&batch).await {
                Ok(()) | Err(StoreError::CommitUnknown { .. }) => written += batch.len(),
                Err(error) => {
                    rows.extend(rest);
                    tally.put_back(rows);
                    return Err(error.into());
                }
            }
            rows = rest;
        }
        Ok(written)
    }

    /// Brings the counters at `/metrics` up to date; called before each scrape.
    pub fn tally_publish(&self) {
        self.inner().tally.publish();
    }
}
