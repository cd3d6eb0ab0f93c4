//! The connections of this twin: one writer thread, a few readers with connections that cannot write. All blocking
//! work happens on these threads, never on the runtime's.
//!
//! A read that is issued after a commit was answered sees it: each read begins its snapshot when it runs.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::{mpsc, oneshot};

use super::{
    clock::Clock,
    tx::{Tx, failed},
    writer::{self, Job},
};
use crate::{Result, StoreError};

/// Reads that may wait; beyond this a caller waits for room.
const READ_QUEUE_MAX: usize = 1024;
/// Readers: lists of pages must not hold up the short reads of the hot path; more threads gain little, because reads
/// come from the page cache.
const READERS: usize = 2;
/// How long another process's lock (a backup, a checkpoint by a command line) is waited for.
const BUSY_MS: u64 = 5_000;
/// Statements kept for each connection: all there are.
const STATEMENTS_MAX: usize = 128;

/// Durable before the answer: FULL flushes the log at each commit, NORMAL could lose the last ones at a power cut.
/// The caches hold the upper levels of the indexes of some million runs, the system's page cache the rest; SQLite walks
/// the whole hash table of its cache at each commit, so a larger one costs more than it saves (64 MiB: a tenth of the
/// writer's time, measured 2026-11-30). The log is cut back after a burst.
const WRITER_PRAGMAS: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 16000;
PRAGMA journal_size_limit = 134217728;";
const READER_PRAGMAS: &str = "PRAGMA query_only = ON; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;";

type ReadJob = Box<dyn FnOnce(&Connection, &Clock) + Send>;

pub(crate) struct Pool {
    path: PathBuf,
    /// Gone once closed; `write` is never there for a store that was opened for reading only.
    write: RwLock<Option<mpsc::Sender<Job>>>,
    read: RwLock<Option<mpsc::Sender<ReadJob>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Opens the connection that writes. `pages_max` bounds the file.
pub(crate) fn open_writer(path: &Path, pages_max: Option<u32>) -> Result<Connection> {
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    conn.execute_batch(WRITER_PRAGMAS).map_err(failed)?;
    if let Some(pages) = pages_max {
        conn.pragma_update(None, "max_page_count", pages).map_err(failed)?;
    }
    Ok(conn)
}

pub(crate) fn open_reader(path: &Path) -> Result<Connection> {
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    conn.execute_batch(READER_PRAGMAS).map_err(failed)?;
    Ok(conn)
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)
        .map_err(|e| StoreError::Open { url: path.display().to_string(), what: e.to_string() })?;
    conn.busy_timeout(Duration::from_millis(BUSY_MS)).map_err(failed)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(conn)
}

impl Pool {
    /// Starts the threads. Without a writer every write is refused.
    pub(crate) fn start(
        path: &Path,
        clock: &Arc<Clock>,
        writer: Option<(Connection, Option<File>, usize)>,
    ) -> Result<Self> {
        let mut threads = Vec::new();
        let (read, queue) = mpsc::channel(READ_QUEUE_MAX);
        let queue = Arc::new(Mutex::new(queue));
        for n in 0..READERS {
            let (conn, clock, queue) = (open_reader(path)?, Arc::clone(clock), Arc::clone(&queue));
            threads.push(spawn(&format!("store-read-{n}"), move || read_on(&queue, &conn, &clock))?);
        }
        let mut write = None;
        if let Some((conn, lock, batch_max)) = writer {
            let (sender, queue) = mpsc::channel(writer::QUEUE_MAX);
            let clock = Arc::clone(clock);
            threads.push(spawn("store-write", move || writer::work(queue, conn, &clock, lock, batch_max))?);
            write = Some(sender);
        }
        let (write, read) = (RwLock::new(write), RwLock::new(Some(read)));
        Ok(Self { path: path.to_owned(), write, read, threads: Mutex::new(threads) })
    }

    /// Runs an operation in the writer's next batch; answers when it is durable. It may be run twice, the first time
    /// undone.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        operation: impl Fn(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let sender = self.write.read().unwrap_or_else(PoisonError::into_inner).clone();
        let sender = sender.ok_or_else(|| self.closed("not open for writing"))?;
        let (answer, wait) = oneshot::channel();
        sender.send(Job::new(answer, operation)).await.map_err(|_| self.closed("the writer has ended"))?;
        drop(sender);
        wait.await.unwrap_or_else(|_| Err(self.closed("the batch was given up before this operation")))
    }

    /// Runs a read in one snapshot.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let sender = self.read.read().unwrap_or_else(PoisonError::into_inner).clone();
        let sender = sender.ok_or_else(|| self.closed("closed"))?;
        let (answer, wait) = oneshot::channel();
        let job: ReadJob = Box::new(move |conn, clock| {
            let _ = answer.send(snapshot(conn, || operation(&Tx::new(conn, clock.now()))));
        });
        sender.send(job).await.map_err(|_| self.closed("the readers have ended"))?;
        wait.await.unwrap_or_else(|_| Err(self.closed("the read was given up")))
    }

    fn closed(&self, what: &str) -> StoreError {
        StoreError::Unavailable { what: format!("{}: {what}", self.path.display()) }
    }

    /// Lets the threads finish what is queued and waits for them.
    pub(crate) async fn close(&self) {
        drop(self.write.write().unwrap_or_else(PoisonError::into_inner).take());
        drop(self.read.write().unwrap_or_else(PoisonError::into_inner).take());
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let joined = tokio::task::spawn_blocking(move || threads.into_iter().all(|t| t.join().is_ok())).await;
        if !matches!(joined, Ok(true)) {
            tracing::error!("a thread of the store ended by a panic");
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|e| StoreError::Unavailable { what: format!("no thread for {name}: {e}") })
}

fn read_on(queue: &Mutex<mpsc::Receiver<ReadJob>>, conn: &Connection, clock: &Clock) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(job) = job else { return };
        // A panic drops the answer's sender, which the caller reads as not available.
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job(conn, clock))).is_err() {
            tracing::error!("a read of the store panicked");
        }
        if !conn.is_autocommit() {
            let _ = conn.execute_batch("ROLLBACK");
        }
    }
}

fn snapshot<T>(conn: &Connection, operation: impl FnOnce() -> Result<T>) -> Result<T> {
    conn.prepare_cached("BEGIN").and_then(|mut s| s.execute([])).map_err(failed)?;
    let result = operation();
    conn.prepare_cached("COMMIT").and_then(|mut s| s.execute([])).map_err(failed)?;
    result
}
