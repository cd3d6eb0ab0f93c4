//! The reads of runs. How one is made is in [`super::reserve`], what changes one that is there in [`super::commit`].

use std::sync::LazyLock;

use effectgate_core::{
    ids::{FlowName, RunId, SourceName, Tenant},
    run::{Aggregate, Run},
    time::Timestamp,
};

use super::{
    pool::Pool,
    tx::{self, Cut, moment, now},
};
use crate::{
    Result, StoreError,
    row::{self, content_columns, run_columns, run_ref_columns},
    types::{Content, Page, RunFilter, RunOverdue, RunRef},
};

/// The place of the moment behind a run's columns.
pub(super) const NOW_AT: usize = row::RUNS.columns.len();

pub(super) const BY_ID: &str =
    concat!("SELECT ", run_columns!(), ", ", now!(), " FROM runs r WHERE r.run_id = $1 AND r.tenant = $2");

/// The run with its children in one statement, so in one snapshot: a row for each child, or one without.
const LOAD: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    now!(),
    ", c.* FROM runs r LEFT JOIN (
  SELECT 1 AS part, ",
    row::effect_columns!(),
    ", {no_approval} FROM effects e WHERE e.run_id = $1
  UNION ALL
  SELECT 2, {no_effect}, ",
    row::approval_columns!(),
    " FROM approvals p WHERE p.run_id = $1) c ON true
WHERE r.run_id = $1 AND r.tenant = $2"
);

pub(super) static LOAD_SQL: LazyLock<String> = LazyLock::new(|| {
    let nulls = |table: &row::Table| vec!["NULL"; table.columns.len()].join(", ");
    LOAD.replace("{no_effect}", &nulls(&row::EFFECTS)).replace("{no_approval}", &nulls(&row::APPROVALS))
});

pub(super) async fn load(pool: &Pool, tenant: &Tenant, id: RunId) -> Result<Option<Aggregate>> {
    let rows = pool.rows(&LOAD_SQL, &[&id.as_bytes(), &tenant.as_str()]).await?;
    let Some(first) = rows.first() else { return Ok(None) };
    let lease = row::run_lease(first, moment(first, NOW_AT)?)?;
    let mut agg = Aggregate { run: row::run(first)?, lease, effects: Vec::new(), approvals: Vec::new() };
    for row in &rows {
        let effect_at = NOW_AT + 2;
        match tx::computed(row, NOW_AT + 1)? {
            Some(1_i32) => agg.effects.push(row::effect(&Cut(row, effect_at))?),
            Some(_) => agg.approvals.push(row::approval(&Cut(row, effect_at + row::EFFECTS.columns.len()))?),
            None => {}
        }
    }
    agg.effects.sort_by_key(|e| e.id.n);
    agg.approvals.sort_by_key(|a| a.id.n);
    Ok(Some(agg))
}

pub(super) const CONTENT: &str = concat!(
    "SELECT ",
    content_columns!(),
    " FROM runs r LEFT JOIN contents c ON c.run_id = r.run_id WHERE r.run_id = $1 AND r.tenant = $2"
);

pub(super) async fn content(pool: &Pool, tenant: &Tenant, id: RunId) -> Result<Option<Content>> {
    pool.first(CONTENT, &[&id.as_bytes(), &tenant.as_str()], row::content).await
}

/// Differs: newest first is the order of `created_at`, with an index of its own; SQLite has the rowid.
pub(super) const FIND: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs r
WHERE r.tenant = $1 AND (r.created_at, r.run_id) < ($2, $3)
  AND ($4::text IS NULL OR r.flow = $4) AND ($5::text IS NULL OR r.state = $5)
  AND ($6::bigint IS NULL OR r.created_at >= $6) AND ($7::bigint IS NULL OR r.created_at < $7)
ORDER BY r.created_at DESC, r.run_id DESC LIMIT $8"
);

pub(super) async fn find(pool: &Pool, tenant: &Tenant, filter: &RunFilter) -> Result<Page<Run>> {
    if let Some(key) = &filter.key {
        return find_key(pool, tenant, key, filter).await;
    }
    let before = filter.cursor.as_deref().map(row::parse_cursor::<RunId>).transpose()?;
    let at = before.as_ref().map_or(i64::MAX, |(at, _)| at.micros());
    let run = before.as_ref().map_or(&[][..], |(_, id)| id.as_bytes());
    let limit = row::page_limit(filter.limit);
    let (flow, since, until) = (
        filter.flow.as_ref().map(FlowName::as_str),
        filter.since.map(Timestamp::micros),
        filter.until.map(Timestamp::micros),
    );
    let limit_and_one = i64::from(limit) + 1;
    let found = pool
        .list(FIND, &[&tenant.as_str(), &at, &run, &flow, &filter.state, &since, &until, &limit_and_one], |r| {
            let run = row::run(r)?;
            let cursor = row::cursor(run.created_at, run.id);
            Ok((run, cursor))
        })
        .await?;
    Ok(row::page(found, limit))
}

const NOTE_FLOW: &str = "INSERT INTO flows (tenant, flow) VALUES ($1, $2) ON CONFLICT DO NOTHING";
pub(super) const FLOWS: &str = "SELECT flow FROM flows WHERE tenant = $1";

/// Before a flow's first run. Harmless when it is noted already, so a lost answer is no doubt.
pub(super) async fn note_flow(pool: &Pool, tenant: &Tenant, flow: &FlowName) -> Result<()> {
    match pool.write(NOTE_FLOW, &[&tenant.as_str(), &flow.as_str()]).await {
        Err(StoreError::CommitUnknown { what }) => Err(StoreError::Unavailable { what }),
        other => other.map(drop),
    }
}

pub(super) const BY_IDS: &str =
    concat!("SELECT ", run_columns!(), " FROM runs r WHERE r.run_id = ANY ($1) AND r.tenant = $2");

/// Flow and key name the run: no need to look through the others. Without a flow the key is looked up in each that the
/// tenant ever had; an index of keys would cost every reservation a random page.
async fn find_key(pool: &Pool, tenant: &Tenant, key: &str, filter: &RunFilter) -> Result<Page<Run>> {
    let flows = match &filter.flow {
        Some(flow) => vec![flow.clone()],
        None => pool.list(FLOWS, &[&tenant.as_str()], |r| tx::computed::<String>(r, 0).map(FlowName::new)).await?,
    };
    let ids: Vec<RunId> = flows.iter().map(|flow| RunId::derive(tenant, flow, key)).collect();
    let ids: Vec<&[u8]> = ids.iter().map(RunId::as_bytes).collect();
    let runs = pool.list(BY_IDS, &[&ids, &tenant.as_str()], row::run).await?;
    Ok(row::page_of_key(runs, filter))
}

/// Each part follows an index and is bounded, so a long queue costs no more than a short one.
pub(super) const CLAIMABLE: &str = concat!(
    "SELECT run_id, tenant FROM (
  (SELECT run_id, tenant, updated_at AS due FROM runs WHERE state IN ('queued', 'failed_retryable')
      AND tenant = $1 AND flow = $2 AND next_attempt_at IS NULL ORDER BY updated_at LIMIT $3)
  UNION ALL
  (SELECT run_id, tenant, next_attempt_at AS due FROM runs WHERE state IN ('queued', 'failed_retryable')
      AND tenant = $1 AND flow = $2 AND next_attempt_at <= (SELECT ",
    now!(),
    ") ORDER BY next_attempt_at LIMIT $3)
  UNION ALL
  (SELECT run_id, tenant, lease_expires_at AS due FROM runs WHERE state = 'processing'
      AND tenant = $1 AND flow = $2 AND lease_expires_at <= (SELECT ",
    now!(),
    ") AND attempts < attempts_max
      ORDER BY lease_expires_at LIMIT $3)) due
ORDER BY due, run_id LIMIT $3"
);

pub(super) async fn claimable(pool: &Pool, tenant: &Tenant, flow: &FlowName, limit: u32) -> Result<Vec<RunId>> {
    let limit = i64::from(limit);
    pool.list(CLAIMABLE, &[&tenant.as_str(), &flow.as_str(), &limit], |r| Ok(row::run_ref(r)?.id)).await
}

/// As [`CLAIMABLE`], of one source and all tenants.
pub(super) const DELIVERABLE: &str = concat!(
    "SELECT run_id, tenant FROM (
  (SELECT run_id, tenant, updated_at AS due FROM runs WHERE state IN ('queued', 'failed_retryable')
      AND inbound = $1 AND next_attempt_at IS NULL ORDER BY updated_at LIMIT $2)
  UNION ALL
  (SELECT run_id, tenant, next_attempt_at AS due FROM runs WHERE state IN ('queued', 'failed_retryable')
      AND inbound = $1 AND next_attempt_at <= (SELECT ",
    now!(),
    ") ORDER BY next_attempt_at LIMIT $2)
  UNION ALL
  (SELECT run_id, tenant, lease_expires_at AS due FROM runs WHERE state = 'processing'
      AND inbound = $1 AND lease_expires_at <= (SELECT ",
    now!(),
    ") AND attempts < attempts_max
      ORDER BY lease_expires_at LIMIT $2)) due
ORDER BY due, run_id LIMIT $2"
);

pub(super) async fn deliverable(pool: &Pool, source: &SourceName, limit: u32) -> Result<Vec<RunRef>> {
    pool.list(DELIVERABLE, &[&source.as_str(), &i64::from(limit)], row::run_ref).await
}

pub(super) const LEASE_OVER: &str = concat!(
    "SELECT ",
    run_ref_columns!(),
    " FROM runs r WHERE r.state = 'processing' AND r.lease_expires_at <= (SELECT ",
    now!(),
    ") AND r.run_id > $1
  AND (r.attempts >= r.attempts_max OR r.effects_open > 0)
ORDER BY r.run_id LIMIT $2"
);
pub(super) const UNCHANGED: &str = "SELECT run_id, tenant FROM (
  SELECT run_id, tenant FROM runs
    WHERE state IN ('queued', 'awaiting_human', 'approved', 'failed_retryable', 'quarantined') AND updated_at <= $3
  UNION ALL
  SELECT run_id, tenant FROM runs WHERE state = 'processing' AND lease_expires_at <= $3 AND updated_at <= $3) r
WHERE run_id > $1 ORDER BY run_id LIMIT $2";

pub(super) async fn overdue(pool: &Pool, kind: RunOverdue, after: Option<RunId>, limit: u32) -> Result<Vec<RunRef>> {
    let after = after.as_ref().map_or(&[][..], RunId::as_bytes);
    let limit = i64::from(limit);
    match kind {
        RunOverdue::LeaseOver => pool.list(LEASE_OVER, &[&after, &limit], row::run_ref).await,
        RunOverdue::Unchanged { since } => pool.list(UNCHANGED, &[&after, &limit, &since.micros()], row::run_ref).await,
    }
}
