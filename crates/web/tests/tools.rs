//! Tools over plain HTTP: every word that an agent can be told, and that nothing a model writes is a key or a flow.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use axum::body::Body;
use common::{
    Got, Options, ProviderAnswer, Web,
    agent::{agent, decide, note_schema, turn},
    data, key, text,
};
use effectgate_core::{
    approval::Verdict,
    budget::{Budget, Holder, Per},
    gate::Gate,
    ids::ProviderName,
};
use effectgate_engine::keys::KeyScope;
use http::Request;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

const NOTE: &str = r#"{"target":"A-17","text":"hello"}"#;
const PATH: &str = "/v1/tools/ticket/note";

fn with_schema(gate: Gate) -> Options {
    Options { gate, note_schema: Some(note_schema()), ..Options::default() }
}

async fn send(web: &Web, path: &str, headers: &[(&str, &str)], body: &str) -> Got {
    let mut request = Request::post(path).header("content-type", "application/json");
    request = request.header("authorization", format!("Bearer {}", web.token(KeyScope::Worker)));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    web.send(request.body(Body::from(body.to_owned())).unwrap()).await
}

async fn call(web: &Web, key: &str, arguments: &str) -> Value {
    send(web, PATH, &[("idempotency-key", key)], arguments).await.is(200).json()
}

#[track_caller]
fn is(got: &Value, word: &str) {
    assert_eq!(got["answer"], word, "{got}");
    let says_no = got["message"].as_str().unwrap().contains("Do not call it again for this request");
    assert_eq!(says_no, got["run_id"].is_string(), "only where nothing was kept may a model call again: {got}");
}

#[tokio::test]
async fn a_call_is_done_once_and_a_repeat_says_so_with_the_same_ids() {
    let web = agent(with_schema(Gate::None)).await;

    let first = call(&web, "req-1", NOTE).await;
    let again =
        send(&web, PATH, &[("idempotency-key", "\"req-1\"")], "{ \"text\": \"hello\", \"target\": \"A-17\" }").await;

    is(&first, "succeeded");
    assert_eq!(again.header("idempotent-replayed"), "true");
    let again = again.is(200).json();
    is(&again, "already_succeeded");
    assert_eq!(first["result_id"], "ext_1");
    assert_eq!(first["correlation_id"], first["run_id"]);
    for same in ["correlation_id", "run_id", "effect_id", "result_id"] {
        assert_eq!(first[same], again[same], "{same}");
        assert!(first[same].is_string(), "{same}");
    }
    assert_eq!(web.world.provider.seen(), [r#"{"text":"hello"}"#], "the target is no part of the payload");
}

#[tokio::test]
async fn the_correlation_id_of_the_first_call_is_that_of_every_other() {
    let web = agent(with_schema(Gate::None)).await;
    let named = |id: &'static str| [("idempotency-key", "req-1"), ("effectgate-correlation-id", id)];

    let bad = send(&web, PATH, &named("exec-1"), r#"{"target":"A-17"}"#).await.is(200).json();
    let first = send(&web, PATH, &named("exec-1"), NOTE).await.is(200).json();
    let again = send(&web, PATH, &named("exec-2"), NOTE).await.is(200).json();
    let other = call(&web, "req-1", r#"{"target":"A-17","text":"other"}"#).await;

    for got in [&bad, &first, &again, &other] {
        assert_eq!(got["correlation_id"], "exec-1", "{got}");
    }
    let twice = [("idempotency-key", "k"), ("effectgate-correlation-id", "a"), ("effectgate-correlation-id", "b")];
    send(&web, PATH, &twice, NOTE).await.is_problem(400, "bad_member");
    let and_url = format!("{PATH}?correlation_id=a");
    send(&web, &and_url, &named("b"), NOTE).await.is_problem(400, "bad_member");
}

#[tokio::test]
async fn a_person_is_never_waited_for_and_after_their_word_the_same_call_has_the_answer() {
    let web = agent(with_schema(Gate::Approve)).await;

    let waiting = call(&web, "req-1", NOTE).await;
    is(&waiting, "awaiting_approval");
    assert!(waiting["message"].as_str().unwrap().contains(waiting["approval_id"].as_str().unwrap()));
    is(&call(&web, "req-1", NOTE).await, "awaiting_approval");
    assert!(web.world.provider.seen().is_empty());

    decide(&web, waiting["approval_id"].as_str().unwrap(), Verdict::Approve).await;
    let done = call(&web, "req-1", NOTE).await;

    is(&done, "already_succeeded");
    assert_eq!((&done["correlation_id"], &done["result_id"]), (&waiting["correlation_id"], &json!("ext_1")));
    assert_eq!(web.world.provider.seen().len(), 1);
}

#[tokio::test]
async fn a_rejection_is_final_for_the_agent() {
    let web = agent(with_schema(Gate::Approve)).await;
    let waiting = call(&web, "req-1", NOTE).await;

    decide(&web, waiting["approval_id"].as_str().unwrap(), Verdict::Reject).await;
    let refused = call(&web, "req-1", NOTE).await;

    is(&refused, "refused");
    assert!(refused["message"].as_str().unwrap().contains("a person rejected it"), "{refused}");
    assert!(web.world.provider.seen().is_empty());
}

#[tokio::test]
async fn a_lost_answer_is_unknown_and_however_often_it_is_called_it_is_not_sent_again() {
    let web = agent(with_schema(Gate::None)).await;
    web.world.provider.push(ProviderAnswer::AcceptThenDrop);
    let engine = web.world.engine.clone();
    tokio::spawn(async move {
        loop {
            engine.sweep_tick().await.unwrap();
            tokio::task::yield_now().await;
        }
    });

    for _ in 0..3 {
        let got = call(&web, "req-1", NOTE).await;
        is(&got, "unknown");
        assert!(got["message"].as_str().unwrap().contains("do not try to reach the same in another way"), "{got}");
        assert!(got["effect_id"].is_string() && got["result_id"].is_null());
        web.world.clock.advance_ms(3_600_000);
        web.world.dispatch().await;
    }
    assert_eq!(web.world.provider.seen().len(), 1);
}

#[tokio::test]
async fn arguments_that_break_the_schema_are_refused_with_nothing_kept_and_may_be_corrected() {
    let web = agent(with_schema(Gate::None)).await;
    let table = [
        (r#"{"target":"A-17"}"#, ""),
        (r#"{"target":"A-17","text":""}"#, "/text"),
        (r#"{"target":"A-17","text":"x","key":"another"}"#, ""),
        (r#"{"target":"A-17","text":"x","idempotency_key":"another","flow":"other"}"#, ""),
        (r#"{"target":17,"text":"x"}"#, "/target"),
        (r#"{"text":"x"}"#, "/target"),
        (r#"["text"]"#, ""),
        (r#""text""#, ""),
    ];
    for (arguments, pointer) in table {
        let got = call(&web, "req-1", arguments).await;
        is(&got, "refused");
        assert_eq!(got["errors"][0]["pointer"], pointer, "{arguments}: {got}");
        assert!(got["message"].as_str().unwrap().contains("Correct them and call it once more"), "{got}");
    }
    send(&web, PATH, &[("idempotency-key", "req-1")], "{\"a\":1,\"a\":2}").await.is_problem(400, "duplicate_member");
    assert_eq!((web.runs().await, web.world.provider.seen().len()), (0, 0));

    is(&call(&web, "req-1", NOTE).await, "succeeded");
}

#[tokio::test]
async fn other_arguments_under_a_key_are_refused_by_name_and_nothing_is_merged() {
    let web = agent(with_schema(Gate::None)).await;
    let first = call(&web, "req-1", NOTE).await;

    let other = call(&web, "req-1", r#"{"target":"A-17","text":"secret"}"#).await;
    let elsewhere = call(&web, "req-1", r#"{"target":"B-1","text":"hello"}"#).await;
    let broken = call(&web, "req-1", r#"{"target":"B-1"}"#).await;

    for got in [&other, &elsewhere, &broken] {
        is(got, "refused");
        assert_eq!((&got["run_id"], &got["correlation_id"]), (&first["run_id"], &first["correlation_id"]));
    }
    assert_eq!(other["errors"][0]["pointer"], "/text");
    assert!(!other.to_string().contains("secret"));
    assert_eq!((web.runs().await, web.world.provider.seen().len()), (1, 1));
}

#[tokio::test]
async fn with_the_switch_off_a_call_is_accepted_and_done_when_it_is_on() {
    let web = agent(with_schema(Gate::None)).await;
    turn(&web, false).await;

    let held = call(&web, "req-1", NOTE).await;
    is(&held, "accepted");
    assert!(held["message"].as_str().unwrap().contains("switched off"), "{held}");
    assert!(web.world.provider.seen().is_empty());

    turn(&web, true).await;
    web.world.dispatch().await;
    is(&call(&web, "req-1", NOTE).await, "already_succeeded");
    assert_eq!(web.world.provider.seen().len(), 1);
}

#[tokio::test]
async fn what_goes_later_by_itself_is_accepted() {
    let window = agent(with_schema(Gate::CancelWindow { window_ms: 60_000 })).await;
    let got = call(&window, "req-1", NOTE).await;
    is(&got, "accepted");
    assert!(got["message"].as_str().unwrap().contains("a person may cancel it"), "{got}");

    let holder = Holder::Provider(ProviderName::new("crm"));
    let budget = Budget { holder, per: Per::Provider, window_ms: 3_600_000, max: 1, amount: None };
    let tight = agent(Options { budgets: vec![budget], ..with_schema(Gate::None) }).await;
    is(&call(&tight, "a", NOTE).await, "succeeded");
    let over = call(&tight, "b", NOTE).await;
    is(&over, "accepted");
    assert!(over["message"].as_str().unwrap().contains("a budget is used up"), "{over}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_identical_calls_at_once_are_one_effect_and_nine_are_told_that_it_was_done() {
    let web = agent(with_schema(Gate::None)).await;

    let calls = (0..10).map(|_| call(&web, "req-1", NOTE));
    let answers = futures_util::future::join_all(calls).await;

    let count = |word: &str| answers.iter().filter(|got| got["answer"] == word).count();
    assert_eq!((count("succeeded"), count("already_succeeded")), (1, 9), "{answers:?}");
    assert!(answers.iter().all(|got| got["result_id"] == "ext_1"));
    assert_eq!((web.runs().await, web.world.provider.seen().len()), (1, 1));
}

#[tokio::test]
async fn one_request_does_each_effect_type_once_and_another_request_does_it_again() {
    let web = agent(with_schema(Gate::None)).await;

    is(&call(&web, "req-1", NOTE).await, "succeeded");
    is(&send(&web, "/v1/tools/ticket/mail", &[("idempotency-key", "req-1")], NOTE).await.is(200).json(), "succeeded");
    is(&call(&web, "req-2", NOTE).await, "succeeded");
    // What a worker reserved under the bare key is another event.
    web.reserve("req-3", "{}", "w").await.is(201);
    is(&call(&web, "req-3", NOTE).await, "succeeded");

    assert_eq!((web.runs().await, web.world.provider.seen().len()), (5, 4));
}

#[tokio::test]
async fn every_digit_of_a_number_arrives_as_the_model_wrote_it() {
    let web = agent(with_schema(Gate::None)).await;
    let arguments = r#"{"target":"A-17","text":"x","amount":10.000000000000000001}"#;

    is(&call(&web, "req-1", arguments).await, "succeeded");
    is(&call(&web, "req-1", &arguments.replace("01}", "02}")).await, "refused");

    assert_eq!(web.world.provider.seen(), [r#"{"text":"x","amount":10.000000000000000001}"#]);
}

#[tokio::test]
async fn what_a_crash_left_between_the_two_commits_is_not_known_yet_and_the_next_call_goes_on() {
    let web = agent(with_schema(Gate::None)).await;
    web.reserve("tool:note:req-1:1", NOTE, "tool:of-a-process-that-died").await.is(201);

    let early = send(&web, &format!("{PATH}?wait_ms=0"), &[("idempotency-key", "req-1")], NOTE).await.is(200).json();
    is(&early, "unknown");
    web.world.clock.advance_ms(61_000);

    is(&call(&web, "req-1", NOTE).await, "succeeded");
    assert_eq!((web.runs().await, web.world.provider.seen().len()), (1, 1));
}

#[tokio::test]
async fn without_a_key_of_the_workflow_there_is_no_call() {
    let web = agent(Options::default()).await;

    let got = send(&web, PATH, &[], r#"{"target":"a","key":"mine","idempotency_key":"mine"}"#).await;
    let got = got.is_problem(400, "missing_key");
    assert!(got.json()["detail"].as_str().unwrap().contains("never a field that the model fills"));
    send(&web, "/v1/tools/ticket/nothing", &[("idempotency-key", "k")], NOTE).await.is_problem(404, "not_found");
    send(&web, "/v1/tools/absent/note", &[("idempotency-key", "k")], NOTE).await.is_problem(404, "not_found");
    for query in ["wait_ms=55001", "wait_ms=-1", "x=1", "key=a&key=b", "key=%ff", "key=a%00"] {
        send(&web, &format!("{PATH}?{query}"), &[], NOTE).await.is_problem(400, "bad_parameter");
    }
    let other = format!("{PATH}?key=other");
    send(&web, &other, &[("idempotency-key", "k")], NOTE).await.is_problem(400, "bad_key");
    let elsewhere = key(&web.world, "elsewhere", &[KeyScope::Worker], &["another".into()]).await;
    web.request("POST", PATH, Some(&elsewhere), NOTE).await.is_problem(403, "forbidden");
    web.request("POST", PATH, Some(web.token(KeyScope::Viewer)), NOTE).await.is_problem(403, "forbidden");

    assert_eq!((web.runs().await, web.world.provider.seen().len()), (0, 0));
}

#[tokio::test]
async fn members_of_the_arguments_that_look_like_keys_are_payload_and_nothing_else() {
    let web = agent(Options::default()).await;
    let arguments = r#"{"target":"a","key":"req-2","flow":"other","effect_type":"mail","Idempotency-Key":"req-3"}"#;

    is(&call(&web, "req-1", arguments).await, "succeeded");

    let runs = web.get("/v1/runs?limit=200").await.is(200).json()["runs"].clone();
    assert_eq!((runs.as_array().unwrap().len(), &runs[0]["key"]), (1, &json!("tool:note:req-1:1")));
    assert_eq!(runs[0]["flow"], "ticket");
    assert_eq!(web.world.provider.seen(), [arguments.replace(r#""target":"a","#, "")]);
}

fn encoded(key: &str) -> String {
    format!("{PATH}?key={}", utf8_percent_encode(key, NON_ALPHANUMERIC))
}

/// A handed raw request, aimed at the tool: its headers as they are, our path and key.
fn aimed(file: &str, web: &Web) -> Vec<u8> {
    let raw = data(file);
    let at = raw.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let mut bytes = format!("POST {PATH} HTTP/1.1\r\n").into_bytes();
    bytes.extend(format!("Authorization: Bearer {}\r\nConnection: close\r\n", web.token(KeyScope::Worker)).bytes());
    for line in raw[..at].split(|b| *b == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.starts_with(b"Content-Length") {
            bytes.extend(line);
            bytes.extend(b"\r\n");
        }
    }
    bytes.extend(format!("Content-Length: {}\r\n\r\n{NOTE}", NOTE.len()).bytes());
    bytes
}

#[tokio::test]
async fn hc_11_a_cyrillic_key_goes_into_the_url_and_has_the_one_length_there() {
    let web = agent(with_schema(Gate::None)).await;
    let server = web.serve().await;

    let got = server.raw(&aimed("hc11-request.http", &web)).await;
    assert!(got.starts_with("HTTP/1.1 400") && got.contains("header_not_ascii") && got.contains("?key="), "{got}");
    assert_eq!(web.runs().await, 0);
    for count in [100, 127, 128, 255] {
        let key = text(&format!("hc11-key-{count}.txt"));
        is(&send(&web, &encoded(&key), &[], NOTE).await.is(200).json(), "succeeded");
        is(&send(&web, &encoded(&key), &[], NOTE).await.is(200).json(), "already_succeeded");
    }
    send(&web, &encoded(&text("hc11-key-256.txt")), &[], NOTE).await.is_problem(400, "bad_key");
    assert_eq!((web.runs().await, web.world.provider.seen().len()), (4, 4));

    is(&send(&web, &encoded("order 17"), &[], NOTE).await.is(200).json(), "succeeded");
    let header = send(&web, PATH, &[("idempotency-key", "order 17")], NOTE).await.is(200).json();
    is(&header, "already_succeeded");
    let both = send(&web, &encoded("order 17"), &[("idempotency-key", "\"order 17\"")], NOTE).await.is(200).json();
    is(&both, "already_succeeded");
    server.stop().await;
}

#[tokio::test]
async fn hc_12_two_key_headers_call_nothing_and_both_spellings_are_one_request() {
    let web = agent(with_schema(Gate::None)).await;
    let server = web.serve().await;
    for file in ["hc12-different.http", "hc12-listed.http", "hc12-same.http"] {
        let got = server.raw(&aimed(file, &web)).await;
        assert!(got.starts_with("HTTP/1.1 400") && got.contains("\"bad_key\""), "{file}: {got}");
    }
    assert_eq!(web.runs().await, 0);

    let quoted = server.raw(&aimed("hc12-quoted.http", &web)).await;
    let plain = server.raw(&aimed("hc12-plain.http", &web)).await;

    assert!(quoted.contains("\"succeeded\"") && plain.contains("\"already_succeeded\""), "{quoted} {plain}");
    assert_eq!((web.runs().await, web.world.provider.seen().len()), (1, 1));
    server.stop().await;
}

#[tokio::test]
async fn hc_13_blank_and_unexpanded_keys_call_nothing() {
    let web = agent(with_schema(Gate::None)).await;

    for line in text("hc13-keys.jsonl").lines() {
        let key: String = serde_json::from_str(line).unwrap();
        send(&web, &encoded(&key), &[], NOTE).await.is_problem(400, "bad_key");
        if let Ok(value) = http::HeaderValue::from_bytes(key.as_bytes()) {
            let request =
                Request::post(PATH).header("content-type", "application/json").header("idempotency-key", value);
            let request = request.header("authorization", format!("Bearer {}", web.token(KeyScope::Worker)));
            web.send(request.body(Body::from(NOTE)).unwrap()).await.is_problem(400, "bad_key");
        }
    }
    send(&web, &format!("{PATH}?key"), &[], NOTE).await.is_problem(400, "bad_key");

    assert_eq!((web.runs().await, web.world.provider.seen().len()), (0, 0));
}
