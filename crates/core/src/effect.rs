//! An effect: one intended external write, a row in the outbox. Its states, what may be done in each, and the moves of
//! the dispatcher, the reconciler, the worker (inline) and a person. Nothing here sends anything.
//!
//! Journeys (a) and (c) pass through: claim → attempt → settle, and expire → unknown → reconcile.

use serde::{Deserialize, Serialize};

use crate::{
    budget::Charged,
    digest::Digest,
    ids::{EffectId, EffectType, Fence, ProviderName, RunId},
    outcome::Phase,
    retry::Class,
    time::Timestamp,
};

/// Who performs the effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// The server holds the credentials and sends.
    Dispatcher,
    /// The worker calls the provider between `begin` and `settle`.
    Inline,
}

impl Executor {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dispatcher => "dispatcher",
            Self::Inline => "inline",
        }
    }
}

/// Where an effect stands. Who takes it out of a state: scheduled, pending: the dispatcher (or a person who cancels);
/// sending: the dispatcher, or the sweeper when its lease ends; unknown: the reconciler; review: a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectState {
    /// Held back until `not_before`.
    Scheduled {
        not_before: Timestamp,
    },
    Pending {
        due_at: Timestamp,
    },
    /// An attempt has been committed and has no end yet.
    Sending,
    /// May have happened; looked at next at `look_at`.
    Unknown {
        look_at: Timestamp,
    },
    /// A person must settle it.
    Review {
        since: Timestamp,
    },
    Completed,
    Failed,
    Cancelled,
}

impl EffectState {
    pub const WORDS: [&'static str; 8] =
        ["scheduled", "pending", "sending", "unknown", "review", "completed", "failed", "cancelled"];

    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Scheduled { .. } => "scheduled",
            Self::Pending { .. } => "pending",
            Self::Sending => "sending",
            Self::Unknown { .. } => "unknown",
            Self::Review { .. } => "review",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The moment at which a worker or the sweeper looks at it again.
    #[must_use]
    pub const fn due_at(&self) -> Option<Timestamp> {
        match *self {
            Self::Scheduled { not_before } => Some(not_before),
            Self::Pending { due_at } => Some(due_at),
            Self::Unknown { look_at } => Some(look_at),
            Self::Review { since } => Some(since),
            _ => None,
        }
    }

    /// Rebuilds the state from its word and moment, as the store keeps them; `None` if they do not fit.
    #[must_use]
    pub fn from_parts(word: &str, due_at: Option<Timestamp>) -> Option<Self> {
        Some(match (word, due_at) {
            ("scheduled", Some(not_before)) => Self::Scheduled { not_before },
            ("pending", Some(due_at)) => Self::Pending { due_at },
            ("unknown", Some(look_at)) => Self::Unknown { look_at },
            ("review", Some(since)) => Self::Review { since },
            ("sending", None) => Self::Sending,
            ("completed", None) => Self::Completed,
            ("failed", None) => Self::Failed,
            ("cancelled", None) => Self::Cancelled,
            _ => return None,
        })
    }

    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// True where something may have happened over there and nobody knows.
    #[must_use]
    pub const fn is_unsettled(&self) -> bool {
        matches!(self, Self::Sending | Self::Unknown { .. } | Self::Review { .. })
    }
}

/// One row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    pub id: EffectId,
    pub effect_type: EffectType,
    pub target: String,
    pub provider: ProviderName,
    pub executor: Executor,
    pub state: EffectState,
    /// Why it stands where it stands, as a stable word.
    pub reason: Option<String>,
    /// The text that goes out, byte for byte.
    pub payload: String,
    /// [`decided_hash`] at the moment of the decision; `None` before it. Checked again at send.
    pub decided: Option<Digest>,
    /// Derived from (run, type, target); the same on every attempt, whatever happens.
    pub provider_key: String,
    pub external_id: Option<String>,
    /// Rises at every claim.
    pub fence: Fence,
    /// Attempts that count against the limit.
    pub attempts: i32,
    /// When the first byte may have left for the first time: the start of the provider's key window.
    pub first_sent_at: Option<Timestamp>,
    /// Since when an attempt without a known outcome stands behind it.
    pub unknown_since: Option<Timestamp>,
    /// What it has been charged against budgets, in which windows. Empty where none applies.
    pub charged: Vec<Charged>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// One try, recorded before the first byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub effect: EffectId,
    pub fence: Fence,
    pub started_at: Timestamp,
    /// `None` while nobody knows how it ended.
    pub end: Option<AttemptEnd>,
}

/// How an attempt ended, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptEnd {
    pub at: Timestamp,
    pub class: Class,
    pub phase: Phase,
    pub bytes_sent: i64,
    pub status: Option<u16>,
    /// What went wrong, in words; never a body.
    pub detail: Option<String>,
    /// What to search for at the provider: Message-ID or provider key.
    pub handle: Option<String>,
}

/// The hash a decision is bound to: type, target and the exact bytes.
#[must_use]
pub fn decided_hash(effect_type: &EffectType, target: &str, payload: &str) -> Digest {
    Digest::of_parts(&[b"effect", effect_type.as_str().as_bytes(), target.as_bytes(), payload.as_bytes()])
}

/// The key that names the intention at the provider: never the attempt, never a fresh one. 43 characters after the
/// prefix fit every provider's limit (Stripe: 255; others 64).
#[must_use]
pub fn provider_key(run: RunId, effect_type: &EffectType, target: &str) -> String {
    let digest =
        Digest::of_parts(&[b"provider-key", run.as_bytes(), effect_type.as_str().as_bytes(), target.as_bytes()]);
    format!("eg-{}", &digest.to_string()[..40])
}

impl Effect {
    #[must_use]
    pub fn bytes_hash(&self) -> Digest {
        decided_hash(&self.effect_type, &self.target, &self.payload)
    }

    /// The hash of the payload alone, for the wire.
    #[must_use]
    pub fn payload_hash(&self) -> Digest {
        Digest::of(self.payload.as_bytes())
    }

    /// True where it may have happened over there although it stands as open: an attempt whose outcome nobody knows is
    /// behind it. A pending effect is in doubt too while it waits for its re-issue.
    #[must_use]
    pub const fn is_in_doubt(&self) -> bool {
        !self.state.is_final() && (self.state.is_unsettled() || self.unknown_since.is_some())
    }

    /// True for one that its run's worker performs and that is not final.
    #[must_use]
    pub fn is_open_inline(&self) -> bool {
        self.executor == Executor::Inline && !self.state.is_final()
    }

    /// G5: the bytes at hand are the bytes that were decided.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.decided == Some(self.bytes_hash())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FlowName, Tenant};

    #[test]
    fn every_state_survives_its_parts() {
        let at = Timestamp::from_micros(7);
        let states = [
            EffectState::Scheduled { not_before: at },
            EffectState::Pending { due_at: at },
            EffectState::Sending,
            EffectState::Unknown { look_at: at },
            EffectState::Review { since: at },
            EffectState::Completed,
            EffectState::Failed,
            EffectState::Cancelled,
        ];
        for state in states {
            assert_eq!(EffectState::from_parts(state.as_str(), state.due_at()), Some(state));
        }
        assert_eq!(EffectState::from_parts("sending", Some(at)), None);
        assert_eq!(EffectState::from_parts("pending", None), None);
    }

    #[test]
    fn the_provider_key_names_the_intention() {
        let run = RunId::derive(&Tenant::new("t"), &FlowName::new("f"), "k");
        let key = |kind: &str, target| provider_key(run, &EffectType::new(kind), target);

        assert_eq!(key("refund", "a"), key("refund", "a"));
        assert_ne!(key("refund", "a"), key("refund", "b"));
        assert_ne!(key("refund", "a"), key("note", "a"));
    }
}
