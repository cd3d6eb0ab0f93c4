//! Crashes are counted: when something is claimed, not when somebody lives to report a failure.

use effectgate_engine::reserve::Reserved;

use crate::common::{Answer, Options, PAYLOAD, World, enforcing};

#[tokio::test]
async fn hc_06_a_worker_that_only_ever_dies_uses_its_attempts_up() {
    let world = World::new();
    let id = world.grant("k", "w0").await.run.id;
    let mut given = 1;
    for n in 1..8 {
        world.clock.advance_ms(61_000);
        match world.reserve("k", PAYLOAD, &format!("w{n}")).await {
            Reserved::Granted { .. } => given += 1,
            Reserved::Replay { run } => {
                assert_eq!((run.state.as_str(), run.reason.as_deref()), ("failed_terminal", Some("abandoned")));
            }
            other => panic!("{other:?}"),
        }
    }

    assert_eq!(given, 5);
    let agg = world.agg(id).await;
    assert_eq!((agg.run.attempts, agg.run.takeovers), (5, 4));
    assert_eq!(world.alerts().await, ["takeover", "takeover", "takeover", "exhausted"]);
    world.verify(id).await;
}

#[tokio::test]
async fn hc_06_the_sweeper_ends_it_although_nobody_asks_again() {
    let world = World::with(Options { claims_max: 2, ..Options::default() });
    let id = world.grant("k", "w0").await.run.id;
    world.clock.advance_ms(61_000);
    world.grant("k", "w1").await;

    world.clock.advance_ms(61_000);
    let report = world.engine.sweep_tick().await.unwrap();

    assert_eq!(report.leases.moved, 1);
    assert_eq!(world.agg(id).await.run.state.reason(), Some("abandoned"));
}

#[tokio::test]
async fn hc_06_an_effect_whose_dispatcher_only_ever_dies_ends_with_a_person() {
    let mut world = World::with(Options { class: enforcing(), ..Options::default() });
    world.provider.always(Answer::ExecuteThenDie);
    let held = world.queued("k", "c-1").await;
    for _ in 0..8 {
        if world.engine.dispatch_tick().await.unwrap().started == 1 {
            world.provider.until_hanging(1).await;
        }
        world.restart();
        world.clock.advance_ms(61_000);
        world.engine.sweep_tick().await.unwrap();
    }

    let effect = &world.agg(held.run.id).await.effects[0];
    assert_eq!((effect.state.as_str(), effect.attempts, world.provider.seen().len()), ("review", 5, 5));
    assert_eq!(effect.reason.as_deref(), Some("attempts_exhausted"));
    assert!(world.alerts().await.contains(&"review".to_owned()));
}

#[tokio::test]
async fn hc_06_waits_that_are_not_the_jobs_fault_count_nothing() {
    let world = World::new();
    world.provider.push(Answer::HoldBeforeWrite);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;

    world.turn(effectgate_core::switch::Scope::Provider, "crm", false).await;
    world.provider.release(1);
    world.engine.dispatch_idle().await;
    world.pass(10, 60_000).await;

    let effect = &world.agg(held.run.id).await.effects[0];
    assert_eq!((effect.state.as_str(), effect.attempts), ("pending", 0));
    assert!(world.provider.seen().is_empty());
}
