//! The reader: one pass over the bytes, no recursion deeper than [`DEPTH_MAX`], no pointer built until something fails.
//!
//! Strict on purpose, because two readers that understand one text differently are how a payload check is passed by:
//! no comments, no trailing commas, no byte order mark, no duplicate names, no half surrogates. Noncharacters and
//! `\u0000` are kept: they are Unicode text and survive.

use std::collections::HashSet;
use std::ops::Range;

use super::scan::{Read, Reader};
use super::{Json, JsonError, JsonErrorCode};

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

impl Reader<'_> {
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
}
