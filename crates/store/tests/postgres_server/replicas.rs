//! Two processes on one database: who wins is decided by the database alone.

use std::{sync::Arc, time::Duration};

use effectgate_core::{run::Aggregate, time::Timestamp};
use effectgate_store::{Commit, PgStore, Reserved, Store, StoreError};
use effectgate_testkit::pg::test_database;

use super::Fixture;
use crate::{client, conformance::fixtures::*};

/// Rounds and owners of the case.
const ROUNDS: usize = 200;
const OWNERS: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_01_ten_owners_at_two_replicas_make_one_run() {
    let Some(f) = Fixture::new().await else { return };
    let other: Arc<dyn Store> = Arc::new(PgStore::connect(&f.url).await.unwrap());
    let now = f.now().await;
    for round in 0..ROUNDS {
        let key = format!("k{round}");
        let start = Arc::new(tokio::sync::Barrier::new(OWNERS));
        let reserve = |n: usize| {
            let store = Arc::clone(if n.is_multiple_of(2) { &f.store } else { &other });
            let (mut new, start) = (reserved(&key, now), Arc::clone(&start));
            new.run.owner = Some(owner(n));
            tokio::spawn(async move {
                start.wait().await;
                store.run_reserve(new).await.unwrap()
            })
        };
        let tasks: Vec<_> = (0..OWNERS).map(reserve).collect();

        let (mut created, mut owners) = (0, Vec::new());
        for (n, task) in tasks.into_iter().enumerate() {
            match task.await.unwrap() {
                Reserved::Created { .. } => {
                    created += 1;
                    owners.push(owner(n));
                }
                Reserved::Exists { run, lease } => {
                    assert!(lease.is_some_and(|l| l.is_live));
                    owners.push(run.owner.unwrap());
                }
            }
        }

        assert_eq!(created, 1, "round {round}");
        owners.dedup();
        assert_eq!(owners.len(), 1, "round {round}: everybody is told of the same owner");
    }
    let rows = f.beside.query_one("SELECT count(*), (SELECT count(*) FROM journal) FROM runs", &[]).await.unwrap();
    assert_eq!((rows.get::<_, i64>(0), rows.get::<_, i64>(1)), (200, 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_that_start_at_once_migrate_once() {
    let Some(url) = test_database().await else { return };

    let starting: Vec<_> = (0..4)
        .map(|_| {
            let url = url.clone();
            tokio::spawn(async move { PgStore::connect(&url).await.map(drop) })
        })
        .collect();

    for task in starting {
        task.await.unwrap().unwrap();
    }
    let applied = client(&url).await.query_one("SELECT count(*) FROM schema_migrations", &[]).await.unwrap();
    assert_eq!(applied.get::<_, i64>(0), SCHEMA);
}

/// Kills every session of the store again and again while it works. Nothing that was answered is lost, nothing is done
/// twice, and every chain verifies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_sessions_lose_nothing_and_double_nothing() {
    let Some(f) = Fixture::new().await else { return };
    let now = f.now().await;
    let killer = client(&f.url).await;
    let killing = tokio::spawn(async move {
        let mut tick = tokio::time::interval(Duration::from_millis(40));
        for _ in 0..50 {
            tick.tick().await;
            let _ = killer.batch_execute(KILL).await;
        }
    });
    let workers: Vec<_> = (0..8).map(|n| tokio::spawn(work(Arc::clone(&f.store), n, now))).collect();

    let mut known = Vec::new();
    for worker in workers {
        known.extend(worker.await.unwrap());
    }
    killing.await.unwrap();

    assert!(known.iter().map(|k| k.touched).sum::<i64>() > 500, "the store worked all the while");
    for k in known {
        let Some(agg) = loaded(&f.store, &k.key).await else {
            assert!(!k.created, "{} was answered and is gone", k.key);
            continue;
        };
        let chain = chain(&f.store, agg.run.id).await;
        assert_eq!(effectgate_core::journal::verify(agg.run.id, &chain, agg.run.head), Ok(()));
        // It begins at 1, and each change raises it by one.
        let changes = agg.run.version - 1;
        assert!((k.touched..=k.touched + k.unknown).contains(&changes), "{}: {changes} changes", k.key);
    }
}

const KILL: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'effectgate'";

/// What one worker knows of one key.
struct Known {
    key: String,
    /// Its reservation was answered.
    created: bool,
    /// Changes that were answered, and that were told to be unknown.
    touched: i64,
    unknown: i64,
}

/// Reserves and changes runs while the killer is at work.
async fn work(store: Arc<dyn Store>, worker: usize, now: Timestamp) -> Vec<Known> {
    let mut known = Vec::new();
    for n in 0..40 {
        let key = format!("w{worker}-{n}");
        let created = matches!(store.run_reserve(reserved(&key, now)).await, Ok(Reserved::Created { .. }));
        let mut k = Known { key, created, touched: 0, unknown: 0 };
        for _ in 0..5 {
            let Some(agg) = loaded(&store, &k.key).await else { break };
            match store.commit(touch(&agg.run, now)).await {
                Ok(Commit::Committed { .. }) => k.touched += 1,
                // Nobody else works on this run, so only a change that came late can have been in the way.
                Ok(_) => assert!(k.unknown > 0, "{} was changed twice", k.key),
                Err(StoreError::CommitUnknown { .. }) => k.unknown += 1,
                Err(error) => assert!(error.is_passing(), "{error:?}"),
            }
        }
        known.push(k);
    }
    known
}

async fn loaded(store: &Arc<dyn Store>, key: &str) -> Option<Aggregate> {
    let (tenant, mut tick) = (tenant(), tokio::time::interval(Duration::from_millis(20)));
    for _ in 0..200 {
        match store.run_load(&tenant, id(key)).await {
            Ok(found) => return found,
            Err(error) => assert!(error.is_passing(), "{error:?}"),
        }
        tick.tick().await;
    }
    panic!("the database stays away");
}
