//! Budgets through the whole engine: dispatcher, people, workers, restarts.

use effectgate_core::{
    budget::{Budget, Holder, Per},
    effect::EffectState,
    ids::{EffectId, FlowName, ProviderName, RunId},
    operate::{Asker, Resolution},
    retry::Outcome,
    switch::Scope,
    time::Timestamp,
};
use effectgate_engine::{EngineError, check::Asked, inline::Begun, propose::Proposal};

use crate::common::*;

/// A budget of the provider `crm`.
fn crm(max: i64) -> Budget {
    let holder = Holder::Provider(ProviderName::new("crm"));
    Budget { holder, per: Per::Provider, window_ms: HOUR, max, amount: None }
}

fn with(budgets: Vec<Budget>) -> World {
    World::with(Options { budgets, ..Options::default() })
}

/// The end of the present hour.
fn turn(world: &World) -> Timestamp {
    effectgate_core::budget::window(HOUR, world.engine.now()).1
}

/// One after the other: what came at the same moment has no order.
async fn two(world: &World) -> (Held, Held) {
    let first = world.queued("a", "x").await;
    world.clock.advance_ms(1);
    (first, world.queued("b", "y").await)
}

async fn due_of(world: &World, held: &Held) -> Timestamp {
    match world.agg(held.run.id).await.effects[0].state {
        EffectState::Pending { due_at } => due_at,
        other => panic!("{other:?}"),
    }
}

async fn effect_of(world: &World, id: RunId) -> effectgate_core::effect::Effect {
    world.agg(id).await.effects[0].clone()
}

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

/// The crash window: accepted, and the answer lost, at a provider that nothing protects.
#[tokio::test]
async fn an_unknown_effect_keeps_its_charge_until_a_person_says_it_did_not_happen() {
    let world = with(vec![crm(1)]);
    world.provider.push(Answer::AcceptThenDrop);
    let (first, second) = two(&world).await;

    world.round().await;
    world.engine.sweep_tick().await.unwrap();
    world.round().await;
    assert_eq!(world.effect_state(first.run.id).await, "review");
    assert_eq!(effect_of(&world, second.run.id).await.reason.as_deref(), Some("budget_used_up"));
    assert_eq!(world.provider.seen().len(), 1);
    // Minutes later it still waits: the first may have happened.
    world.clock.advance_ms(60_000);
    assert_eq!(world.round().await, 0);

    let id = EffectId { run: first.run.id, n: 1 };
    world.resolve(id, Resolution::Cancel).await.unwrap();
    world.round().await;

    assert_eq!(world.effect_state(second.run.id).await, "completed", "in the same window");
    assert_eq!(world.provider.seen().len(), 2);
}

#[tokio::test]
async fn a_person_who_says_that_it_happened_frees_nothing() {
    let world = with(vec![crm(1)]);
    world.provider.push(Answer::AcceptThenDrop);
    let (first, second) = two(&world).await;
    world.round().await;
    world.engine.sweep_tick().await.unwrap();

    let happened = Resolution::Happened { external_id: Some("note_1".into()) };
    world.resolve(EffectId { run: first.run.id, n: 1 }, happened).await.unwrap();

    assert_eq!(world.round().await, 0);
    assert_eq!(due_of(&world, &second).await, turn(&world));
}

#[tokio::test]
async fn a_reissue_with_the_same_key_charges_nothing_more() {
    let world = World::with(Options { class: enforcing(), budgets: vec![crm(1)], ..Options::default() });
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("a", "x").await;

    world.round().await;
    world.pass(3, 60_000).await;

    assert_eq!(world.effect_state(held.run.id).await, "completed");
    assert_eq!(world.provider.seen().len(), 2, "sent, and sent again with the same key");
    let now = &world.engine.budgets_now().await.unwrap()[0];
    assert_eq!((now.used, now.max), (Some(1), 1));
}

#[tokio::test]
async fn a_refused_effect_gives_its_charge_back_in_its_window() {
    let world = with(vec![crm(1)]);
    world.provider.push(Answer::Status(422, None));
    let (_, second) = two(&world).await;

    world.round().await;
    world.round().await;

    assert_eq!(world.effect_state(second.run.id).await, "completed");
    assert_eq!(world.engine.budgets_now().await.unwrap()[0].used, Some(1));
}

#[tokio::test]
async fn a_retry_in_a_later_window_is_charged_there() {
    let world = with(vec![crm(1)]);
    world.provider.push(Answer::ConnectionRefused);
    let first = world.queued("a", "x").await;
    world.round().await;
    assert_eq!(world.engine.budgets_now().await.unwrap()[0].used, Some(1));

    world.clock.advance_ms(HOUR);
    world.round().await;

    assert_eq!(world.effect_state(first.run.id).await, "completed");
    assert_eq!(world.engine.budgets_now().await.unwrap()[0].used, Some(1), "in this window");
    let second = world.queued("b", "y").await;
    assert_eq!(world.round().await, 0);
    assert_eq!(due_of(&world, &second).await, turn(&world));
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
async fn money_is_counted_in_minor_units_at_its_pointer() {
    let holder = Holder::Flow(FlowName::new("ticket"));
    let budget = Budget { holder, per: Per::Flow, window_ms: HOUR, max: 1_000, amount: Some("/amount".into()) };
    let world = with(vec![budget]);
    let mut held = Vec::new();
    for (n, payload) in [r#"{"amount":600}"#, r#"{"amount":600}"#, r#"{"amount":400}"#].into_iter().enumerate() {
        let run = world.grant(&format!("k{n}"), "worker-1").await;
        world.propose(&run, &[("note", &format!("t{n}"), payload)]).await;
        held.push(run);
        world.clock.advance_ms(1);
    }

    world.round().await;

    assert_eq!(world.effect_state(held[0].run.id).await, "completed");
    assert_eq!(due_of(&world, &held[1]).await, turn(&world), "600 and 600 are more than 1000");
    assert_eq!(world.effect_state(held[2].run.id).await, "completed", "the smaller one still fits");
    assert_eq!(world.engine.budgets_now().await.unwrap()[0].used, Some(1_000));
}

#[tokio::test]
async fn an_amount_beyond_the_whole_budget_waits_for_a_person_and_holds_up_nobody() {
    let holder = Holder::Provider(ProviderName::new("crm"));
    let budget = Budget { holder, per: Per::Provider, window_ms: HOUR, max: 1_000, amount: Some("/amount".into()) };
    let mut world = with(vec![budget.clone()]);
    let big = world.grant("big", "worker-1").await;
    world.propose(&big, &[("note", "t", r#"{"amount":5000}"#)]).await;
    let small = world.grant("small", "worker-1").await;
    world.propose(&small, &[("note", "t", r#"{"amount":10}"#)]).await;

    world.round().await;

    let effect = effect_of(&world, big.run.id).await;
    assert_eq!(effect.reason.as_deref(), Some("budget_too_small"));
    assert_eq!(world.effect_state(small.run.id).await, "completed");
    let said = world.engine.explain(&world.caller.tenant, big.run.id).await.unwrap().reason;
    assert_eq!(said.code, "budget_too_small");
    assert!(said.text.contains("provider crm, 1000 of /amount an hour"), "{}", said.text);
    // A new config is looked at when the process starts, not an hour later.
    world.restart_with(|options| options.budgets = vec![Budget { max: 5_000, ..budget }]);
    world.clock.advance_ms(HOUR);
    world.round().await;
    assert_eq!(world.effect_state(big.run.id).await, "completed");
}

#[tokio::test]
async fn a_proposal_whose_amount_cannot_be_read_is_refused_where_it_is_made() {
    let holder = Holder::Flow(FlowName::new("ticket"));
    let budget = Budget { holder, per: Per::Target, window_ms: HOUR, max: 1_000, amount: Some("/amount".into()) };
    let world = with(vec![budget]);
    let held = world.grant("k", "worker-1").await;

    let asked = asked(&[("note", "t", r#"{"amount":12.50}"#)]);
    let answer = world.engine.propose(&world.call(&held, "proposal", "x"), &asked).await.unwrap().answer;

    let Proposal::Invalid { findings, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(findings[0].pointer, "/effects/0/payload/amount");
    assert!(findings[0].message.contains("flow ticket, 1000 of /amount an hour for each target"), "{findings:?}");
}

#[tokio::test]
async fn a_larger_budget_counts_from_the_restart_on() {
    let mut world = with(vec![crm(1)]);
    let (_, second) = two(&world).await;
    world.round().await;
    assert_eq!(world.effect_state(second.run.id).await, "pending");

    world.restart_with(|options| options.budgets = vec![crm(2)]);
    world.round().await;

    assert_eq!(world.effect_state(second.run.id).await, "completed");
}

#[tokio::test]
async fn a_budget_that_leaves_the_config_holds_nothing_back() {
    let mut world = with(vec![crm(1)]);
    let (_, second) = two(&world).await;
    world.round().await;

    world.restart_with(|options| options.budgets = vec![]);
    world.round().await;

    assert_eq!(world.effect_state(second.run.id).await, "completed");
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

#[tokio::test]
async fn the_switch_comes_first_and_charges_nothing() {
    let world = with(vec![crm(1)]);
    world.queued("a", "x").await;
    world.turn(Scope::Provider, "crm", false).await;

    world.round().await;

    assert_eq!(world.engine.budgets_now().await.unwrap()[0].used, Some(0));
}

#[tokio::test]
async fn two_replicas_share_one_budget() {
    let world = with(vec![crm(3)]);
    let other = world.another_engine();
    for n in 0..12 {
        world.queued(&format!("k{n}"), &format!("t{n}")).await;
    }

    for _ in 0..4 {
        let (one, two) = tokio::join!(world.engine.dispatch_tick(), other.dispatch_tick());
        assert_eq!((one.is_ok(), two.is_ok()), (true, true));
        world.engine.dispatch_idle().await;
        other.dispatch_idle().await;
    }

    assert_eq!(world.provider.executed(), 3);
}

async fn begin(world: &World, held: &Held, target: &str) -> Result<Begun, EngineError> {
    let asked = Asked { effect_type: "note".into(), target: Some(target.into()), payload: r#"{"text":"x"}"#.into() };
    world.engine.begin(&world.call(held, "begin", target), &asked).await.map(|answered| answered.answer)
}

#[tokio::test]
async fn an_inline_effect_over_budget_is_not_begun_and_its_worker_is_told_until_when() {
    let world = with(vec![crm(1)]);
    let (first, second) = (world.grant("a", "worker-1").await, world.grant("b", "worker-1").await);
    let begun = begin(&world, &first, "x").await.unwrap();
    assert!(begun.begun);

    let refused = begin(&world, &second, "y").await;

    let Err(EngineError::BudgetUsedUp { budget, until }) = refused else { panic!("{refused:?}") };
    assert_eq!((budget.as_str(), until.map(|(at, _)| at)), ("provider crm, 1 an hour", Some(turn(&world))));
    assert!(world.agg(second.run.id).await.effects.is_empty(), "nothing was written");

    // The first one's worker says that the provider refused: its charge is free again.
    let reported = effectgate_core::inline::Reported { outcome: Outcome::Refused, external_id: None, message: None };
    let id = EffectId { run: first.run.id, n: 1 };
    world.engine.settle_inline(&world.call(&first, "settle", "x"), id, &reported).await.unwrap();
    assert!(begin(&world, &second, "y").await.unwrap().begun);
}

#[tokio::test]
async fn an_inline_effect_whose_outcome_is_unknown_keeps_its_charge() {
    let world = with(vec![crm(1)]);
    let (first, second) = (world.grant("a", "worker-1").await, world.grant("b", "worker-1").await);
    begin(&world, &first, "x").await.unwrap();
    let reported = effectgate_core::inline::Reported { outcome: Outcome::Unknown, external_id: None, message: None };
    let id = EffectId { run: first.run.id, n: 1 };
    world.engine.settle_inline(&world.call(&first, "settle", "x"), id, &reported).await.unwrap();

    assert!(matches!(begin(&world, &second, "y").await, Err(EngineError::BudgetUsedUp { .. })));
}

#[tokio::test]
async fn counts_for_each_key_and_target_are_apart() {
    let per = |per| {
        let holder = Holder::Flow(FlowName::new("ticket"));
        Budget { holder, per, window_ms: HOUR, max: 1, amount: None }
    };
    for (per, sent) in [(per(Per::Target), 2), (per(Per::Key), 3), (per(Per::Provider), 1)] {
        let world = with(vec![per]);
        world.queued("a", "x").await;
        world.queued("b", "x").await;
        world.queued("c", "y").await;
        world.round().await;
        assert_eq!(world.provider.executed(), sent);
    }
}

/// Killed between the attempt's commit and the call: the attempt is lost, may have happened, and stays charged.
#[tokio::test]
async fn a_crash_after_the_charge_keeps_it() {
    let world = with(vec![crm(1)]);
    world.provider.push(Answer::ExecuteThenDie);
    let (first, second) = two(&world).await;
    world.engine.dispatch_tick().await.unwrap();
    let after = loop {
        if !world.provider.seen().is_empty() {
            break world.killed();
        }
        tokio::task::yield_now().await;
    };

    after.clock.advance_ms(60_000);
    after.engine.sweep_tick().await.unwrap();
    after.round().await;

    assert_eq!(after.effect_state(first.run.id).await, "review");
    assert_eq!(after.effect_state(second.run.id).await, "pending");
}
