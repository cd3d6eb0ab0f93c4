//! Sessions of signed-in people as cookies. When they end and what they hold is the engine's
//! ([`effectgate_engine::sessions`]).

use effectgate_core::digest::Digest;
use effectgate_engine::sessions::{self, Ended};
use http::{HeaderMap, header};

use super::cookie::Cookie;
use crate::{app::App, auth::SignedIn, problem::Result};

/// Finds the person behind the session cookie; `None` without a live session.
///
/// # Errors
/// The store.
pub async fn signed_in(app: &App, headers: &HeaderMap) -> Result<Option<SignedIn>> {
    let Some(secret) = Cookie::Session.read(headers, &app.settings) else { return Ok(None) };
    let found = app.engine.session_person(&secret, &app.settings.sessions).await?;
    Ok(found.map(|person| of(person, &secret)))
}

/// True as long as the request's session has a person. For streams that outlive their request; no use of the session.
///
/// # Errors
/// The store.
pub(crate) async fn stands(app: &App, headers: &HeaderMap) -> Result<bool> {
    let Some(secret) = Cookie::Session.read(headers, &app.settings) else { return Ok(false) };
    Ok(app.engine.session_stands(&secret, &app.settings.sessions).await?)
}

pub(crate) fn of(found: sessions::SignedIn, secret: &str) -> SignedIn {
    let session = Digest::of_parts(&[b"forms of a session", secret.as_bytes()]).to_string();
    let sessions::SignedIn { tenant, user, name, person, source, .. } = found;
    SignedIn { tenant, person, display_name: name, user, source, session }
}

/// Ends the session that the request came with, if there is one, and says what it was.
///
/// # Errors
/// The store.
pub(crate) async fn close(app: &App, headers: &HeaderMap) -> Result<Option<Ended>> {
    let Some(secret) = Cookie::Session.read(headers, &app.settings) else { return Ok(None) };
    Ok(app.engine.session_close(&secret).await?)
}

/// What the browser calls itself, in two words, so that people recognise their sessions. Names nobody: of the header
/// only a known name is kept.
pub(crate) fn device(headers: &HeaderMap) -> String {
    let said = headers.get(header::USER_AGENT).and_then(|line| line.to_str().ok()).unwrap_or_default();
    let named =
        |names: &[(&str, &'static str)]| names.iter().find(|(sign, _)| said.contains(sign)).map(|(_, name)| *name);
    match (named(&BROWSERS), named(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser}, {system}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => String::new(),
    }
}

/// In the order in which a name tells more than the next: most browsers call themselves Chrome and Safari as well.
const BROWSERS: [(&str, &str); 7] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
];
const SYSTEMS: [(&str, &str); 6] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_browser_is_two_words_and_nothing_that_it_says_is_repeated() {
        let of =
            |line: &'static str| device(&[(header::USER_AGENT, HeaderValue::from_static(line))].into_iter().collect());

        assert_eq!(
            of("Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36"),
            "Chrome, Android"
        );
        assert_eq!(of("Mozilla/5.0 (Windows NT 10.0) Chrome/130.0 Safari/537.36 Edg/130.0"), "Edge, Windows");
        assert_eq!(of("<script>alert(1)</script>"), "");
    }
}
