//! How rows become core's words: one mapping for both twins. A twin only says how to get a cell out of its own row
//! type ([`Cells`]); which columns there are, in which order, and what they may hold, is said here once.
//!
//! What does not live here: statements (each stands beside its function in the twin) and anything that writes.
//! A cell that this program never writes becomes [`StoreError::Corrupt`], naming table, column and row.

mod approval;
mod effect;
mod house;
mod people;
mod replays;
mod run;
mod subscriptions;

use effectgate_core::{
    digest::Digest,
    ids::{RunId, Tenant},
    time::Timestamp,
};

use crate::{
    Result, StoreError,
    types::{Page, RunRef},
};

pub(crate) use {approval::*, effect::*, house::*, people::*, replays::*, run::*, subscriptions::*};

/// A cell that does not have the type its column should have.
#[derive(Debug)]
pub(crate) struct BadCell;

/// A twin's row: cells by place, from 0. `Ok(None)` is NULL.
pub(crate) trait Cells {
    fn int(&self, place: usize) -> Result<Option<i64>, BadCell>;
    fn text(&self, place: usize) -> Result<Option<String>, BadCell>;
    fn blob(&self, place: usize) -> Result<Option<Vec<u8>>, BadCell>;
    fn flag(&self, place: usize) -> Result<Option<bool>, BadCell>;
}

/// A table's name and the columns that are read of it, in the order in which every statement names them.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [&'static str],
}

/// Declares a [`Table`] and a macro of the given name that expands to its column list with an alias, for `concat!`.
macro_rules! table {
    ($table:ident, $list:ident, $name:literal, $alias:literal, $first:ident $(, $rest:ident)* $(,)?) => {
        pub(crate) const $table: $crate::row::Table =
            $crate::row::Table { name: $name, columns: &[stringify!($first) $(, stringify!($rest))*] };
        macro_rules! $list {
            () => { concat!($alias, ".", stringify!($first) $(, ", ", $alias, ".", stringify!($rest))*) };
        }
        pub(crate) use $list;
    };
}
use table;

/// Reads the cells of one table out of a row whose first cell of that table is at `offset`.
pub(crate) struct Reader<'a, C> {
    cells: &'a C,
    table: &'static Table,
    offset: usize,
}

impl<'a, C: Cells> Reader<'a, C> {
    pub(crate) fn new(cells: &'a C, table: &'static Table, offset: usize) -> Self {
        Self { cells, table, offset }
    }

    fn place(&self, column: &str) -> usize {
        let place = self.table.columns.iter().position(|c| *c == column);
        self.offset + place.expect("mappings only name columns of their own table; the round trip tests read each")
    }

    /// The error that names this row's cell. The row is named by its first cell.
    pub(crate) fn corrupt(&self, column: &'static str) -> StoreError {
        let row = match (self.cells.blob(self.offset), self.cells.text(self.offset)) {
            (Ok(Some(id)), _) => RunId::from_bytes(&id).map_or_else(|| format!("{id:02x?}"), |id| id.to_string()),
            (_, Ok(Some(name))) => name,
            _ => "?".to_owned(),
        };
        StoreError::Corrupt { table: self.table.name, column, row }
    }

    pub(crate) fn opt_int(&self, column: &'static str) -> Result<Option<i64>> {
        self.cells.int(self.place(column)).map_err(|BadCell| self.corrupt(column))
    }

    pub(crate) fn int(&self, column: &'static str) -> Result<i64> {
        self.opt_int(column)?.ok_or_else(|| self.corrupt(column))
    }

    pub(crate) fn small(&self, column: &'static str) -> Result<i32> {
        i32::try_from(self.int(column)?).map_err(|_| self.corrupt(column))
    }

    pub(crate) fn opt_text(&self, column: &'static str) -> Result<Option<String>> {
        self.cells.text(self.place(column)).map_err(|BadCell| self.corrupt(column))
    }

    pub(crate) fn text(&self, column: &'static str) -> Result<String> {
        self.opt_text(column)?.ok_or_else(|| self.corrupt(column))
    }

    pub(crate) fn flag(&self, column: &'static str) -> Result<bool> {
        let cell = self.cells.flag(self.place(column)).map_err(|BadCell| self.corrupt(column))?;
        cell.ok_or_else(|| self.corrupt(column))
    }

    pub(crate) fn opt_time(&self, column: &'static str) -> Result<Option<Timestamp>> {
        Ok(self.opt_int(column)?.map(Timestamp::from_micros))
    }

    pub(crate) fn time(&self, column: &'static str) -> Result<Timestamp> {
        self.int(column).map(Timestamp::from_micros)
    }

    pub(crate) fn opt_blob(&self, column: &'static str) -> Result<Option<Vec<u8>>> {
        self.cells.blob(self.place(column)).map_err(|BadCell| self.corrupt(column))
    }

    pub(crate) fn bytes32(&self, column: &'static str) -> Result<[u8; 32]> {
        let blob = self.opt_blob(column)?.ok_or_else(|| self.corrupt(column))?;
        blob.try_into().map_err(|_| self.corrupt(column))
    }

    pub(crate) fn opt_digest(&self, column: &'static str) -> Result<Option<Digest>> {
        match self.opt_blob(column)? {
            None => Ok(None),
            Some(blob) => blob.try_into().map(|b| Some(Digest::from_bytes(b))).map_err(|_| self.corrupt(column)),
        }
    }

    pub(crate) fn digest(&self, column: &'static str) -> Result<Digest> {
        self.bytes32(column).map(Digest::from_bytes)
    }

    pub(crate) fn run_id(&self, column: &'static str) -> Result<RunId> {
        self.opt_blob(column)?.and_then(|blob| RunId::from_bytes(&blob)).ok_or_else(|| self.corrupt(column))
    }

    /// A word that `parse` must know.
    pub(crate) fn word<T>(&self, column: &'static str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        parse(&self.text(column)?).ok_or_else(|| self.corrupt(column))
    }

    /// A column that holds JSON.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self, column: &'static str) -> Result<T> {
        serde_json::from_str(&self.text(column)?).map_err(|_| self.corrupt(column))
    }
}

/// A value as the JSON of its column.
pub(crate) fn json<T: serde::Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| StoreError::Rejected { what: format!("a value has no JSON form: {e}") })
}

/// The word by which serde knows a plain enum's variant.
pub(crate) fn word_of<T: serde::Serialize>(value: &T) -> Result<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        _ => Err(StoreError::Rejected { what: "a variant has no word".into() }),
    }
}

/// The variant behind a word of [`word_of`].
pub(crate) fn of_word<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}

table!(RUN_REF, run_ref_columns, "runs", "r", run_id, tenant);

pub(crate) fn run_ref<C: Cells>(cells: &C) -> Result<RunRef> {
    let r = Reader::new(cells, &RUN_REF, 0);
    Ok(RunRef { tenant: Tenant::new(r.text("tenant")?), id: r.run_id("run_id")? })
}

/// Rows on a page: the filters say 1 to 200.
pub(crate) fn page_limit(wanted: u32) -> u32 {
    wanted.clamp(1, 200)
}

/// Makes a page out of up to one row more than it holds, each with the cursor that stands behind it.
pub(crate) fn page<T>(mut found: Vec<(T, String)>, limit: u32) -> Page<T> {
    let limit = limit as usize;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|(_, cursor)| cursor.clone());
    Page { items: found.into_iter().map(|(item, _)| item).collect(), next }
}

/// The cursor of lists that are ordered by a moment and a child's id.
pub(crate) fn cursor(at: Timestamp, id: impl std::fmt::Display) -> String {
    format!("{}.{id}", at.micros())
}

/// Reads what [`cursor`] gave.
///
/// # Errors
/// [`StoreError::BadCursor`].
pub(crate) fn parse_cursor<T: std::str::FromStr>(text: &str) -> Result<(Timestamp, T)> {
    let (at, id) = text.split_once('.').ok_or(StoreError::BadCursor)?;
    match (at.parse(), id.parse()) {
        (Ok(at), Ok(id)) => Ok((Timestamp::from_micros(at), id)),
        _ => Err(StoreError::BadCursor),
    }
}
