//! Bytes inside a JSON text, so that they come out as they went in and a person can read them: JSON as JSON, text as a
//! text, anything else as base64.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use effectgate_core::json;
use serde_json::value::RawValue;

/// One of the forms, or none of them for no bytes at all.
#[derive(Debug, Default)]
pub(super) struct BodyText {
    pub(super) json: Option<Box<RawValue>>,
    pub(super) text: Option<String>,
    pub(super) base64: Option<String>,
}

/// Nested this deep, a document still fits into the one that holds it, and that into the reader's limit of 128.
const DEPTH_MAX: usize = 100;

impl BodyText {
    /// Picks the form. `is_json` is what the content type says; the bytes have the last word.
    pub(super) fn of(bytes: &[u8], is_json: bool) -> Self {
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains(is_unreadable));
        match text {
            _ if bytes.is_empty() => Self::default(),
            None => Self { base64: Some(STANDARD.encode(bytes)), ..Self::default() },
            Some(text) => match verbatim(text).filter(|_| is_json) {
                Some(json) => Self { json: Some(json), ..Self::default() },
                None => Self { text: Some(text.to_owned()), ..Self::default() },
            },
        }
    }

    /// The bytes again.
    ///
    /// # Errors
    /// More than one form, or base64 that is none; in words.
    pub(super) fn bytes(self) -> Result<Bytes, String> {
        match (self.json, self.text, self.base64) {
            (None, None, None) => Ok(Bytes::new()),
            (Some(json), None, None) => Ok(Bytes::from(Box::<str>::from(json).into_string())),
            (None, Some(text), None) => Ok(Bytes::from(text)),
            (None, None, Some(encoded)) => {
                STANDARD.decode(encoded).map(Bytes::from).map_err(|_| "base64 holds no base64".to_owned())
            }
            _ => Err("a body has one form: json, text or base64".to_owned()),
        }
    }
}

/// What is no text to a reader, although it may be UTF-8.
fn is_unreadable(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\r' | '\n')
}

/// A JSON text that is kept letter by letter. White space around it would be lost, and `null` would read as nothing:
/// these are kept as text.
fn verbatim(text: &str) -> Option<Box<RawValue>> {
    let is_bare = !text.starts_with(char::is_whitespace) && !text.ends_with(char::is_whitespace) && text != "null";
    let is_sound = is_bare && depth(text) <= DEPTH_MAX && json::parse(text.as_bytes()).is_ok();
    is_sound.then(|| RawValue::from_string(text.to_owned()).ok()).flatten()
}

/// The most brackets open at once; those inside of strings count too, which only makes it careful.
fn depth(text: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

/// A content type in lower case, without its parameters.
pub(crate) fn essence(content_type: Option<&str>) -> String {
    content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// True for `application/json` and `…+json`.
pub(super) fn is_json(content_type: Option<&str>) -> bool {
    let essence = essence(content_type);
    essence == "application/json" || essence.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_body_comes_out_as_it_went_in() {
        let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
        let bodies: [&[u8]; 11] = [
            b"",
            b"{ \"amount\": 1.10,\n \"id\": 9007199254740993 }",
            b"{\"a\":1}\n",
            b"null",
            b"a=1&b=2",
            "gr\u{fc}\u{df}e".as_bytes(),
            &[0, 159, 146, 150],
            b"nul \0 inside",
            br#"{"a":1,"a":2}"#,
            br#"{"half":"\ud83d"}"#,
            deep.as_bytes(),
        ];
        for body in bodies {
            for is_json in [true, false] {
                assert_eq!(BodyText::of(body, is_json).bytes().unwrap(), body, "{:?}", String::from_utf8_lossy(body));
            }
        }
        assert!(BodyText::of(b"{\"a\":1}", true).json.is_some());
        assert!(BodyText::of(b"{\"a\":1}", false).text.is_some());
        assert!(BodyText::of(br#"{"a":1,"a":2}"#, true).text.is_some(), "it is no JSON that all readers read alike");
    }
}
