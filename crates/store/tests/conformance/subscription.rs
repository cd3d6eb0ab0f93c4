//! Subscriptions and their deliveries: made and dropped with the record, due, claimed by one, counted where they stand.

use std::sync::Arc;

use effectgate_core::{
    event::EventKind,
    ids::{EventId, FlowName, RunId, SubscriptionId, Tenant},
    journal::{self, Head},
    time::Timestamp,
};
use effectgate_store::{
    DeliveryRow, DeliveryState, Going, Heard, HouseCommit, Store, SubscriptionRow, SubscriptionWrite,
};

use super::{Bench, fixtures::*, house::api_key};

fn subscription(url: &str, now: Timestamp) -> SubscriptionRow {
    SubscriptionRow {
        id: SubscriptionId::derive("k1", url),
        tenant: tenant(),
        api_key: "k1".into(),
        url: url.into(),
        events: vec![EventKind::ApprovalDecided, EventKind::RunFailed],
        flow: Some(flow()),
        created_at: now,
        going: Going::default(),
    }
}

/// The key that the subscriptions belong to.
async fn with_key(bench: &impl Bench) -> (Arc<dyn Store>, Timestamp) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut write = house(&tenant(), Head::EMPTY, now);
    write.api_key = Some(api_key("k1", &tenant(), now));
    store.house_commit(write).await.unwrap();
    (store, now)
}

async fn write(store: &Arc<dyn Store>, change: SubscriptionWrite, now: Timestamp) -> HouseCommit {
    let mut write = house(&tenant(), store.house_head(&tenant()).await.unwrap(), now);
    write.subscription = Some(change);
    store.house_commit(write).await.unwrap()
}

async fn put(store: &Arc<dyn Store>, url: &str, now: Timestamp) -> SubscriptionRow {
    let row = subscription(url, now);
    assert_ne!(write(store, SubscriptionWrite::Put(row.clone()), now).await, HouseCommit::Lost);
    row
}

fn delivery(subscription: SubscriptionId, place: i32, now: Timestamp) -> DeliveryRow {
    DeliveryRow {
        subscription,
        event: EventId { run: RunId::derive(&tenant(), &flow(), "k"), seq: 3, place },
        kind: EventKind::RunFailed,
        body: "{\"type\":\"run.failed\"}".into(),
        state: DeliveryState::Pending,
        attempts: 0,
        due_at: now,
        created_at: now,
    }
}

pub async fn a_subscription_is_kept_with_its_entry_and_replaced_by_its_id(bench: &impl Bench) {
    let (store, now) = with_key(bench).await;
    let first = put(&store, "http://n8n.test/a", now).await;
    let second = put(&store, "http://n8n.test/b", now.plus_ms(1)).await;
    let other = SubscriptionRow { events: vec![EventKind::RunCompleted], flow: None, ..first.clone() };

    let again = SubscriptionRow { created_at: now.plus_ms(9), ..other.clone() };
    write(&store, SubscriptionWrite::Put(again), now).await;

    assert_eq!(store.subscription_find(&tenant(), first.id).await.unwrap(), Some(other.clone()));
    assert_eq!(store.subscription_find(&Tenant::new("other"), first.id).await.unwrap(), None);
    assert_eq!(store.subscription_list(Some(&tenant())).await.unwrap(), [other, second]);
    assert_eq!(store.subscription_list(None).await.unwrap().len(), 2);
    assert!(store.subscription_list(Some(&Tenant::new("other"))).await.unwrap().is_empty());
    let id = RunId::house(&tenant());
    let head = store.house_head(&tenant()).await.unwrap();
    assert_eq!(journal::verify(id, &chain(&store, id).await, head), Ok(()));
}

pub async fn a_subscription_that_is_gone_is_dropped_by_nobody(bench: &impl Bench) {
    let (store, now) = with_key(bench).await;
    let row = put(&store, "http://n8n.test/a", now).await;
    store.delivery_add(&[delivery(row.id, 0, now)]).await.unwrap();

    assert_ne!(write(&store, SubscriptionWrite::Drop(row.id), now).await, HouseCommit::Lost);
    let seq = store.house_head(&tenant()).await.unwrap().seq;
    assert_eq!(write(&store, SubscriptionWrite::Drop(row.id), now).await, HouseCommit::Lost);

    assert_eq!(store.house_head(&tenant()).await.unwrap().seq, seq, "no entry tells of a drop that was none");
    assert_eq!(store.subscription_find(&tenant(), row.id).await.unwrap(), None);
    assert!(store.delivery_due(row.id, 9).await.unwrap().is_empty(), "what was on its way went with it");
    store.delivery_add(&[delivery(row.id, 0, now)]).await.unwrap();
    assert!(store.delivery_due(row.id, 9).await.unwrap().is_empty(), "nothing is put on its way to nobody");
    assert_eq!(store.delivery_settle(&delivery(row.id, 0, now), Heard::Yes).await.unwrap(), None);
}

pub async fn a_delivery_is_added_once_and_due_by_its_subscription(bench: &impl Bench) {
    let (store, now) = with_key(bench).await;
    let (a, b) = (put(&store, "http://n8n.test/a", now).await, put(&store, "http://n8n.test/b", now).await);
    let later = DeliveryRow { due_at: now.plus_ms(9_000), ..delivery(b.id, 0, now) };
    let rows = [delivery(a.id, 1, now), DeliveryRow { due_at: now.plus_ms(-5), ..delivery(a.id, 0, now) }, later];

    store.delivery_add(&rows).await.unwrap();
    store.delivery_add(&[DeliveryRow { body: "other".into(), ..delivery(a.id, 1, now) }]).await.unwrap();
    store.delivery_add(&[]).await.unwrap();

    assert_eq!(store.delivery_due(a.id, 9).await.unwrap(), [rows[1].clone(), rows[0].clone()]);
    assert_eq!(store.delivery_due(a.id, 1).await.unwrap().len(), 1);
    let due = |rows: Vec<SubscriptionRow>| rows.iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(due(store.subscription_due().await.unwrap()), [a.id]);
    bench.advance(9_000).await;
    let mut both = [a.id, b.id];
    both.sort();
    assert_eq!(due(store.subscription_due().await.unwrap()), both);
}

pub async fn a_delivery_is_claimed_by_one_and_settled_for_good(bench: &impl Bench) {
    let (store, now) = with_key(bench).await;
    let row = put(&store, "http://n8n.test/a", now).await;
    store.delivery_add(&[delivery(row.id, 0, now)]).await.unwrap();
    let due = store.delivery_due(row.id, 9).await.unwrap().remove(0);
    let tries: Vec<_> = (0..10)
        .map(|_| {
            let (store, due) = (Arc::clone(&store), due.clone());
            tokio::spawn(async move { store.delivery_claim(&due, now.plus_ms(30_000)).await.unwrap() })
        })
        .collect();
    let mut won = 0;
    for task in tries {
        won += i32::from(task.await.unwrap());
    }
    assert_eq!(won, 1);
    assert!(store.delivery_due(row.id, 9).await.unwrap().is_empty(), "claimed until its moment");

    let sent = DeliveryRow { state: DeliveryState::Sent, attempts: 1, ..due.clone() };
    store.delivery_settle(&sent, Heard::Yes).await.unwrap();
    store.delivery_settle(&DeliveryRow { attempts: 1, ..due.clone() }, Heard::No).await.unwrap();
    store.delivery_add(&[due]).await.unwrap();

    bench.advance(30_000).await;
    assert!(store.delivery_due(row.id, 9).await.unwrap().is_empty(), "sent is sent, however often it is fanned out");
}

pub async fn how_sending_goes_is_counted_where_it_stands(bench: &impl Bench) {
    let (store, now) = with_key(bench).await;
    let row = put(&store, "http://n8n.test/a", now).await;
    store.delivery_add(&[delivery(row.id, 0, now)]).await.unwrap();
    let settle = async |heard| {
        let after = store.delivery_settle(&delivery(row.id, 0, now), heard).await.unwrap();
        after.unwrap().going
    };

    let tries: Vec<_> = (0..8)
        .map(|_| {
            let (store, row) = (Arc::clone(&store), delivery(row.id, 0, now));
            tokio::spawn(async move { store.delivery_settle(&row, Heard::Gone).await.unwrap() })
        })
        .collect();
    for task in tries {
        task.await.unwrap();
    }
    let ninth = settle(Heard::Gone).await;
    assert_eq!((ninth.gone_count, ninth.gone_since, ninth.last_delivered_at), (9, ninth.failing_since, None));

    let failed = settle(Heard::No).await;
    assert_eq!((failed.gone_count, failed.gone_since, failed.failing_since), (0, None, ninth.failing_since));

    let heard = settle(Heard::Yes).await;
    assert_eq!(heard, Going { last_delivered_at: heard.last_delivered_at, ..Going::default() });
    assert!(heard.last_delivered_at.is_some());
    assert_eq!(store.subscription_list(None).await.unwrap()[0].going, heard);
}

pub async fn what_was_delivered_is_forgotten_after_a_day(bench: &impl Bench) {
    let (store, now) = with_key(bench).await;
    let row = put(&store, "http://n8n.test/a", now).await;
    store.delivery_add(&[delivery(row.id, 0, now), delivery(row.id, 1, now)]).await.unwrap();
    let sent = DeliveryRow { state: DeliveryState::Sent, attempts: 1, ..delivery(row.id, 0, now) };
    store.delivery_settle(&sent, Heard::Yes).await.unwrap();

    bench.advance(DAY_MS - 60_000).await;
    store.run_purge(100).await.unwrap();
    store.delivery_add(&[delivery(row.id, 0, now)]).await.unwrap();
    assert_eq!(store.delivery_due(row.id, 9).await.unwrap().len(), 1, "the one that waits, and no repeat");

    bench.advance(120_000).await;
    store.run_purge(100).await.unwrap();
    store.delivery_add(&[delivery(row.id, 0, now)]).await.unwrap();
    assert_eq!(store.delivery_due(row.id, 9).await.unwrap().len(), 2, "nothing knows of the first any more");
}

pub async fn a_subscription_of_a_key_that_is_not_there_is_refused(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let mut write = house(&tenant(), Head::EMPTY, now);
    write.subscription = Some(SubscriptionWrite::Put(SubscriptionRow {
        flow: Some(FlowName::new("reply")),
        ..subscription("http://n8n.test/a", now)
    }));

    let refused = store.house_commit(write).await;

    assert!(matches!(refused, Err(effectgate_store::StoreError::Rejected { .. })), "{refused:?}");
    assert!(store.subscription_list(None).await.unwrap().is_empty());
    assert_eq!(store.house_head(&tenant()).await.unwrap(), Head::EMPTY);
}
