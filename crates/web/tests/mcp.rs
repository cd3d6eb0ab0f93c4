//! Tools over the Model Context Protocol: the messages that n8n's client sends, word for word, and the official client
//! over a socket. Whatever stands in an envelope or in arguments, the key is the workflow's.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use axum::body::Body;
use common::{
    Got, Options, ProviderAnswer, Web,
    agent::{agent, decide, note_schema, turn},
    data, key, text,
};
use effectgate_core::{approval::Verdict, gate::Gate};
use effectgate_engine::keys::KeyScope;
use http::Request;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rmcp::{
    ServiceExt as _,
    model::CallToolRequestParams,
    transport::{
        StreamableHttpClientTransport, UnixSocketHttpClient,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Value, json};
use tokio::net::{TcpStream, UnixListener};

fn options(gate: Gate) -> Options {
    Options { gate, note_schema: Some(note_schema()), refunds: true, ..Options::default() }
}

/// A message as n8n sends it: both types accepted, the version in a header, a bearer key.
async fn post(web: &Web, query: &str, message: &str) -> Got {
    let request = Request::post(format!("/mcp/ticket{query}"))
        .header("host", "effectgate:8787")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25")
        .header("authorization", format!("Bearer {}", web.token(KeyScope::Worker)));
    web.send(request.body(Body::from(message.to_owned())).unwrap()).await
}

async fn call(web: &Web, query: &str, name: &str, arguments: &str) -> Value {
    let message = format!(
        r#"{{"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}},"jsonrpc":"2.0","id":2}}"#
    );
    post(web, query, &message).await.is(200).json()["result"].clone()
}

const NOTE: &str = r#"{"target":"A-17","text":"hello"}"#;
const INITIALIZE: &str = r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"clientInfo":{"name":"@n8n/n8n-nodes-langchain.mcpClientTool","version":"1.2"}},"jsonrpc":"2.0","id":0}"#;
const INITIALIZED: &str = r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#;
const LIST: &str = r#"{"method":"tools/list","params":{},"jsonrpc":"2.0","id":1}"#;

#[track_caller]
fn is(result: &Value, word: &str) {
    let told = &result["structuredContent"];
    assert_eq!(told["answer"], word, "{result}");
    assert_eq!(result["isError"], word == "refused", "{result}");
    assert_eq!((&result["content"][0]["type"], &result["content"][0]["text"]), (&json!("text"), &told["message"]));
}

#[tokio::test]
async fn what_n8n_sends_is_answered_and_the_tools_are_the_flows_effect_types() {
    let web = agent(options(Gate::None)).await;

    for _ in 0..3 {
        let hello = post(&web, "?key=req-1", INITIALIZE).await.is(200);
        assert_eq!((hello.header("content-type"), hello.header("mcp-session-id")), ("application/json", ""));
        let hello = hello.json()["result"].clone();
        assert_eq!(
            (&hello["protocolVersion"], &hello["serverInfo"]["name"]),
            (&json!("2025-11-25"), &json!("effectgate"))
        );
        post(&web, "?key=req-1", INITIALIZED).await.is(202);
        let tools = post(&web, "?key=req-1", LIST).await.is(200).json()["result"]["tools"].clone();
        let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["create_refund", "mail", "note"]);
        let note = &tools[2];
        assert_eq!(note["inputSchema"]["properties"]["text"], json!({"type": "string", "minLength": 1}));
        assert_eq!(note["inputSchema"]["required"], json!(["text", "target"]));
        assert_eq!(note["inputSchema"]["additionalProperties"], false);
        assert_eq!(note["annotations"]["idempotentHint"], true);
        assert_eq!(tools[0]["inputSchema"]["properties"]["target"], Value::Null, "the flow says where it lies");
    }
    is(&call(&web, "?key=req-1", "note", NOTE).await, "succeeded");

    let again = call(&web, "?key=req-1", "note", NOTE).await;
    is(&again, "already_succeeded");
    assert_eq!(again["structuredContent"]["result_id"], "ext_1");
    assert_eq!((web.runs().await, web.world.provider.seen()), (1, vec![r#"{"text":"hello"}"#.to_owned()]));
}

#[tokio::test]
async fn both_doors_are_one_tool() {
    let web = agent(options(Gate::None)).await;
    let arguments = r#"{"target":"A-17","text":"x","amount":10.000000000000000001}"#;

    is(&call(&web, "?key=req-1&correlation_id=exec-1", "note", arguments).await, "succeeded");
    let other = web.post("/v1/tools/ticket/note?key=req-1", arguments).await.is(200).json();

    assert_eq!((&other["answer"], &other["correlation_id"]), (&json!("already_succeeded"), &json!("exec-1")));
    assert_eq!(web.world.provider.seen(), [r#"{"text":"x","amount":10.000000000000000001}"#], "every digit");
}

#[tokio::test]
async fn without_a_key_tools_are_listed_and_a_call_is_refused_with_a_sentence() {
    let web = agent(options(Gate::None)).await;

    let tools = post(&web, "", LIST).await.is(200).json()["result"]["tools"].clone();
    assert_eq!(tools.as_array().unwrap().len(), 3);
    for (query, said) in [("", "missing_key"), ("?key=", "bad_key"), ("?key=undefined", "bad_key")] {
        let refused =
            call(&web, query, "create_refund", r#"{"order":"A-17","key":"mine","idempotency_key":"mine"}"#).await;
        let told = refused["content"][0]["text"].as_str().unwrap();
        assert!(
            refused["isError"] == true && told.contains(said) && told.contains("Do not call it again"),
            "{refused}"
        );
    }

    assert_eq!((web.runs().await, web.world.provider.seen().len()), (0, 0));
}

#[tokio::test]
async fn every_word_is_told_through_this_door_too() {
    let person = agent(options(Gate::Approve)).await;
    let waiting = call(&person, "?key=req-1", "note", NOTE).await;
    is(&waiting, "awaiting_approval");
    let approval = waiting["structuredContent"]["approval_id"].as_str().unwrap().to_owned();
    decide(&person, &approval, Verdict::Reject).await;
    is(&call(&person, "?key=req-1", "note", NOTE).await, "refused");

    let web = agent(options(Gate::None)).await;
    let bad = call(&web, "?key=req-1", "note", r#"{"target":"A-17","text":"x","key":"mine"}"#).await;
    is(&bad, "refused");
    assert!(bad["structuredContent"]["errors"][0]["message"].is_string() && web.runs().await == 0);
    is(&call(&web, "?key=req-1", "note", NOTE).await, "succeeded");
    is(&call(&web, "?key=req-1", "note", r#"{"target":"B-1","text":"hello"}"#).await, "refused");

    web.world.provider.push(ProviderAnswer::AcceptThenDrop);
    is(&call(&web, "?key=req-2&wait_ms=1000", "note", NOTE).await, "unknown");
    turn(&web, false).await;
    is(&call(&web, "?key=req-3", "note", NOTE).await, "accepted");
    assert_eq!(web.world.provider.seen().len(), 2);
}

#[tokio::test]
async fn hc_10_the_envelope_of_a_call_is_no_part_of_what_it_is() {
    let web = agent(options(Gate::None)).await;
    let sent = async |n: u8| post(&web, "?key=req-1", &text(&format!("hc10-{n}.json"))).await.is(200).json();

    let (first, second, third) = (sent(1).await, sent(2).await, sent(3).await);

    assert_eq!((&first["id"], &second["id"], &third["id"]), (&json!(1), &json!(2), &json!(3)));
    is(&first["result"], "succeeded");
    is(&second["result"], "already_succeeded");
    is(&third["result"], "refused");
    let third = &third["result"]["structuredContent"];
    assert_eq!(third["errors"][0]["pointer"], "/amount", "names, not values");
    assert!(!third.to_string().contains("52.00"));
    assert_eq!(web.world.provider.seen(), [r#"{"order":"A-17","amount":"25.00"}"#]);
}

#[tokio::test]
async fn nothing_in_a_message_is_a_key_or_another_flow() {
    let web = agent(options(Gate::None)).await;
    let message = r#"{"jsonrpc":"2.0","id":"ticket/2","method":"tools/call","params":{"name":"create_refund",
        "arguments":{"order":"A-17","key":"req-2","flow":"other","Idempotency-Key":"req-3"},
        "_meta":{"progressToken":"req-4","idempotencyKey":"req-5","flow":"other"},"key":"req-6"},"key":"req-7"}"#;

    post(&web, "?key=req-1", message).await.is(200);

    let runs = web.get("/v1/runs?limit=200").await.is(200).json()["runs"].clone();
    assert_eq!((runs.as_array().unwrap().len(), &runs[0]["key"]), (1, &json!("tool:create_refund:req-1:1")));
    for name in ["../other/note", "absent", "ticket/note", "http"] {
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {}}});
        let got = post(&web, "?key=req-1", &message.to_string()).await;
        assert_eq!(got.json()["error"]["code"], -32602, "{name}: {}", got.text);
    }
    assert_eq!(web.runs().await, 1);
}

#[tokio::test]
async fn a_message_that_two_readers_read_differently_is_refused_before_it_is_one() {
    let web = agent(options(Gate::None)).await;
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{"target":"a","target":"b","text":"x"}}}"#;

    post(&web, "?key=k", twice).await.is_problem(400, "duplicate_member");
    post(&web, "?key=k", "{").await.is_problem(400, "invalid_json");
    let batch = post(&web, "?key=k", &format!("[{LIST}]")).await;
    assert!(batch.status.is_client_error(), "{}", batch.text);
    post(&web, "?key=a&key=b", LIST).await.is_problem(400, "bad_parameter");
    let other = post(&web, "?key=k", r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#).await;
    assert!(other.json()["error"]["code"].is_i64(), "{}", other.text);

    assert_eq!(web.runs().await, 0);
}

#[tokio::test]
async fn a_key_bound_to_another_flow_sees_no_tools_and_a_flow_that_is_not_there_has_none() {
    let web = agent(options(Gate::None)).await;
    let elsewhere = key(&web.world, "elsewhere", &[KeyScope::Worker], &["another".into()]).await;

    web.request("POST", "/mcp/ticket", Some(&elsewhere), LIST).await.is_problem(403, "forbidden");
    web.request("POST", "/mcp/absent", Some(web.token(KeyScope::Worker)), LIST).await.is_problem(404, "not_found");
    web.request("POST", "/mcp/ticket", None, LIST).await.is_problem(401, "unauthorized");
    web.request("GET", "/mcp/ticket", Some(web.token(KeyScope::Worker)), "")
        .await
        .is_problem(405, "method_not_allowed");
}

#[tokio::test]
async fn hc_11_a_cyrillic_key_in_the_url_names_the_same_request_through_both_doors() {
    let web = agent(options(Gate::None)).await;
    for count in [100, 255] {
        let key = utf8_percent_encode(&text(&format!("hc11-key-{count}.txt")), NON_ALPHANUMERIC).to_string();
        is(&call(&web, &format!("?key={key}"), "note", NOTE).await, "succeeded");
        let other = web.post(&format!("/v1/tools/ticket/note?key={key}"), NOTE).await.is(200).json();
        assert_eq!(other["answer"], "already_succeeded");
    }
    let long = utf8_percent_encode(&text("hc11-key-256.txt"), NON_ALPHANUMERIC).to_string();
    let refused = call(&web, &format!("?key={long}"), "note", NOTE).await;
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("longer than 255"), "{refused}");
    assert_eq!(web.runs().await, 2);
}

/// A handed raw request, aimed at this door: its headers as they are, our path, key and message.
fn aimed(file: &str, web: &Web) -> Vec<u8> {
    let raw = data(file);
    let at = raw.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let mut bytes = b"POST /mcp/ticket HTTP/1.1\r\nAccept: application/json, text/event-stream\r\n".to_vec();
    bytes.extend(format!("Authorization: Bearer {}\r\nConnection: close\r\n", web.token(KeyScope::Worker)).bytes());
    for line in raw[..at].split(|b| *b == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.starts_with(b"Content-Length") {
            bytes.extend(line);
            bytes.extend(b"\r\n");
        }
    }
    let message = text("hc10-1.json");
    bytes.extend(format!("Content-Length: {}\r\n\r\n{message}", message.len()).bytes());
    bytes
}

#[tokio::test]
async fn hc_12_two_key_headers_call_nothing_here_and_both_spellings_are_one_request() {
    let web = agent(options(Gate::None)).await;
    let server = web.serve().await;
    for file in ["hc12-different.http", "hc12-listed.http", "hc12-same.http", "hc11-request.http"] {
        let got = server.raw(&aimed(file, &web)).await;
        assert!(got.contains("bad_key") && got.contains("\"isError\":true"), "{file}: {got}");
    }
    assert_eq!(web.runs().await, 0);

    let quoted = server.raw(&aimed("hc12-quoted.http", &web)).await;
    let plain = server.raw(&aimed("hc12-plain.http", &web)).await;

    assert!(quoted.contains("\"succeeded\"") && plain.contains("\"already_succeeded\""), "{quoted} {plain}");
    assert_eq!((web.runs().await, web.world.provider.seen().len()), (1, 1));
    server.stop().await;
}

#[tokio::test]
async fn hc_13_blank_and_unexpanded_keys_call_nothing_here() {
    let web = agent(options(Gate::None)).await;
    for line in text("hc13-keys.jsonl").lines() {
        let key: String = serde_json::from_str(line).unwrap();
        let query = format!("?key={}", utf8_percent_encode(&key, NON_ALPHANUMERIC));
        let refused = call(&web, &query, "note", NOTE).await;
        assert!(
            refused["isError"] == true && refused["content"][0]["text"].as_str().unwrap().contains("bad_key"),
            "{line}"
        );
    }
    assert_eq!((web.runs().await, web.world.provider.seen().len()), (0, 0));
}

/// The server's TCP port behind a socket file, which is where the official client's own HTTP can go.
fn bridge(address: std::net::SocketAddr, path: &std::path::Path) {
    let listener = UnixListener::bind(path).unwrap();
    tokio::spawn(async move {
        loop {
            let (mut caller, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut server = TcpStream::connect(address).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut caller, &mut server).await;
            });
        }
    });
}

#[tokio::test]
async fn the_official_client_lists_and_calls() {
    let web = agent(options(Gate::None)).await;
    let (server, folder) = (web.serve().await, tempfile::tempdir().unwrap());
    let socket = folder.path().join("gate");
    bridge(server.address, &socket);
    let uri = "http://effectgate:8787/mcp/ticket?key=%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7-17";
    let http = UnixSocketHttpClient::new(socket.to_str().unwrap(), uri);
    let config = StreamableHttpClientTransportConfig::with_uri(uri).auth_header(web.token(KeyScope::Worker));

    let client = ().serve(StreamableHttpClientTransport::with_client(http, config)).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    let arguments = json!({"target": "A-17", "text": "hello"}).as_object().unwrap().clone();
    let note = CallToolRequestParams::new("note").with_arguments(arguments);
    let first = client.call_tool(note.clone()).await.unwrap();
    let again = client.call_tool(note).await.unwrap();

    assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), ["create_refund", "mail", "note"]);
    assert_eq!((first.is_error, again.is_error), (Some(false), Some(false)));
    assert_eq!(first.structured_content.unwrap()["answer"], "succeeded");
    assert_eq!(again.structured_content.unwrap()["answer"], "already_succeeded");
    assert_eq!((web.runs().await, web.world.provider.seen().len()), (1, 1));
    client.cancel().await.unwrap();
    server.stop().await;
}
