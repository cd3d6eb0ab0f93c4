//! What the provider said, at every repeat, and what is said where there is no answer to give.

use std::sync::Arc;

use effectgate_core::{gate::Gate, operate::Resolution, provider::Class};
use effectgate_engine::{
    connect::tls::Tls,
    connector::Connector,
    connectors::{Auth, HttpConnector, KeyPlace},
    outbound::OutAnswer,
};
use effectgate_testkit::provider::{Act, Step};
use secrecy::SecretString;

use super::{ANSWER_BYTES_MAX, ask, kept, refund, send, settings, world};
use crate::common::HOUR;

/// As [`connector`], with a name and a password.
fn with_password(url: &str) -> Arc<dyn Connector> {
    let mut settings = settings(url, KeyPlace::default());
    settings.auth = Some(Auth::Basic { username: "gate".into(), password: SecretString::from("pass-w0rd/x") });
    Arc::new(HttpConnector::new(&settings, Tls::new(None).unwrap()).unwrap())
}

#[tokio::test]
async fn a_request_goes_out_once_as_it_came_and_its_answer_is_given_to_every_repeat() {
    let (provider, world) = world([], Class::Advisory, Gate::None).await;
    let mut request = refund("order-17");
    request.headers.insert("x-version".into(), "2026-01-01".into());

    let (first, replayed) = kept(send(&world, &request).await);
    let (second, again) = kept(ask(&world, &request).await);

    assert_eq!((first.status, &first.body[..], replayed), (201, &br#"{"id":"pred_1"}"#[..], false));
    assert_eq!((&second, again), (&first, true));
    let ledger = provider.ledger();
    assert_eq!((ledger.requests.len(), ledger.connections), (1, 1));
    let seen = &ledger.requests[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/refunds?expand=1"));
    assert_eq!(seen.body, b"{ \"amount\": 1.10 }", "byte for byte");
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("authorization"), Some("Bearer our-s3cret"));
    assert_eq!(seen.header("x-version"), Some("2026-01-01"));
    let run = world.agg(world.id_of("order-17")).await;
    let effect = &run.effects[0];
    assert_eq!(seen.header("idempotency-key"), Some(effect.provider_key.as_str()));
    assert_eq!((effect.target.as_str(), effect.external_id.as_deref()), ("POST /v1/refunds", Some("pred_1")));
    assert_eq!(run.run.state.as_str(), "completed");
    world.verify(run.run.id).await;
}

#[tokio::test]
async fn a_refusal_is_an_answer_and_is_given_again_byte_for_byte() {
    let refusal = Act::Answer {
        status: 422,
        headers: vec![
            ("Content-Type".into(), "application/problem+json".into()),
            ("Set-Cookie".into(), "session=1".into()),
            ("WWW-Authenticate".into(), "Bearer".into()),
        ],
        body: "{ \"error\" : \"no such charge\", \"seen\": \"Bearer our-s3cret\" }\n".into(),
    };
    let (provider, world) = world([refusal.into()], Class::Advisory, Gate::None).await;

    let (first, _) = kept(send(&world, &refund("k")).await);
    let (second, replayed) = kept(ask(&world, &refund("k")).await);

    assert_eq!((first.status, &first, replayed), (422, &second, true));
    assert_eq!(first.body, "{ \"error\" : \"no such charge\", \"seen\": \"[redacted]\" }\n");
    assert_eq!(first.headers.keys().collect::<Vec<_>>(), ["content-type"]);
    assert_eq!(provider.ledger().requests.len(), 1);
    let stored = world.store.run_content(&world.caller.tenant, world.id_of("k")).await.unwrap().unwrap();
    assert!(!format!("{stored:?}").contains("session=1") && !format!("{stored:?}").contains("our-s3cret"));
}

#[tokio::test]
async fn a_password_that_a_provider_reads_out_of_our_header_is_cut_out_of_what_it_says() {
    let answer =
        Act::Answer { status: 200, headers: vec![], body: r#"{"user":"gate","password":"pass-w0rd\/x"}"#.into() };
    let (provider, mut world) = world([answer.into()], Class::Advisory, Gate::None).await;
    let url = provider.url();
    world.restart_with(|options| options.connector = Some(with_password(&url)));

    let (answer, _) = kept(send(&world, &refund("k")).await);

    assert_eq!(answer.body, r#"{"user":"gate","password":"[redacted]"}"#);
}

#[tokio::test]
async fn a_redirect_is_neither_followed_nor_handed_on() {
    let script = [Step::answer_with(307, "Location", "https://elsewhere.example.test/")];
    let (_provider, world) = world(script, Class::Advisory, Gate::None).await;

    let answer = send(&world, &refund("k")).await;

    assert!(matches!(&answer, OutAnswer::NoAnswer { status: Some(307), .. }), "{answer:?}");
}

#[tokio::test]
async fn an_answer_that_is_too_long_to_keep_is_done_all_the_same() {
    let long = Step::answer(201, &"x".repeat(ANSWER_BYTES_MAX + 1));
    let fits = Step::answer(201, &"x".repeat(ANSWER_BYTES_MAX));
    let (provider, world) = world([long, fits], Class::Advisory, Gate::None).await;

    let answer = send(&world, &refund("long")).await;
    let (whole, _) = kept(send(&world, &refund("fits")).await);

    let OutAnswer::NoAnswer { run, status: Some(201) } = answer else { panic!("{answer:?}") };
    assert_eq!((run.state.as_str(), run.effects[0].state.as_str()), ("completed", "completed"));
    assert_eq!((whole.body.len(), provider.ledger().requests.len()), (ANSWER_BYTES_MAX, 2));
}

#[tokio::test]
async fn an_outcome_that_a_person_settled_has_no_answer_to_give_and_says_what_is_known() {
    let (provider, world) = world([Act::ReadThenReset.into()], Class::Advisory, Gate::None).await;
    send(&world, &refund("k")).await;
    let effect = world.agg(world.id_of("k")).await.effects[0].id;
    let happened = Resolution::Happened { external_id: Some("re_9".into()) };
    world.resolve(effect, happened).await.unwrap();

    let answer = ask(&world, &refund("k")).await;

    let OutAnswer::NoAnswer { run, status: None } = answer else { panic!("{answer:?}") };
    assert_eq!(run.effects[0].external_id.as_deref(), Some("re_9"));
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn an_erased_answer_is_said_to_be_erased_and_nothing_is_sent_again() {
    let (provider, world) = world([], Class::Advisory, Gate::None).await;
    kept(send(&world, &refund("k")).await);
    world.clock.advance_ms(31 * 24 * HOUR);
    world.store.run_purge(100).await.unwrap();

    let answer = send(&world, &refund("k")).await;

    assert!(matches!(&answer, OutAnswer::Erased { run } if run.state == "completed"), "{answer:?}");
    assert_eq!(provider.ledger().requests.len(), 1);
}
