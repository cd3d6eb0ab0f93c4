//! The words of the matrix: the class of an attempt, what it says of the outside world, and how a success is
//! recognised. How a report gets its class is [`super::classify()`]'s.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What one attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Proof that nothing was sent.
    NotSent,
    /// The kill switch or a limit stood in the way before the first byte; counts no attempt.
    HeldBack,
    RateLimited,
    Refused,
    /// 401 or 403: refused, and nothing else will pass before somebody mends the credentials.
    Unauthorized,
    Redirect,
    ConflictInFlight,
    /// Declared by the provider to mean "not done".
    Overloaded,
    Unknown,
    Applied,
}

/// What is known of the outside world after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    NotSent,
    Applied,
    Refused,
    Unknown,
}

impl Outcome {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::Applied => "applied",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

impl Class {
    pub const ALL: [Self; 10] = [
        Self::NotSent,
        Self::HeldBack,
        Self::RateLimited,
        Self::Refused,
        Self::Unauthorized,
        Self::Redirect,
        Self::ConflictInFlight,
        Self::Overloaded,
        Self::Unknown,
        Self::Applied,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::HeldBack => "held_back",
            Self::RateLimited => "rate_limited",
            Self::Refused => "refused",
            Self::Unauthorized => "unauthorized",
            Self::Redirect => "redirect",
            Self::ConflictInFlight => "conflict_in_flight",
            Self::Overloaded => "overloaded",
            Self::Unknown => "unknown",
            Self::Applied => "applied",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == word)
    }

    #[must_use]
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::NotSent | Self::HeldBack => Outcome::NotSent,
            Self::RateLimited | Self::Refused | Self::Unauthorized | Self::Redirect | Self::Overloaded => {
                Outcome::Refused
            }
            Self::ConflictInFlight | Self::Unknown => Outcome::Unknown,
            Self::Applied => Outcome::Applied,
        }
    }
}

/// A classified report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    pub class: Class,
    pub external_id: Option<String>,
    /// The provider's wish, already bounded, in milliseconds.
    pub retry_after_ms: Option<i64>,
    pub detail: Option<String>,
    /// True if the provider gave again what it keeps for our key: it says so, or it is the error it gave before.
    pub repeats: bool,
}

impl Classified {
    pub(super) fn of(class: Class, detail: impl Into<String>) -> Self {
        Self { class, external_id: None, retry_after_ms: None, detail: Some(detail.into()), repeats: false }
    }

    /// Marks it as what the provider had kept for our key.
    pub fn mark_repeat(&mut self) {
        self.repeats = true;
        let what = self.detail.take().unwrap_or_default();
        self.detail =
            Some(format!("{what}, again what it keeps under this key").trim_start_matches([',', ' ']).to_owned());
    }
}

/// How a success is recognised, beyond the status.
#[derive(Debug, Clone, PartialEq)]
pub struct Success {
    /// The provider's id in the answer, as a JSON Pointer.
    pub external_id: Option<String>,
    /// A member that must have a value, for providers that answer 200 to everything. Failure is decided by a declared
    /// value, never by a member being there.
    pub member: Option<(String, Value)>,
}
