//! Under the lease: propose, complete, fail, inline effects; every answer again on a repeat.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{Options, PAYLOAD, Web};
use effectgate_core::gate::Gate;
use serde_json::{Value, json};

/// Reserves and says the run's path.
async fn held(web: &Web, key: &str) -> String {
    let run = web.reserve(key, PAYLOAD, "w").await.is(201).json();
    format!("/v1/runs/{}", run["run"]["id"].as_str().unwrap())
}

const NOTE: &str = r#"{"owner":"w","fence":1,"effects":[{"type":"note","target":"a","payload":{ "text" : "h\u00e9", "n": 1.50 }}],
  "model":{"name":"m","revision":"1"},"summary":"a note"}"#;

#[tokio::test]
async fn a_proposal_that_needs_nobody_is_queued_and_its_bytes_go_out_as_they_came() {
    let web = Web::new().await;
    let run = held(&web, "K").await;

    let got = web.post(&format!("{run}/proposal"), NOTE).await.is(200).json();
    let again = web.post(&format!("{run}/proposal"), NOTE).await.is(200).json();
    web.world.dispatch().await;

    assert_eq!(
        (&got["answer"], &got["repeated"], &got["run"]["state"]),
        (&json!("queued"), &json!(false), &json!("approved"))
    );
    let effect = &got["run"]["effects"][0];
    assert_eq!(
        (&effect["type"], &effect["state"], &effect["target"]),
        (&json!("note"), &json!("pending"), &json!("a"))
    );
    assert_eq!((&again["answer"], &again["repeated"]), (&json!("queued"), &json!(true)));
    assert_eq!(web.world.provider.seen()[0], r#"{ "text" : "h\u00e9", "n": 1.50 }"#);
    let done = web.get(&run).await.json();
    assert_eq!((&done["state"], &done["effects"][0]["external_id"]), (&json!("completed"), &json!("ext_1")));
}

#[tokio::test]
async fn a_proposal_for_people_waits_with_its_approval() {
    let web = Web::with(Options { gate: Gate::Approve, ..Options::default() }).await;
    let run = held(&web, "K").await;

    let got = web.post(&format!("{run}/proposal"), NOTE).await.is(200).json();

    assert_eq!((&got["answer"], &got["run"]["state"]), (&json!("waiting"), &json!("awaiting_human")));
    let approval = &got["approval"];
    assert_eq!((&approval["state"], &approval["audience"]), (&json!("open"), &json!(["role:support-lead"])));
    assert_eq!((&approval["run_id"], &approval["quorum"]), (&got["run"]["id"], &json!(1)));
    assert!(approval["effects_hash"].as_str().unwrap().starts_with("sha256:"));
    assert!(approval.get("link").is_none(), "this flow delivers its links itself");
}

#[tokio::test]
async fn an_invalid_output_lists_what_is_wrong_and_how_often_more() {
    let schema = json!({"type": "object", "required": ["label"], "properties": {"label": {"enum": ["a", "b"]}}});
    let web = Web::with(Options { output_schema: Some(schema), ..Options::default() }).await;
    let run = held(&web, "K").await;
    let body = r#"{"owner":"w","fence":1,"output":{"label":"c"},"effects":[]}"#;

    let first = web.post(&format!("{run}/proposal"), body).await.is_problem(422, "invalid_output").json();
    let repeat = web.post(&format!("{run}/proposal"), body).await.is_problem(422, "invalid_output").json();
    let text = r#"{"owner":"w","fence":1,"output_text":"maybe {\"label\":\"a\"} or {\"label\":\"b\"}","effects":[]}"#;
    let last = web.post(&format!("{run}/proposal"), text).await.is_problem(422, "invalid_output").json();

    let finding = &first["errors"][0];
    assert_eq!((&finding["pointer"], &finding["keyword"]), (&json!("/label"), &json!("enum")));
    assert_eq!((&first["repairs_left"], &first["run"]["state"]), (&json!(1), &json!("processing")));
    assert_eq!((&repeat["repeated"], &repeat["repairs_left"]), (&json!(true), &json!(1)));
    assert_eq!((&last["run"]["state"], &last["run"]["reason"]), (&json!("failed_terminal"), &json!("invalid_output")));
}

#[tokio::test]
async fn complete_gives_its_answer_again_whatever_has_happened_since() {
    let web = Web::new().await;
    let run = held(&web, "K").await;
    let body = r#"{"owner":"w","fence":1,"result":{"n":1.0,"big":9007199254740993}}"#;

    let first = web.post(&format!("{run}/complete"), body).await.is(200);
    let again = web.post(&format!("{run}/complete"), body).await.is(200);
    let other = web.post(&format!("{run}/complete"), r#"{"owner":"w","fence":1,"result":2}"#).await;

    assert!(first.text.contains(r#""result":{"n":1.0,"big":9007199254740993}"#), "{}", first.text);
    assert_eq!((&first.json()["repeated"], &again.json()["repeated"]), (&json!(false), &json!(true)));
    assert_eq!(first.json()["run"], again.json()["run"]);
    assert_eq!(other.is_problem(409, "lease_lost").json()["run"]["state"], "completed");
}

#[tokio::test]
async fn fail_says_whether_and_when_more() {
    let web = Web::new().await;
    let run = held(&web, "K").await;
    web.post(&format!("{run}/fail"), r#"{"owner":"w","fence":1,"class":"bad_luck"}"#)
        .await
        .is_problem(400, "unknown_class");

    let got =
        web.post(&format!("{run}/fail"), r#"{"owner":"w","fence":1,"class":"model_timeout","message":"60 s"}"#).await;

    let body = got.is(200).json();
    assert_eq!((&body["retry"], &body["attempts_left"]), (&json!(true), &json!(4)));
    assert_eq!(body["run"]["state"], "failed_retryable");
    assert_eq!(body["next_attempt_at"], body["run"]["next_attempt_at"]);
}

#[tokio::test]
async fn renew_prolongs_a_lease_that_lives_and_no_other() {
    let web = Web::new().await;
    let run = held(&web, "K").await;
    web.world.clock.advance_ms(30_000);

    let got = web.post(&format!("{run}/renew"), r#"{"owner":"w","fence":1,"lease_ms":60000}"#).await.is(200).json();

    assert_eq!(got["lease"]["expires_at"], "2026-09-21T14:14:50.000Z");
    web.post(&format!("{run}/renew"), r#"{"owner":"w","fence":2}"#).await.is_problem(409, "lease_lost");
    web.world.clock.advance_ms(61_000);
    web.post(&format!("{run}/renew"), r#"{"owner":"w","fence":1}"#).await.is_problem(409, "lease_lost");
}

#[tokio::test]
async fn an_inline_effect_is_begun_once_and_settled_once() {
    let web = Web::new().await;
    let run = held(&web, "K").await;
    let body = r#"{"owner":"w","fence":1,"type":"note","target":"a","payload":{"x":1}}"#;
    let begun = web.post(&format!("{run}/effects"), body).await.is(201).json();
    let effect = format!("/v1/effects/{}", begun["effect"]["id"].as_str().unwrap());

    let repeat = web.post(&format!("{run}/effects"), body).await.is(200).json();
    let known = web.post(&format!("{run}/effects"), body.replace("1,", "1, ")).await.is(200).json();
    let differs = web.post(&format!("{run}/effects"), body.replace("\"x\":1", "\"x\":2")).await;
    let open = web.post(&format!("{run}/complete"), r#"{"owner":"w","fence":1,"result":1}"#).await;
    let settle = r#"{"owner":"w","fence":1,"outcome":"applied","external_id":"N-1"}"#;
    let settled = web.post(&format!("{effect}/settle"), settle).await.is(200).json();
    let settled_again = web.post(&format!("{effect}/settle"), settle).await.is(200).json();

    assert_eq!((&begun["begun"], &begun["effect"]["state"]), (&json!(true), &json!("sending")));
    assert_eq!((&repeat["begun"], &repeat["repeated"]), (&json!(false), &json!(true)), "leave to call is given once");
    assert_eq!((&known["begun"], &known["effect"]["id"]), (&json!(false), &begun["effect"]["id"]));
    assert_eq!(differs.is_problem(422, "effect_differs").json()["effect"]["id"], begun["effect"]["id"]);
    open.is_problem(409, "effects_open");
    assert_eq!((&settled["effect"]["state"], &settled["effect"]["external_id"]), (&json!("completed"), &json!("N-1")));
    assert_eq!((&settled["changed"], &settled_again["repeated"]), (&json!(true), &json!(true)));
    let late = web.post(&format!("{run}/effects"), body).await.is(200).json();
    assert_eq!((&late["begun"], &late["effect"]["state"]), (&json!(false), &json!("completed")));
    let story = web.get(&format!("{run}/explain")).await.json();
    assert_eq!(story["effects"][0]["attempts"][0]["outcome"], json!("applied"), "{story:#}");
    let bad = r#"{"owner":"w","fence":1,"outcome":"maybe"}"#;
    web.post(&format!("{effect}/settle"), bad).await.is_problem(400, "bad_member");
}

#[tokio::test]
async fn an_inline_effect_that_was_not_sent_is_begun_again_on_record_and_settled_by_its_own_end() {
    let web = Web::new().await;
    let run = held(&web, "K").await;
    let begin = r#"{"owner":"w","fence":1,"type":"note","target":"a","payload":{"x":1}}"#;
    let not_sent = r#"{"owner":"w","fence":1,"outcome":"not_sent"}"#;
    let begun = web.post(&format!("{run}/effects"), begin).await.is(201).json();
    let settle = format!("/v1/effects/{}/settle", begun["effect"]["id"].as_str().unwrap());

    web.post(&settle, not_sent).await.is(200);
    let again = web.post(&settle, not_sent).await.is(200).json();
    let second = web.post(&format!("{run}/effects"), begin).await.is(201).json();
    let ended = web.post(&settle, not_sent).await.is(200).json();

    assert_eq!((&again["repeated"], &again["effect"]["state"]), (&json!(true), &json!("pending")));
    assert_eq!((&second["begun"], &second["effect"]["attempts"]), (&json!(true), &json!(2)));
    assert_eq!((&ended["changed"], &ended["effect"]["state"]), (&json!(true), &json!("pending")));
}

#[tokio::test]
async fn the_same_report_about_another_effect_is_another_call() {
    let web = Web::new().await;
    let run = held(&web, "K").await;
    let mut ids = Vec::new();
    for target in ["a", "b"] {
        let body = format!(r#"{{"owner":"w","fence":1,"type":"note","target":"{target}","payload":1}}"#);
        let begun = web.post(&format!("{run}/effects"), body).await.is(201).json();
        ids.push(begun["effect"]["id"].as_str().unwrap().to_owned());
    }
    let settle = r#"{"owner":"w","fence":1,"outcome":"applied"}"#;

    for id in &ids {
        let got = web.post(&format!("/v1/effects/{id}/settle"), settle).await.is(200).json();
        assert_eq!((&got["effect"]["id"], &got["repeated"]), (&json!(id), &json!(false)));
    }
}

#[tokio::test]
async fn lists_come_in_pages() {
    let web = Web::new().await;
    for n in 0..5 {
        held(&web, &format!("K{n}")).await;
    }
    let mut keys = Vec::new();
    let mut path = "/v1/runs?flow=ticket&state=processing&limit=2".to_owned();
    loop {
        let page = web.get(&path).await.is(200).json();
        keys.extend(page["runs"].as_array().unwrap().iter().map(|r| r["key"].as_str().unwrap().to_owned()));
        let Value::String(cursor) = &page["next_cursor"] else { break };
        path = format!("/v1/runs?flow=ticket&state=processing&limit=2&cursor={cursor}");
    }

    keys.sort();
    assert_eq!(keys, ["K0", "K1", "K2", "K3", "K4"]);
    for bad in ["limit=0", "limit=201", "state=open", "since=yesterday", "colour=red", "key=a%00b", "limit=x"] {
        web.get(&format!("/v1/runs?{bad}")).await.is_problem(400, "bad_parameter");
    }
    web.get("/v1/runs?cursor=nonsense").await.is_problem(400, "bad_parameter");
    web.get("/v1/effects?state=unknown,nope").await.is_problem(400, "bad_parameter");
    web.get("/v1/approvals?state=nope").await.is_problem(400, "bad_parameter");
    web.get("/v1/runs/run_nope").await.is_problem(404, "not_found");
}

#[tokio::test]
async fn a_database_that_is_away_is_a_passing_trouble_and_says_when_to_come_back() {
    let web = Web::new().await;
    web.reserve("K", PAYLOAD, "w").await.is(201);
    web.world.store.close().await;

    let got = web.reserve("L", PAYLOAD, "w").await.is_problem(503, "database_unavailable");

    assert_eq!(got.header("retry-after"), "1");
    assert_eq!(got.json()["detail"], "the database does not answer; nothing was written");
    let ready = web.request("GET", "/readyz", None, "").await.is(503).json();
    assert_eq!(ready["reasons"][0], "the database does not answer");
}
