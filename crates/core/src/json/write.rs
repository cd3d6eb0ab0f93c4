//! Writing JSON text: compact as it came, and canonical.

use std::cmp::Ordering;

use super::Json;

/// Writes the one canonical form of a value: RFC 8785, with exact digits for numbers that a double cannot hold (see the
/// `number` module). Equal values give equal bytes, different values different ones.
///
/// Source: RFC 8785 section 3.2.
pub fn canonical(json: &Json) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write(json, Form::Canonical, &mut out);
    out
}

pub(super) fn compact(json: &Json) -> String {
    let mut out = Vec::with_capacity(256);
    write(json, Form::Compact, &mut out);
    String::from_utf8(out).expect("every piece written is text, and escapes are ASCII")
}

/// Orders names as RFC 8785 does: as arrays of UTF-16 code units, which is not the order of code points.
pub(crate) fn by_utf16(a: &str, b: &str) -> Ordering {
    // UTF-8 keeps the order of code points. UTF-16 differs only where a character beyond U+FFFF (first byte F0 and up)
    // meets one of U+E000..U+FFFF (first byte EE or EF).
    let differs = a.bytes().zip(b.bytes()).find(|(a, b)| a != b);
    match differs {
        Some((a @ 0xEE.., b @ 0xEE..)) if (a >= 0xF0) != (b >= 0xF0) => b.cmp(&a),
        Some((a, b)) => a.cmp(&b),
        None => a.len().cmp(&b.len()),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Compact,
    Canonical,
}

fn write(json: &Json, form: Form, out: &mut Vec<u8>) {
    match json {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(number) if form == Form::Canonical => number.write_canonical(out),
        Json::Number(number) => out.extend_from_slice(number.as_str().as_bytes()),
        Json::String(text) => write_string(text, out),
        Json::Array(items) => write_array(items, form, out),
        Json::Object(members) => write_object(members, form, out),
    }
}

fn write_array(items: &[Json], form: Form, out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, form, out);
    }
    out.push(b']');
}

fn write_object(members: &[(String, Json)], form: Form, out: &mut Vec<u8>) {
    let in_order = |a: &(String, Json), b: &(String, Json)| by_utf16(&a.0, &b.0).is_le();
    if form == Form::Compact || members.is_sorted_by(in_order) {
        return write_members(members.iter(), form, out);
    }
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by(|a, b| by_utf16(&a.0, &b.0));
    write_members(sorted.into_iter(), form, out);
}

fn write_members<'a>(members: impl Iterator<Item = &'a (String, Json)>, form: Form, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (name, value)) in members.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        write(value, form, out);
    }
    out.push(b'}');
}

/// RFC 8785 section 3.2.2.2: the short escapes where they exist, `\u00xx` for the other control characters, all else
/// as it is.
fn write_string(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut written = 0;
    out.push(b'"');
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[written..at]);
        written = at + 1;
        write_escape(byte, out);
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        0x08 => b'b',
        0x09 => b't',
        0x0A => b'n',
        0x0C => b'f',
        0x0D => b'r',
        other => return out.extend_from_slice(format!("\\u{other:04x}").as_bytes()),
    };
    out.extend_from_slice(&[b'\\', short]);
}
