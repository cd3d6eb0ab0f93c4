//! The review desk: what a person is told when they ask, what contradicts the record, and how long an effect may wait.

use std::time::Duration;

use effectgate_core::{
    effect::EffectState, ids::EffectId, look::Meaning, operate::Resolution, provider::Lookup, retry::Look,
};
use effectgate_engine::ask::{Asked, Told};

use crate::common::{Answer, HOUR, Held, Options, World, olga};

/// An advisory provider that can be asked; the answer to the attempt was lost.
async fn in_doubt(authoritative: bool) -> (World, Held, EffectId) {
    let lookup = Lookup { settle_delay_ms: 120_000, authoritative, period_ms: 5_000 };
    let world = World::with(Options { lookup: Some(lookup), ..Options::default() });
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    let id = EffectId { run: held.run.id, n: 1 };
    (world, held, id)
}

async fn ask(world: &World, id: EffectId, look: Look) -> Told {
    // Beyond the pause in which a second click gets the first answer.
    world.clock.advance_ms(6_000);
    world.provider.push_look(look);
    match world.engine.ask_provider(&world.caller.tenant, id, &olga()).await.unwrap() {
        Asked::Looked(told) => told,
        other => panic!("{other:?}"),
    }
}

fn found(id: &str) -> Look {
    Look::Found { external_id: Some(id.into()) }
}

async fn advice(world: &World, id: EffectId, told: &Told) -> String {
    world.engine.advice(&world.caller.tenant, id, Some(told)).await.unwrap()
}

#[tokio::test]
async fn hc_27_found_after_it_was_settled_as_not_happened_is_recorded_and_told_and_changes_nothing() {
    let (world, held, id) = in_doubt(false).await;
    world.resolve(id, Resolution::Cancel).await.unwrap();
    let before = world.agg(held.run.id).await;

    let told = ask(&world, id, found("ext_1")).await;

    let after = world.agg(held.run.id).await;
    assert_eq!(
        (told.means, &after.effects, &after.run.state),
        (Meaning::Contradicts, &before.effects, &before.run.state)
    );
    assert_eq!(after.effects[0].state, EffectState::Cancelled);
    assert_eq!(world.facts(held.run.id, "looked").await.last().unwrap()["means"], "contradicts");
    assert_eq!(world.alerts().await, ["contrary_report"]);
    assert!(advice(&world, id, &told).await.contains("the provider has it"));
    world.verify(held.run.id).await;
}

#[tokio::test]
async fn hc_27_found_before_it_goes_again_is_told_while_it_can_still_be_cancelled() {
    let (world, held, id) = in_doubt(false).await;
    world.resolve(id, Resolution::SendAgain).await.unwrap();

    let told = ask(&world, id, found("ext_1")).await;

    assert_eq!(told.means, Meaning::Contradicts);
    assert!(advice(&world, id, &told).await.contains("Cancel it before it leaves"));
    assert_eq!(world.effect_state(held.run.id).await, "pending");
}

#[tokio::test]
async fn hc_27_twice_over_there_after_a_second_send_is_told() {
    let (world, held, id) = in_doubt(false).await;
    world.resolve(id, Resolution::SendAgain).await.unwrap();
    world.round().await;
    assert_eq!(world.effect_state(held.run.id).await, "completed");

    let told = ask(&world, id, Look::FoundMany { count: 2 }).await;

    assert_eq!((told.means, told.count), (Meaning::Contradicts, Some(2)));
    assert_eq!(world.effect_state(held.run.id).await, "completed");
    assert_eq!(world.alerts().await, ["contrary_report"]);
}

#[tokio::test]
async fn hc_26_an_early_none_is_said_to_say_nothing_until_the_settle_delay_is_over() {
    let (world, _, id) = in_doubt(false).await;

    let early = ask(&world, id, Look::Absent).await;
    let until = world.agg(id.run).await.effects[0].unknown_since.unwrap().plus_ms(120_000);
    let text = advice(&world, id, &early).await;
    world.clock.advance_ms(120_000);
    let late = ask(&world, id, Look::Absent).await;

    assert_eq!((early.means, late.means), (Meaning::TooEarly, Meaning::NotThere));
    assert!(text.contains(&until.to_string()), "{text}");
    assert!(world.alerts().await.is_empty());
}

#[tokio::test]
async fn a_second_click_gets_the_first_answer_unless_the_effect_changed_in_between() {
    let (world, _, id) = in_doubt(false).await;
    let tenant = &world.caller.tenant;
    let first = ask(&world, id, found("ext_1")).await;

    world.clock.advance_ms(1_000);
    let second = world.engine.ask_provider(tenant, id, &olga()).await.unwrap();
    world.resolve(id, Resolution::Cancel).await.unwrap();
    world.clock.advance_ms(1_000);
    world.provider.push_look(found("ext_1"));
    let third = world.engine.ask_provider(tenant, id, &olga()).await.unwrap();

    assert_eq!(second, Asked::JustNow(first));
    let Asked::Looked(third) = third else { panic!("{third:?}") };
    assert_eq!((third.means, world.provider.looked()), (Meaning::Contradicts, 2));
}

#[tokio::test]
async fn hc_27_a_person_settles_while_the_reconciler_asks_and_its_finding_is_not_lost() {
    let (world, held, id) = in_doubt(false).await;
    world.clock.advance_ms(5_000);
    world.provider.hold_next_look(found("ext_1"));
    let engine = world.engine.clone();
    let tick = tokio::spawn(async move { engine.reconcile_tick().await.unwrap() });
    world.provider.until_hanging(1).await;
    world.resolve(id, Resolution::Cancel).await.unwrap();
    let before = world.agg(held.run.id).await;

    world.provider.release(1);
    let report = tokio::time::timeout(Duration::from_secs(60), tick).await.unwrap().unwrap();

    let after = world.agg(held.run.id).await;
    assert_eq!((report.lost, &after.effects, &after.run.state), (1, &before.effects, &before.run.state));
    let looked = world.facts(held.run.id, "looked").await;
    assert_eq!((&looked[0]["reason"], &looked[0]["external_id"]), (&"too_late".into(), &"ext_1".into()));
    assert_eq!(world.alerts().await, ["contrary_report"]);
    world.verify(held.run.id).await;
}

#[tokio::test]
async fn each_look_says_what_was_found_and_how_often() {
    let (world, held, _) = in_doubt(false).await;
    world.provider.push_look(Look::Nothing { detail: "503".into() });
    world.provider.push_look(Look::Absent);
    world.provider.push_look(Look::FoundMany { count: 3 });
    world.pass(3, 5_000).await;

    let looked = world.facts(held.run.id, "looked").await;
    let said: Vec<_> = looked.iter().map(|facts| facts["lookup"].as_str().unwrap()).collect();
    assert_eq!(said, ["no_information", "absent", "found_many"]);
    assert_eq!((&looked[0]["detail"], &looked[2]["count"]), (&"503".into(), &3.into()));
}

#[tokio::test]
async fn a_silent_lookup_is_asked_less_and_less_often() {
    let (world, held, _) = in_doubt(false).await;
    let silent = Look::Nothing { detail: "timeout".into() };
    for _ in 0..24 * 60 {
        world.provider.push_look(silent.clone());
        world.pass(1, 60_000).await;
    }

    assert_eq!(world.effect_state(held.run.id).await, "unknown");
    assert!(world.provider.looked() < 360, "{}", world.provider.looked());
    world.pass(1, HOUR).await;
    assert_eq!(world.effect_state(held.run.id).await, "review");
}

#[tokio::test]
async fn an_effect_that_waits_longer_than_its_flow_allows_is_told_once_for_each_time_as_long() {
    let mut world = World::new();
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(1, 5_000).await;
    assert_eq!((world.effect_state(held.run.id).await, world.alerts().await), ("review", vec!["review".to_owned()]));

    world.pass(59, 60_000).await;
    assert_eq!(world.alerts().await.len(), 1, "within its time");
    world.pass(30, 60_000).await;
    assert_eq!(world.alerts().await, ["review", "review"], "once, however often the sweeper comes by");
    world.restart();
    world.pass(1, 60_000).await;
    assert_eq!(world.alerts().await.len(), 2, "and a restart does not forget");
    world.pass(30, 60_000).await;
    assert_eq!(world.alerts().await.len(), 3, "twice as long as it may");

    let told = world.facts(held.run.id, "review_overdue").await;
    assert_eq!(told.iter().map(|facts| facts["times"].as_i64().unwrap()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(world.effect_state(held.run.id).await, "review");
    world.verify(held.run.id).await;
}
