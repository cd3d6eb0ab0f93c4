//! How a page speaks to its reader: language and zone. The person's own setting first, else what the browser asks for,
//! else English and UTC. Every sentence of the card, the inbox, the notes and the frame comes from `effectgate-lang`.

use effectgate_core::time::Timestamp;
use effectgate_lang::{Language, Msg, Value, Zone};
use effectgate_store::ProfileRow;
use http::{HeaderMap, header};

use super::{text::one_line, time::When};

/// A reader's language and zone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tongue {
    pub(crate) language: Language,
    pub(crate) zone: Zone,
}

impl Tongue {
    pub(crate) fn of(profile: Option<&ProfileRow>, headers: &HeaderMap) -> Self {
        let setting = profile.and_then(|p| p.language.as_deref());
        let asked = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let zone = profile.and_then(|p| p.zone.as_deref());
        Self { language: Language::pick(setting, asked), zone: Zone::pick(zone) }
    }

    /// A message without variables.
    pub(crate) fn say(&self, msg: Msg) -> String {
        effectgate_lang::say(self.language, msg, &[])
    }

    /// A message with one text. What would not be seen in it becomes a visible sign: it may come from outside.
    pub(crate) fn with(&self, msg: Msg, name: &str, text: &str) -> String {
        effectgate_lang::say(self.language, msg, &[(name, Value::Text(&one_line(text)))])
    }

    /// A message with texts of ours: spans, moments, other messages. They hold isolation marks that must stay; a text
    /// from outside goes through [`one_line`] first.
    pub(crate) fn around(&self, msg: Msg, texts: &[(&str, &str)]) -> String {
        let values: Vec<(&str, Value<'_>)> = texts.iter().map(|(name, text)| (*name, Value::Text(text))).collect();
        effectgate_lang::say(self.language, msg, &values)
    }

    /// A message with a number, in its plural form.
    pub(crate) fn count(&self, msg: Msg, n: usize) -> String {
        effectgate_lang::say(self.language, msg, &[("n", number(n))])
    }

    /// `n` of `of`.
    pub(crate) fn part(&self, msg: Msg, n: usize, of: usize) -> String {
        effectgate_lang::say(self.language, msg, &[("n", number(n)), ("of", number(of))])
    }

    pub(crate) fn number(&self, n: usize) -> String {
        effectgate_lang::number(i64::try_from(n).unwrap_or(i64::MAX), self.language)
    }

    pub(crate) fn span(&self, ms: i64) -> String {
        effectgate_lang::span(ms, self.language)
    }

    pub(crate) fn when(&self, at: Timestamp, now: Timestamp) -> When {
        When {
            iso: at.to_string(),
            text: effectgate_lang::when(at, &self.zone, self.language),
            relative: effectgate_lang::relative(at, now, self.language),
        }
    }
}

fn number(n: usize) -> Value<'static> {
    Value::Number(i64::try_from(n).unwrap_or(i64::MAX))
}
