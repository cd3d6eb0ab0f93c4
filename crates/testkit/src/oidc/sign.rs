//! Keys and ID tokens. A few RSA keys are made once for a process: each takes a moment.

use std::sync::OnceLock;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rsa::{
    RsaPrivateKey,
    pkcs1v15::SigningKey,
    rand_core::OsRng,
    sha2::{Digest as _, Sha256},
    signature::{SignatureEncoding as _, Signer as _},
    traits::PublicKeyParts as _,
};
use serde_json::{Value, json};

use super::{CLIENT_ID, CLIENT_SECRET, Fault, Someone, grant::Grant, state::State};

/// Enough for a test that changes them more than once; then they begin anew.
const KEYS: usize = 3;
/// How long an ID token counts.
const LIFE_S: i64 = 300;

fn key(generation: usize) -> &'static RsaPrivateKey {
    static MADE: [OnceLock<RsaPrivateKey>; KEYS] = [const { OnceLock::new() }; KEYS];
    MADE[generation % KEYS].get_or_init(|| RsaPrivateKey::new(&mut OsRng, 2_048).expect("2,048 bits are a key"))
}

fn key_name(generation: usize) -> String {
    format!("key-{generation}")
}

/// The keys as they are published.
pub(super) fn key_set(state: &State) -> Value {
    let key = key(state.generation);
    let text = |number: &rsa::BigUint| URL_SAFE_NO_PAD.encode(number.to_bytes_be());
    let mut published = json!({ "kty": "RSA", "use": "sig", "alg": "RS256", "n": text(key.n()), "e": text(key.e()) });
    if state.names_keys {
        published["kid"] = key_name(state.generation).into();
    }
    json!({ "keys": [published] })
}

/// An ID token, with the lie that is told at the moment.
pub(super) fn id_token(state: &State, issuer: &str, person: &Someone, grant: &Grant, access_token: &str) -> String {
    let header = header(state);
    let payload = payload(state, issuer, person, grant, access_token);
    let signed = format!("{}.{}", part(&header), part(&payload));
    let by = |generation: usize| {
        let signature = SigningKey::<Sha256>::new(key(generation).clone()).sign(signed.as_bytes());
        URL_SAFE_NO_PAD.encode(signature.to_bytes())
    };
    let signature = match state.fault {
        Some(Fault::AlgorithmNone | Fault::Unsigned) => String::new(),
        Some(Fault::WrongSignature) => by(state.generation + 1),
        Some(Fault::Hmac) => URL_SAFE_NO_PAD.encode(hmac(CLIENT_SECRET.as_bytes(), signed.as_bytes())),
        _ => by(state.generation),
    };
    format!("{signed}.{signature}")
}

fn header(state: &State) -> Value {
    let algorithm = match state.fault {
        Some(Fault::AlgorithmNone) => "none",
        Some(Fault::Hmac) => "HS256",
        _ => "RS256",
    };
    let mut header = json!({ "alg": algorithm, "typ": "JWT" });
    if state.names_keys {
        header["kid"] = key_name(state.generation).into();
    }
    header
}

fn payload(state: &State, issuer: &str, person: &Someone, grant: &Grant, access_token: &str) -> Value {
    let now = state.now();
    let mut claims = person.claims();
    if !state.groups_in_token {
        claims.remove("groups");
    }
    let hashed = if state.lies(Fault::WrongAccessToken) { "another" } else { access_token };
    let half = &Sha256::digest(hashed.as_bytes())[..16];
    let mut say = |name: &str, value: Value| claims.insert(name.to_owned(), value);
    say("iss", issuer.into());
    say("aud", CLIENT_ID.into());
    say("iat", now.into());
    say("exp", (now + LIFE_S).into());
    say("nonce", grant.nonce.clone().into());
    say("at_hash", URL_SAFE_NO_PAD.encode(half).into());
    match state.fault {
        Some(Fault::WrongNonce) => say("nonce", "the nonce of somebody else".into()),
        Some(Fault::NoNonce) => claims.remove("nonce"),
        Some(Fault::WrongAudience) => say("aud", "another-client".into()),
        Some(Fault::SecondAudience) => say("aud", json!([CLIENT_ID, "another-client"])),
        Some(Fault::WrongAuthorizedParty) => say("azp", "another-client".into()),
        Some(Fault::WrongIssuer) => say("iss", "https://evil.test".into()),
        Some(Fault::Expired) => say("exp", (now - LIFE_S).into()),
        Some(Fault::FromTheFuture) => say("iat", (now + LIFE_S).into()),
        Some(Fault::NotBefore) => say("nbf", (now + LIFE_S).into()),
        _ => None,
    };
    Value::Object(claims)
}

fn part(json: &Value) -> String {
    URL_SAFE_NO_PAD.encode(json.to_string())
}

/// HMAC-SHA-256 (RFC 2104), for the one lie that needs it: keys here are shorter than a block.
fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let padded = |with: u8| -> Vec<u8> { (0..64).map(|at| key.get(at).copied().unwrap_or_default() ^ with).collect() };
    let inner = Sha256::digest([padded(0x36), message.to_vec()].concat());
    Sha256::digest([padded(0x5c), inner.to_vec()].concat()).to_vec()
}
