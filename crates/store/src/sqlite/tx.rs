//! One connection at one moment: what every operation of this twin works with. Statements are prepared once for each
//! connection. Differs: PostgreSQL's driver brings its own transaction type.

use effectgate_core::time::Timestamp;
use rusqlite::{Connection, ErrorCode, Params, Row, types::ValueRef};

use crate::{
    Result, StoreError,
    row::{BadCell, Cells},
};

/// A connection inside a transaction, and the clock as it was read for this operation.
pub(crate) struct Tx<'c> {
    conn: &'c Connection,
    pub(crate) now: Timestamp,
}

impl<'c> Tx<'c> {
    pub(crate) fn new(conn: &'c Connection, now: Timestamp) -> Self {
        Self { conn, now }
    }

    /// Runs a statement and says how many rows it changed.
    pub(crate) fn run(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.conn.prepare_cached(sql).and_then(|mut s| s.execute(params)).map_err(failed)
    }

    /// The first row, if there is one.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.conn.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query(params).map_err(failed)?;
        rows.next().map_err(failed)?.map(map).transpose()
    }

    /// Every row.
    pub(crate) fn list<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.conn.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query(params).map_err(failed)?;
        let mut items = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            items.push(map(row)?);
        }
        Ok(items)
    }

    /// The first row's first cell as a number; 0 without one.
    pub(crate) fn count(&self, sql: &str, params: impl Params) -> Result<i64> {
        Ok(self.first(sql, params, |row| row.get(0).map_err(failed))?.unwrap_or(0))
    }
}

impl Cells for Row<'_> {
    fn int(&self, place: usize) -> Result<Option<i64>, BadCell> {
        match self.get_ref(place) {
            Ok(ValueRef::Integer(int)) => Ok(Some(int)),
            Ok(ValueRef::Null) => Ok(None),
            _ => Err(BadCell),
        }
    }

    fn text(&self, place: usize) -> Result<Option<String>, BadCell> {
        match self.get_ref(place) {
            Ok(ValueRef::Text(text)) => String::from_utf8(text.to_vec()).map(Some).map_err(|_| BadCell),
            Ok(ValueRef::Null) => Ok(None),
            _ => Err(BadCell),
        }
    }

    fn blob(&self, place: usize) -> Result<Option<Vec<u8>>, BadCell> {
        match self.get_ref(place) {
            Ok(ValueRef::Blob(blob)) => Ok(Some(blob.to_vec())),
            Ok(ValueRef::Null) => Ok(None),
            _ => Err(BadCell),
        }
    }

    fn flag(&self, place: usize) -> Result<Option<bool>, BadCell> {
        Ok(self.int(place)?.map(|int| int != 0))
    }
}

/// What a failed statement means. Nothing of it was committed.
pub(crate) fn failed(error: rusqlite::Error) -> StoreError {
    let what = error.to_string();
    match error.sqlite_error_code() {
        Some(
            ErrorCode::ConstraintViolation
            | ErrorCode::TooBig
            | ErrorCode::TypeMismatch
            | ErrorCode::ParameterOutOfRange
            | ErrorCode::ApiMisuse
            | ErrorCode::Unknown,
        ) => StoreError::Rejected { what },
        Some(_) => StoreError::Unavailable { what },
        None => StoreError::Rejected { what },
    }
}

/// What a failed COMMIT means. A write that found no room or no lock left no commit record; after an error of the disk
/// itself (a flush that failed) the record may lie in the log all the same.
pub(crate) fn commit_failed(error: &rusqlite::Error) -> StoreError {
    let what = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => StoreError::CommitUnknown { what },
        _ => StoreError::Unavailable { what },
    }
}
