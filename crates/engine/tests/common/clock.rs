//! A clock that a test moves.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use effectgate_core::time::Timestamp;
use effectgate_engine::clock::Clock;

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_790_000_000_000_000)))
    }
    pub fn set(&self, at: Timestamp) {
        self.0.store(at.micros(), Ordering::SeqCst);
    }
    pub fn advance_ms(&self, ms: i64) {
        self.0.fetch_add(ms * 1_000, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
