//! How many requests one API key may make in a second (`server.requests_per_second_max`): a token bucket for each key
//! that was good, in a bounded table of this process. With several replicas each counts for itself.
//!
//! Not here: people's sessions and links ([`super::attempts`]), wrong keys ([`super::failures`]), and what goes out to a
//! provider, which the dispatcher paces.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use effectgate_core::time::Timestamp;

/// Far more than a house has keys, about a megabyte.
const KEYS_MAX: usize = 8_192;
const SECOND_NS: i64 = 1_000_000_000;
const MS_NS: i64 = 1_000_000;

/// A bucket holds what a second brings, so a full one bears a burst of that size. It is kept as the moment, in
/// nanoseconds since 1970, at which it is full again: one number says how full it is at any time.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    full_at: i64,
}

/// The buckets, by the key's public id.
pub(crate) struct Pace {
    per_second: u32,
    buckets: Mutex<HashMap<String, Bucket>>,
}

impl Pace {
    pub(crate) fn new(per_second: u32) -> Self {
        Self { per_second: per_second.max(1), buckets: Mutex::default() }
    }

    /// What the settings allow, for the words of a refusal.
    pub(crate) const fn per_second(&self) -> u32 {
        self.per_second
    }

    /// Takes one request from the key's bucket. An empty bucket gives nothing and is not drained further: milliseconds
    /// until the next request has room, at least one.
    pub(crate) fn take(&self, public_id: &str, now: Timestamp) -> Result<(), i64> {
        let now = now.micros().saturating_mul(1_000);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(public_id) {
            return bucket.take(self.cost(), now);
        }
        if buckets.len() >= KEYS_MAX {
            make_room(&mut buckets, now);
        }
        let mut bucket = Bucket { full_at: now };
        let taken = bucket.take(self.cost(), now);
        buckets.insert(public_id.to_owned(), bucket);
        taken
    }

    /// The time in which one request's room comes back. Rounded down, which errs by a thousandth at a million a second.
    const fn cost(&self) -> i64 {
        SECOND_NS / self.per_second as i64
    }
}

impl Bucket {
    fn take(&mut self, cost: i64, now: i64) -> Result<(), i64> {
        // No bucket is emptier than a second can fill: one that seems to be was used before the clock went back.
        let full_at = if self.full_at > now.saturating_add(SECOND_NS) { now } else { self.full_at.max(now) };
        let after = full_at.saturating_add(cost);
        let over = after - now - SECOND_NS;
        if over > 0 {
            return Err((over as u64).div_ceil(MS_NS as u64) as i64);
        }
        self.full_at = after;
        Ok(())
    }
}

/// Drops the buckets that are full again, which lose nothing; if all are in use, all of them: each key then gets one
/// burst more than it should, and none is shut out.
fn make_room(buckets: &mut HashMap<String, Bucket>, now: i64) {
    buckets.retain(|_, bucket| bucket.full_at > now);
    if buckets.len() >= KEYS_MAX {
        buckets.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_790_000_000_000_000);

    fn taken(pace: &Pace, key: &str, tries: u32, now: Timestamp) -> usize {
        (0..tries).filter(|_| pace.take(key, now).is_ok()).count()
    }

    #[test]
    fn a_second_brings_as_many_requests_as_are_allowed_and_no_key_pays_for_another() {
        for per_second in [1, 2, 3, 7, 50_000, 999_999, 1_000_000] {
            let pace = Pace::new(per_second);
            let tries = per_second + per_second / 500 + 2;
            let slack = usize::try_from(per_second / 999).unwrap();
            let expected = usize::try_from(per_second).unwrap();
            for second in 0..3 {
                let got = taken(&pace, "a", tries, NOW.plus_ms(second * 1_000));
                assert!((expected..=expected + slack).contains(&got), "{got} of {per_second} in second {second}");
            }
            assert!(taken(&pace, "b", tries, NOW) >= expected, "{per_second}");
        }
    }

    #[test]
    fn an_empty_bucket_says_when_there_is_room_and_refusals_do_not_drain_it() {
        let pace = Pace::new(4);
        assert_eq!(taken(&pace, "a", 100, NOW), 4);

        assert_eq!(pace.take("a", NOW), Err(250));
        assert_eq!(pace.take("a", NOW.plus_ms(249)), Err(1));
        assert_eq!(pace.take("a", NOW.plus_ms(250)), Ok(()));
        assert_eq!(pace.take("a", NOW.plus_ms(250)), Err(250));
    }

    #[test]
    fn an_idle_key_saves_up_no_more_than_one_second() {
        let pace = Pace::new(10);
        taken(&pace, "a", 10, NOW);

        assert_eq!(taken(&pace, "a", 100, NOW.plus_ms(3_600_000)), 10);
    }

    #[test]
    fn a_clock_that_goes_back_shuts_no_key_out() {
        let pace = Pace::new(10);
        taken(&pace, "a", 10, NOW);

        assert_eq!(taken(&pace, "a", 100, NOW.plus_ms(-3_600_000)), 10);
    }

    #[test]
    fn the_table_stays_bounded() {
        let pace = Pace::new(10);
        for n in 0..20_000 {
            pace.take(&n.to_string(), NOW).unwrap();
        }

        assert!(pace.buckets.lock().unwrap().len() <= KEYS_MAX);
    }
}
