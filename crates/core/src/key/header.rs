//! The `Idempotency-Key` header: one structured-field string, or the same text bare.
//!
//! `"pay-17"` and `pay-17` name one reservation: the draft asks for the quoted form, most clients send the bare one.
//! Lists and repeated lines are refused, because gluing them together makes a key that nobody sent.

use sfv::{BareItem, Item, List, Parser};

use super::{KeyError, KeyReason};

/// Reads the key from the values of all `Idempotency-Key` lines of one request; `None` if there is no such line.
///
/// Errors: [`KeyError`]; two lines are refused even when they are equal.
///
/// Source: draft-ietf-httpapi-idempotency-key-header section 2.1; RFC 9110 section 5.3.
pub fn from_headers<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<Option<String>, KeyError> {
    let mut values = values.into_iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => from_header(value).map(Some),
        (Some(_), Some(_)) => Err(KeyError::new(KeyReason::HeaderRepeated)),
    }
}

/// Reads one header value: a quoted string by RFC 9651 without parameters, or bare visible ASCII (spaces inside, no
/// double quote, no single quote in front, no comma), taken as it is. The text is not yet a key: [`super::Key::parse`] judges it like any other.
///
/// Errors: [`KeyError`] with reason `empty`, `header_not_ascii` (send the key in the body), `header_malformed`, or
/// `header_repeated` for a list.
///
/// Source: RFC 9651 section 4.2.5 (RFC 8941 is the same here).
pub fn from_header(value: &[u8]) -> Result<String, KeyError> {
    let text = str::from_utf8(value).ok().filter(|text| text.is_ascii());
    let text = text.ok_or_else(|| KeyError::new(KeyReason::HeaderNotAscii))?.trim_matches(' ');
    let result = if text.starts_with('"') { quoted(text) } else { bare(text) };
    result.map_err(KeyError::new)
}

/// Leaves the grammar to a parser of structured fields that the working group's own vectors are held against.
fn quoted(text: &str) -> Result<String, KeyReason> {
    match Parser::new(text).parse::<Item>() {
        Ok(Item { bare_item: BareItem::String(key), params }) if params.is_empty() => Ok(key.into()),
        Ok(_) => Err(KeyReason::HeaderMalformed),
        Err(_) => match Parser::new(text).parse::<List>() {
            Ok(list) if list.len() > 1 => Err(KeyReason::HeaderRepeated),
            _ => Err(KeyReason::HeaderMalformed),
        },
    }
}

fn bare(text: &str) -> Result<String, KeyReason> {
    match text {
        "" => Err(KeyReason::Empty),
        text if text.starts_with('\'') || text.contains('"') || text.bytes().any(|byte| byte.is_ascii_control()) => {
            Err(KeyReason::HeaderMalformed)
        }
        text if text.contains(',') => Err(KeyReason::HeaderRepeated),
        text => Ok(text.to_owned()),
    }
}
