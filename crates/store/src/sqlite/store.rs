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
    SqliteStore, approval, asked, charge, commit, effect, health, house, journal, notice, profile, purge, replay, run,
    search, session, subscription, tally,
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
impl Store for SqliteStore {
    async fn run_reserve(&self, new: NewRun) -> Result<Reserved> {
        let (tenant, flow) = (new.run.tenant.clone(), new.run.flow.clone());
        if !self.known.has(&tenant, &flow) {
            self.pool.write(move |tx| run::note_flow(tx, &tenant, &flow)).await?;
            self.known.add(new.run.tenant.clone(), new.run.flow.clone());
        }
        self.pool.write(move |tx| run::reserve(tx, &new)).await
    }
    async fn commit(&self, transition: Transition) -> Result<Commit> {
        self.pool.write(move |tx| commit::commit(tx, &transition)).await
    }
    async fn run_load(&self, tenant: &Tenant, id: RunId) -> Result<Option<Aggregate>> {
        let tenant = tenant.clone();
        self.pool.read(move |tx| run::load(tx, &tenant, id)).await
    }
    async fn run_content(&self, tenant: &Tenant, id: RunId) -> Result<Option<Content>> {
        let tenant = tenant.clone();
        self.pool.read(move |tx| run::content(tx, &tenant, id)).await
    }
    async fn run_find(&self, tenant: &Tenant, filter: &RunFilter) -> Result<Page<Run>> {
        let (tenant, filter) = (tenant.clone(), filter.clone());
        self.pool.read(move |tx| run::find(tx, &tenant, &filter)).await
    }
    async fn run_matching(
        &self,
        tenant: &Tenant,
        filter: &ReplayFilter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<Run>> {
        let (tenant, filter, cursor) = (tenant.clone(), filter.clone(), cursor.map(str::to_owned));
        self.pool.read(move |tx| replay::matching(tx, &tenant, &filter, cursor.as_deref(), limit)).await
    }
    async fn run_corrections(&self, tenant: &Tenant, original: RunId, limit: u32) -> Result<Vec<Run>> {
        let tenant = tenant.clone();
        self.pool.read(move |tx| replay::corrections(tx, &tenant, original, limit)).await
    }
    async fn run_claimable(&self, tenant: &Tenant, flow: &FlowName, limit: u32) -> Result<Vec<RunId>> {
        let (tenant, flow) = (tenant.clone(), flow.clone());
        self.pool.read(move |tx| run::claimable(tx, &tenant, &flow, limit)).await
    }
    async fn run_deliverable(&self, source: &SourceName, limit: u32) -> Result<Vec<RunRef>> {
        let source = source.clone();
        self.pool.read(move |tx| run::deliverable(tx, &source, limit)).await
    }
    async fn run_overdue(&self, kind: RunOverdue, after: Option<RunId>, limit: u32) -> Result<Vec<RunRef>> {
        self.pool.read(move |tx| run::overdue(tx, kind, after, limit)).await
    }
    async fn run_purge(&self, limit: u32) -> Result<Purged> {
        self.pool.write(move |tx| purge::purge(tx, limit)).await
    }
    async fn effect_due(&self, provider: &ProviderName, limit: u32) -> Result<Vec<DueEffect>> {
        let provider = provider.clone();
        self.pool.read(move |tx| effect::due(tx, &provider, limit)).await
    }
    async fn effect_waiting(&self, provider: &ProviderName, limit: u32) -> Result<Vec<DueEffect>> {
        let provider = provider.clone();
        self.pool.read(move |tx| effect::waiting(tx, &provider, limit)).await
    }
    async fn charge_list(&self, scopes: &[String], since: Timestamp) -> Result<Vec<ChargeRow>> {
        let scopes = scopes.to_vec();
        self.pool.read(move |tx| charge::list(tx, &scopes, since)).await
    }
    async fn effect_lost(&self, limit: u32) -> Result<Vec<DueEffect>> {
        self.pool.read(move |tx| effect::lost(tx, limit)).await
    }
    async fn effect_unknown(&self, limit: u32) -> Result<Vec<DueEffect>> {
        self.pool.read(move |tx| effect::unknown(tx, limit)).await
    }
    async fn effect_review(&self, since: Timestamp, after: Option<&Effect>, limit: u32) -> Result<Vec<DueEffect>> {
        let after = after.cloned();
        self.pool.read(move |tx| effect::review(tx, since, after.as_ref(), limit)).await
    }
    async fn effect_find(&self, tenant: &Tenant, filter: &EffectFilter) -> Result<Page<DueEffect>> {
        let (tenant, filter) = (tenant.clone(), filter.clone());
        self.pool.read(move |tx| effect::find(tx, &tenant, &filter)).await
    }
    async fn attempt_list(&self, run: RunId) -> Result<Vec<Attempt>> {
        self.pool.read(move |tx| effect::attempts(tx, run)).await
    }
    async fn approval_by_token(&self, hash: &Digest) -> Result<Option<TokenHit>> {
        let hash = *hash;
        self.pool.read(move |tx| approval::by_token(tx, &hash)).await
    }
    async fn approval_find(&self, tenant: &Tenant, filter: &ApprovalFilter) -> Result<Page<ApprovalItem>> {
        let (tenant, filter) = (tenant.clone(), filter.clone());
        self.pool.read(move |tx| approval::find(tx, &tenant, &filter)).await
    }
    async fn inbox_find(&self, tenant: &Tenant, filter: &InboxFilter) -> Result<Page<ApprovalItem>> {
        let (tenant, filter) = (tenant.clone(), filter.clone());
        self.pool.read(move |tx| asked::find(tx, &tenant, &filter)).await
    }
    async fn inbox_count(&self, tenant: &Tenant, members: Option<&[String]>) -> Result<u64> {
        let (tenant, members) = (tenant.clone(), members.map(<[String]>::to_vec));
        self.pool.read(move |tx| asked::count(tx, &tenant, members.as_deref())).await
    }
    async fn approval_overdue(&self, limit: u32) -> Result<Vec<RunRef>> {
        self.pool.read(move |tx| approval::overdue(tx, limit)).await
    }
    async fn answer_find(&self, run: RunId, call: &Digest) -> Result<Option<String>> {
        let call = *call;
        self.pool.read(move |tx| journal::answer(tx, run, &call)).await
    }
    async fn journal_read(&self, run: RunId, after_seq: i64, limit: u32) -> Result<Vec<SealedEntry>> {
        self.pool.read(move |tx| journal::read(tx, run, after_seq, limit)).await
    }
    async fn journal_search(&self, tenant: &Tenant, filter: &JournalFilter) -> Result<Page<SealedEntry>> {
        let (tenant, filter) = (tenant.clone(), filter.clone());
        self.pool.read(move |tx| search::find(tx, &tenant, &filter)).await
    }
    async fn chain_heads(&self, tenant: Option<&Tenant>, after: Option<RunId>, limit: u32) -> Result<Vec<ChainHead>> {
        let tenant = tenant.cloned();
        self.pool.read(move |tx| journal::heads(tx, tenant.as_ref(), after, limit)).await
    }
    async fn switch_list(&self) -> Result<Vec<Switch>> {
        self.pool.read(house::switches).await
    }
    async fn house_head(&self, tenant: &Tenant) -> Result<Head> {
        let house = RunId::house(tenant);
        self.pool.read(move |tx| house::head(tx, house)).await
    }
    async fn house_commit(&self, write: HouseWrite) -> Result<HouseCommit> {
        self.pool.write(move |tx| house::commit(tx, &write)).await
    }
    async fn replay_find(&self, tenant: &Tenant, id: ReplayId) -> Result<Option<ReplayFound>> {
        let tenant = tenant.clone();
        self.pool.read(move |tx| replay::find(tx, &tenant, id)).await
    }
    async fn replay_list(&self, tenant: &Tenant, cursor: Option<&str>, limit: u32) -> Result<Page<ReplayFound>> {
        let (tenant, cursor) = (tenant.clone(), cursor.map(str::to_owned));
        self.pool.read(move |tx| replay::list(tx, &tenant, cursor.as_deref(), limit)).await
    }
    async fn replay_items(&self, id: ReplayId, after: i32, limit: u32, waiting: bool) -> Result<Vec<ReplayItem>> {
        self.pool.read(move |tx| replay::items(tx, id, after, limit, waiting)).await
    }
    async fn replay_item_settle(&self, id: ReplayId, item: &ReplayItem) -> Result<bool> {
        let item = item.clone();
        self.pool.write(move |tx| replay::settle(tx, id, &item)).await
    }
    async fn replay_hold(&self, id: ReplayId, holder: &str, ms: i64) -> Result<bool> {
        let holder = holder.to_owned();
        self.pool.write(move |tx| replay::hold(tx, id, &holder, ms)).await
    }
    async fn replay_stalled(&self, limit: u32) -> Result<Vec<(Tenant, ReplayId)>> {
        self.pool.read(move |tx| replay::stalled(tx, limit)).await
    }
    async fn api_key_find(&self, public_id: &str) -> Result<Option<ApiKeyRow>> {
        let public_id = public_id.to_owned();
        self.pool.read(move |tx| house::api_key(tx, &public_id)).await
    }
    async fn api_key_list(&self, tenant: &Tenant) -> Result<Vec<ApiKeyRow>> {
        let tenant = tenant.clone();
        self.pool.read(move |tx| house::api_keys(tx, &tenant)).await
    }
    async fn api_key_none(&self) -> Result<bool> {
        self.pool.read(house::api_key_none).await
    }
    async fn user_find(&self, tenant: &Tenant, name: &str) -> Result<Option<UserRow>> {
        let (tenant, name) = (tenant.clone(), name.to_owned());
        self.pool.read(move |tx| house::user(tx, &tenant, &name)).await
    }
    async fn user_list(&self, tenant: &Tenant) -> Result<Vec<UserRow>> {
        let tenant = tenant.clone();
        self.pool.read(move |tx| house::users(tx, &tenant)).await
    }
    async fn session_put(&self, session: SessionRow) -> Result<()> {
        self.pool.write(move |tx| session::put(tx, &session)).await
    }
    async fn session_find(&self, hash: &Digest) -> Result<Option<SessionRow>> {
        let hash = *hash;
        self.pool.read(move |tx| session::find(tx, &hash)).await
    }
    async fn session_delete(&self, hash: &Digest) -> Result<()> {
        let hash = *hash;
        self.pool.write(move |tx| session::delete(tx, &hash)).await
    }
    async fn session_list_of(&self, tenant: &Tenant, user: &str) -> Result<Vec<SessionRow>> {
        let (tenant, user) = (tenant.clone(), user.to_owned());
        self.pool.read(move |tx| session::list_of(tx, &tenant, &user)).await
    }
    async fn session_delete_of(&self, tenant: &Tenant, user: &str) -> Result<()> {
        let (tenant, user) = (tenant.clone(), user.to_owned());
        self.pool.write(move |tx| session::delete_of(tx, &tenant, &user)).await
    }
    async fn profile_find(&self, tenant: &Tenant, subject: &str) -> Result<Option<ProfileRow>> {
        let (tenant, subject) = (tenant.clone(), subject.to_owned());
        self.pool.read(move |tx| profile::find(tx, &tenant, &subject)).await
    }
    async fn profile_put(&self, profile: ProfileRow) -> Result<()> {
        self.pool.write(move |tx| profile::put(tx, &profile)).await
    }
    async fn profile_list(&self, tenant: &Tenant) -> Result<Vec<ProfileRow>> {
        let tenant = tenant.clone();
        self.pool.read(move |tx| profile::list(tx, &tenant)).await
    }
    async fn tally_add(&self, rows: &[TallyRow]) -> Result<()> {
        let rows = rows.to_vec();
        self.pool.write(move |tx| tally::add(tx, &rows)).await
    }
    async fn tally_find(&self, tenant: &Tenant, since_day: i32, until_day: i32) -> Result<Vec<TallyRow>> {
        let tenant = tenant.clone();
        self.pool.read(move |tx| tally::find(tx, &tenant, since_day, until_day)).await
    }
    async fn notice_due(&self, limit: u32) -> Result<Vec<DueNotice>> {
        self.pool.read(move |tx| notice::due(tx, limit)).await
    }
    async fn notice_claim(&self, due: &DueNotice, until: Timestamp) -> Result<bool> {
        let due = due.clone();
        self.pool.write(move |tx| notice::claim(tx, &due, until)).await
    }
    async fn notice_settle(&self, run: RunId, notice: &Notice) -> Result<()> {
        let notice = notice.clone();
        self.pool.write(move |tx| notice::settle(tx, run, &notice)).await
    }
    async fn notice_sent_since(&self, dedupe: &str, since: Timestamp) -> Result<bool> {
        let dedupe = dedupe.to_owned();
        self.pool.read(move |tx| notice::sent_since(tx, &dedupe, since)).await
    }
    async fn subscription_find(&self, tenant: &Tenant, id: SubscriptionId) -> Result<Option<SubscriptionRow>> {
        let tenant = tenant.clone();
        self.pool.read(move |tx| subscription::find(tx, &tenant, id)).await
    }
    async fn subscription_list(&self, tenant: Option<&Tenant>) -> Result<Vec<SubscriptionRow>> {
        let tenant = tenant.cloned();
        self.pool.read(move |tx| subscription::list(tx, tenant.as_ref())).await
    }
    async fn subscription_due(&self) -> Result<Vec<SubscriptionRow>> {
        self.pool.read(subscription::due_subscriptions).await
    }
    async fn delivery_add(&self, rows: &[DeliveryRow]) -> Result<()> {
        let rows = rows.to_vec();
        self.pool.write(move |tx| subscription::add(tx, &rows)).await
    }
    async fn delivery_due(&self, subscription: SubscriptionId, limit: u32) -> Result<Vec<DeliveryRow>> {
        self.pool.read(move |tx| subscription::due(tx, subscription, limit)).await
    }
    async fn delivery_claim(&self, due: &DeliveryRow, until: Timestamp) -> Result<bool> {
        let due = due.clone();
        self.pool.write(move |tx| subscription::claim(tx, &due, until)).await
    }
    async fn delivery_settle(&self, delivery: &DeliveryRow, heard: Heard) -> Result<Option<SubscriptionRow>> {
        let delivery = delivery.clone();
        self.pool.write(move |tx| subscription::settle(tx, &delivery, heard)).await
    }
    async fn health(&self) -> Result<Health> {
        self.pool.read(health::health).await
    }
    async fn gauges(&self) -> Result<Vec<Gauge>> {
        self.pool.read(health::gauges).await
    }
    /// One process writes the file; the command line beside it touches no run.
    fn reads_stay_true(&self) -> std::time::Duration {
        std::time::Duration::from_millis(100)
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}
