//! One payload for a key, and no second start (G3, G4).

use effectgate_core::gate::Gate;
use effectgate_engine::reserve::Reserved;

use super::in_every_state;
use crate::common::{Options, PAYLOAD, World};

#[tokio::test]
async fn g3_one_payload_another_is_a_conflict_in_every_state_recorded_told_and_never_merged() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), ..Options::default() });
    let runs = in_every_state(&world).await;
    for (word, held) in &runs {
        let before = world.agg(held.run.id).await;
        let content = world.store.run_content(&world.caller.tenant, held.run.id).await.unwrap();

        let answer = world.reserve(word, r#"{"another":1}"#, "x").await;

        assert!(matches!(answer, Reserved::Conflict { .. }), "{word}: {answer:?}");
        let after = world.agg(held.run.id).await;
        assert_eq!((&after.run.state, after.run.version), (&before.run.state, before.run.version), "{word}");
        assert_eq!(after.run.payload_hash, before.run.payload_hash);
        assert_eq!(world.store.run_content(&world.caller.tenant, held.run.id).await.unwrap(), content);
        assert_eq!(world.facts(held.run.id, "conflict").await.len(), 1, "{word}");
    }
    let conflicts = world.alerts().await.into_iter().filter(|a| a == "conflict").count();
    assert_eq!(conflicts, runs.len());
}

#[tokio::test]
async fn g4_no_restart_of_what_is_decided_waiting_or_over() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), ..Options::default() });
    for (word, held) in in_every_state(&world).await {
        world.clock.advance_ms(61_000);
        let answer = world.reserve(word, PAYLOAD, "another").await;
        let starts = matches!(word, "processing" | "failed_retryable");
        assert_eq!(matches!(answer, Reserved::Granted { .. }), starts, "{word}: {answer:?}");
        if !starts {
            assert!(matches!(&answer, Reserved::Replay { run } if run.state == word && run.id == held.run.id));
            assert_eq!(world.agg(held.run.id).await.run.attempts, 1);
        }
    }
    let flow = effectgate_core::ids::FlowName::new("ticket");
    world.clock.advance_ms(61_000);
    while let Some(Reserved::Granted { run, .. }) =
        world.engine.claim(&world.caller, &flow, Some("poll"), None).await.unwrap()
    {
        assert!(matches!(run.key.as_str(), "processing" | "failed_retryable"), "{}", run.key);
    }
}
