//! A budget in words, for people who read why something waits.

use super::{Budget, Holder, Per};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

impl Budget {
    /// `provider pay, 10 an hour`, and what it is kept for each of.
    #[must_use]
    pub fn words(&self) -> String {
        let each = match (&self.holder, self.per) {
            (Holder::Provider(_), Per::Provider) | (Holder::Flow(_), Per::Flow) => String::new(),
            (_, per) => format!(" for each {}", per.as_str()),
        };
        format!("{}, {}{each}", self.whose_named(None), self.limit_words())
    }

    /// `10 an hour`, or `50000 of /amount a day`.
    #[must_use]
    pub fn limit_words(&self) -> String {
        let span = span_words(self.window_ms);
        match &self.amount {
            None => format!("{} {span}", self.max),
            Some(pointer) => format!("{} of {pointer} {span}", self.max),
        }
    }
}

/// `an hour`, `a day`, `every 90 s`.
#[must_use]
pub fn span_words(window_ms: i64) -> String {
    match window_ms {
        SECOND => "a second".into(),
        MINUTE => "a minute".into(),
        HOUR => "an hour".into(),
        DAY => "a day".into(),
        ms if ms % DAY == 0 => format!("every {} days", ms / DAY),
        ms if ms % HOUR == 0 => format!("every {} hours", ms / HOUR),
        ms if ms % MINUTE == 0 => format!("every {} minutes", ms / MINUTE),
        ms if ms % SECOND == 0 => format!("every {} s", ms / SECOND),
        ms => format!("every {ms} ms"),
    }
}
