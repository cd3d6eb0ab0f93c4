//! What every file of this twin works with: a row's cells, the clock's expression, and what a failed statement means.
//! Differs: SQLite's twin of this file is a connection at one moment; here a statement is a moment of its own.

use effectgate_core::time::Timestamp;
use tokio_postgres::{Error, Row, error::SqlState, types::FromSql};

use crate::{
    Result, StoreError,
    row::{BadCell, Cells},
};

/// The database's moving clock in microseconds. Not `now()`: that is the transaction's start and stands still (HC-05).
/// Inside a condition on an index it must stand as `(SELECT ...)`, because a volatile expression bounds no index scan.
macro_rules! now {
    () => {
        "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
    };
}
pub(super) use now;

impl Cells for Row {
    fn int(&self, place: usize) -> Result<Option<i64>, BadCell> {
        self.cell(place)
    }

    fn text(&self, place: usize) -> Result<Option<String>, BadCell> {
        self.cell(place)
    }

    fn blob(&self, place: usize) -> Result<Option<Vec<u8>>, BadCell> {
        self.cell(place)
    }

    fn flag(&self, place: usize) -> Result<Option<bool>, BadCell> {
        self.cell(place)
    }
}

trait Cell {
    fn cell<'a, T: FromSql<'a>>(&'a self, place: usize) -> Result<Option<T>, BadCell>;
}

impl Cell for Row {
    fn cell<'a, T: FromSql<'a>>(&'a self, place: usize) -> Result<Option<T>, BadCell> {
        self.try_get(place).map_err(|_| BadCell)
    }
}

/// The same row from a place on, for mappings that begin at 0.
pub(super) struct Cut<'a>(pub(super) &'a Row, pub(super) usize);

impl Cells for Cut<'_> {
    fn int(&self, place: usize) -> Result<Option<i64>, BadCell> {
        self.0.int(self.1 + place)
    }

    fn text(&self, place: usize) -> Result<Option<String>, BadCell> {
        self.0.text(self.1 + place)
    }

    fn blob(&self, place: usize) -> Result<Option<Vec<u8>>, BadCell> {
        self.0.blob(self.1 + place)
    }

    fn flag(&self, place: usize) -> Result<Option<bool>, BadCell> {
        self.0.flag(self.1 + place)
    }
}

/// A cell that the statement computed, not a column of a table.
pub(super) fn computed<'a, T: FromSql<'a>>(row: &'a Row, place: usize) -> Result<T> {
    row.try_get(place).map_err(|e| StoreError::Rejected { what: format!("a computed cell: {e}") })
}

/// The moment in a computed cell.
pub(super) fn moment(row: &Row, place: usize) -> Result<Timestamp> {
    computed(row, place).map(Timestamp::from_micros)
}

/// Why a statement did not do its work.
#[derive(Debug)]
pub(super) enum Fault {
    /// Another transaction was in the way (serialisation, deadlock). Nothing was committed; it may simply be sent again.
    Conflict(StoreError),
    /// Somebody holds a row for longer than a statement waits. Nothing was committed.
    Held(StoreError),
    /// The connection ended under the statement, or the server was told to end it: for a write, nobody knows.
    Lost { what: String },
    /// Anything else. Nothing was committed.
    Failed(StoreError),
}

impl std::convert::From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.code().map(SqlState::code) {
            None | Some("57P01" | "57P02" | "57P03") => Self::Lost { what: said(&error) },
            Some("40001" | "40P01") => Self::Conflict(failed(&error)),
            Some("55P03") => Self::Held(failed(&error)),
            Some(_) => Self::Failed(failed(&error)),
        }
    }
}

impl std::convert::From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl Fault {
    /// What a reader is told.
    pub(super) fn of_read(self) -> StoreError {
        match self {
            Self::Conflict(error) | Self::Held(error) | Self::Failed(error) => error,
            Self::Lost { what } => StoreError::Unavailable { what },
        }
    }

    /// What a writer is told.
    pub(super) fn of_write(self) -> StoreError {
        match self {
            Self::Lost { what } => StoreError::CommitUnknown { what },
            other => other.of_read(),
        }
    }
}

/// What the server's refusal means.
fn failed(error: &Error) -> StoreError {
    let what = said(error);
    // Class 08: connection; 25: not writable here; 40: serialisation, deadlock; 53: resources; 55: not now; 57: told to
    // stop; 58, XX: the server's own trouble. The rest is about the statement or its values.
    match error.code().and_then(|c| c.code().get(..2)) {
        None | Some("08" | "25" | "40" | "53" | "55" | "57" | "58" | "XX") => StoreError::Unavailable { what },
        _ => StoreError::Rejected { what },
    }
}

/// The message with its cause and its code; never the values of a row (those are in `detail`, which is left out).
pub(super) fn said(error: &Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(db), _) => format!("{} ({})", db.message(), db.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_clock_is_the_one_that_moves() {
        assert!(now!().contains("clock_timestamp()"));
    }
}
