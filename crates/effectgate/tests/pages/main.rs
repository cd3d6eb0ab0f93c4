//! The pages as people meet them: the real binary on a real socket, real mail, a real sign-in, Chromium at a desk and on
//! a phone, and robots that press what nobody should. What a page says in each state is tested beside its code.
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

mod clicks;
mod eye;
mod foreign;
mod hostile;
mod path;
mod person;
mod pictures;
mod race;
mod replays;
mod scanner;
mod town;
mod world;
