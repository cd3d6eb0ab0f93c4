//! The control listener.

use std::net::SocketAddr;

use effectgate_relay::{Fault, Mode, Relay, RelaySettings, Rule, Upstream};
use effectgate_testkit::provider::{ScriptedProvider, Step};
use serde_json::{Value, json};

use crate::support::{Caller, POST, ask, closing};

async fn controlled() -> (ScriptedProvider, Relay) {
    let provider = ScriptedProvider::start(Vec::<Step>::new()).await;
    let upstream = Upstream::http(&provider.url()).unwrap();
    let control = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let relay = Relay::start(RelaySettings { control, ..RelaySettings::to(upstream) }).await.unwrap();
    (provider, relay)
}

/// Status and body of a request to the control listener.
async fn told(relay: &Relay, line: &str, fields: &str, body: &str) -> (u16, Value) {
    let address = relay.control_addr().unwrap();
    let mut caller = Caller::at(address).await;
    let length = body.len();
    let host = if fields.contains("Host:") { String::new() } else { format!("Host: {address}\r\n") };
    caller
        .say(format!("{line} HTTP/1.1\r\n{host}Connection: close\r\n{fields}Content-Length: {length}\r\n\r\n{body}"))
        .await;
    let (answer, _) = caller.rest().await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
}

const JSON: &str = "Content-Type: application/json\r\n";

#[tokio::test]
async fn counts_and_log_are_told() {
    let (_provider, relay) = controlled().await;
    ask(&relay, &closing(&POST.replace("/refunds", "/refunds?secret=1"))).await;

    let (status, counts) = told(&relay, "GET /counts", "", "").await;
    let (_, log) = told(&relay, "GET /log", "", "").await;

    assert_eq!(status, 200);
    assert_eq!((&counts["seen"], &counts["faults"]["forward-and-respond"]), (&json!(1), &json!(1)));
    let line = &log[0];
    assert_eq!(
        (&line["path"], &line["outcome"], &line["status"]),
        (&json!("/refunds"), &json!("answered"), &json!(201))
    );
}

#[tokio::test]
async fn the_mode_is_set() {
    let (_provider, relay) = controlled().await;

    let (status, _) = told(&relay, "PUT /mode", JSON, r#"{"mode":"fail-before-forward"}"#).await;

    assert_eq!((status, relay.mode()), (200, Mode::FailBeforeForward));
    assert_eq!(told(&relay, "GET /mode", "", "").await.1, json!({ "mode": "fail-before-forward" }));
    let (status, refused) = told(&relay, "PUT /mode", JSON, r#"{"mode":"drop"}"#).await;
    assert_eq!(status, 400);
    assert!(refused["error"].as_str().unwrap().contains("forward-then-drop-response"));
}

#[tokio::test]
async fn a_rule_is_added_shown_and_forgotten() {
    let (provider, relay) = controlled().await;
    let rule = json!({ "fault": "duplicate", "times": 2, "matches": { "method": "POST", "path_prefix": "/refunds" } });

    let (status, added) = told(&relay, "POST /rules", JSON, &rule.to_string()).await;
    ask(&relay, &closing(POST)).await;
    let (_, left) = told(&relay, "GET /rules", "", "").await;
    let (gone, _) = told(&relay, "DELETE /rules", "", "").await;
    ask(&relay, &closing(POST)).await;

    assert_eq!((status, &added["times"]), (201, &json!(2)));
    assert_eq!((&left[0]["times"], gone), (&json!(1), 204));
    assert_eq!(provider.ledger().executions.len(), 3);
}

#[tokio::test]
async fn a_rule_that_cannot_be_is_refused() {
    let (_provider, relay) = controlled().await;
    for (body, wanted) in [
        (r#"{"fault":"duplicate","times":0}"#, 422),
        (r#"{"fault":"duplicate","time":1}"#, 400),
        (r#"{"times":1}"#, 400),
        ("", 400),
    ] {
        assert_eq!(told(&relay, "POST /rules", JSON, body).await.0, wanted, "{body}");
    }
    assert_eq!(
        relay.add_rule(Rule { times: 0, ..Rule::next(Fault::Duplicate) }).unwrap_err().to_string(),
        "the rule cannot be used: times is 0"
    );
}

#[tokio::test]
async fn a_page_in_a_browser_cannot_steer_it() {
    let (_provider, relay) = controlled().await;
    let mode = r#"{"mode":"fail-before-forward"}"#;

    let form = told(&relay, "PUT /mode", "Content-Type: text/plain\r\n", mode).await.0;
    let rebound = told(&relay, "PUT /mode", &format!("Host: evil.test\r\n{JSON}"), mode).await.0;
    let local = told(&relay, "GET /mode", "Host: localhost:1\r\n", "").await.0;
    let six = told(&relay, "GET /mode", "Host: [::1]\r\n", "").await.0;

    assert_eq!((form, rebound, local, six), (415, 403, 200, 200));
    assert_eq!(relay.mode(), Mode::ForwardAndRespond);
    assert_eq!((told(&relay, "GET /else", "", "").await.0, told(&relay, "PATCH /mode", "", "").await.0), (404, 405));
}
