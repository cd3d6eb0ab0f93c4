//! Which fault the next exchange gets: its own header first, then the first rule that fits, then the mode.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{
    FAULT_HEADER, Fault, Mode, RelayError, Rule, limits,
    rule::{Asked, HeaderFault},
};

/// Who asked for a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    Mode,
    Rule,
    Header,
}

/// What happens to one exchange, and who asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) fault: Fault,
    pub(crate) by: By,
}

pub(crate) struct Plan {
    mode: Mode,
    rules: Vec<Rule>,
    /// Does the header count?
    header_rules: bool,
    /// How often a header was honoured, by the request that carried it.
    header_uses: HashMap<String, u32>,
}

impl Plan {
    pub(crate) fn new(mode: Mode, header_rules: bool) -> Self {
        Self { mode, rules: Vec::new(), header_rules, header_uses: HashMap::new() }
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(crate) fn add_rule(&mut self, rule: Rule) -> Result<(), RelayError> {
        if self.rules.len() >= limits::RULES_MAX {
            return Err(RelayError::TooManyRules);
        }
        self.rules.push(rule);
        Ok(())
    }

    /// Forgets the rules, and how often headers were honoured.
    pub(crate) fn forget(&mut self) {
        self.rules.clear();
        self.header_uses.clear();
    }

    /// What [`Plan::choose`] would give, with nothing used up.
    pub(crate) fn foresee(&self, asked: &Asked) -> Fault {
        self.rules.iter().find(|rule| rule.matches.fits(asked)).map_or(self.mode, |rule| rule.fault)
    }

    /// Decides, and uses up one time of the rule or header that decided.
    ///
    /// # Errors
    /// What is wrong with the header.
    pub(crate) fn choose(&mut self, asked: &Asked) -> Result<Chosen, String> {
        if let Some(fault) = self.by_header(asked)? {
            return Ok(Chosen { fault, by: By::Header });
        }
        let Some(place) = self.rules.iter().position(|rule| rule.matches.fits(asked)) else {
            return Ok(Chosen { fault: self.mode, by: By::Mode });
        };
        let fault = self.rules[place].fault;
        self.rules[place].times -= 1;
        if self.rules[place].times == 0 {
            self.rules.remove(place);
        }
        Ok(Chosen { fault, by: By::Rule })
    }

    fn by_header(&mut self, asked: &Asked) -> Result<Option<Fault>, String> {
        let given = asked.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(FAULT_HEADER));
        let Some((_, value)) = given.filter(|_| self.header_rules) else { return Ok(None) };
        let text = String::from_utf8_lossy(value);
        let said = HeaderFault::read(&text)?;
        let Some(times) = said.times else { return Ok(Some(said.fault)) };
        let path = asked.path.split('?').next().unwrap_or_default();
        let request = format!("{} {path} {text}", asked.method);
        if self.header_uses.len() >= limits::HEADER_USES_MAX && !self.header_uses.contains_key(&request) {
            return Err("too many different requests carry a fault with times; forget them first".to_owned());
        }
        let used = self.header_uses.entry(request).or_default();
        if *used >= times {
            return Ok(None);
        }
        *used += 1;
        Ok(Some(said.fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Match;

    fn asked(path: &str, header: Option<&str>) -> Asked {
        let headers = header.map(|value| ("Effectgate-Fault".to_owned(), value.as_bytes().to_vec()));
        Asked { method: "POST".to_owned(), path: path.to_owned(), headers: headers.into_iter().collect() }
    }

    fn chosen(plan: &mut Plan, asked: &Asked) -> (Fault, By) {
        let chosen = plan.choose(asked).unwrap();
        (chosen.fault, chosen.by)
    }

    #[test]
    fn header_beats_rule_beats_mode() {
        let mut plan = Plan::new(Mode::ForwardAndRespond, true);
        plan.add_rule(Rule::next(Fault::Duplicate)).unwrap();

        assert_eq!(chosen(&mut plan, &asked("/", Some("fail-before-forward"))), (Fault::FailBeforeForward, By::Header));
        assert_eq!(chosen(&mut plan, &asked("/", None)), (Fault::Duplicate, By::Rule));
        assert_eq!(chosen(&mut plan, &asked("/", None)), (Fault::ForwardAndRespond, By::Mode));
    }

    #[test]
    fn a_rule_waits_for_the_exchange_it_names() {
        let mut plan = Plan::new(Mode::ForwardAndRespond, false);
        let matches = Match { path_prefix: Some("/refunds".to_owned()), ..Match::default() };
        plan.add_rule(Rule { times: 2, matches, fault: Fault::Duplicate }).unwrap();

        assert_eq!(plan.foresee(&asked("/refunds", None)), Fault::Duplicate);
        let faults = ["/notes", "/refunds/1", "/refunds/2", "/refunds/3"].map(|p| chosen(&mut plan, &asked(p, None)).0);

        let (plain, twice) = (Fault::ForwardAndRespond, Fault::Duplicate);
        assert_eq!(faults, [plain, twice, twice, plain]);
        assert!(plan.rules().is_empty());
    }

    #[test]
    fn a_header_with_times_strikes_so_often_for_the_same_request() {
        let mut plan = Plan::new(Mode::ForwardAndRespond, true);
        let first = asked("/refunds", Some("duplicate; times=1"));

        assert_eq!(chosen(&mut plan, &first).1, By::Header);
        assert_eq!(chosen(&mut plan, &first).1, By::Mode, "the caller's retry carries the same header");
        assert_eq!(chosen(&mut plan, &asked("/notes", Some("duplicate; times=1"))).1, By::Header);
        plan.forget();
        assert_eq!(chosen(&mut plan, &first).1, By::Header);
    }

    #[test]
    fn a_header_counts_for_nothing_where_it_is_not_honoured() {
        let mut plan = Plan::new(Mode::ForwardAndRespond, false);

        assert_eq!(chosen(&mut plan, &asked("/", Some("nonsense"))), (Fault::ForwardAndRespond, By::Mode));
    }
}
