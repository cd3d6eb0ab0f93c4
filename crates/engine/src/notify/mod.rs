//! Telling people: approval requests, reminders and alerts, by mail and chat, each in the reader's language and zone.
//! Notices are written with the change they tell of and delivered here, at least once. Tokens are minted at delivery,
//! so that none lies in the database.
//!
//! `content` says what is told, `plain`, `html` and `chat` lay it out, `mail` and `chat` carry it, `deliver` keeps
//! account of who was told.

mod ask;
pub mod chat;
mod content;
mod deliver;
mod html;
pub mod mail;
mod plain;
mod preview;
mod raise;
mod reader;
mod resume;
mod token;

use std::sync::Arc;

use async_trait::async_trait;
use effectgate_lang::{Language, Zone};
use serde_json::Value;

pub use deliver::NotifyReport;

/// A message to people, laid out for each channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Names the notice and its reader, so that a receiver can see a repeat: the Message-ID's left part.
    pub id: String,
    /// The `id` of the message that this one follows.
    pub follows: Option<String>,
    pub language: Language,
    pub subject: String,
    /// Plain text; the link, if any, stands alone on its line.
    pub text: String,
    /// The same as a page without anything that is fetched.
    pub html: String,
    /// The same for a chat room.
    pub chat: String,
    /// The facts for a program: an object.
    pub facts: Value,
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

/// The channels that are configured, and how people are spoken to who have said nothing of it themselves.
#[derive(Clone, Default)]
pub struct Channels {
    pub mail: Option<Arc<dyn Channel>>,
    pub chat: Option<Arc<dyn Channel>>,
    pub language: Language,
    pub zone: Zone,
    /// True: those who were asked are told when an approval ended because nobody decided.
    pub tell_expired: bool,
}
