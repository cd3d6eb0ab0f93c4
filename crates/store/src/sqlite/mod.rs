//! The SQLite twin: one file, one process that writes. The other twin has the same file names and the same order of
//! functions; a difference carries a comment that begins "Differs:".
//!
//! One writer thread commits what arrives together in one transaction ([`writer`]); readers have connections of their
//! own ([`pool`]). Leases are judged by this process's clock, read at the write ([`clock`]).

mod approval;
mod asked;
mod charge;
mod clock;
mod commit;
mod effect;
mod health;
mod house;
mod journal;
mod migrate;
mod notice;
#[cfg(test)]
mod plans;
mod pool;
mod profile;
mod purge;
mod replay;
mod run;
mod search;
mod session;
mod store;
mod subscription;
mod tally;
mod tx;
mod writer;

use std::{
    ffi::OsString,
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::Connection;

use self::{clock::Clock, pool::Pool};
use crate::{Result, StoreError, known::KnownFlows};

pub use clock::ClockFn;

/// The store over one SQLite file.
pub struct SqliteStore {
    pool: Pool,
    known: KnownFlows,
}

/// What may be set apart from the path.
#[derive(Default)]
pub struct SqliteOptions {
    /// The clock that judges leases; the machine's without one.
    pub clock: Option<ClockFn>,
    /// Bounds the file, in pages of 4 KiB; SQLite's own bound without one. Writes beyond it are not available.
    pub pages_max: Option<u32>,
    /// Writes that share one commit; [`writer::BATCH_MAX`] without it. 1 commits each by itself, for comparison.
    pub batch_max: Option<usize>,
}

impl SqliteStore {
    /// Opens or makes the file, migrates it, and starts the threads. Holds `<path>.lock` until closed.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if another process serves the file, [`StoreError::TooNew`] and
    /// [`StoreError::MigrationChanged`] if another binary made its schema, [`StoreError::Open`] if it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// The same with a clock of the caller's, so that tests drive time. It is never seen to run backwards.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with_clock(path: impl AsRef<Path>, clock: ClockFn) -> Result<Self> {
        Self::open_with(path, SqliteOptions { clock: Some(clock), ..SqliteOptions::default() })
    }

    /// The same with every option.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self> {
        let path = on_disk(path.as_ref())?;
        let lock = lock(path)?;
        make_private(path)?;
        let clock = Arc::new(Clock::new(options.clock.unwrap_or_else(clock::system)));
        let batch_max = options.batch_max.unwrap_or(writer::BATCH_MAX).max(1);
        let mut conn = pool::open_writer(path, options.pages_max)?;
        migrate::migrate(&mut conn, clock.now())?;
        flush_folder(path);
        Ok(Self::over(Pool::start(path, &clock, Some((conn, Some(lock), batch_max)))?))
    }

    /// Opens a file that a server may be serving, for the command line's few writes to what belongs to no run (API keys,
    /// accounts): it takes no lock file, migrates nothing, and waits for the server's transactions as the server waits
    /// for its own. Not for leases: those are judged by the one serving process's clock.
    ///
    /// # Errors
    /// As for [`open_read_only`](Self::open_read_only).
    pub fn open_beside(path: impl AsRef<Path>) -> Result<Self> {
        let path = on_disk(path.as_ref())?;
        check_current(path)?;
        let clock = Arc::new(Clock::new(clock::system()));
        let conn = pool::open_writer(path, None)?;
        Ok(Self::over(Pool::start(path, &clock, Some((conn, None, writer::BATCH_MAX)))?))
    }

    /// Opens a file for reading only, also while a server runs on it. Every write is refused.
    ///
    /// # Errors
    /// [`StoreError::Open`] if there is no file or it was never migrated; [`StoreError::TooNew`] and
    /// [`StoreError::MigrationChanged`] as for [`open`](Self::open).
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        let path = on_disk(path.as_ref())?;
        check_current(path)?;
        let clock = Arc::new(Clock::new(clock::system()));
        Ok(Self::over(Pool::start(path, &clock, None)?))
    }

    fn over(pool: Pool) -> Self {
        Self { pool, known: KnownFlows::default() }
    }
}

/// Refuses a file that is not there or whose schema is not this binary's.
fn check_current(path: &Path) -> Result<()> {
    let conn: Connection = pool::open_reader(path)?;
    if migrate::check(&conn)? != migrate::MIGRATIONS.len() {
        return Err(cannot_open(path, "its schema is older than this binary: start the server once"));
    }
    Ok(())
}

fn cannot_open(path: &Path, what: impl ToString) -> StoreError {
    StoreError::Open { url: path.display().to_string(), what: what.to_string() }
}

/// What lives in memory is not durable, and every connection would have a database of its own.
fn on_disk(path: &Path) -> Result<&Path> {
    let text = path.as_os_str();
    if text.is_empty() || text.as_encoded_bytes().starts_with(b":memory:") {
        return Err(cannot_open(path, "a database in memory keeps nothing: give a file"));
    }
    Ok(path)
}

/// One process serves one file. The lock belongs to the open file, so it is gone with the process however it ends.
fn lock(path: &Path) -> Result<File> {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(".lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(PathBuf::from(name));
    let file = file.map_err(|e| cannot_open(path, format!("its lock file: {e}")))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { path: path.display().to_string() }),
        Err(TryLockError::Error(e)) => Err(cannot_open(path, format!("its lock file: {e}"))),
    }
}

/// Payloads are personal data: a new file is the owner's alone. The log files take over its mode.
fn make_private(path: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(cannot_open(path, e)),
    }
}

/// A new file's name must survive a power cut too. Not every system lets a folder be flushed; the file itself is.
fn flush_folder(path: &Path) {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Err(error) = File::open(folder).and_then(|f| f.sync_all()) {
        tracing::debug!(%error, "the database's folder could not be flushed");
    }
}
