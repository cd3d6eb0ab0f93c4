//! A provider: a named external system with a class and limits. Only what the rules ask about; URLs, credentials and
//! templates live with the connectors.

use serde_json::Value;

use crate::{ids::ProviderName, retry::Backoff};

/// The default margin: a settlement waits out a database restart of half a minute before the sweeper calls it lost.
pub const SENDING_MARGIN_MS: i64 = 30_000;

/// The least margin that may be configured: a commit takes milliseconds on a healthy disk, and a flush that stalls for
/// half a second is not rare. With less, an attempt that ended well would be called lost by the sweeper.
pub const SENDING_MARGIN_MS_MIN: i64 = 500;

#[derive(Debug, Clone)]
pub struct Provider {
    pub name: ProviderName,
    pub class: Class,
    /// True for mail: a 5xx reply to the final dot is a definite refusal there, and no body is read.
    pub smtp: bool,
    /// What is declared about lookups, if there is one.
    pub lookup: Option<Lookup>,
    /// Attempts an effect may see in all; what is exhausted is failed if nothing can have happened, else reviewed.
    pub attempts_max: i32,
    pub backoff: Backoff,
    /// The longest wait a provider's Retry-After may ask for, in milliseconds.
    pub retry_after_ms_max: i64,
    /// Statuses that mean a definite refusal in addition to 400, 401, 403, 404, 410 and 422 (409 where declared).
    pub refused_statuses: Vec<u16>,
    /// Statuses that the provider documents as "not done": 503 for overload.
    pub not_done_statuses: Vec<u16>,
    /// What its documentation says about keys it has seen, and where that was read.
    pub declared: Declared,
    /// True: an answer of 2xx must carry an id where the effect type names a pointer.
    pub external_id_required: bool,
    /// The longest one attempt can take in all, in milliseconds; the dispatcher's lease is this plus a margin.
    pub attempt_ms_max: i64,
    /// How long the dispatcher's lease outlives the longest attempt: time for the settlement to commit on a slow
    /// database. [`SENDING_MARGIN_MS`] unless the config says otherwise; never less than [`SENDING_MARGIN_MS_MIN`].
    pub sending_margin_ms: i64,
    pub rate: Rate,
    pub breaker: Breaker,
}

/// What stops a second execution over there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The provider honours our key within a window counted from the first send.
    Enforcing { key_window_ms: i64, margin_ms: i64 },
    /// Nothing does. The default for what is not declared.
    Advisory,
}

impl Class {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enforcing { .. } => "enforcing",
            Self::Advisory => "advisory",
        }
    }
}

/// What the provider's documentation says about keys it has seen. What is not declared is not relied on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Declared {
    /// How it says that our key is in use over there right now.
    pub in_flight: Vec<InFlight>,
    /// True: an answer is kept even if it is an error, so the same key only ever repeats it.
    pub replays_errors: bool,
    /// How it marks an answer that it had kept.
    pub replayed: Option<ReplayMark>,
    /// Whether another body under a known key is refused; `None` where nobody said.
    pub compares_body: Option<bool>,
    /// Where all this was read.
    pub facts: Option<Facts>,
}

/// An answer that means "this key is in use": the status, and a member of the body where the status alone has other
/// meanings too.
#[derive(Debug, Clone, PartialEq)]
pub struct InFlight {
    pub status: u16,
    /// JSON Pointer and value.
    pub member: Option<(String, Value)>,
}

/// A header line that marks an answer which was kept for our key. The value is compared without regard to case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayMark {
    pub header: String,
    pub equals: String,
}

/// Where the facts were read, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The preset that gave what the section left out.
    pub preset: Option<String>,
    pub source: String,
    /// The day, as it was written.
    pub checked: String,
}

/// A way to ask without writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lookup {
    /// How long the provider's index may lag behind its writes.
    pub settle_delay_ms: i64,
    /// True: absent after the settle delay proves that nothing happened.
    pub authoritative: bool,
    /// The pause between looks.
    pub period_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    pub concurrent: usize,
}

/// After `failures` attempts in a row that ended in a transport failure, wait `open_ms` before the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breaker {
    pub failures: u32,
    pub open_ms: i64,
}
