//! Headers: what a browser is told with every answer of every route, and what it is told when a session ends.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;
mod pages_common;
mod routes;

use axum::body::Body;
use common::Web;
use http::{HeaderMap, Request};
use pages_common::{Options, World};
use tower::ServiceExt as _;

fn said<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

async fn ask(router: &axum::Router, method: &str, path: &str, with: &[(&str, &str)]) -> (u16, HeaderMap) {
    let mut request = Request::builder().method(method).uri(path).header("host", "gate.test");
    for (name, value) in with {
        request = request.header(*name, *value);
    }
    let answer = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    (answer.status().as_u16(), answer.headers().clone())
}

#[tokio::test]
async fn every_answer_of_every_route_carries_the_headers_that_browsers_go_by() {
    let web = Web::new().await;
    let mut asked: Vec<(String, String)> = routes::all().into_iter().map(|r| (r.method, r.example)).collect();
    asked.extend(["/no/such/path", "/metrics", "/a/not-a-token"].map(|path| ("GET".into(), path.into())));
    asked.extend([("OPTIONS".into(), "/v1/runs".into()), ("DELETE".into(), "/inbox".into())]);
    for (method, path) in asked {
        let (status, headers) = ask(&web.router, &method, &path, &[]).await;
        let what = format!("{method} {path} ({status})");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(said(&headers, name), value, "{what}: {name}");
        }
        let policy = said(&headers, "content-security-policy");
        for part in ["default-src 'none'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{what}: {policy}");
        }
        for bad in ["unsafe", "*", "http:", "https:", "data:"] {
            assert!(!policy.contains(bad), "{what}: {policy}");
        }
        let is_file = path.starts_with("/static/");
        assert_eq!(said(&headers, "cache-control") == "no-store", !is_file, "{what}: only files may be kept");
        assert!(!headers.contains_key("strict-transport-security"), "{what}: plain http promises nothing");
    }
}

#[tokio::test]
async fn behind_https_every_answer_asks_for_https_for_a_year_and_below_the_host_too() {
    let mut settings = effectgate_web::WebSettings { public_url: "https://gate.test".into(), ..Default::default() };
    settings.cookie_secure = true;
    let world = World::new(&Options::default());
    let router = effectgate_web::router(effectgate_web::App::new(world.engine.clone(), settings));
    for path in ["/healthz", "/login", "/v1/runs", "/static/icon.svg", "/no/such/path"] {
        let (_, headers) = ask(&router, "GET", path, &[]).await;
        assert_eq!(said(&headers, "strict-transport-security"), "max-age=31536000; includeSubDomains", "{path}");
    }
}

#[tokio::test]
async fn no_answer_lets_a_foreign_page_read_it() {
    let web = Web::new().await;
    let foreign =
        [("origin", "https://evil.test"), ("access-control-request-method", "POST"), ("sec-fetch-site", "cross-site")];
    for route in routes::all() {
        for method in [route.method.as_str(), "OPTIONS"] {
            let (_, headers) = ask(&web.router, method, &route.example, &foreign).await;
            let cors: Vec<_> = headers.keys().filter(|name| name.as_str().starts_with("access-control-")).collect();
            assert!(cors.is_empty(), "{method} {}: {cors:?}", route.example);
        }
    }
}

#[tokio::test]
async fn signing_out_takes_what_the_browser_kept_with_it() {
    let world = World::new(&Options::default());
    world.user("anna", &["approver"]).await;
    let mut browser = world.signed_in("anna").await;
    let inbox = browser.get("/inbox").await;
    assert_eq!(inbox.header("clear-site-data"), "");

    let answer = browser.post("/logout", &inbox.hidden_of("action=\"/logout\"")).await;

    assert_eq!((answer.status.as_u16(), answer.header("clear-site-data")), (303, "\"cache\", \"storage\""));
    let mut program = world.signed_in("anna").await;
    let answer = program.send("DELETE", "/v1/session", &[("effectgate-csrf", "1")], String::new()).await;
    assert_eq!((answer.status.as_u16(), answer.header("clear-site-data")), (204, "\"cache\", \"storage\""));
}
