//! Which members two payloads differ in: names for the answer to a conflict, never values.

use crate::json::{Json, canonical, pairs, push_segment};

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
        match pairs(a, b) {
            Some(pairs) => {
                for (segment, a, b) in pairs {
                    if self.found.len() == self.max {
                        return;
                    }
                    self.sides(&segment, a, b);
                }
            }
            None if is_same(a, b) => {}
            None => self.push(),
        }
    }

    fn push(&mut self) {
        if self.found.len() < self.max {
            self.found.push(self.path.clone());
        }
    }

    /// Compares what the two sides have under one name.
    fn sides(&mut self, segment: &str, a: Option<&Json>, b: Option<&Json>) {
        let before = self.path.len();
        push_segment(&mut self.path, segment);
        match (a, b) {
            (Some(a), Some(b)) => self.values(a, b),
            _ => self.push(),
        }
        self.path.truncate(before);
    }
}

/// Numbers are compared by value, as the hash does.
fn is_same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(_), Json::Number(_)) => canonical(a) == canonical(b),
        _ => a == b,
    }
}
