//! The key of an inbound event, by the source's rule: from members of the body, from headers, from fixed words. Never
//! from a model, and never made up: where the rule finds nothing there is no key.
//!
//! What a key may be is core's business, as on every other way in.

use std::fmt;

use effectgate_core::{
    json::{Json, is_pointer},
    key::{self, KeyError, KeyParts, KeyReason},
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{connectors::SettingError, reserve::KeyGiven};

/// Where one word of a key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyWord {
    /// A JSON Pointer into the body.
    Member(String),
    Header(HeaderName),
    Fixed(String),
}

/// Where the key of a source's events comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyRule {
    Whole(KeyWord),
    Parts { source: KeyWord, event_type: KeyWord, external_id: KeyWord, version: KeyWord },
}

/// Why a delivery has no key of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoKey {
    /// The part at fault, if the rule has parts.
    pub part: Option<&'static str>,
    pub why: Missing,
}

/// What was wrong at the place that the rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// Nothing is there.
    Absent,
    /// Something is there that names no event.
    Bad(KeyReason),
    /// Something is there in the form that the gate gives to events without a key.
    Taken,
}

impl fmt::Display for NoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.part.unwrap_or("key");
        match &self.why {
            Missing::Absent => write!(f, "{part}: absent"),
            Missing::Bad(reason) => write!(f, "{part}: {reason}"),
            Missing::Taken => write!(f, "{part}: reserved"),
        }
    }
}

impl From<KeyError> for NoKey {
    fn from(error: KeyError) -> Self {
        Self { part: error.part, why: Missing::Bad(error.reason) }
    }
}

/// In front of a header's name.
const HEADER: &str = "header:";

impl KeyWord {
    /// Reads `/data/id`, `'shop'` or `header:x-github-delivery`.
    ///
    /// # Errors
    /// Neither of the three.
    pub fn parse(text: &str) -> Result<Self, SettingError> {
        let fixed = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).filter(|text| !text.is_empty());
        let header = text.strip_prefix(HEADER).and_then(|name| HeaderName::try_from(name.trim()).ok());
        match (fixed, header) {
            (Some(fixed), _) => Ok(Self::Fixed(fixed.to_owned())),
            (None, Some(header)) => Ok(Self::Header(header)),
            (None, None) if text.starts_with('/') && is_pointer(text) => Ok(Self::Member(text.to_owned())),
            (None, None) => Err(SettingError::new(
                "",
                format!("{text:?} is neither a JSON Pointer, a header nor a text in single quotes"),
                "Write /data/id, header:webhook-id or 'shop'.",
            )),
        }
    }

    /// The word as it stands in a delivery. A number is its text, digit by digit.
    fn find(&self, body: Option<&Json>, headers: &HeaderMap) -> Result<String, Missing> {
        match self {
            Self::Fixed(text) => Ok(text.clone()),
            Self::Header(name) => {
                let lines = headers.get_all(name).iter().map(HeaderValue::as_bytes);
                key::from_headers(lines).map_err(|e| Missing::Bad(e.reason))?.ok_or(Missing::Absent)
            }
            Self::Member(pointer) => match body.and_then(|body| body.pointer(pointer)) {
                Some(Json::String(text)) => Ok(text.clone()),
                Some(Json::Number(number)) => Ok(number.as_str().to_owned()),
                Some(Json::Null) | None => Err(Missing::Absent),
                Some(_) => Err(Missing::Bad(KeyReason::NotText)),
            },
        }
    }
}

impl KeyRule {
    /// Finds the key in a delivery. `body` is `None` where the body is no JSON.
    pub(crate) fn find(&self, body: Option<&Json>, headers: &HeaderMap) -> Result<KeyGiven, NoKey> {
        let part = |name, word: &KeyWord| word.find(body, headers).map_err(|why| NoKey { part: Some(name), why });
        match self {
            Self::Whole(word) => word.find(body, headers).map(KeyGiven::Whole).map_err(|why| NoKey { part: None, why }),
            Self::Parts { source, event_type, external_id, version } => Ok(KeyGiven::Parts(KeyParts {
                source: part("source", source)?,
                event_type: part("event_type", event_type)?,
                external_id: part("external_id", external_id)?,
                version: part("version", version)?,
            })),
        }
    }

    /// The headers that the key is read from.
    pub fn headers(&self) -> impl Iterator<Item = &HeaderName> {
        let words = match self {
            Self::Whole(word) => vec![word],
            Self::Parts { source, event_type, external_id, version } => vec![source, event_type, external_id, version],
        };
        words.into_iter().filter_map(|word| match word {
            KeyWord::Header(name) => Some(name),
            _ => None,
        })
    }
}
