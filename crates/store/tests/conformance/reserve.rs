//! Reservation: one run per key, whole or not at all.

use std::sync::Arc;

use effectgate_core::{
    ids::{FlowName, Tenant},
    journal,
    payload::PayloadHash,
    run::RunState,
};
use effectgate_store::{Reserved, StoreError};

use super::{Bench, fixtures::*};

pub async fn a_new_key_is_kept_whole(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let new = reserved("k", now);

    let Reserved::Created { lease } = store.run_reserve(new.clone()).await.unwrap() else { panic!("exists") };

    let lease = lease.unwrap();
    assert!(lease.is_live && lease.left_ms == LEASE_MS && lease.expires_at == lease.since.plus_ms(LEASE_MS));
    let agg = store.run_load(&tenant(), new.run.id).await.unwrap().unwrap();
    assert_eq!(agg.run, new.run);
    assert!(agg.lease.unwrap().is_live);
    assert_eq!(agg.lease.unwrap().expires_at, lease.expires_at);
    assert_eq!(chain(&store, new.run.id).await, vec![new.entry]);
    let content = store.run_content(&tenant(), new.run.id).await.unwrap().unwrap();
    assert_eq!(content.payload, new.content.payload);
}

pub async fn a_key_that_exists_changes_nothing_and_is_read(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let first = start(&store, reserved("k", now)).await;
    let mut second = reserved("k", now.plus_ms(5));
    second.run.owner = Some(owner(2));
    second.run.payload_hash = PayloadHash::from_bytes([8; 32]);
    second.content.payload = Some("other".into());

    let Reserved::Exists { run, lease } = store.run_reserve(second).await.unwrap() else { panic!("made twice") };

    assert_eq!(*run, first.run);
    assert!(lease.unwrap().is_live);
    assert_eq!(load(&store, &first.run).await.run, first.run);
    let content = store.run_content(&tenant(), first.run.id).await.unwrap().unwrap();
    assert_eq!(content.payload.unwrap(), "{\"key\":\"k\"}");
    assert_eq!(chain(&store, first.run.id).await.len(), 1);
}

pub async fn hc_01_ten_simultaneous_reservations_make_one_run(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for round in 0..200 {
        let tries = (0..10).map(|n| {
            let (store, mut new) = (Arc::clone(&store), reserved(&format!("round-{round}"), now));
            new.run.owner = Some(owner(n));
            tokio::spawn(async move { store.run_reserve(new).await.unwrap() })
        });
        let mut created = 0;
        let mut owners = std::collections::BTreeSet::new();
        for task in tries.collect::<Vec<_>>() {
            match task.await.unwrap() {
                Reserved::Created { .. } => created += 1,
                Reserved::Exists { run, lease } => {
                    assert!(lease.unwrap().is_live);
                    owners.insert(run.owner.unwrap());
                }
            }
        }
        assert_eq!((created, owners.len()), (1, 1), "round {round}");
    }
}

pub async fn hc_02_a_duplicate_is_told_the_real_run(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let done = completed(&store, reserved("k", now), 30, 90, now).await;

    let Reserved::Exists { run, lease } = store.run_reserve(reserved("k", now)).await.unwrap() else { panic!() };

    assert_eq!((run.id, run.state, run.version), (done.run.id, RunState::Completed, done.run.version));
    assert_eq!(lease, None);
}

pub async fn hc_04_no_run_is_in_processing_without_a_lease_end(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for lease_ms in [None, Some(0), Some(-1)] {
        let mut new = reserved("k", now);
        new.lease_ms = lease_ms;

        let refused = store.run_reserve(new).await;

        assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{lease_ms:?}: {refused:?}");
        assert_eq!(store.run_load(&tenant(), id("k")).await.unwrap(), None);
    }
    start(&store, reserved("k", now)).await;
}

pub async fn the_same_key_in_two_tenants_or_flows_is_two_runs(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let places = [("acme", "reply"), ("acme", "refund"), ("other", "reply")];
    for (tenant, flow) in places {
        start(&store, reserved_in(&Tenant::new(tenant), &FlowName::new(flow), "k", now)).await;
    }

    assert_eq!(store.run_load(&Tenant::new("other"), id("k")).await.unwrap(), None);
    assert_eq!(store.run_content(&Tenant::new("other"), id("k")).await.unwrap(), None);
}

pub async fn a_reservation_that_fails_in_its_last_part_leaves_nothing(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut new = reserved("k", now);
    // The journal takes no entry with this number.
    new.entry.seq = 0;

    let refused = store.run_reserve(new).await;

    assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{refused:?}");
    assert_eq!(store.run_load(&tenant(), id("k")).await.unwrap(), None);
    assert!(chain(&store, id("k")).await.is_empty());
    let agg = start(&store, reserved("k", now)).await;
    assert_eq!(journal::verify(agg.run.id, &chain(&store, agg.run.id).await, agg.run.head), Ok(()));
}

pub async fn a_queued_run_has_no_lease(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);

    let Reserved::Created { lease } = store.run_reserve(queued("k", now)).await.unwrap() else { panic!() };

    assert_eq!(lease, None);
    assert_eq!(store.run_load(&tenant(), id("k")).await.unwrap().unwrap().lease, None);
}
