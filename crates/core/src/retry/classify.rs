//! What a report means: facts of the wire in, a class out, by the rules of the provider. What follows from the class is
//! [`super::verdict()`]'s.

use serde_json::Value;

use super::{Class, Classified, Success};
use crate::{
    effect::{AttemptEnd, Effect},
    outcome::{Answer, Phase, Report},
    provider::{InFlight, Provider},
    retry_after,
    time::Timestamp,
};

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
    if answer.replayed {
        found.mark_repeat();
    }
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
        200..=299 => {
            Classified { class: Class::Applied, external_id: None, retry_after_ms: None, detail: None, repeats: false }
        }
        400..=599 => Classified::of(Class::Refused, said),
        _ => Classified::of(Class::Unknown, said),
    }
}

fn status_class(status: u16, answer: &Answer, provider: &Provider) -> Class {
    if provider.declared.in_flight.iter().any(|rule| is_in_flight(rule, answer)) {
        return Class::ConflictInFlight;
    }
    if provider.refused_statuses.contains(&status) {
        return Class::Refused;
    }
    if provider.not_done_statuses.contains(&status) && (status != 503 || answer.retry_after.is_some()) {
        return Class::Overloaded;
    }
    match status {
        429 => Class::RateLimited,
        401 | 403 => Class::Unauthorized,
        // Not by rule: a conflict may be our own earlier attempt; a time-out (408) or "too early" (425) says nothing.
        408 | 409 | 425 => Class::Unknown,
        400..=499 => Class::Refused,
        // A 5xx says nothing about what was done.
        _ => Class::Unknown,
    }
}

fn is_in_flight(rule: &InFlight, answer: &Answer) -> bool {
    rule.status == answer.status
        && rule.member.as_ref().is_none_or(|(pointer, wanted)| {
            serde_json::from_slice::<Value>(&answer.body).is_ok_and(|body| body.pointer(pointer) == Some(wanted))
        })
}

/// True if an earlier attempt under the same key ended with the very error that `report` shows. At a provider that keeps
/// errors and marks nothing, this is the sign that the key is spent: it will only ever repeat that error.
#[must_use]
pub fn is_same_error<'a>(report: &Report, mut earlier: impl Iterator<Item = &'a AttemptEnd>) -> bool {
    let status = report.answer.as_ref().map(|answer| answer.status).filter(|status| *status >= 500);
    status.is_some() && earlier.any(|end| end.status == status)
}

/// True if whoever settles should compare with the earlier attempts ([`is_same_error`]): where the provider marks what
/// it had kept, its mark says more.
#[must_use]
pub fn wants_earlier(found: &Classified, effect: &Effect, provider: &Provider) -> bool {
    let declared = &provider.declared;
    let is_second = effect.attempts > 1 && found.class == Class::Unknown;
    is_second && declared.replays_errors && declared.replayed.is_none()
}

fn succeeded(answer: &Answer, provider: &Provider, success: &Success) -> Classified {
    if !answer.body_complete {
        return Classified::of(Class::Unknown, "the answer was cut off");
    }
    let wants_body = success.external_id.is_some() || success.member.is_some();
    let applied =
        Classified { class: Class::Applied, external_id: None, retry_after_ms: None, detail: None, repeats: false };
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

/// A provider's id as it is kept: a text or a number, bounded.
#[must_use]
pub fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.chars().take(EXTERNAL_ID_CHARS_MAX).map(kept).collect()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// U+0000 cannot be written where ids are: an outcome that is known would be lost over the spelling of its id.
const fn kept(c: char) -> char {
    if c == '\0' { char::REPLACEMENT_CHARACTER } else { c }
}

/// Provider ids are short; a longer one is not an id.
pub const EXTERNAL_ID_CHARS_MAX: usize = 500;
