//! Whom an open approval asks: the inbox, and the rows that a transition writes beside an approval.

use std::collections::{BTreeSet, HashSet};

use effectgate_core::{
    approval::Approval,
    ids::{RunId, Tenant},
};
use rusqlite::{Row, params};

use super::tx::{Tx, failed};
use crate::{
    Result,
    row::{self, AskedRow, InboxKey, InboxStart, approval_columns, run_columns},
    types::{ApprovalItem, INBOX_COUNT_MAX, InboxFilter, InboxOrder, Page},
};

/// One member's list from a place on. Only the index is read.
pub(super) const BY_RISK: &str =
    "SELECT a.run_id, a.n, a.risk_rank, a.created_at FROM asked a WHERE a.tenant = ?1 AND a.member = ?2
  AND (a.risk_rank, a.created_at, a.run_id, a.n) > (?3, ?4, ?5, ?6)
ORDER BY a.risk_rank, a.created_at, a.run_id, a.n LIMIT ?7";
pub(super) const BY_AGE: &str =
    "SELECT a.run_id, a.n, 0, a.created_at FROM asked a WHERE a.tenant = ?1 AND a.member = ?2
  AND ?3 = 0 AND (a.created_at, a.run_id, a.n) > (?4, ?5, ?6)
ORDER BY a.created_at, a.run_id, a.n LIMIT ?7";
pub(super) const BY_DUE: &str =
    "SELECT a.run_id, a.n, 0, a.expires_at FROM asked a WHERE a.tenant = ?1 AND a.member = ?2
  AND ?3 = 0 AND (a.expires_at, a.run_id, a.n) > (?4, ?5, ?6)
ORDER BY a.expires_at, a.run_id, a.n LIMIT ?7";

pub(super) const fn in_order(order: InboxOrder) -> &'static str {
    match order {
        InboxOrder::Risk => BY_RISK,
        InboxOrder::Age => BY_AGE,
        InboxOrder::Due => BY_DUE,
    }
}

pub(super) fn find(tx: &Tx<'_>, tenant: &Tenant, filter: &InboxFilter) -> Result<Page<ApprovalItem>> {
    let (start, limit) = (row::inbox_start(filter)?, row::page_limit(filter.limit));
    let members = row::inbox_members(filter.members.as_deref())?;
    let keys = seek(tx, tenant, filter.order, &members, &start, limit + 1)?;
    let keys = row::page(keys.into_iter().map(|k| (k, row::inbox_cursor(filter.order, &k))).collect(), limit);
    Ok(Page { items: items(tx, tenant, &keys.items)?, next: keys.next })
}

/// The first places of all the members' lists together. An approval's place is the same in each list, so one that was
/// asked of several of them stands there once, and the next page begins behind it in all.
///
/// Differs: PostgreSQL merges in one statement (LATERAL), which SQLite cannot.
fn seek(
    tx: &Tx<'_>,
    tenant: &Tenant,
    order: InboxOrder,
    members: &[String],
    start: &InboxStart,
    limit: u32,
) -> Result<BTreeSet<InboxKey>> {
    let mut merged = BTreeSet::new();
    for member in members {
        let values = params![tenant.as_str(), member, start.risk_rank, start.moment, start.run, start.n, limit];
        merged.extend(tx.list(in_order(order), values, |r: &Row<'_>| row::inbox_key(r))?);
        while merged.len() > limit as usize {
            merged.pop_last();
        }
    }
    Ok(merged)
}

pub(super) const ITEM: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    approval_columns!(),
    " FROM approvals p JOIN runs r ON r.run_id = p.run_id
WHERE p.run_id = ?1 AND p.n = ?2 AND p.state = 'open' AND r.tenant = ?3"
);

/// What stands in these places, in their order; what is not open is left out.
fn items(tx: &Tx<'_>, tenant: &Tenant, keys: &[InboxKey]) -> Result<Vec<ApprovalItem>> {
    let item = |key: &InboxKey| {
        let values = params![key.approval.run.as_bytes(), key.approval.n, tenant.as_str()];
        tx.first(ITEM, values, |r| row::approval_item(r)).transpose()
    };
    keys.iter().filter_map(item).collect()
}

pub(super) const COUNTED: &str = "SELECT a.run_id, a.n FROM asked a WHERE a.tenant = ?1 AND a.member = ?2 LIMIT ?3";

pub(super) fn count(tx: &Tx<'_>, tenant: &Tenant, members: Option<&[String]>) -> Result<u64> {
    let mut seen: HashSet<(Vec<u8>, i64)> = HashSet::new();
    for member in row::inbox_members(members)? {
        let values = params![tenant.as_str(), member, INBOX_COUNT_MAX.cast_signed()];
        let cell = |r: &Row<'_>| Ok((r.get(0).map_err(failed)?, r.get(1).map_err(failed)?));
        seen.extend(tx.list(COUNTED, values, cell)?);
        if seen.len() as u64 >= INBOX_COUNT_MAX {
            return Ok(INBOX_COUNT_MAX);
        }
    }
    Ok(seen.len() as u64)
}

const DROP: &str = "DELETE FROM asked WHERE run_id = ?1 AND n = ?2";
const ADD: &str = "INSERT INTO asked (run_id, n, member, tenant, risk_rank, created_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// The rows of an approval as it now is: an escalation widens the audience, an end takes them away.
pub(super) fn write(tx: &Tx<'_>, tenant: &Tenant, approval: &Approval) -> Result<()> {
    tx.run(DROP, params![approval.id.run.as_bytes(), approval.id.n])?;
    row::asked_rows(approval).iter().try_for_each(|asked| add(tx, tenant, asked))
}

fn add(tx: &Tx<'_>, tenant: &Tenant, a: &AskedRow) -> Result<()> {
    let values = params![
        a.approval.run.as_bytes(),
        a.approval.n,
        a.member,
        tenant.as_str(),
        a.risk_rank,
        a.created_at.micros(),
        a.expires_at.micros(),
    ];
    tx.run(ADD, values).map(drop)
}

/// Approvals that the migration takes at a time.
const FILL_BATCH: i64 = 1_000;
/// A run has one open approval at most.
const OPEN: &str = "SELECT p.run_id, p.n, r.tenant, p.terms, p.proposed, p.created_at, p.expires_at
FROM approvals p CROSS JOIN runs r ON r.run_id = p.run_id
WHERE p.state = 'open' AND p.run_id > ?1 ORDER BY p.run_id LIMIT ?2";

/// Gives the approvals that were open before there was `asked` their rows: a part of its migration.
pub(super) fn fill(tx: &Tx<'_>) -> Result<()> {
    let mut after: Option<RunId> = None;
    loop {
        let from = after.as_ref().map_or(&[][..], RunId::as_bytes);
        let open = tx.list(OPEN, params![from, FILL_BATCH], |r| row::asked_of_open(r))?;
        for (tenant, _, rows) in &open {
            rows.iter().try_for_each(|asked| add(tx, tenant, asked))?;
        }
        after = open.last().map(|(_, run, _)| *run);
        if open.len() < FILL_BATCH as usize {
            return Ok(());
        }
    }
}
