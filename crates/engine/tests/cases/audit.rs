//! The record: one line per run under load, an edit is named, and no writer is turned away by another.

use effectgate_core::{
    approval::Verdict,
    gate::Gate,
    journal::{self, ChainError},
};
use effectgate_engine::reserve::Reserved;
use futures_util::future::join_all;

use crate::common::{Answer, Options, PAYLOAD, World, lead, request};

/// One writer's round with a key of its own: reserve, a duplicate, a conflict, a proposal, a decision and a refused one.
async fn story(world: &World, engine: &effectgate_engine::Engine, key: &str) {
    let held = match engine.reserve(&world.caller, request(key, PAYLOAD, "w")).await.unwrap() {
        Reserved::Granted { run, lease, .. } => crate::common::Held { run: *run, lease },
        other => panic!("{other:?}"),
    };
    let other = engine.reserve(&world.caller, request(key, "{}", "x")).await.unwrap();
    assert!(matches!(other, Reserved::Conflict { .. }));
    let call = world.call(&held, "proposal", "p");
    engine.propose(&call, &crate::common::asked(&[("note", key, "{}")])).await.unwrap();
    let (anna, bo) = (lead("anna"), lead("bo"));
    let _ = tokio::join!(
        world.decide(held.run.id, &anna, Verdict::Approve),
        world.decide(held.run.id, &bo, Verdict::Reject)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_41_fifty_writers_leave_chains_that_verify() {
    let world = World::with(Options { gate: Gate::Approve, batch: 500, ..Options::default() });
    let other = world.another_engine();
    world.raw().execute_batch(
        "CREATE TRIGGER broken BEFORE INSERT ON effects WHEN new.target LIKE '%-7' BEGIN SELECT RAISE(ABORT, 'no'); END",
    ).unwrap();
    let writers = (0..50).map(|w| {
        let (world, engine) = (&world, if w % 2 == 0 { &world.engine } else { &other });
        async move {
            for n in 0..20 {
                story(world, engine, &format!("{w}-{n}")).await;
                // All of them also write to one shared run: every one of these is a refused try or a duplicate.
                engine.reserve(&world.caller, request("shared", &format!("[{w},{n}]"), "w")).await.unwrap();
            }
        }
    });

    join_all(writers).await;
    while world.round().await > 0 {}

    assert_eq!(world.verify_all().await, 50 * 20 + 1);
    let (mut entries, mut decided) = (0, 0);
    for head in world.store.chain_heads(None, None, 5_000).await.unwrap() {
        let kinds = world.kinds(head.run).await;
        let agg = world.agg(head.run).await;
        let of = |kind: &str| kinds.iter().filter(|k| *k == kind).count();
        entries += kinds.len();
        decided += of("decided");
        // What was rolled back left no "done" behind it.
        assert_eq!(of("effect_queued"), agg.effects.len(), "{kinds:?}");
        assert_eq!(of("decided"), agg.approvals.iter().flat_map(|a| &a.decisions).count());
        assert!(of("conflict") >= 1, "a refused try is on record: {kinds:?}");
    }
    assert!(entries >= 5_000 && decided >= 900, "{entries} entries, {decided} decisions");
}

#[tokio::test]
async fn hc_41_one_edited_byte_is_named_by_its_row() {
    let world = World::new();
    let held = world.queued("k", "c-1").await;
    world.round().await;
    let id = held.run.id;
    world.verify(id).await;
    let raw = world.raw();

    raw.execute(
        "UPDATE journal SET entry = replace(entry, 'worker-1', 'worker-2') WHERE run_id = ?1 AND seq = 2",
        [id.as_bytes()],
    )
    .unwrap();

    let agg = world.agg(id).await;
    let entries = world.store.journal_read(id, 0, 1_000).await.unwrap();
    assert_eq!(journal::verify(id, &entries, agg.run.head), Err(ChainError::Altered { run: id, seq: 2 }));

    raw.execute("DELETE FROM journal WHERE run_id = ?1 AND seq = 2", [id.as_bytes()]).unwrap();
    let entries = world.store.journal_read(id, 0, 1_000).await.unwrap();
    assert_eq!(journal::verify(id, &entries, agg.run.head), Err(ChainError::Gap { run: id, wanted: 2, found: 3 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_42_twenty_clients_at_once_see_no_lock() {
    let world = World::with(Options { gate: Gate::Approve, ..Options::default() });
    let clients = (0..20).map(|c| {
        let world = &world;
        async move {
            for n in 0..25 {
                // Every key is wanted by two clients.
                let key = format!("{}-{n}", c / 2);
                let owner = format!("o{c}");
                let answer = world.engine.reserve(&world.caller, request(&key, PAYLOAD, &owner)).await.unwrap();
                if let Reserved::Granted { run, lease, .. } = answer {
                    let held = crate::common::Held { run: *run, lease };
                    let owner = effectgate_core::ids::Owner::new(owner);
                    let fence = effectgate_core::ids::Fence(held.lease.fence);
                    world.engine.renew(&world.caller.tenant, held.run.id, &owner, fence, None).await.unwrap();
                    world.propose(&held, &[("note", "c-1", "{}")]).await;
                    let (anna, bo) = (lead("anna"), lead("bo"));
                    let both = tokio::join!(
                        world.decide(held.run.id, &anna, Verdict::Approve),
                        world.decide(held.run.id, &bo, Verdict::Reject)
                    );
                    assert!(both.0.is_ok() != both.1.is_ok(), "{both:?}");
                }
                world.engine.sweep_tick().await.unwrap();
                world.engine.dispatch_tick().await.unwrap();
            }
        }
    });

    join_all(clients).await;
    while world.round().await > 0 {}

    let mut approved = 0;
    for head in world.store.chain_heads(None, None, 5_000).await.unwrap() {
        let agg = world.agg(head.run).await;
        assert!(agg.run.state.is_final(), "{:?}", agg.run.state);
        approved += agg.effects.len();
    }
    assert_eq!(world.verify_all().await, 10 * 25);
    assert_eq!(world.provider.executed(), approved);
}

#[tokio::test]
async fn an_attempt_without_an_end_is_on_record_as_one() {
    let mut world = World::new();
    world.provider.push(Answer::DieBeforeWrite);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;
    world.restart();
    world.pass(1, 61_000).await;

    let kinds = world.kinds(held.run.id).await;
    assert!(kinds.ends_with(&["attempt_started".into(), "attempt_lost".into(), "looked".into()]), "{kinds:?}");
    assert!(world.store.attempt_list(held.run.id).await.unwrap()[0].end.is_none());
    assert_eq!(world.effect_state(held.run.id).await, "review", "nobody can know that nothing left");
}
