//! Mail: which phase was reached, what the server really stored, and that a payload cannot add a recipient or a header.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod peers;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use effectgate_core::outcome::{Phase, Report};
use effectgate_engine::connect::guard::EgressGuard;
use effectgate_engine::connect::mail::{Letter, Stamp, build, validate_mail};
use effectgate_engine::connect::smtp::{SmtpCredentials, SmtpLimits, SmtpServer, SmtpTls, send};
use effectgate_engine::connect::tls::Tls;
use effectgate_engine::connect::{AlwaysOpen, WriteGate};
use effectgate_testkit::smtp::{At, Fault, SmtpScript, SmtpStub};
use peers::Identity;
use secrecy::SecretString;
use serde_json::{Value, json};

/// Long enough for a busy machine where an answer is expected.
const PATIENT: SmtpLimits = SmtpLimits { connect_ms: 20_000, total_ms: 20_000, final_reply_timeout_ms: 20_000 };
/// For peers that say nothing before the message: the wait itself is what is tested.
const HASTY: SmtpLimits = SmtpLimits { total_ms: 1_000, ..PATIENT };
/// For peers that say nothing, or nothing sensible, after the final dot.
const HASTY_AT_THE_END: SmtpLimits = SmtpLimits { final_reply_timeout_ms: 300, ..PATIENT };

fn server(address: SocketAddr, tls: SmtpTls) -> SmtpServer {
    let host = "127.0.0.1".to_owned();
    SmtpServer { host, port: address.port(), tls, credentials: None, hello_name: "gate.example.test".to_owned() }
}

fn letter_of(payload: &Value) -> Letter {
    let date = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let stamp = Stamp { from: "The Gate <gate@example.test>", message_id: "eff_1@example.test", date, headers: &[] };
    build(&validate_mail(payload).unwrap(), &stamp).unwrap()
}

fn letter() -> Letter {
    letter_of(&json!({"to": "anna@example.test", "subject": "Your refund", "text": "Hello"}))
}

async fn send_with(letter: &Letter, server: &SmtpServer, limits: &SmtpLimits, gate: &dyn WriteGate) -> Report {
    let guard = EgressGuard::new(["127.0.0.1"], true).unwrap();
    send(letter, server, limits, &guard, &Tls::new(None).unwrap(), gate).await
}

async fn mail(stub: &SmtpStub, limits: &SmtpLimits) -> Report {
    send_with(&letter(), &server(stub.address(), SmtpTls::None), limits, &AlwaysOpen).await
}

fn assert_not_sent(report: &Report, phase: Phase) {
    assert_eq!((report.phase, report.bytes_sent), (phase, 0), "{report:?}");
    assert!(report.error.is_some(), "{report:?}");
}

fn code(report: &Report) -> Option<u16> {
    report.answer.as_ref().map(|answer| answer.status)
}

#[tokio::test]
async fn an_accepted_mail_is_answered_and_stored_once() {
    let stub = SmtpStub::start(SmtpScript::default()).await;

    let report = mail(&stub, &PATIENT).await;

    assert_eq!((report.phase, code(&report), &report.error), (Phase::Answered, Some(250), &None));
    assert_eq!(report.handle.as_deref(), Some("<eff_1@example.test>"));
    assert!(report.bytes_sent > 0);
    let ledger = stub.ledger();
    assert_eq!(ledger.messages.len(), 1);
    let stored = &ledger.messages[0];
    assert_eq!(
        (stored.mail_from.as_str(), stored.rcpt_to.as_slice()),
        ("gate@example.test", &["anna@example.test".to_owned()][..])
    );
    assert_eq!(stored.header("Message-ID"), ["<eff_1@example.test>"]);
    assert_eq!(stored.header("From"), ["\"The Gate\" <gate@example.test>"]);
    assert_eq!(stored.header("Date"), ["Fri, 15 Jan 2027 08:00:00 +0000"]);
    assert!(stored.data.ends_with("\r\n\r\nHello\r\n"), "{}", stored.data);
    assert_eq!(ledger.commands.last().map(String::as_str), Some("QUIT"));
}

#[tokio::test]
async fn a_refusal_before_the_message_is_reported_with_its_phase_and_code() {
    let places = [
        (At::Greeting, Phase::Handshake),
        (At::Ehlo, Phase::Handshake),
        (At::Mail, Phase::Envelope),
        (At::Rcpt, Phase::Envelope),
        (At::Data, Phase::Envelope),
    ];
    for (at, phase) in places {
        for (line, expected) in [("451 4.3.0 later", 451), ("554 5.7.1 never", 554)] {
            let stub = SmtpStub::start(SmtpScript::replying(at, line)).await;

            let report = mail(&stub, &PATIENT).await;

            assert_not_sent(&report, phase);
            assert_eq!(code(&report), Some(expected), "{at:?}");
            assert!(stub.ledger().messages.is_empty());
        }
    }
}

#[tokio::test]
async fn a_connection_that_dies_before_the_354_is_not_sent() {
    let places = [
        (At::Greeting, Phase::Handshake),
        (At::Ehlo, Phase::Handshake),
        (At::Mail, Phase::Envelope),
        (At::Rcpt, Phase::Envelope),
        (At::Data, Phase::Envelope),
    ];
    let faults = [(Fault::Close, &PATIENT), (Fault::Reset, &PATIENT), (Fault::Silence, &HASTY)];
    let cases = places.iter().flat_map(|place| faults.iter().map(move |fault| (*place, fault.clone())));
    let attempts = cases.map(|((at, phase), (fault, limits))| async move {
        let stub = SmtpStub::start(SmtpScript::failing(at, fault)).await;

        let report = mail(&stub, limits).await;

        assert_not_sent(&report, phase);
        assert_eq!(code(&report), None);
        assert!(stub.ledger().messages.is_empty());
    });
    futures_util::future::join_all(attempts).await;
}

#[tokio::test]
async fn a_closed_port_or_garbage_instead_of_a_greeting_is_not_sent() {
    let closed = server(peers::closed().await, SmtpTls::None);
    let garbage = server(peers::saying("HTTP/1.1 400 Bad Request\r\n\r\n").await, SmtpTls::None);

    assert_not_sent(&send_with(&letter(), &closed, &PATIENT, &AlwaysOpen).await, Phase::Connect);
    assert_not_sent(&send_with(&letter(), &garbage, &PATIENT, &AlwaysOpen).await, Phase::Handshake);
}

#[tokio::test]
async fn one_refused_recipient_of_several_means_nothing_is_sent() {
    let refused = HashMap::from([("b@example.test".to_owned(), "550 5.1.1 no such user".to_owned())]);
    let stub = SmtpStub::start(SmtpScript { refused, ..SmtpScript::default() }).await;
    let letter = letter_of(&json!({"to": ["a@example.test", "b@example.test"], "subject": "s", "text": "t"}));

    let report = send_with(&letter, &server(stub.address(), SmtpTls::None), &PATIENT, &AlwaysOpen).await;

    assert_not_sent(&report, Phase::Envelope);
    assert_eq!(code(&report), Some(550));
    let ledger = stub.ledger();
    assert!(ledger.messages.is_empty() && !ledger.commands.contains(&"DATA".to_owned()));
}

#[tokio::test]
async fn a_refusal_of_the_final_dot_is_an_answer() {
    for (line, expected) in [("451 4.3.0 later", 451), ("554 5.7.1 spam", 554)] {
        let stub = SmtpStub::start(SmtpScript::replying(At::Dot, line)).await;

        let report = mail(&stub, &PATIENT).await;

        assert_eq!((report.phase, code(&report)), (Phase::Answered, Some(expected)));
        assert!(stub.ledger().messages.is_empty());
    }
}

#[tokio::test]
async fn hc_28_silence_close_or_reset_after_the_final_dot_is_unknown_with_the_message_id() {
    for (fault, limits) in [(Fault::Silence, &HASTY_AT_THE_END), (Fault::Close, &PATIENT), (Fault::Reset, &PATIENT)] {
        let stub = SmtpStub::start(SmtpScript::failing(At::Dot, fault.clone())).await;

        let report = mail(&stub, limits).await;

        assert_eq!((report.phase, code(&report)), (Phase::Request, None), "{fault:?}");
        assert!(report.bytes_sent > 0 && report.error.unwrap().starts_with("after the final dot"));
        assert_eq!(report.handle.as_deref(), Some("<eff_1@example.test>"));
        assert_eq!(stub.ledger().messages.len(), 1);
    }
}

#[tokio::test]
async fn hc_28_a_250_after_the_client_gave_up_changes_nothing_and_the_mail_is_stored_once() {
    let stub = SmtpStub::start(SmtpScript::failing(At::Dot, Fault::Hold)).await;

    let report = mail(&stub, &HASTY_AT_THE_END).await;
    stub.release();

    assert_eq!((report.phase, code(&report)), (Phase::Request, None));
    let ledger = stub.ledger();
    assert_eq!((ledger.connections, ledger.messages.len()), (1, 1));
}

#[tokio::test]
async fn a_slow_250_within_the_final_wait_is_an_answer() {
    let stub = SmtpStub::start(SmtpScript::failing(At::Dot, Fault::Hold)).await;

    let released = async {
        stub.until(|ledger| ledger.messages.len() == 1).await;
        stub.release();
    };
    let (report, ()) = tokio::join!(mail(&stub, &PATIENT), released);

    assert_eq!((report.phase, code(&report)), (Phase::Answered, Some(250)));
}

#[tokio::test]
async fn a_strange_reply_to_the_final_dot_is_unknown() {
    for line in ["354 go on", "not smtp at all", "250-never ends", "199 what"] {
        let stub = SmtpStub::start(SmtpScript::replying(At::Dot, line)).await;

        let report = mail(&stub, &HASTY_AT_THE_END).await;

        assert_eq!((report.phase, code(&report)), (Phase::Request, None), "{line}");
    }
}

#[tokio::test]
async fn a_connection_lost_in_the_middle_of_a_large_message_is_unknown_with_the_count_as_evidence() {
    let stub = SmtpStub::start(SmtpScript::failing(At::Message, Fault::Reset)).await;
    let text = "0123456789\n".repeat(800_000);
    let letter = letter_of(&json!({"to": "a@example.test", "subject": "s", "text": text}));

    let report = send_with(&letter, &server(stub.address(), SmtpTls::None), &PATIENT, &AlwaysOpen).await;

    assert_eq!((report.phase, code(&report)), (Phase::Request, None));
    assert!(report.bytes_sent > 0 && report.bytes_sent < letter.data.len() as u64);
    assert!(report.error.unwrap().starts_with("before the final dot was written"));
    assert!(stub.ledger().messages.is_empty());
}

/// Open for so many questions, then shut.
struct OpenFor(AtomicU32);

#[async_trait]
impl WriteGate for OpenFor {
    async fn may_write(&self) -> Result<(), String> {
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        left.map(drop).map_err(|_| "switch_off".to_owned())
    }
}

#[tokio::test]
async fn the_gate_is_asked_before_mail_from_and_again_before_the_message() {
    for (answers, last_command) in [(0, "EHLO gate.example.test"), (1, "DATA")] {
        let stub = SmtpStub::start(SmtpScript::default()).await;
        let gate = OpenFor(AtomicU32::new(answers));

        let report = send_with(&letter(), &server(stub.address(), SmtpTls::None), &PATIENT, &gate).await;

        assert_not_sent(&report, Phase::Prepared);
        assert_eq!(report.error.as_deref(), Some("switch_off"));
        let ledger = stub.ledger();
        assert_eq!(ledger.commands.last().map(String::as_str), Some(last_command));
        assert!(ledger.messages.is_empty());
    }
}

#[tokio::test]
async fn credentials_are_sent_by_plain_or_login_and_a_refusal_is_reported() {
    let plain = vec!["AUTH PLAIN AGFubmEAcHctMQ==".to_owned()];
    let login = ["AUTH LOGIN", "YW5uYQ==", "cHctMQ=="].map(str::to_owned).to_vec();
    let other = vec!["AUTH PLAIN AGFubmEAb3RoZXI=".to_owned()];
    for (auth, phase, expected) in
        [(plain, Phase::Answered, 250), (login, Phase::Answered, 250), (other, Phase::Handshake, 535)]
    {
        let stub = SmtpStub::start(SmtpScript { auth, ..SmtpScript::default() }).await;
        let credentials = SmtpCredentials { username: "anna".to_owned(), password: SecretString::from("pw-1") };
        let server = SmtpServer { credentials: Some(credentials), ..server(stub.address(), SmtpTls::None) };

        let report = send_with(&letter(), &server, &PATIENT, &AlwaysOpen).await;

        assert_eq!((report.phase, code(&report)), (phase, Some(expected)));
    }
}

#[tokio::test]
async fn mail_goes_through_tls_and_through_starttls() {
    let stub = SmtpStub::start(SmtpScript::default()).await;
    let identity = Identity::new();
    let tls = Tls::new(Some(identity.ca_file.path())).unwrap();
    let guard = EgressGuard::new(["127.0.0.1"], true).unwrap();
    let implicit = server(identity.front(stub.address()).await, SmtpTls::Tls);
    let explicit = server(identity.starttls_front(stub.address(), "").await, SmtpTls::StartTls);

    for server in [implicit, explicit] {
        let report = send(&letter(), &server, &PATIENT, &guard, &tls, &AlwaysOpen).await;
        assert_eq!((report.phase, code(&report)), (Phase::Answered, Some(250)), "{report:?}");

        let distrusted = send_with(&letter(), &server, &PATIENT, &AlwaysOpen).await;
        assert_not_sent(&distrusted, Phase::Handshake);
    }
    assert_eq!(stub.ledger().messages.len(), 2);
}

#[tokio::test]
async fn starttls_that_is_not_offered_or_spoken_over_in_the_clear_is_not_sent() {
    let stub = SmtpStub::start(SmtpScript::default()).await;
    let identity = Identity::new();
    let injecting = identity.starttls_front(stub.address(), "250 injected\r\n").await;

    for address in [stub.address(), injecting] {
        let report = send_with(&letter(), &server(address, SmtpTls::StartTls), &PATIENT, &AlwaysOpen).await;
        assert_not_sent(&report, Phase::Handshake);
    }
    assert!(stub.ledger().messages.is_empty());
}

#[test]
fn hc_29_line_breaks_in_a_subject_and_a_second_address_are_refused_by_pointer() {
    let output: Value = serde_json::from_str(include_str!("data/hc29-output.json")).unwrap();
    let to: Value = serde_json::from_str(include_str!("data/hc29-to.json")).unwrap();

    assert_eq!(validate_mail(&output).unwrap_err().pointer, "/subject");
    assert_eq!(validate_mail(&to).unwrap_err().pointer, "/to");
}

#[tokio::test]
async fn hc_29_an_encoded_word_in_a_subject_stays_literal_text() {
    let stub = SmtpStub::start(SmtpScript::default()).await;
    let encoded: Value = serde_json::from_str(include_str!("data/hc29-encoded.json")).unwrap();

    send_with(&letter_of(&encoded), &server(stub.address(), SmtpTls::None), &PATIENT, &AlwaysOpen).await;

    let stored = stub.ledger().messages.remove(0);
    assert_eq!(stored.rcpt_to, ["anna@example.test"]);
    assert!(stored.header("Bcc").is_empty() && stored.header("X-Note").is_empty());
    assert_eq!(decoded(&stored.header("Subject")[0]), encoded["subject"].as_str().unwrap());
}

#[tokio::test]
async fn subjects_arrive_as_they_were_written() {
    let stub = SmtpStub::start(SmtpScript::default()).await;
    let long = "Återbetalning för kund 12 – «да» ".repeat(20).trim().to_owned();
    let subjects =
        ["plain", "with  two spaces", " leading", "", "Återbetalning 💶", "a =?x?", "=?utf-8?B?QQ==?=", &long];

    for subject in subjects {
        let letter = letter_of(&json!({"to": "anna@example.test", "subject": subject, "text": "t"}));
        send_with(&letter, &server(stub.address(), SmtpTls::None), &PATIENT, &AlwaysOpen).await;

        let stored = stub.ledger().messages.pop().unwrap();
        assert_eq!(decoded(&stored.header("Subject")[0]), subject);
        assert!(stored.data.lines().all(|line| line.len() <= 998));
    }
}

#[tokio::test]
async fn texts_with_dots_and_odd_line_ends_cannot_end_the_message_or_add_a_header() {
    let stub = SmtpStub::start(SmtpScript::default()).await;
    let text = ".\r\n.hidden\n.\nMAIL FROM:<x@x.test>\r.\rend";
    let letter = letter_of(&json!({"to": "anna@example.test", "subject": "s", "body": text}));

    send_with(&letter, &server(stub.address(), SmtpTls::None), &PATIENT, &AlwaysOpen).await;

    let ledger = stub.ledger();
    assert_eq!((ledger.messages.len(), ledger.commands.iter().filter(|c| c.starts_with("MAIL")).count()), (1, 1));
    let stored = &ledger.messages[0];
    assert_eq!(stored.header("X-Note"), Vec::<String>::new());
    assert!(stored.data.contains("\r\n.hidden\r\n") && stored.data.contains("end"), "{}", stored.data);
}

#[test]
fn hc_37_the_message_is_the_same_on_every_attempt() {
    let payload = json!({"to": "anna@example.test", "subject": "Hej då", "text": "å", "html": "<p>å</p>"});

    let first = letter_of(&payload);

    assert_eq!(first, letter_of(&payload));
    let text = String::from_utf8(first.data).unwrap();
    assert!(text.contains("multipart/alternative") && text.contains("text/html"), "{text}");
}

#[test]
fn a_wrong_mail_payload_is_refused_by_pointer() {
    let ok = json!({"to": "anna@example.test", "subject": "s", "text": "t"});
    let with = |name: &str, value: Value| {
        let mut payload = ok.clone();
        payload[name] = value;
        validate_mail(&payload).map_err(|e| e.pointer)
    };
    let refused = |name: &str, value: Value, pointer: &str| assert_eq!(with(name, value), Err(pointer.to_owned()));

    for to in [
        "",
        "anna",
        "a@b@example.test",
        "Anna <anna@example.test>",
        "anna@example.test\r\n",
        "a b@example.test",
        "a@[127.0.0.1]",
        "a@127.0.0.1",
        "\"a, b\"@example.test",
        "анна@example.test",
        "a@example.test>",
        "a;b@example.test",
        "a@exa mple.test",
    ] {
        refused("to", json!(to), "/to");
    }
    refused("to", json!([]), "/to");
    refused("to", json!({}), "/to");
    refused("to", json!(["anna@example.test", "b@x.test, c@x.test"]), "/to/1");
    refused("to", json!(["anna@example.test", 5]), "/to/1");
    for subject in ["a\nb", "a\rb", "a\u{0}b", "a\u{85}b", "a\u{2028}b", "a\tb"] {
        refused("subject", json!(subject), "/subject");
    }
    refused("subject", json!(5), "/subject");
    refused("subject", json!("x".repeat(901)), "/subject");
    refused("text", json!("a\u{0}"), "/text");
    refused("body", json!("second"), "/body");
    refused("html", json!(null), "/html");
    refused("bcc", json!("x@example.test"), "/bcc");
    refused("a/b~", json!(1), "/a~1b~0");
    assert_eq!(validate_mail(&json!([])).unwrap_err().pointer, "");
    assert_eq!(validate_mail(&json!({"to": "a@b.test", "subject": "s"})).unwrap_err().pointer, "/text");
    assert_eq!(with("to", json!("anna@bücher.example")).unwrap().to, ["anna@xn--bcher-kva.example"]);
}

/// Decodes a Subject the way a reader does (RFC 2047, base64 words only).
fn decoded(header: &str) -> String {
    use base64::Engine as _;
    if !header.starts_with("=?utf-8?B?") {
        return header.to_owned();
    }
    let word = |w: &str| {
        let inner = w.strip_prefix("=?utf-8?B?").unwrap().strip_suffix("?=").unwrap();
        base64::engine::general_purpose::STANDARD.decode(inner).unwrap()
    };
    header.split(' ').map(|w| String::from_utf8(word(w)).unwrap()).collect()
}
