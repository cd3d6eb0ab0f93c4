//! `effectgate certify` as its users run it: on a throwaway gate, on builds that lack a guard on purpose, on a gate in
//! service, and on workflows with and without a gate.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[path = "../it/config.rs"]
#[allow(dead_code, reason = "shared with the tests of the binary")]
mod config;
#[path = "../it/ground.rs"]
#[allow(dead_code, unused_macros, unused_imports, reason = "shared with the tests of the binary")]
mod ground;
#[path = "../it/support.rs"]
#[allow(dead_code, reason = "shared with the tests of the binary")]
mod support;

#[cfg(debug_assertions)]
mod broken;
mod page;
mod service;
mod throwaway;
mod verdicts;
mod workflow;
