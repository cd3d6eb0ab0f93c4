//! What is charged, what keeps its charge, and what gives it back.

use effectgate_core::{ids::EffectId, operate::Resolution, switch::Scope};

use super::{crm, due_of, effect_of, turn, two, with};
use crate::common::*;

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
async fn room_that_came_free_is_found_also_where_the_first_look_for_it_failed() {
    let world = with(vec![crm(1)]);
    // In doubt, so that it is certain which of the two comes first: a refusal may give its room back within the round.
    world.provider.push(Answer::AcceptThenDrop);
    let (first, second) = two(&world).await;
    world.round().await;
    world.engine.sweep_tick().await.unwrap();
    world.round().await;
    world.resolve(EffectId { run: first.run.id, n: 1 }, Resolution::Cancel).await.unwrap();
    let fail = "CREATE TRIGGER fails BEFORE INSERT ON attempts BEGIN SELECT RAISE(ABORT, 'not now'); END";
    world.raw().execute_batch(fail).unwrap();
    assert!(world.engine.dispatch_tick().await.is_err());
    world.raw().execute_batch("DROP TRIGGER fails").unwrap();

    world.round().await;

    assert_eq!(world.effect_state(second.run.id).await, "completed");
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
async fn the_switch_comes_first_and_charges_nothing() {
    let world = with(vec![crm(1)]);
    world.queued("a", "x").await;
    world.turn(Scope::Provider, "crm", false).await;

    world.round().await;

    assert_eq!(world.engine.budgets_now().await.unwrap()[0].used, Some(0));
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
