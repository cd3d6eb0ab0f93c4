//! The reader: one pass over the bytes, no recursion deeper than [`DEPTH_MAX`], no pointer built until something fails.
//!
//! Strict on purpose, because two readers that understand one text differently are how a payload check is passed by:
//! no comments, no trailing commas, no byte order mark, no duplicate names, no half surrogates. Noncharacters and
//! `\u0000` are kept: they are Unicode text and survive.

use std::collections::HashSet;
use std::ops::Range;

use super::{Json, JsonError, JsonErrorCode, NumberText, push_segment};

/// Arrays and objects inside each other, counted from 1 for the outermost. The limit of serde_json and of the SPEC; it
/// also bounds the stack of everything that later walks the value.
pub const DEPTH_MAX: usize = 128;
/// Up to this many members, comparing each name with those before it is quicker than hashing them.
const LINEAR_MEMBERS_MAX: usize = 16;

/// Reads one JSON text.
///
/// Errors: [`JsonError`] with the pointer to the member that was being read, for everything that is not I-JSON, a
/// number outside the range of a double, or nesting over [`DEPTH_MAX`].
///
/// Source: RFC 8259; RFC 7493 section 2.
pub fn parse(bytes: &[u8]) -> Result<Json, JsonError> {
    parse_document(bytes).map(|document| document.json)
}

/// Reads one JSON text like [`parse`], and remembers where the members of the outermost object stand in it.
pub fn parse_document(bytes: &[u8]) -> Result<Document<'_>, JsonError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(invalid_utf8(bytes, error.valid_up_to())),
    };
    let mut reader = Reader::new(text);
    match reader.document() {
        Ok(json) => Ok(Document { json, text, spans: reader.spans }),
        Err(fault) => Err(fault.into_error()),
    }
}

/// A value together with the text it was read from, so that a member can be stored and sent on as it came in.
#[derive(Debug)]
pub struct Document<'a> {
    pub json: Json,
    text: &'a str,
    spans: Vec<Range<usize>>,
}

impl<'a> Document<'a> {
    /// The text of one member of the outermost object exactly as it came in, without the space around it.
    pub fn member_text(&self, name: &str) -> Option<&'a str> {
        let index = self.json.as_object()?.iter().position(|(member, _)| member == name)?;
        self.text.get(self.spans.get(index)?.clone())
    }
}

/// The valid part is read once more, only to find out which member the broken byte is in.
fn invalid_utf8(bytes: &[u8], at: usize) -> JsonError {
    let before = std::str::from_utf8(&bytes[..at]).unwrap_or_default();
    let pointer = Reader::new(before).document().err().map(|fault| fault.into_error().pointer);
    let detail = format!("the text is not UTF-8 at byte {at}");
    JsonError { code: JsonErrorCode::InvalidUtf8, pointer: pointer.unwrap_or_default(), detail }
}

/// An error on its way out of the recursion: each container adds its segment.
struct Fault {
    code: JsonErrorCode,
    detail: String,
    segments: Vec<String>,
}

impl Fault {
    fn within(mut self: Box<Self>, segment: impl Into<String>) -> Box<Self> {
        self.segments.push(segment.into());
        self
    }

    fn into_error(self) -> JsonError {
        let mut pointer = String::new();
        self.segments.iter().rev().for_each(|segment| push_segment(&mut pointer, segment));
        JsonError { code: self.code, pointer, detail: self.detail }
    }
}

type Read<T> = Result<T, Box<Fault>>;

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// Where the values of the outermost object's members stand.
    spans: Vec<Range<usize>>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Reader { text, bytes: text.as_bytes(), at: 0, depth: 0, spans: Vec::new() }
    }

    fn document(&mut self) -> Read<Json> {
        if self.text.starts_with('\u{feff}') {
            return self.fail(JsonErrorCode::InvalidJson, "the text begins with a byte order mark");
        }
        self.skip_space();
        let json = self.value()?;
        self.skip_space();
        match self.peek() {
            None => Ok(json),
            Some(_) => self.fail(JsonErrorCode::InvalidJson, "something follows the value"),
        }
    }

    fn value(&mut self) -> Read<Json> {
        match self.peek() {
            Some(b'"') => self.string().map(Json::String),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.literal("true", Json::Bool(true)),
            Some(b'f') => self.literal("false", Json::Bool(false)),
            Some(b'n') => self.literal("null", Json::Null),
            _ => self.fail(JsonErrorCode::InvalidJson, "a value was expected"),
        }
    }

    fn nested(&mut self, container: fn(&mut Self) -> Read<Json>) -> Read<Json> {
        if self.depth == DEPTH_MAX {
            return self.fail(JsonErrorCode::TooDeep, "nested deeper than 128");
        }
        self.depth += 1;
        self.at += 1;
        let json = container(self);
        self.depth -= 1;
        json
    }

    fn array(&mut self) -> Read<Json> {
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            self.skip_space();
            match self.value() {
                Ok(item) => items.push(item),
                Err(fault) => return Err(fault.within(items.len().to_string())),
            }
            self.skip_space();
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            if !self.take(b',') {
                return self.fail(JsonErrorCode::InvalidJson, "\",\" or \"]\" was expected");
            }
        }
    }

    fn object(&mut self) -> Read<Json> {
        let mut members = Vec::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_space();
            members.push(self.member(&members)?);
            self.skip_space();
            if self.take(b'}') {
                self.refuse_duplicates(&members)?;
                return Ok(Json::Object(members));
            }
            if !self.take(b',') {
                return self.fail(JsonErrorCode::InvalidJson, "\",\" or \"}\" was expected");
            }
        }
    }

    fn member(&mut self, before: &[(String, Json)]) -> Read<(String, Json)> {
        if self.peek() != Some(b'"') {
            return self.fail(JsonErrorCode::InvalidJson, "a member name in double quotes was expected");
        }
        let name = self.string()?;
        if before.len() < LINEAR_MEMBERS_MAX && before.iter().any(|(earlier, _)| *earlier == name) {
            return self.duplicate(&name);
        }
        self.skip_space();
        if !self.take(b':') {
            return self.fail(JsonErrorCode::InvalidJson, "\":\" was expected").map_err(|fault| fault.within(name));
        }
        self.skip_space();
        let start = self.at;
        match self.value() {
            Ok(value) => {
                if self.depth == 1 {
                    self.spans.push(start..self.at);
                }
                Ok((name, value))
            }
            Err(fault) => Err(fault.within(name)),
        }
    }

    /// Large objects are checked once, at their end.
    fn refuse_duplicates(&self, members: &[(String, Json)]) -> Read<()> {
        if members.len() <= LINEAR_MEMBERS_MAX {
            return Ok(());
        }
        let mut seen = HashSet::with_capacity(members.len());
        match members.iter().find(|(name, _)| !seen.insert(name.as_str())) {
            Some((name, _)) => self.duplicate(name),
            None => Ok(()),
        }
    }

    fn duplicate<T>(&self, name: &str) -> Read<T> {
        self.fail(JsonErrorCode::DuplicateMember, "one object has this member twice")
            .map_err(|fault| fault.within(name))
    }

    /// Reads a string whose opening quote is next.
    fn string(&mut self) -> Read<String> {
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

    fn number(&mut self) -> Read<NumberText> {
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

    fn literal(&mut self, word: &str, json: Json) -> Read<Json> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.fail(JsonErrorCode::InvalidJson, "a value was expected");
        }
        self.at += word.len();
        Ok(json)
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Out of the way of the code that succeeds.
    #[cold]
    fn fail<T>(&self, code: JsonErrorCode, what: &str) -> Read<T> {
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
