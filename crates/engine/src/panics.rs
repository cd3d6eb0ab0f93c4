//! Panics of what works for many: one poisoned effect, or one faulty connector, must not end the worker that serves all
//! the others. What a panic means is decided by the caller.

use std::{any::Any, panic::AssertUnwindSafe};

use futures_util::FutureExt as _;

/// Runs a future to its end, or gives the words of its panic, bounded: they go into the journal.
pub(crate) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| words(panic.as_ref()))
}

const WORDS_CHARS_MAX: usize = 200;

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without words").chars().take(WORDS_CHARS_MAX).collect()
}
