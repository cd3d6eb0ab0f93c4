//! A notice: something people are to be told, delivered by mail or chat. Written in the transaction of what it tells
//! of; sent afterwards, at least once. A notice is not an effect: telling someone twice harms nobody.

use serde::{Deserialize, Serialize};

use crate::{event::Event, ids::ApprovalId, time::Timestamp};

/// What a notice is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NoticeKind {
    /// Ask the audience to decide. The token is minted when the notice is sent, so none lies in the database.
    ApprovalRequest { approval: ApprovalId, audience: Vec<String>, urgency: Urgency },
    /// Ask those of the audience who could not be told when the others were.
    ApprovalRest { approval: ApprovalId, audience: Vec<String>, urgency: Urgency },
    /// Tell those who were asked that it ended, because nobody decided.
    ApprovalClosed { approval: ApprovalId, audience: Vec<String> },
    /// Tell an execution that waits for an approval of its end, at the place with this number. The notifier makes a run of
    /// it, whose effect is the call.
    Resume { approval: ApprovalId, n: u32 },
    /// Something went wrong or wants a look.
    Alert { alert: Alert, detail: String },
    /// For subscriptions, not for people: what happened at that moment.
    Events { at: Timestamp, events: Vec<Event> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    First,
    Reminder,
    Escalation,
    /// The effects are not the ones that were asked about before: somebody edited them.
    Edited,
}

/// The alerts of SPEC section 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alert {
    Stuck,
    Takeover,
    Conflict,
    Review,
    Undeliverable,
    Exhausted,
    CircuitOpen,
    Switch,
    ContraryReport,
    InvalidOutput,
    /// Sign-ins were refused so often that the next ones wait.
    Lockout,
    /// A budget is used up, and effects wait for its next window.
    Budget,
}

impl Alert {
    pub const ALL: [Self; 12] = [
        Self::Stuck,
        Self::Takeover,
        Self::Conflict,
        Self::Review,
        Self::Undeliverable,
        Self::Exhausted,
        Self::CircuitOpen,
        Self::Switch,
        Self::ContraryReport,
        Self::InvalidOutput,
        Self::Lockout,
        Self::Budget,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stuck => "stuck",
            Self::Takeover => "takeover",
            Self::Conflict => "conflict",
            Self::Review => "review",
            Self::Undeliverable => "undeliverable",
            Self::Exhausted => "exhausted",
            Self::CircuitOpen => "circuit_open",
            Self::Switch => "switch",
            Self::ContraryReport => "contrary_report",
            Self::InvalidOutput => "invalid_output",
            Self::Lockout => "lockout",
            Self::Budget => "budget",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|alert| alert.as_str() == word)
    }
}

/// Notices of one entry at most; what a notice's number is made with.
pub(crate) const NOTICES_MAX: i64 = 16;

/// One notice to deliver. Its identity within the run is the journal entry it belongs to and its place there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Unique within the run: the entry's number times 16 plus the place.
    pub n: i64,
    pub kind: NoticeKind,
    /// Notices with the same word are sent once within the alert's dedupe time.
    pub dedupe: String,
    pub due_at: Timestamp,
    pub attempts: i32,
    pub state: NoticeState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeState {
    Pending,
    Sent,
    /// Given up; raises an alert and shows in the inbox.
    Undeliverable,
}

impl NoticeState {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sent => "sent",
            Self::Undeliverable => "undeliverable",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pending, Self::Sent, Self::Undeliverable].into_iter().find(|s| s.as_str() == word)
    }
}

/// The place of [`NoticeKind::Resume`] at an entry: others count up from 0 and are a few.
pub const RESUME_PLACE: u8 = 8;

impl Notice {
    /// A notice that belongs to the entry with number `seq`.
    #[must_use]
    pub fn new(seq: i64, place: u8, kind: NoticeKind, dedupe: impl Into<String>, now: Timestamp) -> Self {
        let n = seq * NOTICES_MAX + i64::from(place);
        Self { n, kind, dedupe: dedupe.into(), due_at: now, attempts: 0, state: NoticeState::Pending }
    }
}
