//! A small world for the engine's tests: a SQLite store and an engine on one clock that stands still until it is moved,
//! and a provider that does as it is told and counts what it executed. Ticks are called by hand.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

pub mod provider;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use effectgate_core::{
    actor::{Person, SignIn, Subject},
    approval::{Verdict, Wish},
    flow::{ApprovalPolicy, EffectPolicy, Flow, Impact, KeyFrom, LeaseBounds, Login, Retention, TargetRule},
    gate::Gate,
    ids::{EffectType, Fence, FlowName, Owner, ProviderName, RunId, Tenant},
    key::KeyPolicy,
    payload::IdentityRule,
    provider::{self as core_provider, Breaker, Class, Provider, Rate},
    retry::Backoff,
    run::{Aggregate, Origin},
    switch::Ceiling,
    time::Timestamp,
};
use effectgate_engine::{
    Caller, Engine,
    call::LeaseCall,
    clock::Clock,
    notify::Channels,
    policy::{DispatcherPolicy, EffectRules, FlowPolicy, Policy, ProviderPolicy, SweeperPolicy},
    propose::{Asked, Output, Proposal, Request as ProposalRequest},
    reserve::{KeyGiven, PayloadGiven, Request, Reserved},
    view::{LeaseView, RunView},
};
use effectgate_store::{SqliteStore, Store};
pub use provider::{Answer, Scripted};
use tempfile::TempDir;

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_790_000_000_000_000)))
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
    _dir: TempDir,
}

/// What a test may want otherwise.
pub struct Options {
    pub gate: Gate,
    pub class: Class,
    pub lookup: Option<core_provider::Lookup>,
    pub attempts_max: i32,
    pub login: Login,
    pub audience: Vec<String>,
    pub quorum: i32,
    pub separation: bool,
    pub ceiling: Ceiling,
    pub output_schema: Option<serde_json::Value>,
    pub identity: Vec<String>,
    pub workers: usize,
    pub batch: u32,
    pub retention: Retention,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            gate: Gate::None,
            class: Class::Advisory,
            lookup: None,
            attempts_max: 5,
            login: Login::Required,
            audience: vec!["role:support-lead".into()],
            quorum: 1,
            separation: true,
            ceiling: Ceiling::On,
            output_schema: None,
            identity: vec![String::new()],
            workers: 64,
            batch: 100,
            retention: Retention { content_days: 30, key_days: 90, journal_days: 730 },
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
        let dir = tempfile::tempdir().unwrap();
        let clock = TestClock::new();
        let of_store = clock.clone();
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open_with_clock(dir.path().join("t.db"), Arc::new(move || of_store.now())).unwrap());
        let scripted = Scripted::default();
        let engine = Engine::new(store.clone(), policy(&options, &scripted), Arc::new(clock.clone()));
        let caller = Caller { tenant: Tenant::new("default"), api_key: "n8n".into() };
        Self { engine, clock, provider: scripted, store, caller, _dir: dir }
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
        let wish = Wish { verdict, reason, shown: approval.effects_hash };
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

fn policy(options: &Options, scripted: &Scripted) -> Policy {
    let provider = Provider {
        name: ProviderName::new("crm"),
        class: options.class,
        smtp: false,
        lookup: options.lookup,
        attempts_max: options.attempts_max,
        backoff: Backoff { base_ms: 1_000, max_ms: 60_000 },
        retry_after_ms_max: HOUR,
        refused_statuses: vec![],
        not_done_statuses: vec![503],
        conflict_is_in_flight: false,
        external_id_required: false,
        attempt_ms_max: 10_000,
        sending_margin_ms: 30_000,
        rate: Rate { per_second: 1e6, concurrent: 1_000 },
        breaker: Breaker { failures: 1_000, open_ms: 1_000 },
    };
    let other = Provider { name: ProviderName::new("other"), ..provider.clone() };
    let providers = [provider, other]
        .map(|p| (p.name.clone(), ProviderPolicy { provider: p, connector: Arc::new(scripted.clone()) }));
    let effect = |provider: &str| EffectPolicy {
        provider: ProviderName::new(provider),
        impact: Impact::Normal,
        reversible: true,
        gate: options.gate.clone(),
        target: TargetRule::Proposal,
        payload_schema: None,
    };
    let effects =
        BTreeMap::from([(EffectType::new("note"), effect("crm")), (EffectType::new("mail"), effect("other"))]);
    let rules =
        |_: &EffectType| EffectRules { payload_schema: None, rules: vec![], evidence: None, payload_from: None };
    let compiled = effects.keys().map(|k| (k.clone(), rules(k))).collect();
    let flow = Flow {
        name: FlowName::new("ticket"),
        revision: "sha256:test".into(),
        key_from: KeyFrom::Given,
        key_policy: KeyPolicy::default(),
        identity: IdentityRule::new(options.identity.clone()).unwrap(),
        payload_schema: None,
        output_schema: options.output_schema.clone(),
        repairs_max: 1,
        agent_iterations_max: Some(8),
        lease: LeaseBounds { default_ms: 60_000, min_ms: 1_000, max_ms: 600_000, total_ms_max: 1_800_000 },
        attempts_max: 5,
        backoff: Backoff { base_ms: 1_000, max_ms: 60_000 },
        effects,
        approval: Some(ApprovalPolicy {
            audience: options.audience.clone(),
            quorum: options.quorum,
            login: options.login,
            link_in_answer: false,
            separation: options.separation,
            expires_ms: 24 * HOUR,
            remind_ms: Some(8 * HOUR),
            escalate: None,
        }),
        sla: None,
        retention: options.retention,
        review_alert_ms: HOUR,
    };
    let schema = options.output_schema.as_ref().map(|s| effectgate_rules::schema::Schema::compile(s).unwrap());
    let flow = FlowPolicy { flow, payload_schema: None, output_schema: schema, effects: compiled };
    Policy {
        flows: BTreeMap::from([(FlowName::new("ticket"), flow)]),
        providers: BTreeMap::from(providers),
        ceiling: options.ceiling,
        public_url: "http://gate.test".into(),
        channels: Channels::default(),
        alerts: vec![],
        dispatcher: DispatcherPolicy { workers: options.workers, period_ms: 500, batch: options.batch },
        sweeper: SweeperPolicy { period_ms: 2_000, batch: 500, stuck_ms: 24 * HOUR },
    }
}
