//! What goes into the store and comes out of it, beside core's own words.

mod people;
mod replays;
mod subscriptions;

use effectgate_core::{
    approval::Approval,
    digest::Digest,
    effect::Effect,
    ids::{FlowName, ProviderName, RunId, Tenant},
    journal::{Head, SealedEntry},
    notice::Notice,
    run::{Lease, Run},
    switch::{Receipt, Switch},
    time::Timestamp,
    transition::ContentWrite,
};

pub use people::{
    INBOX_COUNT_MAX, INBOX_MEMBERS_MAX, INBOX_ROLES_MAX, InboxFilter, InboxOrder, JOURNAL_SEARCHED_MAX, JournalFilter,
    ProfileRow, ProfileSource, TallyRow,
};
pub use replays::{
    MATCHING_SCANNED_MAX, ReplayFound, ReplayItem, ReplayItemState, ReplayRow, ReplayStage, ReplayWrite,
};

pub(crate) use subscriptions::DELIVERED_KEPT_MS;
pub use subscriptions::{DeliveryRow, DeliveryState, Going, Heard, SubscriptionRow, SubscriptionWrite};

/// A run that is not there yet: its whole row, its first journal entry, its content.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// In state processing (with `lease_ms`), queued or quarantined (without); its head is the entry's.
    pub run: Run,
    pub lease_ms: Option<i64>,
    pub entry: SealedEntry,
    pub content: ContentWrite,
}

/// What came of a reservation.
#[derive(Debug, Clone)]
pub enum Reserved {
    /// The run is new and durable; its lease if one was asked for.
    Created { lease: Option<Lease> },
    /// The key exists: the run as it is, with its lease judged now.
    Exists { run: Box<Run>, lease: Option<Lease> },
}

/// What came of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commit {
    /// Durable. The run's lease after it, if the run is in processing.
    Committed { lease: Option<Lease> },
    /// Something the transition expected was not so; nothing was written. Load again to see what is there now.
    Lost,
    /// A count has no room for what the transition charges; nothing was written. Its window ends at `until`.
    OverBudget { scope: String, until: Timestamp },
}

/// What can be erased. Texts are as they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    pub payload: Option<String>,
    pub output: Option<String>,
    pub result: Option<String>,
    pub proposal: Option<String>,
}

/// How much of a budget has been charged in one window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeRow {
    pub scope: String,
    pub start: Timestamp,
    pub end: Timestamp,
    pub used: i64,
}

/// A run by tenant and id, for workers that go over all tenants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRef {
    pub tenant: Tenant,
    pub id: RunId,
}

/// An effect with the row of its run.
#[derive(Debug, Clone)]
pub struct DueEffect {
    pub run: Run,
    pub effect: Effect,
}

/// What may overtake a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOverdue {
    /// Processing, lease over, and nobody may simply claim it: attempts used up, or effects open.
    LeaseOver,
    /// Not final and unchanged since the moment: stuck.
    /// (in processing: and without a living lease since then).
    Unchanged { since: Timestamp },
}

/// A page of a list; the cursor is opaque.
#[derive(Debug, Clone)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
}

/// Which runs. Everything that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    pub flow: Option<FlowName>,
    pub key: Option<String>,
    /// A state's word.
    pub state: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub cursor: Option<String>,
    /// 1 to 200.
    pub limit: u32,
}

#[derive(Debug, Clone, Default)]
pub struct EffectFilter {
    /// States' words; empty means all.
    pub states: Vec<String>,
    pub provider: Option<ProviderName>,
    /// The one that changed longest ago first. Only with one state, and one that is not final: others are ordered by
    /// their last change, newest first, whatever this says.
    pub oldest_first: bool,
    pub cursor: Option<String>,
    pub limit: u32,
}

impl EffectFilter {
    /// The states in which something may still leave, or be found out.
    const OPEN: [&'static str; 5] = ["scheduled", "pending", "sending", "unknown", "review"];

    /// The state, if exactly one is asked for and it is not final.
    pub(crate) fn one_open_state(&self) -> Option<&str> {
        match self.states.as_slice() {
            [state] => Self::OPEN.into_iter().find(|open| open == state),
            _ => None,
        }
    }

    pub(crate) fn is_oldest_first(&self) -> bool {
        self.oldest_first && self.one_open_state().is_some()
    }
}

#[derive(Debug, Clone, Default)]
pub struct ApprovalFilter {
    /// A state's word.
    pub state: Option<String>,
    pub cursor: Option<String>,
    pub limit: u32,
}

#[derive(Debug, Clone)]
pub struct ApprovalItem {
    pub run: Run,
    pub approval: Approval,
}

/// What a token leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenHit {
    pub tenant: Tenant,
    pub approval: effectgate_core::ids::ApprovalId,
    pub audience: String,
    pub expires_at: Timestamp,
    /// Judged by the database's clock.
    pub is_expired: bool,
}

/// The head of one chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainHead {
    pub tenant: Tenant,
    pub run: RunId,
    pub head: Head,
}

/// A change that belongs to no run, in the tenant's house chain.
#[derive(Debug, Clone)]
pub struct HouseWrite {
    pub tenant: Tenant,
    pub expected_seq: i64,
    pub head: Head,
    pub entries: Vec<SealedEntry>,
    pub switch: Option<Switch>,
    pub api_key: Option<ApiKeyRow>,
    pub user: Option<UserRow>,
    /// A change of a replay plan. If it cannot be made (expired, started, ended by somebody else), nothing is.
    pub replay: Option<ReplayWrite>,
    /// A change of a subscription. If it cannot be made (there is none to drop), nothing is.
    pub subscription: Option<SubscriptionWrite>,
    pub notices: Vec<Notice>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HouseCommit {
    /// Durable; the receipt where a switch was turned, counted in the same transaction.
    Committed {
        receipt: Option<Receipt>,
    },
    Lost,
}

/// An API key: only the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKeyRow {
    pub public_id: String,
    pub tenant: Tenant,
    pub name: String,
    pub secret_hash: Digest,
    pub scopes: Vec<String>,
    /// Flows it may touch; empty means all.
    pub flows: Vec<String>,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

/// A local account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRow {
    pub tenant: Tenant,
    /// Normalised: trimmed, lower case.
    pub name: String,
    pub email: Option<String>,
    /// Argon2id in PHC form.
    pub password_hash: String,
    pub roles: Vec<String>,
    pub disabled: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A signed-in person's session, by the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub hash: Digest,
    pub tenant: Tenant,
    pub user: String,
    /// JSON of what the web room keeps beside it.
    pub data: String,
    pub created_at: Timestamp,
    pub seen_at: Timestamp,
    pub expires_at: Timestamp,
}

/// A notice with the run (or house) it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueNotice {
    pub tenant: Tenant,
    pub run: RunId,
    pub notice: Notice,
}

/// What runs were purged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    pub runs: u64,
    pub contents: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub backend: &'static str,
    pub schema: i64,
    pub clock: Timestamp,
}

/// One line of the gauges: what (`run` or `effect`), in which state, how many, how old the oldest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gauge {
    pub what: &'static str,
    pub state: String,
    pub count: i64,
    pub oldest_ms: i64,
}
