//! Approvals and their tokens: finding them, and the rows that a transition writes.

use effectgate_core::{
    approval::{Approval, ApprovalState, TokenGrant},
    digest::Digest,
    ids::{ApprovalId, RunId, Tenant},
    time::Timestamp,
};
use rusqlite::{named_params, params};

use super::{asked, tx::Tx};
use crate::{
    Result,
    row::{self, approval_columns, run_columns, token_columns},
    types::{ApprovalFilter, ApprovalItem, Page, RunRef, TokenHit},
};

pub(super) const BY_TOKEN: &str = concat!(
    "SELECT ",
    token_columns!(),
    " FROM approval_tokens t JOIN runs r ON r.run_id = t.run_id WHERE t.hash = ?1"
);

pub(super) fn by_token(tx: &Tx<'_>, hash: &Digest) -> Result<Option<TokenHit>> {
    tx.first(BY_TOKEN, params![&hash.as_bytes()[..]], |r| row::token_hit(r, tx.now))
}

/// Open ones: who has least time left comes first.
pub(super) const FIND_OPEN: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    approval_columns!(),
    " FROM approvals p CROSS JOIN runs r ON r.run_id = p.run_id
WHERE r.tenant = :tenant AND p.state = 'open' AND (p.expires_at, p.run_id, p.n) > (:at, :run, :n)
ORDER BY p.expires_at, p.run_id, p.n LIMIT :limit"
);
/// Any: the newest first.
pub(super) const FIND: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    approval_columns!(),
    " FROM approvals p CROSS JOIN runs r ON r.run_id = p.run_id
WHERE r.tenant = :tenant AND (:state IS NULL OR p.state = :state)
  AND (p.created_at, p.run_id, p.n) < (:at, :run, :n)
ORDER BY p.created_at DESC, p.run_id DESC, p.n DESC LIMIT :limit"
);

pub(super) fn find(tx: &Tx<'_>, tenant: &Tenant, filter: &ApprovalFilter) -> Result<Page<ApprovalItem>> {
    let open = filter.state.as_deref() == Some(ApprovalState::Open.as_str());
    let start = if open { i64::MIN } else { i64::MAX };
    let from = filter.cursor.as_deref().map(row::parse_cursor::<ApprovalId>).transpose()?;
    let limit = row::page_limit(filter.limit);
    let (at, run, n) = from.as_ref().map_or((start, &[][..], 0), |(at, id)| (at.micros(), id.run.as_bytes(), id.n));
    let limit_and_one = limit + 1;
    let map = |r: &rusqlite::Row<'_>| {
        let item = row::approval_item(r)?;
        let at = if open { item.approval.expires_at } else { item.approval.created_at };
        let cursor = row::cursor(at, item.approval.id);
        Ok((item, cursor))
    };
    let tenant = tenant.as_str();
    let found = if open {
        let values = named_params! {":tenant": tenant, ":at": at, ":run": run, ":n": n, ":limit": limit_and_one};
        tx.list(FIND_OPEN, values, map)?
    } else {
        let state = &filter.state;
        let values = named_params! {":tenant": tenant, ":state": state, ":at": at, ":run": run, ":n": n, ":limit": limit_and_one};
        tx.list(FIND, values, map)?
    };
    Ok(row::page(found, limit))
}

/// Each part follows an index.
pub(super) const OVERDUE: &str = "SELECT r.run_id, r.tenant FROM (
  SELECT run_id FROM approvals WHERE state = 'open' AND expires_at <= ?1
  UNION
  SELECT run_id FROM approvals WHERE next_step_at IS NOT NULL AND next_step_at <= ?1) due
CROSS JOIN runs r ON r.run_id = due.run_id ORDER BY r.run_id LIMIT ?2";

pub(super) fn overdue(tx: &Tx<'_>, limit: u32) -> Result<Vec<RunRef>> {
    tx.list(OVERDUE, params![tx.now.micros(), limit], |r| row::run_ref(r))
}

const OF_RUN: &str = concat!("SELECT ", approval_columns!(), " FROM approvals p WHERE p.run_id = ?1 ORDER BY p.n");

pub(super) fn of_run(tx: &Tx<'_>, run: RunId) -> Result<Vec<Approval>> {
    tx.list(OF_RUN, params![run.as_bytes()], |r| row::approval(r))
}

const PUT: &str = "INSERT INTO approvals (run_id, n, state, effects_hash, proposed, terms, decisions, created_at, expires_at,
  next_step_at, decided_at, edits)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
ON CONFLICT (run_id, n) DO UPDATE SET state = excluded.state, effects_hash = excluded.effects_hash,
  proposed = excluded.proposed, terms = excluded.terms, decisions = excluded.decisions, expires_at = excluded.expires_at,
  next_step_at = excluded.next_step_at, decided_at = excluded.decided_at, edits = excluded.edits";

/// Closed ones first: a run has one open approval at a time, and one transition may close the old and open the new.
pub(super) fn write(tx: &Tx<'_>, tenant: &Tenant, approvals: &[Approval]) -> Result<()> {
    let is_open = |a: &&Approval| a.state == ApprovalState::Open;
    for approval in approvals.iter().filter(|a| !is_open(a)).chain(approvals.iter().filter(is_open)) {
        put(tx, approval)?;
        asked::write(tx, tenant, approval)?;
    }
    Ok(())
}

fn put(tx: &Tx<'_>, a: &Approval) -> Result<()> {
    let values = params![
        a.id.run.as_bytes(),
        a.id.n,
        a.state.as_str(),
        &a.effects_hash.as_bytes()[..],
        row::json(&a.proposed)?,
        row::json(&a.terms)?,
        row::json(&a.decisions)?,
        a.created_at.micros(),
        a.expires_at.micros(),
        a.next_step_at.map(Timestamp::micros),
        a.decided_at.map(Timestamp::micros),
        row::edits_of(a)?,
    ];
    tx.run(PUT, values).map(drop)
}

const ADD_TOKEN: &str = "INSERT INTO approval_tokens (run_id, approval_n, hash, audience, created_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(super) fn write_token(tx: &Tx<'_>, t: &TokenGrant) -> Result<()> {
    let values = params![
        t.approval.run.as_bytes(),
        t.approval.n,
        &t.hash.as_bytes()[..],
        t.audience,
        t.created_at.micros(),
        t.expires_at.micros(),
    ];
    tx.run(ADD_TOKEN, values).map(drop)
}
