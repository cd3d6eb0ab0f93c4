//! JSON Pointer, RFC 6901: finding a value, and building pointers for people and errors.

use super::Json;

/// Says whether a text is a JSON Pointer: empty, or `/`-led segments in which `~` is followed by `0` or `1`.
pub fn is_pointer(text: &str) -> bool {
    let escapes_hold = || text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    text.is_empty() || (text.starts_with('/') && escapes_hold())
}

/// Appends one segment to a pointer, escaping `~` and `/`.
pub fn push_segment(pointer: &mut String, segment: &str) {
    pointer.push('/');
    for character in segment.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

pub(super) fn find<'a>(json: &'a Json, pointer: &str) -> Option<&'a Json> {
    if !is_pointer(pointer) {
        return None;
    }
    pointer.split('/').skip(1).try_fold(json, |here, segment| match here {
        Json::Object(_) => here.get(&unescape(segment)),
        Json::Array(items) => items.get(array_index(segment)?),
        _ => None,
    })
}

/// The order matters: `~01` is `~1`, never `/` (RFC 6901 section 4).
fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Digits without leading zeros; `-` (one past the end) names nothing that can be read.
fn array_index(segment: &str) -> Option<usize> {
    let plain = segment.bytes().all(|byte| byte.is_ascii_digit()) && (segment == "0" || !segment.starts_with('0'));
    if plain { segment.parse().ok() } else { None }
}
