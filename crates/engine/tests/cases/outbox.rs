//! What is announced, in which order it goes, and under which name.

use effectgate_core::{approval::Verdict, gate::Gate, operate::Resolution};
use futures_util::future::join_all;

use crate::common::{Answer, HOUR, Options, World, lead};

fn asks() -> Options {
    Options { gate: Gate::Approve, ..Options::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_35_nothing_is_sent_while_the_approving_transaction_is_open_and_one_is_sent_after_it() {
    let world = World::with(asks());
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", "{}")]).await;
    let dispatchers = [world.another_engine(), world.another_engine(), world.another_engine(), world.another_engine()];
    let raw = world.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();

    let anna = lead("anna");
    let deciding = world.decide(held.run.id, &anna, Verdict::Approve);
    let polling = async {
        for _ in 0..50 {
            for report in join_all(dispatchers.iter().map(|d| d.dispatch_tick())).await {
                assert_eq!(report.unwrap(), Default::default(), "seen before it was committed");
            }
        }
        assert!(world.provider.seen().is_empty());
        raw.execute_batch("COMMIT").unwrap();
    };
    let (decided, ()) = tokio::join!(deciding, polling);
    decided.unwrap();
    for report in join_all(dispatchers.iter().map(|d| d.dispatch_tick())).await {
        report.unwrap();
    }
    join_all(dispatchers.iter().map(|d| d.dispatch_idle())).await;

    assert_eq!(world.provider.executed(), 1);
    let effect = &world.agg(held.run.id).await.effects[0];
    assert_eq!((effect.state.as_str(), effect.attempts), ("completed", 1));
}

#[tokio::test]
async fn hc_35_a_decision_that_was_rolled_back_sends_nothing_and_can_be_taken_again() {
    let world = World::with(asks());
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", "{}")]).await;
    let before = world.agg(held.run.id).await;
    let raw = world.raw();
    raw.execute_batch(
        "CREATE TRIGGER broken BEFORE INSERT ON effects BEGIN SELECT RAISE(ABORT, 'the last row cannot be had'); END",
    )
    .unwrap();

    assert!(world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.is_err());
    world.pass(3, 60_000).await;

    assert_eq!(world.agg(held.run.id).await, before, "approval open, no effect, no entry");
    assert!(world.provider.seen().is_empty());
    raw.execute_batch("DROP TRIGGER broken").unwrap();
    world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    world.round().await;
    assert_eq!(world.provider.executed(), 1);
    world.verify(held.run.id).await;
}

const BATCH: usize = 10;

/// Three batches of effects that go wrong in this way, then a good one to another target of the same provider and one
/// to another provider. After one poll round both are sent; the bad ones back off and end.
async fn poisoned(bad: Answer, ends: &[&str], attempts_max: usize) {
    let world = World::with(Options { batch: BATCH as u32, ..Options::default() });
    world.provider.always_for("bad", bad);
    let mut held = Vec::new();
    for n in 0..3 * BATCH {
        held.push(world.queued(&format!("bad-{n}"), "bad").await.run.id);
        world.clock.advance_ms(1);
    }
    let same = world.queued("good", "c-1").await.run.id;
    let other = world.grant("other", "worker-1").await;
    world.propose(&other, &[("mail", "a@example.test", "{}")]).await;

    let started = world.round().await;

    assert_eq!(world.effect_state(same).await, "completed", "same provider");
    assert_eq!(world.effect_state(other.run.id).await, "completed", "another provider");
    assert_eq!(started, 3 * BATCH + 2, "each bad one was tried once and backs off");
    assert_eq!(world.round().await, 0);

    world.pass(60, 60_000).await;
    for id in held {
        let effect = world.agg(id).await.effects.remove(0);
        assert!(ends.contains(&effect.state.as_str()), "{effect:?}");
        let attempts = world.store.attempt_list(id).await.unwrap();
        assert!(attempts.len() <= attempts_max, "{} attempts", attempts.len());
        assert!(attempts.iter().all(|a| a.end.is_some()), "every attempt has its end on record");
        world.verify(id).await;
    }
    assert_eq!(world.engine.under_way(), 0);
}

#[tokio::test]
async fn hc_36_a_target_that_always_answers_500_starves_nobody() {
    poisoned(Answer::Status(500, None), &["review"], 1).await;
}

#[tokio::test]
async fn hc_36_a_target_that_never_lets_anybody_in_starves_nobody_and_ends_in_failed() {
    poisoned(Answer::ConnectionRefused, &["failed"], 5).await;
}

#[tokio::test]
async fn hc_36_a_payload_that_crashes_the_connector_starves_nobody_and_ends_in_failed() {
    poisoned(Answer::Panic, &["failed"], 5).await;
}

#[tokio::test]
async fn hc_36_a_crash_with_the_request_on_the_wire_is_unknown_at_once_and_never_resent() {
    poisoned(Answer::PanicOnTheWire, &["review"], 1).await;
}

#[tokio::test]
async fn hc_36_a_lookup_that_crashes_the_connector_stops_no_sweep() {
    let lookup = effectgate_core::provider::Lookup { settle_delay_ms: 120_000, authoritative: false, period_ms: 5_000 };
    let world = World::with(Options { lookup: Some(lookup), ..Options::default() });
    world.provider.push(Answer::AcceptThenDrop);
    world.provider.push_panicking_look();
    let held = world.queued("k", "c-1").await;
    world.round().await;

    world.clock.advance_ms(6_000);
    let report = world.engine.sweep_tick().await.unwrap();

    assert_eq!((report.unknown.asked, report.unknown.moved), (1, 1));
    assert_eq!(world.effect_state(held.run.id).await, "unknown", "no information: look again");
}

#[tokio::test]
async fn hc_36_rows_that_a_sweep_leaves_alone_hide_none_behind_them() {
    // Runs left behind with an inline effect at an enforcing provider stay as they are until somebody claims them.
    let options = Options { class: crate::common::enforcing(), sweep_batch: 3, claims_max: 2, ..Options::default() };
    let world = World::with(options);
    let mut done = Vec::new();
    for n in 0..12 {
        let held = world.grant(&format!("k{n}"), "w").await;
        if n % 3 == 0 {
            done.push(held.run.id);
            continue;
        }
        let asked = effectgate_engine::propose::Asked {
            effect_type: "note".into(),
            target: Some("c-1".into()),
            payload: "{}".into(),
        };
        world.engine.begin(&world.call(&held, "begin", "b"), &asked).await.unwrap();
    }
    world.clock.advance_ms(61_000);
    for n in (0..12).step_by(3) {
        world.grant(&format!("k{n}"), "w2").await;
    }
    world.clock.advance_ms(61_000);

    let report = world.engine.sweep_tick().await.unwrap();

    assert_eq!((report.leases.moved, report.leases.left), (4, 8));
    for id in done {
        assert_eq!(world.agg(id).await.run.state.reason(), Some("abandoned"));
    }
}

#[tokio::test]
async fn hc_37_one_id_and_one_body_over_failures_restart_sweeper_and_operator() {
    let mut world = World::new();
    world.provider.push(Answer::Status(503, Some("1".into())));
    world.provider.push(Answer::Status(503, Some("1".into())));
    world.provider.push(Answer::Status(503, Some("1".into())));
    world.provider.push(Answer::ExecuteThenDie);
    world.provider.push(Answer::Ok);
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", r#"{"at":"once",  "n":1.10}"#)]).await;
    world.round().await;
    world.pass(1, 60_000).await;

    world.restart();
    world.pass(1, 120_000).await;
    world.clock.advance_ms(120_000);
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;
    world.restart();
    world.pass(1, 61_000).await;
    assert_eq!(world.effect_state(held.run.id).await, "review");
    let id = world.agg(held.run.id).await.effects[0].id;
    world.resolve(id, Resolution::SendAgain).await.unwrap();
    world.round().await;

    let seen = world.provider.seen();
    assert_eq!(seen.len(), 5);
    assert!(seen.iter().all(|s| s.provider_key == seen[0].provider_key && s.payload == r#"{"at":"once",  "n":1.10}"#));
    assert_eq!(world.effect_state(held.run.id).await, "completed");
    let keys: Vec<_> =
        world.facts(held.run.id, "attempt_started").await.into_iter().map(|f| f["provider_key"].clone()).collect();
    assert_eq!(keys, vec![serde_json::json!(seen[0].provider_key); 5]);
}

#[tokio::test]
async fn hc_46_each_deliberate_resend_is_one_attempt_and_a_completed_effect_is_refused() {
    let world = World::new();
    world.provider.push(Answer::AcceptThenDrop);
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(1, 1_000).await;
    let id = world.agg(held.run.id).await.effects[0].id;

    let (one, two) = tokio::join!(world.resolve(id, Resolution::SendAgain), world.resolve(id, Resolution::SendAgain));
    assert!(one.is_ok() != two.is_ok(), "a double click is one decision: {one:?} {two:?}");
    world.round().await;
    assert_eq!(world.provider.seen().len(), 2);
    world.pass(1, 10 * 60_000).await;
    assert_eq!(world.effect_state(held.run.id).await, "review");
    world.resolve(id, Resolution::SendAgain).await.unwrap();
    world.round().await;

    assert_eq!(world.effect_state(held.run.id).await, "completed");
    let refused = world.resolve(id, Resolution::SendAgain).await;
    assert!(matches!(refused, Err(effectgate_engine::EngineError::WrongState { .. })));
    let decisions = world.facts(held.run.id, "effect_resolved").await;
    assert_eq!(decisions.len(), 2);
    assert!(decisions.iter().all(|d| d["reason"] == "looked it up at the provider"));
    assert_eq!(world.provider.seen().len(), 3);
}

#[tokio::test]
async fn what_a_switch_holds_back_does_not_fill_the_batches_of_what_may_go() {
    let world = World::with(Options { batch: 5, ..Options::default() });
    let mut waiting = Vec::new();
    for n in 0..20 {
        let held = world.grant_in("held_back", &format!("k{n}")).await;
        world.propose(&held, &[("note", "c-1", "{}")]).await;
        waiting.push(held.run.id);
        world.clock.advance_ms(1);
    }
    let free = world.queued("k", "c-1").await.run.id;
    world.turn(effectgate_core::switch::Scope::Flow, "held_back", false).await;

    assert_eq!(world.round().await, 1);

    assert_eq!(world.effect_state(free).await, "completed");
    world.turn(effectgate_core::switch::Scope::Flow, "held_back", true).await;
    assert_eq!(world.round().await, 20);
    for id in waiting {
        assert_eq!(world.agg(id).await.effects[0].attempts, 1);
    }
}

#[tokio::test]
async fn two_effects_of_one_run_at_one_provider_go_one_after_the_other() {
    let world = World::new();
    world.provider.push(Answer::Hang);
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", "{}"), ("note", "c-2", "{}"), ("mail", "a@example.test", "{}")]).await;

    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;
    world.engine.dispatch_tick().await.unwrap();
    world.engine.dispatch_tick().await.unwrap();
    world.provider.release(1);
    world.round().await;

    assert_eq!(world.provider.executed(), 3);
    assert_eq!(world.agg(held.run.id).await.run.state.as_str(), "completed");
    world.clock.advance_ms(HOUR);
    world.round().await;
    assert_eq!(world.provider.seen().len(), 3);
}
