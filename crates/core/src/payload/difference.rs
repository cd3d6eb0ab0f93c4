//! Which members two payloads differ in: names for the answer to a conflict, never values.

use std::cmp::Ordering;

use crate::json::{Json, by_utf16, canonical, push_segment};

/// Names the members in which two payloads differ, as JSON Pointers, at most `max` of them. A member that only one side
/// has is named itself; `""` means that the payloads differ as a whole. Empty if both are one payload.
///
/// Guarantees: the order is that of the canonical form, and the same for `(a, b)` and `(b, a)`.
pub fn differing_members(a: &Json, b: &Json, max: usize) -> Vec<String> {
    let mut walk = Walk { path: String::new(), found: Vec::new(), max };
    walk.values(a, b);
    walk.found
}

struct Walk {
    path: String,
    found: Vec<String>,
    max: usize,
}

impl Walk {
    fn values(&mut self, a: &Json, b: &Json) {
        if self.found.len() == self.max {
            return;
        }
        match (a, b) {
            (Json::Object(a), Json::Object(b)) => self.objects(a, b),
            (Json::Array(a), Json::Array(b)) => self.arrays(a, b),
            _ if is_same(a, b) => {}
            _ => self.found.push(self.path.clone()),
        }
    }

    fn objects(&mut self, a: &[(String, Json)], b: &[(String, Json)]) {
        let (a, b) = (sorted(a), sorted(b));
        let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => by_utf16(&a.0, &b.0),
            };
            let a = if order.is_le() { left.next() } else { None };
            let b = if order.is_ge() { right.next() } else { None };
            if let Some((name, _)) = a.or(b) {
                self.sides(name, a.map(|member| &member.1), b.map(|member| &member.1));
            }
        }
    }

    fn arrays(&mut self, a: &[Json], b: &[Json]) {
        for index in 0..a.len().max(b.len()) {
            self.sides(&index.to_string(), a.get(index), b.get(index));
            if self.found.len() == self.max {
                return;
            }
        }
    }

    /// Compares what the two sides have under one name.
    fn sides(&mut self, segment: &str, a: Option<&Json>, b: Option<&Json>) {
        let before = self.path.len();
        push_segment(&mut self.path, segment);
        match (a, b) {
            (Some(a), Some(b)) => self.values(a, b),
            _ if self.found.len() < self.max => self.found.push(self.path.clone()),
            _ => {}
        }
        self.path.truncate(before);
    }
}

fn sorted(members: &[(String, Json)]) -> Vec<&(String, Json)> {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by(|a, b| by_utf16(&a.0, &b.0));
    sorted
}

/// Numbers are compared by value, as the hash does.
fn is_same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(_), Json::Number(_)) => canonical(a) == canonical(b),
        _ => a == b,
    }
}
