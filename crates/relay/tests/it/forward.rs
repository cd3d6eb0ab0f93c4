//! The four modes over HTTP.

use effectgate_relay::{Fault, Mode, Outcome, Relay, RelaySettings, Rule, Upstream};
use effectgate_testkit::provider::{Act, Step};

use crate::support::{Caller, Ended, POST, ask, between, closing};

#[tokio::test]
async fn a_forwarded_request_arrives_as_it_was_but_for_the_connections_lines() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;

    let (answer, ended) = ask(&relay, &closing(POST)).await;

    assert!(answer.starts_with("HTTP/1.1 201") && answer.ends_with(r#"{"id":"pred_1"}"#), "{answer}");
    assert_eq!(ended, Ended::Closed);
    let ledger = provider.ledger();
    assert_eq!((ledger.executions.len(), ledger.requests.len()), (1, 1));
    let seen = &ledger.requests[0];
    assert_eq!(
        (seen.method.as_str(), seen.path.as_str(), seen.body.as_slice()),
        ("POST", "/refunds", &b"{\"a\":1}"[..])
    );
    assert_eq!(seen.header("host"), Some(provider.address().to_string().as_str()));
    let counts = relay.counts();
    assert_eq!((counts.seen, counts.forwarded, counts.answered, counts.dropped), (1, 1, 1, 0));
    assert_eq!(relay.log()[0].status, Some(201));
}

#[tokio::test]
async fn a_dropped_answer_is_one_effect_over_there_and_not_a_byte_here() {
    let (provider, relay) = between(Mode::ForwardThenDropResponse).await;

    let (answer, ended) = ask(&relay, POST).await;

    assert_eq!((answer.as_str(), ended), ("", Ended::Closed));
    let ledger = provider.ledger();
    assert_eq!((ledger.executions.len(), ledger.connections), (1, 1));
    let counts = relay.counts();
    assert_eq!((counts.forwarded, counts.answered, counts.dropped), (1, 0, 1));
    assert_eq!(relay.log()[0].outcome, Outcome::Dropped);
}

#[tokio::test]
async fn the_answer_is_read_to_its_end_before_it_is_dropped() {
    let (provider, relay) = between(Mode::ForwardThenDropResponse).await;
    provider.push(Step::created().held());
    let mut caller = Caller::at(relay.addr()).await;
    caller.say(POST).await;
    provider.requests(1).await;

    assert_eq!(caller.nothing_more().await, Ended::Open, "the provider has not answered yet");
    provider.release();

    assert_eq!(caller.rest().await, (String::new(), Ended::Closed));
    assert_eq!(relay.log()[0].status, Some(201));
}

#[tokio::test]
async fn a_failure_before_the_forward_opens_no_connection_upstream() {
    let (provider, relay) = between(Mode::FailBeforeForward).await;

    let (answer, ended) = ask(&relay, POST).await;

    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert!(answer.contains("Effectgate-Relay: fail-before-forward"), "{answer}");
    assert_eq!(ended, Ended::Closed);
    assert_eq!(provider.ledger().connections, 0);
    assert_eq!((relay.counts().forwarded, relay.counts().kept_back), (0, 1));
}

#[tokio::test]
async fn a_duplicate_is_the_same_bytes_twice_and_the_first_answer() {
    let (provider, relay) = between(Mode::Duplicate).await;

    let (answer, _) = ask(&relay, &closing(POST)).await;

    assert!(answer.ends_with(r#"{"id":"pred_1"}"#), "{answer}");
    let ledger = provider.ledger();
    assert_eq!((ledger.executions.len(), ledger.connections), (2, 2));
    let [first, second] = ledger.requests.as_slice() else { panic!("two") };
    assert_eq!((&first.headers, &first.body), (&second.headers, &second.body));
    let counts = relay.counts();
    assert_eq!((counts.seen, counts.forwarded, counts.duplicated, counts.answered), (1, 2, 1, 1));
    assert_eq!((relay.log()[0].status, relay.log()[0].second_status), (Some(201), Some(201)));
}

#[tokio::test]
async fn a_keep_alive_caller_has_many_exchanges_each_with_its_own_fault() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;
    let mut caller = Caller::at(relay.addr()).await;
    caller.say(POST).await;
    caller.until("pred_1").await;
    relay.add_rule(Rule::next(Fault::ForwardThenDropResponse)).unwrap();

    caller.say(POST).await;

    assert_eq!(caller.rest().await, (String::new(), Ended::Closed));
    let ledger = provider.ledger();
    assert_eq!((ledger.executions.len(), ledger.connections), (2, 2), "no connection upstream is used twice");
}

#[tokio::test]
async fn an_upstream_that_cuts_its_answer_is_passed_on_as_it_is() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;
    for (act, sees, ended) in [
        (Act::ReadThenClose, "", Ended::Closed),
        (Act::ReadThenReset, "", Ended::Reset),
        (Act::HalfHeadThenClose, "HTTP/1.1 201 Created\r\nContent-Ty", Ended::Closed),
        (Act::ContinueThenClose, "HTTP/1.1 100 Continue\r\n\r\n", Ended::Closed),
    ] {
        provider.push(act.clone());

        assert_eq!(ask(&relay, POST).await, (sees.to_owned(), ended), "{act:?}");
    }
    assert_eq!((relay.counts().upstream_failed, provider.ledger().executions.len()), (4, 4));
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_told_as_the_relays_own_answer() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = Upstream::http(&format!("http://{}", taken.local_addr().unwrap())).unwrap();
    let settings = RelaySettings { mode: Mode::ForwardThenDropResponse, ..RelaySettings::to(upstream) };
    let relay = Relay::start(settings).await.unwrap();
    drop(taken);

    let (answer, _) = ask(&relay, POST).await;

    assert!(
        answer.starts_with("HTTP/1.1 502") && answer.contains("Effectgate-Relay: upstream_unreachable"),
        "{answer}"
    );
    assert_eq!(relay.log()[0].outcome, Outcome::UpstreamUnreachable);
    assert_eq!((relay.counts().dropped, relay.counts().upstream_failed), (0, 1));
}
