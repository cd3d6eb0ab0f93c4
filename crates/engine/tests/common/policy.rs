//! The engine's policy as the options say: two providers, two flows.

use std::{collections::BTreeMap, sync::Arc};

use effectgate_core::{
    flow::{ApprovalPolicy, EffectPolicy, Flow, Impact, KeyFrom, LeaseBounds, TargetRule},
    gate::Gate,
    ids::{EffectType, FlowName, ProviderName, SourceName},
    key::KeyPolicy,
    payload::IdentityRule,
    provider::{Breaker, Class, Lookup, Provider, Rate},
};
use effectgate_engine::{
    connector::Connector,
    connectors::ResumeConnector,
    n8n::{self, N8n},
    outbound::{OUT_TYPE, OutPolicy},
    policy::{DispatcherPolicy, EffectRules, FlowPolicy, Policy, ProviderPolicy, SweeperPolicy},
};

use super::{
    options::{HOUR, Options},
    provider::Scripted,
};

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
    let resumes = options.n8n.as_ref().map(|n8n| resumes(n8n, &provider));
    let providers = [(provider, connector, options.out.clone()), (other, of_mail, None)].into_iter().chain(resumes);
    let providers = providers
        .map(|(provider, connector, out)| (provider.name.clone(), ProviderPolicy { provider, connector, out }));
    let flows = ["ticket", "held_back"].map(|name| (FlowName::new(name), flow(options, name)));
    let resumes = options.n8n.iter().map(|_| (FlowName::new(n8n::FLOW), resume_flow(options)));
    Policy {
        flows: flows.into_iter().chain(resumes).collect(),
        providers: providers.collect(),
        sources: options.worker.iter().map(|worker| (SourceName::new("shop"), worker.source())).collect(),
        budgets: options.budgets.clone(),
        ceiling: options.ceiling,
        public_url: "http://gate.test".into(),
        channels: options.channels.clone(),
        alerts: options.alerts.clone(),
        dispatcher: DispatcherPolicy { workers: 64, period_ms: 500, batch: options.batch },
        sweeper: SweeperPolicy { period_ms: 2_000, batch: options.sweep_batch, stuck_ms: 24 * HOUR },
        replay: effectgate_engine::replay::ReplayPolicy::default(),
        n8n: options.n8n.clone(),
    }
}

/// What `[n8n]` brings.
fn resumes(n8n: &Arc<N8n>, like: &Provider) -> (Provider, Arc<dyn Connector>, Option<OutPolicy>) {
    let class = Class::Enforcing { key_window_ms: 168 * HOUR, margin_ms: HOUR };
    let rules = Provider { name: ProviderName::new(n8n::PROVIDER), class, attempts_max: 100, ..like.clone() };
    let lookup = Lookup { settle_delay_ms: 5_000, authoritative: true, period_ms: 10_000 };
    let lookup = n8n.api_key().is_some().then_some(lookup);
    let wait = Provider { class: Class::Advisory, lookup, ..rules.clone() };
    (rules, Arc::new(ResumeConnector::new(Arc::clone(n8n), wait)), None)
}

fn resume_flow(options: &Options) -> FlowPolicy {
    let plain = Options { gate: Gate::None, output_schema: None, payload_schema: None, ..options.clone() };
    let mut flow = flow(&Options { effect_schema: None, identity: vec![String::new()], ..plain }, n8n::FLOW);
    let note = EffectType::new("note");
    let effect = EffectPolicy { provider: ProviderName::new(n8n::PROVIDER), ..flow.flow.effects[&note].clone() };
    let types = || [n8n::RESUME, n8n::RESUME_WAIT].map(EffectType::new);
    flow.flow.effects = types().map(|name| (name, effect.clone())).into();
    let rules =
        || EffectRules { payload_schema: None, rules: vec![], evidence: None, payload_from: None, description: None };
    flow.effects = types().map(|name| (name, rules())).into();
    flow
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
        description: None,
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
