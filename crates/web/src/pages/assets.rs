//! The style sheet, the script and the icon, in the binary. An address carries its file's hash, so that it may be kept
//! for a year.

use std::sync::LazyLock;

use axum::{Router, response::IntoResponse, routing::get};
use effectgate_core::digest::Digest;
use http::header;

use crate::app::App;

/// One sheet of several files, in the order in which they may overrule each other.
const CSS: &str = concat!(
    include_str!("../../static/css/base.css"),
    include_str!("../../static/css/card.css"),
    include_str!("../../static/css/desk.css"),
    include_str!("../../static/css/charts.css"),
);
/// All the script there is; nothing depends on it.
const JS: &str = include_str!("../../static/effectgate.js");
const ICON: &str = include_str!("../../static/icon.svg");

static CSS_PATH: LazyLock<String> = LazyLock::new(|| address("effectgate.css", CSS));
static JS_PATH: LazyLock<String> = LazyLock::new(|| address("effectgate.js", JS));

fn address(name: &str, text: &str) -> String {
    let hash = Digest::of(text.as_bytes()).to_string();
    format!("/static/{name}?v={}", &hash[..12])
}

/// The style sheet's address.
pub(crate) fn css_path() -> &'static str {
    &CSS_PATH
}

/// The script's address.
pub(crate) fn js_path() -> &'static str {
    &JS_PATH
}

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/static/effectgate.css", get(css))
        .route("/static/effectgate.js", get(js))
        .route("/static/icon.svg", get(icon))
}

async fn css() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, KEPT)];
    (headers, CSS)
}

async fn js() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), (header::CACHE_CONTROL, KEPT)];
    (headers, JS)
}

async fn icon() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "public, max-age=86400")];
    (headers, ICON)
}

const KEPT: &str = "public, max-age=31536000, immutable";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    type Tokens = BTreeMap<&'static str, &'static str>;

    /// The colours that a block of the sheet names.
    fn tokens(block: &'static str) -> Tokens {
        let lines =
            block.lines().filter_map(|line| line.trim().strip_prefix("--")?.strip_suffix(';')?.split_once(": "));
        lines.filter(|(_, value)| value.len() == 7 && value.starts_with('#')).collect()
    }

    fn schemes() -> [(&'static str, Tokens); 2] {
        let (light, rest) = CSS.split_once("@media (prefers-color-scheme: dark)").unwrap();
        let dark = rest.split("/* Ground */").next().unwrap();
        let (light, mut both) = (tokens(light), tokens(light));
        both.extend(tokens(dark));
        [("light", light), ("dark", both)]
    }

    /// Relative luminance, WCAG 2.2.
    fn luminance(hex: &str) -> f64 {
        let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// 1.4.3: 4.5 to 1 for text. 1.4.11: 3 to 1 for what tells a part or the focus from its ground.
    #[test]
    fn every_pair_of_colours_keeps_wcag_aa_in_both_schemes() {
        let grounds = ["ground", "panel", "code"];
        let texts = ["text", "muted", "link", "stop", "good-text", "bad-text", "warn-text", "info-text"];
        let mut wanted: Vec<(&str, &str, f64)> =
            texts.iter().flat_map(|text| grounds.map(|ground| (*text, ground, 4.5))).collect();
        wanted.extend([("on-link", "link", 4.5), ("on-go", "go", 4.5), ("mark-text", "mark", 4.5)]);
        wanted.extend([("info-text", "info-ground", 4.5), ("good-text", "good-ground", 4.5)]);
        wanted.extend([("warn-text", "warn-ground", 4.5), ("bad-text", "bad-ground", 4.5)]);
        wanted.extend(["edge", "focus", "accent"].iter().flat_map(|line| grounds.map(|ground| (*line, ground, 3.0))));
        for (scheme, colours) in schemes() {
            for (front, back, least) in &wanted {
                let is = contrast(colours[front], colours[back]);
                assert!(is >= *least, "{scheme}: {front} on {back} is {is:.2}, wanted {least}");
            }
        }
    }
}
