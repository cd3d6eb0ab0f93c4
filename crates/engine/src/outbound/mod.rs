//! The outbound door: an HTTP request that a workflow would have sent itself, kept as one run with one effect, sent once
//! by the dispatcher like any other, and its first answer given again for ever after.
//!
//! Here: what may pass ([`OutRules`]), the request and the answer as they are kept (`written`, [`Kept`]), reserving and
//! queueing (`begin`), what a run as it stands means for whoever asks (`stand`), and waiting for it (`wait`, on
//! the common [`crate::waits`]). What
//! deliberately does not live here: sending (the dispatcher and the connector do) and HTTP's server side.

mod begin;
mod body;
mod kept;
mod rules;
mod stand;
mod wait;
mod written;

pub use begin::{Began, OutRequest, Waiting};
pub(crate) use body::essence;
use effectgate_core::{
    ids::{EffectType, FlowName},
    json::is_pointer,
};
pub use kept::{Kept, Redact};
pub use rules::{NotAllowed, OutRules};
pub use stand::OutAnswer;
pub(crate) use written::Written;

use crate::{connectors::SettingError, policy::ProviderPolicy};

/// The member of a kept request that holds a JSON body.
const JSON_BODY: &str = "/json";

/// The effect type of whatever comes through the door.
pub const OUT_TYPE: &str = "http";

/// What people read as an effect's name: the type, but method and path for what came through the door, whose type says
/// nothing. A target that is not known is an empty one.
#[must_use]
pub fn named<'a>(effect_type: &'a str, target: &'a str) -> &'a str {
    match effect_type {
        OUT_TYPE if target.is_empty() => "a request",
        // A provider without a door may have an effect of this name too, with a target of another kind.
        OUT_TYPE if target.contains(" /") => target,
        other => other,
    }
}

/// What a provider's section `out` comes to.
#[derive(Debug, Clone)]
pub struct OutPolicy {
    /// Whose gate, approval and retention hold.
    pub flow: FlowName,
    pub rules: OutRules,
    /// How long a request waits for the outcome, in milliseconds. The work goes on without it.
    pub wait_ms: u64,
    /// The provider's id in a JSON answer, as a JSON Pointer. An answer without it is as good.
    pub external_id: Option<String>,
}

impl OutPolicy {
    /// Judges what no other check looks at.
    ///
    /// # Errors
    /// The pointer is none.
    pub fn judge(&self) -> Result<(), SettingError> {
        match self.external_id.as_deref().filter(|pointer| !is_pointer(pointer)) {
            None => Ok(()),
            Some(pointer) => {
                let what = format!("{pointer:?} is no JSON Pointer");
                Err(SettingError::new("out.external_id", what, "Begin it with /, as in /id."))
            }
        }
    }
}

impl ProviderPolicy {
    /// Where in an effect's payload the text lies that a provider gets as JSON: the body, for what came through the
    /// door; the payload itself for every other. A prefix for JSON Pointers.
    pub(crate) fn body_root(&self, effect_type: &EffectType) -> &'static str {
        if self.out.is_some() && effect_type.as_str() == OUT_TYPE { JSON_BODY } else { "" }
    }

    /// The id in an answer that came through the door, where the section says where to look.
    pub(crate) fn out_id(&self, kept: &Kept) -> Option<String> {
        let pointer = self.out.as_ref()?.external_id.as_deref()?;
        let answer: serde_json::Value = serde_json::from_slice(&kept.body).ok()?;
        effectgate_core::retry::id_text(answer.pointer(pointer)?)
    }
}
