//! The SQLite twin under the conformance suite, and what only a file can get wrong.

#![allow(unreachable_pub, clippy::unwrap_used, reason = "shared with the modules of this test binary")]

#[macro_use]
mod conformance;
mod sqlite_file;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use async_trait::async_trait;
use conformance::Bench;
use effectgate_core::time::Timestamp;
use effectgate_store::{ClockFn, SqliteStore, Store};

/// Any moment; the clock stands still unless a test moves it.
pub const START: i64 = 1_790_000_000_000_000;

pub struct SqliteBench {
    store: Arc<SqliteStore>,
    clock: Arc<AtomicI64>,
    folder: tempfile::TempDir,
}

pub fn clock_of(micros: &Arc<AtomicI64>) -> ClockFn {
    let micros = Arc::clone(micros);
    Arc::new(move || Timestamp::from_micros(micros.load(Ordering::SeqCst)))
}

impl SqliteBench {
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("gate.db")
    }
}

#[async_trait]
impl Bench for SqliteBench {
    async fn new() -> Option<Self> {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::new(AtomicI64::new(START)));
        let store = SqliteStore::open_with_clock(folder.path().join("gate.db"), clock_of(&clock)).unwrap();
        Some(Self { store: Arc::new(store), clock, folder })
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    async fn advance(&self, ms: i64) {
        self.clock.fetch_add(ms * 1_000, Ordering::SeqCst);
    }

    async fn sql(&self, statement: &str) {
        rusqlite::Connection::open(self.path()).unwrap().execute_batch(statement).unwrap();
    }
}

conformance!(SqliteBench);
