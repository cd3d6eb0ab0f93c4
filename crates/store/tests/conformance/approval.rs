//! Approvals: tokens, lists, what is overdue.

use std::sync::Arc;

use effectgate_core::{
    actor::Subject,
    approval::{ApprovalState, Edit},
    digest::Digest,
    ids::Tenant,
    proposal::effects_hash,
    time::Timestamp,
};
use effectgate_store::{ApprovalFilter, Store};

use super::{Bench, fixtures::*};

pub async fn a_token_leads_to_its_approval_even_when_expired(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = awaiting(&store, reserved("k", now), now, |_| {}).await;
    let granted = token(agg.approvals[0].id, "secret", now);
    commit(&store, moved(&agg.run, now, |d| d.transition_mut().tokens.push(granted.clone()))).await;

    let hit = store.approval_by_token(&granted.hash).await.unwrap().unwrap();
    assert_eq!((&hit.tenant, hit.approval, hit.is_expired), (&tenant(), granted.approval, false));
    assert_eq!((&hit.audience, hit.expires_at), (&granted.audience, granted.expires_at));
    assert_eq!(store.approval_by_token(&Digest::of(b"other")).await.unwrap(), None);

    bench.advance(DAY_MS).await;
    assert!(store.approval_by_token(&granted.hash).await.unwrap().unwrap().is_expired);
}

async fn pages(store: &Arc<dyn Store>, state: Option<&str>) -> Vec<String> {
    let mut filter = ApprovalFilter { state: state.map(str::to_owned), cursor: None, limit: 2 };
    let mut keys = Vec::new();
    loop {
        let page = store.approval_find(&tenant(), &filter).await.unwrap();
        assert!(page.items.len() <= 2);
        keys.extend(page.items.into_iter().map(|item| item.run.key));
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => return keys,
        }
    }
}

pub async fn open_approvals_come_by_their_expiry(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for (key, days) in [("late", 3), ("soon", 1), ("middle", 2), ("soon-too", 1)] {
        awaiting(&store, reserved(key, now), now, |a| a.expires_at = now.plus_ms(days * DAY_MS)).await;
    }
    awaiting(&store, reserved_in(&Tenant::new("other"), &flow(), "k", now), now, |_| {}).await;

    let mut keys = pages(&store, Some("open")).await;

    assert_eq!(keys.split_off(2), ["middle", "late"]);
    keys.sort();
    assert_eq!(keys, ["soon", "soon-too"]);
}

pub async fn edits_are_read_as_they_were_written(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = awaiting(&store, reserved("k", now), now, |_| {}).await;
    let mut edited = agg.approvals[0].clone();
    let before = edited.proposed.clone();
    edited.proposed[0].payload = r#"{"text":"mended","n":9007199254740993}"#.to_owned();
    let (from_hash, to_hash) = (edited.effects_hash, effects_hash(&edited.proposed));
    let after = edited.proposed.clone();
    edited.effects_hash = to_hash;
    // Moments in JSON have milliseconds.
    let at = Timestamp::from_micros(now.micros() / 1_000 * 1_000);
    edited.edits = vec![Edit { by: Subject::user("bo"), at, from_hash, to_hash, before, after }];

    commit(&store, moved(&agg.run, now, |d| d.transition_mut().approvals.push(edited.clone()))).await;

    let read = store.run_load(&tenant(), agg.run.id).await.unwrap().unwrap();
    assert_eq!(read.approvals, [edited.clone()]);
    let listed = store.approval_find(&tenant(), &ApprovalFilter { state: None, cursor: None, limit: 2 }).await.unwrap();
    assert_eq!(listed.items[0].approval, edited);
}

pub async fn other_approvals_come_newest_first(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for (n, key) in ["a", "b", "c"].into_iter().enumerate() {
        let at = now.plus_ms(n as i64);
        awaiting(&store, reserved(key, now), now, |a| {
            a.created_at = at;
            if key != "b" {
                (a.state, a.decided_at) = (ApprovalState::Rejected, Some(at));
            }
        })
        .await;
    }

    assert_eq!(pages(&store, Some("rejected")).await, ["c", "a"]);
    assert_eq!(pages(&store, None).await, ["c", "b", "a"]);
    assert!(pages(&store, Some("approved")).await.is_empty());
}

pub async fn overdue_approvals_are_expired_or_have_a_step_due(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    awaiting(&store, reserved("later", now), now, |_| {}).await;
    awaiting(&store, reserved("remind", now), now, |a| a.next_step_at = Some(now.plus_ms(1_000))).await;
    awaiting(&store, reserved("both", now), now, |a| {
        (a.next_step_at, a.expires_at) = (Some(now.plus_ms(1_000)), now.plus_ms(2_000));
    })
    .await;
    awaiting(&store, reserved("decided", now), now, |a| {
        (a.state, a.decided_at, a.expires_at) = (ApprovalState::Approved, Some(now), now.plus_ms(1));
    })
    .await;
    let mut wanted = [id("remind"), id("both")];
    wanted.sort();

    assert!(store.approval_overdue(9).await.unwrap().is_empty());
    bench.advance(2_000).await;
    let found: Vec<_> = store.approval_overdue(9).await.unwrap().into_iter().map(|r| r.id).collect();
    assert_eq!(found, wanted);
    assert_eq!(store.approval_overdue(1).await.unwrap().len(), 1);
    bench.advance(DAY_MS).await;
    assert_eq!(store.approval_overdue(9).await.unwrap().len(), 3);
}
