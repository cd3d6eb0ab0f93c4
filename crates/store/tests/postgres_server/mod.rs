//! What only a server with several clients can get wrong: rows that others hold, replicas, outages, standbys.

mod cut;
mod lease;
mod open;
mod outage;
mod outbox;
mod replicas;
mod replication;

use std::{sync::Arc, time::Duration};

use effectgate_core::time::Timestamp;
use effectgate_store::{PgStore, Store};
use effectgate_testkit::pg::test_database;
use tokio_postgres::Client;

use crate::client;

/// A store on a database of its own, and a plain connection beside it.
struct Fixture {
    store: Arc<dyn Store>,
    url: String,
    beside: Client,
}

impl Fixture {
    async fn new() -> Option<Self> {
        let url = test_database().await?;
        let store: Arc<dyn Store> = Arc::new(PgStore::connect(&url).await.unwrap());
        Some(Self { store, beside: client(&url).await, url })
    }

    async fn now(&self) -> Timestamp {
        self.store.health().await.unwrap().clock
    }

    /// Waits until the database says yes.
    async fn until(&self, question: &str) {
        until(&self.beside, question).await;
    }

    /// Waits until a session of the store waits for a lock.
    async fn until_blocked(&self) {
        self.until(BLOCKED).await;
    }
}

const BLOCKED: &str = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
  AND application_name = 'effectgate' AND wait_event_type = 'Lock')";

/// The longest that anything here takes on a loaded machine; a test that waits longer is broken.
const PATIENCE: Duration = Duration::from_secs(30);

async fn until(beside: &Client, question: &str) {
    let asking = async {
        let mut tick = tokio::time::interval(Duration::from_millis(10));
        while !beside.query_one(question, &[]).await.unwrap().get::<_, bool>(0) {
            tick.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("never: {question}"));
}
