//! What the tables start from: a run in each state, an effect in each state, a provider of each class, people.

use std::collections::{BTreeMap, BTreeSet};

use effectgate_core::{
    actor::{Actor, Person, SignIn, Subject},
    digest::Digest,
    effect::{Effect, EffectState, Executor, provider_key},
    flow::{ApprovalPolicy, Escalation, Flow, KeyFrom, LeaseBounds, Login, Retention},
    gate::Passage,
    ids::{EffectId, EffectType, Fence, FlowName, Owner, ProviderName, RunId, Tenant},
    journal::Head,
    key::KeyPolicy,
    lease::ClassOf,
    notice::{Alert, NoticeKind},
    payload::{IdentityRule, PayloadHash},
    proposal::{Model, Proposed, Valid},
    provider::{Breaker, Class, Declared, Lookup, Provider, Rate},
    retry::Backoff,
    run::{Aggregate, AwaitReason, EffectCounts, Lease, Origin, Run, RunState},
    time::Timestamp,
    transition::{ContentWrite, Transition},
};

pub(crate) const HOUR_MS: i64 = 3_600_000;
pub(crate) const MINUTE_MS: i64 = 60_000;
pub(crate) const ENFORCING: Class = Class::Enforcing { key_window_ms: 24 * HOUR_MS, margin_ms: HOUR_MS };
pub(crate) const OPERATOR: Actor = Actor::System("test");

/// `ms` after the moment at which every table begins.
pub(crate) const fn at(ms: i64) -> Timestamp {
    Timestamp::from_micros(1_790_000_000_000_000).plus_ms(ms)
}

pub(crate) fn owner() -> Owner {
    Owner::new("worker-a")
}

pub(crate) fn hash(n: u8) -> PayloadHash {
    PayloadHash::from_bytes([n; 32])
}

pub(crate) fn run(state: RunState) -> Run {
    let (tenant, flow) = (Tenant::new("t"), FlowName::new("f"));
    Run {
        id: RunId::derive(&tenant, &flow, "k"),
        tenant,
        flow,
        flow_revision: "sha256:1".into(),
        key: "k".into(),
        state,
        version: 1,
        payload_hash: hash(1),
        identity_rule: IdentityRule::default().as_text(),
        owner: Some(owner()),
        fence: Fence(1),
        attempts: 1,
        attempts_max: 5,
        repairs_used: 0,
        takeovers: 0,
        effects: EffectCounts::default(),
        refusals: 0,
        head: Head::EMPTY,
        origin: Origin { api_key: Some("n8n".into()), ..Origin::default() },
        created_at: at(0),
        updated_at: at(0),
        expires_at: None,
        content_expires_at: None,
    }
}

pub(crate) fn lease(left_ms: i64) -> Lease {
    Lease { since: at(0), expires_at: at(left_ms), is_live: left_ms > 0, left_ms }
}

/// A run with its effects; in processing its lease lives.
pub(crate) fn agg(state: RunState, effects: Vec<Effect>) -> Aggregate {
    let lease = (state == RunState::Processing).then(|| lease(MINUTE_MS));
    let mut run = run(state);
    run.effects = counts(&effects);
    Aggregate { run, lease, effects, approvals: Vec::new() }
}

/// A run whose owner let the lease run out.
pub(crate) fn left_behind(effects: Vec<Effect>) -> Aggregate {
    Aggregate { lease: Some(lease(-1)), ..agg(RunState::Processing, effects) }
}

pub(crate) fn counts(effects: &[Effect]) -> EffectCounts {
    let count = |wanted: fn(&Effect) -> bool| i32::try_from(effects.iter().filter(|e| wanted(e)).count()).unwrap();
    EffectCounts {
        total: count(|_| true),
        open: count(|e| !e.state.is_final()),
        failed: count(|e| e.state == EffectState::Failed),
        cancelled: count(|e| e.state == EffectState::Cancelled),
    }
}

/// Every state of a run, with a reason where it has one.
pub(crate) fn run_states() -> Vec<RunState> {
    vec![
        RunState::Queued,
        RunState::Processing,
        RunState::AwaitingHuman { reason: AwaitReason::Approval },
        RunState::AwaitingHuman { reason: AwaitReason::UnknownEffect },
        RunState::Approved,
        RunState::Completed,
        RunState::FailedRetryable { reason: "model_timeout".into(), next_attempt_at: at(HOUR_MS) },
        RunState::FailedTerminal { reason: "rejected".into() },
        RunState::Quarantined { reason: "semantic".into() },
    ]
}

/// Every state of an effect, due now where it has a moment.
pub(crate) fn effect_states() -> [EffectState; 8] {
    [
        EffectState::Scheduled { not_before: at(0) },
        EffectState::Pending { due_at: at(0) },
        EffectState::Sending,
        EffectState::Unknown { look_at: at(0) },
        EffectState::Review { since: at(0) },
        EffectState::Completed,
        EffectState::Failed,
        EffectState::Cancelled,
    ]
}

/// The n-th effect of the run, decided, as the dispatcher has it in that state.
pub(crate) fn effect(n: i32, state: EffectState) -> Effect {
    let id = EffectId { run: run(RunState::Queued).id, n };
    let (effect_type, target) = (EffectType::new("note"), format!("target-{n}"));
    let went_out = matches!(
        state,
        EffectState::Sending | EffectState::Unknown { .. } | EffectState::Review { .. } | EffectState::Completed
    );
    let in_doubt = matches!(state, EffectState::Unknown { .. } | EffectState::Review { .. });
    let mut effect = Effect {
        id,
        provider_key: provider_key(id.run, &effect_type, &target),
        effect_type,
        target,
        provider: ProviderName::new("crm"),
        executor: Executor::Dispatcher,
        state,
        reason: None,
        payload: r#"{"text":"hello"}"#.into(),
        decided: None,
        external_id: None,
        fence: Fence(i64::from(went_out)),
        attempts: i32::from(went_out),
        first_sent_at: went_out.then(|| at(0)),
        unknown_since: in_doubt.then(|| at(0)),
        charged: Vec::new(),
        created_at: at(0),
        updated_at: at(0),
    };
    effect.decided = Some(effect.bytes_hash());
    effect
}

pub(crate) fn inline(n: i32, state: EffectState) -> Effect {
    Effect { executor: Executor::Inline, ..effect(n, state) }
}

pub(crate) fn wanted(n: i32) -> Proposed {
    let like = effect(n, EffectState::Sending);
    Proposed {
        effect_type: like.effect_type,
        target: like.target,
        provider: like.provider,
        payload: like.payload,
        window_ms: 0,
        impact: "low".into(),
        gate: "none".into(),
    }
}

pub(crate) fn provider(class: Class) -> Provider {
    Provider {
        name: ProviderName::new("crm"),
        class,
        smtp: false,
        lookup: None,
        attempts_max: 3,
        backoff: Backoff { base_ms: 1_000, max_ms: 60_000 },
        retry_after_ms_max: HOUR_MS,
        refused_statuses: Vec::new(),
        not_done_statuses: Vec::new(),
        declared: Declared::default(),
        external_id_required: false,
        attempt_ms_max: 10_000,
        sending_margin_ms: 30_000,
        rate: Rate { per_second: 20.0, concurrent: 4 },
        breaker: Breaker { failures: 5, open_ms: 30_000 },
    }
}

/// A provider with a lookup whose index lags by two minutes and that is asked every five seconds (HC-26).
pub(crate) fn with_lookup(class: Class, authoritative: bool) -> Provider {
    let lookup = Lookup { settle_delay_ms: 120_000, authoritative, period_ms: 5_000 };
    Provider { lookup: Some(lookup), ..provider(class) }
}

/// All providers are of one class.
pub(crate) struct AllOf(pub(crate) Option<Class>);

impl ClassOf for AllOf {
    fn class_of(&self, _: &ProviderName) -> Option<Class> {
        self.0
    }
}

pub(crate) const ADVISORY_ALL: AllOf = AllOf(Some(Class::Advisory));
pub(crate) const ENFORCING_ALL: AllOf = AllOf(Some(ENFORCING));

pub(crate) fn flow() -> Flow {
    Flow {
        name: FlowName::new("f"),
        revision: "sha256:1".into(),
        key_from: KeyFrom::Given,
        key_policy: KeyPolicy::default(),
        identity: IdentityRule::default(),
        payload_schema: None,
        output_schema: None,
        repairs_max: 1,
        agent_iterations_max: Some(8),
        lease: LeaseBounds { default_ms: 300_000, min_ms: 1_000, max_ms: 600_000, total_ms_max: 1_800_000 },
        attempts_max: 5,
        backoff: Backoff { base_ms: 1_000, max_ms: 60_000 },
        effects: BTreeMap::new(),
        approval: Some(asks()),
        sla: None,
        retention: Retention { content_days: 30, key_days: 90, journal_days: 730 },
        review_alert_ms: HOUR_MS,
    }
}

/// Leads are asked; reminded after 2 h, managers asked after 4 h, over after 8 h.
pub(crate) fn asks() -> ApprovalPolicy {
    ApprovalPolicy {
        audience: vec!["role:lead".into(), "Boss@Example.test".into()],
        quorum: 1,
        login: Login::Required,
        link_in_answer: false,
        separation: true,
        expires_ms: 8 * HOUR_MS,
        remind_ms: Some(2 * HOUR_MS),
        escalate: Some(Escalation { after_ms: 4 * HOUR_MS, audience: vec!["role:manager".into()] }),
    }
}

pub(crate) fn go() -> Passage {
    Passage::Go { rules: vec!["note: none".into()] }
}

pub(crate) fn person_decides() -> Passage {
    Passage::Person { why: vec!["note: a person decides".into()], qualifications: Vec::new() }
}

pub(crate) fn valid(effects: Vec<Proposed>, passage: Passage) -> Valid {
    Valid {
        resume: None,
        effects,
        passage,
        model: Model::default(),
        requested_by: None,
        content: ContentWrite { output: Some("{}".into()), ..ContentWrite::default() },
        extracted: false,
    }
}

/// A signed-in person with roles.
pub(crate) fn person(name: &str, roles: &[&str]) -> Person {
    Person {
        subject: Subject::user(name),
        aliases: BTreeSet::from([Subject::mail(&format!("{name}@example.test"))]),
        roles: roles.iter().map(|r| (*r).to_owned()).collect(),
        sign_in: SignIn::Login,
    }
}

/// Somebody of whom only the link is known.
pub(crate) fn by_link(mail: &str) -> Person {
    Person { subject: Subject::mail(mail), aliases: BTreeSet::new(), roles: BTreeSet::new(), sign_in: SignIn::Token }
}

pub(crate) fn alerts(transition: &Transition) -> Vec<Alert> {
    let alert = |kind: &NoticeKind| match kind {
        NoticeKind::Alert { alert, .. } => Some(*alert),
        _ => None,
    };
    transition.notices.iter().filter_map(|n| alert(&n.kind)).collect()
}

pub(crate) fn kinds(transition: &Transition) -> Vec<&str> {
    transition.entries.iter().map(|e| e.kind.as_str()).collect()
}

/// The state in one word, with its reason.
pub(crate) fn word(state: &RunState) -> String {
    match state.reason() {
        Some(reason) => format!("{} {reason}", state.as_str()),
        None => state.as_str().to_owned(),
    }
}

pub(crate) fn digest(n: u8) -> Digest {
    Digest::from_bytes([n; 32])
}
