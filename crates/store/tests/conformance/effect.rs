//! Reads of the outbox.

use std::sync::Arc;

use effectgate_core::{
    effect::{EffectState, Executor},
    ids::{EffectType, FlowName, ProviderName, Tenant},
    switch::Scope,
};
use effectgate_store::{DueEffect, EffectFilter, Store, StoreError};

use super::{Bench, fixtures::*, guard::turn};

fn targets(due: &[DueEffect]) -> Vec<&str> {
    due.iter().map(|d| d.effect.target.as_str()).collect()
}

pub async fn due_effects_come_by_provider_oldest_first(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = approved(&store, reserved("k", now), 6, now, |e| match e.id.n {
        1 => e.state = EffectState::Pending { due_at: now },
        2 => e.state = EffectState::Scheduled { not_before: now.plus_ms(-5) },
        3 => e.state = EffectState::Pending { due_at: now.plus_ms(30_000) },
        4 => e.provider = ProviderName::new("shop"),
        5 => e.executor = Executor::Inline,
        _ => e.state = EffectState::Cancelled,
    })
    .await;
    let smtp = ProviderName::new("smtp");

    let due = store.effect_due(&smtp, 9).await.unwrap();
    assert_eq!(targets(&due), ["p2@example.test", "p1@example.test"]);
    assert_eq!((&due[0].run, &due[0].effect), (&agg.run, &agg.effects[1]));
    assert_eq!(targets(&store.effect_due(&smtp, 1).await.unwrap()), ["p2@example.test"]);

    bench.advance(30_000).await;
    assert_eq!(targets(&store.effect_due(&smtp, 9).await.unwrap()).len(), 3);
}

pub async fn one_providers_queue_does_not_hide_anothers(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let shop = ProviderName::new("shop");
    approved(&store, reserved("many", now), 30, now.plus_ms(-9_000), |_| {}).await;
    approved(&store, reserved("one", now), 1, now, |e| e.provider = shop.clone()).await;

    assert_eq!(store.effect_due(&shop, 5).await.unwrap().len(), 1);
    assert_eq!(store.effect_due(&ProviderName::new("smtp"), 5).await.unwrap().len(), 5);
    assert!(store.effect_due(&ProviderName::new("none"), 5).await.unwrap().is_empty());
}

pub async fn what_a_switch_holds_back_fills_no_batch(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let other = FlowName::new("other");
    let held = approved(&store, reserved_in(&tenant(), &other, "k", now), 9, now.plus_ms(-9_000), |_| {}).await;
    let free = approved(&store, reserved("k", now), 1, now, |e| e.effect_type = EffectType::new("free")).await;
    let of_held = held.effects[0].effect_type.as_str();
    let scopes = [(Scope::Flow, other.as_str()), (Scope::EffectType, of_held)];
    let smtp = ProviderName::new("smtp");

    for (scope, name) in scopes {
        turn(&store, scope, name, false, now).await;
        let due = store.effect_due(&smtp, 5).await.unwrap();
        assert_eq!(due.iter().map(|d| d.run.id).collect::<Vec<_>>(), [free.run.id], "{scope:?}");
        turn(&store, scope, name, true, now).await;
        assert_eq!(store.effect_due(&smtp, 99).await.unwrap().len(), 10, "{scope:?}");
    }
    for (scope, name) in [(Scope::All, ""), (Scope::Tenant, tenant().as_str()), (Scope::Provider, "smtp")] {
        turn(&store, scope, name, false, now).await;
        assert!(store.effect_due(&smtp, 99).await.unwrap().is_empty(), "{scope:?}");
        turn(&store, scope, name, true, now).await;
    }
    turn(&store, Scope::Tenant, "another", false, now).await;
    turn(&store, Scope::Provider, "shop", false, now).await;
    assert_eq!(store.effect_due(&smtp, 99).await.unwrap().len(), 10, "what does not apply holds nothing back");
}

pub async fn lost_effects_are_those_whose_dispatcher_is_late(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = approved(&store, reserved("k", now), 3, now, |_| {}).await;
    let agg = commit(&store, sending(&agg, 1, 1_000, now)).await;
    let agg = commit(&store, sending(&agg, 2, 5_000, now)).await;

    assert!(store.effect_lost(9).await.unwrap().is_empty());
    bench.advance(1_000).await;
    assert_eq!(targets(&store.effect_lost(9).await.unwrap()), ["p1@example.test"]);
    bench.advance(4_000).await;
    let lost = store.effect_lost(9).await.unwrap();
    assert_eq!(targets(&lost), ["p1@example.test", "p2@example.test"]);
    assert_eq!(lost[0].run.id, agg.run.id);
    assert_eq!(store.effect_lost(1).await.unwrap().len(), 1);
}

pub async fn unknown_effects_are_looked_at_when_due_whoever_sent_them(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = approved(&store, reserved("k", now), 4, now, |e| {
        if e.id.n == 2 {
            e.executor = Executor::Inline;
        }
    })
    .await;
    let agg = commit(&store, with_state(&agg, 1, EffectState::Unknown { look_at: now }, now)).await;
    let agg = commit(&store, with_state(&agg, 2, EffectState::Unknown { look_at: now.plus_ms(-5) }, now)).await;
    let agg = commit(&store, with_state(&agg, 3, EffectState::Unknown { look_at: now.plus_ms(9_000) }, now)).await;
    commit(&store, with_state(&agg, 4, EffectState::Review { since: now.plus_ms(-9_000) }, now)).await;

    assert_eq!(targets(&store.effect_unknown(9).await.unwrap()), ["p2@example.test", "p1@example.test"]);
    bench.advance(9_000).await;
    assert_eq!(store.effect_unknown(9).await.unwrap().len(), 3);
}

pub async fn what_has_waited_for_a_person_comes_oldest_first_page_by_page(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut agg = approved(&store, reserved("k", now), 4, now, |_| {}).await;
    for (n, ago) in [(1, 3_000), (2, 9_000), (3, 5_000), (4, 1_000)] {
        let since = now.plus_ms(-ago);
        agg = commit(&store, with_state(&agg, n, EffectState::Review { since }, since)).await;
    }
    let mail = |n: i32| format!("p{n}@example.test");
    let long = now.plus_ms(-3_000);

    let first = store.effect_review(long, None, 2).await.unwrap();
    let second = store.effect_review(long, Some(&first[1].effect), 2).await.unwrap();
    let third = store.effect_review(long, Some(&second[0].effect), 2).await.unwrap();

    assert_eq!((targets(&first), targets(&second)), (vec![&*mail(2), &*mail(3)], vec![&*mail(1)]));
    assert!(third.is_empty());
    assert_eq!(store.effect_review(now, None, 9).await.unwrap().len(), 4);
}

async fn pages(store: &Arc<dyn Store>, mut filter: EffectFilter) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        let page = store.effect_find(&tenant(), &filter).await.unwrap();
        assert!(page.items.len() <= filter.limit as usize);
        found.extend(page.items.into_iter().map(|d| d.effect.target));
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => return found,
        }
    }
}

pub async fn find_pages_through_a_tenants_effects(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let agg = approved(&store, reserved("k", now), 5, now, |e| {
        e.updated_at = now.plus_ms(i64::from(e.id.n));
        if e.id.n == 3 {
            e.provider = ProviderName::new("shop");
        }
    })
    .await;
    let other = reserved_in(&Tenant::new("other"), &flow(), "k", now);
    approved(&store, other, 2, now, |_| {}).await;
    commit(&store, with_state(&agg, 1, EffectState::Completed, now.plus_ms(100))).await;
    let base = EffectFilter { limit: 2, ..EffectFilter::default() };
    let of = |states: &[&str]| states.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mail = |n: i32| format!("p{n}@example.test");

    assert_eq!(pages(&store, base.clone()).await, [1, 5, 4, 3, 2].map(mail));
    assert_eq!(pages(&store, EffectFilter { states: of(&["completed"]), ..base.clone() }).await, [1].map(mail));
    let pending = EffectFilter { states: of(&["pending"]), ..base.clone() };
    assert_eq!(pages(&store, pending.clone()).await, [5, 4, 3, 2].map(mail));
    let oldest = EffectFilter { oldest_first: true, ..pending };
    assert_eq!(pages(&store, oldest).await, [2, 3, 4, 5].map(mail));
    let open = EffectFilter { states: of(&["pending", "review"]), ..base.clone() };
    assert_eq!(pages(&store, open).await, [5, 4, 3, 2].map(mail));
    let shop = EffectFilter { provider: Some(ProviderName::new("shop")), ..base.clone() };
    assert_eq!(pages(&store, shop).await, [3].map(mail));
    let bad = EffectFilter { cursor: Some("7".into()), ..base };
    assert!(matches!(store.effect_find(&tenant(), &bad).await, Err(StoreError::BadCursor)));
}
