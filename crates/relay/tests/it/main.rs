//! The relay between a raw caller and real peers with a ledger. What really happened is asked of the ledger, and what the
//! caller saw is asked byte by byte.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod bodies;
mod choice;
mod connection;
mod control;
mod forward;
mod mail;
mod start;
mod support;
