//! Moments and spans in words: in the reader's zone and language, with the zone named and its offset beside it, so that
//! the hour that comes twice is told apart (HC-43). The element's `datetime` stays UTC.

use effectgate_core::time::Timestamp;

use super::visit::Visit;

/// A moment for a `<time>` element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    pub(crate) iso: String,
    /// `2026-09-21 16:13 Europe/Stockholm (UTC+02:00)`.
    pub(crate) text: String,
    /// `in 23 hours` or `5 minutes ago`.
    pub(crate) relative: String,
}

impl When {
    /// As this visit's reader reads it.
    pub(crate) fn of(at: Timestamp, visit: &Visit) -> Self {
        visit.tongue.when(at, visit.now)
    }
}

/// A span in its two largest units: `2 d 3 h`, `23 h 10 min`, `45 min`, `12 s`. For the pages in English. Units: milliseconds.
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

/// A span to the last digit, for a setting: `1500 ms`, `1 min 30 s`, `1 d 1 min`. Unit: milliseconds.
pub(crate) fn exact(ms: i64) -> String {
    let (ms, seconds) = (ms.max(0), ms.max(0) / 1_000);
    if ms % 1_000 != 0 {
        return format!("{ms} ms");
    }
    let units = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let said: Vec<String> = units.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n} {unit}")).collect();
    if said.is_empty() { "0 s".to_owned() } else { said.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_said_to_its_last_digit() {
        let said = [0, 1_500, 1_000, 90_000, 86_460_000, 2_700_000].map(exact);
        assert_eq!(said, ["0 s", "1500 ms", "1 s", "1 min 30 s", "1 d 1 min", "45 min"]);
    }

    #[test]
    fn spans_are_said_in_their_two_largest_units() {
        let spans = [12_000, 2_700_000, 3_600_000, 83_400_000, 183_600_000].map(span);
        assert_eq!(spans, ["12 s", "45 min", "1 h", "23 h 10 min", "2 d 3 h"]);
    }
}
