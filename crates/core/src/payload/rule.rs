//! Which part of a payload identifies it, and the text in which that is stored with the row.

use serde::{Deserialize, Serialize};

use crate::json::is_pointer;

/// More named members than this are a sign that the whole payload is meant; it also bounds the work per reservation.
pub const POINTERS_MAX: usize = 32;
const PREFIX: &str = "v1:";

/// A list of JSON Pointers to the members that identify a payload; by default the whole of it.
///
/// Text form: `v1:` and a JSON array of the pointers, `v1:[""]` for the whole payload.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct IdentityRule(Vec<String>);

/// A list or text that is no identity rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityRuleError {
    #[error("an identity rule names between 1 and {POINTERS_MAX} members, not {0}")]
    Count(usize),
    #[error("{0:?} is no JSON Pointer")]
    NotAPointer(String),
    #[error("{0:?} is named twice")]
    Twice(String),
    #[error("a stored identity rule is \"v1:\" and a JSON array of pointers")]
    NotARule,
}

impl IdentityRule {
    /// Takes the pointers as a flow names them.
    ///
    /// Errors: [`IdentityRuleError`] if there are none or too many, one is no pointer, or one comes twice.
    pub fn new(pointers: Vec<String>) -> Result<Self, IdentityRuleError> {
        if pointers.is_empty() || pointers.len() > POINTERS_MAX {
            return Err(IdentityRuleError::Count(pointers.len()));
        }
        for (index, pointer) in pointers.iter().enumerate() {
            if !is_pointer(pointer) {
                return Err(IdentityRuleError::NotAPointer(pointer.clone()));
            }
            if pointers[..index].contains(pointer) {
                return Err(IdentityRuleError::Twice(pointer.clone()));
            }
        }
        Ok(IdentityRule(pointers))
    }

    /// Says whether the whole payload, and nothing else, is named.
    pub fn is_whole(&self) -> bool {
        matches!(self.0.as_slice(), [pointer] if pointer.is_empty())
    }

    pub fn pointers(&self) -> &[String] {
        &self.0
    }

    /// The text that is stored with the row.
    pub fn as_text(&self) -> String {
        format!("{PREFIX}{}", serde_json::Value::from(self.0.clone()))
    }

    /// Reads a stored text.
    ///
    /// Errors: [`IdentityRuleError`], also for the text of a later version.
    pub fn parse(text: &str) -> Result<Self, IdentityRuleError> {
        let list = text.strip_prefix(PREFIX).ok_or(IdentityRuleError::NotARule)?;
        let pointers = serde_json::from_str(list).map_err(|_| IdentityRuleError::NotARule)?;
        IdentityRule::new(pointers)
    }
}

impl Default for IdentityRule {
    fn default() -> Self {
        IdentityRule(vec![String::new()])
    }
}

impl TryFrom<Vec<String>> for IdentityRule {
    type Error = IdentityRuleError;

    fn try_from(pointers: Vec<String>) -> Result<Self, Self::Error> {
        IdentityRule::new(pointers)
    }
}

impl From<IdentityRule> for Vec<String> {
    fn from(rule: IdentityRule) -> Self {
        rule.0
    }
}
