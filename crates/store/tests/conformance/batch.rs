//! Operations that are written together: each stands or falls for itself.

use std::sync::Arc;

use effectgate_core::transition::ContentWrite;
use effectgate_store::{Commit, Reserved, StoreError};

use super::{Bench, fixtures::*};

pub async fn an_operation_that_fails_among_many_fails_alone(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("base", now)).await;
    let bad_transition = moved(&agg.run, now, |draft| {
        let mut undecided = effect(agg.run.id, 1, now);
        undecided.decided = None;
        draft.effect(None, undecided, None);
        draft.transition_mut().content = ContentWrite { output: Some("x".into()), ..ContentWrite::default() };
    });
    let reservations: Vec<_> = (0..100)
        .map(|n| {
            let (store, mut new) = (Arc::clone(&store), reserved(&format!("k{n}"), now));
            if n % 10 == 0 {
                new.lease_ms = None;
            }
            tokio::spawn(async move { store.run_reserve(new).await })
        })
        .collect();
    let commits: Vec<_> = (0..10)
        .map(|_| {
            let (store, bad) = (Arc::clone(&store), bad_transition.clone());
            tokio::spawn(async move { store.commit(bad).await })
        })
        .collect();

    for (n, task) in reservations.into_iter().enumerate() {
        match task.await.unwrap() {
            Ok(Reserved::Created { .. }) => assert_ne!(n % 10, 0),
            Err(StoreError::Rejected { .. }) => assert_eq!(n % 10, 0),
            other => panic!("{n}: {other:?}"),
        }
        let there = store.run_load(&tenant(), id(&format!("k{n}"))).await.unwrap();
        assert_eq!(there.is_some(), n % 10 != 0, "{n}");
    }
    for task in commits {
        assert!(matches!(task.await.unwrap(), Err(StoreError::Rejected { .. })));
    }
    assert_eq!(load(&store, &agg.run).await.run, agg.run);
    commit(&store, touch(&agg.run, now)).await;
}

pub async fn what_was_answered_is_seen_by_the_next_read(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let tasks: Vec<_> = (0..8)
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut agg = start(&store, reserved(&format!("k{n}"), now)).await;
                for step in 0..20 {
                    agg = commit(&store, touch(&agg.run, now)).await;
                    assert_eq!(agg.run.head.seq, step + 2);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// A request's future may be dropped at any moment; the work was handed over.
pub async fn a_caller_that_goes_away_does_not_undo_the_write(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let going = {
        let (store, transition) = (Arc::clone(&store), touch(&agg.run, now));
        tokio::spawn(async move { store.commit(transition).await })
    };
    tokio::task::yield_now().await;
    going.abort();

    // Whole or not at all, and the store goes on.
    let agg = load(&store, &agg.run).await;
    let whole = chain(&store, agg.run.id).await;
    assert!(whole.len() == 1 || whole.len() == 2);
    let run = load(&store, &agg.run).await.run;
    assert_ne!(store.commit(touch(&run, now)).await.ok(), None);
    assert!(matches!(store.commit(touch(&run, now)).await.unwrap(), Commit::Lost));
}
