//! Retention. Only final runs go, in bounded numbers, children with them; the journal stays until its own time is
//! over, and its chain's head moves to `heads`, so that it can still be verified. Judged by the clock at the write.

use effectgate_core::{journal::Head, time::Timestamp};
use rusqlite::{Row, params};

use super::{
    charge, journal, replay, subscription,
    tx::{Tx, failed},
};
use crate::{
    Result,
    retention::{JOURNAL_KEPT_MS, Removed, purged_entry},
    row,
    types::{ChainHead, Purged},
};

pub(super) fn purge(tx: &Tx<'_>, limit: u32) -> Result<Purged> {
    let runs = expired(tx, EXPIRED_RUNS, limit)?;
    for (chain, kept_ms) in &runs {
        purge_run(tx, chain, *kept_ms)?;
    }
    let contents = expired(tx, EXPIRED_CONTENTS, limit)?;
    for (chain, _) in &contents {
        purge_content(tx, chain)?;
    }
    purge_journals(tx, limit)?;
    replay::purge(tx, limit)?;
    tx.run(DROP_SESSIONS, params![tx.now.micros(), limit])?;
    charge::drop_over(tx, limit)?;
    subscription::purge(tx, limit)?;
    Ok(Purged { runs: runs.len() as u64, contents: contents.len() as u64 })
}

/// The counts in the row say that no effect is open; the rows themselves are asked as well, because what is removed
/// here cannot be had back.
pub(super) const EXPIRED_RUNS: &str = "SELECT r.run_id, r.tenant, r.journal_seq, r.journal_head, r.journal_kept_ms FROM runs r
WHERE r.expires_at IS NOT NULL AND r.expires_at <= ?1 AND r.state IN ('completed', 'failed_terminal') AND r.effects_open = 0
  AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.run_id = r.run_id AND e.state NOT IN ('completed', 'failed', 'cancelled'))
ORDER BY r.expires_at LIMIT ?2";
pub(super) const EXPIRED_CONTENTS: &str = "SELECT r.run_id, r.tenant, r.journal_seq, r.journal_head, r.journal_kept_ms FROM runs r
WHERE r.content_expires_at IS NOT NULL AND r.content_expires_at <= ?1 AND r.state IN ('completed', 'failed_terminal')
  AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.run_id = r.run_id AND e.state NOT IN ('completed', 'failed', 'cancelled'))
ORDER BY r.content_expires_at LIMIT ?2";

/// Chains, and how long their journals stay.
fn expired(tx: &Tx<'_>, sql: &str, limit: u32) -> Result<Vec<(ChainHead, i64)>> {
    tx.list(sql, params![tx.now.micros(), limit], |r: &Row<'_>| {
        let kept_ms: Option<i64> = r.get(row::HEADS.columns.len()).map_err(failed)?;
        Ok((row::chain_head(r)?, kept_ms.unwrap_or(JOURNAL_KEPT_MS)))
    })
}

/// Children go by the foreign keys; notices have none, because houses have them too.
const DROP_RUN: &str = "DELETE FROM runs WHERE run_id = ?1";
const DROP_NOTICES: &str = "DELETE FROM notices WHERE run_id = ?1";
const KEEP_HEAD: &str = "INSERT INTO heads (run_id, tenant, seq, hash, purge_after) VALUES (?1, ?2, ?3, ?4, ?5)";

fn purge_run(tx: &Tx<'_>, chain: &ChainHead, kept_ms: i64) -> Result<()> {
    let head = tell(tx, chain, Removed::Run)?;
    tx.run(DROP_RUN, params![chain.run.as_bytes()])?;
    tx.run(DROP_NOTICES, params![chain.run.as_bytes()])?;
    keep_head(tx, chain, head, tx.now.plus_ms(kept_ms))
}

fn keep_head(tx: &Tx<'_>, chain: &ChainHead, head: Head, until: Timestamp) -> Result<()> {
    let hash = head.hash.as_ref().map(|h| &h.as_bytes()[..]);
    tx.run(KEEP_HEAD, params![chain.run.as_bytes(), chain.tenant.as_str(), head.seq, hash, until.micros()]).map(drop)
}

const DROP_CONTENT: &str = "DELETE FROM contents WHERE run_id = ?1";
/// Texts that carry what the payload carried. Hashes (decided, effects_hash) stay: what was sent can still be proved.
const BLANK_EFFECTS: &str = "UPDATE effects SET payload = '' WHERE run_id = ?1";
const BLANK_APPROVALS: &str = "UPDATE approvals SET proposed = '[]', edits = NULL WHERE run_id = ?1";
const BLANK_ANSWERS: &str = "DELETE FROM answers WHERE run_id = ?1";
const CONTENT_GONE: &str =
    "UPDATE runs SET content_expires_at = NULL, journal_seq = ?2, journal_head = ?3 WHERE run_id = ?1";

fn purge_content(tx: &Tx<'_>, chain: &ChainHead) -> Result<()> {
    let head = tell(tx, chain, Removed::Content)?;
    for sql in [DROP_CONTENT, BLANK_EFFECTS, BLANK_APPROVALS, BLANK_ANSWERS] {
        tx.run(sql, params![chain.run.as_bytes()])?;
    }
    let hash = head.hash.as_ref().map(|h| &h.as_bytes()[..]);
    tx.run(CONTENT_GONE, params![chain.run.as_bytes(), head.seq, hash]).map(drop)
}

/// Writes the purge into the record; gives the chain's new head.
fn tell(tx: &Tx<'_>, chain: &ChainHead, removed: Removed) -> Result<Head> {
    let mut head = chain.head;
    let entry = purged_entry(chain.run, &mut head, tx.now, removed);
    journal::append(tx, &[entry])?;
    Ok(head)
}

pub(super) const OVER: &str =
    "SELECT run_id, tenant, seq, hash FROM heads WHERE purge_after IS NOT NULL AND purge_after <= ?1
ORDER BY purge_after LIMIT ?2";
const DROP_JOURNAL: &str = "DELETE FROM journal WHERE run_id = ?1";
const DROP_HEAD: &str = "DELETE FROM heads WHERE run_id = ?1";
const DROP_SESSIONS: &str =
    "DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE expires_at <= ?1 LIMIT ?2)";

fn purge_journals(tx: &Tx<'_>, limit: u32) -> Result<()> {
    for chain in tx.list(OVER, params![tx.now.micros(), limit], |r| row::chain_head(r))? {
        tx.run(DROP_JOURNAL, params![chain.run.as_bytes()])?;
        tx.run(DROP_HEAD, params![chain.run.as_bytes()])?;
    }
    Ok(())
}
