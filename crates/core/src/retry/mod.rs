//! The retry matrix: what an attempt's report means ([`classify()`]) and what follows ([`verdict()`]), and how an unknown
//! outcome is settled ([`reconcile()`]). Data and pure functions; the tables in `tests/` go through every
//! class at both kinds of provider.
//!
//! A retry below the dispatcher does not exist, so what is counted here is what was sent.

mod class;
mod classify;
mod reconcile;
mod resumed;
mod verdict;

pub use class::{Class, Classified, Outcome, Success};
pub use classify::{EXTERNAL_ID_CHARS_MAX, classify, id_text, is_same_error, wants_earlier};
pub use reconcile::{LOOK_MS_MAX, Look, Settlement, reconcile};
pub use resumed::resumed;
pub use verdict::{Backoff, KEY_POISONED, Verdict, key_holds, verdict};
