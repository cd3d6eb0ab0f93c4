//! The database file. Worlds come one after the other on the same one, each a tenant of its own: opening one costs more than
//! a whole world. In memory where the system has a file system for it: what a flush costs is not the subject here.

use std::sync::Arc;

use effectgate_engine::clock::Clock as _;
use effectgate_store::{SqliteStore, Store, StoreError};
use tempfile::TempDir;

use crate::common::TestClock;

pub struct File {
    /// The clock that the store goes by. Each world begins where the last one ended.
    pub wall: TestClock,
    store: Option<Arc<dyn Store>>,
    dir: TempDir,
}

impl File {
    pub fn new() -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let mut file = Self { wall: TestClock::new(), store: None, dir };
        file.open();
        file
    }

    pub fn store(&self) -> Arc<dyn Store> {
        self.store.clone().unwrap()
    }

    /// Whatever the store holds in memory is gone; nobody else may hold it any more.
    pub fn cut_the_power(&mut self) {
        self.store = None;
        self.open();
    }

    /// The last store's hold on the file ends with its threads.
    fn open(&mut self) {
        let wall = self.wall.clone();
        let clock: effectgate_store::ClockFn = Arc::new(move || wall.now());
        let store = loop {
            match SqliteStore::open_with_clock(self.dir.path().join("t.db"), clock.clone()) {
                Ok(store) => break store,
                Err(StoreError::InUse { .. }) => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        };
        self.store = Some(Arc::new(store));
    }
}
