//! The clock that judges leases on SQLite: the one process's own, read at the write inside the writer thread.
//! Differs: PostgreSQL has a clock of its own (`clock_timestamp()`), so its twin has no such file.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use effectgate_core::time::Timestamp;

/// Where the time comes from; tests bring one that they move by hand.
pub type ClockFn = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Never runs backwards within the process: a wall clock that is set back must not revive a lease that was over.
pub(crate) struct Clock {
    read: ClockFn,
    last: AtomicI64,
}

impl Clock {
    pub(crate) fn new(read: ClockFn) -> Self {
        Self { read, last: AtomicI64::new(i64::MIN) }
    }

    pub(crate) fn now(&self) -> Timestamp {
        let read = (self.read)().micros();
        Timestamp::from_micros(self.last.fetch_max(read, Ordering::SeqCst).max(read))
    }
}

/// The machine's wall clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the store's clock is the one place that reads the wall clock")]
#[allow(unfulfilled_lint_expectations)]
pub(crate) fn system() -> ClockFn {
    Arc::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_stands_still() {
        let wall = Arc::new(AtomicI64::new(50));
        let hand = Arc::clone(&wall);
        let clock = Clock::new(Arc::new(move || Timestamp::from_micros(hand.load(Ordering::SeqCst))));

        let before = clock.now();
        wall.store(20, Ordering::SeqCst);

        assert_eq!((before.micros(), clock.now().micros()), (50, 50));
    }
}
