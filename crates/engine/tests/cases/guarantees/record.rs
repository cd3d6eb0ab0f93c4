//! The whole record, and what was answered is on the disk (G13, G14).

use effectgate_core::{approval::Verdict, gate::Gate, switch::Scope};
use effectgate_engine::{propose::Proposal, reserve::Reserved};

use super::{asks, in_every_state};
use crate::common::{Answer, Options, PAYLOAD, World, enforcing, lead};

#[tokio::test]
async fn g13_whole_record_every_change_of_a_run_has_its_entry() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), class: enforcing(), ..Options::default() });
    world.provider.push(Answer::AcceptThenDrop);
    let runs = in_every_state(&world).await;
    world.round().await;
    world.pass(2, 60_000).await;
    world.decide(world.id_of("awaiting_human"), &lead("anna"), Verdict::Approve).await.unwrap();
    world.round().await;

    for (word, held) in runs {
        let agg = world.agg(held.run.id).await;
        world.verify(held.run.id).await;
        assert!(agg.run.head.seq >= agg.run.version, "{word}: a version without an entry");
    }
    // The control: a row that moved without an entry is found.
    world.raw().execute("UPDATE runs SET journal_seq = journal_seq + 1 WHERE key = 'completed'", []).unwrap();
    let agg = world.agg(world.id_of("completed")).await;
    let entries = world.store.journal_read(agg.run.id, 0, 100).await.unwrap();
    assert!(effectgate_core::journal::verify(agg.run.id, &entries, agg.run.head).is_err());
}

#[tokio::test]
async fn g13_whole_record_erasing_content_leaves_a_chain_that_verifies_and_no_content() {
    let world = World::new();
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", r#"{"text":"Dear Ms Berg"}"#)]).await;
    world.round().await;
    world.clock.advance_ms(31 * 24 * crate::common::HOUR);
    world.engine.sweep_tick().await.unwrap();

    world.verify(held.run.id).await;
    assert_eq!(world.kinds(held.run.id).await.last().map(String::as_str), Some("purged"));
    let agg = world.agg(held.run.id).await;
    assert_eq!((agg.run.state.as_str(), agg.effects[0].payload.as_str()), ("completed", ""));
    assert!(matches!(world.reserve("k", PAYLOAD, "w").await, Reserved::Replay { .. }), "the key still stands");
}

#[tokio::test]
async fn g14_durable_ack_what_was_answered_is_there_after_a_kill() {
    let world = World::with(asks());
    let reserved = world.grant("reserved", "w").await;
    assert_eq!(world.killed().agg(reserved.run.id).await.run.state.as_str(), "processing");
    let asking = world.grant("asking", "w").await;
    let answer = world.propose(&asking, &[("note", "c-1", "{}")]).await;
    assert!(matches!(answer, Proposal::Waiting { .. }));
    assert_eq!(world.killed().agg(asking.run.id).await.run.state.as_str(), "awaiting_human");
    world.decide(asking.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    let killed = world.killed();
    assert_eq!(killed.effect_state(asking.run.id).await, "pending");
    world.engine.complete(&world.call(&reserved, "complete", "r"), r#"{"crm_id":"N-1"}"#).await.unwrap();

    let killed = world.killed();
    let replayed = killed.reserve("reserved", PAYLOAD, "w2").await;
    let Reserved::Replay { run } = replayed else { panic!("{replayed:?}") };
    assert_eq!(run.result.unwrap().get(), r#"{"crm_id":"N-1"}"#);
    killed.verify_all().await;
    killed.round().await;
    assert_eq!(killed.effect_state(asking.run.id).await, "completed");
}

#[tokio::test]
async fn g14_durable_ack_a_store_that_is_dropped_without_being_closed_has_everything() {
    let mut world = World::new();
    let held = world.queued("k", "c-1").await;
    world.turn(Scope::Provider, "crm", false).await;

    world.reopen();

    assert_eq!(world.effect_state(held.run.id).await, "pending");
    assert_eq!(world.round().await, 0, "the switch is as it was turned");
    world.turn(Scope::Provider, "crm", true).await;
    world.round().await;
    assert_eq!(world.effect_state(held.run.id).await, "completed");
}
