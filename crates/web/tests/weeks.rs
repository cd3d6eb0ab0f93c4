//! The page of charts and `/metrics`: the same counts, for people and for a scraper.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{Options, PAYLOAD, ProviderAnswer, Web};
use effectgate_core::{actor::Actor, gate::Gate, ids::Tenant};
use effectgate_engine::people::UserPut;
use http::Request;

const DAY: i64 = 86_400_000;
const NOTE: &str = r#"{"owner":"w","fence":1,"effects":[{"type":"note","target":"a","payload":{"text":"hello"}}]}"#;

const PASSWORD: &str = "correct horse battery";

/// The cookie of somebody with these roles who signs in now.
async fn cookie(web: &Web, name: &str, roles: &[&str]) -> String {
    let put = UserPut {
        name: name.into(),
        email: None,
        password_hash: Some(effectgate_web::auth::password::hash(PASSWORD).unwrap()),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
    };
    web.world.engine.user_put(&Tenant::new("default"), &Actor::System("test"), &put).await.unwrap();
    let body = format!(r#"{{"user":"{name}","password":"{PASSWORD}"}}"#);
    let request = Request::post("/v1/session").header("content-type", "application/json");
    let answer = web.send(request.body(body.into()).unwrap()).await.is(200);
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

async fn page(web: &Web, cookie: &str, query: &str) -> common::Got {
    let request = Request::get(format!("/metrics/weeks{query}")).header("cookie", cookie);
    web.send(request.body(axum::body::Body::empty()).unwrap()).await
}

/// The table's cells of a week.
fn row(page: &str, week: &str) -> Vec<String> {
    let from = page.find(&format!("<time datetime=\"{week}\">")).unwrap_or_else(|| panic!("no row for {week}"));
    let row = &page[from..from + page[from..].find("</tr>").unwrap()];
    row.split("<td>").skip(1).map(|cell| cell.split("</td>").next().unwrap().to_owned()).collect()
}

/// What a scrape says for a counter with these labels.
fn scraped(metrics: &str, name: &str, labels: &[&str]) -> u64 {
    let line = metrics.lines().find(|line| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with('{')) && labels.iter().all(|l| line.contains(l))
    });
    line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

async fn proposed(web: &Web, key: &str) -> String {
    let run = web.reserve(key, PAYLOAD, "w").await.is(201).json()["run"]["id"].as_str().unwrap().to_owned();
    web.post(&format!("/v1/runs/{run}/proposal"), NOTE).await.is(200);
    run
}

#[tokio::test]
async fn the_page_and_the_scrape_say_the_same() {
    let web = Web::with(Options { attempts_max: 1, ..Options::default() }).await;
    let who = cookie(&web, "vera", &["viewer"]).await;
    // One at a time in this process, but the counters at /metrics are the process's: others may have counted before.
    let before = web.get("/metrics").await.is(200).text;
    proposed(&web, "a").await;
    for _ in 0..3 {
        web.reserve("a", PAYLOAD, "other").await.is(200);
    }
    web.reserve("a", "{}", "w").await.is(422);
    web.world.provider.push(ProviderAnswer::AcceptThenDrop);
    web.world.dispatch().await;
    let run = web.reserve("b", PAYLOAD, "w").await.json()["run"]["id"].as_str().unwrap().to_owned();
    let bad = r#"{"owner":"w","fence":1,"effects":[{"type":"no_such","target":"a","payload":{}}]}"#;
    web.post(&format!("/v1/runs/{run}/proposal"), bad).await.is(422);
    web.world.engine.tally_flush().await.unwrap();

    let after = web.get("/metrics").await.is(200).text;
    let page = page(&web, &who, "").await.is(200).text;

    let new = |name: &str, labels: &[&str]| scraped(&after, name, labels) - scraped(&before, name, labels);
    let answers = ["granted", "repeated", "busy", "replay", "conflict"]
        .map(|answer| new("effectgate_reservations_total", &[&format!("answer=\"{answer}\""), "flow=\"ticket\""]));
    assert_eq!(answers, [2, 0, 0, 3, 1]);
    let row = row(&page, "2026-W39");
    let number = |i: usize| row[i].replace(',', "").parse::<u64>().unwrap();
    assert_eq!(number(0), answers.iter().sum::<u64>());
    assert_eq!((number(1), row[2].as_str(), number(3)), (answers[3], "50.0 %", answers[4]));
    let proposals = |said: &str| new("effectgate_proposals_total", &[&format!("validation=\"{said}\"")]);
    assert_eq!((number(8), number(9)), (proposals("valid") + proposals("invalid"), proposals("invalid")));
    let passed = |to: &str| new("effectgate_gate_passages_total", &[&format!("to=\"{to}\"")]);
    assert_eq!((number(12), number(13)), (passed("outbox"), passed("person")));
    assert_eq!((number(12), number(13)), (1, 0));
    assert_eq!(number(19), new("effectgate_effects_unknown_total", &[]));
    assert_eq!(number(20), new("effectgate_effects_review_total", &[]));
    assert_eq!(number(19), 1);
}

#[tokio::test]
async fn a_week_that_is_over_and_the_running_one_stand_in_their_own_rows() {
    let web = Web::with(Options { gate: Gate::Approve, ..Options::default() }).await;
    let who = cookie(&web, "olga", &["operator"]).await;
    proposed(&web, "a").await;
    web.world.clock.advance_ms(14 * DAY);
    proposed(&web, "b").await;
    proposed(&web, "c").await;
    web.world.engine.tally_flush().await.unwrap();

    // The session is older than its idle limit by now.
    let fresh = cookie(&web, "vera", &["viewer"]).await;
    assert_eq!(page(&web, &who, "").await.status, 303);
    let page = page(&web, &fresh, "?weeks=4&flow=ticket").await.is(200).text;

    let people = ["2026-W38", "2026-W39", "2026-W40", "2026-W41"].map(|week| row(&page, week)[13].clone());
    assert_eq!(people, ["0", "1", "0", "2"]);
    assert!(page.contains("2026-W41 is still running"));
    assert!(page.contains("<option value=\"4\" selected>"));
    assert_eq!(page.matches("role=\"img\"").count(), 6);
}

#[tokio::test]
async fn an_empty_database_has_a_page_without_charts() {
    let web = Web::new().await;
    let who = cookie(&web, "vera", &["viewer"]).await;

    let page = page(&web, &who, "?weeks=52").await.is(200).text;

    assert!(page.contains("Nothing has been counted"));
    assert!(!page.contains("<svg class=\"chart\""));
}

#[tokio::test]
async fn the_page_asks_for_a_session_and_a_role() {
    let web = Web::new().await;
    let free = cookie(&web, "fred", &["support-lead"]).await;

    let stranger = page(&web, "", "").await.is(303);
    assert!(stranger.header("location").starts_with("/login"));
    page(&web, &free, "").await.is(403);
}

#[tokio::test]
async fn a_flow_in_the_query_is_shown_as_text() {
    let web = Web::new().await;
    let who = cookie(&web, "vera", &["viewer"]).await;
    web.reserve("a", PAYLOAD, "w").await.is(201);
    web.world.engine.tally_flush().await.unwrap();

    let page = page(&web, &who, "?flow=%22%3E%3Cscript%3Ealert(1)%3C/script%3E").await.is(200).text;

    assert!(!page.contains("<script>alert"));
    assert!(page.contains("Nothing has been counted"), "nothing was counted for a flow of that name");
}
