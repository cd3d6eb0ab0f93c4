//! Notices: which are due, who sends one, and how it went.

use effectgate_core::{
    ids::{RunId, Tenant},
    notice::Notice,
    time::Timestamp,
};
use rusqlite::params;

use super::tx::Tx;
use crate::{
    Result,
    row::{self, notice_columns},
    types::DueNotice,
};

pub(super) const DUE: &str = concat!(
    "SELECT ",
    notice_columns!(),
    " FROM notices m WHERE m.state = 'pending' AND m.due_at <= ?1 ORDER BY m.due_at, m.run_id, m.n LIMIT ?2"
);

pub(super) fn due(tx: &Tx<'_>, limit: u32) -> Result<Vec<DueNotice>> {
    tx.list(DUE, params![tx.now.micros(), limit], |r| row::due_notice(r))
}

const CLAIM: &str = "UPDATE notices SET attempts = attempts + 1, due_at = ?4
WHERE run_id = ?1 AND n = ?2 AND state = 'pending' AND attempts = ?3";

pub(super) fn claim(tx: &Tx<'_>, due: &DueNotice, until: Timestamp) -> Result<bool> {
    let values = params![due.run.as_bytes(), due.notice.n, due.notice.attempts, until.micros()];
    Ok(tx.run(CLAIM, values)? == 1)
}

/// Never out of an end: a slow sender does not take back what a later one has done. Attempts only rise.
const SETTLE: &str = "UPDATE notices SET state = ?3, due_at = ?4, attempts = max(attempts, ?5)
WHERE run_id = ?1 AND n = ?2 AND state = 'pending'";

pub(super) fn settle(tx: &Tx<'_>, run: RunId, notice: &Notice) -> Result<()> {
    let values = params![run.as_bytes(), notice.n, notice.state.as_str(), notice.due_at.micros(), notice.attempts];
    tx.run(SETTLE, values).map(drop)
}

pub(super) const SENT_SINCE: &str =
    "SELECT EXISTS (SELECT 1 FROM notices WHERE state = 'sent' AND dedupe = ?1 AND due_at >= ?2)";

pub(super) fn sent_since(tx: &Tx<'_>, dedupe: &str, since: Timestamp) -> Result<bool> {
    Ok(tx.count(SENT_SINCE, params![dedupe, since.micros()])? == 1)
}

const INSERT: &str = "INSERT INTO notices (run_id, n, tenant, kind, dedupe, state, attempts, due_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

pub(super) fn write(tx: &Tx<'_>, tenant: &Tenant, run: RunId, notice: &Notice) -> Result<()> {
    let values = params![
        run.as_bytes(),
        notice.n,
        tenant.as_str(),
        row::json(&notice.kind)?,
        notice.dedupe,
        notice.state.as_str(),
        notice.attempts,
        notice.due_at.micros(),
    ];
    tx.run(INSERT, values).map(drop)
}
