//! The key of a reservation: whole, in parts, or in the header `Idempotency-Key`; where it comes twice it must be the
//! same. What a key may be is core's business; here it is found.

use effectgate_core::{
    json::Json,
    key::{self, Key, KeyParts, KeyPolicy},
};
use effectgate_engine::reserve::KeyGiven;
use http::{HeaderMap, HeaderName};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    problem::{Code, Problem, Result, bad_key},
    request::Given,
};

/// The parts of a key, joined in this order.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartsGiven {
    #[schema(value_type = String)]
    source: Given,
    #[schema(value_type = String)]
    event_type: Given,
    #[schema(value_type = String)]
    external_id: Given,
    #[schema(value_type = String)]
    version: Given,
}

/// The draft standard's header (draft-ietf-httpapi-idempotency-key-header).
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Reads the header; two lines or a list are no key.
///
/// # Errors
/// `bad_key`.
pub(super) fn header_key(headers: &HeaderMap) -> Result<Option<String>> {
    let lines = headers.get_all(IDEMPOTENCY_KEY).iter().map(http::HeaderValue::as_bytes);
    key::from_headers(lines).map_err(|e| bad_key(&e))
}

/// The one key of a request.
///
/// # Errors
/// `missing_member` without any, `bad_key` for one that is no text or for two that differ, `bad_member` for both forms.
pub(super) fn key_given(key: Option<Given>, parts: Option<PartsGiven>, header: Option<String>) -> Result<KeyGiven> {
    let given = match (key, parts) {
        (Some(_), Some(_)) => {
            return Err(Problem::new(Code::BadMember, "either key or key_parts, not both").at("/key_parts"));
        }
        (Some(Given::Text(text)), None) => KeyGiven::Whole(text),
        (Some(Given::NotText), None) => return Err(not_text("/key")),
        (None, Some(parts)) => KeyGiven::Parts(parts_given(parts)?),
        (None, None) => {
            let missing =
                || Problem::new(Code::MissingMember, "key, key_parts or Idempotency-Key is wanted").at("/key");
            return header.map(KeyGiven::Whole).ok_or_else(missing);
        }
    };
    match header {
        Some(header) if !is_same(&given, &header) => {
            let said = "the header Idempotency-Key and the body name different keys";
            Err(Problem::new(Code::BadKey, said).at("/key"))
        }
        _ => Ok(given),
    }
}

/// Whether header and body name one key; a key that cannot be judged here is left to the engine.
fn is_same(given: &KeyGiven, header: &str) -> bool {
    let lenient = KeyPolicy { allow_email: true, allow_phone: true, allow_amount: true, key_from_stable_field: false };
    let body = match given {
        KeyGiven::Whole(text) => Key::parse(text, &lenient),
        KeyGiven::Parts(parts) => Key::from_parts(parts, &lenient),
    };
    match (body, Key::parse(header, &lenient)) {
        (Ok(body), Ok(header)) => body == header,
        _ => false,
    }
}

fn not_text(pointer: &str) -> Problem {
    match Key::from_json(&Json::Null, &KeyPolicy::default()) {
        Err(error) => bad_key(&error).at(pointer),
        Ok(_) => Problem::new(Code::BadKey, "the key is not a string").at(pointer),
    }
}

fn parts_given(parts: PartsGiven) -> Result<KeyParts> {
    let text = |given: Given, name: &str| match given {
        Given::Text(text) => Ok(text),
        Given::NotText => Err(not_text(&format!("/key_parts/{name}"))),
    };
    Ok(KeyParts {
        source: text(parts.source, "source")?,
        event_type: text(parts.event_type, "event_type")?,
        external_id: text(parts.external_id, "external_id")?,
        version: text(parts.version, "version")?,
    })
}
