//! HC-43, the hour that comes twice: instants in, readings out, and the one reading that a person types.

use effectgate_core::time::Timestamp;
use effectgate_lang::{Language, Zone, when};

const CASES: &str = include_str!("data/hc43-times.tsv");

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap_or_else(|| panic!("{name} is a zone"))
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap_or_else(|_| panic!("{text} is an instant"))
}

/// The handed rows: zone, rule, instants.
fn rows() -> Vec<Vec<&'static str>> {
    CASES.lines().skip(1).map(|line| line.split('\t').collect()).collect()
}

#[test]
fn hc_43_both_instants_of_the_doubled_hour_read_differently() {
    for row in rows().iter().filter(|row| row[2].ends_with("read 02:30") || row[2].ends_with("read 01:30")) {
        let zone = zone(row[0]);
        let instants: Vec<Timestamp> = row[2].split(' ').filter(|word| word.ends_with('Z')).map(at).collect();
        let read: Vec<String> = instants.iter().map(|&at| when(at, &zone, Language::En)).collect();

        assert_eq!(read.len(), 2);
        let clock = row[1].trim_start_matches("daily ");
        assert!(read.iter().all(|text| text.contains(clock) && text.contains(row[0])), "{read:?}");
        assert_ne!(read[0], read[1], "the offset tells them apart");
    }
}

#[test]
fn hc_43_a_moment_names_its_zone_and_its_offset() {
    let read = |text, name: &str| when(at(text), &zone(name), Language::En);

    assert_eq!(read("2026-10-25T00:30:00Z", "Europe/Stockholm"), "2026-10-25 02:30 Europe/Stockholm (UTC+02:00)");
    assert_eq!(read("2026-10-25T01:30:00Z", "Europe/Stockholm"), "2026-10-25 02:30 Europe/Stockholm (UTC+01:00)");
    assert_eq!(read("2026-11-01T05:30:00Z", "America/New_York"), "2026-11-01 01:30 America/New_York (UTC−04:00)");
    assert_eq!(read("2026-11-01T05:30:00Z", "Asia/Kolkata"), "2026-11-01 11:00 Asia/Kolkata (UTC+05:30)");
    assert_eq!(read("2026-11-01T05:30:00Z", "UTC"), "2026-11-01 05:30 UTC");
}

#[test]
fn hc_43_a_typed_deadline_is_one_instant_the_first_of_the_two() {
    let row = rows().into_iter().find(|row| row[1].starts_with("deadline")).expect("the third row");
    let typed = row[1].trim_start_matches("deadline ").split('"').nth(1).expect("the quoted moment");

    assert_eq!(zone(row[0]).instant(typed), Some(at("2026-10-25T00:30:00Z")));
}

#[test]
fn hc_43_an_hour_that_does_not_come_is_read_with_the_offset_before_it() {
    assert_eq!(zone("Europe/Stockholm").instant("2026-03-29 02:30"), Some(at("2026-03-29T01:30:00Z")));
}

#[test]
fn hc_43_an_offset_that_was_typed_holds() {
    let stockholm = zone("Europe/Stockholm");
    assert_eq!(stockholm.instant("2026-10-25T02:30+01:00"), Some(at("2026-10-25T01:30:00Z")));
    assert_eq!(stockholm.instant("2026-10-25T02:30:00Z"), Some(at("2026-10-25T02:30:00Z")));
    assert_eq!(stockholm.instant(" 2026-10-25 "), Some(at("2026-10-24T22:00:00Z")));
    for bad in ["", "soon", "2026-13-01", "2026-10-25 25:00", "10/25/2026"] {
        assert_eq!(stockholm.instant(bad), None, "{bad}");
    }
}

/// Minute by minute through both nights, in every zone of the database: no two instants read the same.
#[test]
fn hc_43_no_reading_stands_for_two_instants() {
    for name in Zone::names() {
        let zone = zone(&name);
        for night in ["2026-03-28T22:00:00Z", "2026-10-24T22:00:00Z", "2026-11-01T04:00:00Z"] {
            let first = at(night);
            let read: Vec<String> = (0..24).map(|n| when(first.plus_ms(n * 900_000), &zone, Language::En)).collect();
            let distinct: std::collections::BTreeSet<&String> = read.iter().collect();
            assert_eq!(distinct.len(), read.len(), "{name} {night}");
        }
    }
}

#[test]
fn the_database_is_compiled_in() {
    let names: Vec<String> = Zone::names().collect();
    assert_eq!(names.first().map(String::as_str), Some("UTC"));
    assert!(names.len() > 300, "{}", names.len());
    assert_eq!(Zone::parse("europe/stockholm").map(|z| z.name().to_owned()).as_deref(), Some("Europe/Stockholm"));
    assert!(Zone::parse("Mars/Olympus").is_none() && Zone::parse("../etc/passwd").is_none());
    assert_eq!(Zone::pick(Some("Mars/Olympus")), Zone::utc());
}

#[test]
fn a_moment_in_persian_runs_left_to_right() {
    let text = when(at("2026-10-25T00:30:00Z"), &Zone::utc(), Language::Fa);
    assert_eq!(text, "\u{2066}2026-10-25 00:30 UTC\u{2069}");
}

#[test]
fn the_ends_of_time_do_not_panic() {
    for micros in [i64::MIN, i64::MAX] {
        assert!(!when(Timestamp::from_micros(micros), &zone("Asia/Tehran"), Language::Ru).is_empty());
    }
}
