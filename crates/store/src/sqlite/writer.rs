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

/// An operation on its way to the writer. It runs inside the batch's transaction and gives back how to answer.
pub(crate) struct Job(Run);

type Run = Box<dyn FnOnce(&Connection, &Clock) -> Reply + Send>;

/// Answers once the batch's fate is known: `None` for durable, else what every operation of the batch is told.
type Reply = Box<dyn FnOnce(Option<&StoreError>) + Send>;

impl Job {
    /// Wraps an operation. `many` says that it has several statements and needs a savepoint to fail alone; a single
    /// statement is undone by the database itself.
    pub(crate) fn new<T: Send + 'static>(
        many: bool,
        answer: oneshot::Sender<Result<T>>,
        operation: impl FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Self {
        Self(Box::new(move |conn, clock| {
            let result = isolated(conn, many, || operation(&Tx::new(conn, clock.now())));
            Box::new(move |fault| {
                // The caller may have gone away; the write stands all the same.
                let _ = answer.send(fault.map_or(result, |fault| Err(again(fault))));
            })
        }))
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

fn commit_batch(conn: &Connection, clock: &Clock, batch: Vec<Job>) {
    let mut replies = Vec::with_capacity(batch.len());
    let fate = begin(conn).and_then(|()| {
        for Job(run) in batch {
            replies.push(run(conn, clock));
            // A full disk or an I/O error may have rolled the whole transaction back, the operations before included.
            if conn.is_autocommit() {
                return Err(StoreError::Unavailable { what: "the database rolled the whole batch back".into() });
            }
        }
        commit(conn)
    });
    if let Err(fault) = &fate {
        tracing::error!(error = %fault, operations = replies.len(), "a batch of writes failed");
    }
    // Jobs that were not run drop their senders; their callers read that as not available.
    for reply in replies {
        reply(fate.as_ref().err());
    }
}

fn begin(conn: &Connection) -> Result<()> {
    execute(conn, BEGIN)
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

/// Runs an operation so that what it did is undone if it fails or panics.
fn isolated<T>(conn: &Connection, many: bool, operation: impl FnOnce() -> Result<T>) -> Result<T> {
    if many {
        execute(conn, SAVE)?;
    }
    let result = catch_unwind(AssertUnwindSafe(operation)).unwrap_or_else(|_| {
        tracing::error!("an operation of the store panicked; nothing of it was written");
        Err(StoreError::Rejected { what: "the operation panicked".into() })
    });
    if many && !conn.is_autocommit() {
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
    fn batch(operations: Vec<(bool, Operation)>) -> (Vec<Result<usize>>, i64) {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (x INTEGER UNIQUE)").unwrap();
        let clock = Clock::new(Arc::new(|| Timestamp::from_micros(1)));
        let (jobs, waits): (Vec<_>, Vec<_>) = operations
            .into_iter()
            .map(|(many, operation)| {
                let (answer, wait) = oneshot::channel();
                (Job::new(many, answer, operation), wait)
            })
            .unzip();
        commit_batch(&conn, &clock, jobs);
        let gone = || Err(StoreError::Unavailable { what: "gone".into() });
        let answers = waits.into_iter().map(|mut wait| wait.try_recv().unwrap_or_else(|_| gone())).collect();
        (answers, conn.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap())
    }

    type Operation = Box<dyn FnOnce(&Tx<'_>) -> Result<usize> + Send>;

    fn insert(x: i64) -> Operation {
        Box::new(move |tx| tx.run("INSERT INTO t VALUES (?1)", [x]))
    }

    #[test]
    fn an_operation_that_panics_or_fails_is_undone_alone() {
        let panics: Operation = Box::new(|tx| {
            tx.run("INSERT INTO t VALUES (7)", [])?;
            panic!("a bug")
        });
        let fails: Operation = Box::new(|tx| {
            tx.run("INSERT INTO t VALUES (8)", [])?;
            tx.run("INSERT INTO t VALUES (1)", [])
        });

        let (answers, rows) =
            batch(vec![(true, insert(1)), (true, panics), (true, fails), (false, insert(1)), (true, insert(2))]);

        assert!(matches!(&answers[..], [Ok(1), Err(_), Err(_), Err(_), Ok(1)]), "{answers:?}");
        assert_eq!(rows, 2);
    }

    #[test]
    fn a_batch_that_was_rolled_back_whole_is_answered_with_success_by_nobody() {
        let rolls_back: Operation = Box::new(|tx| {
            // As the database itself does when the disk is full in the middle of a statement.
            tx.run("ROLLBACK", [])
        });

        let (answers, rows) = batch(vec![(true, insert(1)), (false, rolls_back), (true, insert(2))]);

        let unavailable = |a: &Result<usize>| matches!(a, Err(StoreError::Unavailable { .. }));
        assert!(answers.iter().all(unavailable), "{answers:?}");
        assert_eq!(rows, 0);
    }

    #[test]
    fn a_commit_that_fails_is_answered_with_success_by_nobody() {
        // A deferred foreign key is checked at COMMIT and nowhere before.
        let breaks: Operation = Box::new(|tx| {
            tx.run("CREATE TABLE p (id INTEGER PRIMARY KEY)", [])?;
            tx.run("CREATE TABLE c (id INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED)", [])?;
            tx.run("PRAGMA defer_foreign_keys = ON", [])?;
            tx.run("INSERT INTO c VALUES (1)", [])
        });

        let (answers, rows) = batch(vec![(true, insert(1)), (true, breaks)]);

        assert!(answers.iter().all(Result::is_err), "{answers:?}");
        assert_eq!(rows, 0);
    }
}
