//! The outbox: what is due, lost or unknown, and the rows that a transition writes.

use effectgate_core::{
    effect::{Attempt, Effect, EffectState, Executor},
    ids::{EffectId, ProviderName, RunId, Tenant},
    time::Timestamp,
    transition::EffectWrite,
};
use rusqlite::{named_params, params};

use super::tx::Tx;
use crate::{
    Result, StoreError,
    row::{self, attempt_columns, effect_columns, run_columns},
    types::{DueEffect, EffectFilter, Page},
};

/// What a switch holds back is passed over, or the oldest such rows would fill every batch and nothing else would go
/// out. The commit of an attempt asks the switches again.
///
/// Differs: CROSS JOIN holds SQLite's planner to the order written, so that the effects' index leads.
pub(super) const DUE: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e CROSS JOIN runs r ON r.run_id = e.run_id
WHERE e.provider = ?1 AND e.state IN ('pending', 'scheduled') AND e.executor = 'dispatcher' AND e.due_at <= ?2
  AND NOT EXISTS (SELECT 1 FROM switches s WHERE s.enabled = 0 AND (s.scope, s.name) IN (VALUES
    ('all', ''), ('tenant', r.tenant), ('flow', r.flow), ('provider', e.provider), ('effect_type', e.type)))
ORDER BY e.due_at, e.run_id, e.n LIMIT ?3"
);

pub(super) fn due(tx: &Tx<'_>, provider: &ProviderName, limit: u32) -> Result<Vec<DueEffect>> {
    tx.list(DUE, params![provider.as_str(), tx.now.micros(), limit], |r| row::due_effect(r))
}

/// As above, for what waits for a budget: room may have come before its moment.
pub(super) const WAITING: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e INDEXED BY effects_waiting CROSS JOIN runs r ON r.run_id = e.run_id
WHERE e.provider = ?1 AND e.state = 'pending' AND e.executor = 'dispatcher'
  AND e.reason IN ('budget_used_up', 'budget_too_small') AND e.due_at > ?2
  AND NOT EXISTS (SELECT 1 FROM switches s WHERE s.enabled = 0 AND (s.scope, s.name) IN (VALUES
    ('all', ''), ('tenant', r.tenant), ('flow', r.flow), ('provider', e.provider), ('effect_type', e.type)))
ORDER BY e.due_at, e.run_id, e.n LIMIT ?3"
);

pub(super) fn waiting(tx: &Tx<'_>, provider: &ProviderName, limit: u32) -> Result<Vec<DueEffect>> {
    tx.list(WAITING, params![provider.as_str(), tx.now.micros(), limit], |r| row::due_effect(r))
}

pub(super) const LOST: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e CROSS JOIN runs r ON r.run_id = e.run_id
WHERE e.state = 'sending' AND e.lease_expires_at <= ?1 ORDER BY e.lease_expires_at, e.run_id, e.n LIMIT ?2"
);

pub(super) fn lost(tx: &Tx<'_>, limit: u32) -> Result<Vec<DueEffect>> {
    tx.list(LOST, params![tx.now.micros(), limit], |r| row::due_effect(r))
}

pub(super) const UNKNOWN: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e CROSS JOIN runs r ON r.run_id = e.run_id
WHERE e.state = 'unknown' AND e.due_at <= ?1 ORDER BY e.due_at, e.run_id, e.n LIMIT ?2"
);

pub(super) fn unknown(tx: &Tx<'_>, limit: u32) -> Result<Vec<DueEffect>> {
    tx.list(UNKNOWN, params![tx.now.micros(), limit], |r| row::due_effect(r))
}

/// In the order of the index of what is open. Names the states once more for the planner, as [`FIND_OPEN_OLDEST`] does.
pub(super) const REVIEW: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e INDEXED BY effects_open CROSS JOIN runs r ON r.run_id = e.run_id
WHERE e.state = 'review' AND e.state IN ('scheduled', 'pending', 'sending', 'unknown', 'review')
  AND e.due_at <= ?1 AND (e.updated_at, e.run_id, e.n) > (?2, ?3, ?4) ORDER BY e.updated_at, e.run_id, e.n LIMIT ?5"
);

pub(super) fn review(tx: &Tx<'_>, since: Timestamp, after: Option<&Effect>, limit: u32) -> Result<Vec<DueEffect>> {
    let at = after.map_or(i64::MIN, |last| last.updated_at.micros());
    let run = after.map_or(&[][..], |last| last.id.run.as_bytes());
    let n = after.map_or(0, |last| last.id.n);
    tx.list(REVIEW, params![since.micros(), at, run, n, limit], |r| row::due_effect(r))
}

pub(super) const FIND: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e CROSS JOIN runs r ON r.run_id = e.run_id
WHERE r.tenant = :tenant AND (e.updated_at, e.run_id, e.n) < (:at, :run, :n)
  AND (:states = '[]' OR e.state IN (SELECT value FROM json_each(:states)))
  AND (:provider IS NULL OR e.provider = :provider)
ORDER BY e.updated_at DESC, e.run_id DESC, e.n DESC LIMIT :limit"
);

/// One state that is not final: a seek in the index of those, however many effects have ended. Names the states once
/// more for the planner, which takes a partial index only where the condition stands.
macro_rules! find_open {
    ($order:literal, $beyond:literal) => {
        concat!(
            "SELECT ",
            run_columns!(),
            ", ",
            effect_columns!(),
            " FROM effects e INDEXED BY effects_open CROSS JOIN runs r ON r.run_id = e.run_id
WHERE e.state = (SELECT value FROM json_each(:states)) AND e.state IN ('scheduled', 'pending', 'sending', 'unknown', 'review')
  AND r.tenant = :tenant AND (e.updated_at, e.run_id, e.n) ",
            $beyond,
            " (:at, :run, :n) AND (:provider IS NULL OR e.provider = :provider)
ORDER BY e.updated_at ",
            $order,
            ", e.run_id ",
            $order,
            ", e.n ",
            $order,
            " LIMIT :limit"
        )
    };
}
pub(super) const FIND_OPEN_NEWEST: &str = find_open!("DESC", "<");
pub(super) const FIND_OPEN_OLDEST: &str = find_open!("ASC", ">");

pub(super) fn find(tx: &Tx<'_>, tenant: &Tenant, filter: &EffectFilter) -> Result<Page<DueEffect>> {
    let is_oldest_first = filter.is_oldest_first();
    let sql = match (filter.one_open_state().is_some(), is_oldest_first) {
        (true, true) => FIND_OPEN_OLDEST,
        (true, false) => FIND_OPEN_NEWEST,
        (false, _) => FIND,
    };
    let before = filter.cursor.as_deref().map(row::parse_cursor::<EffectId>).transpose()?;
    let first = if is_oldest_first { i64::MIN } else { i64::MAX };
    let at = before.as_ref().map_or(first, |(at, _)| at.micros());
    let limit = row::page_limit(filter.limit);
    let values = named_params! {
        ":tenant": tenant.as_str(), ":at": at,
        ":run": before.as_ref().map_or(&[][..], |(_, id)| id.run.as_bytes()),
        ":n": before.as_ref().map_or(0, |(_, id)| id.n),
        ":states": row::json(&filter.states)?, ":provider": filter.provider.as_ref().map(ProviderName::as_str),
        ":limit": limit + 1,
    };
    let found = tx.list(sql, values, |r| {
        let due = row::due_effect(r)?;
        let cursor = row::cursor(due.effect.updated_at, due.effect.id);
        Ok((due, cursor))
    })?;
    Ok(row::page(found, limit))
}

const ATTEMPTS: &str =
    concat!("SELECT ", attempt_columns!(), " FROM attempts a WHERE a.run_id = ?1 ORDER BY a.effect_n, a.fence");

pub(super) fn attempts(tx: &Tx<'_>, run: RunId) -> Result<Vec<Attempt>> {
    tx.list(ATTEMPTS, params![run.as_bytes()], |r| row::attempt(r))
}

const OF_RUN: &str = concat!("SELECT ", effect_columns!(), " FROM effects e WHERE e.run_id = ?1 ORDER BY e.n");

pub(super) fn of_run(tx: &Tx<'_>, run: RunId) -> Result<Vec<Effect>> {
    tx.list(OF_RUN, params![run.as_bytes()], |r| row::effect(r))
}

const INSERT: &str =
    "INSERT INTO effects (run_id, n, type, target, provider, executor, state, reason, payload, decided,
  provider_key, external_id, fence, attempts, due_at, lease_expires_at, first_sent_at, unknown_since, created_at,
  updated_at, charged)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)";

/// The run's compare-and-set protects its effects: nobody else can have changed them since they were read. What names
/// the intention (type, target, provider, provider key) never changes.
const UPDATE: &str =
    "UPDATE effects SET state = ?3, reason = ?4, payload = ?5, decided = ?6, external_id = ?7, fence = ?8,
  attempts = ?9, due_at = ?10, lease_expires_at = CASE WHEN ?11 THEN lease_expires_at ELSE ?12 END, first_sent_at = ?13,
  unknown_since = ?14, updated_at = ?15, charged = ?16
WHERE run_id = ?1 AND n = ?2";

pub(super) fn write(tx: &Tx<'_>, w: &EffectWrite) -> Result<()> {
    if w.is_new {
        return insert(tx, w);
    }
    let e = &w.effect;
    let sends_on = e.state == EffectState::Sending && e.executor == Executor::Dispatcher && w.sending_ms.is_none();
    let values = params![
        e.id.run.as_bytes(),
        e.id.n,
        e.state.as_str(),
        e.reason,
        e.payload,
        e.decided.as_ref().map(|d| &d.as_bytes()[..]),
        e.external_id,
        e.fence.0,
        e.attempts,
        e.state.due_at().map(Timestamp::micros),
        sends_on,
        sending_end(tx, w),
        e.first_sent_at.map(Timestamp::micros),
        e.unknown_since.map(Timestamp::micros),
        e.updated_at.micros(),
        row::charged_cell(e)?,
    ];
    match tx.run(UPDATE, values)? {
        1 => Ok(()),
        _ => Err(StoreError::Rejected { what: format!("{} is to be changed and is not there", e.id) }),
    }
}

fn insert(tx: &Tx<'_>, w: &EffectWrite) -> Result<()> {
    let e = &w.effect;
    let values = params![
        e.id.run.as_bytes(),
        e.id.n,
        e.effect_type.as_str(),
        e.target,
        e.provider.as_str(),
        e.executor.as_str(),
        e.state.as_str(),
        e.reason,
        e.payload,
        e.decided.as_ref().map(|d| &d.as_bytes()[..]),
        e.provider_key,
        e.external_id,
        e.fence.0,
        e.attempts,
        e.state.due_at().map(Timestamp::micros),
        sending_end(tx, w),
        e.first_sent_at.map(Timestamp::micros),
        e.unknown_since.map(Timestamp::micros),
        e.created_at.micros(),
        e.updated_at.micros(),
        row::charged_cell(e)?,
    ];
    tx.run(INSERT, values).map(drop)
}

fn sending_end(tx: &Tx<'_>, w: &EffectWrite) -> Option<i64> {
    w.sending_ms.map(|ms| tx.now.plus_ms(ms).micros())
}

const PUT_ATTEMPT: &str =
    "INSERT INTO attempts (run_id, effect_n, fence, started_at, ended_at, class, phase, bytes_sent,
  status, detail, handle)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT (run_id, effect_n, fence) DO UPDATE SET ended_at = excluded.ended_at, class = excluded.class,
  phase = excluded.phase, bytes_sent = excluded.bytes_sent, status = excluded.status, detail = excluded.detail,
  handle = excluded.handle";

/// An attempt is written when it starts and again when it ends.
pub(super) fn write_attempt(tx: &Tx<'_>, a: &Attempt) -> Result<()> {
    let end = a.end.as_ref();
    let values = params![
        a.effect.run.as_bytes(),
        a.effect.n,
        a.fence.0,
        a.started_at.micros(),
        end.map(|e| e.at.micros()),
        end.map(|e| e.class.as_str()),
        end.map(|e| row::word_of(&e.phase)).transpose()?,
        end.map(|e| e.bytes_sent),
        end.and_then(|e| e.status),
        end.and_then(|e| e.detail.as_deref()),
        end.and_then(|e| e.handle.as_deref()),
    ];
    tx.run(PUT_ATTEMPT, values).map(drop)
}
