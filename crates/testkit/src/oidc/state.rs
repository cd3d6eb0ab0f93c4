//! What the issuer knows and remembers.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{Fault, Someone, grant::Grant};

/// What was asked so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Requests by path.
    pub paths: BTreeMap<String, usize>,
    /// Sign-outs: the subject of the hint, if there was one that is ours.
    pub signed_out: Vec<Option<String>>,
}

impl Asked {
    /// How often a path was asked.
    #[must_use]
    pub fn times(&self, path: &str) -> usize {
        self.paths.get(path).copied().unwrap_or_default()
    }
}

pub(super) struct State {
    pub(super) persons: Vec<Someone>,
    /// The subject that is signed in without a page.
    pub(super) at_once: Option<String>,
    pub(super) fault: Option<Fault>,
    pub(super) grants: BTreeMap<String, Grant>,
    /// Access tokens by their subject.
    pub(super) tokens: BTreeMap<String, String>,
    pub(super) asked: Asked,
    pub(super) names_keys: bool,
    pub(super) groups_in_token: bool,
    pub(super) secret_in_form: bool,
    pub(super) delay: Duration,
    pub(super) time: Option<i64>,
    /// Which key signs.
    pub(super) generation: usize,
    made: u64,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            persons: Vec::new(),
            at_once: None,
            fault: None,
            grants: BTreeMap::new(),
            tokens: BTreeMap::new(),
            asked: Asked::default(),
            names_keys: true,
            groups_in_token: true,
            secret_in_form: false,
            delay: Duration::ZERO,
            time: None,
            generation: 0,
            made: 0,
        }
    }

    pub(super) fn rotate(&mut self) {
        self.generation += 1;
    }

    /// A word that was not used before. Guessable: this is a test's issuer.
    pub(super) fn fresh(&mut self, what: &str) -> String {
        self.made += 1;
        format!("{what}-{}", self.made)
    }

    pub(super) fn person(&self, sub: &str) -> Option<&Someone> {
        self.persons.iter().find(|person| person.sub == sub)
    }

    pub(super) fn lies(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    pub(super) fn now(&self) -> i64 {
        self.time.unwrap_or_else(machine_time)
    }
}

#[expect(clippy::disallowed_methods, reason = "a peer in a process of its own has the machine's clock")]
fn machine_time() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or_default()
}
