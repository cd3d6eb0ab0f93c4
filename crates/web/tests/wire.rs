//! Bytes on a real connection: bodies of both kinds, bodies that never end, two keys, many connections, a caller that
//! hangs up, a stop.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use std::time::Duration;

use common::{FLOW, Options, Server, Web, data, settings};
use effectgate_engine::keys::KeyScope;
use effectgate_web::WebSettings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A handed raw request, aimed at the API: its path, a key, and its body as the payload of a reservation. The chunk
/// sizes and lengths are made to fit; what is broken about them stays broken.
fn aimed(file: &str, web: &Web) -> Vec<u8> {
    let raw = data(file);
    let at = raw.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&raw[..at]).into_owned();
    let (open, close) = (format!(r#"{{"flow":"{FLOW}","owner":"w","payload":"#), "}");
    let more = open.len() + close.len();
    let mut lines = vec!["POST /v1/runs HTTP/1.1".to_owned()];
    lines.push(format!("Authorization: Bearer {}", web.token(KeyScope::Worker)));
    for line in head.split("\r\n").skip(1) {
        match line.split_once(": ") {
            Some(("Content-Length", n)) if !head.contains("Transfer-Encoding") => {
                lines.push(format!("Content-Length: {}", n.parse::<usize>().unwrap() + more));
            }
            _ => lines.push(line.to_owned()),
        }
    }
    let mut bytes = format!("{}\r\n\r\n", lines.join("\r\n")).into_bytes();
    let body = &raw[at + 4..];
    if head.contains("Transfer-Encoding") {
        let end = body.windows(5).position(|w| w == b"0\r\n\r\n").unwrap();
        bytes.extend(format!("{:x}\r\n{open}\r\n", open.len()).bytes());
        bytes.extend(&body[..end]);
        bytes.extend(format!("{:x}\r\n{close}\r\n", close.len()).bytes());
        bytes.extend(b"0\r\n\r\n");
    } else {
        bytes.extend(open.bytes());
        bytes.extend(body.strip_suffix(b"\n").unwrap_or(body));
        bytes.extend(close.bytes());
    }
    bytes
}

/// Raw header bytes of a handed file with our path and key, and a body of ours.
fn with_header(file: &str, web: &Web) -> Vec<u8> {
    let raw = data(file);
    let body = format!(r#"{{"flow":"{FLOW}","owner":"w","payload":{{"order":17}}}}"#);
    let mut bytes = b"POST /v1/runs HTTP/1.1\r\n".to_vec();
    bytes.extend(format!("Authorization: Bearer {}\r\nConnection: close\r\n", web.token(KeyScope::Worker)).bytes());
    let at = raw.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    for line in raw[..at].split(|b| *b == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.starts_with(b"Content-Length") {
            bytes.extend(line);
            bytes.extend(b"\r\n");
        }
    }
    bytes.extend(format!("Content-Length: {}\r\n\r\n{body}", body.len()).bytes());
    bytes
}

/// One answer on a connection that stays open.
async fn exchange(server: &Server, bytes: &[u8]) -> String {
    let mut stream = server.connect().await;
    stream.write_all(bytes).await.unwrap();
    read_answer(&mut stream).await
}

async fn read_answer(stream: &mut tokio::net::TcpStream) -> String {
    let mut answer = Vec::new();
    let mut chunk = [0; 4_096];
    loop {
        let n = stream.read(&mut chunk).await.unwrap();
        answer.extend(&chunk[..n]);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length =
                head.lines().find_map(|l| l.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned));
            length.is_some_and(|length| body.len() >= length.parse::<usize>().unwrap())
        });
        if whole || n == 0 {
            return text;
        }
    }
}

#[tokio::test]
async fn hc_44_chunked_and_fixed_are_the_same_payload() {
    let web = Web::new().await;
    let server = web.serve().await;

    let chunked = exchange(&server, &aimed("hc44-chunked.http", &web)).await;
    let fixed = exchange(&server, &aimed("hc44-fixed.http", &web)).await;

    assert!(chunked.starts_with("HTTP/1.1 201"), "{chunked}");
    assert!(fixed.starts_with("HTTP/1.1 201") && fixed.contains("\"repeated\":true"), "{fixed}");
    assert_eq!(web.runs().await, 1);
    server.stop().await;
}

#[tokio::test]
async fn hc_44_two_lengths_are_read_as_chunked_and_the_connection_is_closed() {
    let web = Web::new().await;
    let server = web.serve().await;
    exchange(&server, &aimed("hc44-fixed.http", &web)).await;

    // `raw` reads to the end, so this returns only because the server closes.
    let both = server.raw(&aimed("hc44-both.http", &web)).await;

    assert!(both.starts_with("HTTP/1.1 201") && both.contains("\"repeated\":true"), "never the first 4 bytes: {both}");
    assert_eq!(web.runs().await, 1);
    server.stop().await;
}

#[tokio::test]
async fn hc_44_a_sender_that_hangs_up_or_stalls_reserves_nothing() {
    let web = Web::over(Options::default(), WebSettings { body_timeout_ms: 200, ..settings() }).await;
    let server = web.serve().await;
    let short = aimed("hc44-short.http", &web);

    let stalled = server.raw(&short).await;
    let mut hangs_up = server.connect().await;
    hangs_up.write_all(&short).await.unwrap();
    hangs_up.shutdown().await.unwrap();
    let mut rest = Vec::new();
    hangs_up.read_to_end(&mut rest).await.unwrap();

    assert!(stalled.starts_with("HTTP/1.1 408") && stalled.contains("body_timeout"), "{stalled}");
    assert!(stalled.to_ascii_lowercase().contains("connection: close"));
    assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 400"), "{}", String::from_utf8_lossy(&rest));
    assert_eq!(web.runs().await, 0);
    server.stop().await;
}

#[tokio::test]
async fn hc_12_two_keys_on_one_request_are_refused_and_both_spellings_are_one_key() {
    let web = Web::new().await;
    let server = web.serve().await;
    for file in ["hc12-different.http", "hc12-listed.http", "hc12-same.http"] {
        let got = server.raw(&with_header(file, &web)).await;
        assert!(got.starts_with("HTTP/1.1 400") && got.contains("\"bad_key\""), "{file}: {got}");
    }
    assert_eq!(web.runs().await, 0);

    let quoted = server.raw(&with_header("hc12-quoted.http", &web)).await;
    let plain = server.raw(&with_header("hc12-plain.http", &web)).await;

    assert!(quoted.starts_with("HTTP/1.1 201"), "{quoted}");
    assert!(plain.contains("\"repeated\":true") && plain.contains("\"key\":\"pay-17\""), "{plain}");
    assert_eq!(web.runs().await, 1);
    server.stop().await;
}

#[tokio::test]
async fn hc_11_a_key_beyond_ascii_in_a_header_is_refused_and_offered_the_body() {
    let web = Web::new().await;
    let server = web.serve().await;

    let got = server.raw(&with_header("hc11-request.http", &web)).await;

    assert!(got.starts_with("HTTP/1.1 400") && got.contains("header_not_ascii") && got.contains("body"), "{got}");
    assert_eq!(web.runs().await, 0);
    server.stop().await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_whether_or_not_its_length_is_told() {
    let web = Web::over(Options::default(), WebSettings { body_bytes_max: 1_000, ..settings() }).await;
    let server = web.serve().await;
    let head = format!(
        "POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer {}\r\n",
        web.token(KeyScope::Worker)
    );

    let told = server.raw(format!("{head}Content-Length: 5000\r\n\r\n").as_bytes()).await;
    let chunk = format!("5dc\r\n{}\r\n", " ".repeat(1_500));
    let chunked = server.raw(format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunk}0\r\n\r\n").as_bytes()).await;

    for got in [told, chunked] {
        assert!(got.starts_with("HTTP/1.1 413") && got.contains("body_too_large"), "{got}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_caller_without_a_head_is_let_go() {
    let web = Web::over(Options::default(), WebSettings { header_timeout_ms: 100, ..settings() }).await;
    let server = web.serve().await;

    let got = server.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\n").await;

    assert!(got.is_empty() || got.starts_with("HTTP/1.1 408"), "{got}");
    server.stop().await;
}

#[tokio::test]
async fn connections_over_the_cap_wait_their_turn() {
    let web = Web::over(Options::default(), WebSettings { connections_max: 1, ..settings() }).await;
    let server = web.serve().await;
    let ask = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut first = server.connect().await;
    first.write_all(ask).await.unwrap();
    read_answer(&mut first).await;
    let mut second = server.connect().await;
    second.write_all(ask).await.unwrap();

    let early = tokio::time::timeout(Duration::from_millis(100), second.readable()).await;
    drop(first);
    let answer = read_answer(&mut second).await;

    assert!(early.is_err(), "the second connection was served beside the first");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(second);
    server.stop().await;
}

#[tokio::test]
async fn a_caller_that_hangs_up_cancels_nothing() {
    let web = Web::new().await;
    let server = web.serve().await;
    let whole = aimed("hc44-fixed.http", &web);
    for n in 0..20 {
        let mut bytes = String::from_utf8(whole.clone()).unwrap();
        bytes = bytes.replace("pay-17", &format!("pay-{n}"));
        let mut stream = server.connect().await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        drop(stream);
    }
    server.stop().await;

    // Each was done whole or not at all: the chains of those that are there verify.
    let verified = web.get("/v1/journal/verify").await.is(200).json();
    assert_eq!(verified["verified"], true, "{verified}");
}

#[tokio::test]
async fn a_stop_ends_idle_connections_and_takes_no_new_ones() {
    let web = Web::new().await;
    let server = web.serve().await;
    let address = server.address;
    let mut idle = server.connect().await;
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    read_answer(&mut idle).await;

    server.stop().await;

    let mut rest = Vec::new();
    assert_eq!(idle.read_to_end(&mut rest).await.unwrap(), 0);
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
