//! Reservation, and the reads of runs. What changes a run that is there is in [`super::commit`].

use effectgate_core::{
    ids::{FlowName, RunId, SourceName, Tenant},
    journal,
    run::{Aggregate, Run},
    time::Timestamp,
};
use rusqlite::{named_params, params};

use super::{
    approval, effect,
    journal::{self as chain, Added},
    tx::{Tx, failed},
};
use crate::{
    Result, StoreError,
    row::{self, content_columns, run_columns, run_ref_columns},
    types::{Content, NewRun, Page, Reserved, RunFilter, RunOverdue, RunRef},
};

const INSERT: &str = "INSERT INTO runs (run_id, tenant, flow, flow_revision, key, state, reason, version, payload_hash,
  identity_rule, owner, fence, lease_since, lease_expires_at, attempts, attempts_max, repairs_used, takeovers,
  effects_total, effects_open, effects_failed, effects_cancelled, refusals, next_attempt_at, journal_seq, journal_head,
  origin, created_at, updated_at, expires_at, content_expires_at, corrects, inbound)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
  ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33)
ON CONFLICT (run_id) DO NOTHING";

/// A hot key changes nothing, so a batch of duplicates writes nothing and flushes nothing.
pub(super) fn reserve(tx: &Tx<'_>, new: &NewRun) -> Result<Reserved> {
    if insert(tx, new)? == 0 {
        return exists(tx, new);
    }
    if chain::add(tx, &new.entry)? == Added::Taken {
        go_on(tx, new)?;
    }
    if !new.content.is_empty() {
        super::commit::content(tx, new.run.id, &new.content)?;
    }
    Ok(Reserved::Created { lease: new.lease_ms.map(|ms| row::lease(tx.now, tx.now.plus_ms(ms), tx.now)) })
}

fn insert(tx: &Tx<'_>, new: &NewRun) -> Result<usize> {
    let run = &new.run;
    let lease_since = new.lease_ms.map(|_| tx.now.micros());
    let lease_expires_at = new.lease_ms.map(|ms| tx.now.plus_ms(ms).micros());
    let values = params![
        run.id.as_bytes(),
        run.tenant.as_str(),
        run.flow.as_str(),
        run.flow_revision,
        run.key,
        run.state.as_str(),
        run.state.reason(),
        run.version,
        &run.payload_hash.as_bytes()[..],
        run.identity_rule,
        run.owner.as_ref().map(|o| o.as_str()),
        run.fence.0,
        lease_since,
        lease_expires_at,
        run.attempts,
        run.attempts_max,
        run.repairs_used,
        run.takeovers,
        run.effects.total,
        run.effects.open,
        run.effects.failed,
        run.effects.cancelled,
        run.refusals,
        run.state.next_attempt_at().map(Timestamp::micros),
        run.head.seq,
        run.head.hash.as_ref().map(|h| &h.as_bytes()[..]),
        row::json(&run.origin)?,
        run.created_at.micros(),
        run.updated_at.micros(),
        run.expires_at.map(Timestamp::micros),
        run.content_expires_at.map(Timestamp::micros),
        run.origin.corrects.as_ref().map(RunId::as_bytes),
        run.origin.inbound.as_ref().map(SourceName::as_str),
    ];
    tx.run(INSERT, values)
}

const BY_ID: &str = concat!("SELECT ", run_columns!(), " FROM runs r WHERE r.run_id = ?1 AND r.tenant = ?2");

fn exists(tx: &Tx<'_>, new: &NewRun) -> Result<Reserved> {
    let found = tx.first(BY_ID, params![new.run.id.as_bytes(), new.run.tenant.as_str()], |r| {
        Ok(Reserved::Exists { run: Box::new(row::run(r)?), lease: row::run_lease(r, tx.now)? })
    })?;
    // The id is a hash of tenant, flow and key: another tenant's row under it cannot be.
    found.ok_or_else(|| StoreError::Corrupt { table: "runs", column: "tenant", row: new.run.id.to_string() })
}

const MOVE_HEAD: &str = "UPDATE runs SET journal_seq = ?2, journal_head = ?3 WHERE run_id = ?1";

/// The key was used before and its run purged: the new run's record goes on where the old one ended.
fn go_on(tx: &Tx<'_>, new: &NewRun) -> Result<()> {
    let old = chain::take_head(tx, new.run.id)?;
    let mut head =
        old.ok_or_else(|| StoreError::Rejected { what: format!("{} has a journal without a head", new.run.id) })?;
    let entry = journal::reseal(&mut head, &new.entry)
        .map_err(|e| StoreError::Rejected { what: format!("the first entry of {} is no entry: {e}", new.run.id) })?;
    if chain::add(tx, &entry)? == Added::Taken {
        return Err(StoreError::Rejected { what: format!("{} has a journal beyond its head", new.run.id) });
    }
    tx.run(MOVE_HEAD, params![new.run.id.as_bytes(), head.seq, &entry.hash.as_bytes()[..]]).map(drop)
}

pub(super) fn load(tx: &Tx<'_>, tenant: &Tenant, id: RunId) -> Result<Option<Aggregate>> {
    let found =
        tx.first(BY_ID, params![id.as_bytes(), tenant.as_str()], |r| Ok((row::run(r)?, row::run_lease(r, tx.now)?)))?;
    let Some((run, lease)) = found else { return Ok(None) };
    Ok(Some(Aggregate { run, lease, effects: effect::of_run(tx, id)?, approvals: approval::of_run(tx, id)? }))
}

const CONTENT: &str = concat!(
    "SELECT ",
    content_columns!(),
    " FROM runs r LEFT JOIN contents c ON c.run_id = r.run_id WHERE r.run_id = ?1 AND r.tenant = ?2"
);

pub(super) fn content(tx: &Tx<'_>, tenant: &Tenant, id: RunId) -> Result<Option<Content>> {
    tx.first(CONTENT, params![id.as_bytes(), tenant.as_str()], |r| row::content(r))
}

/// Differs: newest first is the order of the rowid, which grows with every insert and needs no index of its own.
const FIND: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", r.rowid FROM runs r
WHERE r.tenant = :tenant AND r.rowid < :before
  AND (:flow IS NULL OR r.flow = :flow) AND (:state IS NULL OR r.state = :state)
  AND (:since IS NULL OR r.created_at >= :since) AND (:until IS NULL OR r.created_at < :until)
ORDER BY r.rowid DESC LIMIT :limit"
);

pub(super) fn find(tx: &Tx<'_>, tenant: &Tenant, filter: &RunFilter) -> Result<Page<Run>> {
    if let Some(key) = &filter.key {
        return find_key(tx, tenant, key, filter);
    }
    let before = match &filter.cursor {
        Some(cursor) => cursor.parse().map_err(|_| StoreError::BadCursor)?,
        None => i64::MAX,
    };
    let limit = row::page_limit(filter.limit);
    let values = named_params! {
        ":tenant": tenant.as_str(), ":before": before,
        ":flow": filter.flow.as_ref().map(FlowName::as_str), ":state": filter.state,
        ":since": filter.since.map(Timestamp::micros), ":until": filter.until.map(Timestamp::micros),
        ":limit": limit + 1,
    };
    let found = tx.list(FIND, values, |r| {
        let place: i64 = r.get(row::RUNS.columns.len()).map_err(failed)?;
        Ok((row::run(r)?, place.to_string()))
    })?;
    Ok(row::page(found, limit))
}

const NOTE_FLOW: &str = "INSERT INTO flows (tenant, flow) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
pub(super) const FLOWS: &str = "SELECT flow FROM flows WHERE tenant = ?1";

/// Before a flow's first run. Harmless when it is noted already.
pub(super) fn note_flow(tx: &Tx<'_>, tenant: &Tenant, flow: &FlowName) -> Result<()> {
    tx.run(NOTE_FLOW, params![tenant.as_str(), flow.as_str()]).map(drop)
}

/// Flow and key name the run: no need to look through the others. Without a flow the key is looked up in each that the
/// tenant ever had; an index of keys would cost every reservation a random page.
fn find_key(tx: &Tx<'_>, tenant: &Tenant, key: &str, filter: &RunFilter) -> Result<Page<Run>> {
    let flows = match &filter.flow {
        Some(flow) => vec![flow.clone()],
        None => {
            tx.list(FLOWS, params![tenant.as_str()], |r| r.get::<_, String>(0).map(FlowName::new).map_err(failed))?
        }
    };
    let mut runs = Vec::new();
    for flow in flows {
        let id = RunId::derive(tenant, &flow, key);
        runs.extend(tx.first(BY_ID, params![id.as_bytes(), tenant.as_str()], |r| row::run(r))?);
    }
    Ok(row::page_of_key(runs, filter))
}

/// Each part follows an index and is bounded, so a long queue costs no more than a short one.
pub(super) const CLAIMABLE: &str = "SELECT run_id, tenant FROM (
  SELECT * FROM (SELECT run_id, tenant, updated_at AS due FROM runs WHERE state IN ('queued', 'failed_retryable')
      AND tenant = ?1 AND flow = ?2 AND next_attempt_at IS NULL ORDER BY updated_at LIMIT ?4)
  UNION ALL
  SELECT * FROM (SELECT run_id, tenant, next_attempt_at AS due FROM runs WHERE state IN ('queued', 'failed_retryable')
      AND tenant = ?1 AND flow = ?2 AND next_attempt_at <= ?3 ORDER BY next_attempt_at LIMIT ?4)
  UNION ALL
  SELECT * FROM (SELECT run_id, tenant, lease_expires_at AS due FROM runs WHERE state = 'processing'
      AND tenant = ?1 AND flow = ?2 AND lease_expires_at <= ?3 AND attempts < attempts_max
      ORDER BY lease_expires_at LIMIT ?4))
ORDER BY due, run_id LIMIT ?4";

pub(super) fn claimable(tx: &Tx<'_>, tenant: &Tenant, flow: &FlowName, limit: u32) -> Result<Vec<RunId>> {
    let values = params![tenant.as_str(), flow.as_str(), tx.now.micros(), limit];
    tx.list(CLAIMABLE, values, |r| Ok(row::run_ref(r)?.id))
}

/// As [`CLAIMABLE`], of one source and all tenants.
pub(super) const DELIVERABLE: &str = "SELECT run_id, tenant FROM (
  SELECT * FROM (SELECT run_id, tenant, updated_at AS due FROM runs WHERE state IN ('queued', 'failed_retryable')
      AND inbound = ?1 AND next_attempt_at IS NULL ORDER BY updated_at LIMIT ?3)
  UNION ALL
  SELECT * FROM (SELECT run_id, tenant, next_attempt_at AS due FROM runs WHERE state IN ('queued', 'failed_retryable')
      AND inbound = ?1 AND next_attempt_at <= ?2 ORDER BY next_attempt_at LIMIT ?3)
  UNION ALL
  SELECT * FROM (SELECT run_id, tenant, lease_expires_at AS due FROM runs WHERE state = 'processing'
      AND inbound = ?1 AND lease_expires_at <= ?2 AND attempts < attempts_max
      ORDER BY lease_expires_at LIMIT ?3))
ORDER BY due, run_id LIMIT ?3";

pub(super) fn deliverable(tx: &Tx<'_>, source: &SourceName, limit: u32) -> Result<Vec<RunRef>> {
    tx.list(DELIVERABLE, params![source.as_str(), tx.now.micros(), limit], |r| row::run_ref(r))
}

/// The order would tempt the planner to walk every run by id (a third of a core at a million runs, measured 2026-11-30).
pub(super) const LEASE_OVER: &str = concat!(
    "SELECT ",
    run_ref_columns!(),
    " FROM runs r INDEXED BY runs_overtaken WHERE r.state = 'processing' AND r.lease_expires_at <= ?1 AND r.run_id > ?2
  AND (r.attempts >= r.attempts_max OR r.effects_open > 0)
ORDER BY r.run_id LIMIT ?3"
);
pub(super) const UNCHANGED: &str = "SELECT run_id, tenant FROM (
  SELECT run_id, tenant FROM runs INDEXED BY runs_open
    WHERE state IN ('queued', 'awaiting_human', 'approved', 'failed_retryable', 'quarantined') AND updated_at <= ?1
  UNION ALL
  SELECT run_id, tenant FROM runs INDEXED BY runs_leased WHERE state = 'processing' AND lease_expires_at <= ?1 AND updated_at <= ?1)
WHERE run_id > ?2 ORDER BY run_id LIMIT ?3";

pub(super) fn overdue(tx: &Tx<'_>, kind: RunOverdue, after: Option<RunId>, limit: u32) -> Result<Vec<RunRef>> {
    let (sql, moment) = match kind {
        RunOverdue::LeaseOver => (LEASE_OVER, tx.now),
        RunOverdue::Unchanged { since } => (UNCHANGED, since),
    };
    let after = after.as_ref().map_or(&[][..], RunId::as_bytes);
    tx.list(sql, params![moment.micros(), after, limit], |r| row::run_ref(r))
}
