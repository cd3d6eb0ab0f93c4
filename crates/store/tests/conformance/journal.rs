//! The record: chains, their heads, and that they do not fork.

use std::sync::Arc;

use effectgate_core::{
    ids::{RunId, Tenant},
    journal::{self, ChainError},
    run::Aggregate,
};
use effectgate_store::{Commit, HouseCommit, Store, StoreError};

use super::{Bench, fixtures::*};

pub async fn a_chain_is_read_in_pages_and_verifies(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut agg = start(&store, reserved("k", now)).await;
    for _ in 0..5 {
        agg = commit(&store, touch(&agg.run, now)).await;
    }

    let whole = chain(&store, agg.run.id).await;

    assert_eq!(journal::verify(agg.run.id, &whole, agg.run.head), Ok(()));
    assert_eq!(store.journal_read(agg.run.id, 2, 3).await.unwrap(), whole[2..5]);
    assert!(store.journal_read(agg.run.id, 6, 3).await.unwrap().is_empty());
    assert!(store.journal_read(id("none"), 0, 3).await.unwrap().is_empty());
}

pub async fn heads_of_runs_and_houses_are_listed_together(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let other = Tenant::new("other");
    let mut wanted = vec![RunId::house(&tenant()), RunId::house(&other)];
    for tenant in [&tenant(), &other] {
        let write = house(tenant, store.house_head(tenant).await.unwrap(), now);
        assert!(matches!(store.house_commit(write).await.unwrap(), HouseCommit::Committed { .. }));
        for n in 0..4 {
            wanted.push(start(&store, reserved_in(tenant, &flow(), &format!("k{n}"), now)).await.run.id);
        }
    }
    wanted.sort();

    let mut found = Vec::new();
    while let Some(page) =
        Some(store.chain_heads(None, found.last().copied(), 3).await.unwrap()).filter(|p| !p.is_empty())
    {
        assert!(page.len() <= 3);
        found.extend(page.iter().map(|h| h.run));
    }

    assert_eq!(found, wanted);
    let of_other = store.chain_heads(Some(&other), None, 99).await.unwrap();
    assert_eq!(of_other.len(), 5);
    for head in of_other {
        assert_eq!(head.tenant, other);
        assert_eq!(journal::verify(head.run, &chain(&store, head.run).await, head.head), Ok(()));
    }
}

pub async fn hc_41_an_edited_row_is_named(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut agg = start(&store, reserved("k", now)).await;
    for _ in 0..3 {
        agg = commit(&store, touch(&agg.run, now)).await;
    }
    let verdict = async |agg: &Aggregate| journal::verify(agg.run.id, &chain(&store, agg.run.id).await, agg.run.head);
    assert_eq!(verdict(&agg).await, Ok(()));

    bench.sql("UPDATE journal SET entry = replace(entry, 'sweeper', 'sweeped') WHERE seq = 2").await;
    assert_eq!(verdict(&agg).await, Err(ChainError::Altered { run: agg.run.id, seq: 2 }));

    bench.sql("DELETE FROM journal WHERE seq = 2").await;
    assert_eq!(verdict(&agg).await, Err(ChainError::Gap { run: agg.run.id, wanted: 2, found: 3 }));
}

/// Writers that contend for few runs; some of what they try is refused and rolled back.
pub async fn hc_41_chains_do_not_fork_under_load(bench: &impl Bench) {
    const WRITERS: usize = 25;
    const ACTIONS: usize = 20;
    let (store, now) = (bench.store(), bench.now().await);
    for n in 0..5 {
        start(&store, reserved(&format!("k{n}"), now)).await;
    }
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for action in 0..ACTIONS {
                    act(&store, &format!("k{}", (writer + action) % 5), action % 4 == 0).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }

    let mut entries = 0;
    for n in 0..5 {
        let agg = store.run_load(&tenant(), id(&format!("k{n}"))).await.unwrap().unwrap();
        let whole = chain(&store, agg.run.id).await;
        assert_eq!(journal::verify(agg.run.id, &whole, agg.run.head), Ok(()));
        assert!(agg.effects.is_empty(), "a rolled-back action left an effect");
        entries += whole.len();
    }
    assert_eq!(entries, 5 + WRITERS * ACTIONS, "one entry for each action that was answered with success");
}

/// Adds an entry to a run, again and again until it is not lost; with `refused`, first tries what the schema refuses.
async fn act(store: &Arc<dyn Store>, key: &str, refused: bool) {
    loop {
        let run = store.run_load(&tenant(), id(key)).await.unwrap().unwrap().run;
        let now = run.updated_at;
        if refused {
            let mut bad = effect(run.id, 1, now);
            bad.decided = None;
            match store
                .commit(moved(&run, now, |d| {
                    d.effect(None, bad, None);
                }))
                .await
            {
                Err(StoreError::Rejected { .. }) | Ok(Commit::Lost) => {}
                other => panic!("{other:?}"),
            }
        }
        if store.commit(touch(&run, now)).await.unwrap() != Commit::Lost {
            return;
        }
    }
}
