//! Waits in buckets that grow by a fifth: small enough to keep per day and flow, fine enough that a percentile read from
//! them is never more than 10 % off.
//!
//! Bucket `i` holds the waits from `1.2^(i-1)` (not included) to `1.2^i` milliseconds. What is said for it is the value
//! between both ends whose relative distance to either is the same: `2 · 1.2^i / 2.2`, at most 9.1 % away.

/// How much wider each bucket is than the one before.
const GROWTH: f64 = 1.2;
/// `1.2^146` ms are more than ten years; nothing here waits that long.
pub(crate) const BUCKET_MAX: i32 = 146;

/// The bucket of a wait. Units: milliseconds; what is not positive took no time.
#[must_use]
pub fn bucket(ms: i64) -> i32 {
    if ms <= 1 {
        return 0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a bucket is far wider than what is lost")]
    let place = (ms as f64).ln() / GROWTH.ln();
    #[expect(clippy::cast_possible_truncation, reason = "a logarithm of an i64 is small")]
    let bucket = place.ceil() as i32;
    bucket.clamp(0, BUCKET_MAX)
}

/// What is said for a wait in this bucket. Units: milliseconds.
#[must_use]
pub fn middle_ms(bucket: i32) -> f64 {
    if bucket <= 0 { 1.0 } else { 2.0 * GROWTH.powi(bucket.min(BUCKET_MAX)) / (1.0 + GROWTH) }
}

/// The wait that a share of all (0 to 1) did not exceed, by the nearest rank; `None` where nobody waited. The buckets
/// are in rising order. Units: milliseconds.
#[must_use]
pub fn quantile_ms(buckets: impl Iterator<Item = (i32, u64)> + Clone, share: f64) -> Option<f64> {
    let all: u64 = buckets.clone().map(|(_, n)| n).sum();
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank among people's decisions"
    )]
    let rank = ((all as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    for (bucket, n) in buckets {
        seen += n;
        if seen >= rank {
            return Some(middle_ms(bucket));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_is_said_for_a_wait_is_never_more_than_a_tenth_off() {
        let mut ms: i64 = 2;
        while ms < 10 * 365 * 86_400_000 {
            for near in [ms - 1, ms, ms + 1] {
                let said = middle_ms(bucket(near));
                let off = (said - near as f64).abs() / near as f64;
                assert!(off <= 0.1, "{near} ms is said to be {said}");
            }
            ms += ms / 7 + 1;
        }
        assert_eq!((bucket(-5), bucket(0), bucket(1)), (0, 0, 0));
        assert_eq!(bucket(i64::MAX), BUCKET_MAX);
    }

    #[test]
    fn percentiles_are_within_a_tenth_of_the_true_ones() {
        // Waits as they come: most within minutes, a tail of days. A fixed generator, so that a failure stays.
        let mut state: u64 = 20_261_130;
        let mut waits = Vec::new();
        for _ in 0..10_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
            waits.push((1_000.0 * (12.0 * unit).exp()) as i64);
        }
        let mut buckets = BTreeMap::new();
        for &wait in &waits {
            *buckets.entry(bucket(wait)).or_insert(0u64) += 1;
        }
        waits.sort_unstable();
        for share in [0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1.0] {
            let rank = ((waits.len() as f64 * share).ceil() as usize).max(1);
            let truth = waits[rank - 1] as f64;
            let said = quantile_ms(buckets.iter().map(|(b, n)| (*b, *n)), share).unwrap();
            assert!((said - truth).abs() / truth <= 0.1, "p{share}: {said} is not {truth}");
        }
    }

    #[test]
    fn nobody_waited_is_not_a_wait_of_zero() {
        assert_eq!(quantile_ms(std::iter::empty(), 0.5), None);
        assert_eq!(quantile_ms([(7, 1)].into_iter(), 0.5), Some(middle_ms(7)));
    }
}
