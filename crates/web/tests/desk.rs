//! Operators, auditors and people: decide over a session, cancel, resolve, switches, explain, the journal.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use axum::body::Body;
use common::{Got, Options, PAYLOAD, ProviderAnswer, Web};
use effectgate_core::{actor::Actor, gate::Gate, ids::Tenant};
use effectgate_engine::{keys::KeyScope::SwitchOwner, people::UserPut};
use http::Request;
use serde_json::{Value, json};

const NOTE: &str = r#"{"owner":"w","fence":1,"effects":[{"type":"note","target":"a","payload":{"text":"hello"}}]}"#;

async fn proposed(web: &Web, key: &str) -> Value {
    let run = web.reserve(key, PAYLOAD, "w").await.is(201).json()["run"]["id"].as_str().unwrap().to_owned();
    web.post(&format!("/v1/runs/{run}/proposal"), NOTE).await.is(200).json()
}

async fn waiting() -> (Web, Value) {
    let web = Web::with(Options { gate: Gate::Approve, ..Options::default() }).await;
    let approval = proposed(&web, "K").await["approval"].clone();
    (web, approval)
}

/// A signed-in person's cookie.
async fn cookie(web: &Web, name: &str) -> String {
    let tenant = Tenant::new("default");
    let put = UserPut {
        name: name.into(),
        email: None,
        password_hash: Some("not looked at here".into()),
        roles: vec!["approver".into(), "support-lead".into()],
    };
    let engine = &web.world.engine;
    engine.user_put(&tenant, &Actor::System("test"), &put).await.unwrap();
    let account = engine.account(&tenant, name).await.unwrap().unwrap();
    format!(
        "effectgate-session={}",
        engine.session_open(&account, "", &effectgate_engine::sessions::SessionLimits::default()).await.unwrap().0
    )
}

async fn decide(web: &Web, cookie: &str, approval: &Value, body: Value, headers: &[(&str, &str)]) -> Got {
    let path = format!("/v1/approvals/{}/decide", approval["id"].as_str().unwrap());
    let mut request = Request::post(path).header("cookie", cookie);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    web.send(request.body(Body::from(body.to_string())).unwrap()).await
}

const PROGRAM: &[(&str, &str)] = &[("content-type", "application/json"), ("effectgate-csrf", "1")];

#[tokio::test]
async fn a_signed_in_person_decides_once_and_again_is_the_same_answer() {
    let (web, approval) = waiting().await;
    let cookie = cookie(&web, "anna").await;
    let yes = json!({"decision": "approve", "effects_hash": approval["effects_hash"]});

    let first = decide(&web, &cookie, &approval, yes.clone(), PROGRAM).await.is(200).json();
    let again = decide(&web, &cookie, &approval, yes, PROGRAM).await.is(200).json();

    assert_eq!((&first["decision"], &first["repeated"]), (&json!("approve"), &json!(false)));
    assert_eq!((&first["run"]["state"], &again["repeated"]), (&json!("approved"), &json!(true)));
    let no = json!({"decision": "reject", "effects_hash": approval["effects_hash"], "reason": "late"});
    let over = decide(&web, &cookie, &approval, no, PROGRAM).await.is_problem(409, "approval_over").json();
    assert_eq!(over["approval"]["decisions"][0]["subject"], "user:anna");
    web.world.dispatch().await;
    assert_eq!(web.world.provider.seen().len(), 1);
}

#[tokio::test]
async fn a_wish_that_cannot_be_is_refused_and_the_approval_stays_open() {
    let (web, approval) = waiting().await;
    let cookie = cookie(&web, "anna").await;
    let hash = approval["effects_hash"].clone();
    let table = [
        (json!({"decision": null, "effects_hash": hash}), 400, "bad_member"),
        (json!({"decision": "yes", "effects_hash": hash}), 400, "bad_member"),
        (json!({"effects_hash": hash}), 400, "missing_member"),
        (json!({"decision": "approve"}), 400, "missing_member"),
        (json!({"decision": "edit", "effects_hash": hash, "effects": []}), 422, "invalid_edit"),
        (json!({"decision": "approve", "effects_hash": hash, "effects": []}), 400, "bad_member"),
        (json!({"decision": "approve", "effects_hash": "sha256:x"}), 400, "bad_member"),
        (json!({"decision": "reject", "effects_hash": hash}), 400, "reason_required"),
        (json!({"decision": "reject", "effects_hash": hash, "reason": "x".repeat(2_001)}), 400, "reason_too_long"),
        (json!({"decision": "approve", "effects_hash": format!("sha256:{}", "0".repeat(64))}), 409, "effects_changed"),
    ];
    for (body, status, code) in table {
        decide(&web, &cookie, &approval, body, PROGRAM).await.is_problem(status, code);
    }
    let path = format!("/v1/approvals/{}", approval["id"].as_str().unwrap());
    let now = web.get(&path).await.is(200).json();
    assert_eq!((&now["state"], &now["decisions"]), (&json!("open"), &json!([])));
    assert_eq!(now["effects"][0]["payload"], json!({"text": "hello"}));
}

#[tokio::test]
async fn hc_33_a_foreign_page_decides_nothing() {
    let (web, approval) = waiting().await;
    let cookie = cookie(&web, "anna").await;
    let yes = json!({"decision": "approve", "effects_hash": approval["effects_hash"]});
    let json_type = ("content-type", "application/json");
    let cases: [(&[(&str, &str)], u16); 6] = [
        (&[("content-type", "text/plain"), ("effectgate-csrf", "1")], 415),
        (&[("content-type", "application/x-www-form-urlencoded"), ("effectgate-csrf", "1")], 415),
        (&[("effectgate-csrf", "1")], 415),
        (&[json_type], 403),
        (&[json_type, ("origin", "https://attacker.test"), ("effectgate-csrf", "1")], 403),
        (&[json_type, ("sec-fetch-site", "cross-site")], 403),
    ];
    for (headers, status) in cases {
        decide(&web, &cookie, &approval, yes.clone(), headers).await.is(status);
        let mut turn = Request::put("/v1/switches").header("cookie", &cookie);
        for (name, value) in headers {
            turn = turn.header(*name, *value);
        }
        let body = r#"{"scope":"all","enabled":false,"reason":"x"}"#;
        let got = web.send(turn.body(Body::from(body)).unwrap()).await;
        assert!(matches!(got.status.as_u16(), 403 | 415), "{}", got.text);
    }
    let state = web.get("/v1/approvals?state=open").await.json()["approvals"][0]["state"].clone();
    assert_eq!(state, "open");
}

#[tokio::test]
async fn an_effect_that_has_not_left_is_cancelled_with_a_reason() {
    let web = Web::new().await;
    let run = proposed(&web, "K").await["run"].clone();
    let effect = format!("/v1/effects/{}", run["effects"][0]["id"].as_str().unwrap());

    web.operate(&format!("{effect}/cancel"), "{}").await.is_problem(400, "reason_required");
    web.operate(&format!("{effect}/cancel"), r#"{"reason":" "}"#).await.is_problem(400, "reason_required");
    let got = web.operate(&format!("{effect}/cancel"), r#"{"reason":"called off"}"#).await.is(200).json();

    assert_eq!((&got["run"]["state"], &got["run"]["reason"]), (&json!("failed_terminal"), &json!("cancelled")));
    let again = web.operate(&format!("{effect}/cancel"), r#"{"reason":"called off"}"#).await;
    assert_eq!(again.is_problem(409, "wrong_state").json()["run"]["state"], "failed_terminal");
    assert_eq!(web.get(&effect).await.is(200).json()["state"], "cancelled");
}

#[tokio::test]
async fn an_unknown_effect_is_settled_on_a_persons_word() {
    let web = Web::new().await;
    web.world.provider.push(ProviderAnswer::AcceptThenDrop);
    let run = proposed(&web, "K").await["run"].clone();
    web.world.dispatch().await;
    let effect = format!("/v1/effects/{}", run["effects"][0]["id"].as_str().unwrap());
    let found = web.get("/v1/effects?state=unknown,review").await.is(200).json();
    assert_eq!((&found["effects"][0]["id"], &found["effects"][0]["run_id"]), (&run["effects"][0]["id"], &run["id"]));

    let bad = [
        (r#"{"verdict":"did_not_happen","reason":"x"}"#, "missing_member"),
        (r#"{"verdict":"happened","then":"cancel","reason":"x"}"#, "bad_member"),
        (r#"{"verdict":"did_not_happen","then":"cancel","external_id":"1","reason":"x"}"#, "bad_member"),
        (r#"{"verdict":"happened","external_id":"a\u0000","reason":"x"}"#, "bad_member"),
        (r#"{"verdict":"perhaps","reason":"x"}"#, "bad_member"),
        (r#"{"verdict":"happened"}"#, "reason_required"),
    ];
    for (body, code) in bad {
        web.operate(&format!("{effect}/resolve"), body).await.is_problem(400, code);
    }
    let word = r#"{"verdict":"happened","external_id":"N-1","reason":"it is in their list"}"#;
    let got = web.operate(&format!("{effect}/resolve"), word).await.is(200).json();

    let settled = &got["run"]["effects"][0];
    assert_eq!((&got["run"]["state"], &settled["external_id"]), (&json!("completed"), &json!("N-1")));
    let told = web.get(&format!("/v1/runs/{}/explain", run["id"].as_str().unwrap())).await.is(200).json();
    assert_eq!((&told["sent"], &told["reason"]["code"]), (&json!("yes"), &json!("completed")));
    assert_eq!(told["effects"][0]["attempts"][0]["outcome"], "unknown");
    assert!(told["timeline"].as_array().unwrap().iter().any(|m| m["kind"] == "effect_resolved"));
}

#[tokio::test]
async fn a_word_that_names_its_attempt_sends_once_however_often_it_comes() {
    let web = Web::new().await;
    web.world.provider.push(ProviderAnswer::AcceptThenDrop);
    web.world.provider.push(ProviderAnswer::AcceptThenDrop);
    let run = proposed(&web, "K").await["run"].clone();
    web.world.dispatch().await;
    let effect = format!("/v1/effects/{}", run["effects"][0]["id"].as_str().unwrap());
    assert_eq!(web.get(&effect).await.json()["fence"], 1);
    let word = r#"{"verdict":"did_not_happen","then":"send_again","fence":1,"reason":"not in their list"}"#;
    web.operate(&format!("{effect}/resolve"), word).await.is(200);
    web.world.dispatch().await;
    let seen = web.get(&effect).await.json();
    assert_eq!((&seen["fence"], &seen["attempts"]), (&json!(2), &json!(2)), "the second was lost as well");

    // The client that never saw the first answer, and somebody who says something else about that attempt.
    web.operate(&format!("{effect}/resolve"), word).await.is(200);
    let other = word.replace("send_again", "cancel");
    let refused = web.operate(&format!("{effect}/resolve"), other).await.is_problem(409, "wrong_state").json();
    web.world.dispatch().await;

    assert_eq!(refused["run"]["effects"][0]["fence"], 2);
    assert_eq!(web.get(&effect).await.json(), seen, "nothing more was sent or settled");
}

#[tokio::test]
async fn a_quarantined_run_is_released_or_closed() {
    let web = Web::new().await;
    let run = web.reserve("K", PAYLOAD, "w").await.json()["run"]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{run}");
    web.post(&format!("{path}/fail"), r#"{"owner":"w","fence":1,"class":"semantic"}"#).await.is(200);
    assert_eq!(web.get(&path).await.json()["state"], "quarantined");

    let released = web.operate(&format!("{path}/release"), r#"{"reason":"prompt mended"}"#).await.is(200).json();

    assert_eq!(released["run"]["state"], "queued");
    let close = web.operate(&format!("{path}/close"), r#"{"reason":"x"}"#).await;
    close.is_problem(409, "wrong_state");
}

#[tokio::test]
async fn a_switch_is_turned_with_a_reason_and_answers_with_a_receipt() {
    let web = Web::new().await;
    let run = proposed(&web, "K").await["run"].clone();
    let put =
        async |body: &str| web.request("PUT", "/v1/switches", Some(web.token(SwitchOwner)), body.to_owned()).await;

    put(r#"{"scope":"provider","name":"crm","enabled":false}"#).await.is_problem(400, "reason_required");
    put(r#"{"scope":"provider","name":"nope","enabled":false,"reason":"x"}"#).await.is_problem(400, "bad_member");
    put(r#"{"scope":"planet","enabled":false,"reason":"x"}"#).await.is_problem(400, "bad_member");
    put(r#"{"scope":"all","enabled":null,"reason":"x"}"#).await.is_problem(400, "bad_member");
    put(r#"{"scope":"all","reason":"x"}"#).await.is_problem(400, "missing_member");
    let off = put(r#"{"scope":"provider","name":"crm","enabled":false,"reason":"drill"}"#).await.is(200).json();

    assert_eq!(off["receipt"]["queued"], 1);
    let switch = &off["switches"][0];
    assert_eq!(
        (&switch["scope"], &switch["enabled"], &switch["by"]),
        (&json!("provider"), &json!(false), &json!("key:switch_owner"))
    );
    let effect = web.get(&format!("/v1/runs/{}", run["id"].as_str().unwrap())).await.json()["effects"][0].clone();
    assert_eq!((&effect["state"], &effect["reason"]), (&json!("pending"), &json!("switch_off")));
    web.world.dispatch().await;
    assert_eq!(web.world.provider.seen().len(), 0);
    assert_eq!(web.get("/v1/switches").await.is(200).json()["switches"], off["switches"]);
}

#[tokio::test]
async fn the_journal_verifies_and_leaves_whole() {
    let web = Web::new().await;
    for key in ["A", "B", "C"] {
        proposed(&web, key).await;
    }
    web.world.dispatch().await;

    let verified = web.get("/v1/journal/verify").await.is(200).json();
    let export = web.get("/v1/journal/export").await.is(200);

    // Three runs and the house, where the keys were made.
    assert_eq!((&verified["verified"], &verified["chains"]), (&json!(true), &json!(4)));
    assert_eq!((&verified["broken"], &verified["next_cursor"]), (&json!([]), &Value::Null));
    assert_eq!(export.header("content-type"), "application/x-ndjson");
    let lines: Vec<Value> = export.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (end, entries) = lines.split_last().unwrap();
    assert_eq!(end, &json!({"end": true, "chains": 4, "entries": entries.len()}));
    assert_eq!(verified["entries"], entries.len());
    for line in export.text.lines().filter(|line| !line.contains("\"end\":true")) {
        let (_, entry) = line.split_once("\"entry\":").unwrap();
        let hashed = effectgate_core::digest::Digest::of(&entry.as_bytes()[..entry.len() - 1]);
        assert!(line.contains(&format!("\"hash\":\"{hashed}\"")), "the hash is over the bytes as they stand: {line}");
    }
    web.get("/v1/journal/verify?cursor=x").await.is_problem(400, "bad_parameter");
}

#[tokio::test]
async fn a_runs_journal_comes_in_pages() {
    let web = Web::new().await;
    let run = proposed(&web, "K").await["run"]["id"].as_str().unwrap().to_owned();

    let first = web.get(&format!("/v1/runs/{run}/journal?limit=2")).await.is(200).json();
    let after = first["next_after"].as_i64().unwrap();
    let rest = web.get(&format!("/v1/runs/{run}/journal?after={after}")).await.is(200).json();

    assert_eq!((&first["entries"][0]["kind"], &first["entries"][0]["seq"]), (&json!("reserved"), &json!(1)));
    assert_eq!((&first["entries"][1]["entry"]["prev_hash"], after), (&first["entries"][0]["hash"], 2));
    assert_eq!((&rest["entries"][0]["seq"], &rest["next_after"]), (&json!(3), &Value::Null));
}
