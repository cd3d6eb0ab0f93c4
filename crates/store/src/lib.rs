//! effectgate-store: the only room that names SQL. One trait, two twins (SQLite, PostgreSQL), one conformance suite.
//!
//! What lives here: durable reservation, the commit of a [`Transition`], the reads that rules and pages need. What does
//! not: any decision. Lease ends are judged here and only here, by the database's moving clock inside the statement.
//! Nobody is answered before their commit is durable; writes that arrive together are committed together.

mod error;
mod known;
mod postgres;
mod retention;
mod row;
mod sqlite;
mod types;

use std::time::Duration;

use async_trait::async_trait;
use effectgate_core::{
    digest::Digest,
    effect::{Attempt, Effect},
    ids::{FlowName, ProviderName, ReplayId, RunId, SourceName, SubscriptionId, Tenant},
    journal::{Head, SealedEntry},
    notice::Notice,
    replay::ReplayFilter,
    run::{Aggregate, Run},
    switch::Switch,
    time::Timestamp,
    transition::Transition,
};

pub use error::StoreError;
pub use postgres::{PgOptions, PgStore};
pub use sqlite::{ClockFn, SqliteOptions, SqliteStore};
pub use types::{
    ApiKeyRow, ApprovalFilter, ApprovalItem, ChainHead, ChargeRow, Commit, Content, DeliveryRow, DeliveryState,
    DueEffect, DueNotice, EffectFilter, Gauge, Going, Health, Heard, HouseCommit, HouseWrite, INBOX_COUNT_MAX,
    INBOX_MEMBERS_MAX, INBOX_ROLES_MAX, InboxFilter, InboxOrder, JOURNAL_SEARCHED_MAX, JournalFilter,
    MATCHING_SCANNED_MAX, NewRun, Page, ProfileRow, ProfileSource, Purged, ReplayFound, ReplayItem, ReplayItemState,
    ReplayRow, ReplayStage, ReplayWrite, Reserved, RunFilter, RunOverdue, RunRef, SessionRow, SubscriptionRow,
    SubscriptionWrite, TallyRow, TokenHit, UserRow,
};

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// What is durable. Each operation is atomic and safe to call from many tasks, processes (PostgreSQL) and replicas.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Inserts a run if its key is new: one atomic statement, plus its journal entry and content in the same
    /// transaction. A key that exists changes nothing and is read. Idempotent.
    ///
    /// The run's lease (if `lease_ms` is given) ends at the database's clock plus that, judged at the write.
    ///
    /// A key whose run was purged is new again. If the old run's journal still stands, the entry is sealed again as its
    /// next one, so the run's head is further than the one given: load before committing on it (a commit on the given
    /// head is lost, as any stale one).
    async fn run_reserve(&self, new: NewRun) -> Result<Reserved>;

    /// Commits a transition whole or not at all: compare-and-set on the journal's length (`expected_seq`), on the lease
    /// guard, the sending guard and the switch condition, all judged inside the statement. Charges are added in the same
    /// transaction, all or none, each judged with the count's row in hand: no two commits pass a limit together.
    ///
    /// # Errors
    /// [`StoreError::CommitUnknown`] if the connection was lost at the commit: read again, never repeat blindly.
    async fn commit(&self, transition: Transition) -> Result<Commit>;

    /// A run with its lease (judged now), effects and approvals, in the order of their numbers.
    async fn run_load(&self, tenant: &Tenant, id: RunId) -> Result<Option<Aggregate>>;

    /// What lies apart from the journal and can be erased.
    async fn run_content(&self, tenant: &Tenant, id: RunId) -> Result<Option<Content>>;

    /// Runs of a tenant, newest first. A key costs a look for each flow that the tenant ever had; all that bear it come
    /// on one page.
    async fn run_find(&self, tenant: &Tenant, filter: &RunFilter) -> Result<Page<Run>>;

    /// Runs that a replay's filter means, oldest first; for [`ReplayState::Processing`](effectgate_core::replay) those
    /// whose lease is over by the database's clock. States that are not final follow the index of what is open; any state
    /// follows time, and a page looks at [`MATCHING_SCANNED_MAX`] runs at most, so it may be short, even empty, and have a
    /// next one.
    ///
    /// # Errors
    /// [`StoreError::BadCursor`].
    async fn run_matching(
        &self,
        tenant: &Tenant,
        filter: &ReplayFilter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<Run>>;

    /// The runs that correct another, in the order of their ids, at most `limit`.
    async fn run_corrections(&self, tenant: &Tenant, original: RunId, limit: u32) -> Result<Vec<Run>>;

    /// Runs of a flow that a worker may claim now, oldest due first: queued, failed_retryable whose time has come,
    /// processing with a lease that is over.
    async fn run_claimable(&self, tenant: &Tenant, flow: &FlowName, limit: u32) -> Result<Vec<RunId>>;

    /// Runs that came in at a source and that its worker does not have, of all tenants, oldest due first: queued,
    /// failed_retryable whose time has come, processing with a lease that is over and attempts left.
    async fn run_deliverable(&self, source: &SourceName, limit: u32) -> Result<Vec<RunRef>>;

    /// Runs that time has overtaken, of all tenants, by id after `after`.
    async fn run_overdue(&self, kind: RunOverdue, after: Option<RunId>, limit: u32) -> Result<Vec<RunRef>>;

    /// Removes final runs whose `expires_at` is past, children with them, at most `limit`, and the content of final
    /// runs whose `content_expires_at` is past. Never a run that is not final or has an effect that is not.
    /// Judged by the database's clock.
    ///
    /// Each removal is journalled (`purged`). A purged run's journal and head stay for as long as its flow said when
    /// it became final (`journal_days`), counted from the purge. Content is the
    /// contents row, the texts of effects and approvals, and the kept answers; hashes stay. Expired sessions go too,
    /// and replay plans past their time that are not running.
    async fn run_purge(&self, limit: u32) -> Result<Purged>;

    /// The dispatcher's effects (pending or scheduled) of a provider that are due by the database's clock, oldest due
    /// first. Left out is what a switch holds back (any scope that applies is off): however many there are, they must
    /// not fill the batches of what may go. On PostgreSQL rows locked by another replica are skipped.
    async fn effect_due(&self, provider: &ProviderName, limit: u32) -> Result<Vec<DueEffect>>;

    /// The dispatcher's pending effects of a provider that wait for room in a budget and whose moment has not come, the
    /// first to go first. What a switch holds back is left out, as above.
    async fn effect_waiting(&self, provider: &ProviderName, limit: u32) -> Result<Vec<DueEffect>>;

    /// The counts of these scopes, in the windows that end after `since`. What is not there is zero.
    async fn charge_list(&self, scopes: &[String], since: Timestamp) -> Result<Vec<ChargeRow>>;

    /// The dispatcher's effects in sending whose lease is over, of all tenants.
    async fn effect_lost(&self, limit: u32) -> Result<Vec<DueEffect>>;

    /// Unknown effects whose next look is due, of all tenants and both executors.
    async fn effect_unknown(&self, limit: u32) -> Result<Vec<DueEffect>>;

    /// Effects that have waited for a person since `since` or longer, of all tenants and both executors, the oldest
    /// first; a page goes on behind `after`.
    async fn effect_review(&self, since: Timestamp, after: Option<&Effect>, limit: u32) -> Result<Vec<DueEffect>>;

    /// Effects of a tenant, most recently changed first.
    async fn effect_find(&self, tenant: &Tenant, filter: &EffectFilter) -> Result<Page<DueEffect>>;

    /// Every attempt of a run's effects, in order of effect and fence.
    async fn attempt_list(&self, run: RunId) -> Result<Vec<Attempt>>;

    /// Finds the approval behind a token by the token's hash. Changes nothing. An expired token is found too; the
    /// caller says so.
    async fn approval_by_token(&self, hash: &Digest) -> Result<Option<TokenHit>>;

    /// Approvals of a tenant with their runs, oldest expiry first for open ones.
    async fn approval_find(&self, tenant: &Tenant, filter: &ApprovalFilter) -> Result<Page<ApprovalItem>>;

    /// Open approvals of a tenant with their runs, in the filter's order. A page costs a seek for each member and its own
    /// rows, however many runs and approvals there are. One that was asked of several of the members stands there once.
    ///
    /// # Errors
    /// [`StoreError::BadCursor`] for a cursor of another order, [`StoreError::Rejected`] for more than
    /// [`INBOX_MEMBERS_MAX`] members.
    async fn inbox_find(&self, tenant: &Tenant, filter: &InboxFilter) -> Result<Page<ApprovalItem>>;

    /// How many open approvals were asked of any of the members (`None`: all there are), each counted once. Counts to
    /// [`INBOX_COUNT_MAX`]: that many means "that many or more".
    ///
    /// # Errors
    /// [`StoreError::Rejected`] for more than [`INBOX_MEMBERS_MAX`] members.
    async fn inbox_count(&self, tenant: &Tenant, members: Option<&[String]>) -> Result<u64>;

    /// Open approvals that are to be reminded, escalated or expired, of all tenants.
    async fn approval_overdue(&self, limit: u32) -> Result<Vec<RunRef>>;

    /// The first answer to a call, as it was stored with the transition.
    async fn answer_find(&self, run: RunId, call: &Digest) -> Result<Option<String>>;

    /// A chain's entries after number `after_seq`, in order.
    async fn journal_read(&self, run: RunId, after_seq: i64, limit: u32) -> Result<Vec<SealedEntry>>;

    /// The entries of a tenant's chains that fit, newest first, houses and purged runs included. A page looks at
    /// [`JOURNAL_SEARCHED_MAX`] entries at most, so it may be short, even empty, and have a next one: none is left out.
    ///
    /// # Errors
    /// [`StoreError::BadCursor`].
    async fn journal_search(&self, tenant: &Tenant, filter: &JournalFilter) -> Result<Page<SealedEntry>>;

    /// The heads of all chains (runs and houses), by id after `after`. `tenant` narrows.
    async fn chain_heads(&self, tenant: Option<&Tenant>, after: Option<RunId>, limit: u32) -> Result<Vec<ChainHead>>;

    /// Every switch that was ever turned, as it stands.
    async fn switch_list(&self) -> Result<Vec<Switch>>;

    /// The head of a tenant's house chain ([`RunId::house`]); [`Head::EMPTY`] before its first entry.
    async fn house_head(&self, tenant: &Tenant) -> Result<Head>;

    /// Commits a change that belongs to no run (a switch, an API key, a person) with its journal entries; with a
    /// switch it also counts the receipt in the same transaction.
    async fn house_commit(&self, write: HouseWrite) -> Result<HouseCommit>;

    /// A replay plan with how far it is. Plans are made, started and ended by [`house_commit`](Self::house_commit).
    async fn replay_find(&self, tenant: &Tenant, id: ReplayId) -> Result<Option<ReplayFound>>;
    /// Plans of a tenant, newest first.
    ///
    /// # Errors
    /// [`StoreError::BadCursor`].
    async fn replay_list(&self, tenant: &Tenant, cursor: Option<&str>, limit: u32) -> Result<Page<ReplayFound>>;
    /// A plan's items after number `after`, in order; only those that wait if `waiting`.
    async fn replay_items(&self, id: ReplayId, after: i32, limit: u32, waiting: bool) -> Result<Vec<ReplayItem>>;
    /// Writes what became of an item that waits: true for exactly one caller.
    async fn replay_item_settle(&self, id: ReplayId, item: &ReplayItem) -> Result<bool>;
    /// Takes a running plan in hand for `ms` by the database's clock, or keeps it there: true if nobody else has it.
    async fn replay_hold(&self, id: ReplayId, holder: &str, ms: i64) -> Result<bool>;
    /// Running plans that nobody has in hand, of all tenants.
    async fn replay_stalled(&self, limit: u32) -> Result<Vec<(Tenant, ReplayId)>>;

    /// An API key by its public id, revoked ones included.
    async fn api_key_find(&self, public_id: &str) -> Result<Option<ApiKeyRow>>;
    async fn api_key_list(&self, tenant: &Tenant) -> Result<Vec<ApiKeyRow>>;
    /// True if no API key exists at all: the first start makes one.
    async fn api_key_none(&self) -> Result<bool>;

    /// A local account by its normalised name.
    async fn user_find(&self, tenant: &Tenant, name: &str) -> Result<Option<UserRow>>;
    async fn user_list(&self, tenant: &Tenant) -> Result<Vec<UserRow>>;

    /// Makes or replaces a session. Sessions are not journalled.
    async fn session_put(&self, session: SessionRow) -> Result<()>;
    async fn session_find(&self, hash: &Digest) -> Result<Option<SessionRow>>;
    async fn session_delete(&self, hash: &Digest) -> Result<()>;
    /// A person's newest sessions, expired ones too: the caller says so. At most 100.
    async fn session_list_of(&self, tenant: &Tenant, user: &str) -> Result<Vec<SessionRow>>;
    /// Ends every session of a person.
    async fn session_delete_of(&self, tenant: &Tenant, user: &str) -> Result<()>;

    /// A person's profile by subject.
    async fn profile_find(&self, tenant: &Tenant, subject: &str) -> Result<Option<ProfileRow>>;
    /// Makes or replaces a profile; `created_at` stays as it was first. Profiles are not journalled.
    async fn profile_put(&self, profile: ProfileRow) -> Result<()>;
    /// By subject.
    async fn profile_list(&self, tenant: &Tenant) -> Result<Vec<ProfileRow>>;

    /// Adds counts to the rows that are there, or begins them, all or none. Not idempotent.
    ///
    /// # Errors
    /// [`StoreError::CommitUnknown`]: adding again may count twice, leaving it may count too little.
    async fn tally_add(&self, rows: &[TallyRow]) -> Result<()>;
    /// The counts of the days from `since_day` to before `until_day` (days since 1970, UTC), by day, name and bucket.
    async fn tally_find(&self, tenant: &Tenant, since_day: i32, until_day: i32) -> Result<Vec<TallyRow>>;

    /// Notices due by the database's clock, oldest first, of all tenants.
    async fn notice_due(&self, limit: u32) -> Result<Vec<DueNotice>>;
    /// Claims a notice for sending until `until`: true for exactly one caller. Compare-and-set on `attempts`.
    async fn notice_claim(&self, due: &DueNotice, until: Timestamp) -> Result<bool>;
    /// Writes how a notice stands after a try.
    async fn notice_settle(&self, run: RunId, notice: &Notice) -> Result<()>;
    /// True if a notice with this dedupe word was sent since `since`.
    async fn notice_sent_since(&self, dedupe: &str, since: Timestamp) -> Result<bool>;

    /// A subscription by its id.
    async fn subscription_find(&self, tenant: &Tenant, id: SubscriptionId) -> Result<Option<SubscriptionRow>>;
    /// Every subscription, of a tenant or of all, the first made first. They are made and dropped by
    /// [`house_commit`](Self::house_commit).
    async fn subscription_list(&self, tenant: Option<&Tenant>) -> Result<Vec<SubscriptionRow>>;
    /// Subscriptions of all tenants with a delivery that is due by the database's clock.
    async fn subscription_due(&self) -> Result<Vec<SubscriptionRow>>;
    /// Puts deliveries on their way, each where its subscription still is and it is not on its way already. Idempotent.
    async fn delivery_add(&self, rows: &[DeliveryRow]) -> Result<()>;
    /// A subscription's deliveries that are due by the database's clock, oldest due first.
    async fn delivery_due(&self, subscription: SubscriptionId, limit: u32) -> Result<Vec<DeliveryRow>>;
    /// Claims a delivery for sending until `until`: true for exactly one caller. Compare-and-set on `attempts`.
    async fn delivery_claim(&self, due: &DeliveryRow, until: Timestamp) -> Result<bool>;
    /// Writes how a delivery stands after a try, and what the other side made of it. The subscription as it is then;
    /// `None` if it is gone.
    async fn delivery_settle(&self, delivery: &DeliveryRow, heard: Heard) -> Result<Option<SubscriptionRow>>;

    /// Says that the database answers, with its clock and schema version.
    async fn health(&self) -> Result<Health>;

    /// Counts for the metrics: runs and effects by state, for the states that are not final, with the age in
    /// milliseconds of the oldest.
    async fn gauges(&self) -> Result<Vec<Gauge>>;

    /// Wakes when another process may have committed work (LISTEN/NOTIFY where the database has it). The default never
    /// wakes: the workers' period is enough.
    async fn wait_for_work(&self) {
        std::future::pending().await
    }

    /// For how long a reading of a run stays true while this process commits nothing to that run. Zero would be the
    /// truth for every shared database; a moment far below a network's round trip is allowed.
    fn reads_stay_true(&self) -> Duration;

    /// Finishes what is queued and closes.
    async fn close(&self);
}
