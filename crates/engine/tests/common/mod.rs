//! A small world for the engine's tests: a SQLite store and an engine on one clock that stands still until it is moved,
//! and a provider that does as it is told and counts what it executed. Ticks are called by hand.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

pub mod channel;
pub mod provider;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use effectgate_core::{
    actor::{Actor, Person, SignIn, Subject},
    approval::{Verdict, Wish},
    budget::Budget,
    flow::{
        ApprovalPolicy, EffectPolicy, Escalation, Flow, Impact, KeyFrom, LeaseBounds, Login, Retention, TargetRule,
    },
    gate::Gate,
    ids::{EffectId, EffectType, Fence, FlowName, Owner, ProviderName, RunId, Tenant},
    key::KeyPolicy,
    operate::Resolution,
    payload::IdentityRule,
    provider::{self as core_provider, Breaker, Class, Declared, Provider, Rate},
    retry::Backoff,
    run::{Aggregate, Origin},
    switch::{Ceiling, Receipt, Scope},
    time::Timestamp,
};
use effectgate_engine::{
    Caller, Engine,
    call::LeaseCall,
    clock::Clock,
    connector::Connector,
    notify::Channels,
    outbound::{OUT_TYPE, OutPolicy},
    policy::{AlertRoute, DispatcherPolicy, EffectRules, FlowPolicy, Policy, ProviderPolicy, SweeperPolicy},
    propose::{Asked, Output, Proposal, Request as ProposalRequest},
    reserve::{KeyGiven, PayloadGiven, Request, Reserved},
    switch::Turn,
    view::{LeaseView, RunView},
};
use effectgate_store::{SqliteStore, Store};
#[allow(unused_imports, reason = "not every program scripts answers")]
pub use provider::{Answer, Scripted};
use tempfile::TempDir;

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_790_000_000_000_000)))
    }
    pub fn set(&self, at: Timestamp) {
        self.0.store(at.micros(), Ordering::SeqCst);
    }
    pub fn advance_ms(&self, ms: i64) {
        self.0.fetch_add(ms * 1_000, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

pub struct World {
    pub engine: Engine,
    pub clock: TestClock,
    pub provider: Scripted,
    pub store: Arc<dyn Store>,
    pub caller: Caller,
    options: Options,
    dir: TempDir,
}

/// What a test may want otherwise.
#[derive(Clone)]
pub struct Options {
    /// The gate of `note` (at the provider `crm`) and, unless `mail_gate` says otherwise, of `mail` (at `other`).
    pub gate: Gate,
    pub mail_gate: Option<Gate>,
    pub class: Class,
    pub lookup: Option<core_provider::Lookup>,
    /// What `crm` says about keys it has seen.
    pub declared: Declared,
    /// Attempts of an effect.
    pub attempts_max: i32,
    /// Claims of a run.
    pub claims_max: i32,
    pub repairs_max: i32,
    /// Instead of the scripted provider, for `crm`.
    pub connector: Option<Arc<dyn Connector>>,
    /// The same for `other`.
    pub connector_of_mail: Option<Arc<dyn Connector>>,
    pub smtp: bool,
    pub attempt_ms_max: i64,
    pub breaker_failures: u32,
    pub sweep_batch: u32,
    pub login: Login,
    pub audience: Vec<String>,
    pub quorum: i32,
    pub separation: bool,
    pub link_in_answer: bool,
    pub ceiling: Ceiling,
    pub budgets: Vec<Budget>,
    pub output_schema: Option<serde_json::Value>,
    pub payload_schema: Option<serde_json::Value>,
    /// Of the payloads of both effects.
    pub effect_schema: Option<serde_json::Value>,
    pub identity: Vec<String>,
    /// Attempts under way at once, at each provider.
    pub concurrent: usize,
    pub batch: u32,
    pub retention: Retention,
    pub channels: Channels,
    pub alerts: Vec<AlertRoute>,
    pub expires_ms: i64,
    pub remind_ms: Option<i64>,
    pub escalate: Option<Escalation>,
    /// Between attempts of an effect, and of a run.
    pub backoff: Backoff,
    /// The outbound door of `crm`; its flow is `ticket`, with the effect type `http` under `gate`.
    pub out: Option<OutPolicy>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            gate: Gate::None,
            mail_gate: None,
            class: Class::Advisory,
            lookup: None,
            declared: Declared::default(),
            attempts_max: 5,
            claims_max: 5,
            repairs_max: 1,
            connector: None,
            connector_of_mail: None,
            smtp: false,
            attempt_ms_max: 10_000,
            breaker_failures: 1_000,
            sweep_batch: 500,
            login: Login::Required,
            audience: vec!["role:support-lead".into()],
            quorum: 1,
            separation: true,
            link_in_answer: false,
            ceiling: Ceiling::On,
            budgets: vec![],
            output_schema: None,
            payload_schema: None,
            effect_schema: None,
            identity: vec![String::new()],
            concurrent: 1_000,
            batch: 100,
            retention: Retention { content_days: 30, key_days: 90, journal_days: 730 },
            channels: Channels::default(),
            alerts: vec![],
            expires_ms: 24 * HOUR,
            remind_ms: Some(8 * HOUR),
            escalate: None,
            backoff: Backoff { base_ms: 1_000, max_ms: 60_000 },
            out: None,
        }
    }
}

pub const HOUR: i64 = 3_600_000;

pub fn enforcing() -> Class {
    Class::Enforcing { key_window_ms: 24 * HOUR, margin_ms: HOUR }
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

/// The operator.
pub fn olga() -> Actor {
    Actor::Person(Subject::user("olga"))
}

/// A handed input file, as text.
#[macro_export]
macro_rules! handed {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/handed/", $name))
    };
}

/// A lease in a test's hand.
#[derive(Debug, Clone)]
pub struct Held {
    pub run: RunView,
    pub lease: LeaseView,
}

pub const PAYLOAD: &str = r#"{"customer":{"email":"a@example.test"},"amount":12.50}"#;

pub fn request(key: &str, payload: &str, owner: &str) -> Request {
    Request {
        flow: FlowName::new("ticket"),
        key: KeyGiven::Whole(key.into()),
        payload: PayloadGiven::Text(payload.into()),
        owner: Some(owner.into()),
        lease_ms: None,
        origin: Origin::default(),
    }
}

pub fn asked(effects: &[(&str, &str, &str)]) -> ProposalRequest {
    let effects = effects.iter().map(|(effect_type, target, payload)| Asked {
        effect_type: (*effect_type).into(),
        target: Some((*target).into()),
        payload: (*payload).into(),
    });
    ProposalRequest { effects: Some(effects.collect()), output: Output::None, ..ProposalRequest::default() }
}

pub fn lead(name: &str) -> Person {
    Person {
        subject: Subject::user(name),
        aliases: BTreeSet::from([Subject::mail(&format!("{name}@example.test"))]),
        roles: BTreeSet::from(["approver".to_owned(), "support-lead".to_owned()]),
        sign_in: SignIn::Login,
    }
}

pub fn policy(options: &Options, scripted: &Scripted) -> Policy {
    let provider = Provider {
        name: ProviderName::new("crm"),
        class: options.class,
        smtp: options.smtp,
        lookup: options.lookup,
        attempts_max: options.attempts_max,
        backoff: options.backoff,
        retry_after_ms_max: HOUR,
        refused_statuses: vec![],
        not_done_statuses: vec![503],
        declared: options.declared.clone(),
        external_id_required: false,
        attempt_ms_max: options.attempt_ms_max,
        sending_margin_ms: 30_000,
        rate: Rate { per_second: 1e6, concurrent: options.concurrent },
        breaker: Breaker { failures: options.breaker_failures, open_ms: 1_000 },
    };
    let other = Provider { name: ProviderName::new("other"), ..provider.clone() };
    let of_test: Arc<dyn Connector> = Arc::new(scripted.clone());
    let connector = options.connector.clone().unwrap_or_else(|| of_test.clone());
    let of_mail = options.connector_of_mail.clone().unwrap_or(of_test);
    let providers = [(provider, connector, options.out.clone()), (other, of_mail, None)]
        .map(|(provider, connector, out)| (provider.name.clone(), ProviderPolicy { provider, connector, out }));
    let flows = ["ticket", "held_back"].map(|name| (FlowName::new(name), flow(options, name)));
    Policy {
        flows: BTreeMap::from(flows),
        providers: BTreeMap::from(providers),
        sources: BTreeMap::new(),
        budgets: options.budgets.clone(),
        ceiling: options.ceiling,
        public_url: "http://gate.test".into(),
        channels: options.channels.clone(),
        alerts: options.alerts.clone(),
        dispatcher: DispatcherPolicy { workers: 64, period_ms: 500, batch: options.batch },
        sweeper: SweeperPolicy { period_ms: 2_000, batch: options.sweep_batch, stuck_ms: 24 * HOUR },
        replay: effectgate_engine::replay::ReplayPolicy::default(),
        n8n: None,
    }
}

fn flow(options: &Options, name: &str) -> FlowPolicy {
    let effect = |provider: &str, gate: &Gate| EffectPolicy {
        provider: ProviderName::new(provider),
        impact: Impact::Normal,
        reversible: true,
        gate: gate.clone(),
        target: TargetRule::Proposal,
        payload_schema: None,
    };
    let mail_gate = options.mail_gate.as_ref().unwrap_or(&options.gate);
    let mut effects = BTreeMap::from([
        (EffectType::new("note"), effect("crm", &options.gate)),
        (EffectType::new("mail"), effect("other", mail_gate)),
    ]);
    if options.out.is_some() {
        effects.insert(EffectType::new(OUT_TYPE), effect("crm", &options.gate));
    }
    let compiled_of =
        |s: &Option<serde_json::Value>| s.as_ref().map(|s| effectgate_rules::schema::Schema::compile(s).unwrap());
    let rules = |_: &EffectType| EffectRules {
        payload_schema: compiled_of(&options.effect_schema),
        rules: vec![],
        evidence: None,
        payload_from: None,
    };
    let compiled = effects.keys().map(|k| (k.clone(), rules(k))).collect();
    let flow = Flow {
        name: FlowName::new(name),
        revision: "sha256:test".into(),
        key_from: KeyFrom::Given,
        key_policy: KeyPolicy::default(),
        identity: IdentityRule::new(options.identity.clone()).unwrap(),
        payload_schema: None,
        output_schema: options.output_schema.clone(),
        repairs_max: options.repairs_max,
        agent_iterations_max: Some(8),
        lease: LeaseBounds { default_ms: 60_000, min_ms: 1_000, max_ms: 600_000, total_ms_max: 1_800_000 },
        attempts_max: options.claims_max,
        backoff: options.backoff,
        effects,
        approval: Some(ApprovalPolicy {
            audience: options.audience.clone(),
            quorum: options.quorum,
            login: options.login,
            link_in_answer: options.link_in_answer,
            separation: options.separation,
            expires_ms: options.expires_ms,
            remind_ms: options.remind_ms,
            escalate: options.escalate.clone(),
        }),
        sla: None,
        retention: options.retention,
        review_alert_ms: HOUR,
    };
    let payload_schema = compiled_of(&options.payload_schema);
    FlowPolicy { flow, payload_schema, output_schema: compiled_of(&options.output_schema), effects: compiled }
}
