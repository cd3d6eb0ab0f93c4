//! Intent before the first byte, honest outcomes, no blind second send (G8 to G10), and what is final stays (G12).

use effectgate_core::{
    gate::Gate,
    operate::{Asker, Resolution},
};
use effectgate_engine::EngineError;

use crate::common::{Answer, Options, World, enforcing};

#[tokio::test]
async fn g8_intent_first_the_attempt_is_on_the_disk_before_the_first_byte() {
    let world = World::new();
    world.provider.push(Answer::HoldBeforeWrite);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;

    let killed = world.killed();
    let attempts = killed.store.attempt_list(held.run.id).await.unwrap();
    assert_eq!((attempts.len(), world.provider.seen().len()), (1, 0));
    assert!(attempts[0].end.is_none());
    killed.pass(1, 61_000).await;

    assert_eq!(killed.effect_state(held.run.id).await, "review", "started without an end: unknown, never pending");
    assert!(killed.provider.seen().is_empty(), "and not sent by the process that found it");
    world.provider.release(1);
}

#[tokio::test]
async fn g9_honest_outcome_only_proof_and_definite_answers_settle() {
    let table = [
        (Answer::Ok, "completed"),
        (Answer::ConnectionRefused, "pending"),
        (Answer::Status(429, None), "pending"),
        (Answer::Status(503, Some("1".into())), "pending"),
        (Answer::Status(400, None), "failed"),
        (Answer::Status(401, None), "failed"),
        (Answer::Status(404, None), "failed"),
        (Answer::Status(422, None), "failed"),
        (Answer::Status(302, None), "failed"),
        (Answer::Status(408, None), "unknown"),
        (Answer::Status(409, None), "unknown"),
        (Answer::Status(500, None), "unknown"),
        (Answer::Status(502, None), "unknown"),
        (Answer::Status(503, None), "unknown"),
        (Answer::Status(504, None), "unknown"),
        (Answer::AcceptThenDrop, "unknown"),
        (Answer::OkWith(200, "<html>not JSON".into()), "unknown"),
        (Answer::PanicOnTheWire, "unknown"),
        (Answer::Panic, "pending"),
    ];
    for class in [effectgate_core::provider::Class::Advisory, enforcing()] {
        for (answer, state) in &table {
            let world = World::with(Options { class, ..Options::default() });
            world.provider.push(answer.clone());
            let held = world.queued("k", "c-1").await;
            world.round().await;
            assert_eq!(world.effect_state(held.run.id).await, *state, "{answer:?} at {}", class.as_str());
        }
    }
}

#[tokio::test]
async fn g10_no_blind_resend_at_an_advisory_provider_without_a_persons_word() {
    let world = World::new();
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(200, 600_000).await;
    assert_eq!(world.provider.seen().len(), 1);
    let id = world.agg(held.run.id).await.effects[0].id;

    let unnamed =
        world.engine.resolve(&world.caller.tenant, id, &crate::common::olga(), &Resolution::SendAgain, "  ").await;
    assert!(matches!(unnamed, Err(EngineError::ReasonRequired)));
    world.resolve(id, Resolution::SendAgain).await.unwrap();
    world.round().await;

    assert_eq!(world.provider.seen().len(), 2);
    let entries = world.store.journal_read(held.run.id, 0, 1_000).await.unwrap();
    let word = entries.iter().find(|e| e.kind == "effect_resolved").unwrap();
    assert!(word.text.contains(r#""actor":"user:olga""#), "{}", word.text);

    // The control: an enforcing provider, where the same key makes it safe.
    let control = World::with(Options { class: enforcing(), ..Options::default() });
    control.provider.push(Answer::AcceptThenDrop);
    control.queued("k", "c-1").await;
    control.round().await;
    control.pass(1, 60_000).await;
    assert_eq!(control.provider.seen().len(), 2);
}

#[tokio::test]
async fn g12_monotonic_what_is_final_stays_as_it_is_whatever_comes() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), ..Options::default() });
    let sent = world.queued("sent", "c-1").await;
    world.round().await;
    let refused = world.queued("refused", "c-1").await;
    let effect = world.agg(refused.run.id).await.effects[0].id;
    world
        .engine
        .cancel(&world.caller.tenant, effect, &Asker::operator(crate::common::olga()), "not wanted")
        .await
        .unwrap();
    let done = world.grant("done", "w").await;
    world.engine.complete(&world.call(&done, "complete", "1"), r#"{"n":1}"#).await.unwrap();
    for held in [&sent, &refused, &done] {
        let before = world.agg(held.run.id).await;
        assert!(before.run.state.is_final());

        let _ = world.engine.complete(&world.call(held, "complete", "2"), r#"{"n":2}"#).await.unwrap_err();
        let _ = world.engine.fail(&world.call(held, "fail", "2"), "worker_error", None).await.unwrap_err();
        for effect in &before.effects {
            let _ = world.resolve(effect.id, Resolution::SendAgain).await.unwrap_err();
            let _ = world.resolve(effect.id, Resolution::Cancel).await.unwrap_err();
        }
        let tenant = &world.caller.tenant;
        let _ = world.engine.close(tenant, held.run.id, &crate::common::olga(), "x").await.unwrap_err();
        world.pass(5, 600_000).await;

        assert_eq!(world.agg(held.run.id).await, before);
    }
}
