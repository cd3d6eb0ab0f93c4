//! JSON text to a request's type. serde reads the members; core's strict reader has the last word on what JSON is, so a
//! duplicate member or half a surrogate pair is refused wherever it stands. Only what failed is read a third time, to
//! find the pointer.

use effectgate_core::json;
use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment};

use crate::problem::{Code, Problem, Result, json_code};

/// A request's type.
pub(crate) trait Wire: DeserializeOwned + Send {
    /// True where every member that holds free JSON is read strictly by somebody else, so that the whole need not be
    /// read twice: the hot path.
    const STRICT_BY_PARTS: bool = false;
}

/// Reads a request.
///
/// # Errors
/// Core's JSON codes, `unknown_member`, `missing_member`, `bad_member`.
pub(crate) fn decode<T: Wire>(bytes: &[u8]) -> Result<T> {
    match serde_json::from_slice(bytes) {
        Ok(value) if T::STRICT_BY_PARTS => Ok(value),
        Ok(value) => strict(bytes).map(|()| value),
        Err(_) => Err(strict(bytes).err().unwrap_or_else(|| fault::<T>(bytes))),
    }
}

/// Reads a text by core's strict rules and forgets it.
fn strict(bytes: &[u8]) -> Result<()> {
    json::parse(bytes).map(drop).map_err(|e| Problem::new(json_code(e.code), e.detail).at(e.pointer))
}

/// What is wrong with a text that is good JSON.
fn fault<T: DeserializeOwned>(bytes: &[u8]) -> Problem {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Ok(_) => Problem::new(Code::InvalidJson, "something follows the value"),
        Err(error) => explain(pointer(error.path()), &said(error.inner())),
    }
}

fn explain(mut pointer: String, said: &str) -> Problem {
    if let Some(name) = quoted(said, "unknown field `") {
        push_once(&mut pointer, name);
        return Problem::new(Code::UnknownMember, format!("the member {name:?} is not known")).at(pointer);
    }
    if let Some(name) = quoted(said, "missing field `") {
        json::push_segment(&mut pointer, name);
        return Problem::new(Code::MissingMember, format!("the member {name:?} is missing")).at(pointer);
    }
    Problem::new(Code::BadMember, said).at(pointer)
}

/// The path leads to the unknown member already, where serde came that far.
fn push_once(pointer: &mut String, name: &str) {
    let mut segment = String::new();
    json::push_segment(&mut segment, name);
    if !pointer.ends_with(&segment) {
        pointer.push_str(&segment);
    }
}

fn quoted<'a>(said: &'a str, begin: &str) -> Option<&'a str> {
    said.strip_prefix(begin)?.split('`').next()
}

/// serde's words without its place in the text; the pointer says it better.
fn said(error: &serde_json::Error) -> String {
    let said = error.to_string();
    said.rsplit_once(" at line ").map_or(said.clone(), |(words, _)| words.to_owned())
}

fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Map { key } => json::push_segment(&mut pointer, key),
            Segment::Seq { index } => json::push_segment(&mut pointer, &index.to_string()),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only reading is tested")]
    struct Outer {
        name: String,
        list: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only reading is tested")]
    struct Inner {
        n: i64,
    }

    impl Wire for Outer {}

    #[test]
    fn every_refusal_has_its_code_and_its_pointer() {
        let table = [
            (r#"{"name":"a","list":[],"x":1}"#, "unknown_member", "/x"),
            (r#"{"name":"a","list":[{"n":1},{"n":2,"m":3}]}"#, "unknown_member", "/list/1/m"),
            (r#"{"list":[]}"#, "missing_member", "/name"),
            (r#"{"name":"a","list":[{}]}"#, "missing_member", "/list/0/n"),
            (r#"{"name":17,"list":[]}"#, "bad_member", "/name"),
            (r#"{"name":"a","list":[{"n":"1"}]}"#, "bad_member", "/list/0/n"),
            (r#"{"name":"a","name":"b","list":[]}"#, "duplicate_member", "/name"),
            (r#"{"name":"\ud83d","list":[]}"#, "lone_surrogate", "/name"),
            (r#"{"name":"a","list":[{"n":1e400}]}"#, "number_out_of_range", "/list/0/n"),
            (r#"{"name":"a","list":[]} x"#, "invalid_json", ""),
            ("", "invalid_json", ""),
        ];
        for (text, code, pointer) in table {
            let problem = decode::<Outer>(text.as_bytes()).unwrap_err();
            let body = problem.body("").get().to_owned();

            assert_eq!(problem.code().as_str(), code, "{text}");
            assert!(body.contains(&format!("\"pointer\":\"{pointer}\"")), "{text}: {body}");
        }
    }
}
