//! Evaluation evidence: a measured number (an accuracy on a test set) that a flow demands before an effect may go by
//! itself. Read from a small JSON file that the user's evaluation writes:
//!
//! `{"name": "label-accuracy", "value": 0.981, "threshold": 0.97, "valid_until": "2027-01-31T00:00:00Z"}`
//!
//! `threshold` may be left out; other members are the user's own. Whatever is missing, late or odd is not met. Reading
//! the file and knowing the time is the caller's part.

use serde_json::Value;

use crate::json;

/// An evidence file above this size is refused; the four members need about 150 bytes.
pub const EVIDENCE_BYTES_MAX: usize = 64 * 1024;

/// A measured number and how long it counts. Every number in it is finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    name: String,
    value: f64,
    threshold: Option<f64>,
    valid_until: i64,
}

/// Why the demanded evidence is not there. A person decides then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unmet {
    #[error("there is no evidence file")]
    Absent,
    #[error("the evidence file is malformed: {0}")]
    Malformed(String),
    #[error("the evidence is for another name than {wanted:?}")]
    OtherName { wanted: String },
    #[error("the threshold is not a finite number")]
    ThresholdOdd,
    #[error("the evidence expired: it was valid until {valid_until} and now is {now} (ms since 1970)")]
    Expired { valid_until: i64, now: i64 },
    #[error("the evidence has {value}, at least {threshold} is needed")]
    Below { value: f64, threshold: f64 },
}

/// Tells whether the evidence in a file's `bytes` (`None`: no such file) meets `threshold`.
///
/// Units: `now` is Unix milliseconds. Otherwise as [`Evidence::meets`].
pub fn meets(bytes: Option<&[u8]>, name: &str, threshold: f64, now: i64) -> Result<(), Unmet> {
    Evidence::read(bytes.ok_or(Unmet::Absent)?)?.meets(name, threshold, now)
}

impl Evidence {
    /// Reads evidence from a file's bytes.
    ///
    /// Errors: always [`Unmet::Malformed`], naming the member.
    pub fn read(bytes: &[u8]) -> Result<Evidence, Unmet> {
        if bytes.len() > EVIDENCE_BYTES_MAX {
            return Err(malformed(format!("{} bytes, the limit is {EVIDENCE_BYTES_MAX}", bytes.len())));
        }
        let file = json::parse(bytes).map_err(malformed)?.to_value();
        let members = file.as_object().ok_or_else(|| malformed("not an object"))?;
        let threshold = members.get("threshold").map(|value| number("threshold", Some(value))).transpose()?;
        Ok(Evidence {
            name: string("name", members.get("name"))?.to_owned(),
            value: number("value", members.get("value"))?,
            threshold,
            valid_until: moment("valid_until", members.get("valid_until"))?,
        })
    }

    /// Tells whether this is evidence for `name`, still valid at `now`, that reaches both `threshold` and the threshold
    /// it carries itself. The last millisecond before `valid_until` counts, `valid_until` does not.
    ///
    /// Errors: the first reason found why not.
    pub fn meets(&self, name: &str, threshold: f64, now: i64) -> Result<(), Unmet> {
        if self.name != name {
            return Err(Unmet::OtherName { wanted: name.to_owned() });
        }
        if !threshold.is_finite() {
            return Err(Unmet::ThresholdOdd);
        }
        if now >= self.valid_until {
            return Err(Unmet::Expired { valid_until: self.valid_until, now });
        }
        let threshold = self.threshold.map_or(threshold, |own| own.max(threshold));
        if self.value >= threshold { Ok(()) } else { Err(Unmet::Below { value: self.value, threshold }) }
    }
}

fn malformed(why: impl Into<String>) -> Unmet {
    Unmet::Malformed(why.into())
}

fn string<'a>(member: &str, value: Option<&'a Value>) -> Result<&'a str, Unmet> {
    value.and_then(Value::as_str).ok_or_else(|| malformed(format!("{member} is not a string")))
}

fn number(member: &str, value: Option<&Value>) -> Result<f64, Unmet> {
    let number = value.and_then(Value::as_f64).filter(|number| number.is_finite());
    number.ok_or_else(|| malformed(format!("{member} is not a finite number")))
}

fn moment(member: &str, value: Option<&Value>) -> Result<i64, Unmet> {
    let moment = string(member, value)?.parse::<jiff::Timestamp>();
    moment.map(|at| at.as_millisecond()).map_err(|_| malformed(format!("{member} is not an RFC 3339 time")))
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Unmet, meets};

    /// 2027-01-31T00:00:00Z
    const UNTIL: i64 = 1_801_353_600_000;

    fn file(value: &str) -> String {
        format!(r#"{{"name":"label-accuracy","value":{value},"valid_until":"2027-01-31T00:00:00Z","set":"v3"}}"#)
    }

    fn ask(text: &str, threshold: f64, now: i64) -> Result<(), Unmet> {
        meets(Some(text.as_bytes()), "label-accuracy", threshold, now)
    }

    #[test]
    fn evidence_at_or_above_the_threshold_is_met_until_it_expires() {
        assert_eq!(ask(&file("0.97"), 0.97, UNTIL - 1), Ok(()));
        assert_eq!(ask(&file("1"), 0.97, 0), Ok(()));
        assert_eq!(ask(&file("0.97"), 0.97, UNTIL), Err(Unmet::Expired { valid_until: UNTIL, now: UNTIL }));
        assert_eq!(ask(&file("0.969"), 0.97, 0), Err(Unmet::Below { value: 0.969, threshold: 0.97 }));
    }

    #[test]
    fn evidence_that_is_absent_or_for_another_name_is_not_met() {
        assert_eq!(meets(None, "label-accuracy", 0.5, 0), Err(Unmet::Absent));
        assert!(matches!(meets(Some(file("1").as_bytes()), "tone", 0.5, 0), Err(Unmet::OtherName { .. })));
    }

    #[test]
    fn the_stricter_of_both_thresholds_counts() {
        let strict = r#"{"name":"label-accuracy","value":0.9,"threshold":0.95,"valid_until":"2027-01-31T00:00:00Z"}"#;

        assert_eq!(ask(strict, 0.5, 0), Err(Unmet::Below { value: 0.9, threshold: 0.95 }));
        assert_eq!(ask(&strict.replace("0.95", "0.1"), 0.91, 0), Err(Unmet::Below { value: 0.9, threshold: 0.91 }));
    }

    #[test]
    fn a_threshold_that_is_no_number_is_never_met() {
        for threshold in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(ask(&file("1"), threshold, 0), Err(Unmet::ThresholdOdd));
        }
    }

    #[test]
    fn malformed_evidence_never_counts() {
        let odd = ["NaN", "Infinity", "1e999", "\"0.99\"", "null", "true", "[1]"].map(file);
        let rest =
            ["", "[]", "{}", "{\"name\":\"label-accuracy\"}", "null", "{\"name\":\"label-accuracy\",\"value\":1}"];
        let late = file("1").replace("2027-01-31T00:00:00Z", "next year");
        let odd_threshold = file("1").replace("\"set\":\"v3\"", "\"threshold\":\"0.1\"");

        for text in odd.iter().map(String::as_str).chain(rest).chain([late.as_str(), odd_threshold.as_str()]) {
            assert!(matches!(ask(text, 0.5, 0), Err(Unmet::Malformed(_))), "{text}");
        }
        assert!(matches!(Evidence::read(b"\xff"), Err(Unmet::Malformed(_))));
    }

    #[test]
    fn a_huge_evidence_file_is_refused_unread() {
        let text = format!("{}{}", file("1"), " ".repeat(super::EVIDENCE_BYTES_MAX));

        assert!(matches!(ask(&text, 0.5, 0), Err(Unmet::Malformed(_))));
    }
}
