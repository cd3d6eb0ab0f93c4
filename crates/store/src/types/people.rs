//! What people see and what is counted: the inbox, profiles, tallies, the journal's search.

use effectgate_core::{
    ids::{RunId, Tenant},
    time::Timestamp,
};

/// Keys of one person that an inbox is made of, at most: each is a seek of its own, and a page must stay one.
/// Above what a config may give one person ([`INBOX_ROLES_MAX`]) and the addresses beside it.
pub const INBOX_MEMBERS_MAX: usize = 256;
/// Different roles that single sign-on may give: whoever holds them all still has an inbox.
pub const INBOX_ROLES_MAX: usize = 200;

/// How far an inbox is counted. A count of this much means "this many or more".
pub const INBOX_COUNT_MAX: u64 = 1_000;

/// Entries that one page of a journal search looks at, at most. A page may hold fewer than were asked for, even none,
/// and have a next one: the search goes on there.
pub const JOURNAL_SEARCHED_MAX: i64 = 20_000;

/// In which order an inbox stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InboxOrder {
    /// The highest impact first, the longest waiting first among equals.
    #[default]
    Risk,
    /// The longest waiting first.
    Age,
    /// Who has least time left first.
    Due,
}

/// Which open approvals.
#[derive(Debug, Clone, Default)]
pub struct InboxFilter {
    /// Asked of any of these, as [`member_key`](effectgate_core::approval::member_key) makes them, at most
    /// [`INBOX_MEMBERS_MAX`]; `None` means all.
    pub members: Option<Vec<String>>,
    pub order: InboxOrder,
    /// Only of the same order.
    pub cursor: Option<String>,
    /// 1 to 200.
    pub limit: u32,
}

/// Which entries of the journal. Everything that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct JournalFilter {
    /// One chain: a run's, or a house's ([`RunId::house`]).
    pub run: Option<RunId>,
    /// An entry kind's word.
    pub kind: Option<String>,
    /// The actor as the entry names it: `user:ada`, `key:k1`, `worker:w`, `system:sweeper`.
    pub actor: Option<String>,
    pub since: Option<Timestamp>,
    /// Before this moment.
    pub until: Option<Timestamp>,
    pub cursor: Option<String>,
    /// 1 to 200.
    pub limit: u32,
}

/// Where a profile comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileSource {
    /// A local account: only language and zone matter, the rest is the account's.
    Local,
    /// Single sign-on: what the last sign-in told.
    Oidc,
}

impl ProfileSource {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Oidc => "oidc",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Local, Self::Oidc].into_iter().find(|s| s.as_str() == word)
    }
}

/// What is known of a person beside the account. Not journalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileRow {
    pub tenant: Tenant,
    /// A [`Subject`](effectgate_core::actor::Subject)'s text.
    pub subject: String,
    pub source: ProfileSource,
    pub name: String,
    pub email: Option<String>,
    pub roles: Vec<String>,
    /// A language tag; `None` means the browser's.
    pub language: Option<String>,
    /// An IANA zone name; `None` means UTC.
    pub zone: Option<String>,
    pub created_at: Timestamp,
    pub seen_at: Timestamp,
}

/// A count of a day. A number without a bucket stands in bucket 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TallyRow {
    pub tenant: Tenant,
    /// Days since 1970-01-01 UTC.
    pub day: i32,
    pub name: String,
    pub bucket: i32,
    pub count: i64,
}
