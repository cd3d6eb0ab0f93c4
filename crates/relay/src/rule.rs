//! One-off rules: a fault for the next few exchanges that match. And the header that a caller asks with.

use serde::{Deserialize, Serialize};

use crate::{Fault, Phase, RelayError, Upstream};

/// A fault for the next `times` exchanges that match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// How many exchanges it strikes before it is forgotten.
    #[serde(default = "once")]
    pub times: u32,
    /// Which exchanges; left out: every one.
    #[serde(default)]
    pub matches: Match,
    pub fault: Fault,
}

/// What an exchange must have; what is left out is not asked. An SMTP message has none of these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    #[serde(default)]
    pub method: Option<String>,
    /// Compared with the path as the caller sent it, with its query.
    #[serde(default)]
    pub path_prefix: Option<String>,
    #[serde(default)]
    pub header: Option<HeaderMatch>,
}

/// A header that must be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderMatch {
    /// Compared whatever its case.
    pub name: String,
    /// Compared exactly; left out: any value.
    #[serde(default)]
    pub value: Option<String>,
}

/// What of an exchange a rule can ask about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
}

/// What a fault header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderFault {
    pub(crate) fault: Fault,
    /// At most so many requests with the same method, path and header; none: every one.
    pub(crate) times: Option<u32>,
}

const fn once() -> u32 {
    1
}

impl Rule {
    /// A rule for the next exchange, whichever it is.
    #[must_use]
    pub fn next(fault: Fault) -> Self {
        Self { times: 1, matches: Match::default(), fault }
    }

    /// Refuses a rule that can never strike.
    pub(crate) fn check(&self, upstream: &Upstream) -> Result<(), RelayError> {
        if self.times == 0 {
            return Err(RelayError::BadRule("times is 0"));
        }
        let is_smtp = matches!(upstream, Upstream::Smtp { .. });
        if is_smtp && self.matches != Match::default() {
            return Err(RelayError::BadRule("a message over SMTP has no method, path or header to match"));
        }
        Ok(())
    }
}

impl Match {
    pub(crate) fn fits(&self, asked: &Asked) -> bool {
        self.method.as_ref().is_none_or(|method| method.eq_ignore_ascii_case(&asked.method))
            && self.path_prefix.as_ref().is_none_or(|prefix| asked.path.starts_with(prefix.as_str()))
            && self.header.as_ref().is_none_or(|header| header.fits(asked))
    }
}

impl HeaderMatch {
    fn fits(&self, asked: &Asked) -> bool {
        let same = |(name, _): &&(String, Vec<u8>)| name.eq_ignore_ascii_case(&self.name);
        let mut values = asked.headers.iter().filter(same).map(|(_, value)| value);
        match &self.value {
            None => values.next().is_some(),
            Some(wanted) => values.any(|value| value == wanted.as_bytes()),
        }
    }
}

impl HeaderFault {
    /// Reads `WORD`, then `; times=N` and `; phase=WORD` in any order.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut parts = text.split(';').map(str::trim);
        let word = parts.next().unwrap_or_default();
        let mut said = Self { fault: word.parse().map_err(|e: crate::UnknownFault| e.to_string())?, times: None };
        for part in parts {
            match part.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some(("times", n)) => said.times = Some(n.parse().map_err(|_| format!("times={n:?} is no number"))?),
                Some(("phase", phase)) => said.fault = with_phase(said.fault, phase)?,
                _ => return Err(format!("{part:?} is neither times=N nor phase=WORD")),
            }
        }
        Ok(said)
    }
}

fn with_phase(fault: Fault, word: &str) -> Result<Fault, String> {
    let phase = Phase::of(word).ok_or_else(|| format!("{word:?} is no phase"))?;
    fault.at(phase).ok_or_else(|| format!("{fault} has no phase"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Asked {
        let headers = vec![("X-Case".to_owned(), b"7".to_vec())];
        Asked { method: "POST".to_owned(), path: "/refunds?x=1".to_owned(), headers }
    }

    #[test]
    fn a_rule_asks_only_about_what_it_names() {
        let header = |value: Option<&str>| HeaderMatch { name: "x-case".to_owned(), value: value.map(str::to_owned) };
        let by = |method: Option<&str>, path: Option<&str>, header: Option<HeaderMatch>| Match {
            method: method.map(str::to_owned),
            path_prefix: path.map(str::to_owned),
            header,
        };

        assert!(Match::default().fits(&asked()));
        assert!(by(Some("post"), Some("/refunds"), Some(header(Some("7")))).fits(&asked()));
        assert!(by(None, None, Some(header(None))).fits(&asked()));
        for other in [by(Some("GET"), None, None), by(None, Some("/x"), None), by(None, None, Some(header(Some("8"))))]
        {
            assert!(!other.fits(&asked()), "{other:?}");
        }
    }

    #[test]
    fn the_header_names_a_fault_how_often_and_where() {
        let read = |text| HeaderFault::read(text).unwrap();

        assert_eq!(read("duplicate"), HeaderFault { fault: Fault::Duplicate, times: None });
        assert_eq!(
            read("forward-then-drop-response; times=2"),
            HeaderFault { fault: Fault::ForwardThenDropResponse, times: Some(2) }
        );
        assert_eq!(
            read("reset;phase=mid-answer ; times = 1"),
            HeaderFault { fault: Fault::Reset(Phase::MidAnswer), times: Some(1) }
        );
    }

    #[test]
    fn a_header_that_cannot_be_read_says_what_is_wrong() {
        for bad in ["", "drop", "duplicate; times=x", "duplicate; phase=mid-answer", "reset; phase=late", "reset; x"] {
            assert!(HeaderFault::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_rule_that_can_never_strike_is_refused() {
        let smtp = Upstream::smtp("127.0.0.1:25").unwrap();
        let http = Upstream::http("http://127.0.0.1").unwrap();
        let never = Rule { times: 0, ..Rule::next(Fault::Duplicate) };
        let by_method = Match { method: Some("POST".to_owned()), ..Match::default() };
        let posts = Rule { matches: by_method, ..Rule::next(Fault::Duplicate) };

        assert!(never.check(&http).is_err() && posts.check(&smtp).is_err());
        assert!(posts.check(&http).is_ok() && Rule::next(Fault::Duplicate).check(&smtp).is_ok());
    }
}
