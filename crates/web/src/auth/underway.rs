//! Single sign-ons under way, each in a cookie of its own, so that several tabs can sign in at once. The cookie binds
//! the way back to the browser that went: whoever else gets hold of the answer has no verifier for it.
//!
//! Its content needs no signature: with `__Host-` only we can have set it, and whoever changes their own harms nobody
//! else.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use effectgate_core::time::Timestamp;
use effectgate_oidc::Underway;
use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};

use super::cookie;
use crate::app::WebSettings;

/// Ten minutes: a password, a second factor, a look for the phone.
const LIFE_S: u32 = 600;
/// Tabs that sign in at once; the oldest is forgotten for the next one. Each takes some 300 bytes of every request.
const AT_ONCE: usize = 5;
/// A longer way back is not remembered: it would not fit a cookie.
const NEXT_CHARS_MAX: usize = 1_024;
const FAMILY: &str = "signin";
/// Of the state, enough to find its cookie.
const NAME_CHARS: usize = 12;

/// What is remembered of a sign-in under way.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) underway: Underway,
    pub(crate) next: String,
    pub(crate) at: Timestamp,
}

/// The cookies to set: this sign-in's, and the end of the oldest where there are too many.
pub(crate) fn keep(kept: &Kept, headers: &HeaderMap, settings: &WebSettings) -> Vec<HeaderValue> {
    let mut present: Vec<(String, Timestamp)> = cookie::family(FAMILY, headers, settings)
        .into_iter()
        .map(|(name, value)| (name, read(&value).map_or(Timestamp::from_micros(0), |kept| kept.at)))
        .collect();
    present.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
    let ended = present.into_iter().skip(AT_ONCE - 1).filter(|(name, _)| is_name(name));
    let mut cookies: Vec<_> = ended.map(|(name, _)| cookie::set_of(FAMILY, &name, "", 0, settings)).collect();
    let next = if kept.next.len() <= NEXT_CHARS_MAX { kept.next.clone() } else { String::new() };
    let text = serde_json::to_vec(&Kept { next, ..kept.clone() }).unwrap_or_default();
    let name = name_of(&kept.underway.state);
    cookies.push(cookie::set_of(FAMILY, name, &URL_SAFE_NO_PAD.encode(text), LIFE_S, settings));
    cookies
}

/// The sign-in that this state belongs to, if it is one of this browser and not over.
pub(crate) fn find(state: &str, headers: &HeaderMap, settings: &WebSettings, now: Timestamp) -> Option<Kept> {
    let mut named = cookie::family(FAMILY, headers, settings).into_iter().filter(|(name, _)| name == name_of(state));
    let (_, value) = named.next()?;
    // Two cookies of one name were not both set by us.
    if named.next().is_some() {
        return None;
    }
    let age = |kept: &Kept| now.ms_since(kept.at);
    read(&value).filter(|kept| kept.underway.state == state && (0..i64::from(LIFE_S) * 1_000).contains(&age(kept)))
}

/// The end of this state's cookie, if the browser has one.
pub(crate) fn drop_one(state: &str, headers: &HeaderMap, settings: &WebSettings) -> Vec<HeaderValue> {
    let name = name_of(state);
    let is_there = cookie::family(FAMILY, headers, settings).iter().any(|(present, _)| present == name);
    let wanted = is_there && is_name(name);
    wanted.then(|| cookie::set_of(FAMILY, name, "", 0, settings)).into_iter().collect()
}

fn read(value: &str) -> Option<Kept> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(value).ok()?).ok()
}

/// States are base64url, and so is their beginning.
fn name_of(state: &str) -> &str {
    state.get(..NAME_CHARS).unwrap_or(state)
}

fn is_name(name: &str) -> bool {
    name.len() == NAME_CHARS && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}
