//! The request that came through the outbound door: the caller's method, path, content type and body as they came, our
//! credentials, our provider key. What the door's rules say is asked again here, because a person may have edited the
//! request since it came in.

use bytes::Bytes;
use effectgate_core::effect::Effect;
use http::{HeaderName, HeaderValue, Method, header};
use secrecy::SecretString;

use super::{
    Faults,
    key::{self, KeyPlace},
};
use crate::{
    outbound::{OutRules, Redact, Written, essence},
    view::FindingView,
};

/// What a section `out` says about the wire.
#[derive(Debug, Clone)]
pub struct DoorSettings {
    pub rules: OutRules,
    /// Bytes of an answer that are kept; a longer one is not given again.
    pub answer_bytes_max: usize,
}

/// A door that passed every check.
pub(super) struct Door {
    rules: OutRules,
    pub(super) answer_bytes_max: usize,
    pub(super) redact: Redact,
}

/// A request's parts, credentials and user agent apart.
#[derive(Debug)]
pub(super) struct Through {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(String, SecretString)>,
    pub(super) body: Bytes,
}

/// Set by the connection or by us, or for nobody's eyes but ours.
const TAKEN: [HeaderName; 16] = [
    header::ACCEPT,
    header::AUTHORIZATION,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::COOKIE,
    header::EXPECT,
    header::HOST,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::USER_AGENT,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("keep-alive"),
];

impl Door {
    /// Judges the settings; faults are kept.
    pub(super) fn new(
        settings: &DoorSettings,
        auth: Option<&(String, SecretString)>,
        key: &KeyPlace,
        redact: Redact,
        faults: &mut Faults,
    ) -> Self {
        for path in &settings.rules.paths {
            let is_sound = path.starts_with('/') && !path.contains(['?', '#', '\\', ' ']) && !path.contains("//");
            if !is_sound {
                let advice = "Begin it with /, as in /v1/refunds; / alone allows every path.";
                faults.add("out.paths", format!("{path:?} is no beginning of a path"), advice);
            }
        }
        for name in &settings.rules.headers {
            let is_auth = auth.is_some_and(|(auth, _)| name.as_str().eq_ignore_ascii_case(auth));
            let is_key = matches!(key, KeyPlace::Header(key) if name.as_str().eq_ignore_ascii_case(key));
            if TAKEN.contains(name) || is_auth || is_key {
                let advice = "Leave it out: the gate sets it, or it is never passed on.";
                faults.add("out.headers", format!("{name} cannot be the caller's"), advice);
            }
        }
        Self { rules: settings.rules.clone(), answer_bytes_max: settings.answer_bytes_max, redact }
    }

    /// What is wrong with a request, before anybody decides on it.
    pub(super) fn check(&self, key: &KeyPlace, target: &str, payload: &str) -> Vec<FindingView> {
        let finding = |pointer: &str, keyword: &str, said: String| vec![FindingView::new(pointer, keyword, said)];
        let written = match Written::parse(payload) {
            Ok(written) => written,
            Err(said) => return finding("", "request", said),
        };
        if let Err(why) = self.rules.judge(&written.method, &written.path) {
            return finding("/path", "path", why.to_string());
        }
        if Written::target(&written.method, &written.path) != target {
            return finding("/path", "const", "the target of a request is its method and path".into());
        }
        self.through(written, key, "eg-0").err().map(|said| finding("", "request", said)).unwrap_or_default()
    }

    /// The request of an effect.
    ///
    /// Errors: in words without values.
    pub(super) fn request(&self, effect: &Effect, key: &KeyPlace) -> Result<Through, String> {
        let written = Written::parse(&effect.payload)?;
        self.rules.judge(&written.method, &written.path).map_err(|why| why.to_string())?;
        self.through(written, key, &effect.provider_key)
    }

    fn through(&self, written: Written, key: &KeyPlace, provider_key: &str) -> Result<Through, String> {
        let accept = written.accept.unwrap_or_else(|| "*/*".to_owned());
        let mut headers = vec![("Accept".to_owned(), accept)];
        headers.extend(written.content_type.iter().map(|value| ("Content-Type".to_owned(), value.clone())));
        for (name, value) in written.headers {
            if !self.rules.headers.iter().any(|allowed| name.eq_ignore_ascii_case(allowed.as_str())) {
                return Err("a header that this door does not pass on".to_owned());
            }
            headers.push((name, value));
        }
        if let KeyPlace::Header(name) = key {
            headers.push((name.clone(), provider_key.to_owned()));
        }
        if headers.iter().any(|(_, value)| HeaderValue::try_from(value).is_err()) {
            return Err("a header whose value HTTP cannot carry".to_owned());
        }
        let body = with_key(written.body, written.content_type.as_deref(), key, provider_key)?;
        let headers = headers.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect();
        Ok(Through { method: written.method, path: written.path, headers, body })
    }
}

/// Puts the key into the body, where the provider wants it there.
fn with_key(body: Bytes, content_type: Option<&str>, key: &KeyPlace, provider_key: &str) -> Result<Bytes, String> {
    let KeyPlace::Field(field) = key else { return Ok(body) };
    let text = std::str::from_utf8(&body).map_err(|_| format!("the key goes into {field}, and the body is no text"))?;
    match essence(content_type).as_str() {
        "application/x-www-form-urlencoded" => key::into_form(text, field, provider_key).map(Bytes::from),
        _ => key::into_json(text, field, provider_key).map(Bytes::from),
    }
}
