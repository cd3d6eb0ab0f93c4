//! Numbered SQL, applied forward only, each in a transaction of its own. A file that a newer binary migrated, or whose
//! applied text is not the one this binary carries, is refused before anything is written.

use effectgate_core::{digest::Digest, time::Timestamp};
use rusqlite::{Connection, TransactionBehavior};

use super::{
    asked,
    tx::{Tx, failed},
};
use crate::{Result, StoreError};

/// Every migration, in order from 1.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite/0001_init.sql"),
    include_str!("../../migrations/sqlite/0002_people.sql"),
    include_str!("../../migrations/sqlite/0003_replays.sql"),
    include_str!("../../migrations/sqlite/0004_budgets.sql"),
    include_str!("../../migrations/sqlite/0005_inbound.sql"),
    include_str!("../../migrations/sqlite/0006_subscriptions.sql"),
];

/// The migration that makes `asked`; what SQL alone cannot fill in is filled in beside it.
const ASKED: i64 = 2;

const CREATE_LIST: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
  number INTEGER NOT NULL PRIMARY KEY, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT";
const HAS_LIST: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'";
const LIST: &str = "SELECT number, sha256 FROM schema_migrations ORDER BY number";
const NOTE: &str = "INSERT INTO schema_migrations (number, sha256, applied_at) VALUES (?1, ?2, ?3)";

/// Brings the schema up to what this binary knows. Harmless when it is there already.
pub(crate) fn migrate(conn: &mut Connection, now: Timestamp) -> Result<()> {
    for _ in 0..=MIGRATIONS.len() {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let applied = check(&tx)?;
        let Some(text) = MIGRATIONS.get(applied) else { return Ok(()) };
        tx.execute_batch(CREATE_LIST).and_then(|()| tx.execute_batch(text)).map_err(failed)?;
        if number(applied) == ASKED {
            asked::fill(&Tx::new(&tx, now))?;
        }
        let digest = Digest::of(text.as_bytes()).to_string();
        tx.execute(NOTE, (number(applied), digest, now.micros())).map_err(failed)?;
        tx.commit().map_err(failed)?;
        tracing::info!(number = number(applied), "migration applied");
    }
    Ok(())
}

/// How many migrations are applied, after checking that they are this binary's own.
pub(crate) fn check(conn: &Connection) -> Result<usize> {
    let has_list: i64 = conn.query_row(HAS_LIST, [], |row| row.get(0)).map_err(failed)?;
    if has_list == 0 {
        return Ok(0);
    }
    let mut statement = conn.prepare(LIST).map_err(failed)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
    let found: Vec<(i64, String)> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
    verify(&found)
}

fn verify(found: &[(i64, String)]) -> Result<usize> {
    let known = number(MIGRATIONS.len()) - 1;
    if let Some((newest, _)) = found.last()
        && *newest > known
    {
        return Err(StoreError::TooNew { found: *newest, known });
    }
    for (place, text) in MIGRATIONS.iter().enumerate().take(found.len()) {
        let (at, sha256) = &found[place];
        if *at != number(place) || *sha256 != Digest::of(text.as_bytes()).to_string() {
            return Err(StoreError::MigrationChanged { number: *at });
        }
    }
    Ok(found.len())
}

/// A migration's number by its place in the list.
fn number(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX - 1) + 1
}
