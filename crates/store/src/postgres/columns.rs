//! Rows on their way into one statement: a batch is one array for each column, taken apart by `unnest`.
//!
//! A statement is written with `{name}` where the rows of a [`Shape`] stand; [`expand`] puts them there and numbers the
//! parameters. What the columns mean is said beside each statement.

use std::borrow::Cow;

use tokio_postgres::types::ToSql;

/// The columns of one kind of row, each with its PostgreSQL type.
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) columns: &'static [(&'static str, Kind)],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Text,
    Blob,
    Flag,
}

/// One value.
pub(super) enum Cell<'a> {
    Int(Option<i64>),
    Text(Option<Cow<'a, str>>),
    Blob(Option<&'a [u8]>),
    Flag(bool),
}

/// The values of one column.
enum Column<'a> {
    Int(Vec<Option<i64>>),
    Text(Vec<Option<Cow<'a, str>>>),
    Blob(Vec<Option<&'a [u8]>>),
    Flag(Vec<bool>),
}

/// Rows of one shape, column by column.
pub(super) struct Rows<'a> {
    columns: Vec<Column<'a>>,
}

impl Kind {
    const fn sql(self) -> &'static str {
        match self {
            Self::Int => "bigint[]",
            Self::Text => "text[]",
            Self::Blob => "bytea[]",
            Self::Flag => "boolean[]",
        }
    }
}

impl<'a> Rows<'a> {
    pub(super) fn new(shape: &Shape) -> Self {
        let column = |(_, kind): &(&str, Kind)| match kind {
            Kind::Int => Column::Int(Vec::new()),
            Kind::Text => Column::Text(Vec::new()),
            Kind::Blob => Column::Blob(Vec::new()),
            Kind::Flag => Column::Flag(Vec::new()),
        };
        Self { columns: shape.columns.iter().map(column).collect() }
    }

    /// Adds a row: a cell for each column of the shape, in its order.
    ///
    /// # Panics
    /// If the cells are not those of the shape: a statement's own rows are written beside its shape, and each is run
    /// by a test.
    pub(super) fn push<const N: usize>(&mut self, cells: [Cell<'a>; N]) {
        assert_eq!(N, self.columns.len(), "a row has a cell for each column of its shape");
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match (column, cell) {
                (Column::Int(values), Cell::Int(value)) => values.push(value),
                (Column::Text(values), Cell::Text(value)) => values.push(value),
                (Column::Blob(values), Cell::Blob(value)) => values.push(value),
                (Column::Flag(values), Cell::Flag(value)) => values.push(value),
                _ => panic!("a cell has the kind of its column"),
            }
        }
    }

    fn params(&self) -> impl Iterator<Item = &(dyn ToSql + Sync)> {
        self.columns.iter().map(|column| match column {
            Column::Int(values) => values as &(dyn ToSql + Sync),
            Column::Text(values) => values,
            Column::Blob(values) => values,
            Column::Flag(values) => values,
        })
    }
}

/// The parameters of a statement, in the order in which [`expand`] numbered them.
pub(super) fn params<'r>(all: &'r [Rows<'_>]) -> Vec<&'r (dyn ToSql + Sync)> {
    all.iter().flat_map(Rows::params).collect()
}

/// The statement's text with the shapes' rows in it: the first column (never NULL) counts them, the others are looked
/// up by place. One `unnest` over all arrays keeps a tuple store for each column, and that alone was a quarter of a
/// batch's time; the planner expects ten rows either way.
pub(super) fn expand(template: &str, shapes: &[&Shape]) -> String {
    let mut text = template.to_owned();
    let mut next = 1;
    for shape in shapes {
        let mut cells = Vec::with_capacity(shape.columns.len());
        let mut from = String::new();
        for (name, kind) in shape.columns {
            let array = format!("${next}::{}", kind.sql());
            if from.is_empty() {
                from = format!("unnest({array}) WITH ORDINALITY AS u({name}, place)");
                cells.push(format!("u.{name}"));
            } else {
                cells.push(format!("({array})[u.place] AS {name}"));
            }
            next += 1;
        }
        let rows = format!("(SELECT {} FROM {from}) AS {}", cells.join(", "), shape.name);
        text = text.replace(&format!("{{{}}}", shape.name), &rows);
    }
    text
}

impl From<i64> for Cell<'_> {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}
impl From<i32> for Cell<'_> {
    fn from(value: i32) -> Self {
        Self::Int(Some(i64::from(value)))
    }
}
impl From<Option<i64>> for Cell<'_> {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}
impl From<bool> for Cell<'_> {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}
impl<'a> From<&'a str> for Cell<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(Some(Cow::Borrowed(value)))
    }
}
impl<'a> From<&'a String> for Cell<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(Some(Cow::Borrowed(value)))
    }
}
impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(value: Option<&'a str>) -> Self {
        Self::Text(value.map(Cow::Borrowed))
    }
}
impl From<String> for Cell<'_> {
    fn from(value: String) -> Self {
        Self::Text(Some(Cow::Owned(value)))
    }
}
impl From<Option<String>> for Cell<'_> {
    fn from(value: Option<String>) -> Self {
        Self::Text(value.map(Cow::Owned))
    }
}
impl<'a> From<&'a [u8]> for Cell<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Blob(Some(value))
    }
}
impl<'a> From<Option<&'a [u8]>> for Cell<'a> {
    fn from(value: Option<&'a [u8]>) -> Self {
        Self::Blob(value)
    }
}
impl<'a> From<&'a [u8; 32]> for Cell<'a> {
    fn from(value: &'a [u8; 32]) -> Self {
        Self::Blob(Some(value))
    }
}
impl<'a> From<Option<&'a [u8; 32]>> for Cell<'a> {
    fn from(value: Option<&'a [u8; 32]>) -> Self {
        Self::Blob(value.map(|bytes| &bytes[..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_through_the_shapes() {
        let a = Shape { name: "a", columns: &[("x", Kind::Int), ("y", Kind::Text)] };
        let b = Shape { name: "b", columns: &[("z", Kind::Blob)] };

        let sql = expand("SELECT * FROM {a}, {b}", &[&a, &b]);

        assert_eq!(
            sql,
            "SELECT * FROM (SELECT u.x, ($2::text[])[u.place] AS y FROM unnest($1::bigint[]) \
             WITH ORDINALITY AS u(x, place)) AS a, \
             (SELECT u.z FROM unnest($3::bytea[]) WITH ORDINALITY AS u(z, place)) AS b"
        );
    }
}
