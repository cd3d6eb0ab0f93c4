//! Shows plans: what was planned, what was done, and how the runs stand now.

use effectgate_core::{
    ids::{ReplayId, Tenant},
    time::Timestamp,
};
use effectgate_store::{Page, ReplayFound, ReplayItem, ReplayItemState, ReplayStage};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{FilterView, KeyView, LIMIT_MAX, ReplayStanding, ReplayView, Summary, plan};
use crate::{
    engine::Engine,
    error::{EngineError, Result},
};

/// As for plans.
const READS_AT_ONCE: usize = 4;

impl Engine {
    /// A plan by its id. With `keys` each run's report: before, right after, and as it stands now.
    ///
    /// # Errors
    /// Not found, the store.
    pub async fn replay_find(&self, tenant: &Tenant, id: ReplayId, keys: bool) -> Result<ReplayView> {
        let found = self.found(tenant, id).await?;
        let is_begun = found.row.started_at.is_some();
        let keys = if keys { Some(self.keys_of(tenant, id, is_begun).await?) } else { None };
        view(found, keys)
    }

    /// Plans of a tenant, newest first, without their keys.
    ///
    /// # Errors
    /// A bad cursor, the store.
    pub async fn replay_list(&self, tenant: &Tenant, cursor: Option<&str>, limit: u32) -> Result<Page<ReplayView>> {
        let page = self.store().replay_list(tenant, cursor, limit).await?;
        let items = page.items.into_iter().map(|found| view(found, None)).collect::<Result<_>>()?;
        Ok(Page { items, next: page.next })
    }

    async fn keys_of(&self, tenant: &Tenant, id: ReplayId, is_begun: bool) -> Result<Vec<KeyView>> {
        let items = self.store().replay_items(id, 0, LIMIT_MAX, false).await?;
        let reads = items.into_iter().map(|item| self.key_of_item(tenant, item, is_begun));
        stream::iter(reads).buffered(READS_AT_ONCE).try_collect().await
    }

    async fn key_of_item(&self, tenant: &Tenant, item: ReplayItem, is_begun: bool) -> Result<KeyView> {
        let mut key: KeyView = read(&item.planned)?;
        match &item.state {
            ReplayItemState::Refused { .. } => return Ok(key),
            ReplayItemState::Waiting if !is_begun => return Ok(key),
            ReplayItemState::Waiting => {}
            ReplayItemState::Skipped { why } => key.why = Some(why.clone()),
            ReplayItemState::Done { outcome } => {
                key.after = Some(read(outcome)?);
                let agg = self.store().run_load(tenant, item.run).await?;
                key.now = agg.map(|agg| plan::standing(&agg));
            }
        }
        key.outcome = Some(item.state.as_str().to_owned());
        Ok(key)
    }
}

fn view(found: ReplayFound, keys: Option<Vec<KeyView>>) -> Result<ReplayView> {
    let summary: Summary = read(&found.row.summary)?;
    let state = match found.row.stage {
        ReplayStage::Planned if found.is_expired => ReplayStanding::Expired,
        ReplayStage::Planned => ReplayStanding::Planned,
        ReplayStage::Running => ReplayStanding::Running,
        ReplayStage::Done => ReplayStanding::Done,
    };
    let ReplayFound { row, waiting, done, skipped, .. } = found;
    let expires_at: Timestamp = row.expires_at;
    Ok(ReplayView {
        id: Some(row.id),
        dry_run: false,
        state,
        filter: FilterView::from(&row.filter),
        limit: row.limit.unsigned_abs(),
        reason: row.reason,
        made_by: row.made_by,
        made_at: row.made_at,
        expires_at: Some(expires_at),
        started_by: row.started_by,
        started_at: row.started_at,
        ended_at: row.ended_at,
        summary,
        total: waiting + done + skipped,
        done,
        skipped,
        keys,
    })
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    let unreadable =
        |e: serde_json::Error| effectgate_store::StoreError::Rejected { what: format!("a plan's text: {e}") };
    serde_json::from_str(text).map_err(|e| EngineError::from(unreadable(e)))
}
