//! The ID token, held against everything that OpenID Connect Core section 3.1.3.7 asks: signature by a key of the
//! issuer with an allowed algorithm, issuer, audience, times, nonce; and the access token against its `at_hash`.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use effectgate_core::time::Timestamp;
use openidconnect::{
    AccessToken, AccessTokenHash, ClaimsVerificationError, ClientId, IssuerUrl, Nonce, SignatureVerificationError,
    core::{CoreIdToken, CoreIdTokenVerifier, CoreJsonWebKeySet, CoreJwsSigningAlgorithm as Algorithm},
};
use serde_json::{Map, Value};
use subtle::ConstantTimeEq as _;

use crate::error::Refusal;

/// How far two clocks may be apart.
const SKEW_MS: i64 = 60_000;
/// The token was made for the code a moment ago; one from yesterday is from somewhere else.
const AGE_MS_MAX: i64 = 3_600_000;
/// Signatures by a key pair. HMAC would make the client's secret a signing key, `none` is no signature.
const ALLOWED: [Algorithm; 9] = [
    Algorithm::RsaSsaPkcs1V15Sha256,
    Algorithm::RsaSsaPkcs1V15Sha384,
    Algorithm::RsaSsaPkcs1V15Sha512,
    Algorithm::RsaSsaPssSha256,
    Algorithm::RsaSsaPssSha384,
    Algorithm::RsaSsaPssSha512,
    Algorithm::EcdsaP256Sha256,
    Algorithm::EcdsaP384Sha384,
    Algorithm::EdDsa,
];

/// What a token is held against.
pub(crate) struct Expected<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) client_id: &'a str,
    pub(crate) nonce: &'a str,
    pub(crate) now: Timestamp,
}

/// The claims of a token that stood every check.
pub(crate) fn id_token(
    token: &CoreIdToken,
    access_token: &AccessToken,
    keys: &CoreJsonWebKeySet,
    expected: &Expected<'_>,
) -> Result<Map<String, Value>, Refusal> {
    let verifier = verifier(keys, expected)?;
    let claims = token.claims(&verifier, &Nonce::new(expected.nonce.to_owned())).map_err(|error| refusal(&error))?;
    if let Some(said) = claims.access_token_hash() {
        let key = token.signing_key(&verifier).map_err(|_| Refusal::UnknownKey)?;
        let algorithm = token.signing_alg().map_err(|_| Refusal::Algorithm)?;
        let ours = AccessTokenHash::from_token(access_token, algorithm, key).map_err(|_| Refusal::Algorithm)?;
        if !bool::from(ours.as_bytes().ct_eq(said.as_bytes())) {
            return Err(Refusal::AccessToken);
        }
    }
    let claims = payload(&token.to_string()).ok_or(Refusal::TokenAnswer)?;
    rest(&claims, expected)?;
    Ok(claims)
}

/// A verifier that knows no client secret: whatever is signed with it is not signed by the issuer.
fn verifier<'a>(keys: &CoreJsonWebKeySet, expected: &Expected<'_>) -> Result<CoreIdTokenVerifier<'a>, Refusal> {
    let issuer = IssuerUrl::new(expected.issuer.to_owned()).map_err(|_| Refusal::TokenIssuer)?;
    let client = ClientId::new(expected.client_id.to_owned());
    let at = |ms: i64| DateTime::from_timestamp_micros(expected.now.plus_ms(ms).micros()).unwrap_or_default();
    let (earliest, latest, judged): (DateTime<Utc>, DateTime<Utc>, DateTime<Utc>) =
        (at(-AGE_MS_MAX), at(SKEW_MS), at(-SKEW_MS));
    let issued = move |at: DateTime<Utc>| {
        if (earliest..=latest).contains(&at) { Ok(()) } else { Err("issued at another time".to_owned()) }
    };
    Ok(CoreIdTokenVerifier::new_public_client(client, issuer, keys.clone())
        .set_allowed_algs(ALLOWED)
        .set_time_fn(move || judged)
        .set_issue_time_verifier_fn(issued))
}

/// What the library leaves to its user: `nbf`, and `azp`, which names us where it is there (section 3.1.3.7, 4 and 5).
fn rest(claims: &Map<String, Value>, expected: &Expected<'_>) -> Result<(), Refusal> {
    let from = claims.get("nbf").and_then(Value::as_i64);
    if from.is_some_and(|seconds| seconds > expected.now.plus_ms(SKEW_MS).millis() / 1_000) {
        return Err(Refusal::Time);
    }
    match claims.get("azp").map(Value::as_str) {
        None => Ok(()),
        Some(party) if party == Some(expected.client_id) => Ok(()),
        Some(_) => Err(Refusal::Audience),
    }
}

/// The claims as they stand in a token whose signature was checked: the library's own shape drops those it does not
/// know, and groups are one.
fn payload(token: &str) -> Option<Map<String, Value>> {
    let middle = token.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(middle).ok()?).ok()
}

/// Our words for the library's: its texts quote what stood in the token.
fn refusal(error: &ClaimsVerificationError) -> Refusal {
    use ClaimsVerificationError as E;
    match error {
        E::Expired(_) | E::InvalidAuthTime(_) => Refusal::Time,
        E::InvalidAudience(_) => Refusal::Audience,
        E::InvalidIssuer(_) => Refusal::TokenIssuer,
        E::InvalidNonce(_) => Refusal::Nonce,
        E::InvalidSubject(_) => Refusal::Subject,
        E::SignatureVerification(error) => signature(error),
        _ => Refusal::Kind,
    }
}

fn signature(error: &SignatureVerificationError) -> Refusal {
    use SignatureVerificationError as E;
    match error {
        E::NoSignature => Refusal::Unsigned,
        E::DisallowedAlg(_) | E::UnsupportedAlg(_) => Refusal::Algorithm,
        E::NoMatchingKey | E::AmbiguousKeyId(_) | E::InvalidKey(_) => Refusal::UnknownKey,
        _ => Refusal::Signature,
    }
}
