//! What a test may want otherwise, and what it is where no test says so.

use std::sync::Arc;

use effectgate_core::{
    budget::Budget,
    flow::{Escalation, Login, Retention},
    gate::Gate,
    provider::{self as core_provider, Class, Declared},
    retry::Backoff,
    switch::Ceiling,
};
use effectgate_engine::{connector::Connector, n8n::N8n, notify::Channels, outbound::OutPolicy, policy::AlertRoute};

use super::worker::WorkerAt;

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
    /// The worker of the source `shop`, whose flow is `ticket`. None: there is no such source.
    pub worker: Option<WorkerAt>,
    /// The workflow tool; it brings the provider and the flow that tell waiting executions.
    pub n8n: Option<Arc<N8n>>,
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
            worker: None,
            n8n: None,
        }
    }
}

pub const HOUR: i64 = 3_600_000;

pub fn enforcing() -> Class {
    Class::Enforcing { key_window_ms: 24 * HOUR, margin_ms: HOUR }
}
