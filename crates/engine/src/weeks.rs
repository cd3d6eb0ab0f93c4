//! Weeks: what the tally counted, by ISO weeks in UTC, for the page of charts. Reads what was flushed, so the last ten
//! seconds of each process are not in it yet. Rates and percentiles are made here, so that page and test mean the same.

use std::collections::{BTreeMap, BTreeSet};

use effectgate_core::{ids::Tenant, time::Timestamp};

use crate::{
    engine::Engine,
    error::Result,
    tally::{count::Count, day_of, wait::quantile_ms},
};

/// The week that a moment lies in, by its Monday in days since 1970-01-01 UTC (that day was a Thursday).
#[must_use]
pub fn monday_of(at: Timestamp) -> i32 {
    (day_of(at) + 3).div_euclid(7) * 7 - 3
}

/// One week's counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Week {
    /// Days since 1970-01-01 UTC.
    pub monday: i32,
    counts: BTreeMap<Count, u64>,
    waits: BTreeMap<i32, u64>,
}

/// The weeks of a tenant, oldest first; the last one is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weeks {
    pub weeks: Vec<Week>,
    /// Every flow that was counted in this time.
    pub flows: BTreeSet<String>,
}

impl Engine {
    /// The last `n` weeks of a tenant, the running one included; of one flow, or of all.
    ///
    /// # Errors
    /// The store.
    pub async fn weeks(&self, tenant: &Tenant, n: u16, flow: Option<&str>) -> Result<Weeks> {
        let (last, n) = (monday_of(self.now()), i32::from(n.max(1)));
        let first = last - (n - 1) * 7;
        let mut weeks: Vec<Week> = (0..n).map(|i| Week { monday: first + i * 7, ..Week::default() }).collect();
        let mut flows = BTreeSet::new();
        for row in self.store().tally_find(tenant, first, last + 7).await? {
            let Some((count, of)) = Count::of_name(&row.name) else { continue };
            if !flows.contains(of) {
                flows.insert(of.to_owned());
            }
            let week = usize::try_from((row.day - first).div_euclid(7)).ok().and_then(|i| weeks.get_mut(i));
            if let Some(week) = week.filter(|_| flow.is_none_or(|flow| flow == of)) {
                week.add(count, row.bucket, u64::try_from(row.count).unwrap_or(0));
            }
        }
        Ok(Weeks { weeks, flows })
    }
}

impl Week {
    fn add(&mut self, count: Count, bucket: i32, n: u64) {
        match count {
            Count::Wait => *self.waits.entry(bucket).or_default() += n,
            _ => *self.counts.entry(count).or_default() += n,
        }
    }

    #[must_use]
    pub fn of(&self, count: Count) -> u64 {
        self.counts.get(&count).copied().unwrap_or(0)
    }

    fn sum<const N: usize>(&self, counts: [Count; N]) -> u64 {
        counts.into_iter().map(|count| self.of(count)).sum()
    }

    #[must_use]
    pub fn reservations(&self) -> u64 {
        self.duplicates() + self.sum([Count::Granted, Count::Conflict])
    }

    /// Deliveries of an event that was known: the owner's own repeat, busy, replay. A conflict is no duplicate.
    #[must_use]
    pub fn duplicates(&self) -> u64 {
        self.sum([Count::Repeated, Count::Busy, Count::Replay])
    }

    #[must_use]
    pub fn duplicate_rate(&self) -> Option<f64> {
        share(self.duplicates(), self.reservations())
    }

    #[must_use]
    pub fn proposals(&self) -> u64 {
        self.sum([Count::Valid, Count::ValidRepaired]) + self.invalid()
    }

    #[must_use]
    pub fn invalid(&self) -> u64 {
        self.sum([Count::Invalid, Count::InvalidRepaired])
    }

    /// Of all proposals.
    #[must_use]
    pub fn invalid_rate(&self) -> Option<f64> {
        share(self.invalid(), self.proposals())
    }

    /// Of the first proposals of their runs.
    #[must_use]
    pub fn first_invalid_rate(&self) -> Option<f64> {
        share(self.of(Count::Invalid), self.sum([Count::Valid, Count::Invalid]))
    }

    /// What went by itself, of all that passed the gate.
    #[must_use]
    pub fn automatic_share(&self) -> Option<f64> {
        share(self.of(Count::Automatic), self.sum([Count::Automatic, Count::Person]))
    }

    /// Approvals that a person decided.
    #[must_use]
    pub fn decided(&self) -> u64 {
        self.waits.values().sum()
    }

    /// The wait from request to decision that a share (0 to 1) of the decided approvals did not exceed; at most 10 %
    /// off. Units: milliseconds.
    #[must_use]
    pub fn wait_ms(&self, share: f64) -> Option<f64> {
        quantile_ms(self.waits.iter().map(|(bucket, n)| (*bucket, *n)), share)
    }

    #[must_use]
    pub fn exhausted(&self) -> u64 {
        self.sum([Count::RunExhausted, Count::EffectExhausted])
    }

    /// True if nothing at all was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.waits.is_empty()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate has few digits")]
fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_begins_on_monday_by_utc() {
        let monday = |text: &str| monday_of(text.parse().unwrap());
        // ISO 8601: week 1 of 2027 begins on 2027-01-04, so 2027-01-03 is still in week 53 of 2026.
        assert_eq!(monday("2027-01-03T23:59:59.999Z"), monday("2026-12-28T00:00:00Z"));
        assert_eq!(monday("2027-01-04T00:00:00Z"), monday("2027-01-03T00:00:00Z") + 7);
        assert_eq!(monday("1970-01-01T00:00:00Z"), -3);
        assert_eq!(monday("1969-12-28T23:59:59Z"), -10);
    }

    #[test]
    fn a_week_without_events_has_no_rates() {
        let week = Week::default();
        assert!(week.is_empty());
        assert_eq!((week.duplicate_rate(), week.invalid_rate(), week.automatic_share()), (None, None, None));
        assert_eq!(week.wait_ms(0.5), None);
    }
}
