//! A flow: the named policy of one kind of business event, as resolved from the config. Data only; the config room
//! refuses what cannot be safe before a value of these types exists.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    gate::Gate,
    ids::{EffectType, FlowName, ProviderName},
    key::KeyPolicy,
    payload::IdentityRule,
    retry::Backoff,
};

/// Everything the server knows about a flow.
#[derive(Debug, Clone)]
pub struct Flow {
    pub name: FlowName,
    /// `sha256:…` of the resolved content; written into every run and every automatic decision.
    pub revision: String,
    pub key_from: KeyFrom,
    pub key_policy: KeyPolicy,
    pub identity: IdentityRule,
    pub payload_schema: Option<Value>,
    pub output_schema: Option<Value>,
    /// How often the model may be asked again after an invalid proposal.
    pub repairs_max: i32,
    pub agent_iterations_max: Option<i64>,
    pub lease: LeaseBounds,
    /// Claims a run may see before it is abandoned.
    pub attempts_max: i32,
    pub backoff: Backoff,
    pub effects: BTreeMap<EffectType, EffectPolicy>,
    pub approval: Option<ApprovalPolicy>,
    pub sla: Option<Sla>,
    pub retention: Retention,
    /// How long an effect may wait on the review desk before it alerts, in milliseconds.
    pub review_alert_ms: i64,
}

/// Which form of key a caller must give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFrom {
    /// A whole key, or parts.
    Given,
    /// Parts only: source, event type, external id, version.
    Parts,
}

/// Lease lengths in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseBounds {
    pub default_ms: i64,
    pub min_ms: i64,
    pub max_ms: i64,
    /// The longest life of one chain of renewals, from the grant.
    pub total_ms_max: i64,
}

impl LeaseBounds {
    /// The lease a caller gets.
    ///
    /// # Errors
    /// Asked for less than the minimum or more than the maximum.
    pub fn pick(&self, asked_ms: Option<i64>) -> Result<i64, LeaseOutOfBounds> {
        let ms = asked_ms.unwrap_or(self.default_ms);
        if (self.min_ms..=self.max_ms).contains(&ms) {
            Ok(ms)
        } else {
            Err(LeaseOutOfBounds { asked_ms: ms, min_ms: self.min_ms, max_ms: self.max_ms })
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a lease of {asked_ms} ms is outside of this flow's bounds, {min_ms} to {max_ms} ms")]
pub struct LeaseOutOfBounds {
    pub asked_ms: i64,
    pub min_ms: i64,
    pub max_ms: i64,
}

/// What a flow says about one type of effect.
#[derive(Debug, Clone)]
pub struct EffectPolicy {
    pub provider: ProviderName,
    pub impact: Impact,
    pub reversible: bool,
    pub gate: Gate,
    pub target: TargetRule,
    pub payload_schema: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    Low,
    Normal,
    High,
}

impl Impact {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }
}

/// Where an effect's target comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetRule {
    /// A JSON Pointer into the run's payload. A proposal that names another target is refused.
    Payload(String),
    /// The proposal names it.
    Proposal,
}

/// Who decides, and until when.
#[derive(Debug, Clone)]
pub struct ApprovalPolicy {
    /// `role:<name>` or a mail address.
    pub audience: Vec<String>,
    pub quorum: i32,
    pub login: Login,
    /// True: the answer to the proposal carries the link, the caller delivers it.
    pub link_in_answer: bool,
    /// False: a named opt-out from separation of duties, journalled on every use.
    pub separation: bool,
    pub expires_ms: i64,
    pub remind_ms: Option<i64>,
    pub escalate: Option<Escalation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// A signed-in person; the token only finds the card.
    Required,
    /// The token alone; only where no effect has high impact.
    Token,
}

impl Login {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Token => "token",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    pub after_ms: i64,
    pub audience: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sla {
    pub answer_ms: i64,
    pub stops_while_waiting: bool,
}

/// Days to keep what, counted from the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub content_days: i64,
    pub key_days: i64,
    pub journal_days: i64,
}

impl Flow {
    /// The roles that may be asked to decide, first audience and escalation.
    #[must_use]
    pub fn audiences(&self) -> BTreeSet<&str> {
        let Some(policy) = &self.approval else { return BTreeSet::new() };
        let next = policy.escalate.iter().flat_map(|e| &e.audience);
        policy.audience.iter().chain(next).map(String::as_str).collect()
    }
}
