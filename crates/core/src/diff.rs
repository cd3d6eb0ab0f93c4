//! What differs between two JSON texts, member by member, for the card, the API and the journal. Numbers are kept and
//! compared as their text: 9007199254740993 is not 9007199254740992, and `1.0` is other bytes than `1`.
//!
//! What does not live here: which payloads are the same payload ([`crate::payload`] compares numbers by value).

use serde::{Deserialize, Serialize};

use crate::json::{self, Json, push_segment};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Removed,
    Changed,
}

impl ChangeKind {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// One member that differs. The texts are JSON, compact, with every digit that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// RFC 6901; `""` is the whole value.
    pub pointer: String,
    pub kind: ChangeKind,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Compares two JSON texts. Empty if they hold the same values; the order of members does not count.
///
/// Guarantees: objects in the order of RFC 8785, arrays by index: an item put in the middle changes those behind it.
/// The innermost members that differ are named; one that only one side has is named itself, with all that is in it. A
/// text that is no JSON differs as a whole.
#[must_use]
pub fn diff(before: &str, after: &str) -> Vec<Change> {
    let mut walk = Walk { path: String::new(), found: Vec::new() };
    match (json::parse(before.as_bytes()), json::parse(after.as_bytes())) {
        (Ok(before), Ok(after)) => walk.values(&before, &after),
        _ if before == after => {}
        _ => walk.push(ChangeKind::Changed, Some(before.to_owned()), Some(after.to_owned())),
    }
    walk.found
}

struct Walk {
    path: String,
    found: Vec<Change>,
}

impl Walk {
    fn values(&mut self, before: &Json, after: &Json) {
        match json::pairs(before, after) {
            Some(pairs) => pairs.into_iter().for_each(|(segment, old, new)| self.sides(&segment, old, new)),
            None if before == after => {}
            None => self.push(ChangeKind::Changed, Some(before.to_text()), Some(after.to_text())),
        }
    }

    /// Compares what the two sides have under one name.
    fn sides(&mut self, segment: &str, before: Option<&Json>, after: Option<&Json>) {
        let length = self.path.len();
        push_segment(&mut self.path, segment);
        match (before, after) {
            (Some(before), Some(after)) => self.values(before, after),
            (Some(before), None) => self.push(ChangeKind::Removed, Some(before.to_text()), None),
            (None, Some(after)) => self.push(ChangeKind::Added, None, Some(after.to_text())),
            (None, None) => {}
        }
        self.path.truncate(length);
    }

    fn push(&mut self, kind: ChangeKind, before: Option<String>, after: Option<String>) {
        self.found.push(Change { pointer: self.path.clone(), kind, before, after });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> Vec<String> {
        let text = |side: Option<String>| side.unwrap_or_else(|| "-".to_owned());
        let line = |c: Change| format!("{} {} {} {}", c.kind.as_str(), c.pointer, text(c.before), text(c.after));
        diff(before, after).into_iter().map(line).collect()
    }

    #[test]
    fn members_that_differ_are_named_with_both_sides() {
        let table: [(&str, &str, &[&str]); 13] = [
            (r#"{"a":1,"b":2}"#, r#" { "b" : 2, "a" : 1 } "#, &[]),
            (r#"{"a":1}"#, r#"{"a":2}"#, &["changed /a 1 2"]),
            (r#"{"a":1}"#, r#"{}"#, &["removed /a 1 -"]),
            (r#"{}"#, r#"{"a":{"b":[1]}}"#, &[r#"added /a - {"b":[1]}"#]),
            (r#"{"a":{"b":"x","c":0}}"#, r#"{"a":{"b":"y","c":0}}"#, &[r#"changed /a/b "x" "y""#]),
            (r#"[1,2]"#, r#"[1,3,4]"#, &["changed /1 2 3", "added /2 - 4"]),
            (r#"[1,2,3]"#, r#"[1]"#, &["removed /1 2 -", "removed /2 3 -"]),
            (r#"{"a":[1]}"#, r#"{"a":{"0":1}}"#, &[r#"changed /a [1] {"0":1}"#]),
            (r#"{"~/":null}"#, r#"{"~/":false}"#, &["changed /~0~1 null false"]),
            // Numbers as their text.
            ("9007199254740993", "9007199254740992", &["changed  9007199254740993 9007199254740992"]),
            (r#"{"n":1.0}"#, r#"{"n":1}"#, &["changed /n 1.0 1"]),
            // No JSON: whole.
            ("{", "{", &[]),
            ("{", "{}", &["changed  { {}"]),
        ];
        for (before, after, expected) in table {
            assert_eq!(shown(before, after), expected, "{before} {after}");
        }
    }

    #[test]
    fn the_order_of_members_is_that_of_the_canonical_form() {
        let before = r#"{"z":1,"\ufb33":1,"😀":1,"é":1}"#;

        assert_eq!(shown(before, "{}").len(), 4);
        let names: Vec<String> = diff(before, "{}").into_iter().map(|c| c.pointer).collect();
        assert_eq!(names, ["/z", "/é", "/😀", "/\u{fb33}"]);
    }
}
