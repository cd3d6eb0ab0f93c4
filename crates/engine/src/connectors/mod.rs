//! The real connectors, on top of [`crate::connect`]: HTTP, SMTP, and those of the house. They turn an effect into the exact bytes of one
//! attempt, and a provider's answer to a question into a [`Look`](effectgate_core::retry::Look).
//!
//! Settings are plain data; `new` judges all of them and lists every fault, so that the config room can say them at
//! once. Nothing here decides, repeats or reads a file. Journey (a) passes through `attempt`, reconciling through `look`.

mod door;
mod executions;
mod http;
mod key;
mod lookup;
mod record;
mod request;
mod resume;
mod smtp;

pub use door::DoorSettings;
pub use http::{Auth, HttpConnector, HttpSettings};
pub use key::KeyPlace;
pub use lookup::{LookupMethod, LookupSettings, MemberIs};
pub use record::RecordConnector;
pub use request::{Content, RequestSettings, WriteMethod};
pub use resume::ResumeConnector;
pub use smtp::{SmtpConnector, SmtpSettings, letter_domain};

/// A setting that cannot be used. `member` is the path inside the provider's section, such as `effects.refund.path`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {what}. {advice}")]
pub struct SettingError {
    pub member: String,
    /// What is wrong, without secrets.
    pub what: String,
    /// What to change, one sentence.
    pub advice: String,
}

impl SettingError {
    pub(crate) fn new(member: impl Into<String>, what: impl ToString, advice: &str) -> Self {
        Self { member: member.into(), what: what.to_string(), advice: advice.to_owned() }
    }
}

/// Collects faults so that all of them are told at once.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<SettingError>);

impl Faults {
    pub(crate) fn add(&mut self, member: impl Into<String>, what: impl ToString, advice: &str) {
        self.0.push(SettingError::new(member, what, advice));
    }

    /// The value, or the fault kept and nothing.
    pub(crate) fn keep<T>(&mut self, result: Result<T, SettingError>) -> Option<T> {
        result.map_err(|fault| self.0.push(fault)).ok()
    }

    /// Every fault, or the value that is whole because there was none.
    pub(crate) fn or<T>(self, value: Option<T>) -> Result<T, Vec<SettingError>> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self.0),
        }
    }
}
