//! Replays: which runs a filter means, plans with their items, and the corrections of a run.

use std::sync::Arc;

use effectgate_core::{
    ids::{FlowName, ReplayId, RunId, Tenant},
    journal::Head,
    replay::{ReplayFilter, ReplayState},
    run::{Correction, Origin, RunState},
    time::Timestamp,
};
use effectgate_store::{
    HouseCommit, HouseWrite, NewRun, ReplayFound, ReplayItem, ReplayItemState, ReplayRow, ReplayStage, ReplayWrite,
    Store, StoreError,
};

use super::{Bench, fixtures::*};

fn plan_id(n: u8) -> ReplayId {
    ReplayId::new([n; 20])
}

fn filter(state: ReplayState, since: Timestamp, until: Timestamp) -> ReplayFilter {
    ReplayFilter { flow: flow(), event_type: None, since, until, state }
}

fn row(n: u8, now: Timestamp) -> ReplayRow {
    ReplayRow {
        id: plan_id(n),
        tenant: tenant(),
        filter: filter(ReplayState::Any, now.plus_ms(-1_000), now),
        limit: 10,
        summary: r#"{"more":false}"#.into(),
        made_by: "user:olga".into(),
        reason: "the model was down".into(),
        stage: ReplayStage::Planned,
        made_at: now.plus_ms(i64::from(n)),
        expires_at: now.plus_ms(60_000),
        started_at: None,
        started_by: None,
        start_reason: None,
        ended_at: None,
        purge_after: now.plus_ms(DAY_MS),
    }
}

/// Two that wait and one that is refused.
fn items() -> Vec<ReplayItem> {
    let item = |n: i32, state| ReplayItem { n, run: id(&format!("k{n}")), version: 3, state, planned: "{}".into() };
    let refused = ReplayItemState::Refused { why: "final".into() };
    vec![item(1, ReplayItemState::Waiting), item(2, refused), item(3, ReplayItemState::Waiting)]
}

fn written(head: Head, change: ReplayWrite, now: Timestamp) -> HouseWrite {
    HouseWrite { replay: Some(change), ..house(&tenant(), head, now) }
}

async fn write(store: &Arc<dyn Store>, change: ReplayWrite, now: Timestamp) -> HouseCommit {
    let head = store.house_head(&tenant()).await.unwrap();
    store.house_commit(written(head, change, now)).await.unwrap()
}

const DONE: HouseCommit = HouseCommit::Committed { receipt: None };

async fn put(store: &Arc<dyn Store>, n: u8, now: Timestamp) {
    assert_eq!(write(store, ReplayWrite::Plan(Box::new(row(n, now)), items()), now).await, DONE);
}

fn started(n: u8, now: Timestamp) -> ReplayWrite {
    ReplayWrite::Start { id: plan_id(n), by: "user:olga".into(), reason: "go".into(), at: now }
}

async fn found(store: &Arc<dyn Store>, n: u8) -> ReplayFound {
    store.replay_find(&tenant(), plan_id(n)).await.unwrap().unwrap()
}

pub async fn a_plan_is_kept_with_its_items_or_not_at_all(bench: &impl Bench) {
    let store = bench.store();
    // A filter is kept as callers wrote it: in milliseconds.
    let now = Timestamp::from_micros(bench.now().await.millis() * 1_000);
    put(&store, 1, now).await;

    let kept = found(&store, 1).await;

    assert_eq!(kept.row, row(1, now));
    assert_eq!((kept.is_expired, kept.waiting, kept.done, kept.skipped, kept.refused), (false, 2, 0, 0, 1));
    assert_eq!(store.replay_items(plan_id(1), 0, 10, false).await.unwrap(), items());
    assert_eq!(store.replay_items(plan_id(1), 1, 10, true).await.unwrap(), items()[2..]);
    assert_eq!(store.replay_items(plan_id(1), 0, 1, true).await.unwrap(), items()[..1]);
    assert_eq!(store.replay_find(&Tenant::new("other"), plan_id(1)).await.unwrap(), None);
    // On a head that is not the one: neither the entry nor the plan.
    let late = written(Head::EMPTY, ReplayWrite::Plan(Box::new(row(2, now)), items()), now);
    assert_eq!(store.house_commit(late).await.unwrap(), HouseCommit::Lost);
    assert_eq!(store.replay_find(&tenant(), plan_id(2)).await.unwrap(), None);
}

pub async fn a_plan_is_started_once_and_in_time(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    put(&store, 1, now).await;
    put(&store, 2, now).await;

    assert_eq!(write(&store, started(1, now), now).await, DONE);
    let head = store.house_head(&tenant()).await.unwrap();
    assert_eq!(write(&store, started(1, now), now).await, HouseCommit::Lost, "it runs already");
    bench.advance(60_000).await;
    assert_eq!(write(&store, started(2, now), now).await, HouseCommit::Lost, "it has expired");

    assert_eq!(store.house_head(&tenant()).await.unwrap(), head, "what was refused left no entry");
    let one = found(&store, 1).await;
    assert_eq!((one.row.stage, one.row.started_by.as_deref()), (ReplayStage::Running, Some("user:olga")));
    assert_eq!((one.row.start_reason.as_deref(), one.is_expired), (Some("go"), false), "what runs does not expire");
    assert!(found(&store, 2).await.is_expired);
}

pub async fn an_item_is_settled_by_one_and_the_plan_ends_when_none_waits(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    put(&store, 1, now).await;
    write(&store, started(1, now), now).await;
    let end = || ReplayWrite::End { id: plan_id(1), at: now };
    assert_eq!(write(&store, end(), now).await, HouseCommit::Lost);
    let settled = |n: usize, state| ReplayItem { state, ..items()[n].clone() };
    let one = settled(0, ReplayItemState::Done { outcome: r#"{"state":"queued"}"#.into() });
    let three = settled(2, ReplayItemState::Skipped { why: "changed".into() });

    assert!(store.replay_item_settle(plan_id(1), &one).await.unwrap());
    assert!(!store.replay_item_settle(plan_id(1), &one).await.unwrap(), "it waits no more");
    assert!(store.replay_item_settle(plan_id(1), &three).await.unwrap());
    assert!(!store.replay_item_settle(plan_id(1), &settled(1, one.state.clone())).await.unwrap(), "it was refused");

    assert_eq!(store.replay_items(plan_id(1), 0, 9, false).await.unwrap(), [one, items()[1].clone(), three]);
    assert_eq!(write(&store, end(), now).await, DONE);
    assert_eq!(write(&store, end(), now).await, HouseCommit::Lost);
    let done = found(&store, 1).await;
    assert_eq!((done.row.stage, done.waiting, done.done, done.skipped), (ReplayStage::Done, 0, 1, 1));
}

pub async fn a_running_plan_is_in_one_hand_until_the_hold_is_over(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    put(&store, 1, now).await;
    assert!(!store.replay_hold(plan_id(1), "a", 5_000).await.unwrap(), "nothing to hold before it runs");
    assert_eq!(store.replay_stalled(9).await.unwrap(), []);
    write(&store, started(1, now), now).await;
    assert_eq!(store.replay_stalled(9).await.unwrap(), [(tenant(), plan_id(1))]);

    assert!(store.replay_hold(plan_id(1), "a", 5_000).await.unwrap());
    assert!(!store.replay_hold(plan_id(1), "b", 5_000).await.unwrap());
    assert!(store.replay_hold(plan_id(1), "a", 5_000).await.unwrap(), "its own");
    assert_eq!(store.replay_stalled(9).await.unwrap(), []);
    bench.advance(5_000).await;
    assert_eq!(store.replay_stalled(9).await.unwrap().len(), 1);
    assert!(store.replay_hold(plan_id(1), "b", 5_000).await.unwrap());
    assert!(!store.replay_hold(plan_id(1), "a", 5_000).await.unwrap());
    assert!(store.replay_hold(plan_id(1), "b", 0).await.unwrap());

    assert_eq!(store.replay_stalled(9).await.unwrap().len(), 1, "let go");
}

pub async fn plans_are_listed_newest_first(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for n in 1..=5 {
        put(&store, n, now).await;
    }
    let (mut cursor, mut seen): (Option<String>, Vec<ReplayId>) = (None, Vec::new());
    loop {
        let page = store.replay_list(&tenant(), cursor.as_deref(), 2).await.unwrap();
        seen.extend(page.items.iter().map(|found| found.row.id));
        assert!(page.items.iter().all(|found| found.waiting == 2));
        let Some(next) = page.next else { break };
        cursor = Some(next);
    }

    assert_eq!(seen, [5, 4, 3, 2, 1].map(plan_id));
    assert!(store.replay_list(&Tenant::new("other"), None, 9).await.unwrap().items.is_empty());
    assert!(matches!(store.replay_list(&tenant(), Some("x"), 9).await, Err(StoreError::BadCursor)));
}

pub async fn old_plans_go_with_the_purge_and_running_ones_stay(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for n in 1..=3 {
        put(&store, n, now).await;
    }
    write(&store, started(1, now), now).await;
    store.run_purge(10).await.unwrap();
    assert_eq!(store.replay_list(&tenant(), None, 9).await.unwrap().items.len(), 3);

    bench.advance(DAY_MS).await;
    store.run_purge(1).await.unwrap();
    assert_eq!(store.replay_list(&tenant(), None, 9).await.unwrap().items.len(), 2, "a bounded number at a time");
    store.run_purge(10).await.unwrap();

    let left = store.replay_list(&tenant(), None, 9).await.unwrap().items;
    assert_eq!(left.iter().map(|found| found.row.id).collect::<Vec<_>>(), [plan_id(1)]);
    assert!(store.replay_items(plan_id(2), 0, 9, false).await.unwrap().is_empty(), "items go along");
}

async fn keys(store: &Arc<dyn Store>, filter: &ReplayFilter) -> Vec<String> {
    let (mut cursor, mut keys): (Option<String>, Vec<String>) = (None, Vec::new());
    loop {
        let page = store.run_matching(&tenant(), filter, cursor.as_deref(), 2).await.unwrap();
        assert!(page.items.len() <= 2);
        keys.extend(page.items.into_iter().map(|run| run.key));
        let Some(next) = page.next else { return keys };
        cursor = Some(next);
    }
}

/// Runs a minute apart in every state that a replay may look for, and others beside them.
async fn stand(store: &Arc<dyn Store>, now: Timestamp) {
    let at = |n: i64| now.plus_ms(n * 60_000);
    for n in 0..5 {
        let agg = start(store, reserved(&format!("failed{n}"), at(n))).await;
        let next_attempt_at = at(n).plus_ms(DAY_MS);
        let failing = moved(&agg.run, at(n), |draft| {
            draft.state(RunState::FailedRetryable { reason: "model_timeout".into(), next_attempt_at });
        });
        commit(store, failing).await;
        let agg = start(store, queued(&format!("held{n}"), at(n))).await;
        let held = moved(&agg.run, at(n), |draft| {
            draft.state(RunState::Quarantined { reason: "schema".into() });
        });
        commit(store, held).await;
    }
    start(store, queued("queued", at(0))).await;
    completed(store, reserved("done", at(0)), 30, 90, now).await;
    start(store, reserved("left", at(0))).await;
    start(store, queued_in(&Tenant::new("other"), &flow(), "x", at(0))).await;
    start(store, queued_in(&tenant(), &FlowName::new("other"), "y", at(0))).await;
}

pub async fn matching_runs_come_oldest_first_by_state_and_time(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    stand(&store, now).await;
    let at = |n: i64| now.plus_ms(n * 60_000);
    let whole = |state| filter(state, now, at(60));

    let failed = keys(&store, &whole(ReplayState::FailedRetryable)).await;
    assert_eq!(failed, ["failed0", "failed1", "failed2", "failed3", "failed4"]);
    let part = filter(ReplayState::FailedRetryable, at(1), at(4));
    assert_eq!(keys(&store, &part).await, ["failed1", "failed2", "failed3"], "from since to before until");
    assert_eq!(keys(&store, &whole(ReplayState::Quarantined)).await.len(), 5);
    assert!(keys(&store, &whole(ReplayState::Processing)).await.is_empty(), "its lease lives");
    let mut any = keys(&store, &whole(ReplayState::Any)).await;
    any.sort();
    assert_eq!(any.len(), 13, "{any:?}");
    assert!(!any.contains(&"x".to_owned()) && !any.contains(&"y".to_owned()));
    assert!(keys(&store, &filter(ReplayState::Any, at(10), at(60))).await.is_empty());

    bench.advance(LEASE_MS).await;
    // A bench that moves its data instead of its clock has moved the runs by as much.
    let moved = filter(ReplayState::Processing, now.plus_ms(-LEASE_MS), at(60));
    assert_eq!(keys(&store, &moved).await, ["left"]);
    assert!(matches!(store.run_matching(&tenant(), &moved, Some("x.y"), 9).await, Err(StoreError::BadCursor)));
}

pub async fn a_filter_names_the_event_type(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let typed = |key: &str, event_type: Option<&str>| {
        let mut new = queued(key, now);
        new.run.origin.event_type = event_type.map(str::to_owned);
        new
    };
    for (key, event_type) in
        [("a", Some("order.paid")), ("b", Some("order.\"p")), ("c", None), ("d", Some("order.paid"))]
    {
        start(&store, typed(key, event_type)).await;
    }
    let find = async |event_type: Option<&str>| {
        let any = filter(ReplayState::Any, now, now.plus_ms(1));
        let mut found = keys(&store, &ReplayFilter { event_type: event_type.map(str::to_owned), ..any }).await;
        found.sort();
        found
    };

    assert_eq!(find(Some("order.paid")).await, ["a", "d"]);
    assert_eq!(find(Some("order.\"p")).await, ["b"]);
    assert!(find(Some("order")).await.is_empty());
    assert_eq!(find(None).await, ["a", "b", "c", "d"]);
}

fn correcting(key: &str, original: RunId, now: Timestamp) -> NewRun {
    let mut new = queued(key, now);
    let known = Correction {
        by: "user:olga".into(),
        reason: "wrong order".into(),
        original_key: "o".into(),
        original_state: "completed".into(),
        results: vec![],
    };
    new.run.origin = Origin { corrects: Some(original), correction: Some(known), ..Origin::default() };
    new
}

pub async fn the_corrections_of_a_run_are_found_by_the_original(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    start(&store, queued("original", now)).await;
    let made = start(&store, correcting("new-1", id("original"), now)).await;
    start(&store, correcting("new-2", id("original"), now)).await;
    start(&store, correcting("other", id("elsewhere"), now)).await;

    let found = store.run_corrections(&tenant(), id("original"), 9).await.unwrap();

    let mut keys: Vec<&str> = found.iter().map(|run| run.key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["new-1", "new-2"]);
    assert!(found.contains(&made.run), "with what it knows of the original");
    assert_eq!(store.run_corrections(&tenant(), id("original"), 1).await.unwrap().len(), 1);
    assert!(store.run_corrections(&Tenant::new("other"), id("original"), 9).await.unwrap().is_empty());
    assert!(store.run_corrections(&tenant(), id("new-1"), 9).await.unwrap().is_empty());
}
