//! What a connector saw on the wire ([`Report`]). What it means is the business of [`classify`](crate::retry::classify()).
//!
//! Connectors state facts and decide nothing; [`classify`](crate::retry) turns facts into a class by the rules of the
//! provider. The journey: `engine/dispatch` → `connect` → `Report` → class → retry verdict → `store.commit`.

use serde::{Deserialize, Serialize};

/// How far one attempt got on the wire. Ordered: a later phase means more may have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Held back by the switch or a limit; nothing is wrong with the effect, so no attempt is counted.
    Prepared,
    /// The request was being made up, or its address resolved and judged by the egress guard.
    Resolve,
    /// The TCP connection was being made.
    Connect,
    /// The TLS handshake, or the SMTP greeting and EHLO, STARTTLS, AUTH.
    Handshake,
    /// SMTP envelope: MAIL, RCPT, DATA up to and including the 354.
    Envelope,
    /// The request (HTTP) or the message (SMTP) was being written, or its answer awaited.
    Request,
    /// A final status line (HTTP) or the reply to the final dot (SMTP) was read.
    Answered,
}

/// The provider's answer, bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status, or the three digits of the SMTP reply.
    pub status: u16,
    /// The `Retry-After` header as it came (first value), if any.
    pub retry_after: Option<String>,
    /// The first bytes of the body, at most the connector's limit. For SMTP the text of the reply.
    pub body: Vec<u8>,
    /// False if the body was cut off by the peer, by time or by the limit.
    pub body_complete: bool,
    /// True if the provider marked it as an answer that it had kept for our key ([`ReplayMark`](crate::provider::ReplayMark)).
    pub replayed: bool,
}

/// What one attempt showed. Facts only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub phase: Phase,
    /// Bytes of the request that were handed to the kernel after the handshake (counted under TLS).
    pub bytes_sent: u64,
    pub answer: Option<Answer>,
    /// What went wrong, in words without secrets or bodies. `None` when there is a complete answer.
    pub error: Option<String>,
    /// A handle to search for at the provider: the SMTP Message-ID, or the provider key sent.
    pub handle: Option<String>,
}

impl Report {
    /// A report of an attempt that provably sent nothing.
    #[must_use]
    pub fn not_sent(phase: Phase, error: impl Into<String>) -> Self {
        Self { phase, bytes_sent: 0, answer: None, error: Some(error.into()), handle: None }
    }
}
