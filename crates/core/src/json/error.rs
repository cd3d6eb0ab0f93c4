//! Why a text was refused as JSON: a stable code, a pointer to the member, and words. Never the text itself, which may
//! be personal data.

use std::fmt;

/// The stable part of a refusal; callers branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JsonErrorCode {
    /// Not JSON by RFC 8259 (a byte order mark counts as not JSON).
    InvalidJson,
    InvalidUtf8,
    /// One name twice in one object: which of the values is meant cannot be known.
    DuplicateMember,
    /// Half of a surrogate pair as a `\u` escape: no Unicode text.
    LoneSurrogate,
    /// A number whose nearest double is infinite, or whose exponent has no sensible size.
    NumberOutOfRange,
    /// Nested deeper than [`super::DEPTH_MAX`].
    TooDeep,
}

impl JsonErrorCode {
    pub fn as_str(self) -> &'static str {
        match self {
            JsonErrorCode::InvalidJson => "invalid_json",
            JsonErrorCode::InvalidUtf8 => "invalid_utf8",
            JsonErrorCode::DuplicateMember => "duplicate_member",
            JsonErrorCode::LoneSurrogate => "lone_surrogate",
            JsonErrorCode::NumberOutOfRange => "number_out_of_range",
            JsonErrorCode::TooDeep => "too_deep",
        }
    }
}

impl fmt::Display for JsonErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is no I-JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code} at \"{pointer}\": {detail}")]
pub struct JsonError {
    pub code: JsonErrorCode,
    /// RFC 6901 JSON Pointer to the member that was being read; `""` is the whole text.
    pub pointer: String,
    /// English, one sentence, with the byte offset.
    pub detail: String,
}
