//! A full disk: nothing is claimed that is not there, and what is there stays readable.

use std::sync::Arc;

use effectgate_store::{Reserved, SqliteOptions, SqliteStore, Store, StoreError};

use crate::conformance::fixtures::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_claims_nothing_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.db");
    let options = SqliteOptions { pages_max: Some(200), ..SqliteOptions::default() };
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open_with(&path, options).unwrap());
    let now = store.health().await.unwrap().clock;
    let mut answered = Vec::new();
    let mut refused = Vec::new();

    while refused.len() < 50 {
        let from = answered.len() + refused.len();
        let tasks: Vec<_> = (from..from + 50)
            .map(|n| {
                let (store, new) = (Arc::clone(&store), big(&format!("k{n}"), now));
                (format!("k{n}"), tokio::spawn(async move { store.run_reserve(new).await }))
            })
            .collect();
        for (key, task) in tasks {
            match task.await.unwrap() {
                Ok(Reserved::Created { .. }) => answered.push(key),
                Err(StoreError::Unavailable { .. }) => refused.push(key),
                other => panic!("{other:?}"),
            }
        }
    }

    assert!(!answered.is_empty());
    assert_there(&store, &answered, &refused).await;
    store.close().await;
    let roomy: Arc<dyn Store> = Arc::new(SqliteStore::open(&path).unwrap());
    assert_there(&roomy, &answered, &refused).await;
    for key in refused {
        start(&roomy, big(&key, now)).await;
    }
}

fn big(key: &str, now: effectgate_core::time::Timestamp) -> effectgate_store::NewRun {
    let mut new = reserved(key, now);
    new.content.payload = Some("x".repeat(6_000));
    new
}

async fn assert_there(store: &Arc<dyn Store>, answered: &[String], refused: &[String]) {
    for (keys, wanted) in [(answered, true), (refused, false)] {
        for key in keys {
            assert_eq!(store.run_load(&tenant(), id(key)).await.unwrap().is_some(), wanted, "{key}");
            assert_eq!(chain(store, id(key)).await.len(), usize::from(wanted), "{key}");
        }
    }
}
