//! The policy of these tests: one flow whose mails want a person, at providers that are never reached.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use effectgate_core::{
    effect::Effect,
    flow::{ApprovalPolicy, EffectPolicy, Flow, Impact, KeyFrom, LeaseBounds, Login, Retention, Sla, TargetRule},
    gate::Gate,
    ids::{EffectType, FlowName, ProviderName},
    key::KeyPolicy,
    outcome::{Phase, Report},
    payload::IdentityRule,
    provider::{Breaker, Class, Declared, Provider, Rate},
    retry::{Backoff, Look, Success},
    switch::Ceiling,
};
use effectgate_engine::{
    connect::WriteGate,
    connector::Connector,
    notify::Channels,
    policy::{DispatcherPolicy, EffectRules, FlowPolicy, Policy, ProviderPolicy, SweeperPolicy},
    view::FindingView,
};
use effectgate_rules::schema::Schema;
use serde_json::Value;

pub const PUBLIC_URL: &str = "http://gate.test";
pub const HOUR: i64 = 3_600_000;

pub struct Options {
    pub login: Login,
    pub audience: Vec<String>,
    pub quorum: i32,
    pub impact: Impact,
    pub cookie_secure: bool,
    /// Of the mails' payload.
    pub schema: Option<Value>,
    /// Refunds wait this long after the approval; 0: no window.
    pub window_ms: i64,
}

impl Default for Options {
    fn default() -> Self {
        let audience = vec!["role:support-lead".to_owned()];
        Self {
            login: Login::Required,
            audience,
            quorum: 1,
            impact: Impact::High,
            cookie_secure: false,
            schema: None,
            window_ms: 0,
        }
    }
}

impl Options {
    /// The link alone decides; it goes to these addresses.
    pub fn by_link(addresses: &[&str]) -> Self {
        let audience = addresses.iter().map(|a| (*a).to_owned()).collect();
        Self { login: Login::Token, audience, impact: Impact::Normal, ..Self::default() }
    }
}

/// Nothing is dispatched here.
struct Unreached;

#[async_trait]
impl Connector for Unreached {
    async fn attempt(&self, _: &Effect, _: &dyn WriteGate) -> Report {
        Report::not_sent(Phase::Connect, "not reached in these tests")
    }
    fn success(&self, _: &EffectType) -> Success {
        Success { external_id: None, member: None }
    }
    async fn look(&self, _: &Effect) -> Look {
        Look::Absent
    }
    fn check(&self, _: &EffectType, _: &str, _: &Value) -> Vec<FindingView> {
        Vec::new()
    }
}

fn provider(name: &str, smtp: bool, class: Class) -> (ProviderName, ProviderPolicy) {
    let provider = Provider {
        name: ProviderName::new(name),
        class,
        smtp,
        lookup: None,
        attempts_max: 5,
        backoff: Backoff { base_ms: 1_000, max_ms: 60_000 },
        retry_after_ms_max: HOUR,
        refused_statuses: vec![],
        not_done_statuses: vec![],
        declared: Declared::default(),
        external_id_required: false,
        attempt_ms_max: 10_000,
        sending_margin_ms: 30_000,
        rate: Rate { per_second: 1e6, concurrent: 1_000 },
        breaker: Breaker { failures: 1_000, open_ms: 1_000 },
    };
    (provider.name.clone(), ProviderPolicy { provider, connector: Arc::new(Unreached), out: None })
}

pub fn policy(options: &Options, channels: Channels) -> Policy {
    let effect = |provider: &str| EffectPolicy {
        provider: ProviderName::new(provider),
        impact: options.impact,
        reversible: false,
        gate: Gate::Approve,
        target: TargetRule::Proposal,
        payload_schema: None,
    };
    let mail = EffectPolicy { payload_schema: options.schema.clone(), ..effect("mail") };
    let window = (options.window_ms > 0).then_some(Gate::CancelWindow { window_ms: options.window_ms });
    let refund = EffectPolicy { gate: window.unwrap_or(Gate::Approve), ..effect("pay") };
    let effects = BTreeMap::from([(EffectType::new("customer_mail"), mail), (EffectType::new("refund"), refund)]);
    let rules = |kind: &EffectType| EffectRules {
        payload_schema: effects[kind].payload_schema.as_ref().map(|schema| Schema::compile(schema).unwrap()),
        rules: vec![],
        evidence: None,
        payload_from: None,
        description: None,
    };
    let compiled = effects.keys().map(|k| (k.clone(), rules(k))).collect();
    let flow = Flow {
        name: FlowName::new("ticket-reply"),
        revision: "sha256:test".into(),
        key_from: KeyFrom::Given,
        key_policy: KeyPolicy::default(),
        identity: IdentityRule::new(vec![String::new()]).unwrap(),
        payload_schema: None,
        output_schema: None,
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
            separation: true,
            expires_ms: 24 * HOUR,
            remind_ms: None,
            escalate: None,
        }),
        sla: Some(Sla { answer_ms: 4 * HOUR, stops_while_waiting: true }),
        retention: Retention { content_days: 30, key_days: 90, journal_days: 730 },
        review_alert_ms: HOUR,
    };
    let flow = FlowPolicy { flow, payload_schema: None, output_schema: None, effects: compiled };
    let enforcing = Class::Enforcing { key_window_ms: 24 * HOUR, margin_ms: HOUR };
    Policy {
        flows: BTreeMap::from([(FlowName::new("ticket-reply"), flow)]),
        providers: BTreeMap::from([provider("mail", true, Class::Advisory), provider("pay", false, enforcing)]),
        sources: BTreeMap::new(),
        budgets: vec![],
        ceiling: Ceiling::On,
        public_url: PUBLIC_URL.into(),
        channels,
        alerts: vec![],
        dispatcher: DispatcherPolicy { workers: 4, period_ms: 500, batch: 100 },
        sweeper: SweeperPolicy { period_ms: 2_000, batch: 500, stuck_ms: 24 * HOUR },
        replay: effectgate_engine::replay::ReplayPolicy::default(),
        n8n: None,
    }
}
