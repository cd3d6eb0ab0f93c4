//! One line for each finished exchange. No body, no header value and no query: what passes through may be secret.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{By, Fault, limits};

/// One exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// 1 for the first exchange.
    pub number: u64,
    /// Milliseconds since the relay started, when the exchange ended.
    pub at_ms: u64,
    /// The request's method; `DATA` for a message over SMTP.
    pub method: String,
    /// The request's path without its query; empty over SMTP.
    pub path: String,
    pub fault: Fault,
    pub by: By,
    pub outcome: Outcome,
    /// What the upstream answered: the HTTP status or the SMTP reply's code.
    pub status: Option<u16>,
    /// What it answered to the second copy of a duplicate.
    pub second_status: Option<u16>,
    /// Bytes of the request's body on the wire, of one copy.
    pub request_bytes: u64,
    /// Bytes of the answer's body on the wire that the upstream sent.
    pub answer_bytes: u64,
}

/// How an exchange ended for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The caller got the whole answer.
    Answered,
    /// The caller got the first answer; the upstream had the request twice.
    Duplicated,
    /// The upstream's whole answer was withheld, or half of it.
    Dropped,
    /// Nothing was forwarded, because the fault says so.
    KeptBack,
    /// The relay refused the request itself: it cannot be read, or is too large. Nothing was forwarded whole.
    Refused,
    /// The upstream could not be reached.
    UpstreamUnreachable,
    /// The upstream ended the connection, or said nothing for too long, before it had answered in full.
    UpstreamCut,
    /// The caller left.
    CallerGone,
}

impl Outcome {
    /// The word in the log and on the terminal.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Duplicated => "duplicated",
            Self::Dropped => "dropped",
            Self::KeptBack => "kept_back",
            Self::Refused => "refused",
            Self::UpstreamUnreachable => "upstream_unreachable",
            Self::UpstreamCut => "upstream_cut",
            Self::CallerGone => "caller_gone",
        }
    }
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, method, path, fault, request_bytes, answer_bytes, .. } = self;
        write!(f, "{number} {method} {path} {fault}: {}", self.outcome.word())?;
        if let Some(status) = self.status {
            write!(f, ", upstream {status}")?;
        }
        if let Some(second) = self.second_status {
            write!(f, " then {second}")?;
        }
        write!(f, ", {request_bytes} bytes there, {answer_bytes} back")
    }
}

/// A path as the log keeps it: no query, nothing that steers a terminal, not too long.
pub(crate) fn path_of(target: &str) -> String {
    let path = target.split('?').next().unwrap_or_default();
    path.chars().take(limits::PATH_CHARS_MAX).map(|c| if c.is_ascii_graphic() { c } else { '?' }).collect()
}
