//! What people decide is what leaves, once and whole (G5 to G7).

use effectgate_core::approval::{Refused, Verdict, Wish};
use effectgate_engine::EngineError;
use futures_util::future::join_all;

use super::asks;
use crate::common::{World, lead};

#[tokio::test]
async fn g5_decided_bytes_are_the_only_bytes_that_leave() {
    let world = World::new();
    let held = world.queued("k", "c-1").await;
    world.raw().execute("UPDATE effects SET payload = '{\"text\":\"forged\"}'", []).unwrap();

    world.round().await;

    assert!(world.provider.seen().is_empty());
    let effect = &world.agg(held.run.id).await.effects[0];
    assert_eq!((effect.state.as_str(), effect.reason.as_deref()), ("review", Some("bytes_changed")));

    // The control: the same row with the bytes that were decided goes.
    let control = world.queued("control", "c-1").await;
    world.round().await;
    assert_eq!(world.effect_state(control.run.id).await, "completed");
}

#[tokio::test]
async fn g5_decided_bytes_an_approval_is_bound_to_what_was_shown() {
    let world = World::with(asks());
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", "{}")]).await;
    let agg = world.agg(held.run.id).await;
    let id = agg.approvals[0].id;
    let other = effectgate_core::digest::Digest::of(b"another card");
    let wish = |shown| Wish { verdict: Verdict::Approve, reason: None, shown, edited: None };

    let stale = world.engine.decide(&world.caller.tenant, id, &lead("anna"), &wish(other)).await;
    assert!(matches!(stale, Err(EngineError::DecisionRefused { why: Refused::Changed { .. }, .. })));
    let forged = r#"UPDATE approvals SET proposed = replace(proposed, '"c-1"', '"c-2"')"#;
    assert_eq!(world.raw().execute(forged, []).unwrap(), 1);
    let shown = agg.approvals[0].effects_hash;
    let refused = world.engine.decide(&world.caller.tenant, id, &lead("anna"), &wish(shown)).await;

    assert!(matches!(refused, Err(EngineError::DecisionRefused { why: Refused::Changed { .. }, .. })), "{refused:?}");
    assert!(world.agg(held.run.id).await.effects.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn g6_single_use_a_repeated_click_gets_the_first_answer_and_one_effect() {
    let world = World::with(asks());
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", "{}")]).await;
    let anna = lead("anna");

    let clicks = join_all((0..10).map(|_| world.decide(held.run.id, &anna, Verdict::Approve))).await;

    let first = clicks.iter().filter(|c| !c.as_ref().unwrap().repeated).count();
    assert_eq!(first, 1);
    assert!(clicks.iter().all(|c| c.as_ref().unwrap().run.state == "approved"));
    world.round().await;
    assert_eq!((world.provider.seen().len(), world.facts(held.run.id, "decided").await.len()), (1, 1));
}

#[tokio::test]
async fn g7_atomic_decision_a_failure_anywhere_in_it_leaves_nothing_of_it() {
    for (table, when) in [
        ("effects", "BEFORE INSERT"),
        ("journal", "BEFORE INSERT"),
        ("approvals", "BEFORE UPDATE"),
        ("runs", "BEFORE UPDATE"),
    ] {
        let world = World::with(asks());
        let held = world.grant("k", "w").await;
        world.propose(&held, &[("note", "c-1", "{}")]).await;
        let before = world.agg(held.run.id).await;
        let kinds = world.kinds(held.run.id).await;
        let raw = world.raw();
        raw.execute_batch(&format!("CREATE TRIGGER broken {when} ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END"))
            .unwrap();

        assert!(world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.is_err(), "{table}");

        assert_eq!(world.agg(held.run.id).await, before, "{table}");
        assert_eq!(world.kinds(held.run.id).await, kinds, "{table}");
        raw.execute_batch("DROP TRIGGER broken").unwrap();
        world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    }
}
