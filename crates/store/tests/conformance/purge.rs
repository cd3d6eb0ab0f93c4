//! Retention: what goes, what stays, and that nothing is disturbed by it.

use std::sync::Arc;

use effectgate_core::{
    digest::Digest, effect::EffectState, ids::RunId, journal, payload::PayloadHash, run::RunState, time::Timestamp,
    transition::StoredAnswer,
};
use effectgate_store::{Commit, Purged, Reserved, SessionRow, Store};

use super::{Bench, fixtures::*};

async fn there(store: &Arc<dyn Store>, key: &str) -> bool {
    store.run_load(&tenant(), id(key)).await.unwrap().is_some()
}

pub async fn only_final_runs_past_their_time_go(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    start(&store, queued("queued", now)).await;
    start(&store, reserved("processing", now)).await;
    awaiting(&store, reserved("awaiting", now), now, |_| {}).await;
    approved(&store, reserved("approved", now), 2, now, |_| {}).await;
    let sent = approved(&store, reserved("unknown", now), 1, now, |_| {}).await;
    commit(&store, with_state(&sent, 1, EffectState::Unknown { look_at: now }, now)).await;
    completed(&store, reserved("kept", now), 30, 90, now).await;
    completed(&store, reserved("gone", now), 30, 60, now).await;

    assert_eq!(store.run_purge(100).await.unwrap(), Purged::default());
    bench.advance(60 * DAY_MS).await;
    assert_eq!(store.run_purge(100).await.unwrap(), Purged { runs: 1, contents: 1 });

    for key in ["queued", "processing", "awaiting", "approved", "unknown", "kept"] {
        assert!(there(&store, key).await, "{key}");
    }
    assert!(!there(&store, "gone").await);
    assert_eq!(store.run_purge(100).await.unwrap(), Purged::default());
}

pub async fn a_purge_is_bounded(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for n in 0..5 {
        completed(&store, reserved(&format!("k{n}"), now), 1, 1, now).await;
    }
    bench.advance(2 * DAY_MS).await;

    let mut gone = 0;
    for wanted in [2, 2, 1, 0] {
        let purged = store.run_purge(2).await.unwrap();
        assert_eq!(purged.runs, wanted);
        gone += purged.runs;
    }
    assert_eq!(gone, 5);
}

/// A completed run with a row in every table that hangs on a run.
async fn full(store: &Arc<dyn Store>, key: &str, now: Timestamp) -> RunId {
    let agg = awaiting(store, reserved(key, now), now, |a| a.edits = vec![edit(a, now)]).await;
    let mut decided = agg.approvals[0].clone();
    (decided.state, decided.decided_at) = (effectgate_core::approval::ApprovalState::Approved, Some(now));
    let transition = moved(&agg.run, now, |draft| {
        draft.state(RunState::Approved);
        draft.effect(None, effect(agg.run.id, 1, now), None);
        let t = draft.transition_mut();
        t.tokens.push(token(decided.id, key, now));
        t.approvals.push(decided);
        t.answer = Some(StoredAnswer { call: Digest::of(b"c"), body: "{}".into() });
        t.notices.push(notice(3, "w", now));
    });
    let agg = commit(store, transition).await;
    let agg = commit(store, sending(&agg, 1, 1_000, now)).await;
    let mut done = with_state(&agg, 1, EffectState::Completed, now);
    done.run.state = RunState::Completed;
    done.retain(&effectgate_core::flow::Retention { content_days: 30, key_days: 90, journal_days: 730 });
    commit(store, done).await.run.id
}

pub async fn a_purged_runs_journal_stays_and_verifies(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let run = full(&store, "k", now).await;
    let before = chain(&store, run).await;
    bench.advance(90 * DAY_MS).await;

    assert_eq!(store.run_purge(9).await.unwrap().runs, 1);

    assert!(!there(&store, "k").await);
    assert!(store.attempt_list(run).await.unwrap().is_empty());
    assert_eq!(store.answer_find(run, &Digest::of(b"c")).await.unwrap(), None);
    assert_eq!(store.approval_by_token(&Digest::of(b"k")).await.unwrap(), None);
    assert!(store.notice_due(9).await.unwrap().is_empty());
    let after = chain(&store, run).await;
    assert_eq!(after[..before.len()], before);
    assert_eq!(after.last().unwrap().kind, "purged");
    let heads = store.chain_heads(Some(&tenant()), None, 9).await.unwrap();
    assert_eq!(heads.len(), 1);
    assert_eq!(journal::verify(run, &after, heads[0].head), Ok(()));
}

pub async fn a_purged_journal_goes_after_its_own_time(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let run = full(&store, "k", now).await;
    let write = house(&tenant(), store.house_head(&tenant()).await.unwrap(), now);
    store.house_commit(write).await.unwrap();
    bench.advance(90 * DAY_MS).await;
    store.run_purge(9).await.unwrap();

    bench.advance(729 * DAY_MS).await;
    store.run_purge(9).await.unwrap();
    assert!(!chain(&store, run).await.is_empty());
    bench.advance(2 * DAY_MS).await;
    store.run_purge(9).await.unwrap();

    assert!(chain(&store, run).await.is_empty());
    let heads = store.chain_heads(None, None, 9).await.unwrap();
    assert_eq!(heads.into_iter().map(|h| h.run).collect::<Vec<_>>(), [RunId::house(&tenant())], "a house stays");
}

pub async fn a_flow_says_how_long_its_journals_stay(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut runs = Vec::new();
    for (key, journal_days) in [("short", 10), ("long", 4_000)] {
        let agg = start(&store, reserved(key, now)).await;
        let mut ending = moved(&agg.run, now, |draft| {
            draft.state(RunState::Completed);
        });
        ending.retain(&effectgate_core::flow::Retention { content_days: 1, key_days: 2, journal_days });
        let agg = commit(&store, ending).await;
        // A later change that says nothing of it takes nothing back.
        runs.push(commit(&store, touch(&agg.run, now)).await.run.id);
    }
    bench.advance(2 * DAY_MS).await;
    assert_eq!(store.run_purge(9).await.unwrap().runs, 2);

    bench.advance(9 * DAY_MS).await;
    store.run_purge(9).await.unwrap();
    assert!(!chain(&store, runs[0]).await.is_empty());
    bench.advance(2 * DAY_MS).await;
    store.run_purge(9).await.unwrap();

    assert!(chain(&store, runs[0]).await.is_empty());
    bench.advance(3_000 * DAY_MS).await;
    store.run_purge(9).await.unwrap();
    assert!(!chain(&store, runs[1]).await.is_empty());
}

pub async fn a_key_used_again_goes_on_in_the_old_chain(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let run = full(&store, "k", now).await;
    bench.advance(90 * DAY_MS).await;
    store.run_purge(9).await.unwrap();
    let old = chain(&store, run).await;
    let now = bench.now().await;

    let agg = start(&store, reserved("k", now)).await;

    assert!(agg.lease.unwrap().is_live && agg.effects.is_empty() && agg.approvals.is_empty());
    let whole = chain(&store, run).await;
    assert_eq!((whole.len(), &whole[..old.len()]), (old.len() + 1, &old[..]));
    assert_eq!(journal::verify(run, &whole, agg.run.head), Ok(()));
    assert_eq!(store.chain_heads(None, None, 9).await.unwrap().len(), 1);
    assert_eq!(
        store.commit(touch(&reserved("k", now).run, now)).await.unwrap(),
        Commit::Lost,
        "not the head it thinks"
    );
    let agg = commit(&store, completing(&agg.run, 1, 1, now)).await;
    assert_eq!(journal::verify(run, &chain(&store, run).await, agg.run.head), Ok(()));
    bench.advance(2 * DAY_MS).await;
    assert_eq!(store.run_purge(9).await.unwrap().runs, 1);
    start(&store, reserved("k", bench.now().await)).await;
}

pub async fn content_goes_before_the_run_and_the_hashes_stay(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let run = full(&store, "k", now).await;
    let before = store.run_load(&tenant(), run).await.unwrap().unwrap();
    bench.advance(30 * DAY_MS).await;

    assert_eq!(store.run_purge(9).await.unwrap(), Purged { runs: 0, contents: 1 });
    assert_eq!(store.run_purge(9).await.unwrap(), Purged::default());

    let content = store.run_content(&tenant(), run).await.unwrap().unwrap();
    assert_eq!((content.payload, content.result), (None, None));
    let after = store.run_load(&tenant(), run).await.unwrap().unwrap();
    assert_eq!((after.run.state, after.run.version), (RunState::Completed, before.run.version));
    assert_eq!(after.run.payload_hash, before.run.payload_hash);
    assert_eq!((after.effects[0].payload.as_str(), after.effects[0].decided), ("", before.effects[0].decided));
    assert!(after.approvals[0].proposed.is_empty() && after.approvals[0].edits.is_empty());
    assert_eq!(before.approvals[0].edits.len(), 1);
    assert_eq!(after.approvals[0].effects_hash, before.approvals[0].effects_hash);
    assert_eq!(store.answer_find(run, &Digest::of(b"c")).await.unwrap(), None);
    let whole = chain(&store, run).await;
    assert_eq!(whole.last().unwrap().kind, "purged");
    assert_eq!(journal::verify(run, &whole, after.run.head), Ok(()));
}

pub async fn expired_sessions_go_with_the_purge(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for (word, days) in [("short", 1), ("long", 9)] {
        let session = SessionRow {
            hash: Digest::of(word.as_bytes()),
            tenant: tenant(),
            user: "ada".into(),
            data: "{}".into(),
            created_at: now,
            seen_at: now,
            expires_at: now.plus_ms(days * DAY_MS),
        };
        store.session_put(session).await.unwrap();
    }
    bench.advance(DAY_MS).await;

    store.run_purge(9).await.unwrap();

    assert_eq!(store.session_find(&Digest::of(b"short")).await.unwrap(), None);
    assert!(store.session_find(&Digest::of(b"long")).await.unwrap().is_some());
}

/// A run just past its retention, a purge in a tight loop, and two callers of which one has another payload.
pub async fn hc_40_a_purge_and_reservations_do_not_disturb_each_other(bench: &impl Bench) {
    let store = bench.store();
    let purging = Arc::clone(&store);
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let purge = tokio::spawn(async move {
        while stopped.try_recv() == Err(tokio::sync::oneshot::error::TryRecvError::Empty) {
            purging.run_purge(10).await.unwrap();
        }
    });
    for round in 0..200 {
        let now = bench.now().await;
        let key = format!("k{}", round % 3);
        if !there(&store, &key).await {
            // Two callers may still hold it from an earlier round: then it is simply there.
            store.run_reserve(reserved(&key, now)).await.unwrap();
        }
        if let Some(agg) = store.run_load(&tenant(), id(&key)).await.unwrap() {
            // Its retention is over at once.
            store.commit(completing(&agg.run, 0, 0, now.plus_ms(-1))).await.unwrap();
        }
        let tries: Vec<_> = [7, 8]
            .map(|payload| {
                let (store, mut new) = (Arc::clone(&store), reserved(&key, now));
                (new.run.payload_hash, new.run.owner) =
                    (PayloadHash::from_bytes([payload; 32]), Some(owner(payload.into())));
                tokio::spawn(async move { store.run_reserve(new).await.unwrap() })
            })
            .into_iter()
            .collect();
        let mut created = 0;
        for task in tries {
            match task.await.unwrap() {
                Reserved::Created { lease } => created += i32::from(lease.is_some_and(|l| l.is_live)),
                Reserved::Exists { run, .. } => assert_eq!(run.id, id(&key)),
            }
        }
        assert!(created <= 1, "round {round}: two owners at once");
    }
    stop.send(()).unwrap();
    purge.await.unwrap();
    for head in store.chain_heads(None, None, 99).await.unwrap() {
        assert_eq!(journal::verify(head.run, &chain(&store, head.run).await, head.head), Ok(()));
    }
}
