//! The one thread that writes. It drains its queue into one transaction and answers when that is durable: operations
//! that arrive together share one flush, and there is no timer. An operation that fails in a batch fails alone.
//!
//! Differs: PostgreSQL batches through arrays on pooled connections; a file has one writer at a time anyway.

use std::{
    fs::File,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::{
    clock::Clock,
    tx::{Tx, commit_failed, failed},
};
use crate::{Result, StoreError};

/// Operations that may wait. Beyond this a caller waits for room: about a fifth of a second of work at 20,000/s.
pub(crate) const QUEUE_MAX: usize = 4096;
/// Operations in one transaction: enough that the flush is a small part (measured: little gain beyond 128), few enough
/// that the first in the batch is answered within tens of milliseconds.
pub(crate) const BATCH_MAX: usize = 512;

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";
const SAVE: &str = "SAVEPOINT operation";
const RELEASE: &str = "RELEASE operation";
const BACK: &str = "ROLLBACK TO operation";

/// An operation on its way to the writer. It can be run again, because a batch may have to be.
pub(crate) struct Job(Box<dyn Work>);

trait Work: Send {
    /// Runs inside the batch's transaction; true if it did what it was to do.
    fn run(&mut self, conn: &Connection, clock: &Clock, apart: Apart) -> bool;
    /// Answers once the batch's fate is known: `None` for durable, else what every operation of it is told.
    fn answer(self: Box<Self>, fault: Option<&StoreError>);
}

/// Whether each operation has a savepoint of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Apart {
    No,
    Yes,
}

struct Operation<T, F> {
    run: F,
    result: Option<Result<T>>,
    answer: oneshot::Sender<Result<T>>,
}

impl Job {
    pub(crate) fn new<T: Send + 'static>(
        answer: oneshot::Sender<Result<T>>,
        run: impl Fn(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Self {
        Self(Box::new(Operation { run, result: None, answer }))
    }
}

impl<T: Send, F: Fn(&Tx<'_>) -> Result<T> + Send> Work for Operation<T, F> {
    fn run(&mut self, conn: &Connection, clock: &Clock, apart: Apart) -> bool {
        let result = isolated(conn, apart, || (self.run)(&Tx::new(conn, clock.now())));
        self.result.insert(result).is_ok()
    }

    fn answer(self: Box<Self>, fault: Option<&StoreError>) {
        let Self { result, answer, .. } = *self;
        let not_run = || Err(StoreError::Unavailable { what: "the batch was given up before this operation".into() });
        let result = fault.map_or_else(|| result.unwrap_or_else(not_run), |fault| Err(again(fault)));
        // The caller may have gone away; the write stands all the same.
        let _ = answer.send(result);
    }
}

/// Works until every sender is gone and the queue is empty. Holds the lock file, so that the file is free for another
/// process exactly when nothing of this one can write any more.
pub(crate) fn work(
    mut queue: mpsc::Receiver<Job>,
    conn: Connection,
    clock: &Arc<Clock>,
    lock: Option<File>,
    batch_max: usize,
) {
    while let Some(first) = queue.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < batch_max
            && let Ok(job) = queue.try_recv()
        {
            batch.push(job);
        }
        commit_batch(&conn, clock, batch);
    }
    if let Err((_, error)) = conn.close() {
        tracing::warn!(%error, "the database did not close cleanly");
    }
    drop(lock);
}

/// Writes a batch. Nearly always every operation succeeds, so the first try does without savepoints (measured: a fifth
/// of the time of a reservation); if one fails, the batch is undone and written again with one for each.
fn commit_batch(conn: &Connection, clock: &Clock, mut batch: Vec<Job>) {
    let fate = match write(conn, clock, &mut batch, Apart::No) {
        Ok(Written::Failed | Written::RolledBack) if batch.len() > 1 => write(conn, clock, &mut batch, Apart::Yes),
        // A single operation that failed has its answer, and nothing beside it to be kept.
        other => other,
    };
    let fault = match fate {
        Ok(Written::Durable | Written::Failed) => None,
        Ok(Written::RolledBack) => Some(StoreError::Unavailable { what: "the database rolled the batch back".into() }),
        Err(fault) => Some(fault),
    };
    if let Some(fault) = &fault {
        tracing::error!(error = %fault, operations = batch.len(), "a batch of writes failed");
    }
    for Job(work) in batch {
        work.answer(fault.as_ref());
    }
}

/// What came of a try to write a batch.
#[derive(Debug, PartialEq, Eq)]
enum Written {
    /// What operations answer is so.
    Durable,
    /// One failed and nothing of the batch is there.
    Failed,
    /// The database undid everything by itself: a full disk or an I/O error in the middle of a statement.
    RolledBack,
}

fn write(conn: &Connection, clock: &Clock, batch: &mut [Job], apart: Apart) -> Result<Written> {
    if !conn.is_autocommit() {
        // The batch before could not be rolled back; without this no other would ever begin.
        execute(conn, ROLLBACK)?;
    }
    execute(conn, BEGIN)?;
    for Job(work) in batch {
        let done = work.run(conn, clock, apart);
        if conn.is_autocommit() {
            return Ok(Written::RolledBack);
        }
        if !done && apart == Apart::No {
            execute(conn, ROLLBACK)?;
            return Ok(Written::Failed);
        }
    }
    commit(conn)?;
    Ok(Written::Durable)
}

fn commit(conn: &Connection) -> Result<()> {
    let done = conn.prepare_cached(COMMIT).and_then(|mut s| s.execute([]));
    done.map(drop).map_err(|error| {
        if !conn.is_autocommit()
            && let Err(error) = execute(conn, ROLLBACK)
        {
            tracing::error!(%error, "a failed batch could not be rolled back");
        }
        commit_failed(&error)
    })
}

/// Runs an operation; with a savepoint, what it did is undone if it fails or panics.
fn isolated<T>(conn: &Connection, apart: Apart, operation: impl FnOnce() -> Result<T>) -> Result<T> {
    if apart == Apart::Yes {
        execute(conn, SAVE)?;
    }
    let result = catch_unwind(AssertUnwindSafe(operation)).unwrap_or_else(|_| {
        tracing::error!("an operation of the store panicked; nothing of it was written");
        Err(StoreError::Rejected { what: "the operation panicked".into() })
    });
    if apart == Apart::Yes && !conn.is_autocommit() {
        if result.is_err() {
            execute(conn, BACK)?;
        }
        execute(conn, RELEASE)?;
    }
    result
}

fn execute(conn: &Connection, sql: &str) -> Result<()> {
    conn.prepare_cached(sql).and_then(|mut s| s.execute([])).map(drop).map_err(failed)
}

/// The same fault, for one more operation of the batch.
fn again(fault: &StoreError) -> StoreError {
    match fault {
        StoreError::CommitUnknown { what } => StoreError::CommitUnknown { what: what.clone() },
        other => StoreError::Unavailable { what: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use effectgate_core::time::Timestamp;

    use super::*;

    /// Runs operations in one batch on a table `t (x UNIQUE)`; gives their answers and what the table holds.
    fn batch(operations: Vec<Try>) -> (Vec<Result<usize>>, i64) {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (x INTEGER UNIQUE)").unwrap();
        let clock = Clock::new(Arc::new(|| Timestamp::from_micros(1)));
        let (jobs, waits): (Vec<_>, Vec<_>) = operations
            .into_iter()
            .map(|operation| {
                let (answer, wait) = oneshot::channel();
                (Job::new(answer, operation), wait)
            })
            .unzip();
        commit_batch(&conn, &clock, jobs);
        let answers = waits.into_iter().map(|mut wait| wait.try_recv().unwrap()).collect();
        (answers, conn.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap())
    }

    type Try = Box<dyn Fn(&Tx<'_>) -> Result<usize> + Send>;

    fn insert(x: i64) -> Try {
        Box::new(move |tx| tx.run("INSERT INTO t VALUES (?1)", [x]))
    }

    #[test]
    fn an_operation_that_panics_or_fails_is_undone_alone() {
        let panics: Try = Box::new(|tx| {
            tx.run("INSERT INTO t VALUES (7)", [])?;
            panic!("a bug")
        });
        let fails: Try = Box::new(|tx| {
            tx.run("INSERT INTO t VALUES (8)", [])?;
            tx.run("INSERT INTO t VALUES (1)", [])
        });

        let (answers, rows) = batch(vec![insert(1), panics, fails, insert(1), insert(2)]);

        assert!(matches!(&answers[..], [Ok(1), Err(_), Err(_), Err(_), Ok(1)]), "{answers:?}");
        assert_eq!(rows, 2);
    }

    #[test]
    fn an_operation_that_fails_by_itself_is_told_why() {
        let fails: Try = Box::new(|tx| {
            tx.run("INSERT INTO t VALUES (8)", [])?;
            tx.run("INSERT INTO t VALUES (8)", [])
        });

        let (answers, rows) = batch(vec![fails]);

        assert!(matches!(&answers[..], [Err(StoreError::Rejected { .. })]), "{answers:?}");
        assert_eq!(rows, 0);
    }

    #[test]
    fn a_batch_that_was_rolled_back_whole_is_answered_with_success_by_nobody() {
        let rolls_back: Try = Box::new(|tx| {
            // As the database itself does when the disk is full in the middle of a statement.
            tx.run("ROLLBACK", [])
        });

        let (answers, rows) = batch(vec![insert(1), rolls_back, insert(2)]);

        let unavailable = |a: &Result<usize>| matches!(a, Err(StoreError::Unavailable { .. }));
        assert!(answers.iter().all(unavailable), "{answers:?}");
        assert_eq!(rows, 0);
    }

    #[test]
    fn a_commit_that_fails_is_answered_with_success_by_nobody() {
        // A deferred foreign key is checked at COMMIT and nowhere before.
        let breaks: Try = Box::new(|tx| {
            tx.run("CREATE TABLE p (id INTEGER PRIMARY KEY)", [])?;
            tx.run("CREATE TABLE c (id INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED)", [])?;
            tx.run("PRAGMA defer_foreign_keys = ON", [])?;
            tx.run("INSERT INTO c VALUES (1)", [])
        });

        let (answers, rows) = batch(vec![insert(1), breaks]);

        assert!(answers.iter().all(Result::is_err), "{answers:?}");
        assert_eq!(rows, 0);
    }
}
