//! A commit that the standby did not confirm is not told as a success (SPEC 18a).

use std::sync::Arc;

use effectgate_core::ids::RunId;
use effectgate_store::{Commit, PgStore, Store, StoreError};
use effectgate_testkit::pg::{PgOptions, test_server};

use super::until;
use crate::{client, conformance::fixtures::*};

const WAITS: &str = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity
  WHERE application_name = 'effectgate' AND wait_event = 'SyncRep')";
const CANCEL: &str = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE application_name = 'effectgate' AND wait_event = 'SyncRep'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_wait_for_the_standby_is_an_unknown_commit() {
    let Some(server) = test_server(PgOptions::default()).await else { return };
    let url = server.create_database().await.unwrap();
    let store: Arc<dyn Store> = Arc::new(PgStore::connect(&url).await.unwrap());
    let now = store.health().await.unwrap().clock;
    let agg = start(&store, reserved("k", now)).await;
    let beside = client(&url).await;
    // A standby that is not there.
    beside.batch_execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'").await.unwrap();
    beside.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    until(&beside, "SELECT current_setting('synchronous_standby_names') = 'nobody'").await;

    let write = |n: usize| {
        let (store, run) = (Arc::clone(&store), agg.run.clone());
        tokio::spawn(async move {
            match n {
                0 => store.run_reserve(reserved("new", now)).await.map(drop),
                1 => store.commit(touch(&run, now)).await.map(drop),
                _ => store.house_commit(house(&tenant(), effectgate_core::journal::Head::EMPTY, now)).await.map(drop),
            }
        })
    };
    for n in 0..3 {
        let writing = write(n);
        until(&beside, WAITS).await;
        beside.batch_execute(CANCEL).await.unwrap();
        let answered = writing.await.unwrap();
        assert!(matches!(answered, Err(StoreError::CommitUnknown { .. })), "{n}: {answered:?}");
    }

    // Each was committed here, and was never told as a success.
    beside.batch_execute("ALTER SYSTEM RESET synchronous_standby_names").await.unwrap();
    beside.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    until(&beside, "SELECT current_setting('synchronous_standby_names') = ''").await;
    assert!(store.run_load(&tenant(), id("new")).await.unwrap().is_some());
    assert_eq!(store.commit(touch(&agg.run, now)).await.unwrap(), Commit::Lost);
    assert_eq!(chain(&store, RunId::house(&tenant())).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_in_recovery_is_refused() {
    let Some(mut server) = test_server(PgOptions::default()).await else { return };
    let url = server.create_database().await.unwrap();
    let store: Arc<dyn Store> = Arc::new(PgStore::connect(&url).await.unwrap());
    let now = store.health().await.unwrap().clock;
    start(&store, reserved("k", now)).await;

    server.stop();
    std::fs::write(server.data_dir().join("standby.signal"), "").unwrap();
    server.restart().unwrap();

    let opened = PgStore::connect(&url).await.map(drop);
    assert!(matches!(opened, Err(StoreError::Unavailable { .. })), "{opened:?}");
    let reserve = store.run_reserve(reserved("other", now)).await;
    assert!(matches!(reserve, Err(StoreError::Unavailable { .. })), "{reserve:?}");
}
