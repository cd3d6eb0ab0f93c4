//! One mail over one fresh SMTP connection, driven command by command so that the phase reached is known. A mail
//! library hides it: the same "network error" comes before MAIL and after the final dot.
//!
//! What is told: up to and including the 354 = not sent (a refusal there is reported as the answer of that phase); a
//! 2xx, 4xx or 5xx to the final dot = answered; anything else once the message began = the request phase, unknown. If
//! one recipient of several is refused, nothing is sent: a mail that went to some is not the mail that was decided.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use effectgate_core::outcome::{Answer, Phase, Report};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, timeout_at};

use super::WriteGate;
use super::guard::{EgressGuard, Target};
use super::mail::Letter;
use super::smtp_session::{Reply, Session};
use super::tls::Tls;
use super::wire::{self, Failed};

/// How long a late reply to a broken transfer, or a goodbye, is waited for. Only politeness and diagnostics hang on it.
const AFTERWORD: Duration = Duration::from_secs(1);

/// Whom to talk to, and how.
#[derive(Debug, Clone)]
pub struct SmtpServer {
    pub host: String,
    pub port: u16,
    pub tls: SmtpTls,
    pub credentials: Option<SmtpCredentials>,
    /// Said in EHLO: the own domain name, or an address literal such as `[127.0.0.1]`.
    pub hello_name: String,
}

/// User and password; sent only under TLS, or to this machine itself.
#[derive(Debug, Clone)]
pub struct SmtpCredentials {
    pub username: String,
    pub password: SecretString,
}

/// When TLS begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpTls {
    None,
    /// By STARTTLS; a server that does not offer it gets no mail.
    StartTls,
    /// From the first byte.
    Tls,
}

/// Bounds of one attempt, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmtpLimits {
    /// Name look-up, TCP connection and TLS handshake together.
    pub connect_ms: u64,
    /// From the start to the last byte of the message.
    pub total_ms: u64,
    /// The wait for the reply to the final dot. The server may be delivering: cut short, mails are sent twice.
    pub final_reply_timeout_ms: u64,
}

impl Default for SmtpLimits {
    /// 10 s and 5 minutes for the dialogue; 10 minutes for the last reply (RFC 5321 section 4.5.3.2.6).
    fn default() -> Self {
        Self { connect_ms: 10_000, total_ms: 300_000, final_reply_timeout_ms: 600_000 }
    }
}

/// Why the dialogue ended before the message.
enum Stop {
    Failed(Failed),
    Refused { phase: Phase, command: &'static str, reply: Reply },
}

impl From<Failed> for Stop {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// Makes one attempt and says what was seen; the Message-ID is the report's handle.
///
/// Guarantees: at most one message leaves. The gate is asked before MAIL FROM and again before the message. In the
/// report `bytes_sent` counts the message only, not the envelope.
pub async fn send(
    letter: &Letter,
    server: &SmtpServer,
    limits: &SmtpLimits,
    guard: &EgressGuard,
    tls: &Tls,
    gate: &dyn WriteGate,
) -> Report {
    let total = Instant::now() + Duration::from_millis(limits.total_ms);
    let connect = total.min(Instant::now() + Duration::from_millis(limits.connect_ms));
    let report = match ready(letter, server, guard, tls, gate, connect, total).await {
        Ok(session) => deliver(session, letter, limits, total).await,
        Err(stop) => stop.into(),
    };
    Report { handle: Some(letter.message_id.clone()), ..report }
}

/// Connection, greeting, TLS, AUTH, envelope, 354.
async fn ready(
    letter: &Letter,
    server: &SmtpServer,
    guard: &EgressGuard,
    tls: &Tls,
    gate: &dyn WriteGate,
    connect: Instant,
    total: Instant,
) -> Result<Session, Stop> {
    let target = guard.check_host(&server.host, server.port).map_err(Failed::from)?;
    let (mut session, offers) = greet(server, guard, tls, &target, connect, total).await?;
    authenticate(&mut session, server, &offers, total).await?;
    ask(gate, total).await?;
    let opened = envelope(&mut session, letter, total).await;
    if let Err(Stop::Refused { .. }) = &opened {
        session.quit(AFTERWORD).await;
    }
    opened?;
    ask(gate, total).await?;
    Ok(session)
}

async fn greet(
    server: &SmtpServer,
    guard: &EgressGuard,
    tls: &Tls,
    target: &Target,
    connect: Instant,
    total: Instant,
) -> Result<(Session, Reply), Stop> {
    let mut line = wire::connect(guard, target, connect).await?;
    if server.tls == SmtpTls::Tls {
        line = wire::secure(line, tls, target, connect).await?;
    }
    let mut session = Session::new(line);
    let greeting = timeout_at(total, session.reply()).await;
    expect(greeting, Phase::Handshake, "the greeting", 2)?;
    let hello = format!("EHLO {}", server.hello_name);
    let offers = say(&mut session, &hello, "EHLO", Phase::Handshake, 2, total).await?;
    if server.tls != SmtpTls::StartTls {
        return Ok((session, offers));
    }
    if !offers.lines.iter().any(|line| line.trim().eq_ignore_ascii_case("STARTTLS")) {
        return Err(handshake_failed("the server does not offer STARTTLS").into());
    }
    say(&mut session, "STARTTLS", "STARTTLS", Phase::Handshake, 2, total).await?;
    // Anything already here was said in the clear and would be read as if it had come under TLS.
    let line = session.into_line().ok_or_else(|| handshake_failed("the server spoke on before TLS began"))?;
    let mut session = Session::new(wire::secure(line, tls, target, total).await?);
    let offers = say(&mut session, &hello, "EHLO", Phase::Handshake, 2, total).await?;
    Ok((session, offers))
}

/// AUTH PLAIN, or AUTH LOGIN where the server offers that and not PLAIN.
async fn authenticate(session: &mut Session, server: &SmtpServer, offers: &Reply, total: Instant) -> Result<(), Stop> {
    let Some(SmtpCredentials { username, password }) = &server.credentials else { return Ok(()) };
    if server.tls == SmtpTls::None && !session.peer().ip().is_loopback() {
        return Err(handshake_failed("credentials are not sent without TLS").into());
    }
    let password = password.expose_secret();
    let steps = if offers_auth(offers, "LOGIN") && !offers_auth(offers, "PLAIN") {
        vec![("AUTH LOGIN".to_owned(), 3), (STANDARD.encode(username), 3), (STANDARD.encode(password), 2)]
    } else {
        vec![(format!("AUTH PLAIN {}", STANDARD.encode(format!("\0{username}\0{password}"))), 2)]
    };
    for (line, class) in steps {
        say(session, SecretString::from(line).expose_secret(), "AUTH", Phase::Handshake, class, total).await?;
    }
    Ok(())
}

fn offers_auth(offers: &Reply, mechanism: &str) -> bool {
    offers.lines.iter().any(|line| {
        let mut words = line.split_whitespace();
        words.next().is_some_and(|w| w.eq_ignore_ascii_case("AUTH")) && words.any(|w| w.eq_ignore_ascii_case(mechanism))
    })
}

async fn envelope(session: &mut Session, letter: &Letter, total: Instant) -> Result<(), Stop> {
    say(session, &format!("MAIL FROM:<{}>", letter.from), "MAIL", Phase::Envelope, 2, total).await?;
    for address in &letter.to {
        say(session, &format!("RCPT TO:<{address}>"), "RCPT", Phase::Envelope, 2, total).await?;
    }
    say(session, "DATA", "DATA", Phase::Envelope, 3, total).await?;
    Ok(())
}

async fn ask(gate: &dyn WriteGate, total: Instant) -> Result<(), Stop> {
    let refused = |error: String| Stop::Failed(Failed { phase: Phase::Prepared, error });
    match timeout_at(total, gate.may_write()).await {
        Ok(answer) => answer.map_err(refused),
        Err(_) => Err(refused("asking whether to write took too long".to_owned())),
    }
}

async fn say(
    session: &mut Session,
    line: &str,
    command: &'static str,
    phase: Phase,
    class: u16,
    total: Instant,
) -> Result<Reply, Stop> {
    expect(timeout_at(total, session.command(line)).await, phase, command, class)
}

fn expect(
    answer: Result<Result<Reply, String>, tokio::time::error::Elapsed>,
    phase: Phase,
    command: &'static str,
    class: u16,
) -> Result<Reply, Stop> {
    match answer {
        Ok(Ok(reply)) if reply.code / 100 == class => Ok(reply),
        Ok(Ok(reply)) => Err(Stop::Refused { phase, command, reply }),
        Ok(Err(error)) => Err(Failed { phase, error: format!("{command}: {error}") }.into()),
        Err(_) => Err(Failed { phase, error: format!("{command}: no reply in time") }.into()),
    }
}

/// The message and its final dot. From the first byte on, only a reply settles what happened.
async fn deliver(mut session: Session, letter: &Letter, limits: &SmtpLimits, total: Instant) -> Report {
    let sent = session.sent();
    let before = sent.bytes();
    let written = timeout_at(total, session.message(&letter.data)).await;
    let is_written = matches!(written, Ok(Ok(())));
    let wait = if is_written { Duration::from_millis(limits.final_reply_timeout_ms) } else { AFTERWORD };
    let reply = timeout_at(Instant::now() + wait, session.reply()).await;
    if is_written && matches!(reply, Ok(Ok(_))) {
        session.quit(AFTERWORD).await;
    }
    drop(session); // nothing leaves any more: now the count is final
    let bytes_sent = sent.bytes() - before;
    match reply {
        Ok(Ok(reply)) if matches!((reply.code / 100, is_written), (2, true) | (4 | 5, _)) => {
            answered(reply, bytes_sent)
        }
        _ if bytes_sent == 0 => Report::not_sent(Phase::Envelope, "nothing of the message was written"),
        reply => silent(is_written, reply.map_err(|_| ()), bytes_sent),
    }
}

fn answered(reply: Reply, bytes_sent: u64) -> Report {
    Report { phase: Phase::Answered, bytes_sent, answer: Some(reply.into()), error: None, handle: None }
}

fn silent(is_written: bool, reply: Result<Result<Reply, String>, ()>, bytes_sent: u64) -> Report {
    let place = if is_written { "after the final dot" } else { "before the final dot was written" };
    let what = match reply {
        Ok(Ok(reply)) => format!("an unexpected reply {}", reply.code),
        Ok(Err(error)) => error,
        Err(()) => "no reply in time".to_owned(),
    };
    let error = Some(format!("{place}: {what}"));
    Report { phase: Phase::Request, bytes_sent, answer: None, error, handle: None }
}

fn handshake_failed(error: &str) -> Failed {
    Failed { phase: Phase::Handshake, error: error.to_owned() }
}

impl From<Stop> for Report {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Failed(failed) => failed.into(),
            Stop::Refused { phase, command, reply } => {
                let error = format!("{command} was refused with {}", reply.code);
                Self { answer: Some(reply.into()), ..Self::not_sent(phase, error) }
            }
        }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        let body = reply.lines.join("\n").into_bytes();
        Self { status: reply.code, retry_after: None, body, body_complete: true, replayed: false }
    }
}
