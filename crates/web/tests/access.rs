//! Who may do what: every route of the document, without a key and with a key of each scope. A route that is new is in
//! the sweep by itself.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{FLOW, Options, PAYLOAD, Web, key, settings};
use effectgate_core::{actor::Actor, ids::Tenant};
use effectgate_engine::keys::KeyScope::{self, Admin, Approver, Auditor, Operator, SwitchOwner, Viewer, Worker};
use effectgate_web::WebSettings;
use http::Request;

/// Routes that say nothing of what is inside, and the ways in themselves, which have tests of their own: signing in, and
/// the door whose credential is a signature. May only shrink.
const OPEN: [&str; 4] = ["/healthz", "/readyz", "/v1/session", "/in/{source}"];
const READERS: &[KeyScope] = &[Worker, Viewer, Approver, Operator, Auditor, SwitchOwner, Admin];

/// Which scopes open which operation.
fn opens(operation: &str) -> &'static [KeyScope] {
    match operation {
        "reserve" | "reserve_batch" | "claim" | "renew" | "propose" | "complete" | "fail" | "begin_effect"
        | "settle_effect" | "send_out" | "call_tool" | "serve_mcp" | "resume_approval" | "subscribe"
        | "list_subscriptions" | "unsubscribe" => &[Worker, Admin],
        "find_runs" | "get_run" | "explain_run" | "read_journal" | "find_effects" | "get_effect" | "list_switches"
        | "list_replays" | "get_replay" | "list_corrections" | "whoami" => READERS,
        "find_approvals" => &[Viewer, Approver, Operator, Auditor, SwitchOwner, Admin],
        "get_approval" => &[Worker, Approver, Operator, Auditor, Admin],
        "cancel_effect" | "correct_run" | "execute_replay" | "look_effect" | "plan_replay" | "resolve_effect"
        | "release_run" | "close_run" | "withdraw_approval" => &[Operator, Admin],
        "turn_switch" | "drill_switch" => &[SwitchOwner, Admin],
        "verify_journal" | "export_journal" => &[Auditor, Admin],
        // No key decides, whatever its scopes.
        "decide" => &[],
        other => panic!("{other} is in no row of this table"),
    }
}

/// Method, path with an id that is not there, operation.
fn routes() -> Vec<(String, String, String)> {
    let document = effectgate_web::docs::openapi();
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let zeros = "0".repeat(32);
            let id = match path {
                path if path.contains("/effects/") => format!("eff_{zeros}1"),
                path if path.contains("/approvals/") => format!("apr_{zeros}1"),
                path if path.contains("/subscriptions/") => format!("sub_{zeros}"),
                _ => format!("run_{zeros}"),
            };
            let operation = operation["operationId"].as_str().unwrap().to_owned();
            routes.push((method.to_uppercase(), path.replace("{id}", &id), operation));
        }
    }
    routes.retain(|(_, path, _)| !OPEN.contains(&path.as_str()));
    routes
}

#[tokio::test]
async fn nobody_without_a_key_gets_anywhere() {
    let web = Web::new().await;
    for (method, path, _) in routes().into_iter().chain([("GET".into(), "/metrics".into(), String::new())]) {
        let got = web.request(&method, &path, None, "{}").await.is_problem(401, "unauthorized");
        assert_eq!(got.header("www-authenticate"), "Bearer realm=\"effectgate\"", "{method} {path}");
    }
    assert_eq!(web.runs().await, 0);
}

#[tokio::test]
async fn a_key_without_the_scope_gets_nowhere_and_is_told_which_one() {
    let web = Web::new().await;
    for (method, path, operation) in routes() {
        let wanted = opens(&operation);
        for scope in KeyScope::ALL {
            let got = web.request(&method, &path, Some(web.token(scope)), "{}").await;
            let what = format!("{operation} with {}: {}", scope.as_str(), got.text);
            match (wanted.contains(&scope), operation.as_str()) {
                (_, "decide") => {
                    assert_eq!((got.status.as_u16(), got.code().as_str()), (403, "cannot_decide"), "{what}")
                }
                (true, _) => assert!(!matches!(got.status.as_u16(), 401 | 403 | 500..), "{what}"),
                (false, _) => {
                    let words = got.is_problem(403, "forbidden").json()["scopes"].to_string();
                    assert!(words.contains(wanted[0].as_str()), "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_key_that_is_not_one_good_key_is_unauthorized() {
    let web = Web::new().await;
    let good = web.token(Worker);
    let mut typo = good.to_owned();
    typo.replace_range(40..41, if &good[40..41] == "0" { "1" } else { "0" });
    let bad = [
        String::new(),
        "Bearer".into(),
        format!("Basic {good}"),
        format!("Bearer  {good}"),
        format!("Bearer {good} "),
        format!("Bearer {typo}"),
        format!("Bearer {}", "x".repeat(64)),
        format!("Bearer {}", "x".repeat(5_000)),
    ];
    for line in bad {
        let request = Request::get("/v1/whoami").header("authorization", &line).body(axum::body::Body::empty());
        let got = web.send(request.unwrap()).await;
        if !line.ends_with(' ') {
            got.is_problem(401, "unauthorized");
        }
    }
    let twice = Request::get("/v1/whoami")
        .header("authorization", format!("Bearer {good}"))
        .header("authorization", format!("Bearer {good}"));
    web.send(twice.body(axum::body::Body::empty()).unwrap()).await.is_problem(401, "unauthorized");
}

#[tokio::test]
async fn a_revoked_key_is_forgotten_and_both_are_in_the_journal() {
    let web = Web::new().await;
    let tenant = Tenant::new("default");
    let engine = &web.world.engine;
    let made = engine.key_create(&tenant, &Actor::System("test"), "n8n", &[Worker], &[], None).await.unwrap();

    engine.key_revoke(&tenant, &Actor::System("test"), &made.row.public_id).await.unwrap();

    web.request("GET", "/v1/whoami", Some(&made.token), "").await.is_problem(401, "unauthorized");
    let export = web.get("/v1/journal/export").await.is(200).text;
    assert!(export.contains("key_created") && export.contains("key_revoked"));
    assert!(!export.contains(&made.token) && !export.contains(&made.row.secret_hash.to_string()));
}

#[tokio::test]
async fn a_given_first_key_works_and_is_one_key_however_often_it_is_given() {
    let web = Web::new().await;
    let tenant = Tenant::new("default");
    let given = "a-key-from-the-environment-of-an-automated-start";
    let engine = &web.world.engine;

    let first = engine.key_bootstrap(&tenant, Some(given)).await.unwrap().unwrap();
    let second = engine.key_bootstrap(&tenant, Some(given)).await.unwrap().unwrap();

    assert_eq!(first.row, second.row);
    let me = web.request("GET", "/v1/whoami", Some(given), "").await.is(200).json();
    assert_eq!((&me["name"], &me["scopes"][0]), (&"bootstrap".into(), &"admin".into()));
    assert!(engine.key_bootstrap(&tenant, None).await.unwrap().is_none(), "there are keys already");
    assert!(engine.key_bootstrap(&tenant, Some("too short")).await.is_err());
}

#[tokio::test]
async fn a_flood_of_wrong_keys_is_slowed_and_good_keys_go_on() {
    let web = Web::new().await;
    web.request("GET", "/v1/whoami", Some(web.token(Worker)), "").await.is(200);
    let wrong = "y".repeat(40);
    for _ in 0..30 {
        web.request("GET", "/v1/whoami", Some(&wrong), "").await.is_problem(401, "unauthorized");
    }

    let got = web.request("GET", "/v1/whoami", Some(&wrong), "").await.is_problem(429, "too_many_failures");

    assert_eq!(got.header("retry-after"), "60");
    web.request("GET", "/v1/whoami", Some(web.token(Worker)), "").await.is(200);
}

#[tokio::test]
async fn a_restricted_key_sees_its_own_flow_only() {
    let web = Web::new().await;
    let other = key(&web.world, "other", &[Worker, Operator, Auditor], &["another-flow".to_owned()]).await;
    let run = web.reserve("K", PAYLOAD, "w").await.json()["run"]["id"].as_str().unwrap().to_owned();
    let body = format!(r#"{{"flow":"{FLOW}","key":"L","payload":1}}"#);

    let refused = web.request("POST", "/v1/runs", Some(&other), body).await.is_problem(403, "forbidden");

    assert_eq!(refused.json()["pointer"], "/flow");
    for path in ["", "/explain", "/journal"] {
        web.request("GET", &format!("/v1/runs/{run}{path}"), Some(&other), "").await.is_problem(404, "not_found");
    }
    let done = r#"{"owner":"w","fence":1,"result":1}"#;
    web.request("POST", &format!("/v1/runs/{run}/complete"), Some(&other), done).await.is_problem(404, "not_found");
    let list = web.request("GET", "/v1/runs", Some(&other), "").await.is(200).json();
    assert_eq!(list["runs"], serde_json::json!([]));
}

#[tokio::test]
async fn another_tenant_sees_nothing() {
    let web = Web::new().await;
    let tenant = Tenant::new("other");
    let made = web.world.engine.key_create(&tenant, &Actor::System("test"), "x", &[Admin], &[], None).await.unwrap();
    let granted = web.reserve("K", PAYLOAD, "w").await.is(201).json();
    let run = granted["run"]["id"].as_str().unwrap();
    let done = r#"{"owner":"w","fence":1,"result":1}"#;
    web.post(&format!("/v1/runs/{run}/complete"), done).await.is(200);

    web.request("GET", &format!("/v1/runs/{run}"), Some(&made.token), "").await.is_problem(404, "not_found");
    // Not even as a repeat of the first tenant's call, whose answer is stored.
    let path = format!("/v1/runs/{run}/complete");
    web.request("POST", &path, Some(&made.token), done).await.is_problem(404, "not_found");
    let export = web.request("GET", "/v1/journal/export", Some(&made.token), "").await.is(200).text;
    assert!(!export.contains(run));
}

#[tokio::test]
async fn metrics_are_for_auditors_unless_the_config_opens_them() {
    let web = Web::new().await;
    web.request("GET", "/metrics", Some(web.token(Worker)), "").await.is_problem(403, "forbidden");
    web.request("GET", "/metrics", Some(web.token(Auditor)), "").await.is(200);
}

#[tokio::test]
async fn a_key_that_asks_too_often_waits_and_nobody_else_does() {
    let web = Web::over(Options::default(), WebSettings { requests_per_second_max: 2, ..settings() }).await;
    let worker = || web.request("GET", "/v1/whoami", Some(web.token(Worker)), "");
    worker().await.is(200);
    // Every request that carries the key counts, whatever it comes to.
    web.request("GET", "/v1/journal/export", Some(web.token(Worker)), "").await.is_problem(403, "forbidden");

    let got = worker().await.is_problem(429, "too_many_requests");
    let run = web.reserve("K", PAYLOAD, "w").await.is_problem(429, "too_many_requests");
    let out = web.request("POST", "/out/crm/v1/refunds", Some(web.token(Worker)), "{}").await;

    assert_eq!((got.header("retry-after"), &got.json()["retry_after_ms"]), ("1", &500.into()));
    assert_eq!((run.header("retry-after"), out.code().as_str()), ("1", "too_many_requests"));
    assert_eq!(web.runs().await, 0, "nothing of a refused request is kept");
    for path in ["/healthz", "/readyz", "/login", "/errors/too_many_requests"] {
        let got = web.request("GET", path, Some(web.token(Worker)), "").await;
        assert_ne!(got.status, 429, "{path} is not counted: {}", got.text);
    }
    web.world.clock.advance_ms(500);
    worker().await.is(200);
    worker().await.is_problem(429, "too_many_requests");
}
