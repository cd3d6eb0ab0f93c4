//! Each row of "what a failed send tells": the peer really does it, and the report is held against the peer's ledger.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod peers;

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use effectgate_core::outcome::{Phase, Report};
use effectgate_engine::connect::guard::EgressGuard;
use effectgate_engine::connect::http::{HttpLimits, HttpRequest, send};
use effectgate_engine::connect::tls::Tls;
use effectgate_engine::connect::{AlwaysOpen, WriteGate};
use effectgate_testkit::provider::{Act, Mode, ScriptedProvider, Step};
use http::Method;
use peers::Identity;
use secrecy::SecretString;
use tokio::net::{TcpSocket, TcpStream};
use url::Url;

const BODY: &str = r#"{"account":9007199254740993,"amount":100}"#;

/// Long enough for a busy machine where an answer is expected.
const PATIENT: HttpLimits =
    HttpLimits { connect_ms: 20_000, first_byte_ms: 20_000, total_ms: 20_000, answer_bytes_max: 1_024 };
/// For peers that will never answer: the wait itself is what is tested.
const HASTY: HttpLimits =
    HttpLimits { connect_ms: 1_000, first_byte_ms: 300, total_ms: 20_000, answer_bytes_max: 1_024 };

fn request(url: &str) -> HttpRequest {
    let headers = vec![("Idempotency-Key".to_owned(), SecretString::from("pk_1"))];
    HttpRequest {
        method: Method::POST,
        url: Url::parse(url).unwrap(),
        headers,
        body: Bytes::from_static(BODY.as_bytes()),
    }
}

fn local() -> EgressGuard {
    EgressGuard::new(["127.0.0.1", "localhost"], true).unwrap()
}

async fn post(url: &str, limits: &HttpLimits) -> Report {
    send(request(url), limits, &local(), &Tls::new(None).unwrap(), &AlwaysOpen).await
}

async fn post_to(provider: &ScriptedProvider) -> Report {
    post(&format!("{}/v1/refunds?x=1", provider.url()), &PATIENT).await
}

fn assert_not_sent(report: &Report, phase: Phase) {
    assert_eq!((report.phase, report.bytes_sent), (phase, 0), "{report:?}");
    assert!(report.answer.is_none() && report.error.is_some(), "{report:?}");
}

fn assert_unknown(report: &Report) {
    assert_eq!(report.phase, Phase::Request, "{report:?}");
    assert!(report.bytes_sent > 0 && report.answer.is_none() && report.error.is_some(), "{report:?}");
}

fn status(report: &Report) -> u16 {
    assert_eq!(report.phase, Phase::Answered, "{report:?}");
    report.answer.as_ref().unwrap().status
}

#[tokio::test]
async fn an_answer_is_reported_whole_and_the_request_arrives_byte_for_byte() {
    let provider = ScriptedProvider::start([]).await;

    let report = post_to(&provider).await;

    assert_eq!(status(&report), 201);
    let answer = report.answer.unwrap();
    assert_eq!((answer.body.as_slice(), answer.body_complete), (br#"{"id":"pred_1"}"#.as_slice(), true));
    assert_eq!(report.error, None);
    let ledger = provider.ledger();
    let seen = &ledger.requests[0];
    assert_eq!(
        (seen.method.as_str(), seen.path.as_str(), seen.body.as_slice()),
        ("POST", "/v1/refunds?x=1", BODY.as_bytes())
    );
    assert_eq!(seen.header("host"), Some(provider.address().to_string().as_str()));
    assert_eq!((seen.header("connection"), seen.header("idempotency-key")), (Some("close"), Some("pk_1")));
    assert!(report.bytes_sent > BODY.len() as u64);
}

#[tokio::test]
async fn a_closed_port_is_not_sent() {
    let report = post(&format!("http://{}/", peers::closed().await), &PATIENT).await;

    assert_not_sent(&report, Phase::Connect);
}

#[tokio::test]
async fn a_dropped_syn_is_not_sent() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new(); // fills the accept queue: the kernel then drops every further SYN
    while let Ok(Ok(io)) = tokio::time::timeout(Duration::from_millis(300), TcpStream::connect(address)).await {
        queued.push(io);
        assert!(queued.len() < 64, "the accept queue never filled");
    }

    let report = post(&format!("http://{address}/"), &HASTY).await;

    assert_not_sent(&report, Phase::Connect);
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_not_sent() {
    let guard = EgressGuard::new(["nowhere.invalid"], false).unwrap();

    let report =
        send(request("http://nowhere.invalid/"), &PATIENT, &guard, &Tls::new(None).unwrap(), &AlwaysOpen).await;

    assert_not_sent(&report, Phase::Resolve);
}

#[tokio::test]
async fn tls_garbage_is_not_sent() {
    let address = peers::saying("SSH-2.0-not-tls\r\n").await;

    let report = post(&format!("https://{address}/"), &PATIENT).await;

    assert_not_sent(&report, Phase::Handshake);
}

#[tokio::test]
async fn tls_closed_in_the_handshake_is_not_sent() {
    let provider = ScriptedProvider::start([Act::AcceptThenClose.into(), Act::AcceptThenReset.into()]).await;
    let url = format!("https://{}/", provider.address());

    for _ in 0..2 {
        assert_not_sent(&post(&url, &PATIENT).await, Phase::Handshake);
    }

    assert!(provider.ledger().requests.is_empty());
}

#[tokio::test]
async fn tls_that_stays_silent_is_not_sent() {
    let address = peers::saying("").await;

    let report = post(&format!("https://{address}/"), &HASTY).await;

    assert_not_sent(&report, Phase::Handshake);
}

#[tokio::test]
async fn an_unknown_certificate_is_not_sent_and_a_trusted_one_is_answered() {
    let provider = ScriptedProvider::start([]).await;
    let identity = Identity::new();
    let front = identity.front(provider.address()).await;
    let url = format!("https://localhost:{}/refunds", front.port());

    let distrusted = post(&url, &PATIENT).await;
    assert_not_sent(&distrusted, Phase::Handshake);
    assert!(provider.ledger().requests.is_empty());

    let tls = Tls::new(Some(identity.ca_file.path())).unwrap();
    let trusted = send(request(&url), &PATIENT, &local(), &tls, &AlwaysOpen).await;
    assert_eq!(status(&trusted), 201);
    assert_eq!(provider.ledger().executions.len(), 1);
}

#[tokio::test]
async fn a_cut_after_the_request_under_tls_is_unknown() {
    let provider = ScriptedProvider::start([Act::ReadThenClose.into()]).await;
    let identity = Identity::new();
    let front = identity.front(provider.address()).await;
    let tls = Tls::new(Some(identity.ca_file.path())).unwrap();

    let report = send(request(&format!("https://{front}/")), &PATIENT, &local(), &tls, &AlwaysOpen).await;

    assert_unknown(&report);
    assert_eq!(provider.ledger().executions.len(), 1);
}

/// Writes only once the peer has closed, so that the close is there before the first byte.
struct AfterTheClose<'a>(&'a ScriptedProvider);

#[async_trait]
impl WriteGate for AfterTheClose<'_> {
    async fn may_write(&self) -> Result<(), String> {
        self.0.until(|ledger| ledger.connections_ended == 1).await;
        Ok(())
    }
}

#[tokio::test]
async fn accepted_and_closed_or_reset_at_once_is_not_sent() {
    for act in [Act::AcceptThenClose, Act::AcceptThenReset] {
        let provider = ScriptedProvider::start([act.into()]).await;
        let tls = Tls::new(None).unwrap();

        let report = send(request(&provider.url()), &PATIENT, &local(), &tls, &AfterTheClose(&provider)).await;

        assert_not_sent(&report, Phase::Handshake);
        assert!(provider.ledger().requests.is_empty());
    }
}

#[tokio::test]
async fn hc_20_a_connection_that_dies_after_the_request_is_unknown_and_nothing_is_repeated() {
    let acts = [Act::ReadThenClose, Act::ReadThenReset, Act::HalfHeadThenClose, Act::ContinueThenClose];
    for act in acts {
        let provider = ScriptedProvider::start([Step::created(), act.clone().into()]).await;
        assert_eq!(status(&post_to(&provider).await), 201);

        let report = post_to(&provider).await;

        assert_unknown(&report);
        let ledger = provider.ledger();
        assert_eq!((ledger.requests.len(), ledger.executions.len()), (2, 2), "{act:?}");
        assert_ne!(ledger.requests[0].connection, ledger.requests[1].connection, "a connection is never used twice");
    }
}

#[tokio::test]
async fn read_all_then_silence_is_unknown_and_the_connection_is_over() {
    let provider = ScriptedProvider::start([Act::ReadThenSilence.into()]).await;

    let report = post(&provider.url(), &HASTY).await;

    assert_unknown(&report);
    let ledger = provider.until(|ledger| ledger.connections_ended == 1).await;
    assert_eq!((ledger.connections, ledger.executions.len()), (1, 1));
}

#[tokio::test]
async fn a_dropped_attempt_closes_its_connection() {
    let provider = ScriptedProvider::start([Act::ReadThenSilence.into()]).await;

    tokio::select! {
        _ = post_to(&provider) => panic!("the peer never answers"),
        _ = provider.requests(1) => {}
    }

    provider.until(|ledger| ledger.connections_ended == 1).await;
}

#[tokio::test]
async fn hc_22_a_redirect_is_an_answer_and_nothing_follows_it() {
    let other = ScriptedProvider::start([]).await;
    let handed = include_str!("data/hc22-provider-302.http");
    let elsewhere = format!("{}/landing", other.url());
    let mut steps = vec![Step::from(Act::Raw { text: handed.to_owned() })];
    steps.extend([301, 302, 303, 307, 308].map(|status| Step::answer_with(status, "Location", &elsewhere)));
    steps.push(Step::answer_with(302, "Location", "/same-host"));
    let count = steps.len();
    let provider = ScriptedProvider::start(steps).await;

    for expected in [302, 301, 302, 303, 307, 308, 302] {
        assert_eq!(status(&post_to(&provider).await), expected);
    }

    let ledger = provider.ledger();
    assert_eq!((ledger.connections, ledger.executions.len()), (count as u64, 0));
    assert!(ledger.requests.iter().all(|r| r.method == "POST" && r.path == "/v1/refunds?x=1"));
    assert_eq!(other.ledger().connections, 0);
}

#[tokio::test]
async fn a_reset_in_the_middle_of_a_large_body_is_unknown_with_the_count_as_evidence() {
    let provider = ScriptedProvider::start([Act::ReadPartThenReset { bytes: 1_024 }.into()]).await;
    let large = HttpRequest { body: Bytes::from(vec![b'x'; 4 << 20]), ..request(&provider.url()) };

    let report = send(large, &PATIENT, &local(), &Tls::new(None).unwrap(), &AlwaysOpen).await;

    assert_unknown(&report);
    assert!(report.bytes_sent < 4 << 20, "partial: {}", report.bytes_sent);
    let ledger = provider.ledger();
    assert_eq!((ledger.requests[0].complete, ledger.requests[0].body.len()), (false, 1_024));
}

#[tokio::test]
async fn an_early_413_is_an_answer_while_the_body_is_still_being_written() {
    let provider = ScriptedProvider::start([Act::AnswerBeforeBody { status: 413 }.into()]).await;
    let large = HttpRequest { body: Bytes::from(vec![b'x'; 32 << 20]), ..request(&provider.url()) };

    let report = send(large, &PATIENT, &local(), &Tls::new(None).unwrap(), &AlwaysOpen).await;

    assert_eq!(status(&report), 413);
    assert!(report.bytes_sent < 32 << 20);
}

#[tokio::test]
async fn a_status_line_counts_even_if_the_body_is_cut_never_ends_or_is_too_long() {
    let provider = ScriptedProvider::start([Act::CutBody.into(), Step::answer(200, &"x".repeat(2_000))]).await;
    let endless = peers::saying("HTTP/1.1 202 Accepted\r\nContent-Length: 9\r\n\r\nabc").await;
    let short = HttpLimits { total_ms: 400, ..PATIENT };

    let cut = post_to(&provider).await;
    let long = post_to(&provider).await;
    let late = post(&format!("http://{endless}/"), &short).await;

    assert_eq!((status(&cut), status(&long), status(&late)), (201, 200, 202));
    for report in [&cut, &long, &late] {
        assert!(!report.answer.as_ref().unwrap().body_complete && report.error.is_some(), "{report:?}");
    }
    assert_eq!(long.answer.unwrap().body.len(), 1_024);
    assert_eq!(late.answer.unwrap().body, b"abc");
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_complete() {
    let provider = ScriptedProvider::start([Step::answer(200, &"x".repeat(1_024))]).await;

    let report = post_to(&provider).await;

    assert!(report.answer.unwrap().body_complete);
}

#[tokio::test]
async fn what_is_not_http_is_unknown() {
    let address = peers::saying("220 mail.example.test ESMTP\r\n").await;

    let report = post(&format!("http://{address}/"), &HASTY).await;

    // The greeting may be there before the request is written: then nothing was sent and that is said.
    assert!(report.answer.is_none() && report.error.is_some(), "{report:?}");
    assert_eq!(report.bytes_sent == 0, report.phase == Phase::Handshake, "{report:?}");
}

#[tokio::test]
async fn retry_after_is_passed_on_as_it_came() {
    let provider =
        ScriptedProvider::start([Step::answer_with(429, "retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")]).await;

    let report = post_to(&provider).await;

    assert_eq!(report.answer.unwrap().retry_after.as_deref(), Some("Wed, 21 Oct 2026 07:28:00 GMT"));
}

struct Shut;

#[async_trait]
impl WriteGate for Shut {
    async fn may_write(&self) -> Result<(), String> {
        Err("switch_off".to_owned())
    }
}

#[tokio::test]
async fn a_gate_that_closes_after_the_handshake_keeps_every_byte_back() {
    let provider = ScriptedProvider::start([]).await;

    let report = send(request(&provider.url()), &PATIENT, &local(), &Tls::new(None).unwrap(), &Shut).await;

    assert_not_sent(&report, Phase::Prepared);
    assert_eq!(report.error.as_deref(), Some("switch_off"));
    let ledger = provider.until(|ledger| ledger.connections_ended == 1).await;
    assert!(ledger.requests.is_empty());
}

#[tokio::test]
async fn headers_that_would_break_the_request_are_refused_without_showing_their_value() {
    let provider = ScriptedProvider::start([]).await;
    for (name, value) in
        [("X-Token", "s3cret\r\nX-Evil: 1"), ("Host", "s3cret"), ("Transfer-Encoding", "s3cret"), ("a b", "s3cret")]
    {
        let mut broken = request(&provider.url());
        broken.headers.push((name.to_owned(), SecretString::from(value)));

        let report = send(broken, &PATIENT, &local(), &Tls::new(None).unwrap(), &AlwaysOpen).await;

        assert_not_sent(&report, Phase::Resolve);
        assert!(!format!("{report:?}").contains("s3cret"));
    }
    assert_eq!(provider.ledger().connections, 0);
}

#[tokio::test]
async fn the_guard_is_asked_before_anything_is_connected() {
    let provider = ScriptedProvider::start([]).await;
    let strict = EgressGuard::new(["127.0.0.1"], false).unwrap();

    let report = send(request(&provider.url()), &PATIENT, &strict, &Tls::new(None).unwrap(), &AlwaysOpen).await;

    assert_not_sent(&report, Phase::Resolve);
    assert_eq!(provider.ledger().connections, 0);
}

#[tokio::test]
async fn an_enforcing_provider_replays_its_first_answer_under_the_same_key() {
    let provider = ScriptedProvider::start([Act::ReadThenClose.into()]).await;
    provider.enforce("Idempotency-Key");

    assert_unknown(&post_to(&provider).await);
    let again = post_to(&provider).await;

    assert_eq!(again.answer.unwrap().body, br#"{"id":"pred_1"}"#);
    assert_eq!(provider.ledger().executions.len(), 1);
    assert!(provider.ledger().requests[1].replayed);
}

#[tokio::test]
async fn an_enforcing_provider_answers_409_while_the_key_is_in_flight() {
    let provider = ScriptedProvider::start([Step::created().held()]).await;
    provider.enforce("Idempotency-Key");

    let second_then_release = async {
        provider.requests(1).await;
        let second = post_to(&provider).await;
        provider.apply(Mode { release: 1, ..Mode::default() });
        second
    };
    let (first, second) = tokio::join!(post_to(&provider), second_then_release);

    assert_eq!((status(&first), status(&second)), (201, 409));
    assert_eq!(provider.ledger().executions.len(), 1);
}
