//! The one JSON value in a model's text: below a byte order mark, in code fences, between sentences, after thinking.
//!
//! Where the text leaves a choice nothing is chosen: two different candidates, a candidate that is nearly JSON, or a
//! value that is cut off make the whole text invalid. Nothing is closed, completed or coerced. How candidates are found
//! is in [`scan`]; whether the value fits the flow's schema is `schema`'s part.

mod scan;
mod thinking;

use std::ops::Range;

use effectgate_core::json::Json;
use serde_json::Value;

use crate::{json, text};
use scan::{Fault, Scan};

pub use crate::finish::is_cut;

/// A longer text is refused: about ten times the longest answer of today's models (128 Ki tokens of 8 bytes).
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// A JSON reader's complaint is cut here.
const WHY_BYTES_MAX: usize = 200;
const BYTE_ORDER_MARK: char = '\u{feff}';
/// White space as RFC 8259 section 2 has it.
const JSON_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// The JSON value of a text and how it was come by.
#[derive(Debug, Clone, PartialEq)]
pub struct Extraction {
    /// The value's own text, byte for byte as it came in.
    pub text: String,
    /// The value with every digit that came in.
    pub json: Json,
    /// The value for schemas and rules; see [`Json::to_value`] for what happens to numbers that no double holds.
    pub value: Value,
    /// False if the text was exactly the JSON (white space around it aside).
    pub extracted: bool,
    /// What was left out around the value, for the record; empty if nothing was.
    pub notes: Vec<Note>,
}

/// Something that stood beside the value and was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    ByteOrderMark,
    Thinking,
    SurroundingText,
    EqualCandidates,
}

/// Why a text has no value that counts. Each makes the proposal invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    #[error("the text has {bytes} bytes, the limit is {TEXT_BYTES_MAX}")]
    TooLarge { bytes: usize },
    #[error("the text is not UTF-8 from byte {offset} on")]
    NotUtf8 { offset: usize },
    #[error("no JSON object or array was found in the text")]
    NoJson,
    #[error("the JSON that begins at byte {offset} is cut off")]
    CutOff { offset: usize },
    #[error("the JSON-like text at byte {offset} is invalid: {why}")]
    InvalidJson { offset: usize, why: String },
    #[error("the text has several different JSON values, at byte {first} and at byte {other}")]
    SeveralCandidates { first: usize, other: usize },
}

impl ExtractError {
    /// Returns the stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            ExtractError::TooLarge { .. } => "too_large",
            ExtractError::NotUtf8 { .. } => "not_utf8",
            ExtractError::NoJson => "no_json",
            ExtractError::CutOff { .. } => "cut_off",
            ExtractError::InvalidJson { .. } => "invalid_json",
            ExtractError::SeveralCandidates { .. } => "several_candidates",
        }
    }
}

/// Finds the one JSON value in `text`.
///
/// Guarantees: linear time; never panics; an object or array anywhere in the text, a bare scalar only if it is the whole
/// text; equal candidates (as canonical JSON) count as one; thinking parts never count.
///
/// Errors: see [`ExtractError`]; offsets are bytes from the beginning of `text`.
pub fn extract(text: impl AsRef<[u8]>) -> Result<Extraction, ExtractError> {
    let bytes = text.as_ref();
    if bytes.len() > TEXT_BYTES_MAX {
        return Err(ExtractError::TooLarge { bytes: bytes.len() });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| ExtractError::NotUtf8 { offset: error.valid_up_to() })?;
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let whole = body.trim_matches(JSON_SPACE);
    if let Ok(json) = json::parse(whole.as_bytes()) {
        let notes = if body.len() == text.len() { vec![] } else { vec![Note::ByteOrderMark] };
        return Ok(Extraction {
            value: json.to_value(),
            text: whole.to_owned(),
            json,
            extracted: !notes.is_empty(),
            notes,
        });
    }
    from_scan(text, scan::scan(text))
}

fn from_scan(text: &str, scan: Scan) -> Result<Extraction, ExtractError> {
    if let Some(fault) = scan.fault {
        return Err(refusal(fault));
    }
    if let Some(offset) = value_beside(text, &scan.candidates) {
        return Err(ExtractError::InvalidJson { offset, why: "a single value stands beside another".to_owned() });
    }
    let mut candidates = scan.candidates.into_iter();
    let first = candidates.next().ok_or(ExtractError::NoJson)?;
    let json = parse(text, &first)?;
    let mut notes = notes(text, scan.thinking, &first);
    for other in candidates {
        if !json::same(&json, &parse(text, &other)?) {
            return Err(ExtractError::SeveralCandidates { first: first.start, other: other.start });
        }
        if !notes.contains(&Note::EqualCandidates) {
            notes.push(Note::EqualCandidates);
        }
    }
    Ok(Extraction { value: json.to_value(), text: text[first].to_owned(), json, extracted: true, notes })
}

/// Finds a text between, before or after candidates that is nothing but a JSON scalar: `{…} "x"` is two values, not a
/// value in prose.
fn value_beside(text: &str, candidates: &[Range<usize>]) -> Option<usize> {
    let starts = std::iter::once(0).chain(candidates.iter().map(|candidate| candidate.end));
    let ends = candidates.iter().map(|candidate| candidate.start).chain(std::iter::once(text.len()));
    let mut gaps = starts.zip(ends).filter(|_| !candidates.is_empty());
    gaps.find_map(|(start, end)| json::parse(text[start..end].trim().as_bytes()).is_ok().then_some(start))
}

fn parse(text: &str, candidate: &Range<usize>) -> Result<Json, ExtractError> {
    json::parse(&text.as_bytes()[candidate.clone()])
        .map_err(|why| ExtractError::InvalidJson { offset: candidate.start, why: text::cut(&why, WHY_BYTES_MAX) })
}

fn refusal(fault: Fault) -> ExtractError {
    match fault {
        Fault::CutOff { offset } => ExtractError::CutOff { offset },
        Fault::Invalid { offset, why } => ExtractError::InvalidJson { offset, why: why.to_owned() },
    }
}

fn notes(text: &str, thinking: bool, candidate: &Range<usize>) -> Vec<Note> {
    let mut notes = Vec::new();
    if text.starts_with(BYTE_ORDER_MARK) {
        notes.push(Note::ByteOrderMark);
    }
    if thinking {
        notes.push(Note::Thinking);
    }
    let before = text[..candidate.start].trim_start_matches(BYTE_ORDER_MARK);
    if !before.trim().is_empty() || !text[candidate.end..].trim().is_empty() {
        notes.push(Note::SurroundingText);
    }
    notes
}
