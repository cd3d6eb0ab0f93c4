//! What each scheme puts into which header, and what it signs. Read only; whether it is right is judged next door.
//!
//! Sources: the Standard Webhooks specification (standardwebhooks.com), Stripe's "verify manually" and GitHub's
//! "validating webhook deliveries" pages, read 2026-11-30.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use effectgate_core::time::Timestamp;
use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::{Scheme, Unsigned};
use crate::connectors::SettingError;

/// How a tag is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    #[default]
    Hex,
    Base64,
}

/// HMAC-SHA256 as many systems put it, each a little differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HmacForm {
    pub header: HeaderName,
    /// In front of the tag, as in `sha256=`.
    pub prefix: String,
    pub encoding: Encoding,
    /// Where the signed moment stands; without one a delivery can be sent again by whoever saw it.
    pub timestamp_header: Option<HeaderName>,
    signed: Vec<Piece>,
}

/// A piece of what is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Timestamp,
    Body,
}

/// What a delivery shows of itself.
pub(super) struct Shown<'a> {
    /// The signatures, decoded.
    pub(super) tags: Vec<Vec<u8>>,
    /// What they are over, in order; `None` is the body.
    pub(super) signed: Vec<Option<&'a [u8]>>,
    /// The signed moment.
    pub(super) at: Option<Timestamp>,
    /// The tag is the secret itself.
    pub(super) is_secret: bool,
}

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const STRIPE: HeaderName = HeaderName::from_static("stripe-signature");
const GITHUB: HeaderName = HeaderName::from_static("x-hub-signature-256");
/// More signatures than any rotation has; each costs a hash over the body.
const TAGS_MAX: usize = 8;

const BODY: &str = "{body}";
const TIMESTAMP: &str = "{timestamp}";

impl HmacForm {
    /// Takes the form; `signed` is a text with `{body}` once and, where there is a moment, `{timestamp}` once. Left out:
    /// the body, or `{timestamp}.{body}`.
    ///
    /// # Errors
    /// A text that leaves out the body or the moment, or names a moment that no header carries.
    pub fn new(
        header: HeaderName,
        prefix: String,
        encoding: Encoding,
        timestamp_header: Option<HeaderName>,
        signed: Option<&str>,
    ) -> Result<Self, SettingError> {
        let dated = timestamp_header.is_some();
        let text = signed.unwrap_or(if dated { "{timestamp}.{body}" } else { BODY });
        let signed = pieces(text);
        let count = |piece: &Piece| signed.iter().filter(|other| *other == piece).count();
        let fault = |what: &str, advice: &str| Err(SettingError::new("signed", what, advice));
        match (count(&Piece::Body), count(&Piece::Timestamp), dated) {
            (1, 1, true) | (1, 0, false) => Ok(Self { header, prefix, encoding, timestamp_header, signed }),
            (1, 0, true) => {
                fault("a moment that is not signed can be changed", "Write \"{timestamp}.{body}\" or alike.")
            }
            (1, _, false) => fault("no header carries the moment", "Name timestamp_header, or leave {timestamp} out."),
            _ => fault("it names the body or the moment not exactly once", "Write \"{timestamp}.{body}\" or alike."),
        }
    }
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = [BODY, TIMESTAMP].iter().filter_map(|name| rest.find(name)).min() {
        let (before, from) = rest.split_at(at);
        pieces.push(Piece::Text(before.to_owned()));
        let (piece, after) = match from.strip_prefix(BODY) {
            Some(after) => (Piece::Body, after),
            None => (Piece::Timestamp, from.strip_prefix(TIMESTAMP).unwrap_or_default()),
        };
        pieces.push(piece);
        rest = after;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    pieces
}

impl Scheme {
    /// What is shown; `None` where nothing is asked for.
    pub(super) fn shown<'a>(&'a self, headers: &'a HeaderMap) -> Result<Option<Shown<'a>>, Unsigned> {
        match self {
            Self::None => Ok(None),
            Self::StandardWebhooks => standard(headers).map(Some),
            Self::Stripe => stripe(headers).map(Some),
            Self::Github => {
                let tag = the_one(headers, &GITHUB)?.strip_prefix("sha256=").ok_or(Unsigned::Missing)?;
                Ok(Some(over_body(Encoding::Hex.read(tag)?)))
            }
            Self::Hmac(form) => form.shown(headers).map(Some),
            Self::SharedSecret(name) => shared(name.as_ref(), headers).map(Some),
        }
    }
}

fn over_body(tag: Vec<u8>) -> Shown<'static> {
    Shown { tags: vec![tag], signed: vec![None], at: None, is_secret: false }
}

/// Several signatures stand apart by a blank; those of other versions are not ours to read.
fn standard(headers: &HeaderMap) -> Result<Shown<'_>, Unsigned> {
    let id = the_one(headers, &WEBHOOK_ID)?;
    let moment = the_one(headers, &WEBHOOK_TIMESTAMP)?;
    let list = the_one(headers, &WEBHOOK_SIGNATURE)?;
    let tags = list.split(' ').filter_map(|one| one.strip_prefix("v1,"));
    let tags = tags.filter_map(|tag| STANDARD.decode(tag).ok()).take(TAGS_MAX).collect();
    let signed = [id, ".", moment, "."].map(|piece| Some(piece.as_bytes())).into_iter().chain([None]).collect();
    Ok(Shown { tags, signed, at: Some(seconds(moment)?), is_secret: false })
}

fn stripe(headers: &HeaderMap) -> Result<Shown<'_>, Unsigned> {
    let line = the_one(headers, &STRIPE)?;
    let named = |name| line.split(',').filter_map(move |item| item.trim().split_once('=').filter(|(n, _)| *n == name));
    let moments: Vec<&str> = named("t").map(|(_, value)| value).collect();
    let [moment] = moments[..] else { return Err(Unsigned::Missing) };
    let tags = named("v1").filter_map(|(_, tag)| hex::decode(tag).ok()).take(TAGS_MAX).collect();
    let signed = vec![Some(moment.as_bytes()), Some(b".".as_slice()), None];
    Ok(Shown { tags, signed, at: Some(seconds(moment)?), is_secret: false })
}

impl HmacForm {
    fn shown<'a>(&'a self, headers: &'a HeaderMap) -> Result<Shown<'a>, Unsigned> {
        let tag = the_one(headers, &self.header)?.strip_prefix(&self.prefix).ok_or(Unsigned::Missing)?;
        let moment = self.timestamp_header.as_ref().map(|name| the_one(headers, name)).transpose()?;
        let signed = self.signed.iter().map(|piece| match piece {
            Piece::Text(text) => Some(text.as_bytes()),
            Piece::Timestamp => Some(moment.unwrap_or_default().as_bytes()),
            Piece::Body => None,
        });
        Ok(Shown {
            tags: vec![self.encoding.read(tag)?],
            signed: signed.collect(),
            at: moment.map(self::moment).transpose()?,
            is_secret: false,
        })
    }
}

fn shared<'a>(name: Option<&HeaderName>, headers: &'a HeaderMap) -> Result<Shown<'a>, Unsigned> {
    let secret = match name {
        Some(name) => the_one(headers, name)?,
        None => {
            let line = the_one(headers, &header::AUTHORIZATION)?;
            let (word, secret) = line.split_once(' ').ok_or(Unsigned::Missing)?;
            if !word.eq_ignore_ascii_case("bearer") {
                return Err(Unsigned::Missing);
            }
            secret.trim()
        }
    };
    Ok(Shown { tags: vec![secret.as_bytes().to_vec()], signed: Vec::new(), at: None, is_secret: true })
}

/// The value of a header that came exactly once: of two, one is not the sender's.
fn the_one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<&'a str, Unsigned> {
    let mut lines = headers.get_all(name).iter();
    match (lines.next().map(HeaderValue::to_str), lines.next()) {
        (Some(Ok(text)), None) => Ok(text.trim()),
        _ => Err(Unsigned::Missing),
    }
}

impl Encoding {
    fn read(self, tag: &str) -> Result<Vec<u8>, Unsigned> {
        match self {
            Self::Hex => hex::decode(tag).ok(),
            Self::Base64 => STANDARD.decode(tag).ok(),
        }
        .ok_or(Unsigned::Missing)
    }
}

/// Seconds since 1970, as both specifications write them.
fn seconds(text: &str) -> Result<Timestamp, Unsigned> {
    let seconds = plain_number(text).ok_or(Unsigned::Missing)?;
    Ok(Timestamp::from_micros(seconds.saturating_mul(1_000_000)))
}

/// Seconds, milliseconds (what has more than eleven digits), or RFC 3339.
fn moment(text: &str) -> Result<Timestamp, Unsigned> {
    match plain_number(text) {
        Some(ms) if text.len() > 11 => Ok(Timestamp::from_micros(ms.saturating_mul(1_000))),
        Some(seconds) => Ok(Timestamp::from_micros(seconds.saturating_mul(1_000_000))),
        None => text.parse().map_err(|_| Unsigned::Missing),
    }
}

fn plain_number(text: &str) -> Option<i64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The bytes of a `whsec_` secret.
pub(super) fn whsec(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    STANDARD.decode(text.strip_prefix("whsec_").unwrap_or(text)).ok()
}
