//! The identity of a payload: which part of it counts ([`IdentityRule`]), its hash ([`PayloadHash`]), and which members
//! two payloads differ in.
//!
//! One hash function below every transport, so that a webhook, an API call and a tool call with one payload are one
//! payload. Where payloads are stored, and who is told of a conflict, is decided elsewhere.

mod difference;
mod rule;

pub use difference::differing_members;
pub use rule::{IdentityRule, IdentityRuleError, POINTERS_MAX};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::json::{Json, canonical};

/// SHA-256 over the canonical form of the identifying part of a payload, by version 1 of the rule.
///
/// Text form: `v1:sha256:` and 64 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PayloadHash([u8; 32]);

const PREFIX: &str = "v1:sha256:";

impl PayloadHash {
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        PayloadHash(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads what a caller sent instead of a payload: `v1:sha256:<hex>`, `sha256:<hex>` or 64 hex digits, in either case.
    ///
    /// Errors: [`PayloadHashError`] for anything else, other rule versions included.
    pub fn parse(text: &str) -> Result<Self, PayloadHashError> {
        let digits = text.strip_prefix(PREFIX).or_else(|| text.strip_prefix("sha256:")).unwrap_or(text);
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| PayloadHashError)?;
        Ok(PayloadHash(bytes))
    }
}

impl fmt::Display for PayloadHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", hex::encode(self.0))
    }
}

impl FromStr for PayloadHash {
    type Err = PayloadHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        PayloadHash::parse(text)
    }
}

impl TryFrom<String> for PayloadHash {
    type Error = PayloadHashError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        PayloadHash::parse(&text)
    }
}

impl From<PayloadHash> for String {
    fn from(hash: PayloadHash) -> Self {
        hash.to_string()
    }
}

/// A text that is no payload hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a payload hash is \"v1:sha256:\" and 64 hex digits")]
pub struct PayloadHashError;

/// None of the members that the rule names is in the payload. Hashing that would make all such payloads one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payload has none of the members that identify it: {}", pointers.join(", "))]
pub struct IdentityAbsent {
    /// The pointers that the rule names.
    pub pointers: Vec<String>,
}

impl IdentityAbsent {
    pub fn code(&self) -> &'static str {
        "identity_absent"
    }
}

/// Hashes the identifying part of a payload.
///
/// Guarantees: for the whole payload (the default rule) this is SHA-256 over [`canonical`]. For named members it is
/// SHA-256 over the canonical form of one object that maps each pointer to its value; a pointer that names nothing is
/// left out, so that absent, `null` and every other value differ. Hashes of one rule are comparable with each other
/// only, which is why the rule is stored with the row.
///
/// Errors: [`IdentityAbsent`] if nothing that the rule names is there.
pub fn hash_payload(json: &Json, rule: &IdentityRule) -> Result<PayloadHash, IdentityAbsent> {
    if rule.is_whole() {
        return Ok(digest(&canonical(json)));
    }
    let part = |pointer: &String| Some((pointer.clone(), json.pointer(pointer)?.clone()));
    let parts: Vec<_> = rule.pointers().iter().filter_map(part).collect();
    if parts.is_empty() {
        return Err(IdentityAbsent { pointers: rule.pointers().to_vec() });
    }
    Ok(digest(&canonical(&Json::Object(parts))))
}

fn digest(bytes: &[u8]) -> PayloadHash {
    PayloadHash(Sha256::digest(bytes).into())
}
