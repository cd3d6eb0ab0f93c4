//! Instants. Core never reads a clock: `now` is read once per request or tick and passed on.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// An instant in microseconds since 1970-01-01 UTC. On the wire RFC 3339 UTC with milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
    /// The instant `ms` milliseconds later; saturates at the ends of time.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms.saturating_mul(1_000)))
    }
    /// Milliseconds from `earlier` to here; negative if it is later.
    #[must_use]
    pub const fn ms_since(self, earlier: Self) -> i64 {
        (self.0.saturating_sub(earlier.0)).div_euclid(1_000)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.millis()) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => f.write_str(if self.0 < 0 { "-infinity" } else { "infinity" }),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = jiff::Error;
    /// Reads RFC 3339 with any offset.
    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.parse::<jiff::Timestamp>().map(|at| Self(at.as_microsecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_form_is_utc_with_milliseconds() {
        let at = Timestamp::from_micros(1_790_000_000_123_456);

        assert_eq!(at.to_string(), "2026-09-21T14:13:20.123Z");
        assert_eq!(at.to_string().parse::<Timestamp>().map(Timestamp::millis).ok(), Some(at.millis()));
    }
}
