//! What a relay does to an exchange, and the words for it: the same in the flag, the environment, the header, the
//! control listener, the counts and the log.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What happens to one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The relay itself answers that it failed (HTTP 502, SMTP 421 or 451). No connection to the upstream is opened.
    FailBeforeForward,
    /// The whole request is forwarded, the whole answer is read and thrown away, the caller's connection is closed
    /// without a byte of it.
    ForwardThenDropResponse,
    /// No fault.
    ForwardAndRespond,
    /// The same request is forwarded twice, one after the other; the caller gets the first answer.
    Duplicate,
    /// The caller's connection is reset (RST).
    Reset(Phase),
    /// The caller's connection is closed (FIN).
    Close(Phase),
    /// Nothing more is said; the connection stays open until the caller leaves.
    Silence(Phase),
}

/// What a relay does to every exchange for which neither a header nor a rule says otherwise.
pub type Mode = Fault;

/// Where in an exchange a reset, a close or a silence strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Phase {
    /// The relay has the whole request, the upstream has nothing of it.
    BeforeForward,
    /// The upstream has answered in full, the caller has no byte of it.
    #[default]
    AfterForward,
    /// The upstream has answered in full, the caller has about half of it.
    MidAnswer,
}

/// A word that names no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no fault; there are {WORDS}")]
pub struct UnknownFault(pub String);

/// For messages: every word that names a fault.
const WORDS: &str = "fail-before-forward, forward-then-drop-response, forward-and-respond, duplicate, and reset, close \
    or silence, each with -before-forward, -after-forward (the default) or -mid-answer";

impl Fault {
    /// Every fault, in the order of the documentation.
    pub const ALL: [Self; 13] = [
        Self::FailBeforeForward,
        Self::ForwardThenDropResponse,
        Self::ForwardAndRespond,
        Self::Duplicate,
        Self::Reset(Phase::BeforeForward),
        Self::Reset(Phase::AfterForward),
        Self::Reset(Phase::MidAnswer),
        Self::Close(Phase::BeforeForward),
        Self::Close(Phase::AfterForward),
        Self::Close(Phase::MidAnswer),
        Self::Silence(Phase::BeforeForward),
        Self::Silence(Phase::AfterForward),
        Self::Silence(Phase::MidAnswer),
    ];

    /// The fault's one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::FailBeforeForward => "fail-before-forward",
            Self::ForwardThenDropResponse => "forward-then-drop-response",
            Self::ForwardAndRespond => "forward-and-respond",
            Self::Duplicate => "duplicate",
            Self::Reset(Phase::BeforeForward) => "reset-before-forward",
            Self::Reset(Phase::AfterForward) => "reset-after-forward",
            Self::Reset(Phase::MidAnswer) => "reset-mid-answer",
            Self::Close(Phase::BeforeForward) => "close-before-forward",
            Self::Close(Phase::AfterForward) => "close-after-forward",
            Self::Close(Phase::MidAnswer) => "close-mid-answer",
            Self::Silence(Phase::BeforeForward) => "silence-before-forward",
            Self::Silence(Phase::AfterForward) => "silence-after-forward",
            Self::Silence(Phase::MidAnswer) => "silence-mid-answer",
        }
    }

    /// The same fault at another phase; none for faults that have no phase.
    #[must_use]
    pub const fn at(self, phase: Phase) -> Option<Self> {
        match self {
            Self::Reset(_) => Some(Self::Reset(phase)),
            Self::Close(_) => Some(Self::Close(phase)),
            Self::Silence(_) => Some(Self::Silence(phase)),
            _ => None,
        }
    }
}

impl Phase {
    const ALL: [(Self, &'static str); 3] = [
        (Self::BeforeForward, "before-forward"),
        (Self::AfterForward, "after-forward"),
        (Self::MidAnswer, "mid-answer"),
    ];

    /// The phase of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == word).map(|(phase, _)| *phase)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Fault {
    type Err = UnknownFault;

    /// Reads a word. `reset`, `close` and `silence` alone mean after-forward.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let whole = match text {
            "reset" | "close" | "silence" => &format!("{text}-after-forward"),
            other => other,
        };
        let found = Self::ALL.into_iter().find(|fault| fault.word() == whole);
        found.ok_or_else(|| UnknownFault(text.chars().take(80).collect()))
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_names_the_fault_that_says_it() {
        for fault in Fault::ALL {
            assert_eq!(fault.word().parse(), Ok(fault));
        }
    }

    #[test]
    fn a_tcp_fault_without_a_phase_strikes_after_the_forward() {
        assert_eq!("reset".parse(), Ok(Fault::Reset(Phase::AfterForward)));
        assert_eq!("silence".parse(), Ok(Fault::Silence(Phase::AfterForward)));
    }

    #[test]
    fn other_words_are_refused_with_those_that_are_known() {
        for bad in ["", "drop", "Duplicate", "duplicate-mid-answer", "close-"] {
            let refused = bad.parse::<Fault>().unwrap_err();
            assert!(refused.to_string().contains("forward-then-drop-response"), "{bad}");
        }
    }
}
