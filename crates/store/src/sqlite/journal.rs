//! The record: entries, heads of chains, and the answers that are kept.

use effectgate_core::{
    digest::Digest,
    ids::{RunId, Tenant},
    journal::{Head, SealedEntry},
};
use rusqlite::params;

use super::tx::Tx;
use crate::{
    Result, StoreError,
    row::{self, head_columns, journal_columns},
    types::ChainHead,
};

const ANSWER: &str = "SELECT body FROM answers WHERE run_id = ?1 AND call = ?2";

pub(super) fn answer(tx: &Tx<'_>, run: RunId, call: &Digest) -> Result<Option<String>> {
    tx.first(ANSWER, params![run.as_bytes(), &call.as_bytes()[..]], |r| r.get(0).map_err(super::tx::failed))
}

const READ: &str = concat!(
    "SELECT ",
    journal_columns!(),
    " FROM journal j WHERE j.run_id = ?1 AND j.seq > ?2 ORDER BY j.seq LIMIT ?3"
);

pub(super) fn read(tx: &Tx<'_>, run: RunId, after_seq: i64, limit: u32) -> Result<Vec<SealedEntry>> {
    tx.list(READ, params![run.as_bytes(), after_seq, limit], |r| row::entry(r))
}

pub(super) const HEADS: &str = "SELECT run_id, tenant, seq, hash FROM (
  SELECT run_id, tenant, journal_seq AS seq, journal_head AS hash FROM runs
    WHERE run_id > ?1 AND (?2 IS NULL OR tenant = ?2)
  UNION ALL
  SELECT run_id, tenant, seq, hash FROM heads WHERE run_id > ?1 AND (?2 IS NULL OR tenant = ?2))
ORDER BY run_id LIMIT ?3";

pub(super) fn heads(tx: &Tx<'_>, tenant: Option<&Tenant>, after: Option<RunId>, limit: u32) -> Result<Vec<ChainHead>> {
    let after = after.as_ref().map_or(&[][..], RunId::as_bytes);
    tx.list(HEADS, params![after, tenant.map(Tenant::as_str), limit], |r| row::chain_head(r))
}

const ADD: &str = "INSERT INTO journal (run_id, seq, at, kind, entry, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (run_id, seq) DO NOTHING";

/// What came of adding an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    New,
    /// There is an entry with this number.
    Taken,
}

pub(super) fn add(tx: &Tx<'_>, e: &SealedEntry) -> Result<Added> {
    let values = params![e.run.as_bytes(), e.seq, e.at.micros(), e.kind, e.text, &e.hash.as_bytes()[..]];
    Ok(if tx.run(ADD, values)? == 1 { Added::New } else { Added::Taken })
}

/// Adds the entries of a change whose compare-and-set held; a number that is taken means a forked chain.
pub(super) fn append(tx: &Tx<'_>, entries: &[SealedEntry]) -> Result<()> {
    for entry in entries {
        if add(tx, entry)? == Added::Taken {
            return Err(StoreError::Rejected {
                what: format!("entry {} of {} is there already", entry.seq, entry.run),
            });
        }
    }
    Ok(())
}

const HEAD: &str = concat!("SELECT ", head_columns!(), " FROM heads h WHERE h.run_id = ?1");
const DROP_HEAD: &str = "DELETE FROM heads WHERE run_id = ?1";

pub(super) fn head(tx: &Tx<'_>, chain: RunId) -> Result<Option<Head>> {
    tx.first(HEAD, params![chain.as_bytes()], |r| Ok(row::chain_head(r)?.head))
}

/// Takes the head of a purged run's chain away, because its run's row carries it again.
pub(super) fn take_head(tx: &Tx<'_>, chain: RunId) -> Result<Option<Head>> {
    let found = head(tx, chain)?;
    tx.run(DROP_HEAD, params![chain.as_bytes()])?;
    Ok(found)
}
