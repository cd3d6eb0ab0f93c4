//! JSON as it came in: a strict I-JSON reader (RFC 8259 and RFC 7493) and a value that keeps the order of members and
//! every digit of a number.
//!
//! Payloads, model outputs and results are read here once, on their way in. What deliberately does not live here: JSON
//! that Effectgate writes about itself (serde does that), schemas and rules (the leaf crate `effectgate-rules`), and
//! Unicode normalisation: text inside a value is never changed.

mod error;
mod number;
mod pairs;
mod pointer;
mod read;
mod scan;
mod write;

pub use error::{JsonError, JsonErrorCode};
pub use number::NumberText;
pub(crate) use pairs::pairs;
pub use pointer::{is_pointer, push_segment};
pub use read::{DEPTH_MAX, Document, parse, parse_document};
use write::by_utf16;
pub use write::canonical;

/// One JSON value. Members keep the order they came in, numbers the text they came in.
///
/// Equality is of the text (`1.0` is not `1`, order counts); two values are the same payload when their
/// [`canonical`] bytes are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(NumberText),
    String(String),
    Array(Vec<Json>),
    /// Names are unique when the value came from [`parse`].
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Finds the value that an RFC 6901 JSON Pointer names; `""` is the value itself.
    /// `None` if nothing is there or the text is no pointer.
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        pointer::find(self, pointer)
    }

    /// Finds a member of an object by name; `None` for anything that is no object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.iter().find_map(|(member, value)| (member == name).then_some(value))
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_object(&self) -> Option<&[(String, Json)]> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Writes the value compactly, in its own order and with every digit that came in.
    pub fn to_text(&self) -> String {
        write::compact(self)
    }

    /// Converts for schema validation and rules. Integers in the range of `i64` or `u64` are exact, every other number
    /// is its nearest double: ask [`Json::inexact_member`] where a rounded number must not decide anything.
    pub fn to_value(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Json::Null => Value::Null,
            Json::Bool(fact) => Value::Bool(*fact),
            Json::Number(number) => Value::Number(number.to_number()),
            Json::String(text) => Value::String(text.clone()),
            Json::Array(items) => Value::Array(items.iter().map(Json::to_value).collect()),
            Json::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), value.to_value())).collect())
            }
        }
    }

    /// Names (as a JSON Pointer) the first number that [`Json::to_value`] would change; `None` if it is exact.
    pub fn inexact_member(&self) -> Option<String> {
        let mut path = String::new();
        find_inexact(self, &mut path).then_some(path)
    }
}

impl From<&serde_json::Value> for Json {
    /// Takes over a value that Effectgate made itself. What came from outside goes through [`parse`] instead: serde_json
    /// has already rounded numbers and dropped duplicate members.
    fn from(value: &serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Json::Null,
            Value::Bool(fact) => Json::Bool(*fact),
            Value::Number(number) => Json::Number(NumberText::from(number)),
            Value::String(text) => Json::String(text.clone()),
            Value::Array(items) => Json::Array(items.iter().map(Json::from).collect()),
            Value::Object(members) => {
                Json::Object(members.iter().map(|(name, value)| (name.clone(), Json::from(value))).collect())
            }
        }
    }
}

/// Leaves the pointer to the first inexact number in `path`, and `path` as it was if there is none.
fn find_inexact(json: &Json, path: &mut String) -> bool {
    let mut inside = |segment: &str, value: &Json| {
        let before = path.len();
        push_segment(path, segment);
        let found = find_inexact(value, path);
        if !found {
            path.truncate(before);
        }
        found
    };
    match json {
        Json::Number(number) => !number.is_exact(),
        Json::Array(items) => items.iter().enumerate().any(|(index, value)| inside(&index.to_string(), value)),
        Json::Object(members) => members.iter().any(|(name, value)| inside(name, value)),
        Json::Null | Json::Bool(_) | Json::String(_) => false,
    }
}
