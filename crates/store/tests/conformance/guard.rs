//! What must hold at the moment of the write: leases, the dispatcher's lease, the switch.

use std::sync::Arc;

use effectgate_core::{
    effect::EffectState,
    ids::{EffectType, Fence, FlowName, ProviderName, Tenant},
    run::{Run, RunState},
    switch::{Applies, Scope, Switch},
    time::Timestamp,
    transition::{LeaseGuard, LeaseWrite, SendingGuard, Transition},
};
use effectgate_store::{Commit, HouseCommit, Store, StoreError};

use super::{Bench, fixtures::*};

fn guarded(run: &Run, now: Timestamp, guard: LeaseGuard) -> Transition {
    moved(run, now, |draft| {
        draft.require(guard);
    })
}

fn live(n: usize, fence: i64) -> LeaseGuard {
    LeaseGuard::Live { owner: owner(n), fence: Fence(fence) }
}

fn takeover(run: &Run, n: usize, now: Timestamp) -> Transition {
    moved(run, now, |draft| {
        draft.require(LeaseGuard::Over);
        draft.transition_mut().lease = LeaseWrite::Grant { ms: LEASE_MS };
        let run = draft.run_mut();
        (run.owner, run.fence, run.attempts) = (Some(owner(n)), run.fence.next(), run.attempts + 1);
    })
}

pub async fn a_live_guard_takes_the_owner_with_its_fence_only(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;

    for wrong in [live(2, 1), live(1, 0), live(1, 2)] {
        assert_lost(&store, guarded(&agg.run, now, wrong)).await;
    }

    commit(&store, guarded(&agg.run, now, live(1, 1))).await;
}

pub async fn a_late_owner_writes_nothing(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;

    bench.advance(LEASE_MS).await;

    let agg = load(&store, &agg.run).await;
    assert!(!agg.lease.unwrap().is_live);
    assert_lost(&store, guarded(&agg.run, now, live(1, 1))).await;
    let taken = commit(&store, takeover(&agg.run, 2, now)).await;
    assert_lost(&store, guarded(&taken.run, now, live(1, 1))).await;
    commit(&store, guarded(&taken.run, now, live(2, 2))).await;
}

pub async fn a_lease_that_is_over_can_be_taken_over_once(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    bench.advance(LEASE_MS + 1).await;
    let tries: Vec<_> = (2..12)
        .map(|n| {
            let (store, transition) = (Arc::clone(&store), takeover(&agg.run, n, now));
            tokio::spawn(async move { store.commit(transition).await.unwrap() })
        })
        .collect();

    let mut won = 0;
    for task in tries {
        won += i32::from(task.await.unwrap() != Commit::Lost);
    }

    assert_eq!(won, 1);
    assert_eq!(load(&store, &agg.run).await.run.fence, Fence(2));
}

pub async fn an_over_guard_waits_for_the_end(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let queue = start(&store, queued("q", now)).await;

    assert_lost(&store, guarded(&agg.run, now, LeaseGuard::Over)).await;
    assert_lost(&store, guarded(&queue.run, now, LeaseGuard::Over)).await;
    bench.advance(LEASE_MS).await;
    let agg = load(&store, &agg.run).await;
    commit(&store, guarded(&agg.run, now, LeaseGuard::Over)).await;
}

pub async fn a_free_guard_takes_what_nobody_works_on(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let held = start(&store, reserved("k", now)).await;
    let queue = start(&store, queued("q", now)).await;

    assert_lost(&store, guarded(&held.run, now, LeaseGuard::Free)).await;
    commit(&store, guarded(&queue.run, now, LeaseGuard::Free)).await;
    bench.advance(LEASE_MS).await;
    let held = load(&store, &held.run).await;
    commit(&store, guarded(&held.run, now, LeaseGuard::Free)).await;
}

pub async fn a_renewal_keeps_the_chain_and_its_total(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let renew = |run: &Run, ms| {
        let mut t = guarded(run, now, live(1, 1));
        t.lease = LeaseWrite::Renew { ms, total_ms_max: 100_000 };
        t
    };

    bench.advance(30_000).await;
    let run = load(&store, &agg.run).await.run;
    let lease = committed_lease(&store, renew(&run, LEASE_MS)).await.unwrap();
    assert!(lease.is_live);
    assert_eq!(lease.expires_at.ms_since(lease.since) / 1_000, 90, "from now");
    let run = load(&store, &agg.run).await.run;
    let lease = committed_lease(&store, renew(&run, 500_000)).await.unwrap();
    assert_eq!(lease.expires_at.ms_since(lease.since), 100_000, "never beyond the chain's total");

    bench.advance(70_000).await;
    let run = load(&store, &agg.run).await.run;
    assert_lost(&store, renew(&run, LEASE_MS)).await;
}

pub async fn a_grant_begins_a_new_chain(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    start(&store, reserved("k", now)).await;
    bench.advance(LEASE_MS).await;
    let before = store.run_load(&tenant(), id("k")).await.unwrap().unwrap();

    let lease = committed_lease(&store, takeover(&before.run, 2, now)).await.unwrap();

    assert!(lease.is_live);
    assert_eq!(lease.expires_at.ms_since(lease.since), LEASE_MS);
    assert!(lease.since >= before.lease.unwrap().expires_at);
}

pub async fn a_lease_is_kept_until_it_is_cleared(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;

    let kept = commit(&store, touch(&agg.run, now)).await;
    assert_eq!(kept.lease.unwrap().expires_at, agg.lease.unwrap().expires_at);

    let cleared = commit(
        &store,
        moved(&kept.run, now, |d| {
            d.state(RunState::Queued);
        }),
    )
    .await;
    assert_eq!(cleared.lease, None);
}

pub async fn hc_04_a_lease_of_no_length_is_refused(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, queued("k", now)).await;
    for lease in [LeaseWrite::Grant { ms: 0 }, LeaseWrite::Grant { ms: -5 }, LeaseWrite::Keep, LeaseWrite::Clear] {
        let transition = moved(&agg.run, now, |draft| {
            draft.state(RunState::Processing);
            draft.transition_mut().lease = lease;
            let run = draft.run_mut();
            (run.owner, run.fence, run.attempts) = (Some(owner(1)), Fence(1), 1);
        });

        let refused = store.commit(transition).await;

        assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{lease:?}: {refused:?}");
        assert_eq!(load(&store, &agg.run).await.run, agg.run);
    }
}

pub async fn the_dispatchers_lease_is_judged_by_effect_and_fence(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = approved(&store, reserved("k", now), 2, now, |_| {}).await;
    let agg = commit(&store, sending(&agg, 1, 1_000, now)).await;
    let (first, second) = (agg.effects[0].id, agg.effects[1].id);
    let guarded = |run: &Run, guard| moved(run, now, |d| d.transition_mut().sending_guard = guard);
    let live = |effect, fence| SendingGuard::Live { effect, fence: Fence(fence) };
    let over = |effect, fence| SendingGuard::Over { effect, fence: Fence(fence) };

    for wrong in [live(first, 2), live(first, 0), live(second, 0), over(first, 1)] {
        assert_lost(&store, guarded(&agg.run, wrong)).await;
    }
    let agg = commit(&store, guarded(&agg.run, live(first, 1))).await;
    bench.advance(1_000).await;
    let agg = load(&store, &agg.run).await;
    for wrong in [live(first, 1), over(first, 2), over(second, 0)] {
        assert_lost(&store, guarded(&agg.run, wrong)).await;
    }
    commit(&store, guarded(&agg.run, over(first, 1))).await;
}

pub async fn a_write_beside_it_keeps_the_dispatchers_lease(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = approved(&store, reserved("k", now), 1, now, |_| {}).await;
    let agg = commit(&store, sending(&agg, 1, 1_000, now)).await;

    let agg = commit(&store, with_state(&agg, 1, EffectState::Sending, now)).await;
    assert!(store.effect_lost(9).await.unwrap().is_empty());
    bench.advance(1_000).await;
    assert_eq!(store.effect_lost(9).await.unwrap().len(), 1);
    let agg = load(&store, &agg.run).await;
    commit(&store, with_state(&agg, 1, EffectState::Completed, now)).await;
    assert!(store.effect_lost(9).await.unwrap().is_empty());
}

fn applies() -> Applies {
    Applies {
        tenant: tenant(),
        flow: flow(),
        provider: ProviderName::new("smtp"),
        effect_type: EffectType::new("mail"),
    }
}

fn switched(run: &Run, now: Timestamp) -> Transition {
    moved(run, now, |d| d.transition_mut().switch = Some(applies()))
}

pub async fn turn(store: &Arc<dyn Store>, scope: Scope, name: &str, enabled: bool, now: Timestamp) -> HouseCommit {
    let head = store.house_head(&tenant()).await.unwrap();
    let mut write = house(&tenant(), head, now);
    write.switch =
        Some(Switch { scope, name: name.into(), enabled, reason: "drill".into(), by: "user:ada".into(), at: now });
    store.house_commit(write).await.unwrap()
}

pub async fn a_switch_that_applies_and_is_off_stops_the_commit(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut run = start(&store, reserved("k", now)).await.run;
    for (scope, name) in applies().pairs() {
        turn(&store, scope, name, false, now).await;
        assert_lost(&store, switched(&run, now)).await;
        run = commit(&store, touch(&run, now)).await.run;

        turn(&store, scope, name, true, now).await;
        run = commit(&store, switched(&run, now)).await.run;
    }
}

pub async fn a_switch_that_does_not_apply_stops_nothing(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let run = start(&store, reserved("k", now)).await.run;
    // Names of one scope under another, and others of the same.
    let others = [
        (Scope::Tenant, "other"),
        (Scope::Tenant, "smtp"),
        (Scope::Flow, "acme"),
        (Scope::Provider, "mail"),
        (Scope::EffectType, "smtp"),
    ];
    for (scope, name) in others {
        turn(&store, scope, name, false, now).await;
    }

    commit(&store, switched(&run, now)).await;
}

/// G11: after a turn is answered, no attempt starts.
pub async fn of_a_turn_and_a_commit_the_one_is_seen_by_the_other(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut runs = Vec::new();
    for n in 0..20 {
        runs.push(start(&store, reserved(&format!("k{n}"), now)).await.run);
    }
    let tasks: Vec<_> = runs
        .iter()
        .map(|run| {
            let (store, transition) = (Arc::clone(&store), switched(run, now));
            tokio::spawn(async move { store.commit(transition).await.unwrap() })
        })
        .collect();
    turn(&store, Scope::Flow, "reply", false, now).await;

    for task in tasks {
        task.await.unwrap();
    }

    for run in runs {
        let run = load(&store, &run).await.run;
        assert_lost(&store, switched(&run, now)).await;
    }
    let foreign = Tenant::new("other");
    let other = start(&store, reserved_in(&foreign, &FlowName::new("x"), "k", now)).await.run;
    let mut free = switched(&other, now);
    free.switch = Some(Applies { tenant: foreign, flow: FlowName::new("x"), ..applies() });
    commit(&store, free).await;
}
