//! The smallest pieces of a JSON text: strings, numbers, words, and the place where the reader stands. How they make
//! values is in `read`.

use std::ops::Range;

use super::{Json, JsonError, JsonErrorCode, NumberText, push_segment};

/// An error on its way out of the recursion: each container adds its segment.
pub(super) struct Fault {
    code: JsonErrorCode,
    detail: String,
    segments: Vec<String>,
}

impl Fault {
    pub(super) fn within(mut self: Box<Self>, segment: impl Into<String>) -> Box<Self> {
        self.segments.push(segment.into());
        self
    }

    pub(super) fn into_error(self) -> JsonError {
        let mut pointer = String::new();
        self.segments.iter().rev().for_each(|segment| push_segment(&mut pointer, segment));
        JsonError { code: self.code, pointer, detail: self.detail }
    }
}

pub(super) type Read<T> = Result<T, Box<Fault>>;

pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) depth: usize,
    /// Where the values of the outermost object's members stand.
    pub(super) spans: Vec<Range<usize>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Reader { text, bytes: text.as_bytes(), at: 0, depth: 0, spans: Vec::new() }
    }

    /// Reads a string whose opening quote is next.
    pub(super) fn string(&mut self) -> Read<String> {
        let start = self.at + 1;
        self.at = plain_end(self.bytes, start);
        if self.peek() == Some(b'"') {
            let text = self.text[start..self.at].to_owned();
            self.at += 1;
            return Ok(text);
        }
        let mut text = String::from(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return self.fail(JsonErrorCode::InvalidJson, "a control character stands bare in a string"),
                None => return self.fail(JsonErrorCode::InvalidJson, "the text ends inside a string"),
            }
            let start = self.at;
            self.at = plain_end(self.bytes, start);
            text.push_str(&self.text[start..self.at]);
        }
    }

    fn escape(&mut self) -> Read<char> {
        self.at += 2;
        Ok(match self.bytes.get(self.at - 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => {
                self.at -= 1;
                return self.fail(JsonErrorCode::InvalidJson, "an escape was expected after \"\\\"");
            }
        })
    }

    /// Reads the hex digits after `\u`, and the second half if they are the first half of a pair.
    fn unicode_escape(&mut self) -> Read<char> {
        let unit = self.hex4()?;
        let scalar = match unit {
            0xD800..=0xDBFF if self.bytes[self.at..].starts_with(b"\\u") => {
                self.at += 2;
                let low = self.hex4()?;
                let is_low = (0xDC00..=0xDFFF).contains(&low);
                is_low.then(|| 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            }
            other => Some(other),
        };
        match scalar.and_then(char::from_u32) {
            Some(character) => Ok(character),
            None => self.fail(JsonErrorCode::LoneSurrogate, "half of a surrogate pair stands alone"),
        }
    }

    fn hex4(&mut self) -> Read<u32> {
        let digits = self.bytes.get(self.at..self.at + 4).unwrap_or_default();
        let unit = digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?));
        match unit {
            Some(unit) if digits.len() == 4 => {
                self.at += 4;
                Ok(unit)
            }
            _ => self.fail(JsonErrorCode::InvalidJson, "four hex digits were expected after \"\\u\""),
        }
    }

    pub(super) fn number(&mut self) -> Read<NumberText> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        match NumberText::from_scanned(&self.text[start..self.at]) {
            Some(number) => Ok(number),
            None => self.fail(JsonErrorCode::NumberOutOfRange, "the number is outside the range of a double"),
        }
    }

    fn digits(&mut self) -> Read<()> {
        let rest = &self.bytes[self.at..];
        match rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len()) {
            0 => self.fail(JsonErrorCode::InvalidJson, "a digit was expected"),
            count => {
                self.at += count;
                Ok(())
            }
        }
    }

    pub(super) fn literal(&mut self, word: &str, json: Json) -> Read<Json> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.fail(JsonErrorCode::InvalidJson, "a value was expected");
        }
        self.at += word.len();
        Ok(json)
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Out of the way of the code that succeeds.
    #[cold]
    pub(super) fn fail<T>(&self, code: JsonErrorCode, what: &str) -> Read<T> {
        let at = self.at.min(self.bytes.len());
        let end = if at == self.bytes.len() { ", where the text ends" } else { "" };
        Err(Box::new(Fault { code, detail: format!("{what} (byte {at}{end})"), segments: Vec::new() }))
    }
}

/// The first position from `at` on that holds a quote, a backslash or a control character, eight bytes at a time.
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        match special_bytes(u64::from_le_bytes(*chunk)) {
            0 => at += 8,
            found => return at + found.trailing_zeros() as usize / 8,
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\').unwrap_or(rest.len())
}

/// Marks the high bit of bytes below 0x20, `"` and `\`. Marks above the lowest true one may be false (borrows carry
/// upwards), so only the lowest is used. The trick is in "Bit Twiddling Hacks", "Determine if a word has a byte less
/// than n".
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | equal(b'"') | equal(b'\\')) & HIGHS
}
