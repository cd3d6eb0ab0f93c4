//! What was answered survives: kill -9, a close in the middle, a clock that is set back.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::{Arc, atomic::Ordering},
};

use effectgate_core::{ids::Owner, journal};
use effectgate_store::{Reserved, SqliteStore, Store, StoreError};

use crate::{
    SqliteBench,
    conformance::{Bench, fixtures::*},
};

const CHILD_DB: &str = "EFFECTGATE_TEST_CHILD_DB";
const ACKED_MIN: usize = 300;

/// G14. This test's own binary, started again, is the server that is killed in the middle of its work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g14_what_was_answered_survives_kill_9() {
    if let Ok(path) = std::env::var(CHILD_DB) {
        serve_until_killed(&path).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sqlite_file::durable::g14_what_was_answered_survives_kill_9", "--nocapture"])
        .env(CHILD_DB, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut acked: Vec<String> = lines.by_ref().filter_map(acked_key).take(ACKED_MIN).collect();

    child.kill().unwrap();
    child.wait().unwrap();

    acked.extend(lines.filter_map(acked_key));
    assert!(acked.len() >= ACKED_MIN);
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path).unwrap());
    for key in &acked {
        let agg = store.run_load(&tenant(), id(key)).await.unwrap().expect("an answered run is there");
        assert!(agg.run.head.seq >= 2, "{key}: the answered commit is there");
        assert_eq!(journal::verify(agg.run.id, &chain(&store, agg.run.id).await, agg.run.head), Ok(()));
    }
    for head in store.chain_heads(None, None, 100_000).await.unwrap() {
        assert_eq!(journal::verify(head.run, &chain(&store, head.run).await, head.head), Ok(()));
    }
}

fn acked_key(line: String) -> Option<String> {
    line.split_once("acked ").map(|(_, key)| key.to_owned())
}

async fn serve_until_killed(path: &str) -> ! {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path).unwrap());
    let now = store.health().await.unwrap().clock;
    let workers: Vec<_> = (0..8)
        .map(|worker| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for n in 0.. {
                    let key = format!("{worker}-{n}");
                    let agg = start(&store, reserved(&key, now)).await;
                    commit(&store, touch(&agg.run, now)).await;
                    // One write of a whole line, so that lines of workers do not mix.
                    std::io::Write::write_all(&mut std::io::stdout(), format!("\nacked {key}\n").as_bytes()).unwrap();
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    unreachable!("the parent kills this process");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_finishes_what_is_queued_and_refuses_the_rest() {
    let bench = SqliteBench::new().await.unwrap();
    let (store, now) = (bench.store(), bench.now().await);
    let tasks: Vec<_> = (0..200)
        .map(|n| {
            let (store, new) = (Arc::clone(&store), reserved(&format!("k{n}"), now));
            tokio::spawn(async move { store.run_reserve(new).await })
        })
        .collect();

    store.close().await;

    let again: Arc<dyn Store> = Arc::new(SqliteStore::open(bench.path()).unwrap());
    for (n, task) in tasks.into_iter().enumerate() {
        let answered = match task.await.unwrap() {
            Ok(Reserved::Created { .. }) => true,
            Err(StoreError::Unavailable { .. }) => false,
            other => panic!("{other:?}"),
        };
        assert_eq!(again.run_load(&tenant(), id(&format!("k{n}"))).await.unwrap().is_some(), answered);
    }
    assert!(matches!(store.health().await, Err(StoreError::Unavailable { .. })));
    store.close().await;
}

#[tokio::test]
async fn a_clock_that_is_set_back_revives_no_lease() {
    let bench = SqliteBench::new().await.unwrap();
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    bench.advance(LEASE_MS).await;
    assert!(!load(&store, &agg.run).await.lease.unwrap().is_live);

    bench.clock.fetch_sub(LEASE_MS * 1_000, Ordering::SeqCst);

    assert!(!load(&store, &agg.run).await.lease.unwrap().is_live);
    assert_eq!(agg.run.owner, Some(Owner::new("worker-1")));
}

/// A storm of duplicates costs no flush and no page of the log.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicates_write_nothing_to_the_log() {
    let bench = SqliteBench::new().await.unwrap();
    let (store, now) = (bench.store(), bench.now().await);
    start(&store, reserved("hot", now)).await;
    let wal = format!("{}-wal", bench.path().display());
    let before = std::fs::read(&wal).unwrap();

    let tasks: Vec<_> = (0..200)
        .map(|_| {
            let (store, new) = (Arc::clone(&store), reserved("hot", now));
            tokio::spawn(async move { store.run_reserve(new).await.unwrap() })
        })
        .collect();
    for task in tasks {
        assert!(matches!(task.await.unwrap(), Reserved::Exists { .. }));
    }

    assert!(before == std::fs::read(&wal).unwrap(), "the log changed");
}
