//! The verdicts of one run, and whether they add up to a certificate.

use effectgate_core::time::Timestamp;
use serde::Serialize;

use crate::{
    evidence::{Fact, Verdict},
    item::Item,
};

/// What came of one item.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    #[serde(rename = "id")]
    pub item: Item,
    pub title: &'static str,
    pub verdict: Verdict,
    /// Why it is no pass.
    pub reason: Option<String>,
    pub evidence: Vec<Fact>,
    pub took_ms: u64,
}

/// What a run of certify came to.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// True if every item that was asked for is a pass, or not applicable and accepted by name.
    pub ready: bool,
    /// What was judged: an address, or a throwaway gate of this binary.
    pub target: String,
    pub version: &'static str,
    pub started_at: Timestamp,
    pub took_ms: u64,
    /// The name of the guard that was taken out of this build on purpose; such a report certifies nothing.
    pub broken_guard: Option<String>,
    pub items: Vec<Outcome>,
    /// Items that were left out by name, or belong to a part that was not asked for.
    pub not_asked: Vec<Item>,
    /// Items that may be not applicable.
    pub accepted: Vec<Item>,
    /// The end of a throwaway gate's log.
    #[serde(skip)]
    pub log_tail: Option<String>,
}

impl Report {
    /// Sets `ready` by the items.
    pub(crate) fn judged(mut self) -> Self {
        self.ready = !self.items.is_empty() && self.items.iter().all(|outcome| self.is_fine(outcome));
        self
    }

    /// A pass, or not applicable and accepted by name.
    #[must_use]
    pub fn is_fine(&self, outcome: &Outcome) -> bool {
        match outcome.verdict {
            Verdict::Pass => true,
            Verdict::NotApplicable => self.accepted.contains(&outcome.item),
            Verdict::Fail | Verdict::Error => false,
        }
    }

    /// How many items came to this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.items.iter().filter(|outcome| outcome.verdict == verdict).count()
    }

    /// The report in one sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        let n = |verdict| self.count(verdict);
        let word = if self.ready { "ready" } else { "not ready" };
        format!(
            "{word}: {} of {} items pass, {} fail, {} could not be judged, {} broke off",
            n(Verdict::Pass),
            self.items.len(),
            n(Verdict::Fail),
            n(Verdict::NotApplicable),
            n(Verdict::Error)
        )
    }
}
