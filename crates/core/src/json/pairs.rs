//! Two values side by side, member by member: what every comparison of JSON walks over. What counts as a difference is
//! the comparison's own business.

use std::{borrow::Cow, cmp::Ordering};

use super::{Json, by_utf16};

/// One member: its name (or index), and what each side has under it. At least one side has something.
pub(crate) type Pair<'a> = (Cow<'a, str>, Option<&'a Json>, Option<&'a Json>);

/// The members of two objects in the order of RFC 8785, or the items of two arrays by index; `None` for anything else.
pub(crate) fn pairs<'a>(a: &'a Json, b: &'a Json) -> Option<Vec<Pair<'a>>> {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => Some(members(a, b)),
        (Json::Array(a), Json::Array(b)) => {
            let pair = |n: usize| (Cow::Owned(n.to_string()), a.get(n), b.get(n));
            Some((0..a.len().max(b.len())).map(pair).collect())
        }
        _ => None,
    }
}

fn members<'a>(a: &'a [(String, Json)], b: &'a [(String, Json)]) -> Vec<Pair<'a>> {
    let (a, b) = (sorted(a), sorted(b));
    let (mut left, mut right) = (a.into_iter().peekable(), b.into_iter().peekable());
    let mut pairs = Vec::new();
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return pairs,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => by_utf16(&a.0, &b.0),
        };
        let old = if order.is_le() { left.next() } else { None };
        let new = if order.is_ge() { right.next() } else { None };
        let name = old.or(new).map(|(name, _)| Cow::Borrowed(name.as_str()));
        pairs.extend(name.map(|name| (name, old.map(|(_, value)| value), new.map(|(_, value)| value))));
    }
}

fn sorted(members: &[(String, Json)]) -> Vec<&(String, Json)> {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by(|a, b| by_utf16(&a.0, &b.0));
    sorted
}
