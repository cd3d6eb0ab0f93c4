//! What callers and machines read about the server: the OpenAPI document, the pages of problems, health, metrics.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use axum::body::Body;
use common::{Options, PAYLOAD, Web, settings};
use effectgate_engine::driver::Workers;
use effectgate_web::{WebSettings, docs, problem::Code};
use http::Request;
use std::time::Duration;

/// The golden file is what clients are made from. `UPDATE_OPENAPI=1 cargo test -p effectgate-web --test documents`
/// writes it anew; look at the difference before committing it.
#[test]
fn the_openapi_document_is_the_golden_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/effectgate.json");
    let now = format!("{:#}\n", docs::openapi());
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::create_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
        std::fs::write(path, &now).unwrap();
    }

    let golden = std::fs::read_to_string(path).unwrap_or_default();

    let differs = golden.lines().zip(now.lines()).position(|(a, b)| a != b);
    assert!(golden == now, "the API's document changed (line {differs:?}): run this test with UPDATE_OPENAPI=1");
}

#[tokio::test]
async fn documents_are_there_for_everybody_and_load_nothing_from_elsewhere() {
    let web = Web::new().await;
    let open = async |path: &str| web.request("GET", path, None, "").await;

    let json = open("/openapi.json").await.is(200);
    let page = open("/docs").await.is(200);
    open("/docs/docs.css").await.is(200);

    assert_eq!(json.json()["openapi"], "3.1.0");
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    assert!(!page.text.contains("<script") && !page.text.contains("https://unpkg"));
    for path in json.json()["paths"].as_object().unwrap().keys() {
        assert!(page.text.contains(path.as_str()), "{path} is not on the page");
    }
}

#[tokio::test]
async fn the_type_of_every_problem_leads_to_a_page() {
    let web = Web::new().await;
    for code in Code::ALL {
        let page = web.request("GET", &format!("/errors/{}", code.as_str()), None, "").await.is(200);
        assert!(page.text.contains("What to do"), "{}", code.as_str());
        assert!(page.header("content-type").starts_with("text/html"));
    }
    web.request("GET", "/errors/nope", None, "").await.is_problem(404, "no_such_path");
}

#[tokio::test]
async fn a_path_or_method_that_is_not_there_is_a_problem_too() {
    let web = Web::new().await;
    web.get("/v1/nope").await.is_problem(404, "no_such_path");
    let got = web.request("DELETE", "/v1/runs", None, "").await.is_problem(405, "method_not_allowed");
    assert!(got.header("allow").contains("POST"), "{}", got.header("allow"));
}

#[tokio::test]
async fn ready_means_that_the_workers_tick() {
    let web = Web::new().await;
    web.request("GET", "/healthz", None, "").await.is(200);
    let before = web.request("GET", "/readyz", None, "").await.is(503).json();
    assert_eq!(before["reasons"].as_array().unwrap().len(), 3, "{before}");

    let workers = Workers::start(&web.world.engine);
    while web.request("GET", "/readyz", None, "").await.status != 200 {
        tokio::task::yield_now().await;
    }
    web.world.clock.advance_ms(60_000);
    workers.stop(Duration::from_secs(1)).await;
    web.world.clock.advance_ms(60_000);

    let late = web.request("GET", "/readyz", None, "").await.is(503).json();
    assert!(late["reasons"][0].as_str().unwrap().contains("too long ago"), "{late}");
}

#[tokio::test]
async fn metrics_count_by_route_and_never_by_key() {
    let web = Web::over(Options::default(), WebSettings { metrics_open: true, ..settings() }).await;
    web.reserve("a-key-of-somebody", PAYLOAD, "w").await.is(201);
    web.get("/v1/runs/run_x").await.is(404);
    web.request("BREW", "/coffee", None, "").await.is(404);

    let text = web.request("GET", "/metrics", None, "").await.is(200).text;

    assert!(text.contains(r#"route="/v1/runs",status="201""#), "{text}");
    assert!(text.contains(r#"route="/v1/runs/{id}""#) && text.contains(r#"method="other",route="none""#), "{text}");
    assert!(text.contains("effectgate_http_request_seconds_bucket"));
    assert!(text.contains(r#"effectgate_open{what="run",state="processing"} 1"#), "{text}");
    assert!(!text.contains("a-key-of-somebody"));
}

#[tokio::test]
async fn the_callers_request_id_comes_back() {
    let web = Web::new().await;
    let ask = async |id: &str| {
        let request = Request::get("/healthz").header("x-request-id", id);
        web.send(request.body(Body::empty()).unwrap()).await.header("x-request-id").to_owned()
    };

    assert_eq!(ask("exec-4711/a").await, "exec-4711/a");
    assert_eq!(ask("a b").await, "");
    assert_eq!(ask(&"x".repeat(200)).await, "");
}
