//! A process of the product: an engine on a runtime of its own, with a clock of its own that nobody sets (the runtime's,
//! paused: it moves only when the world's time does). Dropping it ends every task where it stands, as kill -9 does.

use std::{sync::Arc, time::Duration};

use effectgate_engine::{Engine, policy::Policy};
use effectgate_store::Store;
use tokio::runtime::{Builder, Runtime};

use crate::{common::TestClock, crash::Crash};

pub struct Replica {
    runtime: Runtime,
    pub engine: Engine,
    crash: Crash,
}

impl Replica {
    pub fn start(store: Arc<dyn Store>, policy: Policy, wall: TestClock, crash: Crash) -> Self {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let engine = runtime.block_on(async { Engine::new(store, policy, Arc::new(wall)) });
        Self { runtime, engine, crash }
    }

    /// Does something in this process, its background tasks beside it. `None` if a crash struck first.
    pub fn run<T>(&self, work: impl AsyncFnOnce(&Engine) -> T) -> Option<T> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.crash.struck() => None,
                done = work(&self.engine) => Some(done),
            }
        })
    }

    /// Starts something that goes on in the background.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }

    /// The background tasks have some turns.
    pub fn turns(&self, n: usize) -> Option<()> {
        self.run(async |_| {
            for _ in 0..n {
                tokio::task::yield_now().await;
            }
        })
    }

    /// Time passes for this process.
    pub fn elapse(&self, ms: i64) -> Option<()> {
        let passed = Duration::from_millis(u64::try_from(ms).unwrap());
        self.run(async |_| tokio::time::advance(passed).await)
    }
}
