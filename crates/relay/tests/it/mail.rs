//! SMTP through the relay: the dialogue as it was, and the faults at each phase.

use effectgate_relay::{Fault, Mode, Outcome, Phase, Relay, RelaySettings, Rule, Upstream};
use effectgate_testkit::smtp::{At, Fault as StubFault, SmtpScript, SmtpStub};

use crate::support::{Caller, Ended};

async fn before(script: SmtpScript, mode: Mode) -> (SmtpStub, Relay) {
    let stub = SmtpStub::start(script).await;
    let upstream = Upstream::smtp(&stub.address().to_string()).unwrap();
    let relay = Relay::start(RelaySettings { mode, ..RelaySettings::to(upstream) }).await.unwrap();
    (stub, relay)
}

const MESSAGE: &str = "Subject: x\r\nMessage-ID: <1@gate.test>\r\n\r\n..stuffed\r\nend\r\n.\r\n";

/// Connects and says everything up to DATA.
async fn envelope(relay: &Relay) -> Caller {
    let mut caller = Caller::at(relay.addr()).await;
    caller.until("220 ").await;
    for (line, reply) in [
        ("EHLO gate.test\r\n", "250 "),
        ("MAIL FROM:<gate@house.test>\r\n", "250 2.1.0"),
        ("RCPT TO:<anna@example.test>\r\n", "250 2.1.5"),
        ("RCPT TO:<bert@example.test>\r\n", "250 2.1.5"),
    ] {
        caller.say(line).await;
        caller.until(reply).await;
    }
    caller
}

/// The same, and DATA and the message.
async fn sent(relay: &Relay) -> Caller {
    let mut caller = envelope(relay).await;
    caller.say("DATA\r\n").await;
    caller.until("354 ").await;
    caller.say(MESSAGE).await;
    caller
}

#[tokio::test]
async fn a_message_arrives_as_it_was_said() {
    let (stub, relay) = before(SmtpScript::default(), Mode::ForwardAndRespond).await;

    let mut caller = sent(&relay).await;
    caller.until("250 2.0.0 queued as stub-1\r\n").await;
    caller.say("QUIT\r\n").await;

    assert_eq!(caller.rest().await, ("221 2.0.0 bye\r\n".to_owned(), Ended::Closed));
    let mail = &stub.ledger().messages[0];
    assert_eq!(mail.rcpt_to, ["anna@example.test", "bert@example.test"]);
    assert_eq!(mail.data, "Subject: x\r\nMessage-ID: <1@gate.test>\r\n\r\n.stuffed\r\nend\r\n");
    let line = &relay.log()[0];
    assert_eq!((line.outcome, line.status, line.method.as_str()), (Outcome::Answered, Some(250), "DATA"));
}

#[tokio::test]
async fn what_would_hide_a_step_is_neither_offered_nor_taken() {
    let extensions = ["STARTTLS", "PIPELINING", "CHUNKING"].map(str::to_owned).to_vec();
    let (stub, relay) = before(SmtpScript { extensions, ..SmtpScript::default() }, Mode::ForwardAndRespond).await;
    let mut caller = Caller::at(relay.addr()).await;
    caller.until("220 ").await;
    caller.say("EHLO gate.test\r\n").await;

    assert_eq!(caller.until("250 ").await, "250-stub.example.test\r\n250 8BITMIME\r\n");
    for line in ["STARTTLS\r\n", "BDAT 5 LAST\r\n"] {
        caller.say(line).await;
        caller.until("502 5.5.1").await;
    }
    assert_eq!(stub.ledger().commands, ["EHLO gate.test"]);
}

#[tokio::test]
async fn a_sign_in_of_several_lines_passes() {
    let auth = ["AUTH LOGIN", "dXNlcg==", "cGFzcw=="].map(str::to_owned).to_vec();
    let (_stub, relay) = before(SmtpScript { auth, ..SmtpScript::default() }, Mode::ForwardAndRespond).await;
    let mut caller = Caller::at(relay.addr()).await;
    caller.until("220 ").await;
    for (line, reply) in [("EHLO g\r\n", "250 AUTH LOGIN"), ("AUTH LOGIN\r\n", "334 "), ("dXNlcg==\r\n", "334 ")] {
        caller.say(line).await;
        caller.until(reply).await;
    }
    caller.say("cGFzcw==\r\n").await;

    caller.until("235 2.7.0").await;
}

#[tokio::test]
async fn a_failure_before_the_forward_opens_no_dialogue() {
    let (stub, relay) = before(SmtpScript::default(), Mode::FailBeforeForward).await;
    let mut caller = Caller::at(relay.addr()).await;

    let (said, ended) = caller.rest().await;

    assert!(said.starts_with("421 4.3.2"), "{said}");
    assert_eq!((ended, stub.ledger().connections), (Ended::Closed, 0));
    assert_eq!((relay.counts().seen, relay.counts().kept_back), (1, 1));
}

#[tokio::test]
async fn a_failure_that_is_asked_for_within_a_dialogue_comes_before_the_message() {
    let (stub, relay) = before(SmtpScript::default(), Mode::ForwardAndRespond).await;
    let mut caller = envelope(&relay).await;
    relay.add_rule(Rule::next(Fault::FailBeforeForward)).unwrap();
    caller.say("DATA\r\n").await;

    caller.until("451 4.3.0").await;

    assert!(!stub.ledger().commands.iter().any(|line| line == "DATA"));
    caller.say("DATA\r\n").await;
    caller.until("354 ").await;
    caller.say(MESSAGE).await;
    caller.until("250 2.0.0").await;
    assert_eq!(stub.ledger().messages.len(), 1);
}

#[tokio::test]
async fn before_the_forward_the_message_was_taken_and_went_nowhere() {
    for (fault, ends) in
        [(Fault::Reset(Phase::BeforeForward), Ended::Reset), (Fault::Close(Phase::BeforeForward), Ended::Closed)]
    {
        let (stub, relay) = before(SmtpScript::default(), fault).await;

        let mut caller = sent(&relay).await;

        assert_eq!(caller.rest().await, (String::new(), ends));
        assert_eq!((stub.ledger().messages.len(), relay.counts().kept_back), (0, 1));
        assert_eq!(relay.log()[0].request_bytes, MESSAGE.len() as u64);
    }
}

#[tokio::test]
async fn a_dropped_reply_is_one_stored_message_and_not_a_byte_here() {
    for (fault, ends) in [
        (Fault::ForwardThenDropResponse, Ended::Closed),
        (Fault::Close(Phase::AfterForward), Ended::Closed),
        (Fault::Reset(Phase::AfterForward), Ended::Reset),
    ] {
        let (stub, relay) = before(SmtpScript::default(), fault).await;

        let mut caller = sent(&relay).await;

        assert_eq!(caller.rest().await, (String::new(), ends), "{fault}");
        assert_eq!((stub.ledger().messages.len(), relay.counts().dropped), (1, 1), "{fault}");
        assert_eq!(relay.log()[0].status, Some(250));
    }
}

#[tokio::test]
async fn silence_after_the_final_dot_lasts_until_the_caller_leaves() {
    let (stub, relay) = before(SmtpScript::default(), Fault::Silence(Phase::AfterForward)).await;

    let mut caller = sent(&relay).await;
    relay.until(|counts| counts.dropped == 1).await;

    assert_eq!(caller.nothing_more().await, Ended::Open);
    assert_eq!(stub.ledger().messages.len(), 1);
}

#[tokio::test]
async fn in_the_middle_of_the_reply_half_of_it_was_said() {
    let (_stub, relay) = before(SmtpScript::default(), Fault::Close(Phase::MidAnswer)).await;

    let mut caller = sent(&relay).await;

    assert_eq!(caller.rest().await, ("250 2.0.0 queu".to_owned(), Ended::Closed));
}

#[tokio::test]
async fn a_duplicate_is_the_same_message_stored_twice_and_one_reply() {
    let (stub, relay) = before(SmtpScript::default(), Mode::Duplicate).await;

    let mut caller = sent(&relay).await;
    caller.until("250 2.0.0 queued as stub-1\r\n").await;
    caller.say("QUIT\r\n").await;

    assert_eq!(caller.rest().await.0, "221 2.0.0 bye\r\n");
    let ledger = stub.ledger();
    assert_eq!((ledger.messages.len(), ledger.connections), (2, 1));
    assert_eq!(ledger.messages[0], ledger.messages[1]);
    let counts = relay.counts();
    assert_eq!((counts.seen, counts.forwarded, counts.duplicated), (1, 2, 1));
    assert_eq!(relay.log()[0].second_status, Some(250));
}

#[tokio::test]
async fn a_refusal_of_the_upstream_passes_as_it_is() {
    let refusing = SmtpScript::replying(At::Dot, "550-5.7.1 no\r\n550 5.7.1 never");
    let (stub, relay) = before(refusing, Mode::ForwardAndRespond).await;

    let mut caller = sent(&relay).await;

    assert_eq!(caller.until("never\r\n").await, "550-5.7.1 no\r\n550 5.7.1 never\r\n");
    assert_eq!((stub.ledger().messages.len(), relay.log()[0].status), (0, Some(550)));
}

#[tokio::test]
async fn an_upstream_that_ends_is_passed_on_as_it_is() {
    for (at, fault, ends) in [
        (At::Dot, StubFault::Close, Ended::Closed),
        (At::Dot, StubFault::Reset, Ended::Reset),
        (At::Message, StubFault::Close, Ended::Closed),
    ] {
        let (_stub, relay) = before(SmtpScript::failing(at, fault.clone()), Mode::ForwardAndRespond).await;

        let mut caller = sent(&relay).await;
        let (said, ended) = caller.rest().await;

        assert_eq!(said, "", "{at:?} {fault:?}");
        // An upstream that closes while it is still written to resets, as the kernel has it.
        assert!(ended == ends || at == At::Message, "{at:?} {fault:?}: {ended:?}");
        assert_eq!(relay.log()[0].outcome, Outcome::UpstreamCut);
    }
}

#[tokio::test]
async fn a_caller_that_leaves_before_its_dot_has_sent_nothing() {
    let (stub, relay) = before(SmtpScript::default(), Mode::ForwardAndRespond).await;
    let mut caller = envelope(&relay).await;
    caller.say("DATA\r\n").await;
    caller.until("354 ").await;
    caller.say("Subject: half\r\n").await;
    drop(caller);

    relay.until(|_| !relay.log().is_empty()).await;

    assert_eq!(relay.log()[0].outcome, Outcome::CallerGone);
    assert_eq!((stub.ledger().messages.len(), relay.counts().forwarded), (0, 0));
}

#[tokio::test]
async fn commands_that_come_in_one_piece_are_answered_one_by_one() {
    let (stub, relay) = before(SmtpScript::default(), Mode::ForwardAndRespond).await;
    let mut caller = Caller::at(relay.addr()).await;
    caller.until("220 ").await;

    caller.say(format!("EHLO g\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nDATA\r\n{MESSAGE}QUIT\r\n")).await;
    let (said, _) = caller.rest().await;

    let codes: Vec<_> = said.lines().filter(|line| line.get(3..4) == Some(" ")).map(|line| &line[..3]).collect();
    assert_eq!(codes, ["250", "250", "250", "354", "250", "221"]);
    assert_eq!(stub.ledger().messages.len(), 1);
}
