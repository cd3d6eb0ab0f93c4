//! The database goes away and comes back.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use effectgate_store::{PgStore, Reserved, Store, StoreError};
use effectgate_testkit::pg::{PgOptions, test_server};

use super::Fixture;
use crate::{client, conformance::fixtures::*};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_is_told_quickly_and_ends_by_itself() {
    let Some(mut server) = test_server(PgOptions::default()).await else { return };
    let url = server.create_database().await.unwrap();
    let store: Arc<dyn Store> = Arc::new(PgStore::connect(&url).await.unwrap());
    let now = store.health().await.unwrap().clock;
    let agg = start(&store, reserved("before", now)).await;

    server.kill();
    let (began, tenant) = (Instant::now(), tenant());
    let (read, reserve, commit, house) = tokio::join!(
        store.run_load(&tenant, agg.run.id),
        store.run_reserve(reserved("during", now)),
        store.commit(touch(&agg.run, now)),
        store.house_head(&tenant),
    );

    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(matches!(read, Err(StoreError::Unavailable { .. })), "{read:?}");
    assert!(reserve.as_ref().is_err_and(StoreError::is_passing), "{reserve:?}");
    assert!(commit.as_ref().is_err_and(StoreError::is_passing), "{commit:?}");
    assert!(matches!(house, Err(StoreError::Unavailable { .. })), "{house:?}");
    let again = store.run_reserve(reserved("during", now)).await;
    assert!(matches!(again, Err(StoreError::Unavailable { .. })), "{again:?}");

    server.restart().unwrap();
    assert_eq!(load(&store, &agg.run).await.run, agg.run);
    assert!(matches!(store.run_reserve(reserved("during", now)).await.unwrap(), Reserved::Created { .. }));
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_survives_a_crash_of_the_server() {
    let Some(mut server) = test_server(PgOptions::default()).await else { return };
    let url = server.create_database().await.unwrap();
    let store: Arc<dyn Store> = Arc::new(PgStore::connect(&url).await.unwrap());
    let now = store.health().await.unwrap().clock;
    let reserving: Vec<_> = (0..400)
        .map(|n| {
            let (store, new) = (Arc::clone(&store), reserved(&format!("k{n}"), now));
            tokio::spawn(async move { store.run_reserve(new).await })
        })
        .collect();
    store.run_reserve(reserved("first", now)).await.unwrap();

    server.kill();
    let mut answered = Vec::new();
    for (n, task) in reserving.into_iter().enumerate() {
        match task.await.unwrap() {
            Ok(Reserved::Created { .. }) => answered.push(n),
            Ok(other) => panic!("{other:?}"),
            Err(error) => assert!(error.is_passing(), "{error:?}"),
        }
    }
    server.restart().unwrap();

    for n in answered {
        let key = format!("k{n}");
        assert!(store.run_load(&tenant(), id(&key)).await.unwrap().is_some(), "{key} was answered and is gone");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_somebody_holds_holds_up_nobody_else_for_good() {
    let Some(f) = Fixture::new().await else { return };
    let now = f.now().await;
    let held = start(&f.store, reserved("held", now)).await;
    let holder = client(&f.url).await;
    holder.batch_execute("BEGIN; SELECT 1 FROM runs FOR UPDATE").await.unwrap();

    let committing = {
        let (store, transition) = (Arc::clone(&f.store), touch(&held.run, now));
        tokio::spawn(async move { store.commit(transition).await })
    };
    f.until_blocked().await;
    let refused = committing.await.unwrap();

    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    holder.batch_execute("ROLLBACK").await.unwrap();
    commit(&f.store, touch(&held.run, now)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_that_is_not_answered_ends() {
    let Some(f) = Fixture::new().await else { return };
    let holder = client(&f.url).await;
    holder.batch_execute("BEGIN; LOCK TABLE runs IN ACCESS EXCLUSIVE MODE").await.unwrap();

    let read = f.store.run_load(&tenant(), id("k")).await;

    assert!(matches!(read, Err(StoreError::Unavailable { .. })), "{read:?}");
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(f.store.run_load(&tenant(), id("k")).await.unwrap(), None);
}
