//! What waits for a window, in which order, and what people are told of it.

use effectgate_core::{
    budget::{Budget, Holder, Per},
    ids::{EffectId, FlowName},
    operate::Asker,
};

use super::{crm, due_of, effect_of, turn, two, with};
use crate::common::*;

#[tokio::test]
async fn effects_over_budget_wait_for_the_window_in_which_they_find_room() {
    let world = with(vec![crm(2)]);
    let mut held = Vec::new();
    for n in 0..6 {
        held.push(world.queued(&format!("k{n}"), &format!("t{n}")).await);
        world.clock.advance_ms(1);
    }

    assert_eq!(world.round().await, 2);

    let turn = turn(&world);
    for (n, held) in held.iter().enumerate().skip(2) {
        let effect = effect_of(&world, held.run.id).await;
        assert_eq!((effect.reason.as_deref(), effect.attempts), (Some("budget_used_up"), 0), "{n}");
        assert_eq!(due_of(&world, held).await, turn.plus_ms((n as i64 / 2 - 1) * HOUR), "in the order of their coming");
    }
    for sent in [4, 6] {
        let to_the_turn = self::turn(&world).ms_since(world.engine.now());
        world.clock.advance_ms(to_the_turn - 1);
        world.round().await;
        assert_eq!(world.provider.executed(), sent - 2, "a moment before the window's turn");
        world.clock.advance_ms(1);
        world.round().await;
        assert_eq!(world.provider.executed(), sent);
    }
    let entries = world.kinds(held[5].run.id).await;
    assert_eq!(entries.iter().filter(|k| *k == "budget_used_up").count(), 1, "each waits once: {entries:?}");
    world.verify_all().await;
}

#[tokio::test]
async fn a_cancelled_effect_that_waits_makes_room_for_the_next() {
    let world = with(vec![crm(1)]);
    let (_, second) = two(&world).await;
    world.clock.advance_ms(1);
    let third = world.queued("c", "z").await;
    world.round().await;
    assert_eq!(due_of(&world, &third).await, turn(&world).plus_ms(HOUR));

    let asker = Asker::operator(olga());
    let id = EffectId { run: second.run.id, n: 1 };
    world.engine.cancel(&world.caller.tenant, id, &asker, "not wanted any more").await.unwrap();
    let fourth = world.queued("d", "w").await;
    world.round().await;

    assert_eq!(due_of(&world, &fourth).await, turn(&world), "where the cancelled one would have gone");
}

/// HC-36: whatever waits for its budget, the others at the same provider go at once.
#[tokio::test]
async fn hc_36_effects_over_budget_do_not_hold_up_the_others() {
    let holder = Holder::Flow(FlowName::new("ticket"));
    let budget = Budget { holder, per: Per::Flow, window_ms: HOUR, max: 1, amount: None };
    let world = World::with(Options { budgets: vec![budget], batch: 10, ..Options::default() });
    for n in 0..60 {
        world.queued(&format!("k{n}"), &format!("t{n}")).await;
    }
    world.round().await;
    assert_eq!(world.provider.executed(), 1);

    // At every later moment a tick of ten finds the others first: of those that wait one is due in each window.
    for n in 0..5 {
        world.clock.advance_ms(HOUR);
        let held = world.grant_in("held_back", &format!("free{n}")).await;
        world.propose(&held, &[("note", "somebody", r#"{"text":"hello"}"#)]).await;
        let report = world.dispatch().await;
        assert_eq!((report.started, report.seen, report.held), (2, 2, 0), "{report:?}");
        assert_eq!(world.effect_state(held.run.id).await, "completed");
    }
}

#[tokio::test]
async fn explain_names_the_budget_and_says_when_it_goes_on() {
    let world = with(vec![crm(1)]);
    let (_, second) = two(&world).await;
    world.round().await;

    let said = world.engine.explain(&world.caller.tenant, second.run.id).await.unwrap();

    let turn = turn(&world);
    assert_eq!(said.reason.code, "budget_used_up");
    assert_eq!(said.reason.text, format!("the budget of provider crm, 1 an hour, is used up; goes on at {turn}"));
    assert_eq!(said.sent, "no");
    let last = said.timeline.last().unwrap();
    assert_eq!(last.text, format!("waits until {turn}: the budget of provider crm, 1 an hour is used up"));
    let facts = world.facts(second.run.id, "budget_used_up").await;
    assert_eq!(facts[0]["until"], turn.to_string());
}

#[tokio::test]
async fn people_are_told_of_a_used_up_budget_also_where_the_first_try_to_tell_them_failed() {
    let world = with(vec![crm(0)]);
    world.queued("a", "x").await;
    let fail = "CREATE TRIGGER fails BEFORE UPDATE ON effects WHEN NEW.reason LIKE 'budget_%'
        BEGIN SELECT RAISE(ABORT, 'not now'); END";
    world.raw().execute_batch(fail).unwrap();
    assert!(world.engine.dispatch_tick().await.is_err());
    world.raw().execute_batch("DROP TRIGGER fails").unwrap();

    world.round().await;

    assert_eq!(world.alerts().await, ["budget"]);
}

#[tokio::test]
async fn people_are_told_of_a_used_up_budget_once_a_window() {
    let world = with(vec![crm(1)]);
    for n in 0..5 {
        world.queued(&format!("k{n}"), &format!("t{n}")).await;
    }
    world.round().await;
    assert_eq!(world.alerts().await, ["budget"]);

    world.clock.advance_ms(HOUR);
    world.round().await;
    world.queued("more", "t").await;
    world.round().await;
    assert_eq!(world.alerts().await, ["budget", "budget"]);
}
