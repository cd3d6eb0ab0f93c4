//! Everything is bounded (G15).

use effectgate_core::{
    effect::EffectState,
    ids::{Fence, Owner},
    lease,
};
use effectgate_engine::{EngineError, propose::Proposal};

use crate::common::{Answer, Options, World};

#[tokio::test]
async fn g15_bounded_attempts_takeovers_repairs_lease_life_and_refusals() {
    let world = World::with(Options { claims_max: 3, attempts_max: 3, ..Options::default() });
    world.provider.always(Answer::ConnectionRefused);
    let sent = world.queued("sent", "c-1").await;
    world.round().await;
    world.pass(100, 60_000).await;
    assert_eq!(world.store.attempt_list(sent.run.id).await.unwrap().len(), 3);

    let held = world.grant("renewed", "w").await;
    let (owner, fence) = (Owner::new("w"), Fence(held.lease.fence));
    let since = world.agg(held.run.id).await.lease.unwrap().since;
    let mut last = since;
    for _ in 0..100 {
        world.clock.advance_ms(59_000);
        match world.engine.renew(&world.caller.tenant, held.run.id, &owner, fence, None).await {
            Ok(lease) => last = lease.expires_at,
            Err(refused) => assert!(matches!(refused, EngineError::LeaseLost { .. }), "{refused}"),
        }
    }
    assert_eq!(last.ms_since(since), 1_800_000, "a chain of renewals has an end");

    let flooded = world.grant("flooded", "w").await;
    for n in 0..100 {
        world.reserve("flooded", &format!("[{n}]"), "x").await;
    }
    let refusals = world.facts(flooded.run.id, "conflict").await.len();
    assert_eq!(refusals, usize::try_from(lease::REFUSALS_MAX).unwrap(), "nobody fills a disk with refused tries");

    let huge = vec![("note", "c-1", "{}"); effectgate_engine::propose::EFFECTS_MAX + 1];
    let many = world.propose(&world.grant("many", "w").await, &huge).await;
    assert!(matches!(many, Proposal::Invalid { .. }), "{many:?}");
}

#[tokio::test]
async fn g15_bounded_attempts_under_way_at_once() {
    let world = World::with(Options { concurrent: 4, ..Options::default() });
    world.provider.always(Answer::Hang);
    for n in 0..10 {
        world.queued(&format!("k{n}"), "c-1").await;
    }
    let report = world.engine.dispatch_tick().await.unwrap();
    let more = world.engine.dispatch_tick().await.unwrap();

    assert_eq!((report.started, more.started, world.engine.under_way()), (4, 0, 4));
    world.provider.release(100);
    world.engine.dispatch_idle().await;
    let mut completed = 0;
    for n in 0..10 {
        let agg = world.agg(world.id_of(&format!("k{n}"))).await;
        completed += usize::from(agg.effects[0].state == EffectState::Completed);
    }
    assert_eq!(completed, 4);
}
