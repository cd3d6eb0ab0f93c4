//! One request whose whole answer is wanted, headers included: for the command line talking to its own server. Built
//! on the same fresh connection as an attempt; what differs is only that the answer's headers are kept.
//!
//! Not for effects: nothing here classifies, and no attempt is on record.

use std::time::Duration;

use effectgate_core::outcome::{Phase, Report};
use http::HeaderMap;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout_at};

use super::{
    AlwaysOpen,
    guard::EgressGuard,
    http::{HttpLimits, HttpRequest, prepare, read_body, words},
    tls::Tls,
};

/// A whole answer.
#[derive(Debug)]
pub struct Fetched {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// Why there is no whole answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Nothing of the request left.
    #[error("{0}")]
    NotSent(String),
    /// Something left, and no whole answer came.
    #[error("{0}")]
    Cut(String),
}

/// Makes one request and reads the whole answer.
///
/// # Errors
/// [`FetchError::NotSent`] if nothing left, [`FetchError::Cut`] if the answer did not come whole and in time.
pub async fn fetch(
    request: HttpRequest,
    limits: &HttpLimits,
    guard: &EgressGuard,
    tls: &Tls,
) -> Result<Fetched, FetchError> {
    let total = Instant::now() + Duration::from_millis(limits.total_ms);
    let prepared = prepare(request, limits, guard, tls, &AlwaysOpen, total).await;
    let (line, message) = prepared.map_err(|failed| FetchError::NotSent(said(failed.into())))?;
    let shaken = http1::handshake(TokioIo::new(line.io)).await;
    let (mut sender, connection) = shaken.map_err(|e| FetchError::NotSent(words(&e)))?;
    let conversation = async {
        let cut = |text: &str| FetchError::Cut(text.to_owned());
        let answered = timeout_at(total, sender.send_request(message)).await.map_err(|_| cut("no answer in time"))?;
        let (head, body) = answered.map_err(|e| cut(&words(&e)))?.into_parts();
        let (body, error) = read_body(body, limits.answer_bytes_max, total).await;
        match error {
            Some(error) => Err(FetchError::Cut(error)),
            None => Ok(Fetched { status: head.status.as_u16(), headers: head.headers, body }),
        }
    };
    tokio::pin!(conversation);
    tokio::select! {
        biased;
        done = &mut conversation => done,
        // The connection may end right after the last byte; what was read of it is still to be taken.
        _ = connection => conversation.await,
    }
}

fn said(report: Report) -> String {
    let phase = match report.phase {
        Phase::Resolve => "resolving",
        Phase::Connect => "connecting",
        Phase::Handshake => "shaking hands",
        _ => "preparing",
    };
    report.error.unwrap_or_else(|| format!("{phase} failed"))
}
