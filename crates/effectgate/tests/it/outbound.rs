//! The outbound door of the real binary, over both databases: the workers run by themselves, the answer is the
//! provider's, a killed server and a second one give it again, and nothing goes out twice.

use effectgate_testkit::provider::{Act, ScriptedProvider, Step};
use serde_json::Value;

use crate::{
    config::{HEAD, http},
    ground::{Answer, Backend, Calls, Ground, on_both_backends},
    support::KEY,
};

const DOOR: &str = r#"
[providers.pay.out]
gate = "none"
reversible = true
impact = "low"
paths = ["/v1/refunds"]
external_id = "/id"
"#;

on_both_backends! {
    an_http_node_is_sent_once_and_answered_again_after_a_kill;
    an_id_that_no_database_keeps_loses_no_outcome;
    fifty_requests_under_one_key_are_one_request_at_the_far_side;
}

async fn ground(backend: Backend, script: impl IntoIterator<Item = Step>) -> Option<(ScriptedProvider, Ground)> {
    let provider = ScriptedProvider::start(script).await;
    let ground = Ground::new(backend, &HEAD.with(&[&http("pay", &provider.url(), DOOR)])).await?;
    Some((provider, ground))
}

fn refund(gate: &impl Calls, key: &str) -> Answer {
    let bearer = format!("Bearer {KEY}");
    let headers = [("authorization", bearer.as_str()), ("idempotency-key", key), ("content-type", "application/json")];
    gate.exchange("POST", "/out/pay/v1/refunds", &headers, "{\"amount\": 1.10}").unwrap()
}

async fn an_http_node_is_sent_once_and_answered_again_after_a_kill(backend: Backend) {
    let lost = Step::from(Act::ReadThenReset);
    let Some((provider, ground)) = ground(backend, [Step::created(), lost]).await else { return };
    let gate = ground.serve();
    let first = refund(&gate, "refund:17");
    let unknown = refund(&gate, "refund:18");
    gate.kill();

    let gate = ground.serve();
    let again = refund(&gate, "refund:17");
    let still = refund(&gate, "refund:18");

    assert_eq!((first.status, first.text.as_str()), (201, r#"{"id":"pred_1"}"#), "{first:?}");
    assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), (None, Some("true")));
    assert_eq!((again.status, &again.text), (201, &first.text));
    for answer in [&unknown, &still] {
        assert_eq!((answer.status, answer.code()), (409, "outcome_unknown"), "{answer:?}");
    }
    let story = gate.explain(again.header("effectgate-run").unwrap());
    assert_eq!((&story["sent"], &story["effects"][0]["target"]), (&"yes".into(), &"POST /v1/refunds".into()));
    let ledger = provider.ledger();
    assert_eq!((ledger.requests.len(), ledger.executions.len()), (2, 2));
    assert_eq!(ground.verify()["verified"], Value::Bool(true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_answers_the_repeat_of_a_request_that_another_one_took() {
    let held = Step::created().held();
    let Some((provider, ground)) = ground(Backend::Postgres, [held]).await else { return };
    let gates = [ground.serve(), ground.serve()];
    let [first, second] = gates.each_ref().map(|gate| gate.url.clone());
    let asks = std::thread::spawn(move || refund(&first, "refund:17"));
    provider.requests(1).await;
    // The second one waits at the other server while the first is under way at this one.
    let asks_again = std::thread::spawn(move || refund(&second, "refund:17"));
    provider.release();

    let (first, second) = (asks.join().unwrap(), asks_again.join().unwrap());

    assert_eq!((first.status, second.status), (201, 201), "{first:?} {second:?}");
    assert_eq!((&first.text, second.header("idempotent-replayed")), (&second.text, Some("true")));
    assert_eq!(provider.ledger().requests.len(), 1);
}

async fn an_id_that_no_database_keeps_loses_no_outcome(backend: Backend) {
    let odd = r#"{"id":"re_\u0000","note":"\u0000"}"#;
    let answer = Act::Answer { status: 201, headers: vec![], body: odd.into() };
    let Some((provider, ground)) = ground(backend, [answer.into()]).await else { return };
    let gate = ground.serve();

    let first = refund(&gate, "refund:17");
    let again = refund(&gate, "refund:17");

    assert_eq!((first.status, again.status), (201, 201), "{first:?} {again:?}");
    assert_eq!((first.text.as_str(), again.text.as_str()), (odd, odd));
    assert_eq!(provider.ledger().requests.len(), 1);
}

/// At two servers, where the database lets them be two.
async fn fifty_requests_under_one_key_are_one_request_at_the_far_side(backend: Backend) {
    let held = Step::created().held();
    let Some((provider, ground)) = ground(backend, [held]).await else { return };
    let first = ground.serve();
    let second = matches!(backend, Backend::Postgres).then(|| ground.serve());
    let urls = [first.url.clone(), second.as_ref().unwrap_or(&first).url.clone()];
    let asks: Vec<_> = (0..50)
        .map(|n| {
            let url = urls[n % 2].clone();
            std::thread::spawn(move || refund(&url, "refund:17"))
        })
        .collect();
    provider.requests(1).await;
    provider.release();

    let answers: Vec<Answer> = asks.into_iter().map(|ask| ask.join().unwrap()).collect();

    for answer in &answers {
        let is_told = answer.status == 201 || (answer.status, answer.code()) == (409, "in_flight");
        assert!(is_told, "{answer:?}");
    }
    let at_first = answers.iter().filter(|a| a.status == 201 && a.header("idempotent-replayed").is_none());
    assert_eq!(at_first.count(), 1, "one of them is the first");
    assert_eq!(refund(&first, "refund:17").status, 201);
    assert_eq!(provider.ledger().requests.len(), 1);
}
