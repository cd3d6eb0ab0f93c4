//! Telling people, through the engine: who is told what, in which language and zone, by mail over real SMTP and by
//! webhook; and what becomes of those who cannot be told. One program, so that it links once; a file per noun.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[path = "../common/mod.rs"]
mod common;

mod account;
mod chat;
mod letters;
mod nights;
mod people;
