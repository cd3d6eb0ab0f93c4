//! The record: entries, heads of chains, and the answers that are kept.

use effectgate_core::{
    digest::Digest,
    ids::{RunId, Tenant},
    journal::{Head, SealedEntry},
};

use super::{
    batch::OpId,
    columns::{Kind::*, Rows, Shape},
    connect::Link,
    pool::Pool,
    tx::{self, Fault},
};
use crate::{
    Result,
    row::{self, head_columns, journal_columns},
    types::ChainHead,
};

const ANSWER: &str = "SELECT body FROM answers WHERE run_id = $1 AND call = $2";

pub(super) async fn answer(pool: &Pool, run: RunId, call: &Digest) -> Result<Option<String>> {
    pool.first(ANSWER, &[&run.as_bytes(), &&call.as_bytes()[..]], |r| tx::computed(r, 0)).await
}

pub(super) const READ: &str = concat!(
    "SELECT ",
    journal_columns!(),
    " FROM journal j WHERE j.run_id = $1 AND j.seq > $2 ORDER BY j.seq LIMIT $3"
);

pub(super) async fn read(pool: &Pool, run: RunId, after_seq: i64, limit: u32) -> Result<Vec<SealedEntry>> {
    pool.list(READ, &[&run.as_bytes(), &after_seq, &i64::from(limit)], row::entry).await
}

pub(super) const HEADS: &str = "SELECT run_id, tenant, seq, hash FROM (
  SELECT run_id, tenant, journal_seq AS seq, journal_head AS hash FROM runs
    WHERE run_id > $1 AND ($2::text IS NULL OR tenant = $2)
  UNION ALL
  SELECT run_id, tenant, seq, hash FROM heads WHERE run_id > $1 AND ($2::text IS NULL OR tenant = $2)) h
ORDER BY run_id LIMIT $3";

pub(super) async fn heads(
    pool: &Pool,
    tenant: Option<&Tenant>,
    after: Option<RunId>,
    limit: u32,
) -> Result<Vec<ChainHead>> {
    let after = after.as_ref().map_or(&[][..], RunId::as_bytes);
    pool.list(HEADS, &[&after, &tenant.map(Tenant::as_str), &i64::from(limit)], row::chain_head).await
}

/// Entries on their way into a statement.
pub(super) const ENTRIES: Shape = Shape {
    name: "j",
    columns: &[
        ("run_id", Blob),
        ("seq", Int),
        ("at", Int),
        ("kind", Text),
        ("entry", Text),
        ("hash", Blob),
        ("op", Int),
    ],
};

pub(super) fn push<'a>(rows: &mut Rows<'a>, e: &'a SealedEntry, id: OpId) {
    rows.push([
        e.run.as_bytes().into(),
        e.seq.into(),
        e.at.micros().into(),
        (&e.kind).into(),
        (&e.text).into(),
        e.hash.as_bytes().into(),
        id.0.into(),
    ]);
}

const HEAD: &str = concat!("SELECT ", head_columns!(), " FROM heads h WHERE h.run_id = $1");

pub(super) async fn head(pool: &Pool, chain: RunId) -> Result<Option<Head>> {
    pool.first(HEAD, &[&chain.as_bytes()], |r| Ok(row::chain_head(r)?.head)).await
}

/// The same on a writer's connection.
pub(super) async fn head_by(link: &mut Link, chain: RunId) -> Result<Option<Head>, Fault> {
    let found = link.query(HEAD, &[&chain.as_bytes()]).await?;
    Ok(found.first().map(row::chain_head).transpose()?.map(|chain| chain.head))
}
