//! Whom an open approval asks: the inbox, and the rows that a transition writes beside an approval.

use std::{collections::HashMap, sync::LazyLock};

use effectgate_core::{
    approval::Approval,
    ids::{ApprovalId, RunId, Tenant},
};
use tokio_postgres::Transaction;

use super::{
    columns::{Kind::*, Rows, Shape, expand, params},
    pool::Pool,
    tx::{self, Fault},
};
use crate::{
    Result,
    row::{self, AskedRow, InboxKey, InboxStart, approval_columns, run_columns},
    types::{ApprovalItem, INBOX_COUNT_MAX, InboxFilter, InboxOrder, Page},
};

/// All the members' lists from a place on, one seek for each. Only the index is read.
pub(super) const BY_RISK: &str = "SELECT DISTINCT k.* FROM unnest($2::text[]) AS m (member) CROSS JOIN LATERAL (
  SELECT a.run_id, a.n, a.risk_rank, a.created_at AS moment FROM asked a WHERE a.tenant = $1 AND a.member = m.member
    AND (a.risk_rank, a.created_at, a.run_id, a.n) > ($3, $4, $5, $6)
  ORDER BY a.risk_rank, a.created_at, a.run_id, a.n LIMIT $7) k
ORDER BY k.risk_rank, k.moment, k.run_id, k.n LIMIT $7";
pub(super) const BY_AGE: &str = "SELECT DISTINCT k.* FROM unnest($2::text[]) AS m (member) CROSS JOIN LATERAL (
  SELECT a.run_id, a.n, 0::bigint AS risk_rank, a.created_at AS moment FROM asked a
    WHERE a.tenant = $1 AND a.member = m.member AND $3::bigint = 0 AND (a.created_at, a.run_id, a.n) > ($4, $5, $6)
  ORDER BY a.created_at, a.run_id, a.n LIMIT $7) k
ORDER BY k.risk_rank, k.moment, k.run_id, k.n LIMIT $7";
pub(super) const BY_DUE: &str = "SELECT DISTINCT k.* FROM unnest($2::text[]) AS m (member) CROSS JOIN LATERAL (
  SELECT a.run_id, a.n, 0::bigint AS risk_rank, a.expires_at AS moment FROM asked a
    WHERE a.tenant = $1 AND a.member = m.member AND $3::bigint = 0 AND (a.expires_at, a.run_id, a.n) > ($4, $5, $6)
  ORDER BY a.expires_at, a.run_id, a.n LIMIT $7) k
ORDER BY k.risk_rank, k.moment, k.run_id, k.n LIMIT $7";

pub(super) const fn in_order(order: InboxOrder) -> &'static str {
    match order {
        InboxOrder::Risk => BY_RISK,
        InboxOrder::Age => BY_AGE,
        InboxOrder::Due => BY_DUE,
    }
}

pub(super) async fn find(pool: &Pool, tenant: &Tenant, filter: &InboxFilter) -> Result<Page<ApprovalItem>> {
    let (start, limit) = (row::inbox_start(filter)?, row::page_limit(filter.limit));
    let members = row::inbox_members(filter.members.as_deref())?;
    let keys = seek(pool, tenant, filter.order, &members, &start, limit + 1).await?;
    let keys = row::page(keys.into_iter().map(|k| (k, row::inbox_cursor(filter.order, &k))).collect(), limit);
    Ok(Page { items: items(pool, tenant, &keys.items).await?, next: keys.next })
}

/// The first places of all the members' lists together. An approval's place is the same in each list, so one that was
/// asked of several of them stands there once, and the next page begins behind it in all.
async fn seek(
    pool: &Pool,
    tenant: &Tenant,
    order: InboxOrder,
    members: &[String],
    start: &InboxStart,
    limit: u32,
) -> Result<Vec<InboxKey>> {
    let (n, limit) = (i64::from(start.n), i64::from(limit));
    let tenant = tenant.as_str();
    pool.list(
        in_order(order),
        &[&tenant, &members, &start.risk_rank, &start.moment, &start.run, &n, &limit],
        row::inbox_key,
    )
    .await
}

pub(super) const ITEMS: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    approval_columns!(),
    " FROM unnest($1::bytea[], $2::bigint[]) AS k (run_id, n)
CROSS JOIN LATERAL (SELECT * FROM approvals p WHERE p.run_id = k.run_id AND p.n = k.n AND p.state = 'open' OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM runs r WHERE r.run_id = k.run_id AND r.tenant = $3 OFFSET 0) r"
);

/// What stands in these places, in their order; what is not open is left out. Differs: another statement than the one
/// that found the places, so another moment: what was decided in between is not open any more.
async fn items(pool: &Pool, tenant: &Tenant, keys: &[InboxKey]) -> Result<Vec<ApprovalItem>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let runs: Vec<&[u8]> = keys.iter().map(|key| key.approval.run.as_bytes()).collect();
    let numbers: Vec<i64> = keys.iter().map(|key| i64::from(key.approval.n)).collect();
    let found = pool.list(ITEMS, &[&runs, &numbers, &tenant.as_str()], row::approval_item).await?;
    let mut found: HashMap<ApprovalId, ApprovalItem> = found.into_iter().map(|item| (item.approval.id, item)).collect();
    Ok(keys.iter().filter_map(|key| found.remove(&key.approval)).collect())
}

/// The order only keeps the planner with an index.
pub(super) const COUNTED: &str = "SELECT count(*) FROM (SELECT DISTINCT k.* FROM unnest($2::text[]) AS m (member)
  CROSS JOIN LATERAL (SELECT a.run_id, a.n FROM asked a WHERE a.tenant = $1 AND a.member = m.member
    ORDER BY a.created_at, a.run_id, a.n LIMIT $3) k
  LIMIT $3) c";

pub(super) async fn count(pool: &Pool, tenant: &Tenant, members: Option<&[String]>) -> Result<u64> {
    let (members, limit) = (row::inbox_members(members)?, INBOX_COUNT_MAX.cast_signed());
    let counted: Option<i64> =
        pool.first(COUNTED, &[&tenant.as_str(), &members, &limit], |r| tx::computed(r, 0)).await?;
    Ok(counted.unwrap_or(0).cast_unsigned())
}

/// Rows on their way into a statement.
pub(super) const ASKED: Shape = Shape {
    name: "q",
    columns: &[
        ("run_id", Blob),
        ("n", Int),
        ("member", Text),
        ("tenant", Text),
        ("risk_rank", Int),
        ("created_at", Int),
        ("expires_at", Int),
    ],
};

/// The rows of an approval as it shall be: an escalation widens the audience, an end takes them away. The statement
/// removes those of the approval that are not among them.
pub(super) fn push_all<'a>(rows: &mut Rows<'a>, tenant: &'a Tenant, approvals: &'a [Approval]) {
    for approval in approvals {
        row::asked_rows(approval).iter().for_each(|asked| push(rows, tenant, &approval.id.run, asked));
    }
}

fn push<'a>(rows: &mut Rows<'a>, tenant: &'a Tenant, run: &'a RunId, a: &AskedRow) {
    rows.push([
        run.as_bytes().into(),
        a.approval.n.into(),
        a.member.clone().into(),
        tenant.as_str().into(),
        a.risk_rank.into(),
        a.created_at.micros().into(),
        a.expires_at.micros().into(),
    ]);
}

/// Approvals that the migration takes at a time.
const FILL_BATCH: i64 = 1_000;
/// A run has one open approval at most.
const OPEN: &str = "SELECT p.run_id, p.n, r.tenant, p.terms, p.proposed, p.created_at, p.expires_at
FROM approvals p JOIN runs r ON r.run_id = p.run_id
WHERE p.state = 'open' AND p.run_id > $1 ORDER BY p.run_id LIMIT $2";

static FILL_SQL: LazyLock<String> = LazyLock::new(|| {
    let columns: Vec<&str> = ASKED.columns.iter().map(|(name, _)| *name).collect();
    expand(&format!("INSERT INTO asked ({}) SELECT * FROM {{q}}", columns.join(", ")), &[&ASKED])
});

/// Gives the approvals that were open before there was `asked` their rows: a part of its migration.
pub(super) async fn fill(transaction: &Transaction<'_>) -> Result<(), Fault> {
    let mut after: Option<RunId> = None;
    loop {
        let from = after.as_ref().map_or(&[][..], RunId::as_bytes);
        let found = transaction.query(OPEN, &[&from, &FILL_BATCH]).await?;
        let open = found.iter().map(row::asked_of_open).collect::<Result<Vec<_>>>()?;
        let mut rows = Rows::new(&ASKED);
        for (tenant, run, asked) in &open {
            asked.iter().for_each(|asked| push(&mut rows, tenant, run, asked));
        }
        transaction.execute(FILL_SQL.as_str(), &params(&[rows])).await?;
        after = open.last().map(|(_, run, _)| *run);
        if found.len() < FILL_BATCH as usize {
            return Ok(());
        }
    }
}
