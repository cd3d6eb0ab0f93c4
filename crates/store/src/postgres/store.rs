//! The trait, name by name. Each function's statements stand in the file of its noun.

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

use super::{
    PgStore, approval, asked, charge, effect, health, house, journal, notice, profile, purge, replay, run, search,
    session, subscription, tally,
};
use crate::{
    Result, Store,
    types::{
        ApiKeyRow, ApprovalFilter, ApprovalItem, ChainHead, ChargeRow, Commit, Content, DeliveryRow, DueEffect,
        DueNotice, EffectFilter, Gauge, Health, Heard, HouseCommit, HouseWrite, InboxFilter, JournalFilter, NewRun,
        Page, ProfileRow, Purged, ReplayFound, ReplayItem, Reserved, RunFilter, RunOverdue, RunRef, SessionRow,
        SubscriptionRow, TallyRow, TokenHit, UserRow,
    },
};

#[async_trait]
impl Store for PgStore {
    async fn run_reserve(&self, new: NewRun) -> Result<Reserved> {
        let (tenant, flow) = (&new.run.tenant, &new.run.flow);
        if !self.known.has(tenant, flow) {
            run::note_flow(&self.pool, tenant, flow).await?;
            self.known.add(tenant.clone(), flow.clone());
        }
        self.writers.reserve(new).await
    }
    async fn commit(&self, transition: Transition) -> Result<Commit> {
        self.writers.commit(transition).await
    }
    async fn run_load(&self, tenant: &Tenant, id: RunId) -> Result<Option<Aggregate>> {
        run::load(&self.pool, tenant, id).await
    }
    async fn run_content(&self, tenant: &Tenant, id: RunId) -> Result<Option<Content>> {
        run::content(&self.pool, tenant, id).await
    }
    async fn run_find(&self, tenant: &Tenant, filter: &RunFilter) -> Result<Page<Run>> {
        run::find(&self.pool, tenant, filter).await
    }
    async fn run_matching(
        &self,
        tenant: &Tenant,
        filter: &ReplayFilter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<Run>> {
        replay::matching(&self.pool, tenant, filter, cursor, limit).await
    }
    async fn run_corrections(&self, tenant: &Tenant, original: RunId, limit: u32) -> Result<Vec<Run>> {
        replay::corrections(&self.pool, tenant, original, limit).await
    }
    async fn run_claimable(&self, tenant: &Tenant, flow: &FlowName, limit: u32) -> Result<Vec<RunId>> {
        run::claimable(&self.pool, tenant, flow, limit).await
    }
    async fn run_deliverable(&self, source: &SourceName, limit: u32) -> Result<Vec<RunRef>> {
        run::deliverable(&self.pool, source, limit).await
    }
    async fn run_overdue(&self, kind: RunOverdue, after: Option<RunId>, limit: u32) -> Result<Vec<RunRef>> {
        run::overdue(&self.pool, kind, after, limit).await
    }
    async fn run_purge(&self, limit: u32) -> Result<Purged> {
        purge::purge(&self.pool, limit).await
    }
    async fn effect_due(&self, provider: &ProviderName, limit: u32) -> Result<Vec<DueEffect>> {
        effect::due(&self.pool, provider, limit).await
    }
    async fn effect_waiting(&self, provider: &ProviderName, limit: u32) -> Result<Vec<DueEffect>> {
        effect::waiting(&self.pool, provider, limit).await
    }
    async fn charge_list(&self, scopes: &[String], since: Timestamp) -> Result<Vec<ChargeRow>> {
        charge::list(&self.pool, scopes, since).await
    }
    async fn effect_lost(&self, limit: u32) -> Result<Vec<DueEffect>> {
        effect::lost(&self.pool, limit).await
    }
    async fn effect_unknown(&self, limit: u32) -> Result<Vec<DueEffect>> {
        effect::unknown(&self.pool, limit).await
    }
    async fn effect_review(&self, since: Timestamp, after: Option<&Effect>, limit: u32) -> Result<Vec<DueEffect>> {
        effect::review(&self.pool, since, after, limit).await
    }
    async fn effect_find(&self, tenant: &Tenant, filter: &EffectFilter) -> Result<Page<DueEffect>> {
        effect::find(&self.pool, tenant, filter).await
    }
    async fn attempt_list(&self, run: RunId) -> Result<Vec<Attempt>> {
        effect::attempts(&self.pool, run).await
    }
    async fn approval_by_token(&self, hash: &Digest) -> Result<Option<TokenHit>> {
        approval::by_token(&self.pool, hash).await
    }
    async fn approval_find(&self, tenant: &Tenant, filter: &ApprovalFilter) -> Result<Page<ApprovalItem>> {
        approval::find(&self.pool, tenant, filter).await
    }
    async fn inbox_find(&self, tenant: &Tenant, filter: &InboxFilter) -> Result<Page<ApprovalItem>> {
        asked::find(&self.pool, tenant, filter).await
    }
    async fn inbox_count(&self, tenant: &Tenant, members: Option<&[String]>) -> Result<u64> {
        asked::count(&self.pool, tenant, members).await
    }
    async fn approval_overdue(&self, limit: u32) -> Result<Vec<RunRef>> {
        approval::overdue(&self.pool, limit).await
    }
    async fn answer_find(&self, run: RunId, call: &Digest) -> Result<Option<String>> {
        journal::answer(&self.pool, run, call).await
    }
    async fn journal_read(&self, run: RunId, after_seq: i64, limit: u32) -> Result<Vec<SealedEntry>> {
        journal::read(&self.pool, run, after_seq, limit).await
    }
    async fn journal_search(&self, tenant: &Tenant, filter: &JournalFilter) -> Result<Page<SealedEntry>> {
        search::find(&self.pool, tenant, filter).await
    }
    async fn chain_heads(&self, tenant: Option<&Tenant>, after: Option<RunId>, limit: u32) -> Result<Vec<ChainHead>> {
        journal::heads(&self.pool, tenant, after, limit).await
    }
    async fn switch_list(&self) -> Result<Vec<Switch>> {
        house::switches(&self.pool).await
    }
    async fn house_head(&self, tenant: &Tenant) -> Result<Head> {
        house::head(&self.pool, RunId::house(tenant)).await
    }
    async fn house_commit(&self, write: HouseWrite) -> Result<HouseCommit> {
        self.writers.house(write).await
    }
    async fn replay_find(&self, tenant: &Tenant, id: ReplayId) -> Result<Option<ReplayFound>> {
        replay::find(&self.pool, tenant, id).await
    }
    async fn replay_list(&self, tenant: &Tenant, cursor: Option<&str>, limit: u32) -> Result<Page<ReplayFound>> {
        replay::list(&self.pool, tenant, cursor, limit).await
    }
    async fn replay_items(&self, id: ReplayId, after: i32, limit: u32, waiting: bool) -> Result<Vec<ReplayItem>> {
        replay::items(&self.pool, id, after, limit, waiting).await
    }
    async fn replay_item_settle(&self, id: ReplayId, item: &ReplayItem) -> Result<bool> {
        replay::settle(&self.pool, id, item).await
    }
    async fn replay_hold(&self, id: ReplayId, holder: &str, ms: i64) -> Result<bool> {
        replay::hold(&self.pool, id, holder, ms).await
    }
    async fn replay_stalled(&self, limit: u32) -> Result<Vec<(Tenant, ReplayId)>> {
        replay::stalled(&self.pool, limit).await
    }
    async fn api_key_find(&self, public_id: &str) -> Result<Option<ApiKeyRow>> {
        house::api_key(&self.pool, public_id).await
    }
    async fn api_key_list(&self, tenant: &Tenant) -> Result<Vec<ApiKeyRow>> {
        house::api_keys(&self.pool, tenant).await
    }
    async fn api_key_none(&self) -> Result<bool> {
        house::api_key_none(&self.pool).await
    }
    async fn user_find(&self, tenant: &Tenant, name: &str) -> Result<Option<UserRow>> {
        house::user(&self.pool, tenant, name).await
    }
    async fn user_list(&self, tenant: &Tenant) -> Result<Vec<UserRow>> {
        house::users(&self.pool, tenant).await
    }
    async fn session_put(&self, session: SessionRow) -> Result<()> {
        session::put(&self.pool, &session).await
    }
    async fn session_find(&self, hash: &Digest) -> Result<Option<SessionRow>> {
        session::find(&self.pool, hash).await
    }
    async fn session_delete(&self, hash: &Digest) -> Result<()> {
        session::delete(&self.pool, hash).await
    }
    async fn session_list_of(&self, tenant: &Tenant, user: &str) -> Result<Vec<SessionRow>> {
        session::list_of(&self.pool, tenant, user).await
    }
    async fn session_delete_of(&self, tenant: &Tenant, user: &str) -> Result<()> {
        session::delete_of(&self.pool, tenant, user).await
    }
    async fn profile_find(&self, tenant: &Tenant, subject: &str) -> Result<Option<ProfileRow>> {
        profile::find(&self.pool, tenant, subject).await
    }
    async fn profile_put(&self, profile: ProfileRow) -> Result<()> {
        profile::put(&self.pool, &profile).await
    }
    async fn profile_list(&self, tenant: &Tenant) -> Result<Vec<ProfileRow>> {
        profile::list(&self.pool, tenant).await
    }
    async fn tally_add(&self, rows: &[TallyRow]) -> Result<()> {
        tally::add(&self.pool, rows).await
    }
    async fn tally_find(&self, tenant: &Tenant, since_day: i32, until_day: i32) -> Result<Vec<TallyRow>> {
        tally::find(&self.pool, tenant, since_day, until_day).await
    }
    async fn notice_due(&self, limit: u32) -> Result<Vec<DueNotice>> {
        notice::due(&self.pool, limit).await
    }
    async fn notice_claim(&self, due: &DueNotice, until: Timestamp) -> Result<bool> {
        notice::claim(&self.pool, due, until).await
    }
    async fn notice_settle(&self, run: RunId, notice: &Notice) -> Result<()> {
        notice::settle(&self.pool, run, notice).await
    }
    async fn notice_sent_since(&self, dedupe: &str, since: Timestamp) -> Result<bool> {
        notice::sent_since(&self.pool, dedupe, since).await
    }
    async fn subscription_find(&self, tenant: &Tenant, id: SubscriptionId) -> Result<Option<SubscriptionRow>> {
        subscription::find(&self.pool, tenant, id).await
    }
    async fn subscription_list(&self, tenant: Option<&Tenant>) -> Result<Vec<SubscriptionRow>> {
        subscription::list(&self.pool, tenant).await
    }
    async fn subscription_due(&self) -> Result<Vec<SubscriptionRow>> {
        subscription::due_subscriptions(&self.pool).await
    }
    async fn delivery_add(&self, rows: &[DeliveryRow]) -> Result<()> {
        subscription::add(&self.pool, rows).await
    }
    async fn delivery_due(&self, subscription: SubscriptionId, limit: u32) -> Result<Vec<DeliveryRow>> {
        subscription::due(&self.pool, subscription, limit).await
    }
    async fn delivery_claim(&self, due: &DeliveryRow, until: Timestamp) -> Result<bool> {
        subscription::claim(&self.pool, due, until).await
    }
    async fn delivery_settle(&self, delivery: &DeliveryRow, heard: Heard) -> Result<Option<SubscriptionRow>> {
        subscription::settle(&self.pool, delivery, heard).await
    }
    async fn health(&self) -> Result<Health> {
        health::health(&self.pool).await
    }
    async fn gauges(&self) -> Result<Vec<Gauge>> {
        health::gauges(&self.pool).await
    }
    async fn wait_for_work(&self) {
        self.wake.heard().await;
    }
    /// Differs: another replica may commit at any moment. 2 ms are less than its caller needs to hear of it and ask here.
    fn reads_stay_true(&self) -> std::time::Duration {
        std::time::Duration::from_millis(2)
    }

    async fn close(&self) {
        self.writers.close().await;
        self.listener.abort();
        self.pool.close();
    }
}
