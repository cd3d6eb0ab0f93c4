//! The spine: reserve, propose, decide, dispatch, settle, and what time does to each. One test, one behaviour.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Answer, Options, PAYLOAD, World, enforcing, lead};
use effectgate_core::{approval::Verdict, gate::Gate};
use effectgate_engine::{EngineError, propose::Proposal, reserve::Reserved};
use futures_util::future::join_all;

#[tokio::test(flavor = "multi_thread")]
async fn hc_01_ten_deliveries_of_one_key_are_one_grant_and_nine_busy_g1_one_lease() {
    let world = World::new();
    for round in 0..200 {
        let key = format!("evt-{round}");
        let tries = (0..10).map(|n| {
            let (key, owner) = (key.clone(), format!("o{n}"));
            let world = &world;
            async move { world.reserve(&key, PAYLOAD, &owner).await }
        });

        let answers = join_all(tries).await;

        let granted = answers.iter().filter(|a| matches!(a, Reserved::Granted { repeated: false, .. })).count();
        let busy = answers.iter().filter(|a| matches!(a, Reserved::Busy { .. })).count();
        assert_eq!((granted, busy), (1, 9), "round {round}");
    }
}

#[tokio::test]
async fn an_approved_effect_is_sent_once_and_the_run_completes() {
    let world = World::with(Options { gate: Gate::Approve, ..Options::default() });
    let held = world.grant("k", "w").await;
    let waiting = world.propose(&held, &[("note", "c-1", r#"{"amount":9007199254740993}"#)]).await;
    assert!(matches!(waiting, Proposal::Waiting { .. }), "{waiting:?}");
    assert!(world.agg(held.run.id).await.effects.is_empty(), "nothing is in the outbox before the decision");

    world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    world.dispatch().await;

    let agg = world.agg(held.run.id).await;
    assert_eq!(agg.run.state.as_str(), "completed");
    assert_eq!(agg.effects[0].external_id.as_deref(), Some("ext_1"));
    assert_eq!(world.provider.seen()[0].payload, r#"{"amount":9007199254740993}"#, "HC-09: every digit");
    world.verify(held.run.id).await;
}

#[tokio::test]
async fn a_lost_answer_at_an_advisory_provider_is_unknown_then_review_and_never_resent() {
    let world = World::new();
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;

    world.dispatch().await;
    assert_eq!(world.effect_state(held.run.id).await, "unknown");
    for _ in 0..3 {
        world.clock.advance_ms(60_000);
        world.engine.sweep_tick().await.unwrap();
        world.dispatch().await;
    }

    assert_eq!(world.effect_state(held.run.id).await, "review");
    assert_eq!(world.provider.executed(), 1);
}

#[tokio::test]
async fn hc_24_an_enforcing_provider_is_asked_again_with_the_same_key() {
    let world = World::with(Options { class: enforcing(), ..Options::default() });
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;

    world.dispatch().await;
    world.clock.advance_ms(60_000);
    world.engine.sweep_tick().await.unwrap();
    world.dispatch().await;

    let seen = world.provider.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].provider_key, seen[1].provider_key);
    assert_eq!(world.agg(held.run.id).await.run.state.as_str(), "completed");
}

#[tokio::test]
async fn a_repeated_proposal_gets_the_first_answer_and_makes_no_second_effect() {
    let world = World::new();
    let held = world.grant("k", "w").await;
    let effects = [("note", "c-1", r#"{"a":1}"#)];
    let request = common::asked(&effects);
    let call = world.call(&held, "proposal", "body");

    let first = world.engine.propose(&call, &request).await.unwrap();
    world.dispatch().await;
    let second = world.engine.propose(&call, &request).await.unwrap();

    assert!(!first.repeated && second.repeated);
    assert_eq!(world.provider.executed(), 1);
    assert_eq!(world.agg(held.run.id).await.effects.len(), 1);
}

#[tokio::test]
async fn a_late_worker_is_refused_and_told_what_is_there_g2_fenced_writes() {
    let world = World::new();
    let late = world.grant("k", "w1").await;
    world.clock.advance_ms(61_000);
    let now_there = world.grant("k", "w2").await;

    let refused = world.engine.complete(&world.call(&late, "complete", "r"), r#"{"x":1}"#).await;

    let Err(EngineError::LeaseLost { run }) = refused else { panic!("{refused:?}") };
    assert_eq!(run.attempts, 2);
    let done = world.engine.complete(&world.call(&now_there, "complete", "r"), r#"{"x":2}"#).await.unwrap();
    assert_eq!(done.answer.run.state, "completed");
}
