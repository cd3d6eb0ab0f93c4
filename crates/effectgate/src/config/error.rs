//! What is wrong with a config, in three parts: where, what, and what to change. All faults are told at once, because a
//! config mended one fault at a time is started ten times.

use std::fmt;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigError {
    /// The member, as in `flows.ticket-reply.lease_ms`; empty for the file as a whole.
    pub(crate) path: String,
    /// What is wrong, without secrets.
    pub(crate) what: String,
    /// What to change: one sentence.
    pub(crate) advice: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}. {}", self.what, self.advice)
    }
}

/// Every fault that was found; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) struct ConfigErrors(pub(crate) Vec<ConfigError>);

impl ConfigErrors {
    pub(crate) fn one(path: impl Into<String>, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self(vec![ConfigError { path: path.into(), what: what.into(), advice: advice.into() }])
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}
