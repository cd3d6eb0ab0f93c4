//! Telling people: approval requests, reminders and alerts, by mail and chat. Notices are written with the change they
//! tell of and delivered here, at least once. Tokens are minted at delivery, so that none lies in the database.

pub mod chat;
mod deliver;
pub mod mail;
pub mod text;
mod token;

use std::sync::Arc;

use async_trait::async_trait;

pub use deliver::NotifyReport;

/// A message to people. Plain text; the link, if any, stands alone on its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub subject: String,
    pub text: String,
    /// Names the notice, so that a receiver can see a repeat: the Message-ID's left part.
    pub id: String,
}

/// A way to reach people.
#[async_trait]
pub trait Channel: Send + Sync + 'static {
    /// Delivers to an address of the channel's kind (a mail address; ignored by a chat webhook).
    ///
    /// # Errors
    /// What went wrong, in words without secrets. Worth another try later.
    async fn deliver(&self, to: &str, message: &Message) -> Result<(), String>;
}

/// The channels that are configured.
#[derive(Clone, Default)]
pub struct Channels {
    pub mail: Option<Arc<dyn Channel>>,
    pub chat: Option<Arc<dyn Channel>>,
}
