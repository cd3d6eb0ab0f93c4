//! What becomes of an outcome that is not known: re-issue under the same key, a look, or a person.

use effectgate_core::{
    effect::EffectState,
    ids::Fence,
    inline::Reported,
    operate::Resolution,
    provider::{Class, Lookup},
    retry::{self, Look, Outcome, Settlement},
    sending,
    switch::Scope,
};
use effectgate_engine::{EngineError, propose::Asked};
use effectgate_store::Commit;

use crate::common::{Answer, HOUR, Held, Options, World, enforcing};

fn keeps_keys() -> Options {
    Options { class: enforcing(), ..Options::default() }
}

fn keys(world: &World) -> Vec<String> {
    let mut keys: Vec<_> = world.provider.seen().into_iter().map(|s| s.provider_key).collect();
    keys.dedup();
    keys
}

#[tokio::test]
async fn hc_24_a_lost_answer_is_asked_for_again_under_the_same_key() {
    let world = World::with(keeps_keys());
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(1, 60_000).await;

    assert_eq!((keys(&world).len(), world.provider.seen().len()), (1, 2));
    assert_eq!(world.effect_state(held.run.id).await, "completed");
}

#[tokio::test]
async fn hc_24_a_crash_between_send_and_record_keeps_the_key() {
    let mut world = World::with(keeps_keys());
    world.provider.push(Answer::ExecuteThenDie);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;
    world.restart();
    world.pass(1, 30_000).await;
    assert_eq!(world.effect_state(held.run.id).await, "sending", "its lease lives: it may still end");
    world.pass(1, 30_000).await;

    assert_eq!((keys(&world).len(), world.provider.seen().len()), (1, 2));
    assert_eq!(world.effect_state(held.run.id).await, "completed");
}

#[tokio::test]
async fn hc_24_an_operator_who_presses_twice_sends_once_more_under_the_same_key() {
    let world = World::with(Options { attempts_max: 1, ..keeps_keys() });
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(1, 60_000).await;
    assert_eq!(world.effect_state(held.run.id).await, "review");
    let id = world.agg(held.run.id).await.effects[0].id;

    let first = world.resolve(id, Resolution::SendAgain).await;
    let second = world.resolve(id, Resolution::SendAgain).await;
    world.round().await;
    let third = world.resolve(id, Resolution::SendAgain).await;

    assert!(first.is_ok());
    assert!(matches!((&second, &third), (Err(EngineError::WrongState { .. }), Err(EngineError::WrongState { .. }))));
    assert_eq!((keys(&world).len(), world.provider.seen().len()), (1, 2));
    assert_eq!(world.effect_state(held.run.id).await, "completed");
}

#[tokio::test]
async fn hc_25_past_the_key_window_nothing_is_reissued_blindly() {
    let class = Class::Enforcing { key_window_ms: 24 * HOUR, margin_ms: HOUR };
    for (off_ms, sent, state) in [(22 * HOUR, 2, "completed"), (23 * HOUR, 1, "review"), (30 * HOUR, 1, "review")] {
        let world = World::with(Options { class, ..Options::default() });
        world.provider.push(Answer::AcceptThenDrop);
        let held = world.queued("k", "c-1").await;
        world.round().await;
        world.turn(Scope::Provider, "crm", false).await;
        world.pass(1, 60_000).await;
        world.clock.advance_ms(off_ms - 60_000);
        world.turn(Scope::Provider, "crm", true).await;
        world.round().await;
        world.pass(2, 1_000).await;

        assert_eq!(world.provider.seen().len(), sent, "{off_ms}");
        assert_eq!(world.effect_state(held.run.id).await, state, "{off_ms}");
    }
}

#[tokio::test]
async fn hc_25_past_the_window_a_declared_lookup_is_asked() {
    let lookup = Lookup { settle_delay_ms: 60_000, authoritative: false, period_ms: 5_000 };
    let world = World::with(Options { lookup: Some(lookup), ..keeps_keys() });
    world.provider.push(Answer::AcceptThenDrop);
    world.provider.push_look(Look::Found { external_id: Some("ext_1".into()) });
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.turn(Scope::All, "", false).await;
    world.pass(1, 25 * HOUR).await;
    world.turn(Scope::All, "", true).await;
    world.pass(1, 5_000).await;

    let effect = &world.agg(held.run.id).await.effects[0];
    assert_eq!((effect.state.as_str(), effect.external_id.as_deref()), ("completed", Some("ext_1")));
    assert_eq!((world.provider.seen().len(), world.provider.looked()), (1, 1));
}

/// An advisory provider whose lookup lags; the settle delay is 120 s, the look every 5 s.
async fn lagging() -> (World, Held) {
    let lookup = Lookup { settle_delay_ms: 120_000, authoritative: false, period_ms: 5_000 };
    let world = World::with(Options { lookup: Some(lookup), ..Options::default() });
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    (world, held)
}

#[tokio::test]
async fn hc_26_an_early_none_is_no_proof_and_the_late_find_completes() {
    let (world, held) = lagging().await;
    for _ in 0..19 {
        world.pass(1, 5_000).await;
        let effect = &world.agg(held.run.id).await.effects[0];
        let EffectState::Unknown { look_at } = effect.state else { panic!("{effect:?}") };
        assert!(look_at > world.engine.now(), "it says when it looks again");
    }
    world.provider.push_look(Look::Found { external_id: Some("late_1".into()) });
    world.pass(1, 5_000).await;

    let effect = &world.agg(held.run.id).await.effects[0];
    assert_eq!((effect.state.as_str(), effect.external_id.as_deref()), ("completed", Some("late_1")));
    assert_eq!((world.provider.seen().len(), world.provider.looked()), (1, 20));
}

#[tokio::test]
async fn hc_26_still_none_after_the_settle_delay_goes_to_a_person_and_is_never_resent() {
    let (world, held) = lagging().await;
    world.pass(23, 5_000).await;
    assert_eq!(world.effect_state(held.run.id).await, "unknown");
    world.pass(1, 5_000).await;
    assert_eq!(world.effect_state(held.run.id).await, "review");
    world.pass(50, 60_000).await;

    assert_eq!(world.provider.seen().len(), 1);
    assert!(world.alerts().await.contains(&"review".to_owned()));
}

#[tokio::test]
async fn hc_26_two_matches_are_an_alert_and_an_error_is_no_information() {
    let (world, held) = lagging().await;
    world.provider.push_look(Look::Nothing { detail: "503".into() });
    world.provider.push_look(Look::InProgress);
    world.pass(2, 5_000).await;
    assert_eq!(world.effect_state(held.run.id).await, "unknown");
    // Errors prove nothing, however long they last, within a day.
    for _ in 0..30 {
        world.provider.push_look(Look::Nothing { detail: "timeout".into() });
    }
    world.pass(30, 60_000).await;
    assert_eq!(world.effect_state(held.run.id).await, "unknown");

    world.provider.push_look(Look::FoundMany { count: 2 });
    world.pass(1, 60_000).await;

    let effect = &world.agg(held.run.id).await.effects[0];
    assert_eq!((effect.state.as_str(), effect.reason.as_deref()), ("review", Some("found_many")));
    assert!(world.alerts().await.contains(&"review".to_owned()));
    assert_eq!(world.provider.seen().len(), 1);
}

#[tokio::test]
async fn hc_26_an_authoritative_none_after_the_settle_delay_allows_one_more_send() {
    let lookup = Lookup { settle_delay_ms: 120_000, authoritative: true, period_ms: 5_000 };
    let world = World::with(Options { lookup: Some(lookup), ..Options::default() });
    world.provider.push(Answer::Status(500, None));
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(23, 5_000).await;
    assert_eq!(world.provider.seen().len(), 1);
    world.pass(2, 5_000).await;

    assert_eq!((world.provider.seen().len(), world.provider.executed()), (2, 1));
    assert_eq!(world.effect_state(held.run.id).await, "completed");
}

#[tokio::test]
async fn hc_27_a_finding_that_comes_late_takes_no_success_back() {
    let lookup = Lookup { settle_delay_ms: 120_000, authoritative: true, period_ms: 5_000 };
    let world = World::with(Options { lookup: Some(lookup), ..Options::default() });
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    let old = world.agg(held.run.id).await;
    world.provider.push_look(Look::Found { external_id: Some("ext_1".into()) });
    world.pass(1, 5_000).await;
    let done = world.agg(held.run.id).await;

    let provider = &world.engine.policy().provider(&done.effects[0].provider).unwrap().provider;
    let late = world.engine.now().plus_ms(200_000);
    for look in [Look::Absent, Look::Found { external_id: Some("other".into()) }, Look::FoundMany { count: 2 }] {
        let settlement = retry::reconcile(&old.effects[0], provider, Some(&look), late);
        assert_ne!(settlement, Settlement::AskFirst);
        if let Some(write) = sending::reconciled(&old.run, &old.effects[0], &settlement, Some(&look), late) {
            assert_eq!(world.store.commit(write).await.unwrap(), Commit::Lost, "{look:?}");
        }
    }

    assert_eq!(done.effects[0].state.as_str(), "completed");
    assert_eq!(world.agg(held.run.id).await, done);
}

#[tokio::test]
async fn hc_27_a_dispatcher_that_was_given_up_reports_late_and_changes_nothing() {
    let world = World::new();
    world.provider.push(Answer::Hang);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;
    world.clock.advance_ms(60_000);
    world.engine.sweep_tick().await.unwrap();
    let id = world.agg(held.run.id).await.effects[0].id;
    world.resolve(id, Resolution::Cancel).await.unwrap();
    let before = world.agg(held.run.id).await;
    assert_eq!(before.effects[0].state, EffectState::Cancelled);

    // The person looked too early: it did happen.
    world.provider.release(1);
    world.engine.dispatch_idle().await;

    let after = world.agg(held.run.id).await;
    assert_eq!((&after.effects, &after.run.state), (&before.effects, &before.run.state));
    assert_eq!(world.facts(held.run.id, "late_report").await.len(), 1);
    assert!(world.alerts().await.contains(&"contrary_report".to_owned()));
    world.verify(held.run.id).await;
}

async fn inline(world: &World) -> (Held, effectgate_core::ids::EffectId) {
    let held = world.grant("k", "w").await;
    let asked = Asked { effect_type: "note".into(), target: Some("c-1".into()), payload: "{}".into() };
    let begun = world.engine.begin(&world.call(&held, "begin", "b"), &asked).await.unwrap();
    (held, begun.answer.effect.id)
}

fn says(outcome: Outcome, external_id: Option<&str>) -> Reported {
    Reported { outcome, external_id: external_id.map(str::to_owned), message: None }
}

#[tokio::test]
async fn hc_27_a_contrary_report_of_a_worker_is_on_record_and_told_and_changes_nothing() {
    let world = World::new();
    let (held, id) = inline(&world).await;
    let settle = |body: &'static str, report: Reported| {
        let call = world.call(&held, "settle", body);
        let engine = world.engine.clone();
        async move { engine.settle_inline(&call, id, &report).await.unwrap().answer }
    };
    assert!(settle("1", says(Outcome::Applied, Some("re_1"))).await.changed);

    let failed = settle("2", says(Outcome::Refused, None)).await;
    let again = settle("3", says(Outcome::Applied, Some("re_1"))).await;
    let (one, two) =
        tokio::join!(settle("4", says(Outcome::Refused, None)), settle("5", says(Outcome::Applied, Some("re_1"))));

    for answer in [failed, again, one, two] {
        assert!(!answer.changed);
        assert_eq!((answer.effect.state.as_str(), answer.effect.external_id.as_deref()), ("completed", Some("re_1")));
    }
    assert_eq!(world.facts(held.run.id, "late_report").await.len(), 2);
    assert_eq!(world.alerts().await, ["contrary_report", "contrary_report"]);
    world.verify(held.run.id).await;
}

#[tokio::test]
async fn an_inline_effect_of_a_dead_worker_at_an_advisory_provider_waits_for_a_person_who_lets_the_run_go_on() {
    let world = World::new();
    let (held, id) = inline(&world).await;
    world.clock.advance_ms(61_000);
    world.engine.sweep_tick().await.unwrap();
    let waiting = world.agg(held.run.id).await;
    assert_eq!((waiting.run.state.as_str(), waiting.run.state.reason()), ("awaiting_human", Some("unknown_effect")));

    world.resolve(id, Resolution::Happened { external_id: Some("re_1".into()) }).await.unwrap();
    let next = world.grant("k", "w2").await;

    assert_eq!(next.lease.fence, Fence(2).0);
    assert_eq!(next.run.effects[0].external_id.as_deref(), Some("re_1"), "the next owner sees what is known");
    let asked = Asked { effect_type: "note".into(), target: Some("c-1".into()), payload: "{}".into() };
    let begun = world.engine.begin(&world.call(&next, "begin", "b"), &asked).await.unwrap();
    assert!(!begun.answer.begun);
    world.engine.complete(&world.call(&next, "complete", "r"), "{}").await.unwrap();
    world.verify(held.run.id).await;
}

#[tokio::test]
async fn an_inline_effect_of_a_dead_worker_at_an_enforcing_provider_is_begun_again_under_the_same_key() {
    let world = World::with(keeps_keys());
    let (held, id) = inline(&world).await;
    world.clock.advance_ms(61_000);
    world.engine.sweep_tick().await.unwrap();
    let next = world.grant("k", "w2").await;
    let asked = Asked { effect_type: "note".into(), target: Some("c-1".into()), payload: "{}".into() };
    let begun = world.engine.begin(&world.call(&next, "begin", "b"), &asked).await.unwrap().answer;

    assert!(begun.begun);
    assert_eq!((begun.effect.id, begun.effect.attempts), (id, 2));
    let keys = world.facts(held.run.id, "effect_begun").await;
    assert!(keys.len() == 2 && keys[0]["provider_key"] == keys[1]["provider_key"]);
}

#[tokio::test]
async fn a_lookup_that_was_long_under_way_is_judged_by_when_it_was_asked() {
    let lookup = Lookup { settle_delay_ms: 120_000, authoritative: true, period_ms: 5_000 };
    let world = World::with(Options { lookup: Some(lookup), ..Options::default() });
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;

    // Asked six seconds after the attempt, while the provider's index lags; answered after the machine was suspended for
    // an hour.
    let clock = world.clock.clone();
    world.provider.during_the_next_look(move || clock.advance_ms(HOUR));
    world.clock.advance_ms(6_000);
    world.engine.sweep_tick().await.unwrap();

    assert_eq!(world.effect_state(held.run.id).await, "unknown", "absent then says nothing of now");
    assert_eq!(world.round().await, 0);
    assert_eq!(world.provider.executed(), 1);
}
