//! Retention. Only final runs go, in bounded numbers, children with them; the journal stays until its own time is
//! over, and its chain's head moves to `heads`, so that it can still be verified. Judged by the clock at the write.
//!
//! Differs: other replicas purge at the same time. What is over is read first, told of in entries sealed on its head,
//! and removed by compare-and-set on that head; rows that another one holds are left to it.

use std::sync::LazyLock;

use effectgate_core::{
    ids::RunId,
    journal::{Head, SealedEntry},
    time::Timestamp,
};
use tokio_postgres::Row;

use super::{
    charge,
    columns::{Kind::*, Rows, Shape, expand, params},
    pool::Pool,
    replay, subscription,
    tx::{self, moment, now},
};
use crate::{
    Result,
    retention::{JOURNAL_KEPT_MS, Removed, purged_entry},
    row,
    types::{ChainHead, Purged},
};

pub(super) async fn purge(pool: &Pool, limit: u32) -> Result<Purged> {
    let runs = remove(pool, EXPIRED_RUNS, &PURGE_RUNS_SQL, Removed::Run, limit).await?;
    let contents = remove(pool, EXPIRED_CONTENTS, &PURGE_CONTENTS_SQL, Removed::Content, limit).await?;
    let (limit_rows, limit) = (limit, i64::from(limit));
    pool.write(DROP_JOURNALS, &[&limit]).await?;
    pool.write(DROP_SESSIONS, &[&limit]).await?;
    replay::purge(pool, limit).await?;
    charge::drop_over(pool, limit_rows).await?;
    subscription::purge(pool, limit_rows).await?;
    Ok(Purged { runs, contents })
}

/// The counts in the row say that no effect is open; the rows themselves are asked as well, because what is removed
/// here cannot be had back.
pub(super) const EXPIRED_RUNS: &str = concat!(
    "SELECT r.run_id, r.tenant, r.journal_seq, r.journal_head, ",
    now!(),
    ", r.journal_kept_ms FROM runs r
WHERE r.expires_at IS NOT NULL AND r.expires_at <= (SELECT ",
    now!(),
    ") AND r.state IN ('completed', 'failed_terminal') AND r.effects_open = 0
  AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.run_id = r.run_id AND e.state NOT IN ('completed', 'failed', 'cancelled'))
ORDER BY r.expires_at LIMIT $1"
);
pub(super) const EXPIRED_CONTENTS: &str = concat!(
    "SELECT r.run_id, r.tenant, r.journal_seq, r.journal_head, ",
    now!(),
    ", r.journal_kept_ms FROM runs r
WHERE r.content_expires_at IS NOT NULL AND r.content_expires_at <= (SELECT ",
    now!(),
    ") AND r.state IN ('completed', 'failed_terminal')
  AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.run_id = r.run_id AND e.state NOT IN ('completed', 'failed', 'cancelled'))
ORDER BY r.content_expires_at LIMIT $1"
);

/// A run whose head is still the one that was read, and the entry that tells of its purge.
const OVER: Shape = Shape {
    name: "o",
    columns: &[
        ("run_id", Blob),
        ("at_seq", Int),
        ("seq", Int),
        ("at", Int),
        ("kind", Text),
        ("entry", Text),
        ("hash", Blob),
        ("purge_after", Int),
    ],
};

/// The rows in hand, in the order of their ids; those that somebody else holds are skipped. Final runs stay final, so
/// a head that has not moved means that nothing else has.
macro_rules! held {
    () => {
        "WITH o AS MATERIALIZED (SELECT * FROM {o}),
held AS MATERIALIZED (SELECT o.run_id FROM o JOIN runs r ON r.run_id = o.run_id AND r.journal_seq = o.at_seq
  ORDER BY o.run_id FOR UPDATE OF r SKIP LOCKED)"
    };
}

/// Children go by the foreign keys; notices have none, because houses have them too.
const PURGE_RUNS: &str = concat!(
    held!(),
    ",
gone AS (DELETE FROM runs r USING held h WHERE r.run_id = h.run_id RETURNING r.run_id, r.tenant),
told AS (DELETE FROM notices WHERE run_id IN (SELECT run_id FROM gone)),
kept AS (INSERT INTO heads (run_id, tenant, seq, hash, purge_after)
  SELECT o.run_id, g.tenant, o.seq, o.hash, o.purge_after FROM o JOIN gone g ON g.run_id = o.run_id),
noted AS (INSERT INTO journal (run_id, seq, at, kind, entry, hash)
  SELECT o.run_id, o.seq, o.at, o.kind, o.entry, o.hash FROM o JOIN gone g ON g.run_id = o.run_id)
SELECT run_id FROM gone"
);
/// Texts that carry what the payload carried go too. Hashes (decided, effects_hash) stay: what was sent can still be
/// proved.
const PURGE_CONTENTS: &str = concat!(
    held!(),
    ",
gone AS (UPDATE runs r SET content_expires_at = NULL, journal_seq = o.seq, journal_head = o.hash
  FROM o JOIN held h ON h.run_id = o.run_id WHERE r.run_id = o.run_id RETURNING r.run_id),
content AS (DELETE FROM contents WHERE run_id IN (SELECT run_id FROM gone)),
effect AS (UPDATE effects SET payload = '' WHERE run_id IN (SELECT run_id FROM gone)),
approval AS (UPDATE approvals SET proposed = '[]', edits = NULL WHERE run_id IN (SELECT run_id FROM gone)),
answer AS (DELETE FROM answers WHERE run_id IN (SELECT run_id FROM gone)),
noted AS (INSERT INTO journal (run_id, seq, at, kind, entry, hash)
  SELECT o.run_id, o.seq, o.at, o.kind, o.entry, o.hash FROM o JOIN gone g ON g.run_id = o.run_id)
SELECT run_id FROM gone"
);

pub(super) static PURGE_RUNS_SQL: LazyLock<String> = LazyLock::new(|| expand(PURGE_RUNS, &[&OVER]));
pub(super) static PURGE_CONTENTS_SQL: LazyLock<String> = LazyLock::new(|| expand(PURGE_CONTENTS, &[&OVER]));

/// One line of a purge: a chain, and its head and entry after it.
struct Line {
    run: RunId,
    at_seq: i64,
    entry: SealedEntry,
    purge_after: Timestamp,
}

async fn remove(pool: &Pool, expired: &str, sql: &str, removed: Removed, limit: u32) -> Result<u64> {
    let line = |r: &Row| {
        let kept_ms: Option<i64> = tx::computed(r, 5)?;
        Ok(line(&row::chain_head(r)?, moment(r, 4)?, kept_ms.unwrap_or(JOURNAL_KEPT_MS), removed))
    };
    let lines = pool.list(expired, &[&i64::from(limit)], line).await?;
    if lines.is_empty() {
        return Ok(0);
    }
    let mut rows = Rows::new(&OVER);
    lines.iter().for_each(|line| push(&mut rows, line));
    pool.write(sql, &params(&[rows])).await
}

fn line(chain: &ChainHead, now: Timestamp, kept_ms: i64, removed: Removed) -> Line {
    let mut head: Head = chain.head;
    let entry = purged_entry(chain.run, &mut head, now, removed);
    Line { run: chain.run, at_seq: chain.head.seq, entry, purge_after: now.plus_ms(kept_ms) }
}

fn push<'a>(rows: &mut Rows<'a>, l: &'a Line) {
    rows.push([
        l.run.as_bytes().into(),
        l.at_seq.into(),
        l.entry.seq.into(),
        l.entry.at.micros().into(),
        (&l.entry.kind).into(),
        (&l.entry.text).into(),
        l.entry.hash.as_bytes().into(),
        l.purge_after.micros().into(),
    ]);
}

/// `ANY (ARRAY(…))` instead of IN: the keys are few, whatever the planner believes of a LIMIT that it cannot see.
pub(super) const DROP_JOURNALS: &str = concat!(
    "WITH gone AS (DELETE FROM heads WHERE run_id = ANY (ARRAY(SELECT run_id FROM heads
    WHERE purge_after IS NOT NULL AND purge_after <= (SELECT ",
    now!(),
    ") ORDER BY purge_after LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING run_id)
DELETE FROM journal WHERE run_id = ANY (ARRAY(SELECT run_id FROM gone))"
);
const DROP_SESSIONS: &str = concat!(
    "DELETE FROM sessions WHERE hash = ANY (ARRAY(SELECT hash FROM sessions WHERE expires_at <= (SELECT ",
    now!(),
    ") LIMIT $1 FOR UPDATE SKIP LOCKED))"
);
