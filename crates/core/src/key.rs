//! The idempotency key of one business event: taken whole or put together from parts, and refused where it cannot name
//! one event.
//!
//! A key that every event shares (`undefined`) makes all events one; a key that changes with every try (an execution id)
//! makes each try its own event. Both are refused here, on every way in. Suffixes put onto an old key are the business
//! of the correction protocol, and uniqueness is the store's.

mod header;
mod shape;

pub use header::{from_header, from_headers};
pub(crate) use shape::is_invisible;

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::json::Json;

/// The longest key, in Unicode scalar values after normalisation (SPEC section 4).
pub const KEY_CHARS_MAX: usize = 255;

/// A key that has passed every rule: NFC-normalised, trimmed, 1 to 255 Unicode scalar values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Key(String);

/// What a flow allows or forbids beyond the rules that always hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeyPolicy {
    /// An e-mail address alone may be a key (one event per person and flow).
    pub allow_email: bool,
    /// A phone number alone may be a key.
    pub allow_phone: bool,
    /// An amount alone may be a key.
    pub allow_amount: bool,
    /// The flow promises a stable field; execution ids, timestamps and fresh UUIDs alone are refused.
    pub key_from_stable_field: bool,
}

/// The parts of a key, in the order in which they are joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyParts {
    pub source: String,
    pub event_type: String,
    pub external_id: String,
    pub version: String,
}

/// Why a key was refused; stable, callers branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyReason {
    Empty,
    /// Nothing but white space and characters that show nothing.
    Invisible,
    ControlCharacter,
    /// What a broken workflow sends instead of a value: `null`, `undefined`, `NaN`, `[object Object]`.
    Placeholder,
    /// An expression that nobody expanded: `{{ … }}`.
    Template,
    TooLong,
    LooksLikeEmail,
    LooksLikePhone,
    LooksLikeAmount,
    ExecutionId,
    Timestamp,
    FreshUuid,
    /// A JSON value that is no string.
    NotText,
    /// The header carries bytes beyond ASCII.
    HeaderNotAscii,
    /// The header is neither a quoted string nor bare visible characters.
    HeaderMalformed,
    /// The header came twice, or holds a list.
    HeaderRepeated,
}

impl KeyReason {
    pub fn as_str(self) -> &'static str {
        match self {
            KeyReason::Empty => "empty",
            KeyReason::Invisible => "invisible",
            KeyReason::ControlCharacter => "control_character",
            KeyReason::Placeholder => "placeholder",
            KeyReason::Template => "template",
            KeyReason::TooLong => "too_long",
            KeyReason::LooksLikeEmail => "looks_like_email",
            KeyReason::LooksLikePhone => "looks_like_phone",
            KeyReason::LooksLikeAmount => "looks_like_amount",
            KeyReason::ExecutionId => "execution_id",
            KeyReason::Timestamp => "timestamp",
            KeyReason::FreshUuid => "fresh_uuid",
            KeyReason::NotText => "not_text",
            KeyReason::HeaderNotAscii => "header_not_ascii",
            KeyReason::HeaderMalformed => "header_malformed",
            KeyReason::HeaderRepeated => "header_repeated",
        }
    }

    fn words(self) -> &'static str {
        match self {
            KeyReason::Empty => "is empty",
            KeyReason::Invisible => "has no visible character",
            KeyReason::ControlCharacter => "holds a control character",
            KeyReason::Placeholder => "is what a broken workflow sends instead of a value",
            KeyReason::Template => "is an expression that was not expanded",
            KeyReason::TooLong => "is longer than 255 characters",
            KeyReason::LooksLikeEmail => "is an e-mail address alone, which names a person and not an event",
            KeyReason::LooksLikePhone => "is a phone number alone, which names a person and not an event",
            KeyReason::LooksLikeAmount => "is an amount alone, which names no event",
            KeyReason::ExecutionId => "is digits alone, as an execution id is; this flow wants a stable field",
            KeyReason::Timestamp => "is a moment alone, which changes with every try; this flow wants a stable field",
            KeyReason::FreshUuid => "is a fresh UUID, which changes with every try; this flow wants a stable field",
            KeyReason::NotText => "is not a string",
            KeyReason::HeaderNotAscii => "has characters beyond ASCII in a header; send it in the body",
            KeyReason::HeaderMalformed => "is neither a quoted string nor bare visible characters",
            KeyReason::HeaderRepeated => "came more than once; the header holds one key",
        }
    }
}

impl fmt::Display for KeyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A key that was refused. Never carries the key itself, which may be personal data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct KeyError {
    pub reason: KeyReason,
    /// The member of `key_parts` that was at fault, if one was.
    pub part: Option<&'static str>,
    /// English, one sentence.
    pub detail: String,
}

impl KeyError {
    fn new(reason: KeyReason) -> Self {
        KeyError { reason, part: None, detail: format!("the key {}", reason.words()) }
    }

    fn in_part(reason: KeyReason, part: &'static str) -> Self {
        KeyError { reason, part: Some(part), detail: format!("{part} of the key {}", reason.words()) }
    }

    pub fn code(&self) -> &'static str {
        "bad_key"
    }
}

impl Key {
    /// Takes a whole key: normalised to NFC, white space around it trimmed, then judged. Every way in ends here, so one
    /// text names one reservation on all of them. A control character is refused wherever it stands, at the ends too: a
    /// line break there is a sign of a broken expression, not of care for layout.
    ///
    /// Errors: [`KeyError`] with the first reason that holds.
    pub fn parse(text: &str, policy: &KeyPolicy) -> Result<Self, KeyError> {
        let key = settled(text).map_err(KeyError::new)?;
        if key.split(':').any(shape::is_placeholder_segment) {
            return Err(KeyError::new(KeyReason::Placeholder));
        }
        if key.chars().count() > KEY_CHARS_MAX {
            return Err(KeyError::new(KeyReason::TooLong));
        }
        match lone_value(&key, policy) {
            Some(reason) => Err(KeyError::new(reason)),
            None => Ok(Key(key)),
        }
    }

    /// Puts a key together: each part normalised to NFC and trimmed, `%` and `:` in it percent-encoded, joined with `:`.
    ///
    /// Guarantees: two part lists that differ after normalisation never give one key.
    ///
    /// Errors: [`KeyError`] naming the part; every part must be there and visible.
    pub fn from_parts(parts: &KeyParts, policy: &KeyPolicy) -> Result<Self, KeyError> {
        let named = [
            ("source", &parts.source),
            ("event_type", &parts.event_type),
            ("external_id", &parts.external_id),
            ("version", &parts.version),
        ];
        let part = |(name, text): (&'static str, &String)| {
            let text = settled(text).map_err(|reason| KeyError::in_part(reason, name))?;
            Ok(text.replace('%', "%25").replace(':', "%3A"))
        };
        let encoded: Vec<String> = named.into_iter().map(part).collect::<Result<_, _>>()?;
        Key::parse(&encoded.join(":"), policy)
    }

    /// Takes a whole key from a JSON value.
    ///
    /// Errors: [`KeyError`], with reason `not_text` for a number, `true` and whatever else is no string: `17` and `"17"`
    /// must not become one key by accident.
    pub fn from_json(json: &Json, policy: &KeyPolicy) -> Result<Self, KeyError> {
        match json.as_str() {
            Some(text) => Key::parse(text, policy),
            None => Err(KeyError::new(KeyReason::NotText)),
        }
    }

    /// Takes back a key that was accepted before, from a row. Rules may have become stricter since; the row still counts.
    pub fn from_stored(text: String) -> Self {
        Key(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Normalises and trims a key or a part of one, and refuses what is never either.
fn settled(text: &str) -> Result<String, KeyReason> {
    if text.is_empty() {
        return Err(KeyReason::Empty);
    }
    if text.chars().all(shape::is_invisible) {
        return Err(KeyReason::Invisible);
    }
    if text.chars().any(shape::is_control) {
        return Err(KeyReason::ControlCharacter);
    }
    let settled: String = text.trim().nfc().collect();
    if shape::is_placeholder(&settled) {
        return Err(KeyReason::Placeholder);
    }
    if settled.contains("{{") {
        return Err(KeyReason::Template);
    }
    Ok(settled)
}

/// Finds what a key that is one bare value must not be.
fn lone_value(key: &str, policy: &KeyPolicy) -> Option<KeyReason> {
    let stable = policy.key_from_stable_field;
    let found = match key {
        key if !policy.allow_email && shape::is_email(key) => KeyReason::LooksLikeEmail,
        key if stable && shape::is_timestamp(key) => KeyReason::Timestamp,
        key if stable && shape::is_digits(key) => KeyReason::ExecutionId,
        key if stable && shape::is_fresh_uuid(key) => KeyReason::FreshUuid,
        key if !policy.allow_phone && shape::is_phone(key) => KeyReason::LooksLikePhone,
        key if !policy.allow_amount && shape::is_amount(key) => KeyReason::LooksLikeAmount,
        _ => return None,
    };
    Some(found)
}
