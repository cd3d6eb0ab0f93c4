//! Notices by webhook: one that Slack and what copies it reads (`{"text": …}`), or a generic one with the facts as
//! members. The URL is a secret: whoever knows it can post, so it is never in an error or a log.
//!
//! What comes from outside stands in a code block, where neither Slack nor Mattermost reads mentions, links or images.

use std::{fmt::Write as _, sync::Arc};

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::Method;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use sha2::Sha256;
use url::Url;

use super::{
    Channel, Message,
    content::{Content, Fact},
    mail::accepted,
    plain::shown,
};
use crate::{
    clock::Clock,
    connect::{
        AlwaysOpen,
        guard::EgressGuard,
        http::{HttpLimits, HttpRequest, send},
        tls::Tls,
    },
    connectors::SettingError,
};

/// What the other side reads.
pub enum ChatForm {
    /// Slack, and what copies it (Mattermost, Rocket.Chat, Discord's `/slack`).
    Slack,
    /// JSON with the facts; signed as Standard Webhooks says where there is a secret.
    Generic(Option<ChatSecret>),
}

/// A signing secret of the Standard Webhooks form.
pub struct ChatSecret(Vec<u8>);

/// A chat room as a way to reach people. The room is the URL's; an address is not needed.
pub struct ChatChannel {
    url: Url,
    form: ChatForm,
    guard: EgressGuard,
    tls: Tls,
    limits: HttpLimits,
    clock: Arc<dyn Clock>,
}

/// Standard Webhooks: keys have 24 to 64 bytes; a shorter one can be guessed.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
const SECRET_PREFIX: &str = "whsec_";

impl ChatSecret {
    /// Reads `whsec_` and base64, or base64 alone.
    ///
    /// # Errors
    /// Not base64, or not of 24 to 64 bytes.
    pub fn new(text: &SecretString) -> Result<Self, SettingError> {
        let text = text.expose_secret().trim();
        let bytes = STANDARD.decode(text.strip_prefix(SECRET_PREFIX).unwrap_or(text)).ok();
        bytes.filter(|bytes| SECRET_BYTES.contains(&bytes.len())).map(Self).ok_or_else(|| {
            SettingError::new(
                "secret",
                "this is not a Standard Webhooks secret",
                "Write whsec_ and 24 to 64 random bytes in base64.",
            )
        })
    }

    /// `v1,` and the signature over id, time and body.
    fn signature(&self, id: &str, seconds: i64, body: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(format!("{id}.{seconds}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl ChatChannel {
    /// Judges the URL.
    ///
    /// # Errors
    /// Not a URL, not http(s), or a literal address in the own network without `allow_private`.
    pub fn new(
        url: &SecretString,
        form: ChatForm,
        allow_private: bool,
        tls: Tls,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SettingError> {
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
        Ok(Self { url, form, guard, tls, limits: HttpLimits::default(), clock })
    }

    fn body(&self, message: &Message) -> Value {
        let mut body = match &self.form {
            ChatForm::Slack => return json!({"text": message.chat}),
            ChatForm::Generic(_) => message.facts.clone(),
        };
        let words = json!({
            "id": message.id, "follows": message.follows, "language": message.language.tag(),
            "subject": message.subject, "text": message.text,
        });
        if let (Value::Object(body), Value::Object(words)) = (&mut body, words) {
            body.extend(words);
        }
        body
    }

    fn headers(&self, id: &str, body: &str) -> Vec<(String, SecretString)> {
        let mut headers = vec![("Content-Type".to_owned(), SecretString::from("application/json"))];
        if let ChatForm::Generic(Some(secret)) = &self.form {
            let seconds = self.clock.now().millis() / 1_000;
            let signature = secret.signature(id, seconds, body);
            let named = [("webhook-id", id.to_owned()), ("webhook-timestamp", seconds.to_string())];
            let named = named.into_iter().chain([("webhook-signature", signature)]);
            headers.extend(named.map(|(name, value)| (name.to_owned(), SecretString::from(value))));
        }
        headers
    }
}

#[async_trait]
impl Channel for ChatChannel {
    async fn deliver(&self, _: &str, message: &Message) -> Result<(), String> {
        let body = self.body(message).to_string();
        let request = HttpRequest {
            method: Method::POST,
            url: self.url.clone(),
            headers: self.headers(&message.id, &body),
            body: Bytes::from(body),
        };
        accepted(&send(request, &self.limits, &self.guard, &self.tls, &AlwaysOpen).await)
    }
}

/// The message for a room: title, sentence, link alone on its line, and the rest in a code block.
pub(super) fn text(content: &Content) -> String {
    let mut out = format!("*{}*\n{}\n", sentence(&content.title), sentence(&content.lead));
    if let Some(link) = &content.link {
        let _ = writeln!(out, "{link}");
    }
    if !content.facts.is_empty() || !content.effects.is_empty() {
        let _ = writeln!(out, "```\n{}```", escaped(&fenced(&block(content))));
    }
    content.more.iter().chain(&content.foot).for_each(|line| {
        let _ = writeln!(out, "{}", sentence(line));
    });
    out
}

fn block(content: &Content) -> String {
    let mut out = String::new();
    let mut line = |indent: &str, fact: &Fact| {
        let value = shown(fact, content);
        let colon = if fact.name.is_empty() { "" } else { ": " };
        let _ = writeln!(out, "{indent}{}{colon}{}", fact.name, value.replace('\n', &format!("\n{indent}  ")));
    };
    content.facts.iter().for_each(|fact| line("", fact));
    for effect in &content.effects {
        let title = Fact { name: String::new(), value: super::preview::whole(&effect.title) };
        line("", &title);
        effect.members.iter().for_each(|member| line("  ", member));
    }
    out
}

/// A line outside the block. What an alert quotes (a reason, an error from elsewhere) makes no link with a label of its
/// own where Markdown is read.
fn sentence(text: &str) -> String {
    escaped(&fenced(text)).replace("](", "] (")
}

/// No backtick ends the block, and no `@` calls anybody: where no mail address can be, it is the full-width sign, which
/// reads the same and is no mention.
fn fenced(text: &str) -> String {
    let mut before = ' ';
    let quiet = |c: char| {
        let after_letter = std::mem::replace(&mut before, c).is_alphanumeric();
        match c {
            '`' => '\'',
            '@' if !after_letter => '\u{ff20}',
            c => c,
        }
    };
    text.chars().map(quiet).collect()
}

/// Slack reads `<…>` as links and mentions: a model's text must not become `<!channel>` or a link with another label.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use effectgate_lang::Language;

    use super::*;

    #[test]
    fn what_an_alert_quotes_is_no_link_no_mention_and_no_block() {
        let lead = "switch: [sign in](http://evil.test) ``` @all <!here> ![x](http://evil.test/i.png)".to_owned();
        let (language, title) = (Language::En, "Alert".to_owned());
        let (facts, effects, foot) = (Vec::new(), Vec::new(), vec!["http://gate.test/switches".to_owned()]);
        let said = text(&Content { language, title, lead, link: None, facts, effects, more: None, foot });

        for bad in ["](", "```", "@all", "<!"] {
            assert!(!said.contains(bad), "{bad}: {said}");
        }
        assert!(said.ends_with("\nhttp://gate.test/switches\n"), "{said}");
    }
}
