//! Spans and distances in words: the two largest units, with the plural forms of each language.

use effectgate_core::time::Timestamp;

use crate::{Language, Msg, Value, say};

/// A span by itself: `3 hours 10 minutes`, `12 seconds`. Units: milliseconds; a negative span is none.
#[must_use]
pub fn span(ms: i64, language: Language) -> String {
    units(ms, language, [Msg::SpanDays, Msg::SpanHours, Msg::SpanMinutes, Msg::SpanSeconds])
}

/// How far `at` is from `now`: `in 3 hours 10 minutes`, `5 minutes ago`, `now` within a second.
#[must_use]
pub fn relative(at: Timestamp, now: Timestamp, language: Language) -> String {
    let ms = at.ms_since(now);
    if ms.abs() < 1_000 {
        return say(language, Msg::RelativeNow, &[]);
    }
    let from = [Msg::FromDays, Msg::FromHours, Msg::FromMinutes, Msg::FromSeconds];
    let span = units(ms.saturating_abs(), language, from);
    let sentence = if ms > 0 { Msg::RelativeIn } else { Msg::RelativeAgo };
    say(language, sentence, &[("span", Value::Text(&span))])
}

/// The two largest units that are not nought. `words`: days, hours, minutes, seconds.
fn units(ms: i64, language: Language, words: [Msg; 4]) -> String {
    let seconds = ms.max(0) / 1_000;
    let counts = [seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60];
    let first = counts.iter().position(|&n| n > 0).unwrap_or(3);
    let one = |at: usize| say(language, words[at], &[("n", Value::Number(counts[at]))]);
    // Seconds beside minutes are noise: nobody decides by them.
    match counts.get(first + 1) {
        Some(&n) if n > 0 && first < 2 => {
            let (large, small) = (one(first), one(first + 1));
            say(language, Msg::SpanTwo, &[("large", Value::Text(&large)), ("small", Value::Text(&small))])
        }
        _ => one(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPANS: [i64; 5] = [12_000, 2_710_000, 3_600_000, 83_400_000, 183_600_000];

    #[test]
    fn spans_are_said_in_their_two_largest_units() {
        let en = ["12 seconds", "45 minutes", "1 hour", "23 hours 10 minutes", "2 days 3 hours"];
        assert_eq!(SPANS.map(|ms| span(ms, Language::En)), en);
    }

    #[test]
    fn russian_has_its_three_forms() {
        let hours = [1, 2, 5, 11, 21, 22, 23].map(|n| span(n * 3_600_000, Language::Ru));
        assert_eq!(hours, ["1 час", "2 часа", "5 часов", "11 часов", "21 час", "22 часа", "23 часа"]);
        assert_eq!(span(60_000, Language::Ru), "1 минута");
    }

    #[test]
    fn a_distance_has_the_case_that_its_language_wants() {
        let now = Timestamp::from_micros(1_790_000_000_000_000);
        let of = |ms, language| relative(now.plus_ms(ms), now, language);

        assert_eq!(of(60_000, Language::Ru), "через 1 минуту");
        assert_eq!(of(-183_600_000, Language::De), "vor 2 Tagen 3 Stunden");
        assert_eq!(of(11_400_000, Language::Sv), "om 3 timmar 10 minuter");
        assert_eq!(of(-300_000, Language::En), "5 minutes ago");
        assert_eq!(of(500, Language::En), "now");
        assert!(of(3_600_000, Language::Fa).contains('۱'));
    }

    #[test]
    fn the_ends_of_time_are_said_too() {
        let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        for language in Language::ALL {
            assert!(!relative(first, last, language).is_empty() && !relative(last, first, language).is_empty());
        }
    }
}
