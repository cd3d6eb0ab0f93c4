//! What commands print: tables for people on a terminal, tab-separated lines for pipes, JSON for programs. Writing to a
//! pipe that was closed ends quietly, as `head` expects. Logs and failures go to standard error, never here.

use std::io::{self, IsTerminal as _, Write as _};

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use serde_json::Value;

use crate::exit::{Failure, Result};

/// Where and how a command's result goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Out {
    pub(crate) json: bool,
    pub(crate) terminal: bool,
}

impl Out {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, terminal: io::stdout().is_terminal() }
    }

    /// One line.
    pub(crate) fn line(self, text: impl AsRef<str>) -> Result {
        written(writeln!(io::stdout().lock(), "{}", text.as_ref()))
    }

    /// A value as indented JSON.
    pub(crate) fn value(self, value: &impl Serialize) -> Result {
        let text = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
        self.line(text)
    }

    /// Bytes as they are.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Result {
        written(io::stdout().lock().write_all(bytes))
    }

    /// Rows under headings. `empty` is said to a person where there are none.
    pub(crate) fn table(self, headings: &[&str], rows: &[Vec<String>], empty: &str) -> Result {
        if !self.terminal {
            let lines = std::iter::once(headings.join("\t")).chain(rows.iter().map(|row| tabbed(row)));
            return lines.into_iter().try_for_each(|line| self.line(line));
        }
        if rows.is_empty() {
            return self.line(empty);
        }
        let mut table = Table::new();
        table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(headings.to_vec());
        for row in rows {
            table.add_row(row.iter().map(|cell| printable(cell)));
        }
        self.line(table.to_string())
    }
}

/// A reader that went away is not a failure of the command.
fn written(result: io::Result<()>) -> Result {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Failure::from),
    }
}

fn tabbed(row: &[String]) -> String {
    row.iter().map(|cell| printable(cell)).collect::<Vec<_>>().join("\t")
}

/// Keys and targets come from outside: nothing of them may steer a terminal or break a column.
pub(crate) fn printable(text: &str) -> String {
    let plain = |c: char| match c {
        '\n' | '\t' => ' ',
        c if effectgate_core::visible::is_hidden(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(plain).collect()
}

/// A member of a JSON answer as a cell: text as it is, lists with commas, other values as JSON, absent and empty lists as a dash.
pub(crate) fn cell(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) if items.is_empty() => "-".to_owned(),
        Some(Value::Array(items)) => items.iter().map(|item| cell(item, "")).collect::<Vec<_>>().join(", "),
        Some(other) => other.to_string(),
    }
}

/// The rows of a list, a cell for each pointer.
pub(crate) fn rows(items: &[Value], pointers: &[&str]) -> Vec<Vec<String>> {
    items.iter().map(|item| pointers.iter().map(|pointer| cell(item, pointer)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cell_cannot_steer_the_terminal_or_break_a_column() {
        assert_eq!(printable("a\u{1b}[2Jb\tc\nd\u{202e}e"), "a\u{fffd}[2Jb c d\u{fffd}e");
    }

    #[test]
    fn absent_members_and_empty_lists_are_a_dash() {
        let item = json!({"a": "x", "b": 3, "c": null, "e": [], "f": ["y", "z"]});

        assert_eq!(rows(&[item], &["/a", "/b", "/c", "/d", "/e", "/f"]), [["x", "3", "-", "-", "-", "y, z"]]);
    }
}
