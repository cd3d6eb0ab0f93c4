//! Is this request really from a page of ours? Asked of every request that changes something in a person's name (HC-33).
//!
//! Forms need all of: form encoding, no sign of another origin, and a token that fits the visitor's cookie. JSON with a
//! session cookie needs: JSON, no sign of another origin, and either the header `Effectgate-Csrf: 1` (a foreign page
//! cannot set it without a preflight, which is never answered) or `Sec-Fetch-Site: same-origin`.
//!
//! A missing `Origin`, and `Origin: null`, say nothing: our own pages send `null`, because Fetch replaces the origin
//! where the referrer policy is `no-referrer`, and ours is, so that a link's token never leaves in a `Referer`. So with
//! neither an `Origin` nor a `Sec-Fetch-Site` it is the token and the cookie alone that decide, and they are always
//! wanted. The token is an HMAC keyed with the cookie's secret: it needs no key of the server, holds on every replica
//! and over restarts, and names the path of its form, which for a link is itself a secret.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use effectgate_engine::{
    probe::{Guard, is_broken},
    random,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderValue, header};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::{SignedIn, cookie::Cookie};
use crate::{
    app::WebSettings,
    problem::{Code, Problem, Result},
};

/// The header with which a program says that it is no foreign page.
pub const HEADER: &str = "effectgate-csrf";

/// What the request says about where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    Same,
    Foreign,
    Unsaid,
}

impl Site {
    /// Foreign if anything says so, same if something does, else unsaid.
    pub(crate) fn of(headers: &HeaderMap, settings: &WebSettings) -> Self {
        match (fetch_site(headers), origin(headers, settings)) {
            (Self::Foreign, _) | (_, Self::Foreign) => Self::Foreign,
            (Self::Same, _) | (_, Self::Same) => Self::Same,
            _ => Self::Unsaid,
        }
    }
}

fn fetch_site(headers: &HeaderMap) -> Site {
    match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
        Some(b"same-origin") => Site::Same,
        // `none`: typed or from a bookmark; says nothing about a form.
        None | Some(b"none") => Site::Unsaid,
        Some(_) => Site::Foreign,
    }
}

fn origin(headers: &HeaderMap, settings: &WebSettings) -> Site {
    let Some(origin) = headers.get(header::ORIGIN) else { return Site::Unsaid };
    let Ok(origin) = origin.to_str() else { return Site::Foreign };
    if origin == "null" {
        return Site::Unsaid;
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    let is_host = authority.zip(host).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b));
    let is_public = origin.eq_ignore_ascii_case(public_origin(&settings.public_url));
    if is_host || is_public { Site::Same } else { Site::Foreign }
}

/// Scheme and authority of the public URL.
fn public_origin(url: &str) -> &str {
    let from = url.find("://").map_or(0, |at| at + 3);
    let end = url[from..].find('/').map_or(url.len(), |at| from + at);
    &url[..end]
}

/// What the tokens of one visitor's forms are made with.
pub(crate) struct Key(String);

impl Key {
    /// The session's, or the visit cookie's, or that of a new visit with the header that begins it.
    pub(crate) fn of(
        signed_in: Option<&SignedIn>,
        headers: &HeaderMap,
        settings: &WebSettings,
    ) -> (Self, Option<HeaderValue>) {
        if let Some(key) = Self::present(signed_in, headers, settings) {
            return (key, None);
        }
        let secret = random::token();
        let set = Cookie::Visit.set(&secret, settings);
        (Self(secret), Some(set))
    }

    /// `None` for a visitor without any cookie of ours: no form of ours can be theirs.
    pub(crate) fn present(signed_in: Option<&SignedIn>, headers: &HeaderMap, settings: &WebSettings) -> Option<Self> {
        let session = signed_in.map(|s| s.session.clone());
        session.or_else(|| Cookie::Visit.read(headers, settings).filter(|v| v.len() == VISIT_CHARS)).map(Self)
    }

    /// The token for the form that is posted to `path`.
    pub(crate) fn token(&self, path: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).expect("HMAC takes keys of any length");
        mac.update(b"effectgate form\0");
        mac.update(path.as_bytes());
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    }

    pub(crate) fn fits(&self, path: &str, token: &str) -> bool {
        self.token(path).as_bytes().ct_eq(token.as_bytes()).into()
    }
}

/// 256 bits in base64url.
const VISIT_CHARS: usize = 43;

/// Checks a form's origin and token. The encoding was checked where the form was read.
///
/// # Errors
/// [`Code::CrossSite`].
pub(crate) fn check_form(
    signed_in: Option<&SignedIn>,
    headers: &HeaderMap,
    settings: &WebSettings,
    path: &str,
    token: &str,
) -> Result<()> {
    if is_broken(Guard::Csrf) {
        return Ok(());
    }
    if Site::of(headers, settings) == Site::Foreign {
        return Err(Problem::new(Code::CrossSite, "this form was sent from another site"));
    }
    match Key::present(signed_in, headers, settings) {
        Some(key) if key.fits(path, token) => Ok(()),
        Some(_) => Err(Problem::new(Code::CrossSite, "this form belongs to another visit; open the page again")),
        None => Err(Problem::new(Code::CrossSite, "the browser sent no cookie; open the page again with cookies on")),
    }
}

/// Checks a JSON request that is made with a session cookie. Requests with an API key need no such check.
///
/// # Errors
/// [`Code::UnsupportedMediaType`] without JSON, [`Code::CrossSite`].
pub fn check_json(headers: &HeaderMap, settings: &WebSettings) -> Result<()> {
    if !is_media(headers, "application/json") {
        return Err(Problem::new(Code::UnsupportedMediaType, "the body must be application/json"));
    }
    check_program(headers, settings)
}

/// The same for a request without a body.
///
/// # Errors
/// [`Code::CrossSite`].
pub fn check_program(headers: &HeaderMap, settings: &WebSettings) -> Result<()> {
    if is_broken(Guard::Csrf) {
        return Ok(());
    }
    let says_so = headers.get(HEADER).is_some_and(|value| value == "1");
    match Site::of(headers, settings) {
        Site::Foreign => Err(Problem::new(Code::CrossSite, "this request was sent from another site")),
        _ if says_so => Ok(()),
        Site::Same if headers.contains_key("sec-fetch-site") => Ok(()),
        _ => Err(Problem::new(Code::CrossSite, "with a session cookie, send the header Effectgate-Csrf: 1")),
    }
}

/// True if the body is said to be of this type, whatever its parameters.
pub(crate) fn is_media(headers: &HeaderMap, wanted: &str) -> bool {
    let said = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    said.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (http::HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    fn site(pairs: &[(&'static str, &'static str)]) -> Site {
        let settings = WebSettings { public_url: "https://gate.test/x".into(), ..WebSettings::default() };
        Site::of(&headers(pairs), &settings)
    }

    #[test]
    fn hc_33_any_sign_of_another_origin_is_enough() {
        for foreign in [
            &[("origin", "https://attacker.test")][..],
            &[("origin", "https://gate.test.attacker.test")],
            &[("origin", "http://gate.test")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site"), ("origin", "null")],
            &[("sec-fetch-site", "same-origin"), ("origin", "https://attacker.test")],
        ] {
            assert_eq!(site(foreign), Site::Foreign, "{foreign:?}");
        }
    }

    #[test]
    fn our_own_pages_are_recognised() {
        for same in [
            &[("origin", "https://gate.test")][..],
            &[("origin", "http://127.0.0.1:8787"), ("host", "127.0.0.1:8787")],
            &[("origin", "null"), ("sec-fetch-site", "same-origin")],
        ] {
            assert_eq!(site(same), Site::Same, "{same:?}");
        }
    }

    #[test]
    fn hc_33_a_missing_origin_says_nothing() {
        for unsaid in [&[][..], &[("origin", "null")], &[("sec-fetch-site", "none")]] {
            assert_eq!(site(unsaid), Site::Unsaid, "{unsaid:?}");
        }
    }

    #[test]
    fn hc_33_json_with_a_cookie_wants_the_header_or_the_browsers_word() {
        let settings = WebSettings::default();
        let check = |pairs: &[_]| check_json(&headers(pairs), &settings).map_err(|p| p.code());
        let json = ("content-type", "application/json; charset=utf-8");

        assert_eq!(check(&[json, (HEADER, "1")]), Ok(()));
        assert_eq!(check(&[json, ("sec-fetch-site", "same-origin")]), Ok(()));
        assert_eq!(check(&[json]), Err(Code::CrossSite));
        assert_eq!(check(&[json, (HEADER, "1"), ("origin", "https://attacker.test")]), Err(Code::CrossSite));
        assert_eq!(check(&[("content-type", "text/plain"), (HEADER, "1")]), Err(Code::UnsupportedMediaType));
        assert_eq!(check(&[(HEADER, "1")]), Err(Code::UnsupportedMediaType));
    }

    #[test]
    fn a_token_fits_its_own_visit_and_its_own_path() {
        let (key, other) = (Key("a".repeat(43)), Key("b".repeat(43)));
        let token = key.token("/a/x");

        assert!(key.fits("/a/x", &token));
        assert!(!key.fits("/a/y", &token) && !other.fits("/a/x", &token) && !key.fits("/a/x", ""));
    }
}
