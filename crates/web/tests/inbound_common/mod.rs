//! A source for each scheme, and requests signed as its senders sign them, by an HMAC of the tests' own.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::collections::BTreeMap;

use axum::body::Body;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use effectgate_core::ids::{FlowName, SourceName};
use effectgate_engine::inbound::{Encoding, HmacForm, KeyRule, KeyWord, Scheme, Signature, SourcePolicy};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderName, Request};
use sha2::Sha256;

/// The tests' clock stands here.
pub const NOW_S: i64 = 1_790_000_000;
pub const SECRET: &str = "whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB";
pub const OLD_SECRET: &str = "whsec_Q0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0ND";

pub const WRONG_SECRET: &str = "whsec_RERERERERERERERERERERERERERERERE";

pub fn sources() -> BTreeMap<SourceName, SourcePolicy> {
    let word = |text: &str| KeyWord::parse(text).unwrap();
    let parts = || KeyRule::Parts {
        source: word("'shop'"),
        event_type: word("/type"),
        external_id: word("/data/id"),
        version: word("'1'"),
    };
    let header = |name: &'static str| HeaderName::from_static(name);
    let slack = HmacForm::new(
        header("x-slack-signature"),
        "v0=".into(),
        Encoding::Hex,
        Some(header("x-slack-request-timestamp")),
        Some("v0:{timestamp}:{body}"),
    );
    let of = |scheme: Scheme, key: KeyRule| {
        let secrets: &[_] = if scheme == Scheme::None { &[] } else { &[SECRET.into(), OLD_SECRET.into()] };
        let secrets = if matches!(scheme, Scheme::SharedSecret(_)) { &secrets[..1] } else { secrets };
        let signature = Signature::new(scheme, secrets, 300_000).unwrap();
        SourcePolicy { flow: FlowName::new("ticket"), signature, key, deliver: None }
    };
    let all = [
        ("shop", of(Scheme::StandardWebhooks, parts())),
        ("pay", of(Scheme::Stripe, KeyRule::Whole(word("/id")))),
        ("code", of(Scheme::Github, KeyRule::Whole(word("header:x-github-delivery")))),
        ("chat", of(Scheme::Hmac(slack.unwrap()), KeyRule::Whole(word("/id")))),
        ("bearer", of(Scheme::SharedSecret(None), KeyRule::Whole(word("/id")))),
        ("header", of(Scheme::SharedSecret(Some(header("x-secret"))), KeyRule::Whole(word("/id")))),
        ("open", of(Scheme::None, KeyRule::Whole(word("header:idempotency-key")))),
        ("open-body", of(Scheme::None, KeyRule::Whole(word("/key")))),
    ];
    all.into_iter().map(|(name, policy)| (SourceName::new(name), policy)).collect()
}

fn tag(key: &[u8], message: &[u8]) -> Vec<u8> {
    Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(message).finalize().into_bytes().to_vec()
}

pub fn hex_tag(secret: &str, message: &str) -> String {
    hex_tag_bytes(secret, message.as_bytes())
}

pub fn hex_tag_bytes(secret: &str, message: &[u8]) -> String {
    hex::encode(tag(secret.as_bytes(), message))
}

/// A request as Standard Webhooks signs it.
pub fn standard(source: &str, id: &str, seconds: i64, secret: &str, body: &str) -> Request<Body> {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let signature = STANDARD.encode(tag(&key, format!("{id}.{seconds}.{body}").as_bytes()));
    let (signature, seconds) = (format!("v1,{signature}"), seconds.to_string());
    let headers = [("webhook-id", id), ("webhook-timestamp", &seconds), ("webhook-signature", &signature)];
    at(source, &headers, body.to_owned())
}

pub fn at(source: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Request<Body> {
    let request = Request::post(format!("/in/{source}")).header("content-type", "application/json");
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).body(body.into()).unwrap()
}
