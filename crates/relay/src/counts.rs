//! What a relay counts. Every count is of finished facts: a request counts as forwarded when its last byte was written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Exchanges begun: requests over HTTP, messages over SMTP.
    pub seen: u64,
    /// Requests that went to the upstream whole; a duplicate counts twice.
    pub forwarded: u64,
    /// Exchanges whose caller got the upstream's whole answer.
    pub answered: u64,
    /// Exchanges whose whole answer came and was withheld, wholly or in part.
    pub dropped: u64,
    /// Exchanges that went to the upstream twice.
    pub duplicated: u64,
    /// Exchanges that the relay kept from the upstream because the fault says so.
    pub kept_back: u64,
    /// Exchanges that the upstream did not take or did not answer in full, without the relay's doing.
    pub upstream_failed: u64,
    /// Exchanges by the fault they got, `forward-and-respond` among them.
    pub faults: BTreeMap<String, u64>,
}

impl Counts {
    /// How many exchanges got a fault.
    #[must_use]
    pub fn of(&self, fault: crate::Fault) -> u64 {
        self.faults.get(fault.word()).copied().unwrap_or_default()
    }
}
