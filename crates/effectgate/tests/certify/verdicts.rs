//! A report as `--json` prints it.

use std::{net::TcpListener, process::Command};

use serde_json::Value;

use crate::support::said;

pub(crate) struct Verdicts {
    pub(crate) code: i32,
    pub(crate) report: Value,
}

/// Runs certify to its end.
pub(crate) fn verdicts(command: &mut Command) -> Verdicts {
    let said = said(command);
    assert!([0, 1].contains(&said.code), "{}: {} {}", said.code, said.out, said.err);
    Verdicts { code: said.code, report: said.json() }
}

impl Verdicts {
    /// Id and verdict of every item, in order.
    pub(crate) fn all(&self) -> Vec<(&str, &str)> {
        self.items().map(|o| (o["id"].as_str().unwrap(), o["verdict"].as_str().unwrap())).collect()
    }

    pub(crate) fn of(&self, id: &str) -> &str {
        self.all().into_iter().find(|(have, _)| *have == id).unwrap_or_else(|| panic!("{id}: {:#}", self.report)).1
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &Value> {
        self.report["items"].as_array().unwrap().iter()
    }
}

/// A port of loopback that nobody has at this moment.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}
