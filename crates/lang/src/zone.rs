//! Zones and moments. A moment is an instant; what a person reads is its reading in their zone, with the offset beside
//! the zone's name, so that the hour that comes twice is not ambiguous (HC-43).
//!
//! The product runs nothing by local time: every schedule is an instant or a span, so no night of a change of clocks
//! runs anything twice or leaves it out.

use std::fmt;

use effectgate_core::time::Timestamp;
use jiff::tz::{self, TimeZone};

use crate::Language;

/// A zone of the IANA database that is compiled in. Default UTC.
#[derive(Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    #[must_use]
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The zone with this name, such as `Europe/Stockholm`, in any case. `None` if the database has none.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("UTC") {
            return Some(Self::utc());
        }
        tz::db().get(name).ok().map(Self)
    }

    /// The setting's zone, or UTC where there is none that can be used.
    #[must_use]
    pub fn pick(setting: Option<&str>) -> Self {
        setting.and_then(Self::parse).unwrap_or_default()
    }

    #[must_use]
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Every zone by name, for a list to choose from: UTC first, then by the alphabet.
    pub fn names() -> impl Iterator<Item = String> {
        let named = tz::db().available().map(|name| name.as_str().to_owned());
        let mut names: Vec<String> = named.filter(|name| name.contains('/') && !name.starts_with("Etc/")).collect();
        names.sort_unstable();
        std::iter::once("UTC".to_owned()).chain(names)
    }

    /// The instant that somebody in this zone means by `2026-10-25 02:30` (also with `T`, with seconds, or a day
    /// alone: its first moment). Of an hour that comes twice the first is meant; one that does not come at all is
    /// read with the offset before it (RFC 5545 section 3.3.5). With an offset or `Z` in the text, that holds.
    /// `None` if it is no moment.
    #[must_use]
    pub fn instant(&self, typed: &str) -> Option<Timestamp> {
        let typed = typed.trim();
        if let Ok(at) = typed.parse::<Timestamp>() {
            return Some(at);
        }
        let local: jiff::civil::DateTime = typed.parse().ok()?;
        let at = self.0.to_ambiguous_timestamp(local).compatible().ok()?;
        Some(Timestamp::from_micros(at.as_microsecond()))
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::utc()
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A moment as a person in `zone` reads it: `2026-10-25 02:30 Europe/Stockholm (UTC+02:00)`, or `2026-10-25 00:30 UTC`.
/// The same order of year, month and day in every language; in one that runs right to left it is isolated as a piece
/// that runs left to right.
#[must_use]
pub fn when(at: Timestamp, zone: &Zone, language: Language) -> String {
    let text = reading(at, zone);
    if language.dir() == "rtl" { format!("\u{2066}{text}\u{2069}") } else { text }
}

fn reading(at: Timestamp, zone: &Zone) -> String {
    // Beyond the years that calendars know only the instant itself can be said.
    let Ok(instant) = jiff::Timestamp::from_microsecond(at.micros()) else { return at.to_string() };
    let offset = zone.0.to_offset(instant);
    let minute = offset.to_datetime(instant).strftime("%Y-%m-%d %H:%M").to_string();
    if *zone == Zone::utc() {
        format!("{minute} UTC")
    } else {
        format!("{minute} {zone} ({})", named(offset.seconds()))
    }
}

/// `UTC+05:30`; seconds only where a zone of old had them.
fn named(seconds: i32) -> String {
    let (sign, all) = if seconds < 0 { ('\u{2212}', seconds.unsigned_abs()) } else { ('+', seconds.unsigned_abs()) };
    let (hours, minutes, rest) = (all / 3_600, all / 60 % 60, all % 60);
    let rest = if rest == 0 { String::new() } else { format!(":{rest:02}") };
    format!("UTC{sign}{hours:02}:{minutes:02}{rest}")
}
