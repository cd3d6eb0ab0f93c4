//! The PostgreSQL twin under the conformance suite, and what only a server with several clients can get wrong.
//! Without an installed PostgreSQL these tests say that they were skipped, unless `EFFECTGATE_REQUIRE_PG=1`.

#![allow(unreachable_pub, clippy::unwrap_used, reason = "shared with the modules of this test binary")]

#[macro_use]
mod conformance;
mod postgres_server;

use std::{fmt::Write, sync::Arc};

use async_trait::async_trait;
use conformance::{Bench, TIMES};
use effectgate_store::{PgStore, Store};
use effectgate_testkit::pg::test_database;
use tokio_postgres::NoTls;

pub struct PgBench {
    store: Arc<PgStore>,
    pub url: String,
}

/// A plain connection beside the store.
pub async fn client(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the server runs");
    tokio::spawn(connection);
    client
}

/// Moves every moment into the past: the database's own clock cannot be moved.
pub async fn age(url: &str, ms: i64) {
    let mut sql = String::new();
    for (table, columns) in TIMES {
        let moved: Vec<String> = columns.iter().map(|c| format!("{c} = {c} - {}", ms * 1_000)).collect();
        writeln!(sql, "UPDATE {table} SET {};", moved.join(", ")).unwrap();
    }
    client(url).await.batch_execute(&sql).await.unwrap();
}

#[async_trait]
impl Bench for PgBench {
    async fn new() -> Option<Self> {
        let url = test_database().await?;
        Some(Self { store: Arc::new(PgStore::connect(&url).await.unwrap()), url })
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    async fn other(&self) -> Arc<dyn Store> {
        Arc::new(PgStore::connect(&self.url).await.unwrap())
    }

    async fn advance(&self, ms: i64) {
        age(&self.url, ms).await;
    }

    async fn sql(&self, statement: &str) {
        client(&self.url).await.batch_execute(statement).await.unwrap();
    }
}

conformance!(PgBench);

/// The same under serialisable isolation, where single statements are refused for conflicts.
mod serializable {
    use super::*;

    pub struct SerializableBench(PgBench);

    #[async_trait]
    impl Bench for SerializableBench {
        async fn new() -> Option<Self> {
            let url = test_database().await?;
            let strict = format!("{url}?options=-c%20default_transaction_isolation%3Dserializable");
            Some(Self(PgBench { store: Arc::new(PgStore::connect(&strict).await.unwrap()), url }))
        }

        fn store(&self) -> Arc<dyn Store> {
            self.0.store()
        }

        async fn advance(&self, ms: i64) {
            self.0.advance(ms).await;
        }

        async fn sql(&self, statement: &str) {
            self.0.sql(statement).await;
        }
    }

    conformance!(SerializableBench);
}
