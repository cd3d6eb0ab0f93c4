//! Two workflows that do the same: one calls its provider by itself, as workflows do, and one goes through the gate. Both
//! are small HTTP servers here, triggered, watched and counted by certify as a user's own would be.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::Command,
    thread,
};

use effectgate_testkit::provider::ScriptedProvider;
use serde_json::{Value, json};

use crate::{
    config::{HEAD, http, ungated},
    ground::Calls as _,
    support::{House, KEY, effectgate},
    verdicts::{Verdicts, free_port, verdicts},
};

/// A server that answers every POST by what `work` makes of the event; ends with the process.
fn serve(work: impl Fn(Value) -> u16 + Send + Sync + Clone + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/webhook", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let work = work.clone();
            thread::spawn(move || answer(stream, &work));
        }
    });
    url
}

fn answer(mut stream: TcpStream, work: &impl Fn(Value) -> u16) {
    let mut bytes = Vec::new();
    let event = loop {
        let mut some = [0; 4_096];
        let n = stream.read(&mut some).unwrap_or(0);
        if n == 0 {
            return;
        }
        bytes.extend_from_slice(&some[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let whole = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str::<Value>(body).ok());
        if let Some(event) = whole {
            break event;
        }
    };
    let status = work(event);
    let _ = write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
}

/// Makes the refund at the provider; false if no answer came.
fn refund(provider: &str, event: &Value) -> bool {
    let body = json!({ "order": event["id"], "cents": 4_900 }).to_string();
    let answer = provider.to_owned().exchange("POST", "/v1/refunds", &[("content-type", "application/json")], &body);
    answer.is_some_and(|answer| answer.status < 300)
}

fn certify(workflow: &str, sandbox: &ScriptedProvider, relay: &str) -> Verdicts {
    verdicts(&mut certify_command(workflow, sandbox, relay))
}

fn certify_command(workflow: &str, sandbox: &ScriptedProvider, relay: &str) -> Command {
    let url = sandbox.url();
    let mut certify = effectgate(&["certify", "--json", "--workflow", workflow, "--provider-sandbox", &url]);
    certify.args(["--relay", relay, "--effect-path", "/v1/refunds", "--look-on-ms", "800"]);
    certify
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workflow_without_the_gate_is_not_ready() {
    let sandbox = ScriptedProvider::start([]).await;
    let relay = format!("127.0.0.1:{}", free_port());
    let provider = format!("http://{relay}");
    // As a node with Retry on Fail: once more where no answer came.
    let workflow = serve(move |event| if refund(&provider, &event) || refund(&provider, &event) { 200 } else { 500 });

    let judged = tokio::task::block_in_place(|| certify(&workflow, &sandbox, &relay));

    assert_eq!(judged.code, 1, "{:#}", judged.report);
    assert_eq!(judged.of("workflow_once"), "pass", "{:#}", judged.report);
    for item in ["workflow_duplicate", "workflow_lost_answer", "workflow_retry"] {
        assert_eq!(judged.of(item), "fail", "{:#}", judged.report);
    }
    let ten = judged.items().find(|item| item["id"] == "workflow_duplicate").unwrap();
    assert_eq!(ten["reason"], "effects at the sandbox: 10 (must be 1)", "{ten:#}");
}

/// Every delivery makes two requests, both under the event's key.
fn refund_twice(provider: &String, event: &Value) -> u16 {
    let body = json!({ "order": event["id"] }).to_string();
    let key = event["id"].as_str().unwrap();
    let refund = || provider.exchange("POST", "/v1/refunds", &[("idempotency-key", key)], &body);
    let answers = [refund(), refund()];
    if answers.iter().all(Option::is_some) { 200 } else { 500 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_delivery_that_makes_two_requests_is_red_unless_the_sandbox_itself_counts_one() {
    let sandbox = ScriptedProvider::start([]).await;
    sandbox.enforce("idempotency-key");
    let relay = format!("127.0.0.1:{}", free_port());
    let provider = format!("http://{relay}");
    let workflow = serve(move |event| refund_twice(&provider, &event));
    let ledger = format!("http://{}/_ledger", sandbox.control_address());
    let counts: [&[&str]; 2] = [&[], &["--count", &ledger, "--count-at", "/executions"]];

    let verdicts = counts.map(|count| {
        tokio::task::block_in_place(|| {
            let mut certify = certify_command(&workflow, &sandbox, &relay);
            verdicts(certify.args(["--only", "workflow_once"]).args(count))
        })
    });

    assert_eq!(verdicts[0].all(), [("workflow_once", "fail")], "{:#}", verdicts[0].report);
    assert_eq!(verdicts[0].report["items"][0]["reason"], "effects at the sandbox: 2 (must be 1)");
    assert_eq!(verdicts[1].all(), [("workflow_once", "pass")], "{:#}", verdicts[1].report);
}

const PAY: &str = r#"
timeout_ms = 5_000
[providers.pay.effects.refund]
path = "/v1/refunds"
external_id = "/id"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workflow_behind_the_gate_is_ready() {
    let sandbox = ScriptedProvider::start([]).await;
    let relay = format!("127.0.0.1:{}", free_port());
    let house =
        House::with(&HEAD.with(&[&http("pay", &format!("http://{relay}"), PAY), &ungated("refund", "refund", "pay")]));
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let url = gate.url.clone();
    let workflow = serve(move |event| gated(&url, &event));

    let judged = tokio::task::block_in_place(|| certify(&workflow, &sandbox, &relay));

    assert_eq!(judged.code, 0, "{:#}", judged.report);
    assert_eq!(judged.items().count(), 4);
    // Four cases, an event each, an effect each.
    assert_eq!(sandbox.ledger().executions.len(), 4, "{:#?}", sandbox.ledger());
}

/// Reserves, and the winner proposes; everybody else stops.
fn gated(gate: &String, event: &Value) -> u16 {
    let key = format!("refund:{}", event["id"].as_str().unwrap_or_default());
    let owner = format!("execution-{:?}", thread::current().id());
    let Some(answer) = gate.reserve("refund", &key, &owner) else { return 500 };
    if answer.status != 201 {
        return 200;
    }
    let effect = json!({ "type": "refund", "target": "there", "payload": { "order": key } });
    let lease = (owner.as_str(), answer.fence());
    let proposed = gate.under_lease("proposal", &answer.run_id(), lease, &json!({ "output": {}, "effects": [effect] }));
    proposed.map_or(500, |answer| answer.status)
}
