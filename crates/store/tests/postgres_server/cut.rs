//! Connections that are cut at the worst moment: the statement was not sent, or was done and its answer lost, or is
//! still at work. Between store and server stands a proxy that cuts when it sees a word go by.

use std::sync::{Arc, Mutex};

use effectgate_core::transition::ContentWrite;
use effectgate_store::{Commit, PgStore, Reserved, Store, StoreError};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::Fixture;
use crate::{client, conformance::fixtures::*};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// The statement never reaches the server.
    Before,
    /// The server has done it, and its answer is lost.
    After,
    /// The server is at work on it.
    Amid,
}

/// Cuts the connection on which this word goes by, once.
const WORD: &[u8] = b"cut-here";

type Armed = Arc<Mutex<Option<Cut>>>;

/// The URL of the database through the proxy.
async fn proxy(url: &str, armed: &Armed) -> String {
    let (front, database) = url.rsplit_once('/').unwrap();
    let (user, upstream) = front.rsplit_once('@').unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (upstream, armed) = (upstream.to_owned(), Arc::clone(armed));
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = TcpStream::connect(&upstream).await.unwrap();
            tokio::spawn(carry(near, far, Arc::clone(&armed)));
        }
    });
    format!("{user}@127.0.0.1:{port}/{database}?sslmode=disable")
}

async fn carry(mut near: TcpStream, mut far: TcpStream, armed: Armed) {
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = near.read(&mut up) => {
                let Ok(bytes @ 1..) = read else { return };
                let seen = up[..bytes].windows(WORD.len()).any(|w| w == WORD);
                let cut = if seen { armed.lock().unwrap().take() } else { None };
                if cut == Some(Cut::Before) || far.write_all(&up[..bytes]).await.is_err() {
                    return;
                }
                match cut {
                    Some(Cut::After) => return done(&mut far).await,
                    Some(Cut::Amid) => {
                        // Only this side: the server notices when it next speaks to its client.
                        drop(near);
                        return done(&mut far).await;
                    }
                    _ => {}
                }
            }
            read = far.read(&mut down) => {
                let Ok(bytes @ 1..) = read else { return };
                if near.write_all(&down[..bytes]).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Reads on until the server is ready for the next statement.
async fn done(far: &mut TcpStream) {
    const READY: &[u8] = b"Z\0\0\0\x05I";
    let mut heard = Vec::new();
    while !heard.ends_with(READY) && far.read_buf(&mut heard).await.is_ok_and(|bytes| bytes > 0) {}
}

/// A store behind the proxy; the fixture's own store is not.
async fn cut_store(f: &Fixture) -> (Arc<dyn Store>, Armed) {
    let armed = Armed::default();
    let store = PgStore::connect(&proxy(&f.url, &armed).await).await.unwrap();
    (Arc::new(store), armed)
}

#[tokio::test]
async fn a_reservation_whose_answer_was_lost_is_answered_by_reading_it_again() {
    for cut in [Cut::Before, Cut::After] {
        let Some(f) = Fixture::new().await else { return };
        let (store, armed) = cut_store(&f).await;
        let now = f.now().await;
        start(&store, reserved("warm", now)).await;

        *armed.lock().unwrap() = Some(cut);
        let reserve = store.run_reserve(reserved("cut-here", now)).await.unwrap();

        assert!(armed.lock().unwrap().is_none(), "it was cut");
        assert!(matches!(&reserve, Reserved::Created { lease: Some(lease) } if lease.is_live), "{reserve:?}");
        assert_eq!(chain(&f.store, id("cut-here")).await.len(), 1);
        let again = store.run_reserve(reserved("cut-here", now)).await.unwrap();
        assert!(matches!(again, Reserved::Exists { .. }), "{again:?}");
    }
}

#[tokio::test]
async fn twins_whose_answer_was_lost_make_one_run() {
    let Some(f) = Fixture::new().await else { return };
    let (store, armed) = cut_store(&f).await;
    let now = f.now().await;
    *armed.lock().unwrap() = Some(Cut::After);

    let twins: Vec<_> = (0..10)
        .map(|n| {
            let (store, mut new) = (Arc::clone(&store), reserved("cut-here", now));
            new.run.owner = Some(owner(n));
            tokio::spawn(async move { store.run_reserve(new).await.unwrap() })
        })
        .collect();
    let mut created = 0;
    for twin in twins {
        created += usize::from(matches!(twin.await.unwrap(), Reserved::Created { .. }));
    }

    assert_eq!(created, 1);
    assert_eq!(chain(&f.store, id("cut-here")).await.len(), 1);
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_answered_by_its_entry() {
    for cut in [Cut::Before, Cut::After] {
        let Some(f) = Fixture::new().await else { return };
        let (store, armed) = cut_store(&f).await;
        let now = f.now().await;
        let agg = start(&store, reserved("k", now)).await;
        let agg = commit(&store, touch(&agg.run, now)).await;
        let mut transition = touch(&agg.run, now);
        transition.content = ContentWrite { output: Some("cut-here".into()), ..ContentWrite::default() };

        *armed.lock().unwrap() = Some(cut);
        let answer = store.commit(transition.clone()).await.unwrap();

        assert!(armed.lock().unwrap().is_none(), "it was cut");
        assert!(matches!(answer, Commit::Committed { lease: Some(lease) } if lease.is_live), "{answer:?}");
        assert_eq!(chain(&f.store, agg.run.id).await.len(), 3);
        assert_eq!(store.commit(transition).await.unwrap(), Commit::Lost);
    }
}

/// Two replicas try the same change at the same moment; their entries are the same to the byte. One of them loses its
/// connection before its statement is sent, and must not take the other's commit for its own: both would send.
#[tokio::test]
async fn a_twin_of_a_commit_is_not_taken_for_ones_own() {
    let Some(f) = Fixture::new().await else { return };
    let (store, armed) = cut_store(&f).await;
    let now = f.now().await;
    let agg = approved(&f.store, reserved("k", now), 1, now, |e| e.payload = "cut-here".into()).await;
    start(&store, reserved("warm", now)).await;
    let transition = sending(&agg, 1, LEASE_MS, now);
    let holder = client(&f.url).await;
    holder.batch_execute("BEGIN; SELECT 1 FROM runs FOR UPDATE").await.unwrap();
    let committing = {
        let (store, transition) = (Arc::clone(&f.store), transition.clone());
        tokio::spawn(async move { store.commit(transition).await.unwrap() })
    };
    f.until_blocked().await;
    *armed.lock().unwrap() = Some(Cut::Amid);
    let twin = tokio::spawn(async move { store.commit(transition).await });
    f.until(BOTH_WAIT).await;

    holder.batch_execute("COMMIT").await.unwrap();

    assert!(matches!(committing.await.unwrap(), Commit::Committed { .. }));
    let twin = twin.await.unwrap();
    assert_eq!(twin.unwrap(), Commit::Lost);
}

const BOTH_WAIT: &str = "SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database()
  AND application_name = 'effectgate' AND wait_event_type = 'Lock'";

#[tokio::test]
async fn a_commit_that_may_still_happen_is_unknown() {
    let Some(f) = Fixture::new().await else { return };
    let (store, armed) = cut_store(&f).await;
    let now = f.now().await;
    let agg = start(&store, reserved("k", now)).await;
    let mut transition = touch(&agg.run, now);
    transition.content = ContentWrite { output: Some("cut-here".into()), ..ContentWrite::default() };
    let holder = client(&f.url).await;
    holder.batch_execute("BEGIN; SELECT 1 FROM runs FOR UPDATE").await.unwrap();

    *armed.lock().unwrap() = Some(Cut::Amid);
    let answer = store.commit(transition).await;

    assert!(matches!(answer, Err(StoreError::CommitUnknown { .. })), "{answer:?}");
    holder.batch_execute("COMMIT").await.unwrap();
    f.until("SELECT journal_seq = 2 FROM runs").await;
}
