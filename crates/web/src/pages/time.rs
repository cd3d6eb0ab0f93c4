//! Moments and spans in words. Times are UTC: a page without JavaScript does not know where its reader is.

use effectgate_core::time::Timestamp;

/// A moment for a `<time>` element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    pub(crate) iso: String,
    /// `2026-09-21 14:13 UTC`.
    pub(crate) text: String,
    /// `in 23 h` or `5 min ago`.
    pub(crate) relative: String,
}

impl When {
    pub(crate) fn new(at: Timestamp, now: Timestamp) -> Self {
        let iso = at.to_string();
        let text = match (iso.get(..10), iso.get(11..16)) {
            (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
            _ => iso.clone(),
        };
        let ms = at.ms_since(now);
        let relative = if ms >= 0 { format!("in {}", span(ms)) } else { format!("{} ago", span(-ms)) };
        Self { iso, text, relative }
    }
}

/// A span in its two largest units: `2 d 3 h`, `23 h 10 min`, `45 min`, `12 s`. Units: milliseconds.
pub(crate) fn span(ms: i64) -> String {
    let seconds = ms.max(0) / 1_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let two = |a: i64, a_unit: &str, b: i64, b_unit: &str| match b {
        0 => format!("{a} {a_unit}"),
        _ => format!("{a} {a_unit} {b} {b_unit}"),
    };
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, _) => two(hours, "h", minutes, "min"),
        _ => two(days, "d", hours, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said_in_their_two_largest_units() {
        let spans = [12_000, 2_700_000, 3_600_000, 83_400_000, 183_600_000].map(span);
        assert_eq!(spans, ["12 s", "45 min", "1 h", "23 h 10 min", "2 d 3 h"]);
    }

    #[test]
    fn a_moment_is_said_in_utc_and_from_now() {
        let now = Timestamp::from_micros(1_790_000_000_000_000);
        let when = When::new(now.plus_ms(-300_000), now);
        assert_eq!((when.text.as_str(), when.relative.as_str()), ("2026-09-21 14:08 UTC", "5 min ago"));
    }
}
