//! What callers read: the OpenAPI document, a page made of it, and a page for each problem code. No third-party content,
//! no script.

mod errors;
mod openapi;
mod page;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};

pub(crate) use errors::error_page;
pub use openapi::openapi;
pub(crate) use page::page;

/// Nothing is loaded but our own style sheet.
const CSP: &str = "default-src 'none'; style-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; \
                   frame-ancestors 'none'";

/// GET /openapi.json
pub(crate) async fn openapi_json() -> Response {
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (json, openapi::text()).into_response()
}

/// GET /docs/docs.css
pub(crate) async fn css() -> Response {
    let css = [(header::CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8"))];
    (css, include_str!("docs.css")).into_response()
}

fn html(text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP)),
    ];
    (headers, text).into_response()
}
