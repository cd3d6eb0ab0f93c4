//! The inbox: who was asked, in which order, in pages; and the rows behind it, which come and go with the approval.

use std::sync::Arc;

use effectgate_core::{
    approval::{Approval, ApprovalState, member_key},
    ids::Tenant,
    run::{Aggregate, RunState},
    time::Timestamp,
};
use effectgate_store::{INBOX_COUNT_MAX, INBOX_MEMBERS_MAX, InboxFilter, InboxOrder, Store, StoreError};

use super::{Bench, fixtures::*};

fn keys_of(members: &[&str]) -> Vec<String> {
    members.iter().map(|m| member_key(m)).collect()
}

/// Keys of the runs, page by page.
async fn pages(store: &Arc<dyn Store>, members: Option<&[&str]>, order: InboxOrder, limit: u32) -> Vec<String> {
    let mut filter = InboxFilter { members: members.map(keys_of), order, cursor: None, limit };
    let mut keys = Vec::new();
    loop {
        let page = store.inbox_find(&tenant(), &filter).await.unwrap();
        assert!(page.items.len() <= limit as usize);
        keys.extend(page.items.into_iter().map(|item| item.run.key));
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => return keys,
        }
    }
}

async fn inbox(store: &Arc<dyn Store>, members: Option<&[&str]>) -> Vec<String> {
    pages(store, members, InboxOrder::Risk, 2).await
}

/// A run that waits; `asked_ms` after now, with impacts and `left_ms` to decide.
async fn ask(store: &Arc<dyn Store>, key: &str, impacts: &[&str], asked_ms: i64, left_ms: i64, now: Timestamp) {
    awaiting(store, reserved(key, now), now, |a| {
        a.created_at = now.plus_ms(asked_ms);
        a.expires_at = a.created_at.plus_ms(left_ms);
        let one = a.proposed[0].clone();
        a.proposed = impacts
            .iter()
            .map(|impact| effectgate_core::proposal::Proposed { impact: (*impact).into(), ..one.clone() })
            .collect();
    })
    .await;
}

pub async fn an_inbox_stands_in_each_order(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    ask(&store, "low-old", &["low"], 1, 900, now).await;
    ask(&store, "high-new", &["low", "high"], 5, 500, now).await;
    ask(&store, "normal", &["normal"], 2, 100, now).await;
    ask(&store, "high-old", &["high"], 3, 2_000, now).await;
    ask(&store, "nothing", &[], 0, 800, now).await;
    let order = async |order, limit| pages(&store, None, order, limit).await;

    for limit in [1, 2, 5, 200] {
        assert_eq!(order(InboxOrder::Risk, limit).await, ["high-old", "high-new", "normal", "nothing", "low-old"]);
        assert_eq!(order(InboxOrder::Age, limit).await, ["nothing", "low-old", "normal", "high-old", "high-new"]);
        assert_eq!(order(InboxOrder::Due, limit).await, ["normal", "high-new", "nothing", "low-old", "high-old"]);
    }
}

pub async fn a_person_sees_what_was_asked_of_any_of_their_names(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for (key, audience) in [
        ("lead", vec!["role:lead"]),
        ("both", vec!["role:lead", "Anna <ANNA@example.test>"]),
        ("anna", vec!["anna@example.test", "bo@example.test"]),
        ("other", vec!["role:other"]),
        ("twice", vec!["anna@example.test", "ANNA@example.test"]),
        ("nobody", vec![]),
    ] {
        awaiting(&store, reserved(key, now), now, |a| {
            a.terms.audience = audience.into_iter().map(str::to_owned).collect();
        })
        .await;
    }
    awaiting(&store, reserved_in(&Tenant::new("other"), &flow(), "k", now), now, |_| {}).await;
    let sorted = async |members| {
        let mut keys = inbox(&store, members).await;
        keys.sort();
        keys
    };

    assert_eq!(sorted(Some(&["role:lead"])).await, ["both", "lead"]);
    assert_eq!(sorted(Some(&["role:lead", "anna@example.test"])).await, ["anna", "both", "lead", "twice"]);
    assert_eq!(sorted(Some(&["role:LEAD"])).await, Vec::<String>::new());
    assert_eq!(sorted(Some(&[])).await, Vec::<String>::new());
    assert_eq!(sorted(None).await, ["anna", "both", "lead", "nobody", "other", "twice"]);
    let counts =
        async |members: Option<&[&str]>| store.inbox_count(&tenant(), members.map(keys_of).as_deref()).await.unwrap();
    assert_eq!(counts(Some(&["role:lead", "anna@example.test"])).await, 4);
    assert_eq!((counts(Some(&[])).await, counts(None).await), (0, 6));
    let empty = [String::new()];
    assert_eq!(store.inbox_count(&tenant(), Some(&empty)).await.unwrap(), 0, "an empty name is not everybody's");
}

/// Every page against the whole list, with members whose lists overlap in every way and moments that are equal.
pub async fn pages_over_several_members_leave_nothing_out_and_show_nothing_twice(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for n in 0..24_usize {
        awaiting(&store, reserved(&format!("k{n:02}"), now), now, |a| {
            a.terms.audience = (0..3).filter(|bit| n >> bit & 1 == 1).map(|bit| format!("role:r{bit}")).collect();
            a.proposed[0].impact = ["high", "normal", "low"][n % 3].into();
            a.created_at = now.plus_ms(n as i64 / 6);
        })
        .await;
    }
    let members: &[&str] = &["role:r0", "role:r1", "role:r2", "role:none"];

    for order in [InboxOrder::Risk, InboxOrder::Age, InboxOrder::Due] {
        let whole = pages(&store, Some(members), order, 200).await;
        assert_eq!(whole.len(), 21);
        for limit in [1, 2, 3, 7, 20, 21] {
            assert_eq!(pages(&store, Some(members), order, limit).await, whole, "{order:?} by {limit}");
        }
    }
}

pub async fn a_page_goes_on_where_it_ended_whatever_was_decided_meanwhile(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut runs = Vec::new();
    for n in 0..4 {
        let asked = awaiting(&store, reserved(&format!("k{n}"), now), now, |a| a.created_at = now.plus_ms(n)).await;
        runs.push(asked);
    }
    let mut filter = InboxFilter { limit: 2, ..InboxFilter::default() };
    let first = store.inbox_find(&tenant(), &filter).await.unwrap();
    filter.cursor = first.next;

    close(&store, &runs[1], now).await;
    close(&store, &runs[2], now).await;

    let rest = store.inbox_find(&tenant(), &filter).await.unwrap();
    assert_eq!(rest.items.iter().map(|i| i.run.key.as_str()).collect::<Vec<_>>(), ["k3"]);
    assert_eq!(rest.next, None);
}

async fn close(store: &Arc<dyn Store>, agg: &Aggregate, now: Timestamp) {
    let mut decided = agg.approvals[0].clone();
    (decided.state, decided.decided_at) = (ApprovalState::Rejected, Some(now));
    let rejected = moved(&agg.run, now, |draft| {
        draft.state(RunState::FailedTerminal { reason: "rejected".into() });
        draft.run_mut().expires_at = Some(now.plus_ms(DAY_MS));
        draft.transition_mut().approvals.push(decided);
    });
    commit(store, rejected).await;
}

async fn change(
    store: &Arc<dyn Store>,
    agg: &Aggregate,
    now: Timestamp,
    with: impl FnOnce(&mut Approval),
) -> Aggregate {
    let mut next = agg.approvals[0].clone();
    with(&mut next);
    commit(store, moved(&agg.run, now, |draft| draft.transition_mut().approvals.push(next))).await
}

pub async fn an_inbox_follows_its_approvals(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = awaiting(&store, reserved("k", now), now, |_| {}).await;
    assert_eq!(inbox(&store, Some(&["role:chief"])).await, Vec::<String>::new());

    // Escalation widens the audience; an edit may change what is at stake.
    let agg = change(&store, &agg, now, |a| a.terms.audience.push("role:chief".into())).await;
    assert_eq!(inbox(&store, Some(&["role:chief"])).await, ["k"]);
    ask(&store, "normal", &["normal"], 9, DAY_MS, now).await;
    assert_eq!(inbox(&store, None).await, ["k", "normal"]);
    let agg = change(&store, &agg, now, |a| a.proposed[0].impact = "low".into()).await;
    assert_eq!(inbox(&store, None).await, ["normal", "k"]);
    let agg = change(&store, &agg, now, |a| a.terms.audience = vec!["role:chief".into()]).await;
    assert_eq!(inbox(&store, Some(&["role:lead"])).await, ["normal"]);

    close(&store, &agg, now).await;
    assert_eq!(inbox(&store, Some(&["role:chief"])).await, Vec::<String>::new());
    assert_eq!(inbox(&store, None).await, ["normal"]);
}

pub async fn a_lost_commit_leaves_the_inbox_alone(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = awaiting(&store, reserved("k", now), now, |_| {}).await;
    let mut wider = agg.approvals[0].clone();
    wider.terms.audience = vec!["role:chief".into()];
    let late = moved(&agg.run, now, |draft| draft.transition_mut().approvals.push(wider));
    commit(&store, touch(&agg.run, now)).await;

    assert_lost(&store, late).await;

    assert_eq!(inbox(&store, Some(&["role:chief"])).await, Vec::<String>::new());
    assert_eq!(inbox(&store, Some(&["role:lead"])).await, ["k"]);
}

pub async fn an_approval_that_replaces_another_takes_its_place(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = awaiting(&store, reserved("k", now), now, |_| {}).await;
    let mut old = agg.approvals[0].clone();
    (old.state, old.decided_at) = (ApprovalState::Withdrawn, Some(now));
    let next = approval(agg.run.id, 2, now);
    commit(&store, moved(&agg.run, now, |draft| draft.transition_mut().approvals.extend([next, old]))).await;

    let page = store.inbox_find(&tenant(), &InboxFilter { limit: 9, ..InboxFilter::default() }).await.unwrap();
    assert_eq!(page.items.iter().map(|i| i.approval.id.n).collect::<Vec<_>>(), [2]);
    assert_eq!(store.inbox_count(&tenant(), None).await.unwrap(), 1);
}

pub async fn an_inbox_is_counted_so_far_and_no_further(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = awaiting(&store, reserved("k", now), now, |_| {}).await;
    // Rows of approvals that a run cannot have; only the counting is looked at.
    let run: String = agg.run.id.as_bytes().iter().map(|b| format!("{b:02x}")).collect();
    let blob = if bench.store().health().await.unwrap().backend == "sqlite" {
        format!("x'{run}'")
    } else {
        format!("decode('{run}', 'hex')")
    };
    let n = "WITH RECURSIVE c (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM c WHERE n < 1500)";
    bench
        .sql(&format!(
            "{n} INSERT INTO approvals (run_id, n, state, effects_hash, proposed, terms, decisions, created_at, expires_at,
              decided_at) SELECT run_id, c.n, 'expired', effects_hash, proposed, terms, decisions, created_at, expires_at,
              created_at FROM approvals p, c WHERE p.run_id = {blob} AND p.n = 1;
             {n} INSERT INTO asked (run_id, n, member, tenant, risk_rank, created_at, expires_at)
              SELECT a.run_id, c.n, a.member, a.tenant, 0, a.created_at, a.expires_at FROM asked a, c WHERE a.n = 1"
        ))
        .await;

    assert_eq!(store.inbox_count(&tenant(), None).await.unwrap(), INBOX_COUNT_MAX);
    let members = keys_of(&["role:none", "role:lead"]);
    assert_eq!(store.inbox_count(&tenant(), Some(&members)).await.unwrap(), INBOX_COUNT_MAX);
}

pub async fn bad_inbox_questions_are_refused(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for key in ["a", "b"] {
        awaiting(&store, reserved(key, now), now, |_| {}).await;
    }
    let find = async |filter: InboxFilter| store.inbox_find(&tenant(), &filter).await;
    let first = find(InboxFilter { limit: 1, ..InboxFilter::default() }).await.unwrap();

    for cursor in [first.next.unwrap().replace("risk", "age"), "x".into(), "risk.0.1".into(), "risk.0.x.apr_1".into()] {
        let order = if cursor.starts_with("age") { InboxOrder::Due } else { InboxOrder::Risk };
        let refused = find(InboxFilter { order, cursor: Some(cursor.clone()), limit: 1, members: None }).await.err();
        assert!(matches!(refused, Some(StoreError::BadCursor)), "{cursor}: {refused:?}");
    }
    let many = Some((0..=INBOX_MEMBERS_MAX).map(|n| format!("role:r{n}")).collect());
    let refused = find(InboxFilter { members: many, limit: 1, ..InboxFilter::default() }).await.err();
    assert!(matches!(refused, Some(StoreError::Rejected { .. })), "{refused:?}");
}
