//! Which exchange gets which fault: header, rules, mode.

use effectgate_relay::{By, Fault, Mode, Relay, RelaySettings, Rule, Upstream};
use effectgate_testkit::provider::{ScriptedProvider, Step};

use crate::support::{POST, ask, between, closing};

fn with_fault(value: &str) -> String {
    closing(POST).replacen("\r\n", &format!("\r\nEffectgate-Fault: {value}\r\n"), 1)
}

#[tokio::test]
async fn a_caller_asks_for_its_fault_by_header_and_the_provider_never_sees_it() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;
    let request = with_fault("forward-then-drop-response; times=1");

    let (first, _) = ask(&relay, &request).await;
    let (retry, _) = ask(&relay, &request).await;

    assert_eq!(first, "");
    assert!(retry.contains("pred_2"), "the retry carries the same header and goes through: {retry}");
    assert!(provider.ledger().requests.iter().all(|r| r.header("effectgate-fault").is_none()));
    let by: Vec<_> = relay.log().iter().map(|line| line.by).collect();
    assert_eq!(by, [By::Header, By::Mode]);
}

#[tokio::test]
async fn a_header_that_cannot_be_read_is_refused_and_nothing_is_forwarded() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;

    let (answer, _) = ask(&relay, &with_fault("drop it")).await;

    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("drop it"), "{answer}");
    assert_eq!(provider.ledger().connections, 0);
}

#[tokio::test]
async fn a_header_that_is_not_honoured_is_still_not_forwarded() {
    let provider = ScriptedProvider::start(Vec::<Step>::new()).await;
    let upstream = Upstream::http(&provider.url()).unwrap();
    let relay = Relay::start(RelaySettings { header_rules: false, ..RelaySettings::to(upstream) }).await.unwrap();

    let (answer, _) = ask(&relay, &with_fault("fail-before-forward")).await;

    assert!(answer.contains("pred_1"), "{answer}");
    assert_eq!(provider.ledger().requests[0].header("effectgate-fault"), None);
}

#[tokio::test]
async fn each_fault_is_counted_by_its_word() {
    let (_provider, relay) = between(Mode::ForwardAndRespond).await;
    relay.add_rule(Rule { times: 2, ..Rule::next(Fault::Duplicate) }).unwrap();

    for _ in 0..3 {
        ask(&relay, &closing(POST)).await;
    }

    let counts = relay.counts();
    assert_eq!((counts.of(Fault::Duplicate), counts.of(Fault::ForwardAndRespond)), (2, 1));
    assert_eq!((counts.seen, counts.forwarded), (3, 5));
}
