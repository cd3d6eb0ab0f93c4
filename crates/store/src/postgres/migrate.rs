//! Numbered SQL, applied forward only, each in a transaction of its own. A database that a newer binary migrated, or
//! whose applied text is not the one this binary carries, is refused before anything is written.
//!
//! Differs: several replicas may start at once. One of them holds a row of `schema_lock` for a bounded time, taken by
//! compare-and-set; the others wait and find the work done. No advisory lock: poolers and relatives of PostgreSQL
//! lose those.

use std::time::Duration;

use effectgate_core::digest::Digest;

use super::{
    asked,
    connect::{Link, Target},
    tx::{Fault, computed, now},
};
use crate::{Result, StoreError};

/// Every migration, in order from 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/postgres/0001_init.sql"),
    include_str!("../../migrations/postgres/0002_people.sql"),
    include_str!("../../migrations/postgres/0003_replays.sql"),
    include_str!("../../migrations/postgres/0004_budgets.sql"),
    include_str!("../../migrations/postgres/0005_inbound.sql"),
    include_str!("../../migrations/postgres/0006_subscriptions.sql"),
];

/// The migration that makes `asked`; what SQL alone cannot fill in is filled in beside it.
const ASKED: i64 = 2;

/// A replica that dies while it migrates holds the others up for this long. Its transaction is undone by the server.
const HOLD_MS: i64 = 60_000;
const WAIT_POLL: Duration = Duration::from_millis(100);
/// Twice the hold: somebody else's time, then ours.
const WAITS_MAX: u32 = 1_200;

const CREATE_LIST: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
  number BIGINT NOT NULL PRIMARY KEY, sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL)";
/// `barrier` is what [`super::doubt`] writes to when it must know that earlier commits are replicated.
const CREATE_LOCK: &str = "CREATE TABLE IF NOT EXISTS schema_lock (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1), holder TEXT, until BIGINT NOT NULL, barrier BIGINT NOT NULL)";
const FIRST_LOCK: &str = "INSERT INTO schema_lock (id, until, barrier) VALUES (1, 0, 0) ON CONFLICT (id) DO NOTHING";
const HAS_LIST: &str = "SELECT to_regclass('schema_migrations') IS NOT NULL AND to_regclass('schema_lock') IS NOT NULL";
const LIST: &str = "SELECT number, sha256 FROM schema_migrations ORDER BY number";
const NOTE: &str = concat!("INSERT INTO schema_migrations (number, sha256, applied_at) VALUES ($1, $2, ", now!(), ")");

/// Brings the schema up to what this binary knows. Harmless when it is there already.
pub(super) async fn migrate(target: &Target) -> Result<()> {
    let mut link = target.link().await?;
    if check(&mut link).await? == MIGRATIONS.len() {
        return Ok(());
    }
    prepare(&mut link).await?;
    let me = name(&mut link).await?;
    for _ in 0..WAITS_MAX {
        if check(&mut link).await? == MIGRATIONS.len() {
            return Ok(());
        }
        if take(&mut link, &me).await? {
            let applied = apply(&mut link, &me).await;
            give_back(&mut link, &me).await;
            return applied;
        }
        tokio::time::sleep(WAIT_POLL).await;
    }
    Err(StoreError::Unavailable { what: "another process has been migrating the schema for too long".into() })
}

/// Refuses a schema that is not this binary's. Writes nothing.
pub(super) async fn check_current(target: &Target) -> Result<()> {
    let mut link = target.link().await?;
    if check(&mut link).await? == MIGRATIONS.len() {
        return Ok(());
    }
    let what = "its schema is older than this binary: start the server once".into();
    Err(StoreError::Open { url: target.shown.clone(), what })
}

/// Two that make the same table at the same moment: one is refused, and finds it made.
async fn prepare(link: &mut Link) -> Result<()> {
    let mut last = None;
    for _ in 0..5 {
        match link.client.batch_execute(&format!("{CREATE_LIST};{CREATE_LOCK};{FIRST_LOCK}")).await {
            Ok(()) => return Ok(()),
            Err(error) => last = Some(Fault::from(error).of_read()),
        }
    }
    Err(last.expect("the loop ran at least once"))
}

const NAME: &str =
    "SELECT pg_backend_pid() || ' since ' || backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// A name that no other session has or had.
async fn name(link: &mut Link) -> Result<String> {
    let found = link.query(NAME, &[]).await.map_err(|e| Fault::from(e).of_read())?;
    match found.first() {
        Some(row) => computed(row, 0),
        None => Err(StoreError::Unavailable { what: "this session is not in pg_stat_activity".into() }),
    }
}

const TAKE: &str = concat!(
    "UPDATE schema_lock SET holder = $1, until = ",
    now!(),
    " + $2::bigint * 1000 WHERE id = 1 AND (holder IS NULL OR until <= ",
    now!(),
    ")"
);
const GIVE_BACK: &str = "UPDATE schema_lock SET holder = NULL, until = 0 WHERE id = 1 AND holder = $1";

async fn take(link: &mut Link, me: &str) -> Result<bool> {
    match link.run(TAKE, &[&me, &HOLD_MS]).await.map_err(Fault::from) {
        Ok(taken) => Ok(taken == 1),
        Err(Fault::Conflict(_) | Fault::Held(_)) => Ok(false),
        Err(fault) => Err(fault.of_read()),
    }
}

async fn give_back(link: &mut Link, me: &str) {
    // A lock that is not given back ends by itself.
    if let Err(error) = link.run(GIVE_BACK, &[&me]).await {
        tracing::debug!(%error, "the schema lock was not given back");
    }
}

async fn apply(link: &mut Link, me: &str) -> Result<()> {
    for place in check(link).await?..MIGRATIONS.len() {
        apply_one(link, me, place).await.map_err(Fault::of_write)?;
        tracing::info!(number = number(place), "migration applied");
    }
    Ok(())
}

/// Held until the commit, so that nobody can take the lock over in the middle.
const STILL_MINE: &str = "SELECT 1 FROM schema_lock WHERE id = 1 AND holder = $1 FOR UPDATE";

async fn apply_one(link: &mut Link, me: &str, place: usize) -> Result<(), Fault> {
    let text = MIGRATIONS[place];
    let digest = Digest::of(text.as_bytes()).to_string();
    let transaction = link.client.transaction().await?;
    if transaction.query_opt(STILL_MINE, &[&me]).await?.is_none() {
        return Err(StoreError::Unavailable { what: "another process took the schema lock over".into() }.into());
    }
    transaction.batch_execute(text).await?;
    if number(place) == ASKED {
        asked::fill(&transaction).await?;
    }
    transaction.execute(NOTE, &[&number(place), &digest]).await?;
    Ok(transaction.commit().await?)
}

/// How many migrations are applied, after checking that they are this binary's own.
async fn check(link: &mut Link) -> Result<usize> {
    let read = |e| Fault::from(e).of_read();
    let has_list = link.query(HAS_LIST, &[]).await.map_err(read)?;
    if !has_list.first().is_some_and(|row| row.get(0)) {
        return Ok(0);
    }
    let rows = link.query(LIST, &[]).await.map_err(read)?;
    verify(&rows.iter().map(|row| (row.get(0), row.get(1))).collect::<Vec<_>>())
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
