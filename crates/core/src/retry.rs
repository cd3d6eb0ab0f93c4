//! The retry matrix: what an attempt's report means ([`classify`]) and what follows ([`verdict`]). Data and pure
//! functions; the tables in `tests/` go through every class at both kinds of provider.
//!
//! A retry below the dispatcher does not exist, so what is counted here is what was sent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    effect::Effect,
    outcome::{Answer, Phase, Report},
    provider::{self, Provider},
    retry_after,
    time::Timestamp,
};

/// Exponential backoff with full jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    pub base_ms: i64,
    pub max_ms: i64,
}

impl Backoff {
    /// The wait before the attempt after `attempts` failed ones: between half and all of `base · 2^(attempts-1)`,
    /// bounded. `jitter` is from 0 to 1. Half is kept, so that a wait is never nothing.
    #[must_use]
    pub fn wait_ms(&self, attempts: i32, jitter: f64) -> i64 {
        let doublings = u32::try_from(attempts.saturating_sub(1).clamp(0, 30)).unwrap_or(0);
        let full = self.base_ms.saturating_mul(1 << doublings).min(self.max_ms).max(1);
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "waits are far below 2^53 ms")]
        let extra = (full as f64 / 2.0 * jitter.clamp(0.0, 1.0)) as i64;
        full / 2 + extra
    }
}

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
}

impl Classified {
    fn of(class: Class, detail: impl Into<String>) -> Self {
        Self { class, external_id: None, retry_after_ms: None, detail: Some(detail.into()) }
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

/// Says what a report means under a provider's rules.
#[must_use]
pub fn classify(report: &Report, provider: &Provider, success: &Success, now: Timestamp) -> Classified {
    match &report.answer {
        Some(answer) if report.phase < Phase::Request => before_message(report.phase, answer),
        Some(answer) => answered(answer, provider, success, now),
        None if report.phase == Phase::Prepared => {
            Classified::of(Class::HeldBack, report.error.clone().unwrap_or_default())
        }
        None if report.phase < Phase::Request || report.bytes_sent == 0 => {
            Classified::of(Class::NotSent, report.error.clone().unwrap_or_default())
        }
        None => Classified::of(Class::Unknown, report.error.clone().unwrap_or_default()),
    }
}

/// An SMTP refusal before the message: 4xx passes, 5xx stays. 530, 534, 535 and 538 in the handshake are about the
/// credentials (RFC 4954 section 6).
fn before_message(phase: Phase, answer: &Answer) -> Classified {
    let class = match answer.status {
        ..500 => Class::NotSent,
        530 | 534 | 535 | 538 if phase == Phase::Handshake => Class::Unauthorized,
        _ => Class::Refused,
    };
    Classified::of(class, format!("the server answered {} before the message", answer.status))
}

fn answered(answer: &Answer, provider: &Provider, success: &Success, now: Timestamp) -> Classified {
    let status = answer.status;
    if provider.smtp {
        return after_the_dot(answer);
    }
    let mut found = match status {
        200..=299 => return succeeded(answer, provider, success),
        300..=399 => Classified::of(Class::Redirect, format!("{status}: nothing is followed; correct the URL")),
        _ => Classified::of(status_class(status, answer, provider), format!("the provider answered {status}")),
    };
    if matches!(found.class, Class::RateLimited | Class::Overloaded) {
        found.retry_after_ms = answer
            .retry_after
            .as_deref()
            .and_then(|text| retry_after::parse(text, now.millis(), provider.retry_after_ms_max))
            .and_then(|ms| i64::try_from(ms).ok());
    }
    found
}

/// The reply to the final dot (RFC 5321 section 4.2.1): 2xx took the mail, 4xx and 5xx did not, anything else, or a
/// reply that was cut off, says nothing.
fn after_the_dot(answer: &Answer) -> Classified {
    let said = format!("the server answered {} to the message", answer.status);
    match answer.status {
        _ if !answer.body_complete => Classified::of(Class::Unknown, "the reply was cut off"),
        200..=299 => Classified { class: Class::Applied, external_id: None, retry_after_ms: None, detail: None },
        400..=599 => Classified::of(Class::Refused, said),
        _ => Classified::of(Class::Unknown, said),
    }
}

fn status_class(status: u16, answer: &Answer, provider: &Provider) -> Class {
    if provider.refused_statuses.contains(&status) {
        return Class::Refused;
    }
    if provider.not_done_statuses.contains(&status) && (status != 503 || answer.retry_after.is_some()) {
        return Class::Overloaded;
    }
    match status {
        429 => Class::RateLimited,
        401 | 403 => Class::Unauthorized,
        409 if provider.conflict_is_in_flight => Class::ConflictInFlight,
        // Not by rule: a conflict may be our own earlier attempt; a time-out (408) or "too early" (425) says nothing.
        408 | 409 | 425 => Class::Unknown,
        400..=499 => Class::Refused,
        // A 5xx says nothing about what was done.
        _ => Class::Unknown,
    }
}

fn succeeded(answer: &Answer, provider: &Provider, success: &Success) -> Classified {
    if !answer.body_complete {
        return Classified::of(Class::Unknown, "the answer was cut off");
    }
    let wants_body = success.external_id.is_some() || success.member.is_some();
    let applied = Classified { class: Class::Applied, external_id: None, retry_after_ms: None, detail: None };
    if !wants_body {
        return applied;
    }
    if answer.body.is_empty() && success.member.is_none() && !provider.external_id_required {
        return applied;
    }
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else {
        return Classified::of(Class::Unknown, "the success could not be read as JSON");
    };
    if let Some((pointer, wanted)) = &success.member {
        match body.pointer(pointer) {
            Some(value) if value == wanted => {}
            Some(_) => return Classified::of(Class::Refused, format!("the answer's {pointer} says that it failed")),
            None => return Classified::of(Class::Unknown, format!("the answer has no {pointer}")),
        }
    }
    let external_id = success.external_id.as_deref().and_then(|pointer| body.pointer(pointer)).and_then(id_text);
    if external_id.is_none() && provider.external_id_required {
        return Classified::of(Class::Unknown, "the success carries no id");
    }
    Classified { external_id, ..applied }
}

fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.chars().take(EXTERNAL_ID_CHARS_MAX).collect()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Provider ids are short; a longer one is not an id.
pub const EXTERNAL_ID_CHARS_MAX: usize = 500;

/// What follows from a class, for the effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Complete,
    /// Back to pending at that moment. Only where nothing can have happened.
    Retry {
        at: Timestamp,
    },
    /// Held back before the first byte: pending again, no attempt counted.
    HoldBack,
    Fail {
        reason: &'static str,
    },
    /// Unknown, looked at again at that moment by the reconciler.
    Unknown {
        look_at: Timestamp,
    },
    /// A person must settle it.
    Review {
        reason: &'static str,
    },
}

/// Applies the matrix. `jitter` is from 0 to 1.
#[must_use]
pub fn verdict(found: &Classified, effect: &Effect, provider: &Provider, now: Timestamp, jitter: f64) -> Verdict {
    let backoff = now.plus_ms(provider.backoff.wait_ms(effect.attempts, jitter));
    let later = match found.retry_after_ms {
        Some(ms) => now.plus_ms(ms).max(backoff),
        None => backoff,
    };
    match found.class {
        Class::Applied => Verdict::Complete,
        Class::HeldBack => Verdict::HoldBack,
        Class::NotSent | Class::RateLimited | Class::Overloaded => again(effect, provider, later),
        // The provider did not look at our key, so an earlier unknown attempt stays unknown.
        Class::Unauthorized | Class::Redirect if effect.unknown_since.is_some() => {
            Verdict::Review { reason: found.class.as_str() }
        }
        Class::Refused | Class::Redirect | Class::Unauthorized => Verdict::Fail { reason: found.class.as_str() },
        Class::ConflictInFlight | Class::Unknown => Verdict::Unknown { look_at: first_look(provider, now, backoff) },
    }
}

fn again(effect: &Effect, provider: &Provider, at: Timestamp) -> Verdict {
    let exhausted = effect.attempts >= provider.attempts_max;
    match (exhausted, effect.unknown_since) {
        (false, None) => Verdict::Retry { at },
        // An earlier attempt is still unknown: this one proves nothing about it.
        (false, Some(_)) => Verdict::Unknown { look_at: at },
        (true, None) => Verdict::Fail { reason: "attempts_exhausted" },
        (true, Some(_)) => Verdict::Review { reason: "attempts_exhausted" },
    }
}

/// A lookup is asked after a period, an enforcing provider after the backoff; else the reconciler sees it at once.
fn first_look(provider: &Provider, now: Timestamp, backoff: Timestamp) -> Timestamp {
    match (&provider.class, &provider.lookup) {
        (provider::Class::Enforcing { .. }, _) => backoff,
        (provider::Class::Advisory, Some(lookup)) => now.plus_ms(lookup.period_ms),
        (provider::Class::Advisory, None) => now,
    }
}

/// True while a re-issue with the same provider key is safe: an enforcing provider, inside the key window less the
/// margin, counted from the first send.
#[must_use]
pub fn key_holds(effect: &Effect, provider: &Provider, now: Timestamp) -> bool {
    match provider.class {
        provider::Class::Advisory => false,
        provider::Class::Enforcing { key_window_ms, margin_ms } => {
            effect.first_sent_at.is_none_or(|first| now.ms_since(first) < key_window_ms - margin_ms)
        }
    }
}

/// What a lookup said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    Found {
        external_id: Option<String>,
    },
    FoundMany {
        count: usize,
    },
    Absent,
    InProgress,
    /// An error or a time-out: no information.
    Nothing {
        detail: String,
    },
}

impl Look {
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Found { .. } => "found",
            Self::FoundMany { .. } => "found_many",
            Self::Absent => "absent",
            Self::InProgress => "in_progress",
            Self::Nothing { .. } => "no_information",
        }
    }
}

/// What the reconciler does with an unknown effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// Ask the provider first; only where a lookup is declared and re-issue is not safe.
    AskFirst,
    Complete {
        external_id: Option<String>,
    },
    LookAgain {
        at: Timestamp,
    },
    /// The same key again; the effect stays marked as unknown until the answer.
    Reissue,
    /// Proof of absence: nothing happened, so it may be sent as if for the first time.
    SendAfterProof,
    Review {
        reason: &'static str,
    },
}

/// A lookup that says nothing for this long hands over to a person.
pub const LOOK_MS_MAX: i64 = 24 * 3_600_000;

/// Settles an unknown effect by what is known. Without `look` it says whether to ask.
#[must_use]
pub fn reconcile(effect: &Effect, provider: &Provider, look: Option<&Look>, now: Timestamp) -> Settlement {
    if let Some(look) = look {
        return looked(effect, provider, look, now);
    }
    let may_reissue = key_holds(effect, provider, now);
    if may_reissue && effect.attempts < provider.attempts_max {
        return Settlement::Reissue;
    }
    match provider.lookup {
        Some(_) => Settlement::AskFirst,
        None if may_reissue => Settlement::Review { reason: "attempts_exhausted" },
        None if matches!(provider.class, provider::Class::Enforcing { .. }) => {
            Settlement::Review { reason: "key_window_over" }
        }
        None => Settlement::Review { reason: "outcome_unknown" },
    }
}

fn looked(effect: &Effect, provider: &Provider, look: &Look, now: Timestamp) -> Settlement {
    let Some(lookup) = provider.lookup else { return Settlement::Review { reason: "outcome_unknown" } };
    let since = effect.unknown_since.unwrap_or(effect.updated_at);
    let next = now.plus_ms(lookup.period_ms);
    match look {
        Look::Found { external_id } => Settlement::Complete { external_id: external_id.clone() },
        Look::FoundMany { .. } => Settlement::Review { reason: "found_many" },
        Look::Absent if now.ms_since(since) < lookup.settle_delay_ms => {
            Settlement::LookAgain { at: next.min(since.plus_ms(lookup.settle_delay_ms)) }
        }
        Look::Absent if key_holds(effect, provider, now) && effect.attempts < provider.attempts_max => {
            Settlement::Reissue
        }
        Look::Absent if lookup.authoritative && effect.attempts < provider.attempts_max => Settlement::SendAfterProof,
        Look::Absent => Settlement::Review { reason: "not_found" },
        Look::InProgress | Look::Nothing { .. } if now.ms_since(since) > LOOK_MS_MAX => {
            Settlement::Review { reason: "lookup_silent" }
        }
        Look::InProgress | Look::Nothing { .. } => Settlement::LookAgain { at: next },
    }
}
