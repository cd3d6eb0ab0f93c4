//! The engine on its store, and the calls of workers and people on it.

use std::sync::Arc;

use effectgate_core::{
    actor::Person,
    approval::{Verdict, Wish},
    ids::{EffectId, Fence, FlowName, Owner, RunId, Tenant},
    operate::Resolution,
    run::Aggregate,
    switch::{Receipt, Scope},
};
use effectgate_engine::{
    Caller, Engine,
    call::LeaseCall,
    clock::Clock as _,
    propose::Proposal,
    reserve::{Request, Reserved},
    switch::Turn,
    view::RunView,
};
use effectgate_store::{SqliteStore, Store};
use tempfile::TempDir;

use super::{
    calls::{Held, PAYLOAD, asked, olga, request},
    clock::TestClock,
    options::Options,
    policy::policy,
    provider::Scripted,
};

pub struct World {
    pub engine: Engine,
    pub clock: TestClock,
    pub provider: Scripted,
    pub store: Arc<dyn Store>,
    pub caller: Caller,
    options: Options,
    dir: TempDir,
}

impl World {
    pub fn new() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        Self::on(options, TestClock::new())
    }

    /// On a clock that something else goes by as well.
    pub fn on(options: Options, clock: TestClock) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir.path().join("t.db"), &clock);
        let provider = Scripted::default();
        let engine = Engine::new(store.clone(), policy(&options, &provider), Arc::new(clock.clone()));
        let caller = Caller { tenant: Tenant::new("default"), api_key: "n8n".into() };
        Self { engine, clock, provider, store, caller, options, dir }
    }

    /// One more engine on the same store, as another process would be: with counters, caches and limits of its own.
    pub fn another_engine(&self) -> Engine {
        Engine::new(self.store.clone(), policy(&self.options, &self.provider), Arc::new(self.clock.clone()))
    }

    /// The process dies and starts again: what its attempts come to is heard by nobody, the store is what it was.
    pub fn restart(&mut self) {
        self.engine = self.another_engine();
    }

    /// A restart with another config.
    pub fn restart_with(&mut self, change: impl FnOnce(&mut Options)) {
        change(&mut self.options);
        self.restart();
    }

    /// Drops the store without closing it and opens the file again, as the next process does.
    pub fn reopen(&mut self) {
        let nowhere = tempfile::tempdir().unwrap();
        self.store = open(&nowhere.path().join("t.db"), &self.clock);
        self.restart();
        self.store = loop {
            // The lock is free when the last thread of the old store is gone.
            let clock = self.clock.clone();
            match SqliteStore::open_with_clock(self.dir.path().join("t.db"), Arc::new(move || clock.now())) {
                Ok(store) => break Arc::new(store),
                Err(effectgate_store::StoreError::InUse { .. }) => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        };
        self.restart();
    }

    /// The database file as it stands on the disk now, log included, opened somewhere else: what a process that was
    /// killed at this moment leaves behind.
    pub fn killed(&self) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(self.dir.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if matches!(name, "t.db" | "t.db-wal") {
                std::fs::copy(&path, dir.path().join(name)).unwrap();
            }
        }
        let store = open(&dir.path().join("t.db"), &self.clock);
        let engine = Engine::new(store.clone(), policy(&self.options, &self.provider), Arc::new(self.clock.clone()));
        let (clock, provider) = (self.clock.clone(), self.provider.clone());
        Self { engine, clock, provider, store, caller: self.caller.clone(), options: self.options.clone(), dir }
    }

    /// A connection of its own to the database file, past the store: for holding it, breaking it and forging it.
    pub fn raw(&self) -> rusqlite::Connection {
        let conn = rusqlite::Connection::open(self.dir.path().join("t.db")).unwrap();
        conn.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        conn
    }

    pub async fn reserve(&self, key: &str, payload: &str, owner: &str) -> Reserved {
        self.engine.reserve(&self.caller, request(key, payload, owner)).await.unwrap()
    }

    /// Reserves and expects the grant.
    pub async fn grant(&self, key: &str, owner: &str) -> Held {
        match self.reserve(key, PAYLOAD, owner).await {
            Reserved::Granted { run, lease, .. } => Held { run: *run, lease },
            other => panic!("not granted: {other:?}"),
        }
    }

    /// The same under another flow that has the same policy.
    pub async fn grant_in(&self, flow: &str, key: &str) -> Held {
        let request = Request { flow: FlowName::new(flow), ..request(key, PAYLOAD, "worker-1") };
        match self.engine.reserve(&self.caller, request).await.unwrap() {
            Reserved::Granted { run, lease, .. } => Held { run: *run, lease },
            other => panic!("not granted: {other:?}"),
        }
    }

    /// The run's id for a key of the flow `ticket`.
    pub fn id_of(&self, key: &str) -> RunId {
        RunId::derive(&self.caller.tenant, &FlowName::new("ticket"), key)
    }

    pub async fn propose(&self, held: &Held, effects: &[(&str, &str, &str)]) -> Proposal {
        let body = format!("{effects:?}");
        self.engine.propose(&self.call(held, "proposal", &body), &asked(effects)).await.unwrap().answer
    }

    pub fn call(&self, held: &Held, operation: &str, body: &str) -> LeaseCall {
        let owner = Owner::new(held.lease.owner.clone());
        let fence = Fence(held.lease.fence);
        LeaseCall::new(self.caller.tenant.clone(), held.run.id, owner, fence, operation, body.as_bytes())
    }

    /// One effect of type `note` for `target`, through the gate as the options say.
    pub async fn queued(&self, key: &str, target: &str) -> Held {
        let held = self.grant(key, "worker-1").await;
        self.propose(&held, &[("note", target, r#"{"text":"hello"}"#)]).await;
        held
    }

    /// Ticks the dispatcher and waits for its attempts to end.
    pub async fn dispatch(&self) -> effectgate_engine::dispatch::DispatchReport {
        let report = self.engine.dispatch_tick().await.unwrap();
        self.engine.dispatch_idle().await;
        report
    }

    /// One poll round as the driver makes it: ticks until nothing more is due. Gives the number of attempts.
    pub async fn round(&self) -> usize {
        let mut started = 0;
        loop {
            let report = self.dispatch().await;
            started += report.started;
            if !report.more || report.started + report.diverted + report.held == 0 {
                return started;
            }
        }
    }

    /// Time passes in steps; at each the sweeper and the dispatcher do what is due.
    pub async fn pass(&self, steps: usize, step_ms: i64) {
        for _ in 0..steps {
            self.clock.advance_ms(step_ms);
            self.engine.sweep_tick().await.unwrap();
            self.round().await;
        }
    }

    pub async fn turn(&self, scope: Scope, name: &str, enabled: bool) -> Receipt {
        let turn = Turn { scope, name: name.into(), enabled, reason: "the test turns it".into() };
        self.engine.turn_switch(&self.caller.tenant, &olga(), &turn).await.unwrap().receipt
    }

    pub async fn resolve(&self, id: EffectId, how: Resolution) -> effectgate_engine::Result<RunView> {
        self.engine.resolve(&self.caller.tenant, id, &olga(), &how, "looked it up at the provider").await
    }

    /// Every chain of the store verifies.
    pub async fn verify_all(&self) -> usize {
        let mut after = None;
        let mut count = 0;
        loop {
            let heads = self.store.chain_heads(None, after, 500).await.unwrap();
            let Some(last) = heads.last() else { return count };
            after = Some(last.run);
            for chain in heads {
                let entries = self.store.journal_read(chain.run, 0, 100_000).await.unwrap();
                effectgate_core::journal::verify(chain.run, &entries, chain.head).unwrap();
                count += 1;
            }
        }
    }

    /// Alerts that people were or will be told of, by their words.
    pub async fn alerts(&self) -> Vec<String> {
        let kinds = self.raw();
        let mut statement = kinds.prepare("SELECT kind FROM notices ORDER BY run_id, n").unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let alert = |kind: String| {
            serde_json::from_str::<serde_json::Value>(&kind).unwrap()["alert"].as_str().map(str::to_owned)
        };
        rows.filter_map(|row| alert(row.unwrap())).collect()
    }

    /// What the journal says of a kind of entry: its facts.
    pub async fn facts(&self, id: RunId, kind: &str) -> Vec<serde_json::Value> {
        let entries = self.store.journal_read(id, 0, 10_000).await.unwrap().into_iter().filter(|e| e.kind == kind);
        entries.map(|e| serde_json::from_str::<serde_json::Value>(&e.text).unwrap()["facts"].clone()).collect()
    }

    pub async fn agg(&self, id: RunId) -> Aggregate {
        self.store.run_load(&self.caller.tenant, id).await.unwrap().unwrap()
    }

    pub async fn effect_state(&self, id: RunId) -> &'static str {
        self.agg(id).await.effects[0].state.as_str()
    }

    /// Decides the open approval of a run.
    pub async fn decide(
        &self,
        id: RunId,
        person: &Person,
        verdict: Verdict,
    ) -> effectgate_engine::Result<effectgate_engine::decide::Decided> {
        let agg = self.agg(id).await;
        let approval = agg.approval().unwrap();
        let reason = (verdict == Verdict::Reject).then(|| "not good".to_owned());
        let wish = Wish { verdict, reason, shown: approval.effects_hash, edited: None };
        self.engine.decide(&self.caller.tenant, approval.id, person, &wish).await
    }

    /// The chain verifies against the head in the run's row.
    pub async fn verify(&self, id: RunId) {
        let agg = self.agg(id).await;
        let entries = self.store.journal_read(id, 0, 10_000).await.unwrap();
        effectgate_core::journal::verify(id, &entries, agg.run.head).unwrap();
    }

    pub async fn kinds(&self, id: RunId) -> Vec<String> {
        self.store.journal_read(id, 0, 10_000).await.unwrap().into_iter().map(|e| e.kind).collect()
    }
}

fn open(path: &std::path::Path, clock: &TestClock) -> Arc<dyn Store> {
    let clock = clock.clone();
    Arc::new(SqliteStore::open_with_clock(path, Arc::new(move || clock.now())).unwrap())
}
