//! Notices: due, claimed by one, settled for good.

use std::sync::Arc;

use effectgate_core::{
    notice::{Notice, NoticeState},
    run::Run,
    time::Timestamp,
};
use effectgate_store::{DueNotice, Store};

use super::{Bench, fixtures::*};

async fn told(store: &Arc<dyn Store>, key: &str, at: Timestamp, now: Timestamp) -> (Run, Notice) {
    let agg = start(store, reserved(key, now)).await;
    let mut said = notice(2, key, now);
    said.due_at = at;
    let agg = commit(
        store,
        moved(&agg.run, now, |d| {
            d.notice(said.clone());
        }),
    )
    .await;
    (agg.run, said)
}

pub async fn due_notices_come_oldest_first(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    told(&store, "b", now, now).await;
    let (run, first) = told(&store, "a", now.plus_ms(-5), now).await;
    told(&store, "later", now.plus_ms(9_000), now).await;

    let due = store.notice_due(9).await.unwrap();

    assert_eq!(due[0], DueNotice { tenant: tenant(), run: run.id, notice: first });
    assert_eq!((due.len(), store.notice_due(1).await.unwrap().len()), (2, 1));
    bench.advance(9_000).await;
    assert_eq!(store.notice_due(9).await.unwrap().len(), 3);
}

pub async fn a_notice_is_claimed_by_one(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    told(&store, "k", now, now).await;
    let due = store.notice_due(9).await.unwrap().remove(0);
    let tries: Vec<_> = (0..10)
        .map(|_| {
            let (store, due) = (Arc::clone(&store), due.clone());
            tokio::spawn(async move { store.notice_claim(&due, now.plus_ms(30_000)).await.unwrap() })
        })
        .collect();

    let mut won = 0;
    for task in tries {
        won += i32::from(task.await.unwrap());
    }

    assert_eq!(won, 1);
    assert!(store.notice_due(9).await.unwrap().is_empty(), "claimed until its moment");
    bench.advance(30_000).await;
    let again = store.notice_due(9).await.unwrap().remove(0);
    assert_eq!(again.notice.attempts, 1);
    assert!(store.notice_claim(&again, now.plus_ms(90_000)).await.unwrap());
}

pub async fn a_settled_notice_stays_settled(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let (run, said) = told(&store, "k", now, now).await;
    let sent = Notice { state: NoticeState::Sent, attempts: 1, ..said.clone() };
    let again = Notice { due_at: now, attempts: 1, ..said };

    store.notice_settle(run.id, &again).await.unwrap();
    assert_eq!(store.notice_due(9).await.unwrap()[0].notice.attempts, 1);
    store.notice_settle(run.id, &sent).await.unwrap();
    store.notice_settle(run.id, &again).await.unwrap();

    assert!(store.notice_due(9).await.unwrap().is_empty(), "a slow sender does not take back what another has done");
}

pub async fn a_sent_word_is_known_since_its_moment(bench: &impl Bench) {
    let (store, now) = (bench.store(), bench.now().await);
    let (run, said) = told(&store, "k", now, now).await;
    assert!(!store.notice_sent_since("k", now.plus_ms(-1)).await.unwrap(), "pending is not sent");

    let sent = Notice { state: NoticeState::Sent, due_at: now, ..said };
    store.notice_settle(run.id, &sent).await.unwrap();

    assert!(store.notice_sent_since("k", now).await.unwrap());
    assert!(!store.notice_sent_since("k", now.plus_ms(1)).await.unwrap());
    assert!(!store.notice_sent_since("other", now).await.unwrap());
}
