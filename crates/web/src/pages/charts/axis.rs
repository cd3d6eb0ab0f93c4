//! The upright axis: round steps for counts and shares, the steps that clocks have for waits, and values in words.

use crate::pages::time::span;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Count,
    /// 0 to 1, shown in percent.
    Share,
    /// Milliseconds.
    Wait,
}

/// Lines across; more is a grid to read instead of a chart.
const STEPS_MAX: f64 = 4.0;
const SECOND: f64 = 1_000.0;
const MINUTE: f64 = 60.0 * SECOND;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;
/// Steps that a reader of clocks and calendars counts in.
const WAITS: [f64; 21] = [
    SECOND,
    2.0 * SECOND,
    5.0 * SECOND,
    10.0 * SECOND,
    15.0 * SECOND,
    30.0 * SECOND,
    MINUTE,
    2.0 * MINUTE,
    5.0 * MINUTE,
    10.0 * MINUTE,
    15.0 * MINUTE,
    30.0 * MINUTE,
    HOUR,
    2.0 * HOUR,
    3.0 * HOUR,
    6.0 * HOUR,
    12.0 * HOUR,
    DAY,
    2.0 * DAY,
    7.0 * DAY,
    30.0 * DAY,
];

/// The values at which lines are drawn, from zero to the first that is not below `highest`.
pub(crate) fn ticks(unit: Unit, highest: f64) -> Vec<f64> {
    let step = match unit {
        Unit::Count => round_step(highest / STEPS_MAX).max(1.0),
        // Not finer than whole percents: below them is noise. Rounded up, because 0.01 is not exact.
        Unit::Share => round_step(highest * 100.0 / STEPS_MAX).max(1.0) / 100.0,
        Unit::Wait => wait_step(highest / STEPS_MAX),
    };
    let highest = if unit == Unit::Share { highest.min(1.0) } else { highest };
    let steps = (highest / step - 1e-9).ceil().max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a few")]
    let steps = steps.min(100.0) as u32;
    (0..=steps).map(|i| f64::from(i) * step).collect()
}

/// 1, 2 or 5 times a power of ten, not below the wish.
fn round_step(wish: f64) -> f64 {
    if wish <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(wish.log10().floor());
    let found = [1.0, 2.0, 5.0].into_iter().map(|n| n * power).find(|step| *step >= wish - power * 1e-9);
    found.unwrap_or(10.0 * power)
}

fn wait_step(wish: f64) -> f64 {
    WAITS.into_iter().find(|step| *step >= wish).unwrap_or_else(|| round_step(wish / DAY) * DAY)
}

/// For the axis.
pub(crate) fn short(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Count if value >= 1e6 => format!("{} M", rounded(value / 1e6)),
        Unit::Count if value >= 1e4 => format!("{} k", rounded(value / 1e3)),
        Unit::Count => rounded(value),
        Unit::Share => format!("{} %", rounded(value * 100.0)),
        Unit::Wait if value <= 0.0 => "0".into(),
        Unit::Wait => long(unit, value),
    }
}

/// For the table and the marks.
pub(crate) fn long(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Count => rounded(value),
        Unit::Share => format!("{:.1} %", value * 100.0),
        #[expect(clippy::cast_possible_truncation, reason = "milliseconds of a wait")]
        Unit::Wait if value < SECOND => format!("{} ms", value.round() as i64),
        #[expect(clippy::cast_possible_truncation, reason = "milliseconds of a wait")]
        Unit::Wait => span(value.round() as i64),
    }
}

fn rounded(value: f64) -> String {
    format!("{}", (value * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(unit: Unit, highest: f64) -> Vec<String> {
        ticks(unit, highest).into_iter().map(|tick| short(unit, tick)).collect()
    }

    #[test]
    fn an_axis_has_round_numbers_and_ends_at_or_above_the_highest_value() {
        assert_eq!(said(Unit::Count, 0.0), ["0", "1"]);
        assert_eq!(said(Unit::Count, 3.0), ["0", "1", "2", "3"]);
        assert_eq!(said(Unit::Count, 17.0), ["0", "5", "10", "15", "20"]);
        assert_eq!(said(Unit::Count, 123_456.0), ["0", "50 k", "100 k", "150 k"]);
        assert_eq!(said(Unit::Share, 0.003), ["0 %", "1 %"]);
        assert_eq!(said(Unit::Share, 0.07), ["0 %", "2 %", "4 %", "6 %", "8 %"]);
        assert_eq!(said(Unit::Share, 1.0), ["0 %", "50 %", "100 %"]);
        assert_eq!(said(Unit::Wait, 14.0 * HOUR), ["0", "6 h", "12 h", "18 h"]);
        assert_eq!(said(Unit::Wait, 40.0), ["0", "1 s"]);
        assert_eq!(said(Unit::Wait, 400.0 * DAY), ["0", "100 d", "200 d", "300 d", "400 d"]);
    }

    #[test]
    fn no_axis_has_more_than_a_handful_of_lines() {
        let mut highest = 1e-4;
        while highest < 1e12 {
            for unit in [Unit::Count, Unit::Share, Unit::Wait] {
                let ticks = ticks(unit, highest);
                let end = ticks[ticks.len() - 1];
                assert!((2..=6).contains(&ticks.len()), "{unit:?} {highest}: {ticks:?}");
                assert!(end >= highest.min(if unit == Unit::Share { 1.0 } else { f64::MAX }) - 1e-9);
            }
            highest *= 1.37;
        }
    }
}
