//! Leases are judged with the row in hand, by a clock that moves.

use std::sync::Arc;

use effectgate_core::{
    ids::Fence,
    transition::{LeaseGuard, LeaseWrite, Transition},
};
use effectgate_store::Commit;

use super::Fixture;
use crate::{client, conformance::fixtures::*};

const OVER: &str = "SELECT lease_expires_at < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM runs";

/// A run under a lease that ends within the second.
async fn short(f: &Fixture) -> effectgate_core::run::Aggregate {
    let mut new = reserved("k", f.now().await);
    new.lease_ms = Some(800);
    start(&f.store, new).await
}

async fn claim(f: &Fixture, agg: &effectgate_core::run::Aggregate) -> Transition {
    moved(&agg.run, f.now().await, |draft| {
        draft.require(LeaseGuard::Over);
        draft.transition_mut().lease = LeaseWrite::Grant { ms: LEASE_MS };
        draft.run_mut().owner = Some(owner(2));
        draft.run_mut().fence = Fence(2);
    })
}

/// Commits while another session holds the run's row until the lease is over; `meanwhile` runs in that session.
async fn commit_behind_a_holder(f: &Fixture, transition: Transition, meanwhile: &str) -> Commit {
    let holder = client(&f.url).await;
    holder.batch_execute("BEGIN; SELECT 1 FROM runs FOR UPDATE").await.unwrap();
    let store = Arc::clone(&f.store);
    let committing = tokio::spawn(async move { store.commit(transition).await });
    f.until_blocked().await;
    assert!(!f.beside.query_one(OVER, &[]).await.unwrap().get::<_, bool>(0), "the wait began while the lease lived");

    f.until(OVER).await;
    holder.batch_execute(&format!("{meanwhile}; COMMIT")).await.unwrap();

    committing.await.unwrap().unwrap()
}

#[tokio::test]
async fn hc_05_a_claim_that_waited_for_the_row_is_judged_when_it_has_it() {
    let Some(f) = Fixture::new().await else { return };
    let agg = short(&f).await;
    let transition = claim(&f, &agg).await;

    let commit = commit_behind_a_holder(&f, transition, "SELECT 1").await;

    assert!(matches!(commit, Commit::Committed { lease: Some(lease) } if lease.is_live), "{commit:?}");
    assert_eq!(load(&f.store, &agg.run).await.run.fence, Fence(2));
}

#[tokio::test]
async fn hc_05_an_owner_whose_update_runs_after_its_lease_is_refused() {
    let Some(f) = Fixture::new().await else { return };
    let agg = short(&f).await;
    let transition = moved(&agg.run, f.now().await, |draft| {
        draft.require(LeaseGuard::Live { owner: owner(1), fence: Fence(1) });
    });

    let commit = commit_behind_a_holder(&f, transition, "SELECT 1").await;

    assert_eq!(commit, Commit::Lost);
    assert_eq!(load(&f.store, &agg.run).await.run, agg.run);
}

#[tokio::test]
async fn hc_05_a_row_that_its_holder_changed_is_judged_as_it_is_now() {
    let Some(f) = Fixture::new().await else { return };
    let agg = short(&f).await;
    let transition = claim(&f, &agg).await;

    let longer = "UPDATE runs SET lease_expires_at = lease_expires_at + 60000000";
    let commit = commit_behind_a_holder(&f, transition, longer).await;

    assert_eq!(commit, Commit::Lost);
    assert_eq!(load(&f.store, &agg.run).await.run.fence, Fence(1));
}

#[tokio::test]
async fn hc_05_the_dispatchers_lease_is_judged_with_the_row_in_hand() {
    let Some(f) = Fixture::new().await else { return };
    let now = f.now().await;
    let agg = approved(&f.store, reserved("k", now), 1, now, |_| {}).await;
    let agg = commit(&f.store, sending(&agg, 1, 800, now)).await;
    let effect = agg.effects[0].id;
    let mut settle = with_state(&agg, 1, effectgate_core::effect::EffectState::Completed, now);
    settle.sending_guard = effectgate_core::transition::SendingGuard::Live { effect, fence: Fence(1) };
    let holder = client(&f.url).await;
    holder.batch_execute("BEGIN; SELECT 1 FROM runs FOR UPDATE").await.unwrap();
    let store = Arc::clone(&f.store);
    let committing = tokio::spawn(async move { store.commit(settle).await });
    f.until_blocked().await;

    f.until("SELECT lease_expires_at < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM effects").await;
    holder.batch_execute("COMMIT").await.unwrap();

    assert_eq!(committing.await.unwrap().unwrap(), Commit::Lost);
}
