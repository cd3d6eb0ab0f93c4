//! One lease for a run, and the writes of its owner alone (G1, G2).

use effectgate_core::{
    ids::{Fence, Owner},
    lease,
    operate::Resolution,
    transition::{LeaseGuard, SendingGuard},
};
use effectgate_engine::{EngineError, reserve::Reserved};
use effectgate_store::Commit;
use futures_util::future::join_all;

use crate::common::{Answer, Options, PAYLOAD, World, asked, request};

#[tokio::test(flavor = "multi_thread")]
async fn g1_one_lease_over_threads_replicas_takeovers_and_renewals() {
    let world = World::with(Options { claims_max: 100, ..Options::default() });
    let engines = [world.engine.clone(), world.another_engine(), world.another_engine()];
    for round in 0..20 {
        let tries =
            (0..12).map(|n| engines[n % 3].reserve(&world.caller, request("k", PAYLOAD, &format!("o{round}-{n}"))));
        let granted: Vec<_> = join_all(tries)
            .await
            .into_iter()
            .filter_map(|answer| match answer.unwrap() {
                Reserved::Granted { lease, repeated: false, .. } => Some(lease.fence),
                _ => None,
            })
            .collect();
        assert_eq!(granted, [round + 1], "one lease, and its fence rose by one");
        world.clock.advance_ms(61_000);
    }
}

#[tokio::test]
async fn g1_one_lease_control_without_the_lease_guard_a_second_lease_would_be_given() {
    let world = World::new();
    let held = world.grant("k", "a").await;
    let mut agg = world.agg(held.run.id).await;
    agg.lease.as_mut().unwrap().is_live = false;
    let lease::Claim::Granted(claim) =
        lease::claim(&agg, &Owner::new("b"), 60_000, world.engine.now(), world.engine.policy())
    else {
        panic!()
    };
    let mut unguarded = claim.clone();
    unguarded.lease_guard = LeaseGuard::Any;

    assert_eq!(world.store.commit(claim).await.unwrap(), Commit::Lost);
    assert!(matches!(world.store.commit(unguarded).await.unwrap(), Commit::Committed { .. }));
}

#[tokio::test]
async fn g2_fenced_writes_of_a_late_owner_change_nothing_and_are_told_what_is_there() {
    let world = World::new();
    let late = world.grant("k", "a").await;
    world.clock.advance_ms(61_000);
    let there = world.grant("k", "b").await;
    let before = world.agg(late.run.id).await;
    let (call, owner, fence) = (|op: &str| world.call(&late, op, "x"), Owner::new("a"), Fence(late.lease.fence));
    let engine = &world.engine;

    let complete = engine.complete(&call("complete"), "{}").await.map(|_| ());
    let fail = engine.fail(&call("fail"), "worker_error", None).await.map(|_| ());
    let propose = engine.propose(&call("proposal"), &asked(&[("note", "c-1", "{}")])).await.map(|_| ());
    let renew = engine.renew(&world.caller.tenant, late.run.id, &owner, fence, None).await.map(|_| ());
    let begin = effectgate_engine::propose::Asked {
        effect_type: "note".into(),
        target: Some("c-1".into()),
        payload: "{}".into(),
    };
    let begin = engine.begin(&call("begin"), &begin).await.map(|_| ());

    for refused in [complete, fail, propose, renew, begin] {
        let Err(EngineError::LeaseLost { run }) = refused else { panic!("{refused:?}") };
        assert_eq!((run.id, run.attempts), (late.run.id, 2), "told what is there now");
    }
    assert_eq!(world.agg(late.run.id).await, before);
    assert!(before.holds_lease(&Owner::new("b"), Fence(there.lease.fence)));
}

#[tokio::test]
async fn g2_fenced_writes_control_without_the_sending_guard_a_late_settlement_would_count() {
    let world = World::new();
    world.provider.push(Answer::Hang);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;
    let agg = world.agg(held.run.id).await;
    let provider = &world.engine.policy().provider(&agg.effects[0].provider).unwrap().provider;
    let report = effectgate_core::outcome::Report::not_sent(effectgate_core::outcome::Phase::Connect, "late");
    let success = effectgate_core::retry::Success { external_id: None, member: None };
    let found = effectgate_core::retry::classify(&report, provider, &success, world.engine.now());
    let now = world.engine.now();
    let late = effectgate_core::sending::settle(&agg.run, &agg.effects[0], provider, now, &report, &found, now, 0.5);
    world.clock.advance_ms(60_000);
    let mut unguarded = late.clone();
    unguarded.sending_guard = SendingGuard::Any;

    assert_eq!(world.store.commit(late).await.unwrap(), Commit::Lost, "the dispatcher's lease is over");
    assert!(matches!(world.store.commit(unguarded).await.unwrap(), Commit::Committed { .. }));
}

#[tokio::test]
async fn g2_fenced_writes_an_attempt_that_stood_still_beyond_its_lease_writes_nothing() {
    let world = World::new();
    world.provider.push(Answer::HoldBeforeWrite);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;
    world.clock.advance_ms(60_000);
    world.engine.sweep_tick().await.unwrap();
    let id = world.agg(held.run.id).await.effects[0].id;
    world.resolve(id, Resolution::Cancel).await.unwrap();

    world.provider.release(1);
    world.engine.dispatch_idle().await;

    assert!(world.provider.seen().is_empty(), "a person was told that nothing was sent");
    assert_eq!(world.effect_state(held.run.id).await, "cancelled");
}
