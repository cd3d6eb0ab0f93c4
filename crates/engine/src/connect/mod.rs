//! Connectors: they make one attempt and say what they saw, as a [`Report`](effectgate_core::outcome::Report). They
//! decide nothing: no retry, no redirect, no proxy, no pool, no class. What a report means is `core`'s business.
//!
//! The journey: `engine/dispatch` (attempt committed) → [`http::send`] or [`smtp::send`] → `Report` → `core` → store.
//! Every attempt resolves, checks ([`guard`]), connects and shakes hands anew, asks the [`WriteGate`] and only then
//! writes. Bytes are counted under TLS, so "nothing was sent" is a fact and not a guess.

pub mod fetch;
pub mod guard;
pub mod http;
pub mod mail;
pub mod smtp;
mod smtp_session;
pub mod template;
pub mod tls;
mod wire;

use async_trait::async_trait;

/// The last question before the first byte: "may I still write?" The kill switch's second check (G11).
#[async_trait]
pub trait WriteGate: Send + Sync {
    /// Answers right before the first byte would leave.
    ///
    /// # Errors
    /// The reason why nothing may be written any more, such as `switch_off`. The attempt then ends as not sent.
    async fn may_write(&self) -> Result<(), String>;
}

/// A gate for what no switch governs, such as lookups and notifications to people.
#[derive(Debug, Clone, Copy)]
pub struct AlwaysOpen;

#[async_trait]
impl WriteGate for AlwaysOpen {
    async fn may_write(&self) -> Result<(), String> {
        Ok(())
    }
}
