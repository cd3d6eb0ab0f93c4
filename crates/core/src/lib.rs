//! effectgate-core: the rules. States, transitions, keys, hashes, the retry matrix, the journal's form.
//!
//! Pure on purpose: no clock, no randomness, no SQL, no HTTP, no runtime. Time, ids and random bytes come in as
//! arguments, so every rule can be tested as a table. The store commits what this crate decides (a [`transition`]),
//! the engine asks it what to do next.

pub mod outcome;
