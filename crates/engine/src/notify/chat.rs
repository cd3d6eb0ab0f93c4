//! Notices by webhook: a Slack-compatible one (`{"text": …}`) or a generic one (`{"subject", "text", "id"}`). The URL is
//! a secret: whoever knows it can post, so it is never in an error or a log.

use async_trait::async_trait;
use bytes::Bytes;
use http::Method;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use url::Url;

use super::{Channel, Message, mail::accepted};
use crate::{
    connect::{
        AlwaysOpen,
        guard::EgressGuard,
        http::{HttpLimits, HttpRequest, send},
        tls::Tls,
    },
    connectors::SettingError,
};

/// What the other side reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatForm {
    /// Slack, and what copies it (Mattermost, Rocket.Chat, Discord's `/slack`).
    Slack,
    Generic,
}

/// A chat room as a way to reach people. The room is the URL's; an address is not needed.
pub struct ChatChannel {
    url: Url,
    form: ChatForm,
    guard: EgressGuard,
    tls: Tls,
    limits: HttpLimits,
}

impl ChatChannel {
    /// Judges the URL.
    ///
    /// # Errors
    /// Not a URL, not http(s), or a literal address in the own network without `allow_private`.
    pub fn new(url: &SecretString, form: ChatForm, allow_private: bool, tls: Tls) -> Result<Self, SettingError> {
        let bad = |what: String| {
            SettingError::new(
                "url",
                what,
                "Use the https URL of the webhook; allow_private = true for your own network.",
            )
        };
        let url = Url::parse(url.expose_secret()).map_err(|_| bad("this is not a URL".to_owned()))?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let guard = EgressGuard::new([host], allow_private).map_err(|e| bad(e.to_string()))?;
        let target = guard.check_url(&url).map_err(|e| bad(e.to_string()))?;
        guard.check_literal(&target).map_err(|e| bad(e.to_string()))?;
        Ok(Self { url, form, guard, tls, limits: HttpLimits::default() })
    }

    fn body(&self, message: &Message) -> Value {
        match self.form {
            ChatForm::Slack => {
                json!({"text": format!("*{}*\n{}", escaped(&message.subject), escaped(&message.text))})
            }
            ChatForm::Generic => json!({"subject": message.subject, "text": message.text, "id": message.id}),
        }
    }
}

#[async_trait]
impl Channel for ChatChannel {
    async fn deliver(&self, _: &str, message: &Message) -> Result<(), String> {
        let json = SecretString::from("application/json");
        let request = HttpRequest {
            method: Method::POST,
            url: self.url.clone(),
            headers: vec![("Content-Type".to_owned(), json)],
            body: Bytes::from(self.body(message).to_string()),
        };
        accepted(&send(request, &self.limits, &self.guard, &self.tls, &AlwaysOpen).await)
    }
}

/// Slack reads `<…>` as links and mentions: a model's text must not become `<!channel>` or a link with another label.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
