//! Reads of runs: lists, queues, what time has overtaken.

use std::sync::Arc;

use effectgate_core::{
    ids::{FlowName, RunId, SourceName, Tenant},
    run::{AwaitReason, RunState},
    time::Timestamp,
};
use effectgate_store::{NewRun, RunFilter, RunOverdue, RunRef, Store, StoreError};

use super::{Bench, fixtures::*};

pub async fn load_reads_children_in_the_order_of_their_numbers(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = start(&store, reserved("k", now)).await;
    let transition = moved(&agg.run, now, |draft| {
        for n in [12, 2, 1] {
            draft.effect(None, effect(agg.run.id, n, now), None);
        }
    });

    let agg = commit(&store, transition).await;

    assert_eq!(agg.effects.iter().map(|e| e.id.n).collect::<Vec<_>>(), [1, 2, 12]);
}

async fn all_keys(store: &Arc<dyn Store>, filter: RunFilter) -> Vec<String> {
    let mut filter = filter;
    let mut keys = Vec::new();
    loop {
        let page = store.run_find(&tenant(), &filter).await.unwrap();
        assert!(page.items.len() <= filter.limit as usize);
        keys.extend(page.items.into_iter().map(|run| run.key));
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => return keys,
        }
    }
}

pub async fn find_pages_through_every_run_newest_first(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for n in 0..7 {
        start(&store, reserved(&format!("k{n}"), now.plus_ms(n))).await;
        start(&store, reserved_in(&Tenant::new("other"), &flow(), &format!("k{n}"), now.plus_ms(n))).await;
    }

    let keys = all_keys(&store, RunFilter { limit: 3, ..RunFilter::default() }).await;

    assert_eq!(keys, ["k6", "k5", "k4", "k3", "k2", "k1", "k0"]);
    let seven = all_keys(&store, RunFilter { limit: 7, ..RunFilter::default() }).await;
    assert_eq!(seven, keys);
}

pub async fn find_demands_everything_that_is_given(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    start(&store, reserved("a", now)).await;
    start(&store, queued("b", now.plus_ms(1_000))).await;
    start(&store, queued_in(&tenant(), &FlowName::new("refund"), "b", now.plus_ms(2_000))).await;
    let base = RunFilter { limit: 9, ..RunFilter::default() };
    let key = |k: &str| Some(k.to_owned());
    let state = |s: &str| Some(s.to_owned());
    let table: Vec<(RunFilter, &[&str])> = vec![
        (base.clone(), &["b", "b", "a"]),
        (RunFilter { flow: Some(flow()), ..base.clone() }, &["b", "a"]),
        (RunFilter { key: key("b"), ..base.clone() }, &["b", "b"]),
        (RunFilter { key: key("b"), flow: Some(flow()), ..base.clone() }, &["b"]),
        (RunFilter { key: key("zz"), flow: Some(flow()), ..base.clone() }, &[]),
        (RunFilter { key: key("b"), flow: Some(flow()), state: state("processing"), ..base.clone() }, &[]),
        (RunFilter { state: state("processing"), ..base.clone() }, &["a"]),
        (RunFilter { since: Some(now.plus_ms(1_000)), ..base.clone() }, &["b", "b"]),
        (RunFilter { until: Some(now.plus_ms(1_000)), ..base.clone() }, &["a"]),
        (RunFilter { until: Some(now), flow: Some(flow()), key: key("a"), ..base.clone() }, &[]),
    ];

    for (filter, wanted) in table {
        assert_eq!(all_keys(&store, filter.clone()).await, wanted, "{filter:?}");
    }
}

pub async fn a_cursor_of_another_list_is_refused(bench: &impl Bench) {
    let store = bench.store();
    let filter = RunFilter { cursor: Some("no cursor".into()), limit: 9, ..RunFilter::default() };

    let refused = store.run_find(&tenant(), &filter).await;

    assert!(matches!(refused, Err(StoreError::BadCursor)), "{refused:?}");
}

/// Takes a reserved run to failed_retryable.
async fn retry_at(store: &Arc<dyn Store>, key: &str, at: Timestamp, now: Timestamp) {
    retry(store, reserved(key, now), at, now).await;
}

async fn retry_from(store: &Arc<dyn Store>, source: &str, key: &str, at: Timestamp, now: Timestamp) {
    retry(store, from(source, reserved(key, now)), at, now).await;
}

async fn retry(store: &Arc<dyn Store>, new: NewRun, at: Timestamp, now: Timestamp) {
    let agg = start(store, new).await;
    let state = RunState::FailedRetryable { reason: "model_timeout".into(), next_attempt_at: at };
    commit(
        store,
        moved(&agg.run, now, |d| {
            d.state(state);
        }),
    )
    .await;
}

pub async fn claimable_are_due_runs_oldest_first(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    start(&store, queued("queued", now.plus_ms(-5_000))).await;
    retry_at(&store, "due", now.plus_ms(-9_000), now).await;
    retry_at(&store, "later", now.plus_ms(500_000), now).await;
    start(&store, reserved("held", now)).await;
    let mut used_up = reserved("used-up", now);
    used_up.run.attempts = used_up.run.attempts_max;
    start(&store, used_up).await;
    start(&store, queued_in(&tenant(), &FlowName::new("refund"), "other-flow", now)).await;
    start(&store, queued_in(&Tenant::new("other"), &flow(), "other-tenant", now)).await;

    assert_eq!(store.run_claimable(&tenant(), &flow(), 9).await.unwrap(), [id("due"), id("queued")]);
    assert_eq!(store.run_claimable(&tenant(), &flow(), 1).await.unwrap(), [id("due")]);
    bench.advance(LEASE_MS + 1_000).await;
    assert_eq!(store.run_claimable(&tenant(), &flow(), 9).await.unwrap(), [id("due"), id("queued"), id("held")]);
}

/// The same run, come in at a source.
fn from(source: &str, mut new: NewRun) -> NewRun {
    new.run.origin.inbound = Some(SourceName::new(source));
    new
}

pub async fn deliverable_are_due_runs_of_one_source_oldest_first(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let (shop, other) = (SourceName::new("shop"), Tenant::new("other"));
    start(&store, from("shop", queued("queued", now.plus_ms(-5_000)))).await;
    retry_from(&store, "shop", "due", now.plus_ms(-9_000), now).await;
    retry_from(&store, "shop", "later", now.plus_ms(500_000), now).await;
    start(&store, from("shop", reserved("held", now))).await;
    let mut used_up = from("shop", reserved("used-up", now));
    used_up.run.attempts = used_up.run.attempts_max;
    start(&store, used_up).await;
    let mut kept = from("shop", queued("quarantined", now));
    kept.run.state = RunState::Quarantined { reason: "invalid_payload".into() };
    start(&store, kept).await;
    start(&store, from("crm", queued("other-source", now))).await;
    start(&store, queued("reserved-by-a-worker", now)).await;
    start(&store, from("shop", queued_in(&other, &flow(), "other-tenant", now))).await;

    let due = |limit| {
        let (store, shop) = (store.clone(), shop.clone());
        async move { store.run_deliverable(&shop, limit).await.unwrap() }
    };
    let ours = |key| RunRef { tenant: tenant(), id: id(key) };
    let theirs = RunRef { id: RunId::derive(&other, &flow(), "other-tenant"), tenant: other.clone() };

    assert_eq!(due(9).await, [ours("due"), ours("queued"), theirs.clone()]);
    assert_eq!(due(1).await, [ours("due")]);
    bench.advance(LEASE_MS + 1_000).await;
    assert_eq!(due(9).await, [ours("due"), ours("queued"), theirs, ours("held")]);
}

async fn overdue(store: &Arc<dyn Store>, kind: RunOverdue, after: Option<RunId>, limit: u32) -> Vec<RunId> {
    let found: Vec<RunRef> = store.run_overdue(kind, after, limit).await.unwrap();
    found.into_iter().map(|r| r.id).collect()
}

pub async fn lease_over_lists_only_what_nobody_may_claim(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    start(&store, reserved("claimable", now)).await;
    let mut wanted = Vec::new();
    for n in 0..3 {
        let mut used_up = reserved(&format!("used-up-{n}"), now);
        used_up.run.attempts = used_up.run.attempts_max;
        wanted.push(start(&store, used_up).await.run.id);
    }
    let open = start(&store, reserved("open-effect", now)).await;
    commit(
        &store,
        moved(&open.run, now, |d| {
            d.effect(None, effect(open.run.id, 1, now), None);
        }),
    )
    .await;
    wanted.push(open.run.id);
    wanted.sort();

    assert!(overdue(&store, RunOverdue::LeaseOver, None, 9).await.is_empty());
    bench.advance(LEASE_MS).await;
    assert_eq!(overdue(&store, RunOverdue::LeaseOver, None, 9).await, wanted);
    assert_eq!(overdue(&store, RunOverdue::LeaseOver, Some(wanted[1]), 1).await, wanted[2..3]);
    assert!(overdue(&store, RunOverdue::LeaseOver, Some(wanted[3]), 9).await.is_empty());
}

pub async fn unchanged_lists_what_stands_still_in_every_open_state(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut wanted = vec![
        start(&store, queued("queued", now)).await.run.id,
        approved(&store, reserved("approved", now), 1, now, |_| {}).await.run.id,
        awaiting(&store, reserved("awaiting", now), now, |_| {}).await.run.id,
    ];
    retry_at(&store, "retry", now, now).await;
    wanted.push(id("retry"));
    wanted.sort();
    completed(&store, reserved("done", now), 30, 90, now).await;
    start(&store, queued("fresh", now.plus_ms(10))).await;

    let since = now.plus_ms(5);
    assert_eq!(overdue(&store, RunOverdue::Unchanged { since }, None, 9).await, wanted);
    assert_eq!(overdue(&store, RunOverdue::Unchanged { since }, Some(wanted[0]), 2).await, wanted[1..3]);
    assert!(overdue(&store, RunOverdue::Unchanged { since: now.plus_ms(-1) }, None, 9).await.is_empty());
    let left_behind = start(&store, reserved("processing", now)).await.run.id;
    assert_eq!(overdue(&store, RunOverdue::Unchanged { since }, None, 9).await, wanted, "its lease lives");
    let since = now.plus_ms(LEASE_MS + 60_000);
    assert!(overdue(&store, RunOverdue::Unchanged { since }, None, 9).await.contains(&left_behind));
}

pub async fn gauges_count_what_is_open(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    start(&store, queued("q1", now)).await;
    start(&store, queued("q2", now.plus_ms(-2_000))).await;
    start(&store, reserved("p", now)).await;
    awaiting(&store, reserved("w", now), now, |_| {}).await;
    approved(&store, reserved("a", now), 3, now, |_| {}).await;
    completed(&store, reserved("c", now), 1, 1, now).await;

    let gauges = store.gauges().await.unwrap();

    let mut counts: Vec<_> = gauges.iter().map(|g| (g.what, g.state.as_str(), g.count)).collect();
    counts.sort_unstable();
    let wanted = [
        ("effect", "pending", 3),
        ("run", "approved", 1),
        ("run", "awaiting_human", 1),
        ("run", "processing", 1),
        ("run", "queued", 2),
    ];
    assert_eq!(counts, wanted);
    let queued = gauges.iter().find(|g| g.state == "queued").unwrap();
    assert!((2_000..60_000).contains(&queued.oldest_ms), "{}", queued.oldest_ms);
    let _ = AwaitReason::Approval;
}

pub async fn health_tells_schema_and_clock(bench: &impl Bench) {
    let store = bench.store();

    let first = store.health().await.unwrap();
    let second = store.health().await.unwrap();

    assert!(first.schema >= 1 && second.clock >= first.clock);
}
