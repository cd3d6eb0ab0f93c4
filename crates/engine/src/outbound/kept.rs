//! A provider's answer as it is kept and given again: status, the headers that say what the body is, and the body byte
//! for byte. Cookies, credentials and what belongs to one connection are never kept, and our own credentials are cut out
//! where a provider echoes them.

use std::{collections::BTreeMap, ops::RangeInclusive};

use bytes::Bytes;
use effectgate_core::outcome::Answer;
use http::HeaderMap;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::body::{BodyText, is_json};

/// Headers that describe the answer itself. A list of what is kept, because a list of what is not would be out of date:
/// `Set-Cookie`, `WWW-Authenticate`, hop-by-hop headers and whatever else stay outside. `Retry-After` is a wish about a
/// moment that has passed.
const KEPT: [&str; 11] = [
    "content-type",
    "content-language",
    "content-encoding",
    "content-disposition",
    "location",
    "link",
    "etag",
    "last-modified",
    "request-id",
    "x-request-id",
    "x-total-count",
];
/// A header longer than this describes nothing.
const VALUE_BYTES_MAX: usize = 4_096;

/// What ends an exchange. `100` to `199` do not, and a server that gave one as its answer would leave its caller waiting.
const STATUSES: RangeInclusive<u16> = 200..=999;

/// An answer as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub status: u16,
    /// By lower-case name; several lines of one name are one value with commas.
    pub headers: BTreeMap<String, String>,
    pub body: Bytes,
    /// The answer was longer than may be kept: the body is not there.
    pub cut: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    status: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Kept {
    /// Takes what may be kept of an answer. `cut`: there was more of the body than is kept.
    #[must_use]
    pub fn of(answer: &Answer, headers: &HeaderMap, redact: &Redact, cut: bool) -> Self {
        let named = KEPT.iter().filter_map(|name| Some(((*name).to_owned(), redact.text(&joined(headers, name)?))));
        let body = if cut { Bytes::new() } else { redact.bytes(&answer.body) };
        Self { status: answer.status, headers: named.collect(), body, cut }
    }

    /// The text that lies with the run's content.
    #[must_use]
    pub fn to_text(&self) -> String {
        let body = BodyText::of(&self.body, is_json(self.headers.get("content-type").map(String::as_str)));
        let members = Members {
            status: self.status,
            headers: self.headers.clone(),
            cut: self.cut,
            json: body.json,
            text: body.text,
            base64: body.base64,
        };
        serde_json::to_string(&members).expect("texts and JSON texts always serialise")
    }

    /// Reads a kept text; `None` for a result that is no answer. What is kept of an answer holds here too: a result may be
    /// a worker's, who ended the run under this key by another way, and a header that it made up would be ours to send.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let members: Members = serde_json::from_str(text).ok()?;
        let Members { status, mut headers, cut, json, text, base64 } = members;
        let body = BodyText { json, text, base64 }.bytes().ok()?;
        headers.retain(|name, _| KEPT.contains(&name.as_str()));
        STATUSES.contains(&status).then_some(Self { status, headers, body, cut })
    }
}

fn joined(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    let value = lines.join(", ");
    (!lines.is_empty() && value.len() <= VALUE_BYTES_MAX).then_some(value)
}

/// Our own credentials, to be cut out of what is kept: some providers echo the request.
#[derive(Default)]
pub struct Redact(Vec<SecretString>);

/// Shorter ones would cut words out of any text.
const SECRET_CHARS_MIN: usize = 8;
const REDACTED: &str = "[redacted]";

impl Redact {
    /// Takes secrets, and what stands behind a scheme such as `Bearer`.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let with_parts = secrets.into_iter().flat_map(|secret| {
            let token = secret.split_once(' ').map(|(_, token)| token);
            let plain = [Some(secret), token].into_iter().flatten();
            plain.flat_map(|text| [text.to_owned(), text.replace('/', "\\/")]).collect::<Vec<_>>()
        });
        Self(with_parts.filter(|text| text.len() >= SECRET_CHARS_MIN).map(SecretString::from).collect())
    }

    fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.expose_secret(), REDACTED))
    }

    fn bytes(&self, bytes: &[u8]) -> Bytes {
        let cut = |bytes: Vec<u8>, secret: &SecretString| without(bytes, secret.expose_secret().as_bytes());
        Bytes::from(self.0.iter().fold(bytes.to_vec(), cut))
    }
}

fn without(bytes: Vec<u8>, secret: &[u8]) -> Vec<u8> {
    let at = |from: &[u8]| from.windows(secret.len()).position(|window| window == secret);
    let Some(mut next) = at(&bytes) else { return bytes };
    let (mut clean, mut rest) = (Vec::with_capacity(bytes.len()), &bytes[..]);
    loop {
        clean.extend_from_slice(&rest[..next]);
        clean.extend_from_slice(REDACTED.as_bytes());
        rest = &rest[next + secret.len()..];
        match at(rest) {
            Some(found) => next = found,
            None => break,
        }
    }
    clean.extend_from_slice(rest);
    clean
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn answer(body: &[u8]) -> Answer {
        Answer { status: 201, retry_after: None, body: body.to_vec(), body_complete: true, replayed: false }
    }

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn what_is_kept_comes_out_as_it_went_in() {
        let bodies: [&[u8]; 4] = [b"", b"{ \"id\": 1.0 }", &[255, 0, 1], b"plain\n"];
        for body in bodies {
            let kept =
                Kept::of(&answer(body), &headers(&[("content-type", "application/json")]), &Redact::default(), false);

            assert_eq!(Kept::parse(&kept.to_text()), Some(kept.clone()));
            assert_eq!(kept.body, body);
        }
        assert_eq!(Kept::parse("{\"label\":\"a worker's result\"}"), None);
    }

    #[test]
    fn cookies_credentials_and_the_connections_own_headers_are_not_kept() {
        let all = headers(&[
            ("content-type", "text/plain"),
            ("link", "<a>"),
            ("link", "<b>"),
            ("set-cookie", "s=1"),
            ("www-authenticate", "Bearer"),
            ("authorization", "Bearer x"),
            ("connection", "close"),
            ("transfer-encoding", "chunked"),
            ("content-length", "2"),
            ("retry-after", "5"),
        ]);

        let kept = Kept::of(&answer(b"ok"), &all, &Redact::default(), false);

        let names: Vec<&str> = kept.headers.keys().map(String::as_str).collect();
        assert_eq!(names, ["content-type", "link"]);
        assert_eq!(kept.headers["link"], "<a>, <b>");
    }

    #[test]
    fn a_result_that_a_worker_wrote_brings_no_header_and_no_status_that_an_answer_would_not() {
        let forged =
            r#"{"status":200,"headers":{"set-cookie":"s=1","transfer-encoding":"chunked","etag":"x"},"text":"y"}"#;

        let kept = Kept::parse(forged).unwrap();

        let names: Vec<&str> = kept.headers.keys().map(String::as_str).collect();
        assert_eq!(names, ["etag"]);
        for status in [0, 101, 199, 1000] {
            assert_eq!(Kept::parse(&format!(r#"{{"status":{status}}}"#)), None, "{status}");
        }
    }

    #[test]
    fn our_credentials_are_cut_out_of_an_echo() {
        let redact = Redact::new(["Bearer s3cret/token", "short"]);
        let echo = br#"{"authorization":"Bearer s3cret/token","again":"s3cret\/token","word":"short"}"#;

        let kept = Kept::of(&answer(echo), &headers(&[("x-request-id", "s3cret/token")]), &redact, false);

        let text = String::from_utf8(kept.body.to_vec()).unwrap();
        assert_eq!(text, r#"{"authorization":"[redacted]","again":"[redacted]","word":"short"}"#);
        assert_eq!(kept.headers["x-request-id"], "[redacted]");
    }
}
