//! The outbound door over HTTP: what goes through, what every answer carries, and every reason why there is none.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use axum::body::Body;
use common::{Got, Options, Web, data, settings, spine::HOUR};
use effectgate_core::{
    budget::{Budget, Holder, Per},
    gate::Gate,
    ids::ProviderName,
    switch::Scope,
};
use effectgate_engine::{clock::Clock as _, keys::KeyScope, switch::Turn};
use effectgate_testkit::provider::{Act, ScriptedProvider, Step};
use effectgate_web::WebSettings;
use http::Request;
use tokio::io::AsyncWriteExt as _;

/// A web side whose provider `crm` is a real peer with a door, and somebody who dispatches.
async fn web(script: impl IntoIterator<Item = Step>, gate: Gate) -> (ScriptedProvider, Web) {
    web_with(script, gate, settings()).await
}

async fn web_with(
    script: impl IntoIterator<Item = Step>,
    gate: Gate,
    settings: WebSettings,
) -> (ScriptedProvider, Web) {
    web_of(script, Options { gate, ..Options::default() }, settings).await
}

async fn web_of(
    script: impl IntoIterator<Item = Step>,
    options: Options,
    settings: WebSettings,
) -> (ScriptedProvider, Web) {
    let provider = ScriptedProvider::start(script).await;
    let web = Web::over(Options { door: Some(provider.url()), ..options }, settings).await;
    let engine = web.world.engine.clone();
    tokio::spawn(async move {
        loop {
            engine.nudges().dispatcher.notified().await;
            engine.dispatch_tick().await.unwrap();
        }
    });
    (provider, web)
}

const BODY: &str = "{ \"amount\": 1.10 }";

async fn send(web: &Web, path: &str, headers: &[(&str, &str)], body: &str) -> Got {
    let mut request = Request::post(path).header("content-type", "application/json");
    request = request.header("authorization", format!("Bearer {}", web.token(KeyScope::Worker)));
    request = request.header("cookie", "session=of-the-caller").header("x-other", "stays here");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    web.send(request.body(Body::from(body.to_owned())).unwrap()).await
}

async fn refund(web: &Web, key: &str) -> Got {
    send(web, "/out/crm/v1/refunds?x=1", &[("idempotency-key", key)], BODY).await
}

#[tokio::test]
async fn the_door_answers_with_the_providers_own_answer_and_a_repeat_says_that_it_is_one() {
    let answer = Act::Answer {
        status: 201,
        headers: vec![("Content-Type".into(), "text/csv".into()), ("Set-Cookie".into(), "a=b".into())],
        body: "id\n{{id}}\n".into(),
    };
    let (provider, web) = web([answer.into()], Gate::None).await;

    let first = refund(&web, "\"order-17\"").await.is(201);
    let second = refund(&web, "order-17").await.is(201);

    assert_eq!((first.text.as_str(), first.header("content-type")), ("id\npred_1\n", "text/csv"));
    assert_eq!((first.header("idempotent-replayed"), second.header("idempotent-replayed")), ("", "true"));
    assert_eq!((&second.text, second.header("content-type")), (&first.text, "text/csv"));
    assert_eq!((first.header("set-cookie"), second.header("set-cookie")), ("", ""));
    assert!(first.header("effectgate-run").starts_with("run_"));
    assert_eq!(first.header("effectgate-run"), second.header("effectgate-run"));
    assert!(second.header("effectgate-effect").starts_with("eff_"));
    let ledger = provider.ledger();
    assert_eq!(ledger.requests.len(), 1);
    let seen = &ledger.requests[0];
    assert_eq!((seen.path.as_str(), seen.body.as_slice()), ("/v1/refunds?x=1", BODY.as_bytes()));
    assert_eq!(seen.header("authorization"), Some("Bearer our-s3cret"));
    for name in ["cookie", "x-other"] {
        assert_eq!(seen.header(name), None, "the caller's own headers stay here");
    }
    let host = provider.url();
    assert_eq!(seen.header("host"), host.strip_prefix("http://"));
}

#[tokio::test]
async fn bytes_that_are_no_text_go_out_as_they_came() {
    let (provider, web) = web([], Gate::None).await;
    let bytes: Vec<u8> = (0..=255).collect();
    let request = Request::post("/out/crm/v1/refunds")
        .header("authorization", format!("Bearer {}", web.token(KeyScope::Worker)))
        .header("idempotency-key", "k")
        .header("content-type", "application/octet-stream");

    web.send(request.body(Body::from(bytes.clone())).unwrap()).await.is(201);

    assert_eq!(provider.ledger().requests[0].body, bytes);
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_said_before_anything_is_kept() {
    let (provider, web) = web_with([], Gate::None, WebSettings { body_bytes_max: 100, ..settings() }).await;
    let key = [("idempotency-key", "k")];

    send(&web, "/out/crm/v1/refunds", &[], BODY).await.is_problem(400, "missing_key");
    send(&web, "/out/crm/v1/refunds", &[("idempotency-key", "undefined")], BODY).await.is_problem(400, "bad_key");
    send(&web, "/out/crm/v1/refunds", &[("idempotency-key", "a, b")], BODY).await.is_problem(400, "bad_key");
    send(&web, "/out/other/v1/refunds", &key, BODY).await.is_problem(404, "no_out");
    send(&web, "/out/absent", &key, BODY).await.is_problem(404, "no_out");
    let zipped = [("idempotency-key", "k"), ("content-encoding", "gzip")];
    send(&web, "/out/crm/v1/refunds", &zipped, BODY).await.is_problem(400, "bad_member");
    let beside = ["/v1/charges", "/v1/refunds/../charges", "/v1/refunds/%2e%2e/charges", "/v1/refunds/..;/charges"];
    for path in beside.into_iter().chain(["/v1/refunds//x", "/"]) {
        send(&web, &format!("/out/crm{path}"), &key, BODY).await.is_problem(403, "out_not_allowed");
    }
    let read = web.request("GET", "/out/crm/v1/refunds", Some(web.token(KeyScope::Worker)), Body::empty()).await;
    read.is_problem(403, "out_not_allowed");
    send(&web, "/out/crm/v1/refunds", &key, &"x".repeat(101)).await.is_problem(413, "body_too_large");
    web.request("POST", "/out/crm/v1/refunds", Some(web.token(KeyScope::Viewer)), BODY)
        .await
        .is_problem(403, "forbidden");
    let elsewhere = common::key(&web.world, "elsewhere", &[KeyScope::Worker], &["another".into()]).await;
    web.request("POST", "/out/crm/v1/refunds", Some(&elsewhere), BODY).await.is_problem(403, "forbidden");

    assert_eq!((web.runs().await, provider.ledger().connections), (0, 0));
}

#[tokio::test]
async fn another_request_under_the_key_is_a_conflict_that_names_the_run() {
    let (provider, web) = web([], Gate::None).await;
    let first = refund(&web, "k").await.is(201);

    let other = send(&web, "/out/crm/v1/refunds?x=1", &[("idempotency-key", "k")], "{\"amount\":2}").await;

    let other = other.is_problem(422, "payload_conflict");
    assert_eq!(other.header("effectgate-run"), first.header("effectgate-run"));
    assert_eq!(other.json()["differs"], serde_json::json!(["/json/amount"]));
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn a_lost_answer_is_outcome_unknown_and_names_the_effect() {
    let (provider, web) = web([Act::ReadThenReset.into()], Gate::None).await;
    let engine = web.world.engine.clone();
    tokio::spawn(async move {
        loop {
            engine.sweep_tick().await.unwrap();
            tokio::task::yield_now().await;
        }
    });

    for _ in 0..2 {
        let got = refund(&web, "k").await.is_problem(409, "outcome_unknown");
        assert_eq!(got.json()["effect"]["id"], got.header("effectgate-effect"));
        assert_eq!(got.json()["effect"]["state"], "review");
    }
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn a_person_who_is_asked_is_202_and_an_owner_who_said_no_is_409() {
    let (provider, web) = web([], Gate::Approve).await;

    let got = refund(&web, "k").await.is(202);
    assert_eq!((got.code().as_str(), got.header("content-type")), ("awaiting_approval", "application/json"));
    assert!(got.json()["approval_id"].as_str().unwrap().starts_with("apr_"));
    assert_eq!(got.json()["run"]["id"], got.header("effectgate-run"));

    let off = Turn { scope: Scope::All, name: String::new(), enabled: false, reason: "the test".into() };
    let (_, open) = self::web([], Gate::None).await;
    let actor = effectgate_core::actor::Actor::System("test");
    open.world.engine.turn_switch(&open.world.caller.tenant, &actor, &off).await.unwrap();
    let held = refund(&open, "k").await.is_problem(409, "switch_off");
    assert!(held.header("effectgate-effect").starts_with("eff_"));
    assert_eq!(provider.ledger().connections, 0);
}

/// A handed raw request, aimed at the door: its headers as they are, our path and key.
fn aimed(file: &str, web: &Web) -> Vec<u8> {
    let raw = data(file);
    let at = raw.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let mut bytes = b"POST /out/crm/v1/refunds HTTP/1.1\r\n".to_vec();
    bytes.extend(format!("Authorization: Bearer {}\r\nConnection: close\r\n", web.token(KeyScope::Worker)).bytes());
    for line in raw[..at].split(|b| *b == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.starts_with(b"Content-Length") {
            bytes.extend(line);
            bytes.extend(b"\r\n");
        }
    }
    bytes.extend(b"Content-Length: 12\r\n\r\n{\"order\":17}");
    bytes
}

#[tokio::test]
async fn hc_12_two_keys_at_the_door_are_refused_and_both_spellings_are_one_request() {
    let (provider, web) = web([], Gate::None).await;
    let server = web.serve().await;
    for file in ["hc12-different.http", "hc12-listed.http", "hc12-same.http"] {
        let got = server.raw(&aimed(file, &web)).await;
        assert!(got.starts_with("HTTP/1.1 400") && got.contains("\"bad_key\""), "{file}: {got}");
    }
    assert_eq!((web.runs().await, provider.ledger().connections), (0, 0));

    let quoted = server.raw(&aimed("hc12-quoted.http", &web)).await;
    let plain = server.raw(&aimed("hc12-plain.http", &web)).await;

    assert!(quoted.starts_with("HTTP/1.1 201") && !quoted.contains("idempotent-replayed"), "{quoted}");
    assert!(plain.starts_with("HTTP/1.1 201") && plain.contains("idempotent-replayed: true"), "{plain}");
    assert_eq!((web.runs().await, provider.ledger().requests.len()), (1, 1));
    server.stop().await;
}

#[tokio::test]
async fn hc_11_a_key_at_the_door_is_ascii_and_has_the_one_length() {
    let (provider, web) = web([], Gate::None).await;
    let server = web.serve().await;

    let got = server.raw(&aimed("hc11-request.http", &web)).await;
    assert!(got.starts_with("HTTP/1.1 400") && got.contains("header_not_ascii"), "{got}");
    for count in [100, 127, 128, 255, 256] {
        let key = data(&format!("hc11-key-{count}.txt"));
        let mut raw = aimed("hc12-plain.http", &web);
        let at = raw.windows(6).position(|w| w == b"pay-17").unwrap();
        raw.splice(at..at + 6, key);
        let got = server.raw(&raw).await;
        assert!(got.starts_with("HTTP/1.1 400") && got.contains("header_not_ascii"), "{count}: {got}");
    }
    assert_eq!((web.runs().await, provider.ledger().connections), (0, 0));

    refund(&web, &"x".repeat(256)).await.is_problem(400, "bad_key");
    refund(&web, &"x".repeat(255)).await.is(201);
    server.stop().await;
}

#[tokio::test]
async fn a_caller_that_hangs_up_while_it_waits_stops_nothing_and_its_repeat_gets_the_answer() {
    let (provider, web) = web([Step::created().held()], Gate::None).await;
    let server = web.serve().await;
    let mut caller = server.connect().await;
    caller.write_all(&aimed("hc12-plain.http", &web)).await.unwrap();
    provider.requests(1).await;

    drop(caller);
    provider.release();
    web.world.engine.dispatch_idle().await;

    let again = server.raw(&aimed("hc12-quoted.http", &web)).await;
    assert!(again.starts_with("HTTP/1.1 201") && again.contains("idempotent-replayed: true"), "{again}");
    assert_eq!(provider.ledger().executions.len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_budget_that_is_used_up_is_409_with_its_name_and_when_it_goes_on() {
    let holder = Holder::Provider(ProviderName::new("crm"));
    let budget = Budget { holder, per: Per::Provider, window_ms: HOUR, max: 1, amount: None };
    let (provider, web) = web_of([], Options { budgets: vec![budget], ..Options::default() }, settings()).await;
    refund(&web, "a").await.is(201);

    let over = refund(&web, "b").await.is_problem(409, "budget_used_up");

    let left_ms = effectgate_core::budget::window(HOUR, web.world.clock.now()).1.ms_since(web.world.clock.now());
    assert!(over.json()["detail"].as_str().unwrap().contains("the budget of provider crm, 1 an hour, is used up"));
    assert_eq!(over.json()["retry_after_ms"], left_ms);
    assert_eq!(over.header("retry-after"), (left_ms as u64).div_ceil(1_000).to_string());
    assert!(over.header("effectgate-effect").starts_with("eff_"));
    assert_eq!((over.json()["run"]["state"].as_str(), provider.ledger().requests.len()), (Some("approved"), 1));
    web.world.clock.advance_ms(left_ms);
    web.world.dispatch().await;
    refund(&web, "b").await.is(201);
    assert_eq!(provider.ledger().requests.len(), 2);
}
