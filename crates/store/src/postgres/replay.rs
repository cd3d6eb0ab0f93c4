//! Replays: the runs that a filter means, plans with their items, and the corrections of a run.

use std::sync::LazyLock;

use effectgate_core::{
    ids::{ReplayId, RunId, Tenant},
    replay::{ReplayFilter, ReplayState},
    run::Run,
    time::Timestamp,
};
use tokio_postgres::Transaction;

use super::{
    columns::{Kind::*, Rows, Shape, expand, params},
    pool::Pool,
    tx::{self, Fault, now},
};
use crate::{
    Result,
    row::{self, replay_columns, replay_item_columns, replay_ref_columns, run_columns},
    types::{MATCHING_SCANNED_MAX, Page, ReplayFound, ReplayItem, ReplayRow, ReplayWrite},
};

/// Differs: oldest first by the moment; SQLite has its rowid. Every statement takes the same parameters: tenant, flow,
/// since, until, event type, the cursor's moment and run, the limit.
macro_rules! matching {
    ($state:expr) => {
        concat!(
            "SELECT ",
            run_columns!(),
            " FROM runs r WHERE ",
            $state,
            " AND r.tenant = $1 AND r.flow = $2 AND r.created_at >= $3 AND r.created_at < $4
  AND ($5::text IS NULL OR r.origin::json ->> 'event_type' = $5) AND (r.created_at, r.run_id) > ($6, $7)
ORDER BY r.created_at, r.run_id LIMIT $8"
        )
    };
}

/// Partial indexes are followed where the statement says their condition again.
pub(super) const RETRYABLE: &str =
    matching!("r.state IN ('queued', 'failed_retryable') AND r.state = 'failed_retryable'");
pub(super) const LEASE_OVER: &str =
    matching!(concat!("r.state = 'processing' AND r.lease_expires_at <= (SELECT ", now!(), ")"));
pub(super) const QUARANTINED: &str = matching!(
    "r.state IN ('queued', 'awaiting_human', 'approved', 'failed_retryable', 'quarantined') AND r.state = 'quarantined'"
);

/// The inner LIMIT bounds what is looked at, the outer one what is found.
pub(super) const ANY: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM (SELECT r.* FROM runs r WHERE r.tenant = $1 AND r.created_at >= $3 AND r.created_at < $4
    AND (r.created_at, r.run_id) > ($6, $7) ORDER BY r.created_at, r.run_id LIMIT $9) r
WHERE r.flow = $2 AND ($5::text IS NULL OR r.origin::json ->> 'event_type' = $5)
ORDER BY r.created_at, r.run_id LIMIT $8"
);
/// The last run that [`ANY`] looks at, if it looks at as many as it may.
pub(super) const ANY_END: &str = "SELECT r.created_at, r.run_id FROM runs r WHERE r.tenant = $1 AND r.created_at >= $2
  AND r.created_at < $3 AND (r.created_at, r.run_id) > ($4, $5) ORDER BY r.created_at, r.run_id OFFSET $6::bigint - 1 LIMIT 1";

pub(super) async fn matching(
    pool: &Pool,
    tenant: &Tenant,
    filter: &ReplayFilter,
    cursor: Option<&str>,
    limit: u32,
) -> Result<Page<Run>> {
    let after = cursor.map(row::parse_cursor::<RunId>).transpose()?;
    let at = after.as_ref().map_or(i64::MIN, |(at, _)| at.micros());
    let run = after.as_ref().map_or(&[][..], |(_, id)| id.as_bytes());
    let (tenant, flow) = (tenant.as_str(), filter.flow.as_str());
    let (since, until) = (filter.since.micros(), filter.until.micros());
    let limit = row::page_limit(limit);
    let limit_and_one = i64::from(limit) + 1;
    let mut values: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
        vec![&tenant, &flow, &since, &until, &filter.event_type, &at, &run, &limit_and_one];
    let sql = match filter.state {
        ReplayState::FailedRetryable => RETRYABLE,
        ReplayState::Processing => LEASE_OVER,
        ReplayState::Quarantined => QUARANTINED,
        ReplayState::Any => ANY,
    };
    if filter.state == ReplayState::Any {
        values.push(&MATCHING_SCANNED_MAX);
    }
    let found = pool
        .list(sql, &values, |r| {
            let run = row::run(r)?;
            let cursor = row::cursor(run.created_at, run.id);
            Ok((run, cursor))
        })
        .await?;
    if found.len() > limit as usize || filter.state != ReplayState::Any {
        return Ok(row::page(found, limit));
    }
    let next = pool.first(ANY_END, &[&tenant, &since, &until, &at, &run, &MATCHING_SCANNED_MAX], end).await?;
    Ok(Page { items: found.into_iter().map(|(run, _)| run).collect(), next })
}

/// The cursor behind the last run that was looked at.
fn end(row: &tokio_postgres::Row) -> Result<String> {
    let run: &[u8] = tx::computed(row, 1)?;
    let run = RunId::from_bytes(run);
    let run = run.ok_or(crate::StoreError::Corrupt { table: "runs", column: "run_id", row: "?".into() })?;
    Ok(row::cursor(tx::moment(row, 0)?, run))
}

pub(super) const CORRECTIONS: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs r WHERE r.corrects = $1 AND r.tenant = $2 ORDER BY r.run_id LIMIT $3"
);

pub(super) async fn corrections(pool: &Pool, tenant: &Tenant, original: RunId, limit: u32) -> Result<Vec<Run>> {
    let limit = i64::from(limit);
    pool.list(CORRECTIONS, &[&original.as_bytes(), &tenant.as_str(), &limit], row::run).await
}

/// LATERAL keeps the counting a look by key for each plan of the page.
macro_rules! with_counts {
    ($which:literal) => {
        concat!(
            "SELECT ",
            replay_columns!(),
            ", y.expires_at <= ",
            now!(),
            ", c.waiting, c.done, c.skipped, c.refused FROM replays y CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE i.state = 'waiting') AS waiting, count(*) FILTER (WHERE i.state = 'done') AS done,
    count(*) FILTER (WHERE i.state = 'skipped') AS skipped, count(*) FILTER (WHERE i.state = 'refused') AS refused
  FROM replay_items i WHERE i.replay_id = y.replay_id) c WHERE ",
            $which
        )
    };
}

pub(super) const FIND: &str = with_counts!("y.replay_id = $1 AND y.tenant = $2");

pub(super) async fn find(pool: &Pool, tenant: &Tenant, id: ReplayId) -> Result<Option<ReplayFound>> {
    pool.first(FIND, &[&id.as_bytes(), &tenant.as_str()], row::replay).await
}

pub(super) const LIST: &str = with_counts!(
    "y.tenant = $1 AND (y.made_at, y.replay_id) < ($2, $3) ORDER BY y.made_at DESC, y.replay_id DESC LIMIT $4"
);

pub(super) async fn list(pool: &Pool, tenant: &Tenant, cursor: Option<&str>, limit: u32) -> Result<Page<ReplayFound>> {
    let before = cursor.map(row::parse_cursor::<ReplayId>).transpose()?;
    let at = before.as_ref().map_or(i64::MAX, |(at, _)| at.micros());
    let id = before.as_ref().map_or(&[][..], |(_, id)| id.as_bytes());
    let limit = row::page_limit(limit);
    let limit_and_one = i64::from(limit) + 1;
    let found = pool
        .list(LIST, &[&tenant.as_str(), &at, &id, &limit_and_one], |r| {
            let found = row::replay(r)?;
            let cursor = row::cursor(found.row.made_at, found.row.id);
            Ok((found, cursor))
        })
        .await?;
    Ok(row::page(found, limit))
}

pub(super) const ITEMS: &str = concat!(
    "SELECT ",
    replay_item_columns!(),
    " FROM replay_items i WHERE i.replay_id = $1 AND i.n > $2 ORDER BY i.n LIMIT $3"
);
pub(super) const WAITING: &str = concat!(
    "SELECT ",
    replay_item_columns!(),
    " FROM replay_items i WHERE i.replay_id = $1 AND i.n > $2 AND i.state = 'waiting' ORDER BY i.n LIMIT $3"
);

pub(super) async fn items(pool: &Pool, id: ReplayId, after: i32, limit: u32, waiting: bool) -> Result<Vec<ReplayItem>> {
    let sql = if waiting { WAITING } else { ITEMS };
    pool.list(sql, &[&id.as_bytes(), &i64::from(after), &i64::from(limit)], row::replay_item).await
}

pub(super) const SETTLE: &str = "UPDATE replay_items SET state = $3, why = $4, outcome = $5
WHERE replay_id = $1 AND n = $2 AND state = 'waiting'";

pub(super) async fn settle(pool: &Pool, id: ReplayId, item: &ReplayItem) -> Result<bool> {
    let (n, s) = (i64::from(item.n), &item.state);
    Ok(pool.write(SETTLE, &[&id.as_bytes(), &n, &s.as_str(), &s.why(), &s.outcome()]).await? == 1)
}

pub(super) const HOLD: &str = concat!(
    "UPDATE replays SET held_by = $2, held_until = ",
    now!(),
    " + $3::bigint * 1000
WHERE replay_id = $1 AND stage = 'running' AND (held_by = $2 OR held_until <= ",
    now!(),
    ")"
);

pub(super) async fn hold(pool: &Pool, id: ReplayId, holder: &str, ms: i64) -> Result<bool> {
    Ok(pool.write(HOLD, &[&id.as_bytes(), &holder, &ms]).await? == 1)
}

pub(super) const STALLED: &str = concat!(
    "SELECT ",
    replay_ref_columns!(),
    " FROM replays y WHERE y.stage = 'running' AND y.held_until <= (SELECT ",
    now!(),
    ") ORDER BY y.held_until LIMIT $1"
);

pub(super) async fn stalled(pool: &Pool, limit: u32) -> Result<Vec<(Tenant, ReplayId)>> {
    pool.list(STALLED, &[&i64::from(limit)], row::replay_ref).await
}

const START: &str = concat!(
    "UPDATE replays SET stage = 'running', started_at = $3, started_by = $4, start_reason = $5
WHERE replay_id = $1 AND tenant = $2 AND stage = 'planned' AND expires_at > ",
    now!()
);
const END: &str =
    "UPDATE replays y SET stage = 'done', ended_at = $3, held_until = 0 WHERE y.replay_id = $1 AND y.tenant = $2
  AND y.stage = 'running'
  AND NOT EXISTS (SELECT 1 FROM replay_items i WHERE i.replay_id = y.replay_id AND i.state = 'waiting')";

/// Makes a change of a plan; false if it cannot be made. Differs: the caller rolls back; SQLite asks first.
pub(super) async fn write(tx: &Transaction<'_>, tenant: &Tenant, write: &ReplayWrite) -> Result<bool, Fault> {
    let tenant = tenant.as_str();
    let changed = match write {
        ReplayWrite::Plan(row, items) => return put(tx, row, items).await.map(|()| true),
        ReplayWrite::Start { id, by, reason, at } => {
            tx.execute(START, &[&id.as_bytes(), &tenant, &at.micros(), by, reason]).await?
        }
        ReplayWrite::End { id, at } => tx.execute(END, &[&id.as_bytes(), &tenant, &at.micros()]).await?,
    };
    Ok(changed == 1)
}

const PUT: &str =
    "INSERT INTO replays (replay_id, tenant, flow, filter, run_limit, summary, made_by, reason, stage, made_at,
  expires_at, held_until, purge_after) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12)";

const PLANNED: Shape = Shape {
    name: "i",
    columns: &[
        ("replay_id", Blob),
        ("n", Int),
        ("run_id", Blob),
        ("version", Int),
        ("state", Text),
        ("planned", Text),
        ("why", Text),
        ("outcome", Text),
    ],
};
static PUT_ITEMS_SQL: LazyLock<String> = LazyLock::new(|| {
    expand(
        "INSERT INTO replay_items (replay_id, n, run_id, version, state, planned, why, outcome) SELECT * FROM {i}",
        &[&PLANNED],
    )
});

async fn put(tx: &Transaction<'_>, y: &ReplayRow, items: &[ReplayItem]) -> Result<(), Fault> {
    let (id, filter, limit) = (y.id.as_bytes(), row::json(&y.filter)?, i64::from(y.limit));
    let moments = [y.made_at, y.expires_at, y.purge_after].map(Timestamp::micros);
    let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] = &[
        &id,
        &y.tenant.as_str(),
        &y.filter.flow.as_str(),
        &filter,
        &limit,
        &y.summary,
        &y.made_by,
        &y.reason,
        &y.stage.as_str(),
        &moments[0],
        &moments[1],
        &moments[2],
    ];
    tx.execute(PUT, values).await?;
    let mut rows = Rows::new(&PLANNED);
    for item in items {
        let s = &item.state;
        rows.push([
            id.into(),
            item.n.into(),
            item.run.as_bytes().into(),
            item.version.into(),
            s.as_str().into(),
            (&item.planned).into(),
            s.why().into(),
            s.outcome().into(),
        ]);
    }
    tx.execute(PUT_ITEMS_SQL.as_str(), &params(&[rows])).await?;
    Ok(())
}

pub(super) const DROP_OVER: &str = concat!(
    "DELETE FROM replays WHERE replay_id = ANY (ARRAY(SELECT replay_id FROM replays
  WHERE stage IN ('planned', 'done') AND purge_after <= (SELECT ",
    now!(),
    ") ORDER BY purge_after LIMIT $1 FOR UPDATE SKIP LOCKED))"
);

/// Forgets plans whose time is over; one that is running stays.
pub(super) async fn purge(pool: &Pool, limit: i64) -> Result<()> {
    pool.write(DROP_OVER, &[&limit]).await.map(drop)
}
