//! A sign-in that was granted and not yet redeemed, and the checks of its redemption: client, code, redirect, PKCE.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use rsa::sha2::{Digest as _, Sha256};

use super::{CLIENT_ID, CLIENT_SECRET, form, form::Fields};

/// What the authorization request asked for, and who was chosen.
#[derive(Debug, Clone)]
pub(super) struct Grant {
    pub(super) sub: String,
    pub(super) nonce: String,
    pub(super) challenge: String,
    pub(super) redirect_uri: String,
}

/// What is wrong with an authorization request; `None` if nothing is.
pub(super) fn fault(asked: &Fields) -> Option<&'static str> {
    let is = |name: &str, value: &str| asked.get(name).is_some_and(|v| v == value);
    let has = |name: &str| asked.get(name).is_some_and(|v| v.len() >= 20);
    let scopes = asked.get("scope").map(String::as_str).unwrap_or_default();
    [
        (is("client_id", CLIENT_ID), "client_id is not known"),
        (is("response_type", "code"), "response_type is not code"),
        (scopes.split(' ').any(|scope| scope == "openid"), "scope has no openid"),
        (is("code_challenge_method", "S256") && has("code_challenge"), "PKCE with S256 is wanted"),
        (has("state"), "state is missing or short"),
        (has("nonce"), "nonce is missing or short"),
        (asked.get("redirect_uri").is_some_and(|url| url.starts_with("http")), "redirect_uri is missing"),
    ]
    .into_iter()
    .find_map(|(is_well, what)| (!is_well).then_some(what))
}

/// True if the client proved who it is, in the way that is asked for.
pub(super) fn is_client(authorization: Option<&str>, fields: &Fields, in_form: bool) -> bool {
    if in_form {
        let has = |name: &str, value: &str| fields.get(name).is_some_and(|v| v == value);
        return authorization.is_none() && has("client_id", CLIENT_ID) && has("client_secret", CLIENT_SECRET);
    }
    let pair = authorization.and_then(|line| line.strip_prefix("Basic ")).and_then(|text| STANDARD.decode(text).ok());
    let pair = pair.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    pair.split_once(':').map(|(id, secret)| (form::decoded(id), form::decoded(secret)))
        == Some((CLIENT_ID.to_owned(), CLIENT_SECRET.to_owned()))
}

impl Grant {
    /// True if whoever redeems is who asked (RFC 7636 section 4.6).
    pub(super) fn fits(&self, fields: &Fields) -> bool {
        let verifier = fields.get("code_verifier").map(String::as_str).unwrap_or_default();
        let is_same = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())) == self.challenge;
        is_same && fields.get("redirect_uri") == Some(&self.redirect_uri)
    }
}
