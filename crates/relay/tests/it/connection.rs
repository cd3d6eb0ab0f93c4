//! Reset, close and silence, at each phase.

use effectgate_relay::{Fault, Mode, Outcome, Phase};
use effectgate_testkit::provider::Step;

use crate::support::{Caller, Ended, POST, ask, between};

type Make = fn(Phase) -> Fault;

const ENDING: [(Make, Ended); 2] = [(Fault::Reset, Ended::Reset), (Fault::Close, Ended::Closed)];

#[tokio::test]
async fn before_the_forward_the_upstream_has_nothing() {
    for (fault, ends) in ENDING {
        let (provider, relay) = between(fault(Phase::BeforeForward)).await;

        assert_eq!(ask(&relay, POST).await, (String::new(), ends));
        assert_eq!(provider.ledger().connections, 0);
        let line = &relay.log()[0];
        assert_eq!((line.outcome, line.request_bytes), (Outcome::KeptBack, 7), "the relay had all of it");
    }
}

#[tokio::test]
async fn after_the_forward_the_upstream_has_done_it() {
    for (fault, ends) in ENDING {
        let (provider, relay) = between(fault(Phase::AfterForward)).await;

        assert_eq!(ask(&relay, POST).await, (String::new(), ends));
        assert_eq!((provider.ledger().executions.len(), relay.counts().dropped), (1, 1));
    }
}

#[tokio::test]
async fn in_the_middle_of_the_answer_the_caller_has_the_head_and_half_of_the_body() {
    for (fault, ends) in ENDING {
        let (provider, relay) = between(fault(Phase::MidAnswer)).await;

        let (answer, ended) = ask(&relay, POST).await;

        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("Content-Length: 15"), "{head}");
        assert_eq!((body, ended), (r#"{"id":""#, ends));
        assert_eq!((provider.ledger().executions.len(), relay.counts().dropped), (1, 1));
    }
}

#[tokio::test]
async fn an_answer_without_a_body_is_cut_in_its_head() {
    let (provider, relay) = between(Fault::Close(Phase::MidAnswer)).await;
    provider.push(Step::answer_with(204, "X-Id", "7"));

    let (answer, ended) = ask(&relay, POST).await;

    assert!(answer.starts_with("HTTP/1.1 204") && !answer.contains("\r\n\r\n"), "{answer}");
    assert_eq!(ended, Ended::Closed);
}

#[tokio::test]
async fn a_silence_lasts_until_the_caller_leaves() {
    for phase in [Phase::BeforeForward, Phase::AfterForward] {
        let (provider, relay) = between(Fault::Silence(phase)).await;
        let mut caller = Caller::at(relay.addr()).await;
        caller.say(POST).await;

        relay.until(|counts| counts.dropped + counts.kept_back == 1).await;

        assert_eq!(caller.nothing_more().await, Ended::Open);
        let executed = provider.ledger().executions.len();
        assert_eq!(executed, usize::from(phase == Phase::AfterForward));
    }
}

#[tokio::test]
async fn a_silence_in_the_middle_of_an_answer_comes_after_half_of_it() {
    let (_provider, relay) = between(Fault::Silence(Phase::MidAnswer)).await;
    let mut caller = Caller::at(relay.addr()).await;
    caller.say(POST).await;

    let answer = caller.until(r#"{"id":""#).await;

    assert!(answer.ends_with(r#"{"id":""#), "{answer}");
    assert_eq!(caller.nothing_more().await, Ended::Open);
}

#[tokio::test]
async fn a_relay_that_is_shut_down_ends_every_connection() {
    let (_provider, relay) = between(Mode::Silence(Phase::AfterForward)).await;
    let address = relay.addr();
    let mut caller = Caller::at(address).await;
    caller.say(POST).await;
    relay.until(|counts| counts.dropped == 1).await;

    relay.shutdown().await;

    assert_eq!(caller.rest().await.0, "");
    assert!(std::net::TcpListener::bind(address).is_ok(), "the port is free again");
}
