//! `application/x-www-form-urlencoded`, there and back.

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

pub(super) type Fields = BTreeMap<String, String>;

pub(super) fn read(text: &str) -> Fields {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

pub(super) fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// A URL with more query members.
pub(super) fn with(url: &str, fields: &[(&str, &str)]) -> String {
    let more: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let joint = if url.contains('?') { '&' } else { '?' };
    format!("{url}{joint}{}", more.join("&"))
}
