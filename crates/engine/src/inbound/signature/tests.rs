//! What senders publish of their schemes, and what each scheme must not take.

use http::HeaderValue;

use super::*;

fn headers(lines: &[(&str, &str)]) -> HeaderMap {
    let line = |(name, value): &(&str, &str)| {
        (HeaderName::try_from(*name).unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap())
    };
    lines.iter().map(line).collect()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn signature(scheme: Scheme, secret: &str) -> Signature {
    Signature::new(scheme, &[secret.into()], 300_000).unwrap()
}

/// The example of the specification's own verifier, and the one of its reference implementations.
#[test]
fn the_public_standard_webhooks_vectors_are_believed() {
    let vectors = [
        (
            "whsec_plJ3nmyCDGBKInavdOK15jsl",
            "msg_loFOjxBNrRLzqYUf",
            1_731_705_121,
            r#"{"event_type":"ping","data":{"success":true}}"#,
            "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
        ),
        (
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
    ];
    for (secret, id, seconds, body, tag) in vectors {
        let moment = seconds.to_string();
        let lines = [("webhook-id", id), ("webhook-timestamp", &moment), ("webhook-signature", tag)];
        let source = signature(Scheme::StandardWebhooks, secret);

        assert_eq!(source.judge(&headers(&lines), body.as_bytes(), at(seconds)), Ok(()));
        assert_eq!(source.judge(&headers(&lines), b"{}", at(seconds)), Err(Unsigned::Wrong));
        let late = source.judge(&headers(&lines), body.as_bytes(), at(seconds + 301));
        assert_eq!(late, Err(Unsigned::Stale { age_ms: 301_000 }));
        assert!(source.judge(&headers(&lines), body.as_bytes(), at(seconds - 300)).is_ok());
    }
}

/// From GitHub's page "Validating webhook deliveries", read 2026-11-30.
#[test]
fn githubs_documented_example_is_believed() {
    let source = signature(Scheme::Github, "It's a Secret to Everybody");
    let tag = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    assert_eq!(source.judge(&headers(&[("x-hub-signature-256", tag)]), b"Hello, World!", at(0)), Ok(()));
    assert_eq!(source.judge(&headers(&[("x-hub-signature-256", tag)]), b"Hello, World", at(0)), Err(Unsigned::Wrong));
    for other in [tag.trim_start_matches("sha256="), "sha1=757107ea", "sha256=", "sha256=zz"] {
        assert!(source.judge(&headers(&[("x-hub-signature-256", other)]), b"Hello, World!", at(0)).is_err(), "{other}");
    }
    // The header of the older, weaker signature is not looked at.
    assert_eq!(source.judge(&headers(&[("x-hub-signature", tag)]), b"Hello, World!", at(0)), Err(Unsigned::Missing));
}

/// The header has the form of Stripe's documentation: a moment, a signature for each secret in force, and one of a scheme
/// that only test events have. The page gives no secret; the tag was made with another program.
#[test]
fn stripes_documented_header_is_believed_whichever_of_its_signatures_is_ours() {
    let body = "{\n  \"id\": \"evt_test_webhook\",\n  \"object\": \"event\"\n}";
    let ours = "c2f890decbc5ede7c5060bb9a6d31e0626a4342bacb9aeae2adb1bcea72f9812";
    let other = "5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd";
    let source = signature(Scheme::Stripe, "whsec_test_secret");
    let judged = |line: &str, now: i64| source.judge(&headers(&[("stripe-signature", line)]), body.as_bytes(), at(now));
    const T: i64 = 1_492_774_577;

    assert_eq!(judged(&format!("t={T},v1={ours},v0={other}"), T), Ok(()));
    assert_eq!(judged(&format!("t={T},v1={other},v1={ours}"), T + 300), Ok(()));
    assert_eq!(judged(&format!("t={T},v1={ours}"), T + 301), Err(Unsigned::Stale { age_ms: 301_000 }));
    // A signature of another scheme is no signature, and a moment beside the signed one is not the signed one.
    assert_eq!(judged(&format!("t={T},v1={other},v0={ours}"), T), Err(Unsigned::Wrong));
    assert_eq!(judged(&format!("t={},v1={ours}", T + 1), T), Err(Unsigned::Wrong));
    for broken in [format!("t={T},t={T},v1={ours}"), format!("v1={ours}"), "t=x,v1=y".into(), String::new()] {
        assert_eq!(judged(&broken, T), Err(Unsigned::Missing), "{broken}");
    }
}

/// From Slack's page "Verifying requests from Slack", read 2026-11-30: a form of the general scheme.
#[test]
fn slacks_documented_example_is_believed_as_an_hmac() {
    let body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&\
                channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&\
                response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&\
                trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    let form = HmacForm::new(
        HeaderName::from_static("x-slack-signature"),
        "v0=".into(),
        Encoding::Hex,
        Some(HeaderName::from_static("x-slack-request-timestamp")),
        Some("v0:{timestamp}:{body}"),
    );
    let source = signature(Scheme::Hmac(form.unwrap()), "8f742231b10e8888abcd99yyyzzz85a5");
    let lines = [
        ("x-slack-request-timestamp", "1531420618"),
        ("x-slack-signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"),
    ];

    assert_eq!(source.judge(&headers(&lines), body.as_bytes(), at(1_531_420_618)), Ok(()));
    assert_eq!(source.judge(&headers(&lines[1..]), body.as_bytes(), at(1_531_420_618)), Err(Unsigned::Missing));
}

#[test]
fn what_is_signed_names_the_body_and_the_moment_exactly_once() {
    let form = |dated: bool, signed: &str| {
        let moment = dated.then(|| HeaderName::from_static("x-moment"));
        HmacForm::new(HeaderName::from_static("x-tag"), String::new(), Encoding::Base64, moment, Some(signed)).is_ok()
    };

    assert!(form(true, "{timestamp}{body}") && form(true, "v0:{timestamp}:{body}") && form(false, "x{body}"));
    for (dated, signed) in [
        (true, "{body}"),
        (true, "{timestamp}"),
        (false, "{timestamp}.{body}"),
        (false, "fixed"),
        (false, "{body}{body}"),
        (true, "{timestamp}{timestamp}{body}"),
    ] {
        assert!(!form(dated, signed), "{dated} {signed}");
    }
}

#[test]
fn moments_come_as_seconds_milliseconds_or_rfc_3339() {
    let form = HmacForm::new(
        HeaderName::from_static("x-tag"),
        String::new(),
        Encoding::Base64,
        Some(HeaderName::from_static("x-moment")),
        None,
    );
    let secret = "0123456789abcdef";
    let source = signature(Scheme::Hmac(form.unwrap()), secret);
    for moment in ["1700000000", "1700000000000", "2023-11-14T22:13:20Z", "2023-11-14T23:13:20+01:00"] {
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap().chain_update(format!("{moment}.{{}}"));
        let tag = STANDARD.encode(mac.finalize().into_bytes());
        let lines = [("x-moment", moment), ("x-tag", tag.as_str())];

        assert_eq!(source.judge(&headers(&lines), b"{}", at(1_700_000_000)), Ok(()), "{moment}");
        assert!(source.judge(&headers(&lines), b"{}", at(1_700_001_000)).is_err(), "{moment}");
    }
    for moment in ["", "-1700000000", "soon", "99999999999999999999"] {
        let lines = [("x-moment", moment), ("x-tag", "AAAA")];
        assert_eq!(source.judge(&headers(&lines), b"{}", at(0)), Err(Unsigned::Missing), "{moment:?}");
    }
}

#[test]
fn secrets_that_are_missing_needless_or_easy_to_guess_are_refused_without_being_shown() {
    let refused = |scheme: Scheme, secrets: &[SecretString]| Signature::new(scheme, secrets, 1).err().unwrap();
    let short: SecretString = "pa55word".into();

    for scheme in [Scheme::StandardWebhooks, Scheme::Stripe, Scheme::Github, Scheme::SharedSecret(None)] {
        assert!(refused(scheme.clone(), &[]).what.contains("no secret"), "{scheme:?}");
        let told = refused(scheme.clone(), std::slice::from_ref(&short));
        assert!(!format!("{} {}", told.what, told.advice).contains("pa55"), "{scheme:?}");
    }
    assert!(refused(Scheme::None, &["0123456789abcdef".into()]).what.contains("has no secret"));
    assert!(refused(Scheme::StandardWebhooks, &["whsec_not base64!".into()]).what.contains("Standard Webhooks"));
}
