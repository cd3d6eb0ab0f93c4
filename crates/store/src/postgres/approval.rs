//! Approvals and their tokens: finding them, and the rows that a transition writes.

use effectgate_core::{
    approval::{Approval, ApprovalState, TokenGrant},
    digest::Digest,
    ids::{ApprovalId, Tenant},
    time::Timestamp,
};

use super::{
    columns::{Kind::*, Rows, Shape},
    pool::Pool,
    tx::{moment, now},
};
use crate::{
    Result,
    row::{self, approval_columns, run_columns, token_columns},
    types::{ApprovalFilter, ApprovalItem, Page, RunRef, TokenHit},
};

pub(super) const BY_TOKEN: &str = concat!(
    "SELECT ",
    token_columns!(),
    ", ",
    now!(),
    " FROM approval_tokens t JOIN runs r ON r.run_id = t.run_id WHERE t.hash = $1"
);

pub(super) async fn by_token(pool: &Pool, hash: &Digest) -> Result<Option<TokenHit>> {
    let now_at = row::TOKENS.columns.len();
    pool.first(BY_TOKEN, &[&&hash.as_bytes()[..]], |r| row::token_hit(r, moment(r, now_at)?)).await
}

/// Open ones: who has least time left comes first.
pub(super) const FIND_OPEN: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    approval_columns!(),
    " FROM approvals p JOIN runs r ON r.run_id = p.run_id
WHERE r.tenant = $1 AND p.state = 'open' AND (p.expires_at, p.run_id, p.n) > ($2, $3, $4)
ORDER BY p.expires_at, p.run_id, p.n LIMIT $5"
);
/// Any: the newest first.
pub(super) const FIND: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    approval_columns!(),
    " FROM approvals p JOIN runs r ON r.run_id = p.run_id
WHERE r.tenant = $1 AND ($6::text IS NULL OR p.state = $6)
  AND (p.created_at, p.run_id, p.n) < ($2, $3, $4)
ORDER BY p.created_at DESC, p.run_id DESC, p.n DESC LIMIT $5"
);

pub(super) async fn find(pool: &Pool, tenant: &Tenant, filter: &ApprovalFilter) -> Result<Page<ApprovalItem>> {
    let open = filter.state.as_deref() == Some(ApprovalState::Open.as_str());
    let start = if open { i64::MIN } else { i64::MAX };
    let from = filter.cursor.as_deref().map(row::parse_cursor::<ApprovalId>).transpose()?;
    let limit = row::page_limit(filter.limit);
    let at = from.as_ref().map_or(start, |(at, _)| at.micros());
    let run = from.as_ref().map_or(&[][..], |(_, id)| id.run.as_bytes());
    let n = from.as_ref().map_or(0, |(_, id)| i64::from(id.n));
    let limit_and_one = i64::from(limit) + 1;
    let map = |r: &tokio_postgres::Row| {
        let item = row::approval_item(r)?;
        let at = if open { item.approval.expires_at } else { item.approval.created_at };
        let cursor = row::cursor(at, item.approval.id);
        Ok((item, cursor))
    };
    let tenant = tenant.as_str();
    let found = if open {
        pool.list(FIND_OPEN, &[&tenant, &at, &run, &n, &limit_and_one], map).await?
    } else {
        pool.list(FIND, &[&tenant, &at, &run, &n, &limit_and_one, &filter.state], map).await?
    };
    Ok(row::page(found, limit))
}

/// Each part follows an index.
pub(super) const OVERDUE: &str = concat!(
    "SELECT r.run_id, r.tenant FROM (
  SELECT run_id FROM approvals WHERE state = 'open' AND expires_at <= (SELECT ",
    now!(),
    ")
  UNION
  SELECT run_id FROM approvals WHERE next_step_at IS NOT NULL AND next_step_at <= (SELECT ",
    now!(),
    ")) p
JOIN runs r ON r.run_id = p.run_id ORDER BY r.run_id LIMIT $1"
);

pub(super) async fn overdue(pool: &Pool, limit: u32) -> Result<Vec<RunRef>> {
    pool.list(OVERDUE, &[&i64::from(limit)], row::run_ref).await
}

/// Approvals on their way into a statement.
pub(super) const APPROVALS: Shape = Shape {
    name: "p",
    columns: &[
        ("run_id", Blob),
        ("n", Int),
        ("state", Text),
        ("effects_hash", Blob),
        ("proposed", Text),
        ("terms", Text),
        ("decisions", Text),
        ("created_at", Int),
        ("expires_at", Int),
        ("next_step_at", Int),
        ("decided_at", Int),
        ("edits", Text),
    ],
};

/// Closed ones first: a run has one open approval at a time, and one transition may close the old and open the new.
pub(super) fn push_all<'a>(rows: &mut Rows<'a>, approvals: &'a [Approval]) -> Result<()> {
    let is_open = |a: &&Approval| a.state == ApprovalState::Open;
    for approval in approvals.iter().filter(|a| !is_open(a)).chain(approvals.iter().filter(is_open)) {
        push(rows, approval)?;
    }
    Ok(())
}

fn push<'a>(rows: &mut Rows<'a>, a: &'a Approval) -> Result<()> {
    rows.push([
        a.id.run.as_bytes().into(),
        a.id.n.into(),
        a.state.as_str().into(),
        a.effects_hash.as_bytes().into(),
        row::json(&a.proposed)?.into(),
        row::json(&a.terms)?.into(),
        row::json(&a.decisions)?.into(),
        a.created_at.micros().into(),
        a.expires_at.micros().into(),
        a.next_step_at.map(Timestamp::micros).into(),
        a.decided_at.map(Timestamp::micros).into(),
        row::edits_of(a)?.into(),
    ]);
    Ok(())
}

pub(super) const TOKENS: Shape = Shape {
    name: "k",
    columns: &[
        ("run_id", Blob),
        ("approval_n", Int),
        ("hash", Blob),
        ("audience", Text),
        ("created_at", Int),
        ("expires_at", Int),
    ],
};

pub(super) fn push_token<'a>(rows: &mut Rows<'a>, t: &'a TokenGrant) {
    rows.push([
        t.approval.run.as_bytes().into(),
        t.approval.n.into(),
        t.hash.as_bytes().into(),
        (&t.audience).into(),
        t.created_at.micros().into(),
        t.expires_at.micros().into(),
    ]);
}
