//! The tap: stands between the engine and the real store. Writes down what was committed, gives other tasks their turn
//! before and after each operation (the seed says how many turns), and is where processes crash. An operation itself
//! runs to its end on the spot, so that between two turns nothing else moves and a seed gives one order of events.
//!
//! With a [`Broken`] it is also where a guard is taken out. What it notes is what the engine meant to write.

use std::{
    pin::pin,
    sync::{Arc, Mutex, RwLock},
    task::{Context, Poll, Wake, Waker},
    thread::Thread,
    time::Duration,
};

use async_trait::async_trait;
use effectgate_core::{
    digest::Digest,
    effect::{Attempt, Effect},
    ids::{FlowName, ProviderName, ReplayId, RunId, SourceName, SubscriptionId, Tenant},
    journal::{Head, SealedEntry},
    notice::Notice,
    replay::ReplayFilter,
    run::{Aggregate, Run},
    switch::Switch,
    time::Timestamp,
    transition::Transition,
};
use effectgate_engine::clock::Clock as _;
use effectgate_store::{
    ApiKeyRow, ApprovalFilter, ApprovalItem, ChainHead, ChargeRow, Commit, Content, DeliveryRow, DueEffect, DueNotice,
    EffectFilter, Gauge, Health, Heard, HouseCommit, HouseWrite, InboxFilter, JournalFilter, NewRun, Page, ProfileRow,
    Purged, ReplayFound, ReplayItem, Reserved, Result, RunFilter, RunOverdue, RunRef, SessionRow, Store,
    SubscriptionRow, TallyRow, TokenHit, UserRow,
};
use tokio::sync::Notify;

use crate::{
    broken::Broken,
    common::TestClock,
    crash::Crash,
    dice::Dice,
    history::{Event, History},
};

pub struct Tap {
    inner: RwLock<Option<Arc<dyn Store>>>,
    wall: TestClock,
    /// The store's clock: the wall's, never backwards until the file is opened again.
    last: Mutex<Timestamp>,
    turns: Mutex<Dice>,
    history: History,
    crash: Crash,
    broken: Option<Broken>,
    /// Readings of the switches until the one whose answer is held up, and what lets it go.
    slow_switches: Mutex<Option<(usize, Arc<Notify>)>>,
}

impl Tap {
    pub fn new(wall: TestClock, turns: Dice, history: History, crash: Crash, broken: Option<Broken>) -> Self {
        let (inner, last) = (RwLock::default(), Mutex::new(Timestamp::from_micros(i64::MIN)));
        Self { inner, wall, last, turns: Mutex::new(turns), history, crash, broken, slow_switches: Mutex::default() }
    }

    /// Lets go of the store.
    pub fn let_go(&self) {
        *self.inner.write().unwrap() = None;
    }

    /// The store behind it, from now on, just opened.
    pub fn put(&self, store: Arc<dyn Store>) {
        *self.inner.write().unwrap() = Some(store);
        *self.last.lock().unwrap() = Timestamp::from_micros(i64::MIN);
    }

    /// The answer to the nth reading of the switches from now on is held up until the caller says so.
    pub fn hold_up_the_switches(&self, nth: usize) -> Arc<Notify> {
        let go_on = Arc::new(Notify::new());
        *self.slow_switches.lock().unwrap() = Some((nth, go_on.clone()));
        go_on
    }

    async fn is_held_up(&self) {
        let go_on = {
            let mut slow = self.slow_switches.lock().unwrap();
            slow.as_mut().and_then(|(left, go_on)| {
                *left = left.saturating_sub(1);
                (*left == 0).then(|| go_on.clone())
            })
        };
        if let Some(go_on) = go_on {
            *self.slow_switches.lock().unwrap() = None;
            go_on.notified().await;
        }
    }

    fn inner(&self) -> Arc<dyn Store> {
        self.inner.read().unwrap().clone().expect("nobody asks while the file is being opened again")
    }

    fn clock(&self) -> Timestamp {
        let mut last = self.last.lock().unwrap();
        *last = (*last).max(self.wall.now());
        *last
    }

    /// Others have their turn.
    async fn turns(&self) {
        // Mostly none: an operation that is never interrupted is the common case, and turns cost time.
        let n = [0, 0, 0, 1, 1, 3][self.turns.lock().unwrap().below(6)];
        for _ in 0..n {
            tokio::task::yield_now().await;
        }
    }

    async fn read<T>(&self, work: impl AsyncFnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        self.turns().await;
        self.clock();
        let inner = self.inner();
        let found = at_once(work(&*inner));
        self.turns().await;
        found
    }

    async fn write<T>(&self, kind: &str, work: impl AsyncFnOnce(&dyn Store, Timestamp) -> Result<T>) -> Result<T> {
        self.turns().await;
        self.crash.at(kind, "before").await;
        let (inner, clock) = (self.inner(), self.clock());
        let done = at_once(work(&*inner, clock));
        self.crash.at(kind, "after").await;
        self.turns().await;
        done
    }

    fn as_read(&self, agg: Option<Aggregate>) -> Option<Aggregate> {
        agg.map(|mut agg| {
            self.broken.iter().for_each(|broken| broken.read(&mut agg));
            agg
        })
    }

    fn reserved(&self, stored: Reserved, payload: effectgate_core::payload::PayloadHash) -> Reserved {
        let (Some(broken), Reserved::Exists { mut run, lease }) = (self.broken, stored.clone()) else { return stored };
        if broken == Broken::Payload {
            run.payload_hash = payload;
        }
        let mut agg = Aggregate { run: *run, lease, effects: Vec::new(), approvals: Vec::new() };
        broken.read(&mut agg);
        Reserved::Exists { run: Box::new(agg.run), lease: agg.lease }
    }

    async fn committed(&self, inner: &dyn Store, transition: Transition, clock: Timestamp) -> Result<Commit> {
        let meant = transition.clone();
        let written = match self.broken {
            Some(broken) => broken.write(transition),
            None => Some(transition),
        };
        let commit = match written {
            Some(transition) => inner.commit(transition).await?,
            // Acknowledged, not written, not on record.
            None => return Ok(Commit::Committed { lease: None }),
        };
        if let Commit::Committed { lease } = &commit {
            self.history.push(Event::Committed { transition: meant, lease: *lease, clock });
        }
        Ok(commit)
    }
}

/// Runs an operation of the store to its end without letting anybody else have a turn. The store's threads answer by
/// themselves; outside of the cooperative budget, or an operation could wait for a turn that never comes.
fn at_once<T>(work: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut work = pin!(tokio::task::unconstrained(work));
    loop {
        match work.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Operations that are passed on as they are: a new one of the store is a line more.
macro_rules! reads {
    ($($name:ident($($arg:ident: $of:ty),*) -> $out:ty;)+) => {
        #[async_trait]
        impl Store for Tap {
            $(async fn $name(&self, $($arg: $of),*) -> Result<$out> {
                self.read(async |store| store.$name($($arg),*).await).await
            })+

            async fn run_reserve(&self, new: NewRun) -> Result<Reserved> {
                let (run, payload) = (new.run.clone(), new.run.payload_hash);
                let stored = self.write("reserved", async |store, _| {
                    let stored = store.run_reserve(new).await?;
                    if let Reserved::Created { lease } = &stored {
                        self.history.push(Event::Made { run, lease: *lease });
                    }
                    Ok(stored)
                });
                Ok(self.reserved(stored.await?, payload))
            }

            async fn commit(&self, transition: Transition) -> Result<Commit> {
                let kind = transition.entries.first().map(|e| e.kind.clone()).unwrap_or_default();
                self.write(&kind, async |store, clock| self.committed(store, transition, clock).await).await
            }

            async fn run_load(&self, tenant: &Tenant, id: RunId) -> Result<Option<Aggregate>> {
                let found = self.read(async |store| store.run_load(tenant, id).await).await?;
                Ok(self.as_read(found))
            }

            async fn switch_list(&self) -> Result<Vec<Switch>> {
                let found = self.read(async |store| store.switch_list().await).await?;
                self.is_held_up().await;
                Ok(if self.broken == Some(Broken::Switch) { Vec::new() } else { found })
            }

            async fn house_commit(&self, write: HouseWrite) -> Result<HouseCommit> {
                let turned = write.switch.clone();
                self.write("house", async |store, _| {
                    let committed = store.house_commit(write).await?;
                    if let (HouseCommit::Committed { .. }, Some(s)) = (&committed, turned) {
                        self.history.push(Event::Turned { scope: s.scope, name: s.name, enabled: s.enabled });
                    }
                    Ok(committed)
                }).await
            }

            fn reads_stay_true(&self) -> Duration {
                self.inner().reads_stay_true()
            }

            async fn close(&self) {
                self.inner().close().await;
            }
        }
    };
}

reads! {
    run_content(tenant: &Tenant, id: RunId) -> Option<Content>;
    run_find(tenant: &Tenant, filter: &RunFilter) -> Page<Run>;
    run_matching(tenant: &Tenant, filter: &ReplayFilter, cursor: Option<&str>, limit: u32) -> Page<Run>;
    run_corrections(tenant: &Tenant, original: RunId, limit: u32) -> Vec<Run>;
    run_claimable(tenant: &Tenant, flow: &FlowName, limit: u32) -> Vec<RunId>;
    run_deliverable(source: &SourceName, limit: u32) -> Vec<RunRef>;
    run_overdue(kind: RunOverdue, after: Option<RunId>, limit: u32) -> Vec<RunRef>;
    run_purge(limit: u32) -> Purged;
    effect_due(provider: &ProviderName, limit: u32) -> Vec<DueEffect>;
    effect_waiting(provider: &ProviderName, limit: u32) -> Vec<DueEffect>;
    charge_list(scopes: &[String], since: Timestamp) -> Vec<ChargeRow>;
    effect_lost(limit: u32) -> Vec<DueEffect>;
    effect_unknown(limit: u32) -> Vec<DueEffect>;
    effect_find(tenant: &Tenant, filter: &EffectFilter) -> Page<DueEffect>;
    effect_review(since: Timestamp, after: Option<&Effect>, limit: u32) -> Vec<DueEffect>;
    attempt_list(run: RunId) -> Vec<Attempt>;
    approval_by_token(hash: &Digest) -> Option<TokenHit>;
    approval_find(tenant: &Tenant, filter: &ApprovalFilter) -> Page<ApprovalItem>;
    inbox_find(tenant: &Tenant, filter: &InboxFilter) -> Page<ApprovalItem>;
    inbox_count(tenant: &Tenant, members: Option<&[String]>) -> u64;
    approval_overdue(limit: u32) -> Vec<RunRef>;
    answer_find(run: RunId, call: &Digest) -> Option<String>;
    journal_read(run: RunId, after_seq: i64, limit: u32) -> Vec<SealedEntry>;
    journal_search(tenant: &Tenant, filter: &JournalFilter) -> Page<SealedEntry>;
    chain_heads(tenant: Option<&Tenant>, after: Option<RunId>, limit: u32) -> Vec<ChainHead>;
    house_head(tenant: &Tenant) -> Head;
    replay_find(tenant: &Tenant, id: ReplayId) -> Option<ReplayFound>;
    replay_list(tenant: &Tenant, cursor: Option<&str>, limit: u32) -> Page<ReplayFound>;
    replay_items(id: ReplayId, after: i32, limit: u32, waiting: bool) -> Vec<ReplayItem>;
    replay_item_settle(id: ReplayId, item: &ReplayItem) -> bool;
    replay_hold(id: ReplayId, holder: &str, ms: i64) -> bool;
    replay_stalled(limit: u32) -> Vec<(Tenant, ReplayId)>;
    api_key_find(public_id: &str) -> Option<ApiKeyRow>;
    api_key_list(tenant: &Tenant) -> Vec<ApiKeyRow>;
    api_key_none() -> bool;
    user_find(tenant: &Tenant, name: &str) -> Option<UserRow>;
    user_list(tenant: &Tenant) -> Vec<UserRow>;
    session_put(session: SessionRow) -> ();
    session_find(hash: &Digest) -> Option<SessionRow>;
    session_delete(hash: &Digest) -> ();
    session_list_of(tenant: &Tenant, user: &str) -> Vec<SessionRow>;
    session_delete_of(tenant: &Tenant, user: &str) -> ();
    profile_find(tenant: &Tenant, subject: &str) -> Option<ProfileRow>;
    profile_put(profile: ProfileRow) -> ();
    profile_list(tenant: &Tenant) -> Vec<ProfileRow>;
    tally_add(rows: &[TallyRow]) -> ();
    tally_find(tenant: &Tenant, since_day: i32, until_day: i32) -> Vec<TallyRow>;
    notice_due(limit: u32) -> Vec<DueNotice>;
    notice_claim(due: &DueNotice, until: Timestamp) -> bool;
    notice_settle(run: RunId, notice: &Notice) -> ();
    notice_sent_since(dedupe: &str, since: Timestamp) -> bool;
    subscription_find(tenant: &Tenant, id: SubscriptionId) -> Option<SubscriptionRow>;
    subscription_list(tenant: Option<&Tenant>) -> Vec<SubscriptionRow>;
    subscription_due() -> Vec<SubscriptionRow>;
    delivery_add(rows: &[DeliveryRow]) -> ();
    delivery_due(subscription: SubscriptionId, limit: u32) -> Vec<DeliveryRow>;
    delivery_claim(due: &DeliveryRow, until: Timestamp) -> bool;
    delivery_settle(delivery: &DeliveryRow, heard: Heard) -> Option<SubscriptionRow>;
    health() -> Health;
    gauges() -> Vec<Gauge>;
}
