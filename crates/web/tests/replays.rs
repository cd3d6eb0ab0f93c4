//! Replays and corrections over the wire (HC-39): every flag is read strictly, and each refusal says what to do instead.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{PAYLOAD, Web};
use serde_json::{Value, json};

fn wish() -> Value {
    json!({
        "filter": {"flow": "ticket", "event_type": "*", "since": "2020-01-01T00:00:00Z",
            "until": "2100-01-01T00:00:00Z", "state": "any"},
        "limit": 10, "reason": "the model is back"
    })
}

fn with(change: impl FnOnce(&mut Value)) -> String {
    let mut wish = wish();
    change(&mut wish);
    wish.to_string()
}

/// A run that a worker gave back.
async fn failed(web: &Web, key: &str) -> String {
    let run = web.reserve(key, PAYLOAD, "w").await.is(201).json()["run"]["id"].as_str().unwrap().to_owned();
    let body = r#"{"owner":"w","fence":1,"class":"model_timeout"}"#;
    web.post(&format!("/v1/runs/{run}/fail"), body).await.is(200);
    run
}

async fn completed(web: &Web, key: &str) -> String {
    let run = web.reserve(key, PAYLOAD, "w").await.is(201).json()["run"]["id"].as_str().unwrap().to_owned();
    web.post(&format!("/v1/runs/{run}/complete"), r#"{"owner":"w","fence":1,"result":{}}"#).await.is(200);
    run
}

async fn plans(web: &Web) -> usize {
    web.get("/v1/replays").await.is(200).json()["replays"].as_array().unwrap().len()
}

#[tokio::test]
async fn hc_39_an_unknown_or_wrongly_typed_flag_is_400_and_never_not_dry() {
    let web = Web::new().await;
    failed(&web, "K").await;
    let table: [(&str, Value, &str); 11] = [
        ("dry_run", json!("true"), "bad_member"),
        ("dry_run", json!(1), "bad_member"),
        ("dry_run", json!("yes"), "bad_member"),
        ("dry_run", json!(null), "bad_member"),
        ("dry_run", json!([true]), "bad_member"),
        ("dryrun", json!(true), "unknown_member"),
        ("dryRun", json!(true), "unknown_member"),
        ("dry-run", json!(true), "unknown_member"),
        ("Dry_run", json!(true), "unknown_member"),
        ("execute", json!(false), "unknown_member"),
        ("limit", json!("10"), "bad_member"),
    ];
    for (name, value, code) in table {
        let body = with(|wish| wish[name] = value.clone());
        let got = web.operate("/v1/replays", body).await.is_problem(400, code).json();
        assert_eq!(got["pointer"], format!("/{name}"), "{name} {value}");
    }
    // The flag twice: neither counts.
    let twice = wish().to_string().replacen('{', r#"{"dry_run":true,"dry_run":false,"#, 1);
    assert_eq!(web.operate("/v1/replays", twice).await.status, 400);

    assert_eq!(plans(&web).await, 0, "none of them made a plan");
    let dry = web.operate("/v1/replays", with(|wish| wish["dry_run"] = json!(true))).await.is(200).json();
    assert_eq!((&dry["id"], &dry["dry_run"], &dry["state"]), (&json!(null), &json!(true), &json!("dry_run")));
    assert_eq!(plans(&web).await, 0);
    for flag in [Some(false), None] {
        let body = with(|wish| flag.iter().for_each(|flag| wish["dry_run"] = json!(flag)));
        let made = web.operate("/v1/replays", body).await.is(201).json();
        assert!(made["id"].as_str().unwrap().starts_with("rpl_"));
    }
    assert_eq!(plans(&web).await, 2);
}

#[tokio::test]
async fn nothing_of_the_filter_may_be_left_out_or_guessed() {
    let web = Web::new().await;
    for member in ["flow", "event_type", "since", "until", "state"] {
        let body = with(|wish| _ = wish["filter"].as_object_mut().unwrap().remove(member));
        let got = web.operate("/v1/replays", body).await.is_problem(400, "missing_member").json();
        assert_eq!(got["pointer"], format!("/filter/{member}"));
    }
    for member in ["filter", "limit"] {
        let body = with(|wish| _ = wish.as_object_mut().unwrap().remove(member));
        web.operate("/v1/replays", body).await.is_problem(400, "missing_member");
    }
    let table = [
        ("state", json!("completed"), "bad_member", "/filter/state"),
        ("state", json!("*"), "bad_member", "/filter/state"),
        ("since", json!("yesterday"), "bad_member", "/filter/since"),
        ("until", json!("2019-01-01T00:00:00Z"), "bad_member", "/filter/until"),
        ("event_type", json!(""), "bad_member", "/filter/event_type"),
        ("flow", json!("nope"), "unknown_flow", "/filter/flow"),
        ("key", json!("x"), "unknown_member", "/filter/key"),
    ];
    for (member, value, code, pointer) in table {
        let body = with(|wish| wish["filter"][member] = value);
        assert_eq!(web.operate("/v1/replays", body).await.is_problem(400, code).json()["pointer"], pointer);
    }
    for limit in [0, 1_001] {
        let got = web.operate("/v1/replays", with(|wish| wish["limit"] = json!(limit))).await;
        assert_eq!(got.is_problem(400, "bad_member").json()["pointer"], "/limit");
    }
    let unsaid = with(|wish| wish["reason"] = json!(" "));
    web.operate("/v1/replays", unsaid).await.is_problem(400, "reason_required");
}

#[tokio::test]
async fn a_plan_is_executed_and_shown_key_by_key_and_a_second_time_it_is_the_same_report() {
    let web = Web::new().await;
    let (run, done) = (failed(&web, "K").await, completed(&web, "D").await);
    let made = web.operate("/v1/replays", wish().to_string()).await.is(201).json();
    let path = format!("/v1/replays/{}", made["id"].as_str().unwrap());
    assert_eq!(
        (&made["state"], &made["counts"]["replayable"], &made["total"]),
        (&json!("planned"), &json!(1), &json!(1))
    );
    let of = |view: &Value, id: &str| {
        view["keys"].as_array().unwrap().iter().find(|key| key["run_id"] == id).unwrap().clone()
    };
    assert_eq!(of(&made, &done)["refusal"], "final");
    assert!(of(&made, &done)["next"].as_str().unwrap().contains("correction"));

    let begun = web.operate(&format!("{path}/execute"), r#"{"reason":"go"}"#).await;
    assert!(begun.status.is_success(), "{}", begun.text);
    web.operate(&format!("{path}/execute"), r#"{"dry_run":true}"#).await.is_problem(400, "unknown_member");
    let report = loop {
        let report = web.get(&path).await.is(200).json();
        if report["state"] == "done" {
            break report;
        }
        tokio::task::yield_now().await;
    };
    let again = web.operate(&format!("{path}/execute"), "{}").await.is(200).json();

    assert_eq!((&report["done"], &report["skipped"]), (&json!(1), &json!(0)));
    let key = of(&report, &run);
    assert_eq!((&key["outcome"], &key["after"]["state"]), (&json!("done"), &json!("failed_retryable")));
    assert_eq!(again, report);
    let brief = web.get(&format!("{path}?keys=false")).await.is(200).json();
    assert!(brief.get("keys").is_none() && brief["done"] == 1);
    web.get(&format!("{path}?kees=false")).await.is_problem(400, "bad_parameter");
    web.get("/v1/replays/rpl_x").await.is_problem(404, "not_found");
    let absent = format!("/v1/replays/rpl_{}/execute", "0".repeat(32));
    web.operate(&absent, "{}").await.is_problem(404, "not_found");
}

#[tokio::test]
async fn hc_46_over_the_wire_what_has_ended_names_the_way_to_go_and_a_correction_is_linked() {
    let web = Web::new().await;
    let original = completed(&web, "comment-1").await;
    let path = format!("/v1/runs/{original}/correct");
    let body = |key: &str| json!({"key": key, "payload": {"a": 1}, "reason": "wrong order"}).to_string();

    let made = web.operate(&path, body("comment-9")).await.is(201).json();
    let again = web.operate(&path, body("comment-9")).await.is(200);
    assert_eq!(again.header("idempotent-replayed"), "true");
    let other = json!({"key": "comment-9", "payload": {"a": 2}, "reason": "wrong order"}).to_string();
    web.operate(&path, other).await.is_problem(422, "payload_conflict");
    let disguised = web.operate(&path, body("Comment 1 (2)")).await.is_problem(400, "correction_key").json();

    assert_eq!((&made["answer"], &made["run"]["corrects"]), (&json!("queued"), &json!(original)));
    assert_eq!(made["run"]["original"]["key"], "comment-1");
    assert_eq!(disguised["pointer"], "/key");
    let listed = web.get(&format!("/v1/runs/{original}/corrections")).await.is(200).json();
    assert_eq!(listed["corrections"][0]["run_id"], made["run"]["id"]);
    let open = failed(&web, "comment-2").await;
    let refused = web.operate(&format!("/v1/runs/{open}/correct"), body("comment-10")).await;
    let refused = refused.is_problem(409, "wrong_state").json();
    assert!(refused["next"].as_str().unwrap().contains("/v1/replays"));
    for (lacking, code) in [("payload", "missing_member"), ("key", "missing_member"), ("reason", "reason_required")] {
        let mut wish: Value = serde_json::from_str(&body("comment-11")).unwrap();
        wish.as_object_mut().unwrap().remove(lacking);
        web.operate(&path, wish.to_string()).await.is_problem(400, code);
    }
}
