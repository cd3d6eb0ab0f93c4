//! Corrections (SPEC section 12; HC-46): what has ended is never sent again; a new event with its own key from upstream
//! is linked to it, and its worker is shown what the original had done.

use effectgate_core::{
    gate::Gate,
    ids::{EffectId, FlowName, RunId},
    operate::Resolution,
};
use effectgate_engine::{
    EngineError,
    correct::{CorrectRequest, Corrected},
    reserve::{KeyGiven, Reserved},
};

use crate::common::{Answer, Options, PAYLOAD, World, olga};

fn wish(key: &str) -> CorrectRequest {
    CorrectRequest {
        flow: None,
        key: KeyGiven::Whole(key.into()),
        payload: PAYLOAD.into(),
        reason: "the note named the wrong order".into(),
        trigger: None,
    }
}

async fn correct(world: &World, run: RunId, wish: CorrectRequest) -> effectgate_engine::Result<Corrected> {
    world.engine.correct(&world.caller.tenant, &olga(), run, wish).await
}

/// A run whose note was sent.
async fn completed(world: &World, key: &str) -> RunId {
    let held = world.queued(key, "c-1").await;
    world.round().await;
    assert_eq!(world.agg(held.run.id).await.run.state.as_str(), "completed");
    held.run.id
}

#[tokio::test]
async fn hc_46_what_has_ended_is_refused_with_the_way_to_go_and_the_way_is_a_correction() {
    let world = World::new();
    world.provider.push(Answer::Status(422, None));
    let failed = world.queued("comment-1", "c-1").await.run.id;
    world.round().await;
    let done = completed(&world, "comment-2").await;
    let sent = world.provider.seen().len();

    for (run, state) in [(failed, "failed"), (done, "completed")] {
        let refused = world.resolve(EffectId { run, n: 1 }, Resolution::SendAgain).await;
        let Err(EngineError::WrongState { state: said, next: Some(next), .. }) = refused else { panic!("{refused:?}") };
        assert!(said == state && next.contains("/correct"), "{said}: {next}");
    }
    let made = correct(&world, done, wish("comment-9")).await.unwrap();

    let Corrected::Queued { run } = made else { panic!("{made:?}") };
    assert_eq!((run.state.as_str(), run.corrects), ("queued", Some(done)));
    world.round().await;
    assert_eq!(world.provider.seen().len(), sent, "nothing of the original is sent again");
}

#[tokio::test]
async fn a_corrections_worker_is_shown_what_the_original_had_done_and_the_records_are_linked() {
    let world = World::new();
    let original = completed(&world, "comment-1").await;
    let before = world.agg(original).await;
    let external_id = before.effects[0].external_id.clone();
    correct(&world, original, wish("comment-9")).await.unwrap();

    let claimed = world.engine.claim(&world.caller, &FlowName::new("ticket"), Some("w2"), None).await.unwrap();

    let Some(Reserved::Granted { run, .. }) = claimed else { panic!("{claimed:?}") };
    let shown = run.original.as_ref().unwrap();
    assert_eq!((shown.run_id, shown.key.as_str(), shown.state.as_str()), (original, "comment-1", "completed"));
    assert_eq!((shown.results.len(), &shown.results[0].external_id), (1, &external_id));
    assert_eq!(shown.reason, "the note named the wrong order");
    let accepted = &world.facts(run.id, "accepted").await[0];
    assert_eq!(accepted["corrects"], original.to_string());
    let corrected = &world.facts(original, "corrected").await[0];
    assert_eq!(corrected["by"], run.id.to_string());
    let after = world.agg(original).await;
    assert_eq!(
        (after.run.state, after.run.version, after.effects),
        (before.run.state, before.run.version, before.effects)
    );
    let listed = world.engine.corrections(&world.caller.tenant, original).await.unwrap();
    assert_eq!(listed.iter().map(|c| (c.run_id, c.by.as_str())).collect::<Vec<_>>(), [(run.id, "user:olga")]);
    world.verify_all().await;
}

#[tokio::test]
async fn a_correction_goes_through_its_own_gate_with_its_own_provider_key() {
    let world = World::with(Options { gate: Gate::Approve, ..Options::default() });
    let held = world.grant("comment-1", "w").await;
    world.engine.complete(&world.call(&held, "complete", "x"), "{}").await.unwrap();
    correct(&world, held.run.id, wish("comment-9")).await.unwrap();
    let claimed = world.engine.claim(&world.caller, &FlowName::new("ticket"), Some("w2"), None).await.unwrap();
    let Some(Reserved::Granted { run, lease, .. }) = claimed else { panic!("{claimed:?}") };

    let held = crate::common::Held { run: *run, lease };
    world.propose(&held, &[("note", "c-1", "{}")]).await;

    let agg = world.agg(held.run.id).await;
    assert_eq!(agg.run.state.as_str(), "awaiting_human");
    world.round().await;
    assert!(world.provider.seen().is_empty());
}

#[tokio::test]
async fn the_same_correction_twice_is_one_run_and_another_payload_is_a_conflict() {
    let world = World::new();
    let original = completed(&world, "comment-1").await;
    let first = correct(&world, original, wish("comment-9")).await.unwrap();
    let Corrected::Queued { run } = first else { panic!("{first:?}") };

    let again = correct(&world, original, wish("comment-9")).await.unwrap();
    let other = correct(&world, original, CorrectRequest { payload: "{}".into(), ..wish("comment-9") }).await.unwrap();

    assert!(matches!(again, Corrected::Repeated { run: found } if found.id == run.id));
    assert!(matches!(other, Corrected::Conflict { .. }));
    assert_eq!(world.facts(original, "corrected").await.len(), 1);
    assert_eq!(world.facts(run.id, "conflict").await.len(), 1);
}

#[tokio::test]
async fn a_key_made_from_the_old_one_or_taken_by_another_run_is_refused() {
    let world = World::new();
    let original = completed(&world, "comment-1").await;
    world.grant("comment-7", "w").await;
    for key in ["comment-1", "Comment 1", "comment-1-2", "comment-1:retry", "re:comment-1"] {
        let refused = correct(&world, original, wish(key)).await;
        assert!(matches!(refused, Err(EngineError::CorrectionKey { run: None, .. })), "{key}: {refused:?}");
    }
    let taken = correct(&world, original, wish("comment-7")).await;
    assert!(matches!(taken, Err(EngineError::CorrectionKey { run: Some(_), .. })), "{taken:?}");

    // Nor does a correction of a correction go back to the first one's key.
    let made = correct(&world, original, wish("comment-9")).await.unwrap();
    let Corrected::Queued { run } = made else { panic!("{made:?}") };
    let claimed = world.engine.claim(&world.caller, &FlowName::new("ticket"), Some("w2"), None).await.unwrap();
    let Some(Reserved::Granted { lease, .. }) = claimed else { panic!("{claimed:?}") };
    let held = crate::common::Held { run: *run, lease };
    world.engine.complete(&world.call(&held, "complete", "y"), "{}").await.unwrap();
    let refused = correct(&world, held.run.id, wish("comment-1-again")).await;
    assert!(matches!(refused, Err(EngineError::CorrectionKey { run: None, .. })), "{refused:?}");
}

#[tokio::test]
async fn what_has_not_ended_is_recovered_or_settled_and_not_corrected() {
    let world = World::new();
    let held = world.grant("comment-1", "w").await;

    let refused = correct(&world, held.run.id, wish("comment-9")).await;

    let Err(EngineError::WrongState { state, next: Some(next), .. }) = refused else { panic!("{refused:?}") };
    assert!(state == "processing" && next.contains("/v1/replays"), "{next}");
    assert!(world.store.run_corrections(&world.caller.tenant, held.run.id, 9).await.unwrap().is_empty());
}
