//! Who wants to hear of events, and what is on its way to them.

use effectgate_core::{
    event::EventKind,
    ids::{EventId, FlowName, SubscriptionId, Tenant},
    time::Timestamp,
};

/// One URL that events are sent to. Belongs to an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionRow {
    pub id: SubscriptionId,
    pub tenant: Tenant,
    /// The key's public id.
    pub api_key: String,
    pub url: String,
    pub events: Vec<EventKind>,
    /// Only of this flow; `None` means of all that the key may touch.
    pub flow: Option<FlowName>,
    pub created_at: Timestamp,
    pub going: Going,
}

/// How sending to a subscription goes. Not journalled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Going {
    /// The first failure since the last success.
    pub failing_since: Option<Timestamp>,
    /// The first of the answers in a row that said that nobody is there, and how many there were.
    pub gone_since: Option<Timestamp>,
    pub gone_count: i32,
    pub last_delivered_at: Option<Timestamp>,
}

/// A change of the subscriptions, made with its journal entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionWrite {
    /// Makes it, or replaces what is asked for; how sending goes stays.
    Put(SubscriptionRow),
    /// Drops it, with what is on its way. If it is not there, nothing is written, the entry neither.
    Drop(SubscriptionId),
}

/// One event on its way to one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    pub subscription: SubscriptionId,
    pub event: EventId,
    pub kind: EventKind,
    /// What is sent, as it is signed. Empty once the delivery is done.
    pub body: String,
    pub state: DeliveryState,
    pub attempts: i32,
    pub due_at: Timestamp,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    Pending,
    Sent,
    /// Tried for as long as it may be.
    GivenUp,
}

impl DeliveryState {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sent => "sent",
            Self::GivenUp => "given_up",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pending, Self::Sent, Self::GivenUp].into_iter().find(|s| s.as_str() == word)
    }
}

/// What the other side made of one try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Taken.
    Yes,
    /// Nobody is there: 404 or 410.
    Gone,
    /// Anything else.
    No,
}

impl Heard {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Gone => "gone",
            Self::No => "no",
        }
    }
}

/// How long a delivery that is done stays: a fan-out that is made again writes nothing. A notice is claimed for minutes,
/// so a day is more than any repeat of it takes.
pub(crate) const DELIVERED_KEPT_MS: i64 = 86_400_000;
