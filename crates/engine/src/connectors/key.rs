//! Where the provider key goes: a header, or a member of the body. It is sent to advisory providers as well: it stops
//! nothing there, but it is what a lookup can ask for.
//!
//! A key in the body is put in front of the first member; the rest of the text stays byte for byte what was decided.

use serde_json::Value;
use url::form_urlencoded;

/// The draft standard's name (draft-ietf-httpapi-idempotency-key-header), used by most providers that have one.
pub(super) const HEADER_DEFAULT: &str = "Idempotency-Key";

/// How the provider is told its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    Header(String),
    /// A top-level member of a JSON body, or a field of a form.
    Field(String),
}

impl Default for KeyPlace {
    fn default() -> Self {
        Self::Header(HEADER_DEFAULT.to_owned())
    }
}

/// Puts the key into a JSON object's text as its first member.
///
/// Errors: the text is no object, or has that member already, in whatever case: two members of one name are read
/// differently by each reader, and to some of them case is nothing.
pub(super) fn into_json(body: &str, field: &str, key: &str) -> Result<String, String> {
    let Ok(Value::Object(members)) = serde_json::from_str(body) else {
        return Err(format!("the key goes into the member {field}, so the body must be an object"));
    };
    if members.keys().any(|name| name.eq_ignore_ascii_case(field)) {
        return Err(format!("the body has a member {field} of its own, where the provider key goes"));
    }
    let (before, after) = body.split_once('{').ok_or("an object begins with a brace")?;
    let comma = if members.is_empty() { "" } else { "," };
    Ok(format!("{before}{{{}:{}{comma}{after}", Value::from(field), Value::from(key)))
}

/// Puts the key into a form as its first field. `key` and `field` need no encoding: both are plain words.
///
/// Errors: the form has that field already, as any reader may see it: behind an encoding, a `;` that separates, blanks
/// before it, or with an index (`key[]`), which takes the place of the plain one.
pub(super) fn into_form(body: &str, field: &str, key: &str) -> Result<String, String> {
    let names = body.split(['&', ';']).map(|pair| pair.split('=').next().unwrap_or_default());
    let has_it = names.flat_map(|name| form_urlencoded::parse(name.as_bytes())).any(|(name, _)| {
        let plain = name.split('[').next().unwrap_or_default();
        plain.trim().eq_ignore_ascii_case(field)
    });
    match (has_it, body.is_empty()) {
        (true, _) => Err(format!("the body has a field {field} of its own, where the provider key goes")),
        (false, true) => Ok(format!("{field}={key}")),
        (false, false) => Ok(format!("{field}={key}&{body}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_body_stays_byte_equal() {
        let body = "{ \"amount\": 1.10,\n \"id\": 9007199254740993 }";

        let with_key = into_json(body, "idempotency_key", "eg-1").unwrap();

        assert_eq!(with_key, "{\"idempotency_key\":\"eg-1\", \"amount\": 1.10,\n \"id\": 9007199254740993 }");
        assert_eq!(into_json(" {} ", "k", "v").unwrap(), " {\"k\":\"v\"} ");
        assert_eq!(into_form("a=1", "k", "v").unwrap(), "k=v&a=1");
        assert_eq!(into_form("", "k", "v").unwrap(), "k=v");
    }

    #[test]
    fn a_payload_that_brings_its_own_key_is_refused() {
        assert!(into_json(r#"{"k":"mine"}"#, "k", "v").is_err());
        assert!(into_json(r#"{"\u006b":"mine"}"#, "k", "v").is_err());
        assert!(into_json("[1]", "k", "v").is_err());
        assert!(into_json(r#"{"K":"mine"}"#, "k", "v").is_err());
        for body in ["a=1&k=2", "a=1&%6b=2", "a=1;k=2", "k[]=2", "%6B%5B0%5D=2", "+k=2", "K=2", "k"] {
            assert!(into_form(body, "k", "v").is_err(), "{body}");
        }
        assert!(into_form("kk=1&a=k", "k", "v").is_ok());
    }
}
