//! The style sheet and the icon, in the binary. The sheet's address carries its hash, so it may be kept for a year.

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
const ICON: &str = include_str!("../../static/icon.svg");

static CSS_PATH: LazyLock<String> = LazyLock::new(|| {
    let hash = Digest::of(CSS.as_bytes()).to_string();
    format!("/static/effectgate.css?v={}", &hash[..12])
});

/// The style sheet's address.
pub(crate) fn css_path() -> &'static str {
    &CSS_PATH
}

pub(crate) fn router() -> Router<App> {
    Router::new().route("/static/effectgate.css", get(css)).route("/static/icon.svg", get(icon))
}

async fn css() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, KEPT)];
    (headers, CSS)
}

async fn icon() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "public, max-age=86400")];
    (headers, ICON)
}

const KEPT: &str = "public, max-age=31536000, immutable";
