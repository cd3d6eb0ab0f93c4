//! The run: the durable row for one key. States carry exactly the data that exists in them. What a command does to a
//! run is in [`crate::lease`], [`crate::ending`], [`crate::approval`] and their neighbours; how it is written is in [`crate::transition`].

use serde::{Deserialize, Serialize};

use crate::{
    approval::Approval,
    effect::Effect,
    flow::Flow,
    ids::{Fence, FlowName, Owner, RunId, SourceName, Tenant},
    journal::Head,
    key::Key,
    payload::PayloadHash,
    time::Timestamp,
    transition::Transition,
};

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// Accepted, nobody works on it yet.
    Queued,
    /// One owner works on it; its lease lies beside the run, because only the database's clock judges it.
    Processing,
    /// A person is asked: to decide (an open approval) or to settle an unknown effect.
    AwaitingHuman {
        reason: AwaitReason,
    },
    /// Decided; effects are in the outbox.
    Approved,
    Completed,
    /// May be claimed again, from `next_attempt_at` by `claim`, at once by `reserve`.
    FailedRetryable {
        reason: String,
        next_attempt_at: Timestamp,
    },
    FailedTerminal {
        reason: String,
    },
    /// Kept, not run.
    Quarantined {
        reason: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AwaitReason {
    Approval,
    UnknownEffect,
}

impl AwaitReason {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::UnknownEffect => "unknown_effect",
        }
    }
}

impl RunState {
    pub const WORDS: [&'static str; 8] = [
        "queued",
        "processing",
        "awaiting_human",
        "approved",
        "completed",
        "failed_retryable",
        "failed_terminal",
        "quarantined",
    ];

    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Processing => "processing",
            Self::AwaitingHuman { .. } => "awaiting_human",
            Self::Approved => "approved",
            Self::Completed => "completed",
            Self::FailedRetryable { .. } => "failed_retryable",
            Self::FailedTerminal { .. } => "failed_terminal",
            Self::Quarantined { .. } => "quarantined",
        }
    }

    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::AwaitingHuman { reason } => Some(reason.as_str()),
            Self::FailedRetryable { reason, .. } | Self::FailedTerminal { reason } | Self::Quarantined { reason } => {
                Some(reason)
            }
            _ => None,
        }
    }

    #[must_use]
    pub const fn next_attempt_at(&self) -> Option<Timestamp> {
        match self {
            Self::FailedRetryable { next_attempt_at, .. } => Some(*next_attempt_at),
            _ => None,
        }
    }

    /// Rebuilds the state from the store's columns; `None` if they do not fit.
    #[must_use]
    pub fn from_parts(word: &str, reason: Option<String>, next_attempt_at: Option<Timestamp>) -> Option<Self> {
        Some(match (word, reason, next_attempt_at) {
            ("queued", None, None) => Self::Queued,
            ("processing", None, None) => Self::Processing,
            ("awaiting_human", Some(reason), None) => {
                let known = [AwaitReason::Approval, AwaitReason::UnknownEffect];
                Self::AwaitingHuman { reason: known.into_iter().find(|r| r.as_str() == reason)? }
            }
            ("approved", None, None) => Self::Approved,
            ("completed", None, None) => Self::Completed,
            ("failed_retryable", Some(reason), Some(next_attempt_at)) => {
                Self::FailedRetryable { reason, next_attempt_at }
            }
            ("failed_terminal", Some(reason), None) => Self::FailedTerminal { reason },
            ("quarantined", Some(reason), None) => Self::Quarantined { reason },
            _ => return None,
        })
    }

    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::FailedTerminal { .. })
    }
}

/// The durable row for one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub tenant: Tenant,
    pub flow: FlowName,
    pub flow_revision: String,
    pub key: String,
    pub state: RunState,
    /// Rises with every change of the run that a caller can see; a refused try leaves it alone.
    pub version: i64,
    pub payload_hash: PayloadHash,
    /// The identity rule in force when the run was made, in its text form.
    pub identity_rule: String,
    /// Who holds or held the last lease.
    pub owner: Option<Owner>,
    pub fence: Fence,
    /// Claims so far, and how many there may be.
    pub attempts: i32,
    pub attempts_max: i32,
    pub repairs_used: i32,
    /// Claims that took over an expired lease.
    pub takeovers: i32,
    pub effects: EffectCounts,
    /// Refused tries that were journalled; bounded by [`REFUSALS_MAX`](crate::lease::REFUSALS_MAX).
    pub refusals: i32,
    pub head: Head,
    pub origin: Origin,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// When the key may be forgotten; set when the run becomes final.
    pub expires_at: Option<Timestamp>,
    /// When the content is erased; set when the run becomes final.
    pub content_expires_at: Option<Timestamp>,
}

impl Run {
    /// A run at its beginning: nobody works on it yet. Its record is empty; the first entry is sealed onto its head.
    ///
    /// `id` is that of tenant, flow and key ([`RunId::derive`]).
    #[must_use]
    pub fn queued(
        id: RunId,
        tenant: Tenant,
        flow: &Flow,
        key: &Key,
        payload_hash: PayloadHash,
        origin: Origin,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            tenant,
            flow: flow.name.clone(),
            flow_revision: flow.revision.clone(),
            key: key.as_str().to_owned(),
            state: RunState::Queued,
            version: 1,
            payload_hash,
            identity_rule: flow.identity.as_text(),
            owner: None,
            fence: Fence(0),
            attempts: 0,
            attempts_max: flow.attempts_max,
            repairs_used: 0,
            takeovers: 0,
            effects: EffectCounts::default(),
            refusals: 0,
            head: Head::EMPTY,
            origin,
            created_at: now,
            updated_at: now,
            expires_at: None,
            content_expires_at: None,
        }
    }

    /// The same under its first lease: the worker that brings the event works on it at once.
    #[must_use]
    pub fn held_by(self, owner: Owner) -> Self {
        Self { state: RunState::Processing, owner: Some(owner), fence: Fence(1), attempts: 1, ..self }
    }
}

/// How a run's effects stand, kept in the row so that a settlement needs no look at the siblings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EffectCounts {
    pub total: i32,
    pub open: i32,
    pub failed: i32,
    pub cancelled: i32,
}

/// Where the event came from; audit data, never part of an identity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
    /// The kind of event, where the key came in parts: what a bulk replay is narrowed by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// The run that this one corrects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrects: Option<RunId>,
    /// Who asked for the correction, why, and what the original had done; with `corrects`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
    /// The API key that reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// The source at whose door the event came in. Set by the server only; what is delivered to a worker goes by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inbound: Option<SourceName>,
}

/// What a correction knows of its original: a final run changes no more, so this stays true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// The operator.
    pub by: String,
    pub reason: String,
    pub original_key: String,
    pub original_state: String,
    /// What the original did outside.
    pub results: Vec<ExternalResult>,
}

/// One thing that happened outside, by the name the provider gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalResult {
    #[serde(rename = "type")]
    pub effect_type: String,
    pub provider: String,
    /// Absent where the provider names nothing.
    pub external_id: Option<String>,
}

/// A lease as read together with its run: whether it lives was judged by the database's clock in that statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// When the chain of renewals began.
    pub since: Timestamp,
    pub expires_at: Timestamp,
    pub is_live: bool,
    /// Milliseconds left at the moment of reading; negative when over.
    pub left_ms: i64,
}

/// A run with everything that a rule may ask about. What a command works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregate {
    pub run: Run,
    /// Present exactly in `processing`.
    pub lease: Option<Lease>,
    pub effects: Vec<Effect>,
    pub approvals: Vec<Approval>,
}

impl Aggregate {
    /// The approval that is being asked for, or was last.
    #[must_use]
    pub fn approval(&self) -> Option<&Approval> {
        self.approvals.last()
    }

    /// The aggregate as it will be once the transition is committed. The lease is left out: its end is the database's
    /// to say.
    #[must_use]
    pub fn after(&self, transition: &Transition) -> Self {
        let mut next = self.clone();
        next.run = transition.run.clone();
        next.lease = self.lease.filter(|_| next.run.state == RunState::Processing);
        for write in &transition.effects {
            replace(&mut next.effects, write.effect.clone(), |e| e.id);
        }
        for approval in &transition.approvals {
            replace(&mut next.approvals, approval.clone(), |a| a.id);
        }
        next
    }

    #[must_use]
    pub fn holds_lease(&self, owner: &Owner, fence: Fence) -> bool {
        self.run.state == RunState::Processing
            && self.run.owner.as_ref() == Some(owner)
            && self.run.fence == fence
            && self.lease.is_some_and(|lease| lease.is_live)
    }
}

fn replace<T, K: PartialEq>(items: &mut Vec<T>, item: T, key: impl Fn(&T) -> K) {
    match items.iter_mut().find(|old| key(old) == key(&item)) {
        Some(old) => *old = item,
        None => items.push(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_survives_its_parts() {
        let at = Timestamp::from_micros(1);
        let states = [
            RunState::Queued,
            RunState::Processing,
            RunState::AwaitingHuman { reason: AwaitReason::UnknownEffect },
            RunState::Approved,
            RunState::Completed,
            RunState::FailedRetryable { reason: "model_timeout".into(), next_attempt_at: at },
            RunState::FailedTerminal { reason: "rejected".into() },
            RunState::Quarantined { reason: "schema".into() },
        ];
        for state in states {
            let parts = (state.reason().map(str::to_owned), state.next_attempt_at());
            assert_eq!(RunState::from_parts(state.as_str(), parts.0, parts.1), Some(state));
        }
        assert_eq!(RunState::from_parts("processing", Some("x".into()), None), None);
        assert_eq!(RunState::from_parts("failed_retryable", Some("x".into()), None), None);
    }
}
