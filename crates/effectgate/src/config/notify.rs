//! `[notify.*]` and `[[alerts]]`: how people are told, and what they are told of.

use std::path::PathBuf;

use effectgate_core::notice::Alert;
use serde::{Deserialize, Serialize};

use super::secret::Secret;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NotifyConfig {
    pub(crate) mail: Option<MailConfig>,
    pub(crate) chat: Option<ChatConfig>,
    /// For people who have set none of their own, and for the chat: en, sv, de, ru or fa. Default en.
    pub(crate) language: Option<String>,
    /// An IANA zone name, the same way. Default UTC.
    pub(crate) zone: Option<String>,
    /// Those who were asked are told when an approval ended because nobody decided. Default false: they have the
    /// reminder, and after the end there is nothing to do.
    pub(crate) tell_expired: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MailConfig {
    /// The name of an smtp provider.
    pub(crate) provider: String,
    pub(crate) from: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ChatConfig {
    /// The webhook's URL. A secret: who knows it can post.
    pub(crate) url: Option<Secret>,
    pub(crate) url_file: Option<PathBuf>,
    pub(crate) kind: ChatKind,
    /// Signs what goes out as Standard Webhooks says: `whsec_` and base64. Only for `webhook`.
    pub(crate) secret: Option<Secret>,
    pub(crate) secret_file: Option<PathBuf>,
    pub(crate) allow_private: bool,
}

/// What the webhook reads. Default `slack`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChatKind {
    /// `{"text": …}`.
    #[default]
    Slack,
    /// The facts as members (`kind`, `approval_id`, `run_id`, `effects`, `link` …), with `subject`, `text` and `id`.
    Webhook,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlertConfig {
    pub(crate) on: Vec<Alert>,
    /// `notify.chat`, or `mail:ADDRESS`.
    pub(crate) to: String,
    /// The same alert of the same run again within this time is not told twice. Default 1 h.
    #[serde(default = "an_hour")]
    pub(crate) dedupe_ms: i64,
}

const fn an_hour() -> i64 {
    3_600_000
}
