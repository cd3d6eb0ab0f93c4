//! One HTTP/1.1 request on one fresh connection: no pool, no redirect, no proxy from the environment, no retry. On a
//! reused connection "processed, then closed" and "never read" look the same, and a client that repeats by itself
//! makes a second effect nobody sees. So each attempt is one connection and one request, and then it is over.
//!
//! What is told: refused, failed or untouched before the first byte = not sent; a status line = answered, whatever
//! happens to the body; anything else = the request phase with the count of bytes, which `core` calls unknown.

use std::convert::Infallible;
use std::error::Error as _;
use std::time::Duration;

use bytes::Bytes;
use effectgate_core::outcome::{Answer, Phase, Report};
use effectgate_core::provider::ReplayMark;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, RETRY_AFTER, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::WriteGate;
use super::guard::{EgressGuard, Target};
use super::tls::Tls;
use super::wire::{self, Failed, Line};

/// One request. Header values are secrets: they never reach a log or a report.
pub struct HttpRequest {
    pub method: Method,
    pub url: Url,
    pub headers: Vec<(String, SecretString)>,
    pub body: Bytes,
}

/// Bounds of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Name look-up, TCP connection and TLS handshake together.
    pub connect_ms: u64,
    /// From the first byte written to the status line; writing the body counts.
    pub first_byte_ms: u64,
    /// The whole attempt, answer body included.
    pub total_ms: u64,
    /// Bytes of the answer's body that are kept; the rest is cut off and said to be.
    pub answer_bytes_max: usize,
}

impl Default for HttpLimits {
    /// 2 s, 10 s, 10 s: what an API call in a workflow may take; 64 KiB: an answer is an id and a message, not a file.
    fn default() -> Self {
        Self { connect_ms: 2_000, first_byte_ms: 10_000, total_ms: 10_000, answer_bytes_max: 64 * 1024 }
    }
}

/// Makes one attempt and says what was seen.
///
/// Guarantees: at most one request leaves, to an address the guard has judged; when this returns or is dropped, no
/// further byte leaves. `bytes_sent` counts what was handed to the kernel after the handshake, under TLS.
pub async fn send(
    request: HttpRequest,
    limits: &HttpLimits,
    guard: &EgressGuard,
    tls: &Tls,
    gate: &dyn WriteGate,
) -> Report {
    send_keyed(request, None, limits, guard, tls, gate).await.0
}

/// [`send`] to a provider that may mark an answer as one it had kept for our key; with the headers of the answer, for a
/// caller to whom it is handed on.
pub async fn send_keyed(
    request: HttpRequest,
    mark: Option<&ReplayMark>,
    limits: &HttpLimits,
    guard: &EgressGuard,
    tls: &Tls,
    gate: &dyn WriteGate,
) -> (Report, HeaderMap) {
    let total = Instant::now() + Duration::from_millis(limits.total_ms);
    match prepare(request, limits, guard, tls, gate, total).await {
        Ok((line, request)) => exchange(line, request, Reading { limits, total, mark }).await,
        Err(failed) => (failed.into(), HeaderMap::new()),
    }
}

/// How an answer is read.
#[derive(Clone, Copy)]
struct Reading<'a> {
    limits: &'a HttpLimits,
    /// The end of the whole attempt.
    total: Instant,
    mark: Option<&'a ReplayMark>,
}

/// Everything before the first byte. A failure here proves that nothing was sent.
pub(super) async fn prepare(
    request: HttpRequest,
    limits: &HttpLimits,
    guard: &EgressGuard,
    tls: &Tls,
    gate: &dyn WriteGate,
    total: Instant,
) -> Result<(Line, Request<Full<Bytes>>), Failed> {
    let held_back = |error: String| Failed { phase: Phase::Prepared, error };
    let target = guard.check_url(&request.url)?;
    let is_tls = request.url.scheme() == "https";
    let message = message_of(request).map_err(|error| Failed { phase: Phase::Resolve, error })?;
    let connect = total.min(Instant::now() + Duration::from_millis(limits.connect_ms));
    let line = open(guard, tls, &target, is_tls, connect).await?;
    match timeout_at(total, gate.may_write()).await {
        Ok(Ok(())) => Ok((line, message)),
        Ok(Err(reason)) => Err(held_back(reason)),
        Err(_) => Err(held_back("asking whether to write took too long".to_owned())),
    }
}

async fn open(guard: &EgressGuard, tls: &Tls, target: &Target, is_tls: bool, by: Instant) -> Result<Line, Failed> {
    let line = wire::connect(guard, target, by).await?;
    if is_tls { wire::secure(line, tls, target, by).await } else { Ok(line) }
}

/// How the conversation ended, before the bytes are counted.
enum Ended {
    /// No status line. `handed_back`: the client gave the request back untouched.
    Silent {
        handed_back: bool,
        error: String,
    },
    Answered {
        answer: Answer,
        headers: HeaderMap,
        error: Option<String>,
    },
}

async fn exchange(line: Line, request: Request<Full<Bytes>>, reading: Reading<'_>) -> (Report, HeaderMap) {
    let sent = line.sent;
    let before = sent.bytes();
    let ended = match http1::handshake(TokioIo::new(line.io)).await {
        Err(error) => Ended::Silent { handed_back: true, error: words(&error) },
        Ok((mut sender, connection)) => {
            // Lives in this future, not in a task: leaving the select drops it, and with it the socket.
            let drive = async move {
                let _ = connection.await;
                std::future::pending::<Infallible>().await
            };
            tokio::select! {
                biased;
                ended = converse(&mut sender, request, reading) => ended,
                never = drive => match never {},
            }
        }
    };
    report(ended, sent.bytes() - before)
}

fn report(ended: Ended, bytes_sent: u64) -> (Report, HeaderMap) {
    let report = match ended {
        Ended::Answered { answer, headers, error } => {
            let report = Report { phase: Phase::Answered, bytes_sent, answer: Some(answer), error, handle: None };
            return (report, headers);
        }
        Ended::Silent { handed_back, error } if handed_back || bytes_sent == 0 => {
            Report::not_sent(Phase::Handshake, format!("nothing was written: {error}"))
        }
        Ended::Silent { error, .. } => {
            Report { phase: Phase::Request, bytes_sent, answer: None, error: Some(error), handle: None }
        }
    };
    (report, HeaderMap::new())
}

async fn converse(sender: &mut SendRequest<Full<Bytes>>, request: Request<Full<Bytes>>, reading: Reading<'_>) -> Ended {
    let first_byte = reading.total.min(Instant::now() + Duration::from_millis(reading.limits.first_byte_ms));
    let silent = |handed_back: bool, error: String| Ended::Silent { handed_back, error };
    match timeout_at(first_byte, sender.try_send_request(request)).await {
        Err(_) => silent(false, "no status line in time".to_owned()),
        Ok(Err(mut error)) => silent(error.take_message().is_some(), words(error.error())),
        Ok(Ok(response)) => answered(response, reading).await,
    }
}

async fn answered(response: Response<Incoming>, reading: Reading<'_>) -> Ended {
    let Reading { limits, total, mark } = reading;
    let status = response.status().as_u16();
    let retry_after = response.headers().get(RETRY_AFTER);
    let retry_after = retry_after.map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
    let replayed = mark.is_some_and(|mark| is_marked(response.headers(), mark));
    let (parts, body) = response.into_parts();
    let (body, error) = read_body(body, limits.answer_bytes_max, total).await;
    let answer = Answer { status, retry_after, body, body_complete: error.is_none(), replayed };
    Ended::Answered { answer, headers: parts.headers, error }
}

fn is_marked(headers: &HeaderMap, mark: &ReplayMark) -> bool {
    let says_so = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(mark.equals.as_bytes());
    headers.get_all(&mark.header).iter().any(says_so)
}

/// Reads at most `limit` bytes; says why if that was not all.
pub(super) async fn read_body(mut body: Incoming, limit: usize, total: Instant) -> (Vec<u8>, Option<String>) {
    let mut kept = Vec::new();
    loop {
        let frame = match timeout_at(total, body.frame()).await {
            Err(_) => return (kept, Some("the answer's body did not end in time".to_owned())),
            Ok(None) => return (kept, None),
            Ok(Some(Err(error))) => return (kept, Some(format!("the answer's body was cut off: {}", words(&error)))),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        let room = limit - kept.len();
        kept.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return (kept, Some(format!("the answer's body is longer than {limit} bytes")));
        }
    }
}

fn message_of(request: HttpRequest) -> Result<Request<Full<Bytes>>, String> {
    let mut message = Request::new(Full::new(request.body));
    *message.method_mut() = request.method;
    let path = &request.url[url::Position::BeforePath..url::Position::AfterQuery];
    *message.uri_mut() = path.parse().map_err(|_| "the path is not one HTTP can carry".to_owned())?;
    let headers = message.headers_mut();
    for (name, value) in &request.headers {
        let (name, value) = header_of(name, value.expose_secret())?;
        headers.append(name, value);
    }
    headers.insert(HOST, host_of(&request.url)?);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(message)
}

fn header_of(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let parsed = HeaderName::try_from(name).map_err(|_| format!("{name:?} is not a header name"))?;
    if [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(&parsed) {
        return Err(format!("the header {parsed} is set by the connection itself"));
    }
    let mut value =
        HeaderValue::try_from(value).map_err(|_| format!("the value of {parsed} is not one HTTP can carry"))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

fn host_of(url: &Url) -> Result<HeaderValue, String> {
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    HeaderValue::try_from(host).map_err(|_| "the host is not one HTTP can carry".to_owned())
}

/// The error and its causes; hyper's own text says "connection error", the cause says which.
pub(super) fn words(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
