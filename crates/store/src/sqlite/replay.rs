//! Replays: the runs that a filter means, plans with their items, and the corrections of a run.

use effectgate_core::{
    ids::{ReplayId, RunId, Tenant},
    replay::{ReplayFilter, ReplayState},
    run::Run,
    time::Timestamp,
};
use rusqlite::{named_params, params};

use super::tx::{Tx, failed};
use crate::{
    Result, StoreError,
    row::{self, replay_columns, replay_item_columns, replay_ref_columns, run_columns},
    types::{MATCHING_SCANNED_MAX, Page, ReplayFound, ReplayItem, ReplayRow, ReplayWrite},
};

/// Differs: the oldest first is the order of the rowid, as newest first is its reverse; PostgreSQL has an index on the
/// moment. Every statement takes the same parameters.
macro_rules! matching {
    ($hint:literal, $state:literal) => {
        concat!(
            "SELECT ",
            run_columns!(),
            ", r.rowid FROM runs r ",
            $hint,
            " WHERE ",
            $state,
            " AND r.rowid > :after AND r.rowid <= :ceiling AND r.tenant = :tenant AND r.flow = :flow
  AND r.created_at >= :since AND r.created_at < :until
  AND (:type IS NULL OR json_extract(r.origin, '$.event_type') = :type) AND :now IS NOT NULL
ORDER BY r.rowid LIMIT :limit"
        )
    };
}

/// Partial indexes are followed where the statement says their condition again.
pub(super) const RETRYABLE: &str =
    matching!("INDEXED BY runs_waiting", "r.state IN ('queued', 'failed_retryable') AND r.state = 'failed_retryable'");
pub(super) const LEASE_OVER: &str =
    matching!("INDEXED BY runs_leased", "r.state = 'processing' AND r.lease_expires_at <= :now");
pub(super) const QUARANTINED: &str = matching!(
    "INDEXED BY runs_open",
    "r.state IN ('queued', 'awaiting_human', 'approved', 'failed_retryable', 'quarantined') AND r.state = 'quarantined'"
);
/// By the rowid, within a page's bounds.
pub(super) const ANY: &str = matching!("NOT INDEXED", "1");

pub(super) fn matching(
    tx: &Tx<'_>,
    tenant: &Tenant,
    filter: &ReplayFilter,
    cursor: Option<&str>,
    limit: u32,
) -> Result<Page<Run>> {
    let after = match cursor {
        Some(cursor) => cursor.parse().map_err(|_| StoreError::BadCursor)?,
        None if filter.state == ReplayState::Any => start(tx, filter.since)?,
        None => 0,
    };
    let (sql, ceiling) = match filter.state {
        ReplayState::FailedRetryable => (RETRYABLE, i64::MAX),
        ReplayState::Processing => (LEASE_OVER, i64::MAX),
        ReplayState::Quarantined => (QUARANTINED, i64::MAX),
        ReplayState::Any => (ANY, after.saturating_add(MATCHING_SCANNED_MAX)),
    };
    let limit = row::page_limit(limit);
    let values = named_params! {
        ":after": after, ":ceiling": ceiling, ":tenant": tenant.as_str(), ":flow": filter.flow.as_str(),
        ":since": filter.since.micros(), ":until": filter.until.micros(), ":type": filter.event_type,
        ":now": tx.now.micros(), ":limit": limit + 1,
    };
    let found = tx.list(sql, values, |r| {
        let place: i64 = r.get(row::RUNS.columns.len()).map_err(failed)?;
        Ok((row::run(r)?, place.to_string()))
    })?;
    if found.len() > limit as usize || ceiling == i64::MAX {
        return Ok(row::page(found, limit));
    }
    let next = goes_on_above(tx, ceiling, filter.until)?.then(|| ceiling.to_string());
    Ok(Page { items: found.into_iter().map(|(run, _)| run).collect(), next })
}

/// Moments stand in nearly the order of the rowid: a run is made shortly before it is written.
const APART_MS: i64 = 3_600_000;

pub(super) const FROM: &str = "SELECT r.rowid, r.created_at FROM runs r WHERE r.rowid >= ?1 ORDER BY r.rowid LIMIT 1";
pub(super) const TOP: &str = "SELECT r.rowid FROM runs r ORDER BY r.rowid DESC LIMIT 1";

fn from(tx: &Tx<'_>, place: i64) -> Result<Option<(i64, Timestamp)>> {
    tx.first(FROM, params![place], |r| {
        Ok((r.get(0).map_err(failed)?, r.get(1).map(Timestamp::from_micros).map_err(failed)?))
    })
}

/// The place behind which every run is that was made at or after `since`, found by halving.
fn start(tx: &Tx<'_>, since: Timestamp) -> Result<i64> {
    let early = since.plus_ms(-APART_MS);
    let (mut low, mut high) = (1, tx.count(TOP, [])?.saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        match from(tx, middle)? {
            Some((place, at)) if at < early => low = place + 1,
            _ => high = middle,
        }
    }
    Ok(low - 1)
}

/// True if there may be more behind this place.
fn goes_on_above(tx: &Tx<'_>, place: i64, until: Timestamp) -> Result<bool> {
    Ok(from(tx, place + 1)?.is_some_and(|(_, at)| at < until.plus_ms(APART_MS)))
}

pub(super) const CORRECTIONS: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs r WHERE r.corrects = ?1 AND r.tenant = ?2 ORDER BY r.run_id LIMIT ?3"
);

pub(super) fn corrections(tx: &Tx<'_>, tenant: &Tenant, original: RunId, limit: u32) -> Result<Vec<Run>> {
    tx.list(CORRECTIONS, params![original.as_bytes(), tenant.as_str(), limit], |r| row::run(r))
}

macro_rules! with_counts {
    ($now:literal, $which:literal) => {
        concat!(
            "SELECT ",
            replay_columns!(),
            ", y.expires_at <= ",
            $now,
            ", count(i.n) FILTER (WHERE i.state = 'waiting'), count(i.n) FILTER (WHERE i.state = 'done'),
  count(i.n) FILTER (WHERE i.state = 'skipped'), count(i.n) FILTER (WHERE i.state = 'refused')
FROM replays y LEFT JOIN replay_items i ON i.replay_id = y.replay_id WHERE ",
            $which
        )
    };
}

pub(super) const FIND: &str = with_counts!("?3", "y.replay_id = ?1 AND y.tenant = ?2 GROUP BY y.replay_id");

pub(super) fn find(tx: &Tx<'_>, tenant: &Tenant, id: ReplayId) -> Result<Option<ReplayFound>> {
    tx.first(FIND, params![id.as_bytes(), tenant.as_str(), tx.now.micros()], |r| row::replay(r))
}

pub(super) const LIST: &str = with_counts!(
    "?4",
    "y.replay_id IN (SELECT p.replay_id FROM replays p
    WHERE p.tenant = ?1 AND (p.made_at, p.replay_id) < (?2, ?3) ORDER BY p.made_at DESC, p.replay_id DESC LIMIT ?5)
GROUP BY y.replay_id ORDER BY y.made_at DESC, y.replay_id DESC"
);

pub(super) fn list(tx: &Tx<'_>, tenant: &Tenant, cursor: Option<&str>, limit: u32) -> Result<Page<ReplayFound>> {
    let before = cursor.map(row::parse_cursor::<ReplayId>).transpose()?;
    let at = before.as_ref().map_or(i64::MAX, |(at, _)| at.micros());
    let id = before.as_ref().map_or(&[][..], |(_, id)| id.as_bytes());
    let limit = row::page_limit(limit);
    let found = tx.list(LIST, params![tenant.as_str(), at, id, tx.now.micros(), limit + 1], |r| {
        let found = row::replay(r)?;
        let cursor = row::cursor(found.row.made_at, found.row.id);
        Ok((found, cursor))
    })?;
    Ok(row::page(found, limit))
}

pub(super) const ITEMS: &str = concat!(
    "SELECT ",
    replay_item_columns!(),
    " FROM replay_items i WHERE i.replay_id = ?1 AND i.n > ?2 ORDER BY i.n LIMIT ?3"
);
pub(super) const WAITING: &str = concat!(
    "SELECT ",
    replay_item_columns!(),
    " FROM replay_items i WHERE i.replay_id = ?1 AND i.n > ?2 AND i.state = 'waiting' ORDER BY i.n LIMIT ?3"
);

pub(super) fn items(tx: &Tx<'_>, id: ReplayId, after: i32, limit: u32, waiting: bool) -> Result<Vec<ReplayItem>> {
    let sql = if waiting { WAITING } else { ITEMS };
    tx.list(sql, params![id.as_bytes(), after, limit], |r| row::replay_item(r))
}

const SETTLE: &str = "UPDATE replay_items SET state = ?3, why = ?4, outcome = ?5
WHERE replay_id = ?1 AND n = ?2 AND state = 'waiting'";

pub(super) fn settle(tx: &Tx<'_>, id: ReplayId, item: &ReplayItem) -> Result<bool> {
    let s = &item.state;
    Ok(tx.run(SETTLE, params![id.as_bytes(), item.n, s.as_str(), s.why(), s.outcome()])? == 1)
}

const HOLD: &str = "UPDATE replays SET held_by = ?2, held_until = ?3
WHERE replay_id = ?1 AND stage = 'running' AND (held_by = ?2 OR held_until <= ?4)";

pub(super) fn hold(tx: &Tx<'_>, id: ReplayId, holder: &str, ms: i64) -> Result<bool> {
    let until = tx.now.plus_ms(ms).micros();
    Ok(tx.run(HOLD, params![id.as_bytes(), holder, until, tx.now.micros()])? == 1)
}

pub(super) const STALLED: &str = concat!(
    "SELECT ",
    replay_ref_columns!(),
    " FROM replays y WHERE y.stage = 'running' AND y.held_until <= ?1 ORDER BY y.held_until LIMIT ?2"
);

pub(super) fn stalled(tx: &Tx<'_>, limit: u32) -> Result<Vec<(Tenant, ReplayId)>> {
    tx.list(STALLED, params![tx.now.micros(), limit], |r| row::replay_ref(r))
}

const MAY_START: &str =
    "SELECT count(*) FROM replays WHERE replay_id = ?1 AND tenant = ?2 AND stage = 'planned' AND expires_at > ?3";
const MAY_END: &str = "SELECT count(*) FROM replays y WHERE y.replay_id = ?1 AND y.tenant = ?2 AND y.stage = 'running'
  AND ?3 IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM replay_items i WHERE i.replay_id = y.replay_id AND i.state = 'waiting')";

/// Whether the change can be made. Differs: asked before the head is moved, because there is one writer; PostgreSQL
/// writes and rolls back.
pub(super) fn may(tx: &Tx<'_>, tenant: &Tenant, write: &ReplayWrite) -> Result<bool> {
    let (sql, id) = match write {
        ReplayWrite::Plan(..) => return Ok(true),
        ReplayWrite::Start { id, .. } => (MAY_START, id),
        ReplayWrite::End { id, .. } => (MAY_END, id),
    };
    Ok(tx.count(sql, params![id.as_bytes(), tenant.as_str(), tx.now.micros()])? == 1)
}

const START: &str =
    "UPDATE replays SET stage = 'running', started_at = ?2, started_by = ?3, start_reason = ?4 WHERE replay_id = ?1";
const END: &str = "UPDATE replays SET stage = 'done', ended_at = ?2, held_until = 0 WHERE replay_id = ?1";

/// Makes a change that [`may`] be made.
pub(super) fn write(tx: &Tx<'_>, write: &ReplayWrite) -> Result<()> {
    match write {
        ReplayWrite::Plan(row, items) => put(tx, row, items),
        ReplayWrite::Start { id, by, reason, at } => {
            tx.run(START, params![id.as_bytes(), at.micros(), by, reason]).map(drop)
        }
        ReplayWrite::End { id, at } => tx.run(END, params![id.as_bytes(), at.micros()]).map(drop),
    }
}

const PUT: &str =
    "INSERT INTO replays (replay_id, tenant, flow, filter, run_limit, summary, made_by, reason, stage, made_at,
  expires_at, held_until, purge_after) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12)";
const PUT_ITEM: &str = "INSERT INTO replay_items (replay_id, n, run_id, version, state, planned, why, outcome)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

fn put(tx: &Tx<'_>, y: &ReplayRow, items: &[ReplayItem]) -> Result<()> {
    let values = params![
        y.id.as_bytes(),
        y.tenant.as_str(),
        y.filter.flow.as_str(),
        row::json(&y.filter)?,
        y.limit,
        y.summary,
        y.made_by,
        y.reason,
        y.stage.as_str(),
        y.made_at.micros(),
        y.expires_at.micros(),
        y.purge_after.micros(),
    ];
    tx.run(PUT, values)?;
    for item in items {
        let s = &item.state;
        let values = params![
            y.id.as_bytes(),
            item.n,
            item.run.as_bytes(),
            item.version,
            s.as_str(),
            item.planned,
            s.why(),
            s.outcome(),
        ];
        tx.run(PUT_ITEM, values)?;
    }
    Ok(())
}

const DROP_OVER: &str = "DELETE FROM replays WHERE replay_id IN (SELECT replay_id FROM replays
  WHERE stage IN ('planned', 'done') AND purge_after <= ?1 ORDER BY purge_after LIMIT ?2)";

/// Forgets plans whose time is over; one that is running stays.
pub(super) fn purge(tx: &Tx<'_>, limit: u32) -> Result<()> {
    tx.run(DROP_OVER, params![tx.now.micros(), limit]).map(drop)
}
