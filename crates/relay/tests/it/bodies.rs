//! Bodies and heads in every form that callers and providers use.

use effectgate_relay::{Fault, Mode, Outcome, Phase};
use effectgate_testkit::provider::{Act, Step};

use crate::support::{Caller, Ended, POST, ask, between, closing};

const CHUNKED: &str = "POST /c HTTP/1.1\r\nHost: r\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
    3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n";
const WAITING: &str =
    "POST /w HTTP/1.1\r\nHost: r\r\nContent-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn a_chunked_request_arrives_with_its_chunks() {
    for (mode, times) in [(Mode::ForwardAndRespond, 1), (Mode::ForwardThenDropResponse, 1), (Mode::Duplicate, 2)] {
        let (provider, relay) = between(mode).await;

        ask(&relay, CHUNKED).await;

        let requests = provider.ledger().requests;
        assert_eq!(requests.len(), times);
        for request in requests {
            assert_eq!((request.body.as_slice(), request.complete), (&b"abcdefg"[..], true));
        }
        assert_eq!(relay.log()[0].request_bytes, 22, "as it was on the wire");
    }
}

#[tokio::test]
async fn a_caller_that_waits_with_its_body_is_told_to_send_it() {
    for mode in [Mode::ForwardAndRespond, Mode::Duplicate, Mode::ForwardThenDropResponse, Mode::Close(Phase::MidAnswer)]
    {
        let (provider, relay) = between(mode).await;
        let mut caller = Caller::at(relay.addr()).await;
        caller.say(WAITING).await;

        assert_eq!(caller.until("\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n", "{mode}");
        caller.say("hello").await;
        let (answer, _) = caller.rest().await;

        assert_eq!(provider.ledger().executions[0].body, b"hello", "{mode}");
        assert_eq!(answer.is_empty(), mode == Mode::ForwardThenDropResponse, "{mode}");
    }
}

#[tokio::test]
async fn a_caller_that_waits_with_its_body_is_not_asked_for_it_where_the_relay_fails() {
    let (provider, relay) = between(Mode::FailBeforeForward).await;

    let (answer, _) = ask(&relay, WAITING).await;

    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert_eq!(provider.ledger().connections, 0);
}

#[tokio::test]
async fn a_caller_that_waits_gets_the_final_answer_instead_if_that_comes() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;
    provider.push(Act::AnswerBeforeBody { status: 413 });

    let (answer, ended) = ask(&relay, WAITING).await;

    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("Connection: close"), "{answer}");
    assert_eq!(ended, Ended::Closed);
    assert_eq!((relay.counts().forwarded, relay.counts().answered), (0, 1));
}

#[tokio::test]
async fn the_answer_to_head_has_no_body_whatever_its_length_says() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;
    let raw = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
    provider.push(Act::Raw { text: raw.to_owned() });
    let mut caller = Caller::at(relay.addr()).await;
    caller.say("HEAD /a HTTP/1.1\r\nHost: r\r\n\r\n").await;

    assert_eq!(caller.until("\r\n\r\n").await, raw);
    caller.say(POST).await;
    assert!(caller.until("pred_").await.starts_with("HTTP/1.1 201"), "the connection goes on");
}

#[tokio::test]
async fn chunks_and_trailers_of_an_answer_pass_as_they_are() {
    let raw =
        "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n3\r\n:1}\r\n0\r\nX-Sum: 1\r\n\r\n";
    for mode in [Mode::ForwardAndRespond, Mode::Duplicate] {
        let (provider, relay) = between(mode).await;
        provider.set_default(Act::Raw { text: raw.to_owned() });
        let mut caller = Caller::at(relay.addr()).await;
        caller.say(POST).await;

        assert_eq!(caller.until("X-Sum: 1\r\n\r\n").await, raw, "{mode}");
    }
}

#[tokio::test]
async fn an_answer_that_ends_with_its_connection_ends_the_callers() {
    let raw = "HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nuntil the end";
    for mode in [Mode::ForwardAndRespond, Mode::Duplicate] {
        let (provider, relay) = between(mode).await;
        provider.set_default(Act::Raw { text: raw.to_owned() });

        let (answer, ended) = ask(&relay, POST).await;

        assert_eq!(answer, "HTTP/1.1 200 OK\r\nX-A: 1\r\nConnection: close\r\n\r\nuntil the end", "{mode}");
        assert_eq!((ended, relay.counts().answered), (Ended::Closed, 1));
    }
}

#[tokio::test]
async fn an_answer_that_is_no_http_passes_as_it_is() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;
    provider.push(Act::Raw { text: "what is this\r\n\r\nno http".to_owned() });

    assert_eq!(ask(&relay, POST).await, ("what is this\r\n\r\nno http".to_owned(), Ended::Closed));
}

#[tokio::test]
async fn an_answer_cut_in_its_body_is_as_long_for_the_caller() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;
    provider.push(Act::CutBody);

    let (answer, _) = ask(&relay, POST).await;

    assert!(answer.ends_with("\r\n\r\n{\"id\":\"p"), "{answer}");
    assert_eq!(relay.log()[0].outcome, Outcome::UpstreamCut);
}

/// Two of them do not fit into the sockets' buffers: they stream.
const LARGE: usize = 8 * 1024 * 1024;

#[tokio::test]
async fn large_bodies_stream_both_ways() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;
    provider.push(Step::answer(200, &"b".repeat(LARGE)));
    let head = format!("PUT /l HTTP/1.1\r\nHost: r\r\nConnection: close\r\nContent-Length: {LARGE}\r\n\r\n");

    let (answer, _) = ask(&relay, &format!("{head}{}", "a".repeat(LARGE))).await;

    assert!(answer.ends_with('b') && answer.len() > LARGE);
    assert_eq!(provider.ledger().requests[0].body.len(), LARGE);
    let line = &relay.log()[0];
    assert_eq!((line.request_bytes, line.answer_bytes), (LARGE as u64, LARGE as u64));
}

#[tokio::test]
async fn what_is_too_large_to_send_twice_is_refused_and_not_sent_once() {
    let (provider, relay) = between(Mode::Duplicate).await;
    let length = 17 * 1024 * 1024;
    let mut caller = Caller::at(relay.addr()).await;
    caller.say(format!("PUT /l HTTP/1.1\r\nHost: r\r\nContent-Length: {length}\r\n\r\n")).await;

    let (_, answer) = tokio::join!(caller.try_say(vec![b'a'; length]), async { relay.until(|c| c.seen == 1).await });

    assert_eq!(answer.duplicated, 0);
    relay.until(|_| relay.log().first().is_some_and(|line| line.outcome == Outcome::Refused)).await;
    assert_eq!(provider.ledger().connections, 0);
}

#[tokio::test]
async fn a_caller_that_leaves_in_the_middle_of_its_request_is_no_effect() {
    for mode in [Mode::ForwardAndRespond, Mode::Duplicate, Mode::ForwardThenDropResponse] {
        let (provider, relay) = between(mode).await;
        let mut caller = Caller::at(relay.addr()).await;
        caller.say(&POST[..POST.len() - 1]).await;
        drop(caller);

        relay.until(|_| !relay.log().is_empty()).await;

        assert_eq!(relay.log()[0].outcome, Outcome::CallerGone, "{mode}");
        assert_eq!((provider.ledger().executions.len(), relay.counts().forwarded), (0, 0), "{mode}");
    }
}

#[tokio::test]
async fn a_request_in_doubt_is_refused_and_goes_nowhere() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;
    for lines in ["Content-Length: 3\r\nTransfer-Encoding: chunked", "Content-Length: 1\r\nContent-Length: 2"] {
        let (answer, _) = ask(&relay, &format!("POST / HTTP/1.1\r\nHost: r\r\n{lines}\r\n\r\nabc")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    let (answer, _) = ask(&relay, "POST / HTTP/1.1\r\nHost: r\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").await;

    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_eq!((provider.ledger().executions.len(), relay.counts().forwarded), (0, 0));
}

#[tokio::test]
async fn requests_that_come_in_one_piece_are_answered_in_order() {
    let (provider, relay) = between(Mode::ForwardAndRespond).await;
    let mut caller = Caller::at(relay.addr()).await;

    caller.say(format!("{POST}{POST}{}", closing(POST))).await;
    let (answers, ended) = caller.rest().await;

    let ids: Vec<_> = answers.match_indices("pred_").map(|(at, _)| &answers[at..at + 6]).collect();
    assert_eq!((ids, ended), (vec!["pred_1", "pred_2", "pred_3"], Ended::Closed));
    assert_eq!(provider.ledger().executions.len(), 3);
}

#[tokio::test]
async fn an_old_caller_gets_one_answer_and_the_end() {
    let (_provider, relay) = between(Fault::ForwardAndRespond).await;

    let (answer, ended) = ask(&relay, "GET /old HTTP/1.0\r\n\r\n").await;

    assert!(answer.contains("pred_1"), "{answer}");
    assert_eq!(ended, Ended::Closed);
}
