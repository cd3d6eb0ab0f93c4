//! A provider that keeps an error under our key: the same key only ever repeats it. And the key window, which begins
//! with the first send and which no person's word moves (HC-25).

use effectgate_core::{
    effect::EffectState,
    operate::Resolution,
    provider::{Declared, ReplayMark},
    retry::KEY_POISONED,
};
use effectgate_engine::EngineError;

use crate::common::{Answer, HOUR, Held, Options, World, enforcing};

fn keeps_errors(mark: Option<ReplayMark>) -> Options {
    let declared = Declared { replays_errors: true, replayed: mark, ..Declared::default() };
    Options { class: enforcing(), declared, ..Options::default() }
}

fn mark() -> Option<ReplayMark> {
    Some(ReplayMark { header: "Idempotent-Replayed".into(), equals: "true".into() })
}

async fn reason(world: &World, held: &Held) -> (&'static str, Option<String>) {
    let effect = &world.agg(held.run.id).await.effects[0];
    (effect.state.as_str(), effect.reason.clone())
}

#[tokio::test]
async fn a_stored_error_goes_to_a_person_and_is_not_tried_a_third_time() {
    let world = World::with(keeps_errors(None));
    world.provider.always(Answer::Status(500, None));
    let held = world.queued("k", "c-1").await;
    world.round().await;
    assert_eq!(reason(&world, &held).await.0, "unknown", "once may be an accident");
    world.pass(1, 60_000).await;

    assert_eq!(reason(&world, &held).await, ("review", Some(KEY_POISONED.into())));
    world.pass(20, 600_000).await;
    assert_eq!(world.provider.seen().len(), 2);
    assert!(world.alerts().await.contains(&"review".to_owned()));
    let said = world.facts(held.run.id, "attempt_ended").await;
    assert!(said[1]["detail"].as_str().unwrap().contains("keeps under this key"), "{said:?}");
    let explained = world.engine.explain(&world.caller.tenant, held.run.id).await.unwrap();
    assert!(explained.reason.next.contains("a correction made"), "{:?}", explained.reason);
}

#[tokio::test]
async fn another_error_under_the_same_key_is_no_stored_one() {
    let world = World::with(keeps_errors(None));
    world.provider.push(Answer::Status(502, None));
    world.provider.push(Answer::Status(500, None));
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(2, 60_000).await;

    assert_eq!((reason(&world, &held).await.0, world.provider.seen().len()), ("completed", 3));
}

#[tokio::test]
async fn where_the_provider_marks_what_it_kept_the_mark_decides() {
    let world = World::with(keeps_errors(mark()));
    world.provider.push(Answer::Status(503, None));
    world.provider.push(Answer::Status(503, None));
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(2, 60_000).await;
    assert_eq!(reason(&world, &held).await.0, "completed", "an outage that passes costs nobody's time");

    world.provider.push(Answer::Status(500, None));
    world.provider.push(Answer::Replayed(500));
    let held = world.queued("l", "c-2").await;
    world.round().await;
    world.pass(1, 60_000).await;
    assert_eq!(reason(&world, &held).await, ("review", Some(KEY_POISONED.into())));
}

#[tokio::test]
async fn a_provider_that_keeps_no_errors_is_asked_again_as_often_as_it_may() {
    let world = World::with(Options { class: enforcing(), ..Options::default() });
    world.provider.always(Answer::Status(500, None));
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(10, 60_000).await;

    assert_eq!(reason(&world, &held).await, ("review", Some("attempts_exhausted".into())));
    assert_eq!(world.provider.seen().len(), 5);
}

#[tokio::test]
async fn a_spent_key_is_not_sent_again_on_anybodys_word() {
    let world = World::with(keeps_errors(None));
    world.provider.always(Answer::Status(500, None));
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(1, 60_000).await;
    let id = world.agg(held.run.id).await.effects[0].id;

    let again = world.resolve(id, Resolution::SendAgain).await;
    assert!(
        matches!(&again, Err(error @ EngineError::KeyPoisoned { .. }) if error.code() == "key_poisoned"),
        "{again:?}"
    );
    world.resolve(id, Resolution::Cancel).await.unwrap();
    world.pass(3, 60_000).await;

    assert_eq!((reason(&world, &held).await.0, world.provider.seen().len()), ("cancelled", 2));
    assert_eq!(world.agg(held.run.id).await.run.state.as_str(), "failed_terminal", "so that a correction can be made");
}

/// The answer to the first send is lost, a person says that it did not happen, and the answer to the second is lost too.
async fn lost_twice(after_ms: i64) -> (World, Held) {
    let world = World::with(Options { attempts_max: 1, class: enforcing(), ..Options::default() });
    world.provider.push(Answer::AcceptThenDrop);
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(1, 60_000).await;
    let effect = world.agg(held.run.id).await.effects[0].clone();
    assert_eq!(effect.state.as_str(), "review");
    world.clock.advance_ms(after_ms);
    world.resolve(effect.id, Resolution::SendAgain).await.unwrap();
    world.round().await;
    let after = world.agg(held.run.id).await.effects[0].clone();
    assert_eq!(after.first_sent_at, effect.first_sent_at, "over there the window goes on from the first send");
    assert!(matches!(after.state, EffectState::Unknown { .. }), "{after:?}");
    (world, held)
}

#[tokio::test]
async fn hc_25_a_persons_word_does_not_move_the_key_window() {
    for (after_ms, sent, why) in [(22 * HOUR, 2, "attempts_exhausted"), (23 * HOUR, 2, "key_window_over")] {
        let (world, held) = lost_twice(after_ms).await;
        world.pass(30, 60_000).await;

        assert_eq!(reason(&world, &held).await, ("review", Some(why.into())), "{after_ms}");
        assert_eq!(world.provider.seen().len(), sent, "{after_ms}: nothing is re-issued under a forgotten key");
    }
}

#[tokio::test]
async fn hc_25_inside_the_window_a_second_lost_answer_is_asked_for_under_the_same_key() {
    let (mut world, held) = lost_twice(20 * HOUR).await;
    world.restart_with(|options| options.attempts_max = 5);
    world.pass(1, 60_000).await;

    assert_eq!((reason(&world, &held).await.0, world.provider.seen().len()), ("completed", 3));
    let keys: std::collections::BTreeSet<_> = world.provider.seen().into_iter().map(|s| s.provider_key).collect();
    assert_eq!(keys.len(), 1);
}
