//! The decision is one transaction: nobody sees work before it is committed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use effectgate_core::{
    approval::ApprovalState,
    effect::EffectState,
    ids::ProviderName,
    run::{Aggregate, RunState},
    transition::Transition,
};
use effectgate_store::{Commit, StoreError};

use super::Fixture;
use crate::{client, conformance::fixtures::*};

/// The transition that approves and queues one effect.
async fn approving(f: &Fixture, agg: &Aggregate) -> Transition {
    let now = f.now().await;
    let mut decided = agg.approvals[0].clone();
    decided.state = ApprovalState::Approved;
    decided.decided_at = Some(now);
    moved(&agg.run, now, |draft| {
        draft.state(RunState::Approved);
        draft.transition_mut().approvals.push(decided);
        draft.effect(None, effect(agg.run.id, 1, now), None);
    })
}

/// Four dispatchers that poll until told to stop, and count what they saw.
fn dispatchers(f: &Fixture, stop: &Arc<AtomicBool>) -> Vec<tokio::task::JoinHandle<usize>> {
    let poll = |_| {
        let (store, stop) = (Arc::clone(&f.store), Arc::clone(stop));
        tokio::spawn(async move {
            let (mut seen, mut tick) = (0, tokio::time::interval(Duration::from_millis(10)));
            while !stop.load(Ordering::SeqCst) {
                seen += store.effect_due(&ProviderName::new("smtp"), 10).await.unwrap().len();
                tick.tick().await;
            }
            seen
        })
    };
    (0..4).map(poll).collect()
}

/// Commits while the approval's row, which the transaction needs last, is held; gives back what dispatchers saw of it.
async fn held_back(f: &Fixture, transition: Transition) -> (usize, Result<Commit, StoreError>) {
    let holder = client(&f.url).await;
    holder.batch_execute("BEGIN; SELECT 1 FROM approvals FOR UPDATE").await.unwrap();
    let store = Arc::clone(&f.store);
    let committing = tokio::spawn(async move { store.commit(transition).await });
    f.until_blocked().await;
    let stop = Arc::new(AtomicBool::new(false));
    let polling = dispatchers(f, &stop);
    f.beside.batch_execute("SELECT pg_sleep(0.5)").await.unwrap();
    stop.store(true, Ordering::SeqCst);
    let mut seen = 0;
    for task in polling {
        seen += task.await.unwrap();
    }
    holder.batch_execute("COMMIT").await.unwrap();
    (seen, committing.await.unwrap())
}

#[tokio::test]
async fn hc_35_nothing_is_due_before_the_decision_is_committed() {
    let Some(f) = Fixture::new().await else { return };
    let agg = awaiting(&f.store, reserved("k", f.now().await), f.now().await, |_| {}).await;
    let transition = approving(&f, &agg).await;

    let (seen, commit) = held_back(&f, transition).await;

    assert_eq!(seen, 0);
    assert!(matches!(commit, Ok(Commit::Committed { .. })), "{commit:?}");
    let due = f.store.effect_due(&ProviderName::new("smtp"), 10).await.unwrap();
    assert_eq!((due.len(), due[0].effect.attempts), (1, 0));
}

#[tokio::test]
async fn hc_35_a_decision_that_is_rolled_back_leaves_nothing() {
    let Some(f) = Fixture::new().await else { return };
    let agg = awaiting(&f.store, reserved("k", f.now().await), f.now().await, |_| {}).await;
    let mut transition = approving(&f, &agg).await;
    // Refused by the schema, in a part of the statement that comes after the approval.
    transition.effects[0].effect.decided = None;

    let (seen, commit) = held_back(&f, transition).await;

    assert_eq!(seen, 0);
    assert!(matches!(commit, Err(StoreError::Rejected { .. })), "{commit:?}");
    let after = load(&f.store, &agg.run).await;
    assert_eq!((after.effects.len(), after.approvals[0].state), (0, ApprovalState::Open));
    assert!(f.store.effect_due(&ProviderName::new("smtp"), 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn one_replicas_commit_wakes_the_others_and_not_itself() {
    let Some(f) = Fixture::new().await else { return };
    let other = effectgate_store::PgStore::connect(&f.url).await.unwrap();
    f.until("SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'")
        .await;
    // The word at the beginning of listening.
    effectgate_store::Store::wait_for_work(&other).await;
    f.store.wait_for_work().await;
    let now = f.now().await;

    let agg = approved(&f.store, reserved("k", now), 1, now, |_| {}).await;

    let waiting = effectgate_store::Store::wait_for_work(&other);
    tokio::time::timeout(super::PATIENCE, waiting).await.unwrap();
    assert!(matches!(agg.effects[0].state, EffectState::Pending { .. }));
    let itself = tokio::time::timeout(Duration::from_millis(200), f.store.wait_for_work()).await;
    assert!(itself.is_err());
}
