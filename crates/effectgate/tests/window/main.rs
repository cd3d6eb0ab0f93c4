//! The crash window, opened on purpose: the real binary, a provider with a ledger, and the relay between them, which
//! loses what the case says is lost. What really happened is asked of the ledger, never of the gate.
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

mod accepted;
mod hc_again;
mod hc_lookup;
mod hc_mail;
mod keys;
mod lost;
mod retry;
mod waits;
mod world;
