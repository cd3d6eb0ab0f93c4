//! Sessions of signed-in people as cookies. When they end and what they hold is the engine's
//! ([`effectgate_engine::sessions`]).

use effectgate_core::digest::Digest;
use effectgate_engine::sessions;
use http::HeaderMap;

use super::cookie::Cookie;
use crate::{app::App, auth::SignedIn, problem::Result};

/// Finds the person behind the session cookie; `None` without a live session.
///
/// # Errors
/// The store.
pub async fn signed_in(app: &App, headers: &HeaderMap) -> Result<Option<SignedIn>> {
    let Some(secret) = Cookie::Session.read(headers, &app.settings) else { return Ok(None) };
    let found = app.engine.session_person(&secret).await?;
    Ok(found.map(|person| of(person, &secret)))
}

pub(crate) fn of(found: sessions::SignedIn, secret: &str) -> SignedIn {
    let session = Digest::of_parts(&[b"forms of a session", secret.as_bytes()]).to_string();
    SignedIn { tenant: found.tenant, person: found.person, display_name: found.name, session }
}

/// Ends the session that the request came with, if there is one.
///
/// # Errors
/// The store.
pub(crate) async fn close(app: &App, headers: &HeaderMap) -> Result<()> {
    if let Some(secret) = Cookie::Session.read(headers, &app.settings) {
        app.engine.session_close(&secret).await?;
    }
    Ok(())
}
