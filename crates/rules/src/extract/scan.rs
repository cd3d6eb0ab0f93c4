//! Finds where JSON values stand in a text, by balanced brackets and with an eye for strings. One pass from left to
//! right; a byte is looked at a bounded number of times. What a candidate says is not read here.
//!
//! Quotes in prose mean nothing (there are apostrophes and inch marks); inside brackets they begin a JSON string.

use std::ops::Range;

use super::thinking;

/// What a text holds.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Outermost balanced objects and arrays, in order, as byte ranges.
    pub(super) candidates: Vec<Range<usize>>,
    /// The first thing that makes the text invalid as a whole.
    pub(super) fault: Option<Fault>,
    /// Whether a thinking part was left out.
    pub(super) thinking: bool,
}

#[derive(Debug)]
pub(super) enum Fault {
    CutOff { offset: usize },
    Invalid { offset: usize, why: &'static str },
}

/// How a bracket that was opened ends.
enum End {
    Closed(usize),
    Crossed(usize),
    Never,
}

/// Scans `text`.
pub(super) fn scan(text: &str) -> Scan {
    let bytes = text.as_bytes();
    let mut scan = Scan { fault: unclosed_string(bytes), ..Scan::default() };
    let mut at = 0;
    while at < bytes.len() {
        at = match bytes[at] {
            b'<' | b'[' if let Some(tag) = thinking::tag_at(bytes, at) => scan.think(bytes, tag),
            b'{' | b'[' => scan.bracket(bytes, at),
            b'}' | b']' => {
                scan.fail(Fault::Invalid { offset: at, why: "a bracket is closed that was not opened" }, at + 1)
            }
            _ => at + 1,
        };
    }
    scan
}

impl Scan {
    /// Leaves a thinking part out. An end without a beginning means that the beginning was lost (some models' prompts
    /// end with the opening tag): all before it was thinking.
    fn think(&mut self, bytes: &[u8], tag: thinking::Tag) -> usize {
        if tag.closes {
            *self = Scan::default();
        }
        self.thinking = true;
        if tag.closes { tag.end } else { thinking::end_of(bytes, &tag) }
    }

    fn bracket(&mut self, bytes: &[u8], start: usize) -> usize {
        if is_member_value(bytes, start) {
            let why = "it is a member of a value whose beginning is missing";
            self.fail(Fault::Invalid { offset: start, why }, start);
        }
        match end_of(bytes, start) {
            End::Closed(end) if is_aside(&bytes[start..end]) => end,
            End::Closed(end) if goes_on(&bytes[end..]) => {
                self.fail(Fault::Invalid { offset: start, why: "text that is no prose goes on right behind it" }, end)
            }
            End::Closed(end) => {
                self.candidates.push(start..end);
                end
            }
            End::Crossed(at) => self.fail(Fault::Invalid { offset: start, why: "its brackets cross" }, at + 1),
            End::Never => self.fail(Fault::CutOff { offset: start }, bytes.len()),
        }
    }

    fn fail(&mut self, fault: Fault, next: usize) -> usize {
        self.fault.get_or_insert(fault);
        next
    }
}

/// Finds the bracket that closes the one at `start`.
fn end_of(bytes: &[u8], start: usize) -> End {
    let mut open = Vec::new();
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            closer @ (b'}' | b']') => {
                if open.pop() != Some(closer) {
                    return End::Crossed(at);
                }
                if open.is_empty() {
                    return End::Closed(at + 1);
                }
            }
            b'"' => match end_of_string(bytes, at) {
                Some(end) => {
                    at = end;
                    continue;
                }
                None => return End::Never,
            },
            _ => {}
        }
        at += 1;
    }
    End::Never
}

/// Returns the byte after the string that begins at `start`, if it ends.
fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// A text that is one string without an end: whatever stands in it is part of a value that was cut off.
fn unclosed_string(bytes: &[u8]) -> Option<Fault> {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace() && !b"\xef\xbb\xbf".contains(byte))?;
    let is_unclosed = bytes[start] == b'"' && end_of_string(bytes, start).is_none();
    is_unclosed.then_some(Fault::CutOff { offset: start })
}

/// Whether `"name":` stands before the bracket. Then the text is the inside of an object whose first bracket got lost,
/// as when a caller put it into the model's mouth, and what follows is a part of the answer only.
fn is_member_value(bytes: &[u8], start: usize) -> bool {
    let before = bytes[..start].trim_ascii_end();
    before.strip_suffix(b":").is_some_and(|name| name.trim_ascii_end().ends_with(b"\""))
}

/// Whether what follows a closing bracket continues it, where a sentence would leave a space or put a stop: `[1]x`,
/// `{…}{…}`, a comment, a comma before nothing or before the next value. Then the whole was to be one JSON text, and it
/// is none.
fn goes_on(after: &[u8]) -> bool {
    match after.first() {
        Some(b',') => after[1..].trim_ascii_start().first().is_none_or(|next| b"{[\"".contains(next)),
        Some(byte) => byte.is_ascii_alphanumeric() || b"#/\\{[:=&|+".contains(byte),
        None => false,
    }
}

/// Whether a balanced bracket is an aside of the prose, `[see below]` or `[docs](…)`, and no attempt at JSON: square,
/// on one line, begins with a letter, has nothing of JSON's punctuation inside, and no word that stands for a value
/// (`[NaN]` is an attempt).
fn is_aside(bracket: &[u8]) -> bool {
    let Some(inside) = bracket.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")) else { return false };
    let begins = inside.trim_ascii_start().first().is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    let is_plain = !inside.iter().any(|byte| b"[]{}\",:\n".contains(byte));
    let mut words = inside.split(|byte| !byte.is_ascii_alphabetic());
    begins && is_plain && !words.any(stands_for_a_value)
}

/// Words that programs and models write where JSON wants a value.
fn stands_for_a_value(word: &[u8]) -> bool {
    const WORDS: [&[u8]; 9] = [b"true", b"false", b"null", b"nan", b"inf", b"infinity", b"none", b"undefined", b"nil"];
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}
