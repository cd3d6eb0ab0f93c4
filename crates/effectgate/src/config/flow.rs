//! `[flows.NAME]`: the policy of one kind of business event, its effects and who approves them.

use std::{collections::BTreeMap, path::PathBuf};

use effectgate_core::key::KeyPolicy;
use serde::{Deserialize, Serialize};

use super::{budget::BudgetConfig, provider::BackoffConfig};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FlowConfig {
    /// `given`: a whole key, or parts. The default.
    pub(crate) key: Option<KeyWord>,
    /// The four parts, in this order; then nothing else is taken.
    pub(crate) key_parts: Option<Vec<String>>,
    pub(crate) key_policy: KeyPolicy,
    /// JSON Pointers; default the whole payload.
    pub(crate) payload_identity: Vec<String>,
    pub(crate) payload_schema: Option<PathBuf>,
    pub(crate) output_schema: Option<PathBuf>,
    /// Default 1: a model that fails twice on the same words fails a third time.
    pub(crate) repairs_max: i64,
    /// Default 50: an agent that has not come to an end by then goes in circles.
    pub(crate) agent_iterations_max: i64,
    /// Default 5 min: a model call with its tools, and a margin.
    pub(crate) lease_ms: i64,
    /// Default 1 s.
    pub(crate) lease_ms_min: i64,
    /// Default 10 min: how long a crashed worker can hold a run.
    pub(crate) lease_ms_max: i64,
    /// Default 30 min: the longest life of one chain of renewals.
    pub(crate) lease_total_ms_max: i64,
    /// The longest step of the workflow under one lease, where it is known; a lease that is shorter does not start.
    pub(crate) step_timeout_ms: Option<i64>,
    /// Claims a run may see before it is abandoned. Default 5.
    pub(crate) attempts_max: i64,
    pub(crate) backoff: BackoffConfig,
    pub(crate) sla: Option<SlaConfig>,
    pub(crate) retention: RetentionConfig,
    /// How long an effect may wait on the review desk before it alerts. Default 4 h: half a working day.
    pub(crate) review_alert_ms: i64,
    /// Left out of what is hashed where there is none, so that a flow without one keeps its revision.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) budgets: Vec<BudgetConfig>,
    pub(crate) effects: BTreeMap<String, EffectConfig>,
    pub(crate) approval: Option<ApprovalConfig>,
}

impl Default for FlowConfig {
    fn default() -> Self {
        Self {
            key: None,
            key_parts: None,
            key_policy: KeyPolicy::default(),
            payload_identity: vec![String::new()],
            payload_schema: None,
            output_schema: None,
            repairs_max: 1,
            agent_iterations_max: 50,
            lease_ms: 300_000,
            lease_ms_min: 1_000,
            lease_ms_max: 600_000,
            lease_total_ms_max: 1_800_000,
            step_timeout_ms: None,
            attempts_max: 5,
            backoff: BackoffConfig::of_flow(),
            sla: None,
            retention: RetentionConfig::default(),
            review_alert_ms: 14_400_000,
            budgets: Vec::new(),
            effects: BTreeMap::new(),
            approval: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyWord {
    Given,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SlaConfig {
    pub(crate) answer_ms: i64,
    /// Default false: the customer's clock does not stop while we wait.
    #[serde(default)]
    pub(crate) stops_while_waiting: bool,
}

/// Days, from the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RetentionConfig {
    /// Payload, output, result. Default 30: long enough for a complaint, short for personal data.
    pub(crate) content_days: i64,
    /// Key and outcome. Default 90: a delivery that comes later is a new event.
    pub(crate) key_days: i64,
    /// Default 730: two business years.
    pub(crate) journal_days: i64,
}

impl Default for RetentionConfig {
    fn default() -> Self {
        Self { content_days: 30, key_days: 90, journal_days: 730 }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EffectConfig {
    pub(crate) provider: String,
    /// Default high: what nobody has judged may hurt.
    #[serde(default)]
    pub(crate) impact: ImpactWord,
    #[serde(default)]
    pub(crate) reversible: bool,
    /// Default approve.
    #[serde(default)]
    pub(crate) gate: GateWord,
    /// With gate = "cancel_window".
    pub(crate) window_ms: Option<i64>,
    /// With gate = "regulated".
    pub(crate) qualification: Option<String>,
    /// With gate = "exceptions".
    pub(crate) exceptions: Option<ExceptionsConfig>,
    /// JSON Pointer into the run's payload; left out: the proposal names the target.
    pub(crate) to: Option<String>,
    /// JSON Pointer into the output, where a proposal names no effects.
    pub(crate) payload_from: Option<String>,
    pub(crate) payload_schema: Option<PathBuf>,
    /// What it does, in a sentence, for agents that have it as a tool. Left out of what is hashed where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// The worker calls the provider itself, under its lease: then the lease must outlive the provider's time-out.
    #[serde(default)]
    pub(crate) inline: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ImpactWord {
    Low,
    Normal,
    #[default]
    High,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GateWord {
    None,
    CancelWindow,
    Exceptions,
    #[default]
    Approve,
    Regulated,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExceptionsConfig {
    #[serde(default)]
    pub(crate) rules: Vec<String>,
    pub(crate) evidence: Option<EvidenceConfig>,
    /// The share that a person sees all the same, 0 to 1. Default 0.05.
    #[serde(default = "one_in_twenty")]
    pub(crate) sample: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvidenceConfig {
    pub(crate) name: String,
    pub(crate) threshold: f64,
    pub(crate) file: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ApprovalConfig {
    /// `role:NAME` or mail addresses.
    pub(crate) audience: Vec<String>,
    /// Default 1.
    pub(crate) quorum: i64,
    /// Default required.
    pub(crate) login: LoginWord,
    /// Default false.
    pub(crate) link_in_answer: bool,
    /// Default true.
    pub(crate) separation: bool,
    /// Default 24 h: a day in which somebody looks.
    pub(crate) expires_ms: i64,
    pub(crate) remind_ms: Option<i64>,
    pub(crate) escalate: Option<EscalateConfig>,
}

impl Default for ApprovalConfig {
    fn default() -> Self {
        Self {
            audience: Vec::new(),
            quorum: 1,
            login: LoginWord::Required,
            link_in_answer: false,
            separation: true,
            expires_ms: 86_400_000,
            remind_ms: None,
            escalate: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LoginWord {
    Required,
    Token,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EscalateConfig {
    pub(crate) after_ms: i64,
    pub(crate) audience: Vec<String>,
}

const fn one_in_twenty() -> f64 {
    0.05
}
