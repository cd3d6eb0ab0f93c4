//! Headers that every answer carries, whoever made it: API, pages, files, problems, a path that is not there. What an
//! answer says for itself (a page's policy, how long a style sheet may be kept) stays; what it does not say is said here,
//! and said strictly.
//!
//! No answer has a CORS header: no foreign page reads anything here, and no preflight is ever answered with yes.

use axum::{extract::State, response::Response};
use http::{HeaderName, HeaderValue, header};

use crate::{app::App, auth::cookie::Cookie};

/// For what is no page: nothing is loaded, run, framed or posted, and a browser that shows it shows it as of no origin
/// (OWASP ASVS 5.0 3.2.1).
const CSP: &str =
    "default-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";
/// A year and every name below this host (OWASP ASVS 5.0 3.4.1). No `preload`: that is the owner of the domain's word.
const HSTS: &str = "max-age=31536000; includeSubDomains";
const PERMISSIONS: &str = "accelerometer=(), autoplay=(), camera=(), display-capture=(), fullscreen=(), geolocation=(), \
                           gyroscope=(), microphone=(), payment=(), usb=()";

const ALWAYS: [(HeaderName, &str); 9] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::CONTENT_SECURITY_POLICY, CSP),
    // Paths of links are secrets; not even our own pages need to tell each other.
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // For browsers that do not know frame-ancestors.
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), PERMISSIONS),
    (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
];

/// The outermost layer.
pub(crate) async fn guard(State(app): State<App>, mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    // Over plain HTTP browsers ignore it, and a proxy that ends TLS reaches us by plain HTTP: the public address decides.
    if app.settings.public_url.starts_with("https://") {
        headers.entry(header::STRICT_TRANSPORT_SECURITY).or_insert(HeaderValue::from_static(HSTS));
    }
    if headers.get_all(header::SET_COOKIE).iter().any(|set| Cookie::Session.is_cleared_by(set)) {
        headers.insert(HeaderName::from_static("clear-site-data"), HeaderValue::from_static(FORGET));
    }
    response
}

/// With every answer that takes the session's cookie away: what the browser kept of these pages goes too (OWASP ASVS 5.0
/// 14.3.1). Not `"cookies"`: that would end the sessions of every neighbour on the same registrable domain.
const FORGET: &str = "\"cache\", \"storage\"";
