//! Request templates of provider configs: `{{ payload }}`, `{{ payload.customer.id }}`, `{{ provider_key }}`,
//! `{{ target }}`, `{{ effect_id }}`, and nothing else: no logic, so a template can be judged at the start.
//!
//! A value cannot leave its place: it is percent-encoded in paths and forms, a JSON value or JSON string content in
//! JSON, a single line in headers. Numbers keep every digit: payload values are cut out of the text, never re-written.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::value::RawValue;
use thiserror::Error;

/// RFC 3986 section 2.3: what never needs encoding.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Where the rendered text goes; decides how values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A URL path with query: values percent-encoded.
    Path,
    /// A JSON body: inside quotes string content, outside quotes a JSON value.
    Json,
    /// An `application/x-www-form-urlencoded` body: values percent-encoded.
    Form,
    /// A header: values as they are, control characters refused.
    Header,
}

/// What a template may speak of.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The payload as the JSON text that came in.
    pub payload: &'a str,
    pub provider_key: &'a str,
    pub target: &'a str,
    pub effect_id: &'a str,
}

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    place: Place,
    parts: Vec<Part>,
}

/// Why a template does not start.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateError {
    #[error("{{{{ without }}}}")]
    Unclosed,
    #[error("{{{{ {0} }}}} names nothing: payload, payload.MEMBER, provider_key, target, effect_id")]
    UnknownName(String),
    #[error("this is not JSON once values are filled in: {0}")]
    NotJson(String),
}

/// Why a template could not be filled in. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RenderError {
    #[error("the payload has no {pointer}")]
    Missing { pointer: String },
    #[error("{pointer} is not a single value that fits here")]
    NotScalar { pointer: String },
    #[error("a value has control characters that a header cannot carry")]
    Control,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Value { name: Name, is_quoted: bool },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    /// Members from the root; empty = the whole payload.
    Payload(Vec<String>),
    ProviderKey,
    Target,
    EffectId,
}

/// A value cut out of the facts.
enum Cut<'a> {
    /// Any JSON value, as its text.
    Json(&'a str),
    /// A string's content.
    Text(String),
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// Unknown names, an open `{{`, and for [`Place::Json`] a text that could never be JSON.
    pub fn parse(text: &str, place: Place) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        let mut quotes = Quotes::default();
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, tail) = after.split_once("}}").ok_or(TemplateError::Unclosed)?;
            quotes.read(before);
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Value { name: Name::parse(name.trim())?, is_quoted: quotes.is_inside });
            rest = tail;
        }
        parts.push(Part::Text(rest.to_owned()));
        let template = Self { place, parts };
        if place == Place::Json {
            template.must_be_json()?;
        }
        Ok(template)
    }

    /// Fills in the values. A template that is exactly `{{ payload }}` in [`Place::Json`] gives the payload's text byte
    /// for byte.
    ///
    /// # Errors
    /// See [`RenderError`].
    pub fn render(&self, facts: &Facts<'_>) -> Result<String, RenderError> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Value { name, is_quoted } => out.push_str(&self.written(name, *is_quoted, facts)?),
            }
        }
        Ok(out)
    }

    fn written(&self, name: &Name, is_quoted: bool, facts: &Facts<'_>) -> Result<String, RenderError> {
        let cut = name.cut(facts)?;
        if self.place == Place::Json && !is_quoted {
            return Ok(match cut {
                Cut::Json(text) => text.to_owned(),
                Cut::Text(text) => quoted(&text),
            });
        }
        let text = match cut {
            Cut::Text(text) => text,
            Cut::Json(json) => scalar(json).ok_or_else(|| RenderError::NotScalar { pointer: name.pointer() })?,
        };
        match self.place {
            Place::Path | Place::Form => Ok(utf8_percent_encode(&text, UNRESERVED).to_string()),
            Place::Json => Ok(unquoted(&quoted(&text))),
            Place::Header if text.chars().any(char::is_control) => Err(RenderError::Control),
            Place::Header => Ok(text),
        }
    }

    fn must_be_json(&self) -> Result<(), TemplateError> {
        let filled: String = self.parts.iter().map(Part::sample).collect();
        let parsed: Result<&RawValue, _> = serde_json::from_str(&filled);
        parsed.map(drop).map_err(|e| TemplateError::NotJson(e.to_string()))
    }
}

impl Part {
    fn sample(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Value { is_quoted: true, .. } => "x",
            Self::Value { .. } => "0",
        }
    }
}

impl Name {
    fn parse(text: &str) -> Result<Self, TemplateError> {
        match text {
            "payload" => Ok(Self::Payload(Vec::new())),
            "provider_key" => Ok(Self::ProviderKey),
            "target" => Ok(Self::Target),
            "effect_id" => Ok(Self::EffectId),
            _ => Self::member(text).ok_or_else(|| TemplateError::UnknownName(text.to_owned())),
        }
    }

    fn member(text: &str) -> Option<Self> {
        let members: Vec<String> = text.strip_prefix("payload.")?.split('.').map(str::to_owned).collect();
        let is_sound = members.iter().all(|m| !m.is_empty() && !m.contains(char::is_whitespace));
        is_sound.then_some(Self::Payload(members))
    }

    fn cut<'a>(&self, facts: &Facts<'a>) -> Result<Cut<'a>, RenderError> {
        match self {
            Self::ProviderKey => Ok(Cut::Text(facts.provider_key.to_owned())),
            Self::Target => Ok(Cut::Text(facts.target.to_owned())),
            Self::EffectId => Ok(Cut::Text(facts.effect_id.to_owned())),
            Self::Payload(members) => {
                let missing = || RenderError::Missing { pointer: self.pointer() };
                members
                    .iter()
                    .try_fold(facts.payload, |json, member| step(json, member))
                    .map(Cut::Json)
                    .ok_or_else(missing)
            }
        }
    }

    fn pointer(&self) -> String {
        match self {
            Self::Payload(members) => members.iter().map(|member| format!("/{member}")).collect(),
            Self::ProviderKey => "provider_key".to_owned(),
            Self::Target => "target".to_owned(),
            Self::EffectId => "effect_id".to_owned(),
        }
    }
}

/// Follows JSON text: whether a position lies inside a string literal.
#[derive(Default)]
struct Quotes {
    is_inside: bool,
    is_escaped: bool,
}

impl Quotes {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                _ if self.is_escaped => self.is_escaped = false,
                '\\' if self.is_inside => self.is_escaped = true,
                '"' => self.is_inside = !self.is_inside,
                _ => {}
            }
        }
    }
}

/// One step into JSON text, keeping the text of what is found.
fn step<'a>(json: &'a str, member: &str) -> Option<&'a str> {
    if json.trim_start().starts_with('[') {
        let items: Vec<&'a RawValue> = serde_json::from_str(json).ok()?;
        return items.get(member.parse::<usize>().ok()?).map(|raw| raw.get());
    }
    let members: BTreeMap<String, &'a RawValue> = serde_json::from_str(json).ok()?;
    members.get(member).map(|raw| raw.get())
}

/// A string's content, or the text of a number or boolean as it stands.
fn scalar(json: &str) -> Option<String> {
    match json.trim_start().chars().next()? {
        '"' => serde_json::from_str(json).ok(),
        '{' | '[' | 'n' => None,
        _ => Some(json.trim().to_owned()),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn unquoted(json: &str) -> String {
    json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(json).to_owned()
}
