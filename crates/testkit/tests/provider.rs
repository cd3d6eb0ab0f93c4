//! The scripted provider itself: its lookups, its control routes, and the binary that outlives a killed gate.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use effectgate_testkit::provider::{Act, Lookup, Mode, ScriptedProvider};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn exchange(port: u16, request: &str) -> String {
    let mut io = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    io.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let mut piece = [0; 4_096];
    while !answer.contains("\r\n\r\n") || answer.len() < answer.find("\r\n\r\n").unwrap() + 4 + length_in(&answer) {
        match io.read(&mut piece).await {
            Ok(n) if n > 0 => answer.push_str(&String::from_utf8_lossy(&piece[..n])),
            _ => break,
        }
    }
    answer
}

fn length_in(answer: &str) -> usize {
    answer
        .split("Content-Length: ")
        .nth(1)
        .and_then(|r| r.split("\r\n").next())
        .and_then(|n| n.parse().ok())
        .unwrap_or(0)
}

fn body_of(answer: &str) -> Value {
    serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap()
}

fn post(key: &str) -> String {
    format!(
        "POST /notes HTTP/1.1\r\nIdempotency-Key: {key}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
    )
}

async fn found(provider: &ScriptedProvider, key: &str) -> usize {
    let answer = exchange(provider.address().port(), &format!("GET /lookup?ref={key} HTTP/1.1\r\n\r\n")).await;
    body_of(&answer)["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_lookup_finds_by_key_and_may_lag_lie_or_fail() {
    let provider = ScriptedProvider::start([]).await;
    let port = provider.address().port();
    exchange(port, &post("k:1")).await;

    assert_eq!((found(&provider, "k%3A1").await, found(&provider, "other").await), (1, 0));
    provider.set_lookup(Lookup::HiddenFor { requests: 2 });
    assert_eq!(
        (found(&provider, "k:1").await, found(&provider, "k:1").await, found(&provider, "k:1").await),
        (0, 0, 1)
    );
    provider.set_lookup(Lookup::Hidden);
    assert_eq!(found(&provider, "k:1").await, 0);
    provider.set_lookup(Lookup::Matches { count: 2 });
    assert_eq!(found(&provider, "k:1").await, 2);
    provider.set_lookup(Lookup::Status { status: 503 });
    assert!(exchange(port, "GET /lookup?ref=k HTTP/1.1\r\n\r\n").await.starts_with("HTTP/1.1 503"));
    provider.set_lookup(Lookup::Close);
    assert_eq!(exchange(port, "GET /lookup?ref=k HTTP/1.1\r\n\r\n").await, "");

    let ledger = provider.ledger();
    assert_eq!((ledger.requests.len(), ledger.executions.len(), ledger.lookups.len()), (1, 1, 9));
    assert_eq!(ledger.requests[0].body, b"{}");
}

#[tokio::test]
async fn a_request_that_never_became_whole_is_on_record_and_executes_nothing() {
    let provider = ScriptedProvider::start([]).await;

    let mut io = TcpStream::connect(provider.address()).await.unwrap();
    io.write_all(b"POST /notes HTTP/1.1\r\nContent-Length: 10\r\n\r\n123").await.unwrap();
    drop(io);

    let ledger = provider.until(|ledger| ledger.connections_ended == 1).await;
    assert_eq!((ledger.requests[0].complete, ledger.requests[0].body.as_slice()), (false, b"123".as_slice()));
    assert!(ledger.executions.is_empty());
}

#[tokio::test]
async fn another_body_under_a_known_key_is_answered_422_where_bodies_are_compared() {
    let provider = ScriptedProvider::start([]).await;
    let enforcing: Mode =
        serde_json::from_str(r#"{"enforcing": {"header": "Idempotency-Key", "compares_body": true}}"#).unwrap();
    provider.apply(enforcing);
    let port = provider.address().port();

    let first = exchange(port, &post("k")).await;
    let other = exchange(port, &post("k").replace("2\r\n{}", "3\r\n{ }")).await;
    provider.apply(Mode { forget_keys: true, ..Mode::default() });
    let after_the_window = exchange(port, &post("k")).await;

    assert!(first.starts_with("HTTP/1.1 201") && other.starts_with("HTTP/1.1 422"), "{first} {other}");
    assert!(after_the_window.ends_with(r#"{"id":"pred_2"}"#), "{after_the_window}");
}

/// Ends the process with the test, passed or not.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn the_binary_says_its_ports_and_is_led_through_its_control_port() {
    let mut child =
        Killed(Command::new(env!("CARGO_BIN_EXE_scripted-provider")).stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(child.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let ports: Value = serde_json::from_str(&line).unwrap();
    let port = |name: &str| u16::try_from(ports[name].as_u64().unwrap()).unwrap();
    let mode = serde_json::to_string(&Mode { push: vec![Act::ReadThenClose.into()], ..Mode::default() }).unwrap();

    let set = format!("POST /_mode HTTP/1.1\r\nContent-Length: {}\r\n\r\n{mode}", mode.len());
    assert!(exchange(port("control_port"), &set).await.starts_with("HTTP/1.1 200"));
    assert_eq!(exchange(port("port"), &post("k")).await, "");
    let ledger = body_of(&exchange(port("control_port"), "GET /_ledger HTTP/1.1\r\n\r\n").await);

    assert_eq!(ledger["executions"][0]["reference"], "k");
    let wrong = "POST /_mode HTTP/1.1\r\nContent-Length: 9\r\n\r\n{\"pus\":1}";
    assert!(exchange(port("control_port"), wrong).await.starts_with("HTTP/1.1 400"));
}
