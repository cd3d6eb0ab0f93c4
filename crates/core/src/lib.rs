//! effectgate-core: the rules. States, transitions, keys, hashes, the retry matrix, the journal's form.
//!
//! Pure on purpose: no clock, no randomness, no SQL, no HTTP, no runtime. Time, ids and random bytes come in as
//! arguments, so every rule can be tested as a table. The store commits what this crate decides (a [`transition`]),
//! the engine asks it what to do next.

pub mod actor;
pub mod approval;
pub mod budget;
pub mod correct;
pub mod delivery;
pub mod diff;
pub mod digest;
pub mod effect;
pub mod ending;
pub mod event;
pub mod flow;
pub mod gate;
pub mod ids;
pub mod inline;
pub mod journal;
pub mod json;
pub mod key;
pub mod lease;
pub mod look;
pub mod notice;
pub mod operate;
pub mod outcome;
pub mod payload;
pub mod proposal;
pub mod provider;
pub mod replay;
pub mod retry;
pub mod retry_after;
pub mod run;
pub mod sending;
pub mod starting;
pub mod switch;
pub mod time;
pub mod transition;
pub mod visible;
pub mod vital;
