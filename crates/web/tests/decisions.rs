//! What people do about approvals over the API: edit and approve, take back, read what they were asked.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use axum::body::Body;
use common::{Got, Options, PAYLOAD, Web};
use effectgate_core::{actor::Actor, gate::Gate, ids::Tenant};
use effectgate_engine::{keys::KeyScope, people::UserPut, sessions::SessionLimits};
use http::Request;
use serde_json::{Value, json};

const NOTE: &str = r#"{"owner":"w","fence":1,"requested_by":"user:rita",
    "effects":[{"type":"note","target":"a","payload":{"text":"hello","n":9007199254740993}}]}"#;

async fn proposed(web: &Web) -> Value {
    let run = web.reserve("K", PAYLOAD, "w").await.is(201).json()["run"]["id"].as_str().unwrap().to_owned();
    web.post(&format!("/v1/runs/{run}/proposal"), NOTE).await.is(200).json()
}

async fn waiting() -> (Web, Value) {
    let web = Web::with(Options { gate: Gate::Approve, ..Options::default() }).await;
    let approval = proposed(&web).await["approval"].clone();
    (web, approval)
}

/// The cookie of a person who holds these roles.
async fn cookie(web: &Web, name: &str, roles: &[&str]) -> String {
    let (tenant, engine) = (Tenant::new("default"), &web.world.engine);
    let put = UserPut {
        name: name.into(),
        email: None,
        password_hash: Some("not looked at here".into()),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
    };
    engine.user_put(&tenant, &Actor::System("test"), &put).await.unwrap();
    let account = engine.account(&tenant, name).await.unwrap().unwrap();
    format!("effectgate-session={}", engine.session_open(&account, "", &SessionLimits::default()).await.unwrap().0)
}

async fn lead(web: &Web, name: &str) -> String {
    cookie(web, name, &["support-lead"]).await
}

async fn post(web: &Web, cookie: &str, path: &str, body: Value) -> Got {
    let request = Request::post(path).header("cookie", cookie).header("content-type", "application/json");
    web.send(request.header("effectgate-csrf", "1").body(Body::from(body.to_string())).unwrap()).await
}

async fn get(web: &Web, cookie: &str, path: &str) -> Got {
    web.send(Request::get(path).header("cookie", cookie).body(Body::empty()).unwrap()).await
}

fn path(approval: &Value) -> String {
    format!("/v1/approvals/{}", approval["id"].as_str().unwrap())
}

async fn decide(web: &Web, cookie: &str, approval: &Value, body: Value) -> Got {
    post(web, cookie, &format!("{}/decide", path(approval)), body).await
}

fn edit(approval: &Value, effects: Value) -> Value {
    json!({"decision": "edit", "effects_hash": approval["effects_hash"], "effects": effects})
}

#[tokio::test]
async fn an_edit_waits_for_somebody_else_and_then_its_text_goes_out() {
    let (web, approval) = waiting().await;
    let (anna, bo) = (lead(&web, "anna").await, lead(&web, "bo").await);
    let body = edit(&approval, json!([{"type": "note", "target": "a", "payload": {"text": "mended"}}]));

    let first = decide(&web, &anna, &approval, body.clone()).await.is(200).json();
    let again = decide(&web, &anna, &approval, body).await.is(200).json();

    assert_eq!(
        (&first["decision"], &first["repeated"], &again["repeated"]),
        (&json!("edit"), &json!(false), &json!(true))
    );
    assert_eq!(first["run"]["state"], "awaiting_human");
    let now = first["run"]["approval"].clone();
    assert_eq!((&now["approvals"], &now["wanted"], &now["wanted_by_non_editor"]), (&json!(1), &json!(1), &json!(true)));
    let changes = json!([{"effect": 0, "pointer": "/n", "kind": "removed"}, {"effect": 0, "pointer": "/text", "kind": "changed"}]);
    assert_eq!(now["edits"][0]["changes"], changes, "whoever sees the run sees where, not what");

    let yes = |hash: &Value| json!({"decision": "approve", "effects_hash": hash});
    let late = decide(&web, &bo, &approval, yes(&approval["effects_hash"])).await.is_problem(409, "effects_changed");
    assert!(late.text.contains(r#""before":9007199254740993"#), "every digit: {}", late.text);
    let late = late.json();
    assert_eq!((&late["changes"][1]["before"], &late["changes"][1]["after"]), (&json!("hello"), &json!("mended")));
    assert_eq!(late["effects_hash"], now["effects_hash"]);
    let shown = get(&web, &bo, &path(&approval)).await.is(200).json();
    assert_eq!(
        (&shown["edits"][0]["by"], &shown["edits"][0]["changes"][1]["after"]),
        (&json!("user:anna"), &json!("mended"))
    );
    assert_eq!(shown["effects"][0]["payload"], json!({"text": "mended"}));

    let done = decide(&web, &bo, &approval, yes(&shown["effects_hash"])).await.is(200).json();
    assert_eq!((&done["run"]["state"], &done["run"]["approval"]["outcome"]), (&json!("approved"), &json!("approved")));
    web.world.dispatch().await;
    assert_eq!(web.world.provider.seen().len(), 1);
    let journal = web.get(&format!("/v1/runs/{}/journal", approval["run_id"].as_str().unwrap())).await.is(200).text;
    assert!(journal.contains("\"edited\"") && !journal.contains("mended"), "{journal}");
}

#[tokio::test]
async fn an_edit_that_cannot_be_is_refused_with_every_finding_and_the_approval_stays_open() {
    let (web, approval) = waiting().await;
    let anna = lead(&web, "anna").await;
    let note = |payload: Value| json!([{"type": "note", "target": "a", "payload": payload}]);
    let same = r#"[{"type":"note","payload":{"n":9007199254740993,"text":"hello"}}]"#;
    let table = [
        (json!({"decision": "edit", "effects_hash": approval["effects_hash"]}), 400, "missing_member", "/effects"),
        (edit(&approval, json!([])), 422, "invalid_edit", "/effects"),
        (
            edit(&approval, json!([{"type": "mail", "target": "a", "payload": {}}])),
            422,
            "invalid_edit",
            "/effects/0/type",
        ),
        (
            edit(&approval, json!([{"type": "note", "target": "b", "payload": {}}])),
            422,
            "invalid_edit",
            "/effects/0/target",
        ),
        (edit(&approval, json!([{"type": "note", "target": "a"}])), 400, "missing_member", "/effects/0/payload"),
        (
            edit(&approval, json!([{"type": "note", "payload": {}, "provider": "x"}])),
            400,
            "unknown_member",
            "/effects/0/provider",
        ),
        (edit(&approval, serde_json::from_str(same).unwrap()), 400, "nothing_changed", "/effects"),
        (
            json!({"decision": "approve", "effects_hash": approval["effects_hash"], "effects": note(json!({}))}),
            400,
            "bad_member",
            "/effects",
        ),
    ];
    for (body, status, code, pointer) in table {
        let got = decide(&web, &anna, &approval, body).await.is_problem(status, code).json();
        let at = if code == "invalid_edit" { &got["errors"][0]["pointer"] } else { &got["pointer"] };
        assert_eq!(at, pointer, "{got}");
    }
    let now = get(&web, &anna, &path(&approval)).await.is(200).json();
    assert_eq!((&now["state"], &now["decisions"], &now["edits"]), (&json!("open"), &json!([]), &json!([])));
}

#[tokio::test]
async fn operators_and_the_person_who_asked_take_a_question_back() {
    let reason = json!({"reason": "sent by mistake"});
    for (who, status) in [("rita", 200), ("anna", 403), ("olga", 200)] {
        let (web, approval) = waiting().await;
        let roles = if who == "olga" { vec!["operator"] } else { vec!["support-lead", "approver"] };
        let cookie = cookie(&web, who, &roles).await;
        let path = format!("{}/withdraw", path(&approval));

        if status == 200 {
            post(&web, &cookie, &path, json!({})).await.is_problem(400, "reason_required");
        }
        let got = post(&web, &cookie, &path, reason.clone()).await.is(status).json();

        if status == 403 {
            assert_eq!(got["code"], "forbidden", "{who}");
            continue;
        }
        assert_eq!((&got["repeated"], &got["run"]["reason"]), (&json!(false), &json!("approval_withdrawn")), "{who}");
        assert_eq!(got["run"]["approval"]["withdrawn"]["reason"], "sent by mistake");
        assert_eq!(post(&web, &cookie, &path, reason.clone()).await.is(200).json()["repeated"], true);
        let by_key = web.operate(&path, reason.to_string()).await;
        assert_eq!(by_key.is_problem(409, "wrong_state").json()["run"]["approval"]["outcome"], "withdrawn");
    }
}

#[tokio::test]
async fn people_read_the_approvals_they_have_a_part_in() {
    let (web, approval) = waiting().await;
    let table: [(&str, &[&str], usize, u16); 7] = [
        // who      roles                    in the list   the whole of it
        ("anna", &["support-lead"], 1, 200),
        ("rita", &[], 0, 200),
        ("dora", &["another-role"], 0, 404),
        ("vera", &["viewer"], 1, 403),
        ("paul", &["approver"], 1, 403),
        ("olga", &["operator"], 1, 200),
        ("axel", &["auditor"], 1, 200),
    ];
    for (who, roles, listed, status) in table {
        let cookie = cookie(&web, who, roles).await;
        for state in ["?state=open", ""] {
            let list = get(&web, &cookie, &format!("/v1/approvals{state}")).await.is(200).json();
            // Who asked finds it by its id; the inbox is for those who are asked.
            let expected = if who == "rita" && state.is_empty() { 1 } else { listed };
            assert_eq!(list["approvals"].as_array().unwrap().len(), expected, "{who} {state}");
        }
        get(&web, &cookie, &path(&approval)).await.is(status);
    }
    let by_key = async |scope| web.request("GET", &path(&approval), Some(web.token(scope)), "").await.status.as_u16();
    assert_eq!((by_key(KeyScope::Approver).await, by_key(KeyScope::Viewer).await), (200, 403));
}

#[tokio::test]
async fn within_the_window_whoever_is_asked_in_the_flow_cancels_without_being_an_operator() {
    let web = Web::with(Options { gate: Gate::CancelWindow { window_ms: 60_000 }, ..Options::default() }).await;
    let run = proposed(&web).await["run"].clone();
    let path = format!("/v1/effects/{}/cancel", run["effects"][0]["id"].as_str().unwrap());
    let reason = json!({"reason": "the customer called"});
    let (dora, anna) = (cookie(&web, "dora", &["viewer"]).await, lead(&web, "anna").await);

    post(&web, &dora, &path, reason.clone()).await.is_problem(403, "forbidden");
    let got = post(&web, &anna, &path, reason).await.is(200).json();

    assert_eq!(got["run"]["effects"][0]["state"], "cancelled");
}
