//! What belongs to no run: switches with their receipts, API keys, people, sessions.

use std::sync::Arc;

use effectgate_core::{
    digest::Digest,
    effect::EffectState,
    ids::{EffectType, FlowName, ProviderName, RunId, Tenant},
    journal::{self, Head},
    run::RunState,
    switch::{Receipt, Scope},
    time::Timestamp,
};
use effectgate_store::{ApiKeyRow, HouseCommit, SessionRow, Store, StoreError, UserRow};

use super::{Bench, fixtures::*, guard::turn};

pub async fn a_change_of_the_house_is_compared_and_set(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    assert_eq!(store.house_head(&tenant()).await.unwrap(), Head::EMPTY);
    let first = house(&tenant(), Head::EMPTY, now);
    let mut second = house(&tenant(), first.head, now);
    second.notices.push(notice(2, "switch", now));

    let none = HouseCommit::Committed { receipt: None };
    assert_eq!(store.house_commit(first.clone()).await.unwrap(), none);
    assert_eq!(store.house_commit(first).await.unwrap(), HouseCommit::Lost);
    assert_eq!(store.house_commit(second.clone()).await.unwrap(), none);
    assert_eq!(store.house_commit(second.clone()).await.unwrap(), HouseCommit::Lost);

    let head = store.house_head(&tenant()).await.unwrap();
    assert_eq!(head, second.head);
    let id = RunId::house(&tenant());
    assert_eq!(journal::verify(id, &chain(&store, id).await, head), Ok(()));
    let due = store.notice_due(9).await.unwrap();
    assert_eq!((due.len(), due[0].run, &due[0].tenant), (1, id, &tenant()));
    assert_eq!(store.house_head(&Tenant::new("other")).await.unwrap(), Head::EMPTY);
}

pub async fn of_many_changes_on_one_length_one_wins(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    for round in 0..10 {
        let head = store.house_head(&tenant()).await.unwrap();
        assert_eq!(head.seq, round);
        let tries: Vec<_> = (0..8)
            .map(|_| {
                let (store, write) = (Arc::clone(&store), house(&tenant(), head, now));
                tokio::spawn(async move { store.house_commit(write).await.unwrap() })
            })
            .collect();
        let mut won = 0;
        for task in tries {
            won += i32::from(task.await.unwrap() != HouseCommit::Lost);
        }
        assert_eq!(won, 1);
    }
}

/// Effects in each state at two providers, runs held and waiting, in two flows and two tenants.
async fn stand(store: &Arc<dyn Store>, now: Timestamp) {
    let scheduled = EffectState::Scheduled { not_before: now.plus_ms(DAY_MS) };
    let agg = approved(store, reserved("many", now), 5, now, |e| match e.id.n {
        1 | 2 => {}
        3 => e.state = scheduled,
        4 => e.state = EffectState::Completed,
        _ => (e.provider, e.effect_type) = (ProviderName::new("shop"), EffectType::new("refund")),
    })
    .await;
    commit(store, sending(&agg, 2, LEASE_MS, now)).await;
    start(store, reserved("held", now)).await;
    let inline = start(store, reserved("inline", now)).await;
    let begun = moved(&inline.run, now, |d| {
        let mut e = effect(inline.run.id, 1, now);
        (e.executor, e.state) = (effectgate_core::effect::Executor::Inline, EffectState::Sending);
        d.effect(None, e, None);
    });
    commit(store, begun).await;
    // Asks for a refund at the shop.
    awaiting(store, reserved("asked", now), now, |_| {}).await;
    approved(store, reserved_in(&tenant(), &FlowName::new("refund"), "x", now), 1, now, |_| {}).await;
    awaiting(store, reserved_in(&Tenant::new("other"), &flow(), "x", now), now, |_| {}).await;
    let over = start(store, queued("over", now)).await;
    assert_eq!(over.run.state, RunState::Queued);
}

pub async fn a_turn_counts_what_stands_where_in_its_scope(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    stand(&store, now).await;
    let receipt =
        |queued, scheduled, leased, in_flight, awaiting| Receipt { queued, scheduled, leased, in_flight, awaiting };
    let table = [
        (Scope::All, "", receipt(3, 1, 2, 2, 2)),
        (Scope::Tenant, "acme", receipt(3, 1, 2, 2, 1)),
        (Scope::Tenant, "other", receipt(0, 0, 0, 0, 1)),
        (Scope::Flow, "reply", receipt(2, 1, 2, 2, 2)),
        (Scope::Flow, "refund", receipt(1, 0, 0, 0, 0)),
        (Scope::Provider, "smtp", receipt(2, 1, 1, 2, 0)),
        (Scope::Provider, "shop", receipt(1, 0, 0, 0, 2)),
        (Scope::EffectType, "refund", receipt(1, 0, 0, 0, 2)),
        (Scope::EffectType, "none", receipt(0, 0, 0, 0, 0)),
    ];
    for (scope, name, wanted) in table {
        let HouseCommit::Committed { receipt } = turn(&store, scope, name, false, now).await else { panic!("lost") };
        assert_eq!(receipt, Some(wanted), "{scope:?} {name}");
    }

    bench.advance(LEASE_MS).await;
    let HouseCommit::Committed { receipt } = turn(&store, Scope::All, "", true, now).await else { panic!("lost") };
    assert_eq!(receipt.unwrap().leased, 0, "a lease that is over holds nothing");
    let switches = store.switch_list().await.unwrap();
    assert_eq!(switches.len(), 9);
    let all = switches.iter().find(|s| s.scope == Scope::All).unwrap();
    assert_eq!((all.enabled, all.reason.as_str(), all.by.as_str(), all.at), (true, "drill", "user:ada", now));
}

pub async fn a_failed_change_writes_nothing(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut write = house(&tenant(), Head::EMPTY, now);
    write.api_key = Some(api_key("k1", &tenant(), now));
    write.notices = vec![notice(1, "a", now), notice(1, "b", now)];

    let refused = store.house_commit(write).await;

    assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{refused:?}");
    assert_eq!(store.house_head(&tenant()).await.unwrap(), Head::EMPTY);
    assert!(store.api_key_none().await.unwrap() && store.notice_due(9).await.unwrap().is_empty());
}

pub fn api_key(public_id: &str, tenant: &Tenant, now: Timestamp) -> ApiKeyRow {
    ApiKeyRow {
        public_id: public_id.into(),
        tenant: tenant.clone(),
        name: "n8n".into(),
        secret_hash: Digest::of(b"secret"),
        scopes: vec!["worker".into()],
        flows: vec!["reply".into()],
        created_at: now,
        revoked_at: None,
    }
}

async fn put(
    store: &Arc<dyn Store>,
    now: Timestamp,
    key: Option<ApiKeyRow>,
    user: Option<UserRow>,
) -> Result<(), StoreError> {
    let mut write = house(&tenant(), store.house_head(&tenant()).await.unwrap(), now);
    (write.api_key, write.user) = (key, user);
    store.house_commit(write).await.map(|done| assert_ne!(done, HouseCommit::Lost))
}

pub async fn api_keys_are_kept_listed_and_revoked(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    assert!(store.api_key_none().await.unwrap());
    let (first, second) = (api_key("k1", &tenant(), now), api_key("k2", &tenant(), now.plus_ms(1)));

    put(&store, now, Some(first.clone()), None).await.unwrap();
    put(&store, now, Some(second.clone()), None).await.unwrap();
    let revoked = ApiKeyRow { revoked_at: Some(now), ..first };
    put(&store, now, Some(revoked.clone()), None).await.unwrap();

    assert!(!store.api_key_none().await.unwrap());
    assert_eq!(store.api_key_find("k1").await.unwrap(), Some(revoked.clone()));
    assert_eq!(store.api_key_find("k3").await.unwrap(), None);
    assert_eq!(store.api_key_list(&tenant()).await.unwrap(), [revoked, second]);
    assert!(store.api_key_list(&Tenant::new("other")).await.unwrap().is_empty());
}

pub async fn a_key_of_another_tenant_is_not_replaced(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let theirs = api_key("k1", &Tenant::new("other"), now);
    put(&store, now, Some(theirs.clone()), None).await.unwrap();

    let refused = put(&store, now, Some(api_key("k1", &tenant(), now)), None).await;

    assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{refused:?}");
    assert_eq!(store.api_key_find("k1").await.unwrap(), Some(theirs));
}

pub async fn people_are_kept_by_tenant_and_name(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let ada = UserRow {
        tenant: tenant(),
        name: "ada".into(),
        email: Some("ada@example.test".into()),
        password_hash: "$argon2id$x".into(),
        roles: vec!["lead".into(), "operator".into()],
        disabled: false,
        created_at: now,
        updated_at: now,
    };
    let bob = UserRow { name: "bob".into(), email: None, ..ada.clone() };
    for user in [&bob, &ada] {
        put(&store, now, None, Some(user.clone())).await.unwrap();
    }
    let off = UserRow { disabled: true, updated_at: now.plus_ms(1), ..ada.clone() };
    put(&store, now, None, Some(off.clone())).await.unwrap();

    assert_eq!(store.user_find(&tenant(), "ada").await.unwrap(), Some(off.clone()));
    assert_eq!(store.user_find(&Tenant::new("other"), "ada").await.unwrap(), None);
    assert_eq!(store.user_list(&tenant()).await.unwrap(), [off, bob]);
}

pub async fn sessions_come_and_go(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let session = SessionRow {
        hash: Digest::of(b"s"),
        tenant: tenant(),
        user: "ada".into(),
        data: "{\"csrf\":\"x\"}".into(),
        created_at: now,
        seen_at: now,
        expires_at: now.plus_ms(DAY_MS),
    };
    store.session_put(session.clone()).await.unwrap();
    let seen = SessionRow { seen_at: now.plus_ms(5), ..session };
    store.session_put(seen.clone()).await.unwrap();

    assert_eq!(store.session_find(&seen.hash).await.unwrap(), Some(seen.clone()));
    store.session_delete(&seen.hash).await.unwrap();
    assert_eq!(store.session_find(&seen.hash).await.unwrap(), None);
    store.session_delete(&seen.hash).await.unwrap();
}
