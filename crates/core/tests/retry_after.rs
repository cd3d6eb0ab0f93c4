//! `Retry-After`: the table of the handed case HC-19, and what else providers send.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use effectgate_core::retry_after::parse;
use proptest::prelude::*;

const HOUR_MS: i64 = 3_600_000;
/// 2026-10-21T07:00:00Z, the clock of the table.
const NOW_MS: i64 = 1_792_566_000_000;

#[test]
fn hc_19_every_row_waits_as_the_table_says() {
    let table = include_str!("data/handed/hc19-retry-after.tsv");
    let mut rows = 0;

    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let now_ms = fields[1].parse::<jiff::Timestamp>().unwrap().as_millisecond();
        assert_eq!(now_ms, NOW_MS);
        let rule = fields[2];
        let leading = rule.split(' ').next().unwrap().parse::<u64>();
        let expected = match leading {
            Ok(seconds) => Some(seconds * 1000),
            Err(_) if rule.starts_with("capped") => Some(HOUR_MS as u64),
            Err(_) if rule.starts_with("ignore header") => None,
            Err(_) => panic!("{rule}"),
        };

        assert_eq!(parse(fields[0], now_ms, HOUR_MS), expected, "{}", fields[0]);
        rows += 1;
    }
    assert_eq!(rows, 9);
}

#[test]
fn what_is_neither_seconds_nor_a_date_is_no_wait() {
    for header in [
        "",
        " ",
        "-1",
        "+5",
        "1.5",
        "1e3",
        "NaN",
        "Infinity",
        "0x10",
        "5s",
        "1 2",
        "٥",
        "120, 120",
        "Wed",
        "2026-10-21T07:28:00Z",
    ] {
        assert_eq!(parse(header, NOW_MS, HOUR_MS), None, "{header}");
    }
}

#[test]
fn waits_are_capped_in_both_forms() {
    assert_eq!(parse("3601", NOW_MS, HOUR_MS), Some(3_600_000));
    assert_eq!(parse("Fri, 31 Dec 9999 23:59:59 GMT", NOW_MS, HOUR_MS), Some(3_600_000));
    assert_eq!(parse("18446744073709551615", NOW_MS, i64::MAX), Some(i64::MAX as u64));
    assert_eq!(parse(&"9".repeat(100_000), NOW_MS, HOUR_MS), Some(3_600_000));
    assert_eq!(parse("5", NOW_MS, -1), Some(0));
}

#[test]
fn space_around_the_value_is_no_part_of_it() {
    assert_eq!(parse(" 120\t", NOW_MS, HOUR_MS), Some(120_000));
}

#[test]
fn milliseconds_of_the_clock_count() {
    assert_eq!(parse("Wed, 21 Oct 2026 07:28:00 GMT", NOW_MS + 999, HOUR_MS), Some(1_679_001));
    assert_eq!(parse("Thu, 01 Jan 1970 00:00:00 GMT", i64::MIN, HOUR_MS), Some(3_600_000));
}

proptest! {
    #[test]
    fn no_header_waits_longer_than_the_cap(header in "\\PC{0,40}|[0-9]{1,30}", now in any::<i64>(), max in 0..i64::MAX) {
        if let Some(wait) = parse(&header, now, max) {
            prop_assert!(wait <= max as u64);
        }
    }
}
