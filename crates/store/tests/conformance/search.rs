//! The journal searched, and runs found by their key alone.

use std::sync::Arc;

use effectgate_core::{
    actor::{Actor, Subject},
    facts,
    ids::{FlowName, RunId, Tenant},
    journal::EntryKind,
    time::Timestamp,
};
use effectgate_store::{HouseCommit, JOURNAL_SEARCHED_MAX, JournalFilter, RunFilter, Store, StoreError};

use super::{Bench, fixtures::*};

/// Kinds and numbers of what is found, page by page.
async fn search(store: &Arc<dyn Store>, filter: &JournalFilter) -> Vec<(RunId, i64, String)> {
    let mut filter = filter.clone();
    let mut found = Vec::new();
    loop {
        let page = store.journal_search(&tenant(), &filter).await.unwrap();
        assert!(page.items.len() <= filter.limit as usize);
        found.extend(page.items.into_iter().map(|e| (e.run, e.seq, e.kind)));
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => return found,
        }
    }
}

fn all(limit: u32) -> JournalFilter {
    JournalFilter { limit, ..JournalFilter::default() }
}

/// Three runs and a house, an entry a second; another tenant beside them.
async fn fill(store: &Arc<dyn Store>, now: Timestamp) -> Vec<(RunId, i64, String)> {
    let mut wanted = Vec::new();
    let mut runs = Vec::new();
    for (n, key) in ["a", "b", "c"].into_iter().enumerate() {
        let agg = start(store, reserved(key, now.plus_ms(n as i64 * 1_000))).await;
        wanted.push((agg.run.id, 1, "reserved".to_owned()));
        runs.push(agg.run);
    }
    start(store, reserved_in(&Tenant::new("other"), &flow(), "a", now.plus_ms(3_000))).await;
    for (n, run) in runs.iter().enumerate() {
        let at = now.plus_ms(4_000 + n as i64 * 1_000);
        let mut draft = effectgate_core::transition::Draft::on(run, at);
        draft.entry(EntryKind::Decided, &Actor::Person(Subject::user(["ada", "bo", "a\"b"][n])), facts! { "n" => 1 });
        commit(store, draft.noted()).await;
        wanted.push((run.id, 2, "decided".to_owned()));
    }
    let head = store.house_head(&tenant()).await.unwrap();
    let turned = store.house_commit(house(&tenant(), head, now.plus_ms(9_000))).await.unwrap();
    assert!(matches!(turned, HouseCommit::Committed { .. }));
    wanted.push((RunId::house(&tenant()), 1, "switch_turned".to_owned()));
    wanted.reverse();
    wanted
}

pub async fn a_tenants_entries_are_found_newest_first(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let wanted = fill(&store, now).await;

    for limit in [1, 2, 6, 7, 200] {
        assert_eq!(search(&store, &all(limit)).await, wanted, "by {limit}");
    }
}

pub async fn a_search_demands_everything_that_is_given(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let wanted = fill(&store, now).await;
    let kept = |keep: &[usize]| keep.iter().map(|at| wanted[*at].clone()).collect::<Vec<_>>();
    let cases: Vec<(JournalFilter, Vec<usize>)> = vec![
        (JournalFilter { kind: Some("decided".into()), ..all(2) }, vec![1, 2, 3]),
        (JournalFilter { actor: Some("user:bo".into()), ..all(2) }, vec![2]),
        (JournalFilter { actor: Some("user:b".into()), ..all(2) }, vec![]),
        (JournalFilter { actor: Some("user:a\"b".into()), ..all(2) }, vec![1]),
        (JournalFilter { actor: Some("user:ada".into()), kind: Some("reserved".into()), ..all(2) }, vec![]),
        (JournalFilter { run: Some(id("b")), ..all(1) }, vec![2, 5]),
        (JournalFilter { run: Some(id("b")), kind: Some("reserved".into()), ..all(1) }, vec![5]),
        (JournalFilter { run: Some(RunId::house(&tenant())), ..all(1) }, vec![0]),
        (JournalFilter { run: Some(RunId::derive(&Tenant::new("other"), &flow(), "a")), ..all(1) }, vec![]),
        (JournalFilter { run: Some(id("none")), ..all(1) }, vec![]),
        (JournalFilter { since: Some(now.plus_ms(5_000)), ..all(2) }, vec![0, 1, 2]),
        (JournalFilter { until: Some(now.plus_ms(5_000)), ..all(2) }, vec![3, 4, 5, 6]),
        (JournalFilter { since: Some(now.plus_ms(1_000)), until: Some(now.plus_ms(5_000)), ..all(1) }, vec![3, 4, 5]),
        (JournalFilter { since: Some(now.plus_ms(99_000)), ..all(1) }, vec![]),
    ];
    for (filter, keep) in cases {
        assert_eq!(search(&store, &filter).await, kept(&keep), "{filter:?}");
    }
    for cursor in ["", "x", "1.2", "9.run_x.1"] {
        let refused = store.journal_search(&tenant(), &JournalFilter { cursor: Some(cursor.into()), ..all(1) }).await;
        assert!(matches!(refused, Err(StoreError::BadCursor)), "{cursor}");
    }
}

/// Copies an entry so often that a page cannot look at all: nothing is left out, and what is wanted stands behind it.
pub async fn a_search_goes_on_behind_what_a_page_looks_at(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let wanted = fill(&store, now).await;
    let copies = JOURNAL_SEARCHED_MAX + 5;
    let later = now.plus_ms(9_500).micros();
    bench
        .sql(&format!(
            "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {copies})
             INSERT INTO journal (run_id, seq, at, kind, entry, hash)
             SELECT j.run_id, c.n + 10, {later} + c.n, 'looked', '{{}}', j.hash FROM c,
               (SELECT * FROM journal WHERE kind = 'switch_turned') j"
        ))
        .await;
    let decided = JournalFilter { kind: Some("decided".into()), ..all(50) };

    let first = store.journal_search(&tenant(), &decided).await.unwrap();
    assert!(first.items.is_empty() && first.next.is_some());
    assert_eq!(search(&store, &decided).await, wanted[1..4]);

    let chain = JournalFilter { run: Some(RunId::house(&tenant())), kind: Some("switch_turned".into()), ..all(50) };
    assert!(store.journal_search(&tenant(), &chain).await.unwrap().items.is_empty());
    assert_eq!(search(&store, &chain).await, wanted[..1]);
    // A stretch of time far behind is found without looking at what came after it.
    let old = JournalFilter { until: Some(now.plus_ms(5_000)), ..all(50) };
    bench.sql("UPDATE journal SET at = at + 90000000000 WHERE kind = 'looked'").await;
    assert_eq!(store.journal_search(&tenant(), &old).await.unwrap().items.len(), 4);
}

pub async fn a_key_is_found_in_every_flow_it_was_used_in(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for (n, flow) in ["refund", "reply", "note"].into_iter().enumerate() {
        start(&store, reserved_in(&tenant(), &FlowName::new(flow), "k", now.plus_ms(n as i64))).await;
        start(&store, queued_in(&tenant(), &FlowName::new(flow), "other", now)).await;
    }
    start(&store, reserved_in(&Tenant::new("other"), &FlowName::new("theirs"), "k", now)).await;
    let find = async |filter: RunFilter| {
        let page = store.run_find(&tenant(), &filter).await.unwrap();
        assert_eq!(page.next, None);
        page.items.into_iter().map(|run| run.flow.as_str().to_owned()).collect::<Vec<_>>()
    };
    let key = RunFilter { key: Some("k".into()), limit: 9, ..RunFilter::default() };

    assert_eq!(find(key.clone()).await, ["note", "reply", "refund"]);
    assert_eq!(find(RunFilter { state: Some("queued".into()), ..key.clone() }).await, Vec::<String>::new());
    assert_eq!(find(RunFilter { since: Some(now.plus_ms(1)), ..key.clone() }).await, ["note", "reply"]);
    assert_eq!(find(RunFilter { flow: Some(FlowName::new("reply")), ..key.clone() }).await, ["reply"]);
    assert_eq!(find(RunFilter { key: Some("K".into()), ..key }).await, Vec::<String>::new());
}
