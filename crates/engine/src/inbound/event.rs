//! A delivery, read: its key, its payload as it is kept, and what keeps it from being worked on. Nothing is refused here:
//! a sender can mend nothing, and what it sent must not be lost.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use effectgate_core::{
    ids::SourceName,
    json::{self, Json},
    key::Key,
    payload::{IdentityRule, PayloadHash, hash_payload},
};
use http::HeaderMap;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    SourcePolicy,
    key::{Missing, NoKey},
};
use crate::{
    error::EngineError,
    policy::FlowPolicy,
    reserve::{event_type, key_of},
};

/// What keeps an event from being worked on until a person has looked at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Not JSON that can be taken: syntax, UTF-8, a member twice, a number out of range.
    NotJson,
    /// The rule finds no key, or one that names no event.
    NoKey,
    /// None of the members that identify a payload of this flow is there.
    NoIdentity,
    /// The flow's schema.
    Schema,
}

impl Fault {
    /// The word, as in the run's reason.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotJson => "not_json",
            Self::NoKey => "no_key",
            Self::NoIdentity => "no_identity",
            Self::Schema => "schema",
        }
    }
}

/// Faults of one event that its entry names.
const FAULTS_TOLD_MAX: usize = 8;
/// Names of members are the sender's, and may be as long as the body; the journal keeps them longer than the content.
const POINTER_CHARS_MAX: usize = 200;

/// A delivery as it becomes a run.
pub(super) struct Event {
    pub(super) key: Key,
    pub(super) event_type: Option<String>,
    /// The text that is kept.
    pub(super) payload: String,
    pub(super) json: Json,
    pub(super) hash: PayloadHash,
    pub(super) identity: IdentityRule,
    pub(super) fault: Option<Fault>,
    /// Where: pointers and rules for a schema, the part for a key. No values.
    pub(super) details: Vec<String>,
}

impl Event {
    /// Reads the body and the headers that the source's rule names.
    pub(super) fn read(
        name: &SourceName,
        source: &SourcePolicy,
        flow: &FlowPolicy,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        let parsed = json::parse(body);
        let given = source.key.find(parsed.as_ref().ok(), headers);
        let named = given.as_ref().ok().and_then(event_type);
        let key = given.and_then(|given| key_of(flow, &given).map_err(no_key)).and_then(not_ours);
        // A word that makes no key was judged by no rule: it may be as long as the body, or hold U+0000, and one such
        // row keeps PostgreSQL from searching its flow by type.
        let event_type = named.filter(|_| key.is_ok());
        let not_json = parsed.as_ref().err().map(|e| (Fault::NotJson, vec![e.code.as_str().to_owned()]));
        let no_key = key.as_ref().err().map(|why| (Fault::NoKey, vec![why.to_string()]));
        let (json, payload) = match parsed {
            Ok(json) => (json, trimmed(body)),
            Err(_) => kept(body),
        };
        let (hash, identity) = identified(&json, flow, not_json.is_none());
        let no_identity = (identity != flow.flow.identity).then(|| (Fault::NoIdentity, Vec::new()));
        let fault = not_json.or(no_key).or(no_identity).or_else(|| broken_schema(&json, flow));
        let (fault, details) = fault.map_or((None, Vec::new()), |(fault, details)| (Some(fault), details));
        let key = key.unwrap_or_else(|_| Key::from_stored(own_key(name, body)));
        Self { key, event_type, payload, json, hash, identity, fault, details }
    }
}

fn no_key(error: EngineError) -> NoKey {
    match error {
        EngineError::BadKey(error) => error.into(),
        _ => NoKey { part: None, why: Missing::Absent },
    }
}

/// The key of an event that has none: from its bytes, so that the same event sent again is the same run. A person has to
/// release it; nothing is made up that could pass for the sender's own id.
fn own_key(name: &SourceName, body: &[u8]) -> String {
    format!("in:{name}:sha256:{}", hex::encode(Sha256::digest(body)))
}

/// A sender's key in the form of [`own_key`], of whichever source: under it an event without a key would be called a
/// conflict and lost, or the sender's own one.
fn not_ours(key: Key) -> Result<Key, NoKey> {
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let is_ours = match key.as_str().split(':').collect::<Vec<_>>()[..] {
        ["in", _, "sha256", digest] => is_digest(digest),
        _ => false,
    };
    if is_ours { Err(NoKey { part: None, why: Missing::Taken }) } else { Ok(key) }
}

/// The JSON text as it came, without the blanks around it.
fn trimmed(body: &[u8]) -> String {
    String::from_utf8_lossy(body.trim_ascii()).into_owned()
}

/// What is no JSON, as JSON: a text, or its bytes.
fn kept(body: &[u8]) -> (Json, String) {
    let value = match str::from_utf8(body) {
        Ok(text) => Value::from(text),
        Err(_) => json!({"base64": STANDARD.encode(body)}),
    };
    (Json::from(&value), value.to_string())
}

/// The hash under the flow's rule; under the whole payload where that finds nothing, or the payload is only kept.
fn identified(json: &Json, flow: &FlowPolicy, is_json: bool) -> (PayloadHash, IdentityRule) {
    let rule = &flow.flow.identity;
    match hash_payload(json, rule) {
        Ok(hash) if is_json || rule.is_whole() => (hash, rule.clone()),
        _ => {
            let whole = IdentityRule::default();
            (hash_payload(json, &whole).expect("the whole of a payload is there"), whole)
        }
    }
}

fn broken_schema(json: &Json, flow: &FlowPolicy) -> Option<(Fault, Vec<String>)> {
    let findings = flow.payload_schema.as_ref()?.validate(&json.to_value());
    let pointer = |at: &str| at.chars().take(POINTER_CHARS_MAX).collect::<String>();
    let told = findings.iter().take(FAULTS_TOLD_MAX).map(|f| format!("{}: {}", pointer(&f.pointer), f.keyword));
    (!findings.is_empty()).then(|| (Fault::Schema, told.collect()))
}
