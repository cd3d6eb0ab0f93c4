//! What an item saw, fact by fact, and the verdict that follows from the facts. A fact says what was seen, not what was
//! hoped for, so that a reader can judge for themselves.

use serde::Serialize;

use crate::{house::HouseError, http::NoAnswer};

/// What came of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    /// Something was seen that must not be.
    Fail,
    /// It could not be judged here. Not a pass.
    NotApplicable,
    /// It was tried and broke off. Not a pass either.
    Error,
}

impl Verdict {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotApplicable => "not_applicable",
            Self::Error => "error",
        }
    }
}

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// False if it must not be so.
    pub holds: bool,
    pub seen: String,
}

/// Why an item ended before its last fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    NotApplicable(String),
    Error(String),
}

impl From<NoAnswer> for Stop {
    fn from(error: NoAnswer) -> Self {
        Self::Error(error.to_string())
    }
}

impl From<HouseError> for Stop {
    fn from(error: HouseError) -> Self {
        Self::Error(error.to_string())
    }
}

pub(crate) type Done<T = ()> = Result<T, Stop>;

/// The facts of one item, as they come.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    facts: Vec<Fact>,
    judged: usize,
}

impl Evidence {
    /// Something that is told and not judged.
    pub(crate) fn note(&mut self, seen: impl Into<String>) {
        self.facts.push(Fact { holds: true, seen: seen.into() });
    }

    /// A fact, and whether it is as it must be.
    pub(crate) fn check(&mut self, holds: bool, seen: impl Into<String>) -> bool {
        self.judged += 1;
        self.facts.push(Fact { holds, seen: seen.into() });
        holds
    }

    /// A count, and what it must be.
    pub(crate) fn count(&mut self, what: &str, seen: usize, wanted: usize) -> bool {
        let must = if seen == wanted { String::new() } else { format!(" (must be {wanted})") };
        self.check(seen == wanted, format!("{what}: {seen}{must}"))
    }

    /// A word, and what it must be.
    pub(crate) fn word(&mut self, what: &str, seen: &str, wanted: &[&str]) -> bool {
        let holds = wanted.contains(&seen);
        let must = if holds { String::new() } else { format!(" (must be {})", wanted.join(" or ")) };
        self.check(holds, format!("{what}: {seen}{must}"))
    }

    /// The verdict, the facts, and why it stopped. A fact that must not be so outweighs an error after it; an item that
    /// judged nothing has shown nothing.
    pub(crate) fn close(self, done: Done) -> (Verdict, Option<String>, Vec<Fact>) {
        let broken = self.facts.iter().find(|fact| !fact.holds).map(|fact| fact.seen.clone());
        let (verdict, reason) = match (broken, done) {
            (Some(seen), Err(Stop::Error(error))) => {
                (Verdict::Fail, Some(format!("{seen}; then it broke off: {error}")))
            }
            (Some(seen), _) => (Verdict::Fail, Some(seen)),
            (None, Err(Stop::Error(error))) => (Verdict::Error, Some(error)),
            (None, Err(Stop::NotApplicable(why))) => (Verdict::NotApplicable, Some(why)),
            (None, Ok(())) if self.judged == 0 => (Verdict::Error, Some("nothing was judged".to_owned())),
            (None, Ok(())) => (Verdict::Pass, None),
        };
        (verdict, reason, self.facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fact_that_must_not_be_turns_the_item_red() {
        let mut seen = Evidence::default();
        seen.count("effects", 1, 1);
        seen.count("effects", 2, 1);

        let (verdict, reason, facts) = seen.close(Ok(()));

        assert_eq!((verdict, facts.len()), (Verdict::Fail, 2));
        assert_eq!(reason.as_deref(), Some("effects: 2 (must be 1)"));
    }

    #[test]
    fn an_item_that_judged_nothing_is_no_pass() {
        let mut seen = Evidence::default();
        seen.note("looked");

        assert_eq!(seen.close(Ok(())).0, Verdict::Error);
    }

    #[test]
    fn what_broke_off_after_a_broken_fact_is_red() {
        let mut seen = Evidence::default();
        seen.check(false, "two leases");

        assert_eq!(seen.close(Err(Stop::Error("no answer".into()))).0, Verdict::Fail);
    }
}
