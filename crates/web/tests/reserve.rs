//! Reserving over HTTP: each answer as WIRE has it, every refusal with its code and pointer, and the handed cases about
//! keys and payloads.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{FLOW, Options, PAYLOAD, Web, data, text};
use effectgate_engine::keys::KeyScope;
use http::Request;
use serde_json::{Value, json};

#[tokio::test]
async fn a_new_key_is_granted_with_its_lease() {
    let web = Web::new().await;

    let got = web.reserve("a:b:c:1", PAYLOAD, "w1").await.is(201);

    let body = got.json();
    assert_eq!((&body["answer"], &body["repeated"]), (&json!("granted"), &json!(false)));
    assert_eq!((&body["lease"]["owner"], &body["lease"]["fence"]), (&json!("w1"), &json!(1)));
    let run = &body["run"];
    assert_eq!((&run["state"], &run["key"], &run["flow"]), (&json!("processing"), &json!("a:b:c:1"), &json!(FLOW)));
    assert_eq!((&run["attempts"], &run["attempts_max"], &run["version"]), (&json!(1), &json!(5), &json!(1)));
    assert!(run["payload_hash"].as_str().unwrap().starts_with("v1:sha256:"));
    for member in ["reason", "correlation_id", "result", "approval", "corrects", "expires_at"] {
        assert!(run.as_object().unwrap().contains_key(member) && run[member].is_null(), "{member}");
    }
    assert_eq!(run["effects"], json!([]));
    assert_eq!(run["created_at"], "2026-09-21T14:13:20.000Z");
    assert_eq!(body["lease"]["expires_at"], "2026-09-21T14:14:20.000Z");
    assert_eq!(body["lease"]["renew_before"], "2026-09-21T14:14:00.000Z");
}

#[tokio::test]
async fn the_same_owner_gets_the_same_grant_and_another_is_told_to_wait() {
    let web = Web::new().await;
    web.reserve("k:1:2:3", PAYLOAD, "w1").await.is(201);

    let again = web.reserve("k:1:2:3", PAYLOAD, "w1").await.is(201).json();
    let other = web.reserve("k:1:2:3", PAYLOAD, "w2").await.is(202);

    assert_eq!((&again["repeated"], &again["lease"]["fence"]), (&json!(true), &json!(1)));
    assert_eq!(other.json()["answer"], "busy");
    assert_eq!(other.header("retry-after"), "30");
    assert!(other.json()["retry_after_ms"].as_i64().unwrap() > 0);
}

#[tokio::test]
async fn hc_02_a_duplicate_is_told_the_real_run() {
    let web = Web::new().await;
    web.reserve("K", PAYLOAD, "A").await.is(201);

    let busy = web.reserve("K", PAYLOAD, "B").await.is(202).json();
    let id = busy["run"]["id"].as_str().unwrap();
    let path = format!("/v1/runs/{id}");
    let before = web.get(&path).await.is(200).json();
    let done = r#"{"owner":"A","fence":1,"result":{"crm_id":"N-1"}}"#;
    web.post(&format!("{path}/complete"), done).await.is(200);
    let after = web.get(&path).await.is(200).json();
    let replay = web.reserve("K", PAYLOAD, "B").await.is(200);

    assert_eq!(before["state"], "processing");
    assert_eq!((&after["state"], &after["result"]), (&json!("completed"), &json!({"crm_id": "N-1"})));
    assert_eq!(replay.header("idempotent-replayed"), "true");
    assert_eq!((&replay.json()["answer"], &replay.json()["run"]["id"]), (&json!("replay"), &json!(id)));
    assert!(replay.text.contains(r#""result":{"crm_id":"N-1"}"#));
}

#[tokio::test]
async fn hc_04_a_lease_that_is_no_lease_is_refused_everywhere() {
    let web = Web::new().await;
    web.reserve("held", PAYLOAD, "w").await.is(201);
    let run = web.reserve("held", PAYLOAD, "w").await.json()["run"]["id"].as_str().unwrap().to_owned();
    for bad in ["0", "-1", "0.4", "\"0\"", "null", "1e9", "1000000000", "true", "[]", "99999999999999999999"] {
        let body = format!(r#"{{"flow":"{FLOW}","key":"k","payload":1,"lease_ms":{bad}}}"#);
        let got = web.post("/v1/runs", body).await.is_problem(400, "bad_lease");
        assert_eq!(got.json()["pointer"], "/lease_ms", "{bad}");
        let body = format!(r#"{{"owner":"w","fence":1,"lease_ms":{bad}}}"#);
        web.post(&format!("/v1/runs/{run}/renew"), body).await.is_problem(400, "bad_lease");
        let body = format!(r#"{{"flow":"{FLOW}","lease_ms":{bad}}}"#);
        web.post("/v1/runs/claim", body).await.is_problem(400, "bad_lease");
    }
    assert_eq!(web.runs().await, 1);
}

#[tokio::test]
async fn hc_07_the_order_of_members_is_no_difference_and_the_order_of_items_is() {
    let web = Web::new().await;
    web.reserve("K", &text("hc07-a.json"), "A").await.is(201);

    web.reserve("K", &text("hc07-b.json"), "B").await.is(202);
    let conflict = web.reserve("K", &text("hc07-c.json"), "B").await.is_problem(422, "payload_conflict").json();

    assert_ne!(conflict["stored_hash"], conflict["request_hash"]);
    assert_eq!(conflict["stored_hash"], "v1:sha256:dc5501b43c6c6dd4bc3566322cb1950bc44c87259b076129e6c9ccd9c633531e");
    assert_eq!((&conflict["pointer"], &conflict["run"]["key"]), (&json!("/payload"), &json!("K")));
    assert!(conflict["differs"].as_array().unwrap().iter().any(|d| d.as_str().unwrap().starts_with("/lines")));
}

#[tokio::test]
async fn hc_08_names_beyond_the_basic_plane_are_one_payload() {
    let web = Web::new().await;
    web.reserve("K", &text("hc08-a.json"), "A").await.is(201);

    for file in ["hc08-b.json", "hc08-c.json"] {
        web.reserve("K", &text(file), "B").await.is(202);
    }
}

#[tokio::test]
async fn hc_09_integers_that_a_double_cannot_hold_stay_different() {
    let web = Web::new().await;
    web.reserve("K", &text("hc09-a.json"), "A").await.is(201);

    web.reserve("K", &text("hc09-b.json"), "B").await.is_problem(422, "payload_conflict");
    web.reserve("K", &text("hc09-c.json"), "B").await.is_problem(422, "payload_conflict");
    let infinite = web.reserve("L", &text("hc09-d.json"), "B").await.is_problem(400, "number_out_of_range");
    assert_eq!(infinite.json()["pointer"], "/payload/amount");
    web.reserve("M", &text("hc09-e.json"), "A").await.is(201);
    // One documented rule: equal decimals are equal, different decimals differ.
    web.reserve("M", &text("hc09-f.json"), "B").await.is_problem(422, "payload_conflict");
    assert_eq!(web.runs().await, 2);
}

#[tokio::test]
async fn hc_10_the_envelope_counts_unless_the_flow_names_what_identifies() {
    let whole = Web::new().await;
    whole.reserve("K", &text("hc10-1.json"), "A").await.is(201);
    let conflict = whole.reserve("K", &text("hc10-2.json"), "B").await.is_problem(422, "payload_conflict");
    let named = ["/params/name".to_owned(), "/params/arguments".to_owned()];
    let part = Web::with(Options { identity: named.to_vec(), ..Options::default() }).await;
    part.reserve("K", &text("hc10-1.json"), "A").await.is(201);

    part.reserve("K", &text("hc10-2.json"), "B").await.is(202);
    part.reserve("K", &text("hc10-3.json"), "B").await.is_problem(422, "payload_conflict");

    let differs = conflict.json()["differs"].clone();
    assert!(differs.as_array().unwrap().contains(&json!("/id")), "{differs}");
    assert!(!conflict.text.contains("p2"), "values are never told");
}

#[tokio::test]
async fn hc_11_a_key_has_one_length_on_every_way_in() {
    let web = Web::new().await;
    for length in [100, 127, 128, 255] {
        let key = text(&format!("hc11-key-{length}.txt"));
        let key = key.trim_end();
        let got = web.reserve(key, "1", "w").await.is(201).json();
        assert_eq!(got["run"]["key"], key);
        let query = percent(key);
        let found = web.get(&format!("/v1/runs?flow={FLOW}&key={query}")).await.is(200).json();
        assert_eq!(found["runs"][0]["id"], got["run"]["id"]);
    }
    let long = text("hc11-key-256.txt");
    let got = web.reserve(long.trim_end(), "1", "w").await.is_problem(400, "bad_key").json();
    assert_eq!((&got["pointer"], &got["reason"]), (&json!("/key"), &json!("too_long")));
}

fn percent(text: &str) -> String {
    text.bytes().map(|b| format!("%{b:02X}")).collect()
}

#[tokio::test]
async fn hc_13_keys_that_name_no_event_are_refused() {
    let web = Web::new().await;
    for line in text("hc13-keys.jsonl").lines().filter(|line| !line.is_empty()).chain(["17", "true", "[\"a\"]", "null"])
    {
        let body = format!(r#"{{"flow":"{FLOW}","key":{line},"payload":1}}"#);
        let got = web.post("/v1/runs", body).await.is_problem(400, "bad_key");
        assert_eq!(got.json()["pointer"], "/key", "{line}");
    }
    let absent = web.post("/v1/runs", format!(r#"{{"flow":"{FLOW}","payload":1}}"#)).await;
    assert_eq!(absent.is_problem(400, "missing_member").json()["pointer"], "/key");
    let part = r#"{"source":"a","event_type":"b","external_id":17,"version":"1"}"#;
    let parts = web.post("/v1/runs", format!(r#"{{"flow":"{FLOW}","payload":1,"key_parts":{part}}}"#)).await;
    assert_eq!(parts.is_problem(400, "bad_key").json()["pointer"], "/key_parts/external_id");
    assert_eq!(web.runs().await, 0);
}

#[tokio::test]
async fn the_key_may_come_in_a_header_and_must_be_the_same_as_in_the_body() {
    let web = Web::new().await;
    let send = async |header: &str, body: String| {
        let request = Request::post("/v1/runs")
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", web.token(KeyScope::Worker)))
            .header("idempotency-key", header);
        web.send(request.body(body.into()).unwrap()).await
    };
    let bare = |rest: &str| format!(r#"{{"flow":"{FLOW}","payload":1,"owner":"w"{rest}}}"#);

    let first = send("\"pay-17\"", bare("")).await.is(201).json();
    let plain = send("pay-17", bare(r#","key":"pay-17""#)).await.is(201).json();
    let parts = r#","key_parts":{"source":"a","event_type":"b","external_id":"c","version":"1"}"#;
    send("a:b:c:1", bare(parts)).await.is(201);
    send("a:b:c:2", bare(parts)).await.is_problem(400, "bad_key");
    send("pay-18", bare(r#","key":"pay-17""#)).await.is_problem(400, "bad_key");
    send("pay-17, pay-18", bare("")).await.is_problem(400, "bad_key");
    send("", bare("")).await.is_problem(400, "bad_key");

    assert_eq!(first["run"]["id"], plain["run"]["id"]);
    assert_eq!(web.runs().await, 2);
}

#[tokio::test]
async fn hc_18_text_that_is_no_text_has_a_lasting_code() {
    let web = Web::new().await;
    let run = web.reserve("held", PAYLOAD, "w").await.json()["run"]["id"].as_str().unwrap().to_owned();
    let cases = [
        ("hc18-high.json", "lone_surrogate"),
        ("hc18-low.json", "lone_surrogate"),
        ("hc18-swapped.json", "lone_surrogate"),
        ("hc18-bad-utf8.bin", "invalid_utf8"),
        ("hc18-cut-utf8.bin", "invalid_utf8"),
    ];
    for (file, code) in cases {
        let put = |before: &str, after: &str| [before.as_bytes(), &data(file), after.as_bytes()].concat();
        let payload = put(&format!(r#"{{"flow":"{FLOW}","key":"k","payload":"#), "}");
        let got = web.post("/v1/runs", payload).await.is_problem(400, code);
        assert!(got.json()["pointer"].as_str().unwrap().starts_with("/payload"), "{file}: {}", got.text);
        for (path, member) in [("complete", "result"), ("proposal", "output")] {
            let body = put(&format!(r#"{{"owner":"w","fence":1,"{member}":"#), "}");
            web.post(&format!("/v1/runs/{run}/{path}"), body).await.is_problem(400, code);
        }
    }
    // U+0000 is Unicode text and is kept in payloads; where it would lie in a column of its own it is refused.
    web.reserve("nul", &text("hc18-nul.json"), "w").await.is(201);
    let nul = r#"{"owner":"w","fence":1,"class":"semantic","message":"a\u0000b"}"#;
    web.post(&format!("/v1/runs/{run}/fail"), nul).await.is_problem(400, "bad_member");
    web.reserve("a\0b", "1", "w").await.is_problem(400, "bad_key");
    let pair = text("hc18-pair-ok.json");
    let body = format!(r#"{{"owner":"w","fence":1,"result":{}}}"#, pair.trim());
    let done = web.post(&format!("/v1/runs/{run}/complete"), body).await.is(200);
    assert!(done.text.contains(pair.trim()), "kept as it came: {}", done.text);
}

#[tokio::test]
async fn hc_47_a_duplicate_never_changes_the_original() {
    let web = Web::new().await;
    let granted = web.reserve("K", PAYLOAD, "A").await.is(201).json();
    let id = granted["run"]["id"].as_str().unwrap();

    web.reserve("K", PAYLOAD, "B").await.is(202);
    for (path, more) in
        [("fail", r#""class":"semantic""#), ("complete", r#""result":1"#), ("proposal", r#""output":1"#)]
    {
        let body = format!(r#"{{"owner":"B","fence":1,{more}}}"#);
        let lost = web.post(&format!("/v1/runs/{id}/{path}"), body).await.is_problem(409, "lease_lost").json();
        assert_eq!(lost["run"]["state"], "processing");
    }

    let run = web.get(&format!("/v1/runs/{id}")).await.json();
    assert_eq!((&run["state"], &run["version"]), (&json!("processing"), &granted["run"]["version"]));
    web.post(&format!("/v1/runs/{id}/complete"), r#"{"owner":"A","fence":1,"result":1}"#).await.is(200);
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_said_with_its_pointer() {
    let web = Web::new().await;
    let table = [
        (r#"{"flow":"ticket","key":"k","payload":1,"lease":5}"#, 400, "unknown_member", "/lease"),
        (
            r#"{"flow":"ticket","key":"k","payload":1,"lease_ms":5000,"lease_ms":5000}"#,
            400,
            "duplicate_member",
            "/lease_ms",
        ),
        (r#"{"flow":"ticket","key":"k","payload":{"a":{"b":1,"b":2}}}"#, 400, "duplicate_member", "/payload/a/b"),
        (r#"{"flow":"ticket","key":"k","payload":{"a":"\ud83d"}}"#, 400, "lone_surrogate", "/payload/a"),
        (r#"{"flow":"ticket","key":"k","payload":1,"trigger":{"a":{"b":1}}}"#, 400, "bad_member", "/trigger/a"),
        (r#"{"flow":"ticket","key":"k","payload":1,"trigger":{"a":0.5}}"#, 400, "bad_member", "/trigger/a"),
        (r#"{"flow":"ticket","key":"k","payload":1,"trigger":{"a":1,"a":2}}"#, 400, "duplicate_member", "/trigger/a"),
        (r#"{"key":"k","payload":1}"#, 400, "missing_member", "/flow"),
        (r#"{"flow":"ticket","key":"k"}"#, 400, "missing_member", "/payload"),
        (r#"{"flow":"ticket","key":"k","payload":1,"payload_hash":"x"}"#, 400, "bad_member", "/payload_hash"),
        (r#"{"flow":"ticket","key":"k","payload_hash":"x"}"#, 400, "bad_member", "/payload_hash"),
        (r#"{"flow":"tickets","key":"k","payload":1}"#, 400, "unknown_flow", "/flow"),
        (r#"{"flow":"ticket","key":"k","payload":1,"owner":" "}"#, 400, "bad_member", "/owner"),
        (r#"{"flow":"ticket","key":"k","payload":1,"owner":17}"#, 400, "bad_member", "/owner"),
        (r#"{"flow":"ticket","key":"k","payload":}"#, 400, "invalid_json", "/payload"),
        (r#"[]"#, 400, "bad_member", ""),
        ("", 400, "invalid_json", ""),
    ];
    for (body, status, code, pointer) in table {
        let got = web.post("/v1/runs", body).await.is_problem(status, code);
        assert_eq!(got.json()["pointer"], pointer, "{body}");
    }
    let deep = format!(r#"{{"flow":"ticket","key":"k","payload":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    web.post("/v1/runs", deep).await.is_problem(400, "too_deep");
    assert_eq!(web.runs().await, 0);
}

#[tokio::test]
async fn only_json_is_taken_as_json() {
    let web = Web::new().await;
    let body = format!(r#"{{"flow":"{FLOW}","key":"k","payload":1}}"#);
    let send = async |kind: Option<&str>| {
        let mut request =
            Request::post("/v1/runs").header("authorization", format!("Bearer {}", web.token(KeyScope::Worker)));
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        web.send(request.body(body.clone().into()).unwrap()).await
    };
    for bad in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("multipart/form-data")] {
        send(bad).await.is_problem(415, "unsupported_media_type");
    }
    send(Some("application/json; charset=utf-8")).await.is(201);
}

#[tokio::test]
async fn a_payload_hash_reserves_without_the_payload() {
    let web = Web::new().await;
    let granted = web.reserve("K", PAYLOAD, "A").await.is(201).json();
    let hash = granted["run"]["payload_hash"].as_str().unwrap();

    let body = format!(r#"{{"flow":"{FLOW}","key":"K","payload_hash":"{hash}","owner":"B"}}"#);

    web.post("/v1/runs", body).await.is(202);
}

#[tokio::test]
async fn a_batch_answers_each_reservation_as_if_it_came_alone() {
    let web = Web::new().await;
    web.reserve("held", "1", "other").await.is(201);
    let one = |key: &str| format!(r#"{{"flow":"{FLOW}","key":"{key}","payload":1,"owner":"w"}}"#);
    let body = format!(
        r#"{{"runs":[{},{},{{"flow":"ticket","key":"x","payload":1,"y":1}},{}]}}"#,
        one("a"),
        one("held"),
        one("b")
    );

    let got = web.post("/v1/runs/batch", body).await.is(200).json();

    let answers = got["answers"].as_array().unwrap();
    let seen: Vec<(i64, &Value)> = answers.iter().map(|a| (a["status"].as_i64().unwrap(), &a["body"])).collect();
    assert_eq!(seen.iter().map(|(s, _)| *s).collect::<Vec<_>>(), [201, 202, 400, 201]);
    assert_eq!((&seen[0].1["run"]["key"], &seen[1].1["answer"]), (&json!("a"), &json!("busy")));
    assert_eq!((&seen[2].1["code"], &seen[2].1["pointer"]), (&json!("unknown_member"), &json!("/y")));
    let empty = web.post("/v1/runs/batch", r#"{"runs":[]}"#).await.is_problem(400, "bad_member");
    assert_eq!(empty.json()["pointer"], "/runs");
    let many = format!(r#"{{"runs":[{}]}}"#, vec!["1"; 101].join(","));
    web.post("/v1/runs/batch", many).await.is_problem(400, "bad_member");
}

#[tokio::test]
async fn a_claim_takes_what_is_due_and_says_when_nothing_is() {
    let web = Web::new().await;
    let none = web.post("/v1/runs/claim", format!(r#"{{"flow":"{FLOW}"}}"#)).await.is(200);
    assert_eq!((none.json()["answer"].clone(), none.header("retry-after")), (json!("none"), "1"));
    let granted = web.reserve("K", PAYLOAD, "A").await.is(201).json();
    web.world.clock.advance_ms(61_000);

    let claimed = web.post("/v1/runs/claim", format!(r#"{{"flow":"{FLOW}","owner":"B"}}"#)).await.is(201).json();

    assert_eq!(claimed["run"]["id"], granted["run"]["id"]);
    assert_eq!((&claimed["lease"]["fence"], &claimed["lease"]["owner"]), (&json!(2), &json!("B")));
    web.post("/v1/runs/claim", r#"{"flow":"nope"}"#).await.is_problem(400, "unknown_flow");
}
