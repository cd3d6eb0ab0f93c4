//! kill -9 of the gate while it brings a run to its worker, then the same data again: the run is taken over when the
//! lease is over, a worker that got it before the crash is refused once somebody else has it, and until then its word
//! counts.

use effectgate_testkit::provider::{Act, Received, ScriptedProvider, Step};
use serde_json::{Value, json};

use crate::{
    config::{HEAD, Head, NOBODY, http, ungated},
    ground::{Answer, Backend, Calls as _, Ground, eventually, on_both_backends},
    support::{Gate, KEY},
};

on_both_backends! {
    killed_before_the_worker_is_called;
    killed_while_the_worker_has_the_run_and_has_not_answered;
    killed_with_the_workers_yes_in_hand;
    a_worker_that_was_called_before_the_crash_may_complete_after_it;
    an_event_reaches_its_worker_and_the_story_says_so;
    a_worker_that_comes_up_late_gets_what_waited_for_it;
}

/// The shortest lease that the config takes for calls of this length is 6.5 s.
fn config(worker: &str) -> String {
    let head = Head { connections_max: Some(4), ..HEAD };
    let deliver = format!("deliver = {{ url = \"{worker}/webhook/ticket\", timeout_ms = 1_500, lease_ms = 6_500 }}");
    let crm = http("crm", NOBODY, r#"effects.note = { path = "/notes" }"#);
    let source = "[sources.shop]\nflow = \"ticket\"\nsignature = { scheme = \"none\" }\nkey = \"/id\"";
    head.with(&[&crm, &ungated("ticket", "note", "crm"), "lease_ms_min = 100", source, &deliver])
}

const EVENT: &str = r#"{"id":"order-1", "total": 12.50}"#;

fn knock(gate: &Gate) -> Option<Answer> {
    gate.exchange("POST", "/in/shop", &[("content-type", "application/json")], EVENT)
}

/// The event is in, and the run that it became.
fn accepted(gate: &Gate) -> String {
    let answer = knock(gate).unwrap();
    assert_eq!((answer.status, answer.body["answer"].as_str()), (202, Some("accepted")), "{}", answer.text);
    answer.body["run_id"].as_str().unwrap().to_owned()
}

/// What a worker says with the owner and fence it was called with.
fn completes(gate: &Gate, got: &Received, id: &str) -> Answer {
    let fence = got.header("effectgate-fence").unwrap().parse().unwrap();
    let lease = (got.header("effectgate-owner").unwrap(), fence);
    gate.under_lease("complete", id, lease, &json!({ "result": { "by": fence } })).unwrap()
}

fn fences(worker: &ScriptedProvider) -> Vec<String> {
    let fence = |got: &Received| got.header("effectgate-fence").unwrap().to_owned();
    worker.ledger().requests.iter().filter(|got| got.complete).map(fence).collect()
}

fn until(gate: &Gate, id: &str, state: &str) -> Value {
    eventually(&format!("{id} {state}"), || {
        let run = gate.get(&format!("/v1/runs/{id}"));
        (run["state"] == state).then_some(run)
    })
}

async fn killed_before_the_worker_is_called(backend: Backend) {
    let worker = ScriptedProvider::start([]).await;
    let Some(ground) = Ground::new(backend, &config(&worker.url())).await else { return };
    let gate = ground.serve_with("deliver.after_claim", "pause");
    let id = accepted(&gate);
    ground.until_at("deliver.after_claim");
    gate.kill();
    assert!(fences(&worker).is_empty());

    let gate = ground.serve();
    worker.requests(1).await;

    assert_eq!(fences(&worker), ["2"], "once, and by the next claim");
    let got = worker.ledger().requests[0].clone();
    assert_eq!(completes(&gate, &got, &id).status, 200);
    until(&gate, &id, "completed");
    assert_eq!(ground.verify()["verified"], true);
}

async fn killed_while_the_worker_has_the_run_and_has_not_answered(backend: Backend) {
    let worker = ScriptedProvider::start([Act::ReadThenSilence.into(), Step::answer(200, "")]).await;
    let Some(ground) = Ground::new(backend, &config(&worker.url())).await else { return };
    let gate = ground.serve();
    let id = accepted(&gate);
    worker.requests(1).await;
    gate.kill();

    taken_over(&ground, &worker, &id).await;
}

async fn killed_with_the_workers_yes_in_hand(backend: Backend) {
    let worker = ScriptedProvider::start([]).await;
    let Some(ground) = Ground::new(backend, &config(&worker.url())).await else { return };
    let gate = ground.serve_with("deliver.after_answer", "pause");
    let id = accepted(&gate);
    ground.until_at("deliver.after_answer");
    gate.kill();

    taken_over(&ground, &worker, &id).await;
}

/// The next delivery has a higher fence, and the worker of the first is refused by its own.
async fn taken_over(ground: &Ground, worker: &ScriptedProvider, id: &str) {
    let gate = ground.serve();
    worker.requests(2).await;
    assert_eq!(fences(worker), ["1", "2"]);
    let (late, next) = (worker.ledger().requests[0].clone(), worker.ledger().requests[1].clone());

    let refused = completes(&gate, &late, id);
    assert_eq!((refused.status, refused.code()), (409, "lease_lost"), "{}", refused.text);
    assert_eq!(gate.get(&format!("/v1/runs/{id}"))["state"], "processing", "a late worker changes nothing");

    assert_eq!(completes(&gate, &next, id).status, 200);
    let run = until(&gate, id, "completed");
    assert_eq!(run["result"]["by"], 2);
    assert_eq!(knock(&gate).unwrap().body["answer"], "duplicate");
}

async fn a_worker_that_was_called_before_the_crash_may_complete_after_it(backend: Backend) {
    let worker = ScriptedProvider::start([]).await;
    let Some(ground) = Ground::new(backend, &config(&worker.url())).await else { return };
    let gate = ground.serve_with("deliver.after_answer", "pause");
    let id = accepted(&gate);
    ground.until_at("deliver.after_answer");
    gate.kill();

    let gate = ground.serve();
    let got = worker.ledger().requests[0].clone();
    let answer = completes(&gate, &got, &id);

    assert_eq!(answer.status, 200, "its lease lives: {}", answer.text);
    assert_eq!(fences(&worker), ["1"], "and nobody else was called");
}

async fn an_event_reaches_its_worker_and_the_story_says_so(backend: Backend) {
    let worker = ScriptedProvider::start([]).await;
    let Some(ground) = Ground::new(backend, &config(&worker.url())).await else { return };
    let gate = ground.serve();
    let id = accepted(&gate);

    let story = eventually("the delivery on record", || {
        let story = gate.explain(&id);
        (story["delivery"]["state"] == "delivered").then_some(story)
    });

    assert_eq!(story["delivery"]["source"], "shop");
    assert_eq!(story["delivery"]["calls"], 1);
    let ready = gate.ask("GET", "/readyz", &[], &Value::Null).unwrap();
    let workers: Vec<_> = ready.body["workers"].as_array().unwrap().iter().map(|w| w["worker"].clone()).collect();
    assert!(workers.contains(&json!("deliverer")), "{workers:?}");
    let metrics = gate.call("GET", "/metrics", &Value::Null).unwrap().text;
    let counted = r#"effectgate_deliveries_total{source="shop",outcome="delivered"} 1"#;
    assert!(metrics.contains(counted), "{metrics}");
    let told = ground.house.run(&["explain", "order-1", "--url", &gate.url, "--key", KEY]);
    assert!(told.out.contains("came in at shop, delivered"), "{}", told.out);
}

async fn a_worker_that_comes_up_late_gets_what_waited_for_it(backend: Backend) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let Some(ground) = Ground::new(backend, &config(&format!("http://127.0.0.1:{port}"))).await else { return };
    let gate = ground.serve();
    let id = accepted(&gate);
    let story = eventually("nobody there", || {
        let story = gate.explain(&id);
        (story["reason"]["code"] == "undelivered").then_some(story)
    });
    assert_eq!(story["delivery"]["state"], "undelivered");
    assert_eq!(gate.get(&format!("/v1/runs/{id}"))["attempts"], 0, "no attempt is counted");

    let worker = ScriptedProvider::start_on(port).await.unwrap();
    worker.requests(1).await;

    assert_eq!(completes(&gate, &worker.ledger().requests[0].clone(), &id).status, 200);
}
