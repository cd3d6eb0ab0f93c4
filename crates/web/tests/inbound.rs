//! The inbound door over HTTP: who is believed, which key an event has, what is answered, and the handed cases about
//! keys and payloads through it.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;
mod inbound_common;

use std::io::Write as _;

use common::{Got, Options, Web, data, settings, text};
use effectgate_engine::keys::KeyScope;
use effectgate_web::WebSettings;
use futures_util::future::join_all;
use http::Request;
use inbound_common::{NOW_S, OLD_SECRET, SECRET, WRONG_SECRET, at, hex_tag, sources, standard};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

const EVENT: &str = r#"{"type":"order.paid","data":{"id":17,"amount":12.50}}"#;

async fn web() -> Web {
    Web::with(Options { sources, ..Options::default() }).await
}

/// Sends a body to the source without a signature, with one header.
async fn plain(web: &Web, header: (&str, &str), body: &str) -> Got {
    web.send(Request::post("/in/open").header(header.0, header.1).body(body.to_owned().into()).unwrap()).await
}

fn answered(got: &Got) -> (u16, String) {
    (got.status.as_u16(), got.json()["answer"].as_str().unwrap_or_default().to_owned())
}

async fn run_of(web: &Web, got: &Got) -> Value {
    let id = got.json()["run_id"].as_str().unwrap().to_owned();
    web.get(&format!("/v1/runs/{id}")).await.is(200).json()
}

#[tokio::test]
async fn a_signed_event_is_a_queued_run_before_it_is_answered() {
    let web = web().await;

    let got = web.send(standard("shop", "msg_1", NOW_S, SECRET, EVENT)).await.is(202);

    assert_eq!((got.json()["answer"].as_str(), got.json()["state"].as_str()), (Some("accepted"), Some("queued")));
    let run = run_of(&web, &got).await;
    assert_eq!((&run["state"], &run["key"]), (&json!("queued"), &json!("shop:order.paid:17:1")));
    assert_eq!((&run["flow"], &run["attempts"]), (&json!("ticket"), &json!(0)));
    let explained = web.get(&format!("/v1/runs/{}/explain", run["id"].as_str().unwrap())).await.is(200).json();
    let first = &explained["timeline"][0];
    assert_eq!((&first["actor"], &first["text"]), (&json!("source:shop"), &json!("accepted the event from shop")));
}

#[tokio::test]
async fn what_was_accepted_is_claimed_with_the_payload_as_it_came() {
    let web = web().await;
    web.send(standard("shop", "msg_1", NOW_S, SECRET, &format!(" {EVENT}\n"))).await.is(202);

    let got = web.post("/v1/runs/claim", r#"{"flow":"ticket","owner":"w"}"#).await.is(201);

    assert_eq!(got.json()["lease"]["fence"], 1);
    assert!(got.text.contains(EVENT), "{}", got.text);
}

#[tokio::test]
async fn ten_identical_deliveries_at_once_are_one_run() {
    let web = web().await;

    let all = join_all((0..10).map(|n| web.send(standard("shop", &format!("msg_{n}"), NOW_S, SECRET, EVENT)))).await;

    let mut answers: Vec<_> = all.iter().map(answered).collect();
    answers.sort();
    let mut wanted = vec![(200, "duplicate".to_owned()); 9];
    wanted.push((202, "accepted".to_owned()));
    assert_eq!(answers, wanted);
    let ids: std::collections::BTreeSet<_> = all.iter().map(|got| got.json()["run_id"].to_string()).collect();
    assert_eq!((ids.len(), web.runs().await), (1, 1));
}

#[tokio::test]
async fn another_payload_under_a_known_key_merges_nothing_and_is_on_record() {
    let web = web().await;
    let first = web.send(standard("shop", "msg_1", NOW_S, SECRET, EVENT)).await.is(202);
    let other = EVENT.replace("12.50", "99.00");

    let got = web.send(standard("shop", "msg_2", NOW_S, SECRET, &other)).await.is(200);

    assert_eq!(got.json()["answer"], "conflict");
    assert_eq!(got.json()["run_id"], first.json()["run_id"]);
    assert!(!got.text.contains("99.00") && !got.text.contains("12.50"), "{}", got.text);
    let id = first.json()["run_id"].as_str().unwrap().to_owned();
    let explained = web.get(&format!("/v1/runs/{id}/explain")).await.is(200).json();
    assert_eq!(explained["timeline"][1]["kind"], "conflict");
    let claimed = web.post("/v1/runs/claim", r#"{"flow":"ticket","owner":"w"}"#).await.is(201);
    assert!(claimed.text.contains("12.50") && !claimed.text.contains("99.00"), "{}", claimed.text);
}

#[tokio::test]
async fn what_is_not_signed_by_the_source_is_refused_and_not_kept() {
    let web = web().await;
    let good = || standard("shop", "msg_1", NOW_S, SECRET, EVENT);
    let mut without = good();
    without.headers_mut().remove("webhook-signature");
    let mut twice = good();
    let again = twice.headers()["webhook-signature"].clone();
    twice.headers_mut().append("webhook-signature", again);
    let mut other_id = good();
    other_id.headers_mut().insert("webhook-id", "msg_2".parse().unwrap());
    let mut other_time = good();
    other_time.headers_mut().insert("webhook-timestamp", (NOW_S + 1).to_string().parse().unwrap());
    let (parts, _) = good().into_parts();
    let other_body = Request::from_parts(parts, EVENT.replace("17", "18").into());
    let other_secret = standard("shop", "msg_1", NOW_S, WRONG_SECRET, EVENT);

    for request in [without, twice, other_id, other_time, other_body, other_secret] {
        let got = web.send(request).await.is_problem(401, "bad_signature");
        assert!(!got.text.contains("whsec"), "{}", got.text);
    }

    assert_eq!(web.runs().await, 0);
    web.send(good()).await.is(202);
}

#[tokio::test]
async fn a_signature_is_taken_within_the_window_and_not_outside_either_way() {
    let web = web().await;
    for (seconds, id) in [(-300, "a"), (300, "b")] {
        let body = format!(r#"{{"type":"t","data":{{"id":"{id}"}}}}"#);
        web.send(standard("shop", id, NOW_S + seconds, SECRET, &body)).await.is(202);
    }

    for seconds in [-301, 301, -86_400] {
        let got = web.send(standard("shop", "msg_1", NOW_S + seconds, SECRET, EVENT)).await;
        got.is_problem(401, "stale_signature");
    }
    // Whether a wrong signature would be old is nobody's business.
    let wrong = standard("shop", "msg_1", NOW_S - 86_400, WRONG_SECRET, EVENT);
    web.send(wrong).await.is_problem(401, "bad_signature");

    assert_eq!(web.runs().await, 2);
}

#[tokio::test]
async fn what_was_seen_and_is_sent_again_is_a_duplicate_and_then_stale() {
    let web = web().await;
    let seen = || standard("shop", "msg_1", NOW_S, SECRET, EVENT);
    web.send(seen()).await.is(202);

    let again = web.send(seen()).await.is(200);
    web.world.clock.advance_ms(301_000);

    assert_eq!(again.json()["answer"], "duplicate");
    web.send(seen()).await.is_problem(401, "stale_signature");
}

#[tokio::test]
async fn both_secrets_are_taken_while_one_is_changed() {
    let web = web().await;

    web.send(standard("shop", "msg_1", NOW_S, SECRET, EVENT)).await.is(202);
    let old = web.send(standard("shop", "msg_1", NOW_S, OLD_SECRET, EVENT)).await.is(200);

    assert_eq!(old.json()["answer"], "duplicate");
}

#[tokio::test]
async fn one_of_several_signatures_is_enough() {
    let web = web().await;
    let mut request = standard("shop", "msg_1", NOW_S, SECRET, EVENT);
    let ours = request.headers()["webhook-signature"].to_str().unwrap().to_owned();
    let list = format!("v1a,AAAA v1,{} {ours} v2,BBBB", "C".repeat(43) + "=");
    request.headers_mut().insert("webhook-signature", list.parse().unwrap());

    web.send(request).await.is(202);
}

#[tokio::test]
async fn every_scheme_opens_its_own_door_and_no_other() {
    let web = web().await;
    let body = r#"{"id":"evt_1","type":"t"}"#;
    let stripe = format!("t={NOW_S},v1={}", hex_tag(SECRET, &format!("{NOW_S}.{body}")));
    let github = format!("sha256={}", hex_tag(SECRET, body));
    let slack = format!("v0={}", hex_tag(SECRET, &format!("v0:{NOW_S}:{body}")));
    let bearer = format!("Bearer {SECRET}");
    let moment = NOW_S.to_string();
    let doors: [(&str, &[(&str, &str)]); 5] = [
        ("pay", &[("stripe-signature", &stripe)]),
        ("code", &[("x-hub-signature-256", &github), ("x-github-delivery", "evt_1")]),
        ("chat", &[("x-slack-signature", &slack), ("x-slack-request-timestamp", &moment)]),
        ("bearer", &[("authorization", &bearer)]),
        ("header", &[("x-secret", SECRET)]),
    ];
    for (shown, headers) in &doors {
        for (door, _) in &doors {
            let got = web.send(at(door, headers, body)).await;
            if door == shown {
                assert!(matches!(got.status.as_u16(), 200 | 202), "{door}: {}", got.text);
            } else {
                got.is_problem(401, "bad_signature");
            }
        }
    }
}

#[tokio::test]
async fn a_shared_secret_that_is_nearly_right_is_wrong() {
    let web = web().await;
    for secret in ["", "x", &SECRET[..SECRET.len() - 1], &format!("{SECRET}x"), &SECRET.to_lowercase(), OLD_SECRET] {
        web.send(at("header", &[("x-secret", secret)], EVENT)).await.is_problem(401, "bad_signature");
        let bearer = format!("Bearer {secret}");
        web.send(at("bearer", &[("authorization", &bearer)], EVENT)).await.is_problem(401, "bad_signature");
    }
    assert_eq!(web.runs().await, 0);
}

#[tokio::test]
async fn a_source_that_is_not_there_is_told_so_and_nothing_is_read() {
    let web = web().await;
    for path in ["/in/nowhere", "/in/shop%20", "/in/%ff", "/in/Shop"] {
        let got = web.send(Request::post(path).body(EVENT.to_owned().into()).unwrap()).await;
        got.is_problem(404, "unknown_source");
    }
    web.request("GET", "/in/shop", None, "").await.is_problem(405, "method_not_allowed");
}

fn gzip(body: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(body.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_packed_body_is_unpacked_whichever_bytes_were_signed() {
    let web = web().await;
    let packed = gzip(EVENT);
    let over_plain = hex_tag(SECRET, EVENT);
    let over_packed = inbound_common::hex_tag_bytes(SECRET, &packed);
    let send = async |tag: &str, body: Vec<u8>| {
        let tag = format!("sha256={tag}");
        let headers = [("x-hub-signature-256", tag.as_str()), ("x-github-delivery", "g-1")];
        web.send(at("code", &[&headers[..], &[("content-encoding", "gzip")]].concat(), body)).await
    };

    let first = send(&over_plain, packed.clone()).await.is(202);
    let second = send(&over_packed, packed.clone()).await.is(200);

    assert_eq!(second.json()["answer"], "duplicate", "the same event either way");
    assert_eq!(second.json()["run_id"], first.json()["run_id"]);
    send(&hex_tag(SECRET, "other"), packed.clone()).await.is_problem(401, "bad_signature");
    send(&over_plain, packed[..packed.len() - 4].to_vec()).await.is_problem(401, "bad_signature");
}

#[tokio::test]
async fn a_body_packed_otherwise_is_refused_and_a_broken_one_that_is_signed_is_kept() {
    let web = web().await;
    let coded = |coding: &'static str, body: Vec<u8>| {
        let tag = format!("sha256={}", inbound_common::hex_tag_bytes(SECRET, &body));
        at("code", &[("x-hub-signature-256", &tag), ("x-github-delivery", "g-2"), ("content-encoding", coding)], body)
    };

    web.send(coded("br", EVENT.into())).await.is_problem(415, "unsupported_media_type");
    let kept = web.send(coded("gzip", gzip(EVENT)[..20].to_vec())).await.is(200);

    assert_eq!((&kept.json()["answer"], &kept.json()["reason"]), (&json!("quarantined"), &json!("not_json")));
}

#[tokio::test]
async fn a_body_is_bounded_before_and_after_it_is_unpacked() {
    let small = WebSettings { body_bytes_max: 1_000, ..settings() };
    let web = Web::over(Options { sources, ..Options::default() }, small).await;
    let large = format!(r#"{{"id":"{}"}}"#, "x".repeat(2_000));
    let packed = gzip(&large);
    assert!(packed.len() < 1_000);
    let tag = format!("sha256={}", inbound_common::hex_tag_bytes(SECRET, &packed));
    let headers = [("x-hub-signature-256", tag.as_str()), ("x-github-delivery", "g-3"), ("content-encoding", "gzip")];

    web.send(at("code", &headers, packed)).await.is_problem(413, "body_too_large");
    web.send(standard("shop", "msg_1", NOW_S, SECRET, &large)).await.is_problem(413, "body_too_large");

    assert_eq!(web.runs().await, 0);
}

#[tokio::test]
async fn what_breaks_the_contract_is_kept_as_it_came_and_the_sender_may_stop() {
    let schema = json!({"required": ["type"], "properties": {"type": {"enum": ["order.paid"]}}});
    let web = Web::with(Options { sources, payload_schema: Some(schema), ..Options::default() }).await;
    let table = [
        (r#"{"type":"order.gone","data":{"id":1}}"#, "schema"),
        (r#"{"type":"order.paid","data":{"number":1}}"#, "no_key"),
        (r#"{"type":"order.paid","data":{"id":null}}"#, "no_key"),
        (r#"{"type":"order.paid","data":{"id":[1]}}"#, "no_key"),
        (r#"{"type":"order.paid","data":{"id":""}}"#, "no_key"),
        (r#"{"type":"order.paid","data":{"id":"undefined"}}"#, "no_key"),
        (r#"{"type":"order.paid","data":{"id":1},"data":{"id":2}}"#, "not_json"),
        (r#"{"type":"order.paid","data":{"id":1e400}}"#, "not_json"),
        ("type=order.paid&id=1", "not_json"),
        ("", "not_json"),
    ];

    for (body, reason) in table {
        let got = web.send(standard("shop", "msg_1", NOW_S, SECRET, body)).await.is(200);
        let said = got.json();
        assert_eq!((&said["answer"], &said["reason"]), (&json!("quarantined"), &json!(reason)), "{body}");
        let run = run_of(&web, &got).await;
        assert_eq!((&run["state"], &run["reason"]), (&json!("quarantined"), &json!(reason)), "{body}");
        let again = web.send(standard("shop", "msg_1", NOW_S, SECRET, body)).await.is(200).json();
        assert_eq!((&again["answer"], &again["state"]), (&json!("duplicate"), &json!("quarantined")), "{body}");
    }

    assert_eq!(web.runs().await, table.len());
    let claimed = web.post("/v1/runs/claim", r#"{"flow":"ticket","owner":"w"}"#).await.is(200);
    assert_eq!(claimed.json()["answer"], "none");
}

#[tokio::test]
async fn an_event_without_a_key_gets_none_made_up_that_could_pass_for_the_senders() {
    let web = web().await;
    let body = r#"{"type":"order.paid","data":{}}"#;

    let got = web.send(standard("shop", "msg_1", NOW_S, SECRET, body)).await.is(200);

    let run = run_of(&web, &got).await;
    let key = run["key"].as_str().unwrap();
    assert!(key.starts_with("in:shop:sha256:") && key.len() == "in:shop:sha256:".len() + 64, "{key}");
}

#[tokio::test]
async fn no_sender_can_name_the_key_of_an_event_without_one() {
    let web = web().await;
    let keyless = r#"{"none":1}"#;
    let digest = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(keyless));
    for source in ["open-body", "shop"] {
        let body = format!(r#"{{"key":"in:{source}:sha256:{digest}"}}"#);
        let got = web.send(at("open-body", &[], body)).await.is(200).json();
        assert_eq!((&got["answer"], &got["reason"]), (&json!("quarantined"), &json!("no_key")));
    }

    let got = web.send(at("open-body", &[], keyless)).await.is(200).json();
    assert_eq!(got["answer"], "quarantined", "it is kept, and no conflict with what somebody put there before");
    assert_eq!(web.runs().await, 3);
}

#[tokio::test]
async fn what_makes_no_key_stands_nowhere_beside_the_payload() {
    let web = web().await;
    for word in ["a\\u0000b", "x".repeat(100_000).as_str(), "  "] {
        let body = format!(r#"{{"type":"{word}","data":{{"id":5}}}}"#);
        let got = web.send(standard("shop", "msg_1", NOW_S, SECRET, &body)).await.is(200);
        assert_eq!(got.json()["reason"], "no_key");
        let id = got.json()["run_id"].as_str().unwrap().parse().unwrap();
        let agg = web.world.store.run_load(&web.world.caller.tenant, id).await.unwrap().unwrap();
        assert_eq!(agg.run.origin.event_type, None, "PostgreSQL cannot search rows with U+0000 in it");
    }
}

#[tokio::test]
async fn a_quarantined_event_that_is_released_is_queued_with_its_payload() {
    let web = web().await;
    let body = r#"{"type":"order.paid","data":{"number":5}}"#;
    let got = web.send(standard("shop", "msg_1", NOW_S, SECRET, body)).await.is(200);
    let id = got.json()["run_id"].as_str().unwrap().to_owned();

    web.operate(&format!("/v1/runs/{id}/release"), r#"{"reason":"the number is its id"}"#).await.is(200);

    let claimed = web.post("/v1/runs/claim", r#"{"flow":"ticket","owner":"w"}"#).await.is(201);
    assert!(claimed.text.contains(body), "{}", claimed.text);
}

#[tokio::test]
async fn a_number_keeps_every_digit_in_the_key() {
    let web = web().await;
    for (id, key) in [("12345678901234567890", "12345678901234567890"), ("1.50", "1.50"), ("\"7\"", "7")] {
        let body = format!(r#"{{"type":"t","data":{{"id":{id}}}}}"#);
        let got = web.send(standard("shop", "msg_1", NOW_S, SECRET, &body)).await.is(202);
        assert_eq!(run_of(&web, &got).await["key"], format!("shop:t:{key}:1"));
    }
}

#[tokio::test]
async fn a_source_that_brings_more_than_its_share_is_told_when_to_come_again() {
    let slow = WebSettings { requests_per_second_max: 2, ..settings() };
    let web = Web::over(Options { sources, ..Options::default() }, slow).await;
    // What is not signed uses up nobody's room.
    for _ in 0..5 {
        web.send(standard("shop", "m", NOW_S, WRONG_SECRET, EVENT)).await.is_problem(401, "bad_signature");
    }
    for n in 0..2 {
        let body = format!(r#"{{"type":"t","data":{{"id":{n}}}}}"#);
        web.send(standard("shop", "m", NOW_S, SECRET, &body)).await.is(202);
    }

    let got = web.send(standard("shop", "m", NOW_S, SECRET, EVENT)).await.is_problem(429, "too_many_requests");

    assert_eq!(got.header("retry-after"), "1");
    web.request("GET", "/v1/runs", Some(web.token(KeyScope::Auditor)), "").await.is(200);
}

#[tokio::test]
async fn hc_10_a_new_envelope_is_the_same_event_where_the_flow_names_what_identifies() {
    let whole = web().await;
    let named = ["/params/name".to_owned(), "/params/arguments".to_owned()];
    let part = Web::with(Options { sources, identity: named.to_vec(), ..Options::default() }).await;
    let send = async |web: &Web, file: &str| answered(&plain(web, ("idempotency-key", "K"), &text(file)).await).1;

    let by_all = [send(&whole, "hc10-1.json").await, send(&whole, "hc10-2.json").await];
    let by_part =
        [send(&part, "hc10-1.json").await, send(&part, "hc10-2.json").await, send(&part, "hc10-3.json").await];

    assert_eq!(by_all, ["accepted", "conflict"]);
    assert_eq!(by_part, ["accepted", "duplicate", "conflict"]);
    assert_eq!((whole.runs().await, part.runs().await), (1, 1));
}

#[tokio::test]
async fn hc_11_a_key_in_the_body_has_one_length_and_is_never_cut() {
    let web = web().await;
    for (length, reason) in [(100, None), (127, None), (128, None), (255, None), (256, Some("no_key"))] {
        let key = text(&format!("hc11-key-{length}.txt")).trim_end().to_owned();
        let body = json!({ "key": key }).to_string();
        let got = web.send(Request::post("/in/open-body").body(body.into()).unwrap()).await;
        match reason {
            None => assert_eq!(run_of(&web, &got.is(202)).await["key"], key),
            Some(reason) => assert_eq!(got.is(200).json()["reason"], reason),
        }
    }
    assert_eq!(web.runs().await, 5);
}

#[tokio::test]
async fn hc_13_keys_that_name_no_event_reserve_nothing_under_them() {
    let web = web().await;
    let lines: Vec<Value> = text("hc13-keys.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() > 5);
    let others = [json!(true), json!([17]), json!(null), json!({})];
    let keys = lines.iter().map(|line| line.get("key").unwrap_or(line)).chain(&others);

    for (n, key) in keys.enumerate() {
        let body = json!({"key": key, "n": n}).to_string();
        let got = web.send(Request::post("/in/open-body").body(body.into()).unwrap()).await.is(200);
        assert_eq!((&got.json()["answer"], &got.json()["reason"]), (&json!("quarantined"), &json!("no_key")), "{key}");
        let kept = run_of(&web, &got).await;
        assert!(kept["key"].as_str().unwrap().starts_with("in:open-body:sha256:"), "{key}");
    }
    for header in ["", "\"\"", "   ", "undefined", "null", "{{ $json.id }}"] {
        let got = plain(&web, ("idempotency-key", header), &json!({ "h": header }).to_string()).await;
        assert_eq!(answered(&got), (200, "quarantined".into()), "{header:?}");
    }
    let absent = web.send(Request::post("/in/open").body("{}".into()).unwrap()).await;
    assert_eq!((answered(&absent), &absent.json()["reason"]), ((200, "quarantined".into()), &json!("no_key")));
    let claimed = web.post("/v1/runs/claim", r#"{"flow":"ticket","owner":"w"}"#).await.is(200);
    assert_eq!(claimed.json()["answer"], "none");
}

/// A handed raw request, aimed at the door whose key is that header.
fn aimed(file: &str) -> Vec<u8> {
    let raw = data(file);
    let at = raw.windows(2).position(|w| w == b"\r\n").unwrap();
    [b"POST /in/open HTTP/1.1\r\nConnection: close".as_slice(), &raw[at..]].concat()
}

#[tokio::test]
async fn hc_12_two_keys_on_one_delivery_are_no_key_and_both_spellings_are_one() {
    let web = web().await;
    let server = web.serve().await;
    for (file, answer) in
        [("hc12-different.http", "quarantined"), ("hc12-listed.http", "duplicate"), ("hc12-same.http", "duplicate")]
    {
        let got = server.raw(&aimed(file)).await;
        // The three have one body, so they are one event that nobody works on.
        assert!(got.contains(&format!("\"answer\":\"{answer}\"")), "{file}: {got}");
        assert!(got.contains("\"state\":\"quarantined\""), "{file}: {got}");
    }

    let quoted = server.raw(&aimed("hc12-quoted.http")).await;
    let plain = server.raw(&aimed("hc12-plain.http")).await;

    assert!(quoted.starts_with("HTTP/1.1 202"), "{quoted}");
    assert!(plain.starts_with("HTTP/1.1 200") && plain.contains("\"answer\":\"duplicate\""), "{plain}");
    let runs = web.get("/v1/runs?limit=200").await.json()["runs"].as_array().unwrap().clone();
    let mut keys: Vec<_> = runs.iter().map(|run| run["key"].as_str().unwrap()).collect();
    keys.sort();
    assert!(keys[0].starts_with("in:open:sha256:") && keys[1..] == ["pay-17"], "{keys:?}");
    server.stop().await;
}

#[tokio::test]
async fn hc_11_a_key_beyond_ascii_in_a_header_is_no_key_and_never_another_text() {
    let web = web().await;
    let server = web.serve().await;

    let got = server.raw(&aimed("hc11-request.http")).await;

    assert!(got.starts_with("HTTP/1.1 200") && got.contains("\"reason\":\"no_key\""), "{got}");
    let run = web.get("/v1/runs?limit=200").await.json()["runs"][0].clone();
    assert!(run["key"].as_str().unwrap().starts_with("in:open:sha256:"), "{run}");
    let id = run["id"].as_str().unwrap();
    let told = web.get(&format!("/v1/runs/{id}/explain")).await.json();
    assert!(told["timeline"][0]["text"].as_str().unwrap().contains("header_not_ascii"), "{told}");
    server.stop().await;
}

#[tokio::test]
async fn a_delivery_in_chunks_is_the_same_and_one_that_breaks_off_is_none() {
    let web = web().await;
    let server = web.serve().await;
    let request = standard("shop", "msg_1", NOW_S, SECRET, EVENT);
    let headers: String = request
        .headers()
        .iter()
        .fold(String::new(), |all, (name, value)| format!("{all}{name}: {}\r\n", value.to_str().unwrap()));
    let head = format!("POST /in/shop HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}");
    let (first, second) = EVENT.split_at(9);
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{}{}", chunk(first), chunk(second));
    let fixed = format!("{head}Content-Length: {}\r\n\r\n{EVENT}", EVENT.len());

    let mut broken_off = server.connect().await;
    broken_off.write_all(chunked.as_bytes()).await.unwrap();
    drop(broken_off);
    let whole = server.raw(format!("{chunked}0\r\n\r\n").as_bytes()).await;
    let again = server.raw(fixed.as_bytes()).await;

    assert!(whole.starts_with("HTTP/1.1 202"), "nothing was kept of the one that broke off: {whole}");
    assert!(again.starts_with("HTTP/1.1 200") && again.contains("\"answer\":\"duplicate\""), "{again}");
    assert_eq!(web.runs().await, 1);
    server.stop().await;
}
