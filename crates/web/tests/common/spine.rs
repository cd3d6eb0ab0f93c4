//! A store and an engine on one clock that stands still until it is moved, one flow, and a provider that does as it is
//! told. Ticks are called by hand.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use effectgate_core::{
    budget::Budget,
    flow::{ApprovalPolicy, EffectPolicy, Flow, Impact, KeyFrom, LeaseBounds, Login, Retention, TargetRule},
    gate::Gate,
    ids::{EffectType, FlowName, ProviderName, SourceName, Tenant},
    key::KeyPolicy,
    payload::IdentityRule,
    provider::{self as core_provider, Breaker, Class, Declared, Provider, Rate},
    retry::Backoff,
    switch::Ceiling,
    time::Timestamp,
};
use effectgate_engine::{
    Caller, Engine,
    clock::Clock,
    connect::{http::HttpLimits, tls::Tls},
    connector::Connector,
    connectors::{Auth, DoorSettings, HttpConnector, HttpSettings, KeyPlace},
    inbound::SourcePolicy,
    notify::Channels,
    outbound::{OUT_TYPE, OutPolicy, OutRules},
    policy::{DispatcherPolicy, EffectRules, FlowPolicy, Policy, ProviderPolicy, SweeperPolicy},
};
use effectgate_store::{SqliteStore, Store};
use tempfile::TempDir;

use super::provider::Scripted;

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
    /// Of the effect type `note`.
    pub note_schema: Option<serde_json::Value>,
    pub payload_schema: Option<serde_json::Value>,
    pub sources: fn() -> BTreeMap<SourceName, SourcePolicy>,
    /// There is an effect type `create_refund`, whose target lies in the payload.
    pub refunds: bool,
    pub identity: Vec<String>,
    pub workers: usize,
    pub batch: u32,
    pub retention: Retention,
    /// The address of a real peer that `crm` is then, with an outbound door under `gate`.
    pub door: Option<String>,
    pub budgets: Vec<Budget>,
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
            note_schema: None,
            payload_schema: None,
            sources: BTreeMap::new,
            refunds: false,
            identity: vec![String::new()],
            workers: 64,
            batch: 100,
            retention: Retention { content_days: 30, key_days: 90, journal_days: 730 },
            door: None,
            budgets: vec![],
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

    /// Ticks the dispatcher and waits for its attempts to end.
    pub async fn dispatch(&self) -> effectgate_engine::dispatch::DispatchReport {
        let report = self.engine.dispatch_tick().await.unwrap();
        self.engine.dispatch_idle().await;
        report
    }
}

pub const PAYLOAD: &str = r#"{"customer":{"email":"a@example.test"},"amount":12.50}"#;

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
        declared: Declared::default(),
        external_id_required: false,
        attempt_ms_max: 10_000,
        sending_margin_ms: 30_000,
        rate: Rate { per_second: 1e6, concurrent: 1_000 },
        breaker: Breaker { failures: 1_000, open_ms: 1_000 },
    };
    let other = Provider { name: ProviderName::new("other"), ..provider.clone() };
    let of = |provider: Provider| match options.door.as_ref().filter(|_| provider.name.as_str() == "crm") {
        Some(url) => ProviderPolicy { provider, connector: through(url), out: Some(door()) },
        None => ProviderPolicy { provider, connector: Arc::new(scripted.clone()), out: None },
    };
    let providers = [provider, other].map(|p| (p.name.clone(), of(p)));
    let effect = |provider: &str| EffectPolicy {
        provider: ProviderName::new(provider),
        impact: Impact::Normal,
        reversible: true,
        gate: options.gate.clone(),
        target: TargetRule::Proposal,
        payload_schema: None,
    };
    let note = EffectPolicy { payload_schema: options.note_schema.clone(), ..effect("crm") };
    let mut effects = BTreeMap::from([(EffectType::new("note"), note), (EffectType::new("mail"), effect("other"))]);
    if options.door.is_some() {
        effects.insert(EffectType::new(OUT_TYPE), effect("crm"));
    }
    if options.refunds {
        let target = TargetRule::Payload("/order".into());
        effects.insert(EffectType::new("create_refund"), EffectPolicy { target, ..effect("crm") });
    }
    let compile = |schema: &serde_json::Value| effectgate_rules::schema::Schema::compile(schema).unwrap();
    let rules = |effect: &EffectPolicy| EffectRules {
        payload_schema: effect.payload_schema.as_ref().map(compile),
        rules: vec![],
        evidence: None,
        payload_from: None,
        description: None,
    };
    let compiled = effects.iter().map(|(name, effect)| (name.clone(), rules(effect))).collect();
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
    let schema_of = |value: &Option<serde_json::Value>| value.as_ref().map(compile);
    let (payload_schema, output_schema) = (schema_of(&options.payload_schema), schema_of(&options.output_schema));
    let flow = FlowPolicy { flow, payload_schema, output_schema, effects: compiled };
    Policy {
        flows: BTreeMap::from([(FlowName::new("ticket"), flow)]),
        providers: BTreeMap::from(providers),
        sources: (options.sources)(),
        budgets: options.budgets.clone(),
        ceiling: options.ceiling,
        public_url: "http://gate.test".into(),
        channels: Channels::default(),
        alerts: vec![],
        dispatcher: DispatcherPolicy { workers: options.workers, period_ms: 500, batch: options.batch },
        sweeper: SweeperPolicy { period_ms: 2_000, batch: 500, stuck_ms: 24 * HOUR },
        replay: effectgate_engine::replay::ReplayPolicy::default(),
        n8n: None,
    }
}

fn door_rules() -> OutRules {
    OutRules { methods: vec![http::Method::POST], paths: vec!["/v1/refunds".into()], headers: vec![] }
}

/// Longer than any machine's hiccup: an outcome that is there ends the wait at once.
const PATIENCE_MS: u64 = 60_000;

fn door() -> OutPolicy {
    OutPolicy { flow: FlowName::new("ticket"), rules: door_rules(), wait_ms: PATIENCE_MS, external_id: None }
}

fn through(url: &str) -> Arc<dyn Connector> {
    let settings = HttpSettings {
        url: url.parse().unwrap(),
        allow_private: true,
        auth: Some(Auth::Bearer("our-s3cret".into())),
        key: KeyPlace::default(),
        replayed: None,
        limits: HttpLimits { connect_ms: 20_000, first_byte_ms: 20_000, total_ms: 20_000, answer_bytes_max: 4_096 },
        effects: BTreeMap::new(),
        lookup: None,
        door: Some(DoorSettings { rules: door_rules(), answer_bytes_max: 4_096 }),
    };
    Arc::new(HttpConnector::new(&settings, Tls::new(None).unwrap()).unwrap())
}
