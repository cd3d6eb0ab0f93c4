//! A request to the upstream and its answer back, both streamed, both at once: an upstream may answer before it has
//! read everything, and a caller may wait for the upstream's `100 Continue`. What the caller gets of the answer is the
//! fault's business; the upstream always sees a whole request and a reader to the end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::tcp::{OwnedReadHalf, OwnedWriteHalf},
    pin, select,
    time::timeout,
};

use super::{
    body::Body,
    exchange::{not_whole, unreachable},
    head::{AnswerHead, RequestHead},
    source::{Broken, NoHead},
};
use crate::{
    Outcome,
    caller::{Caller, Next, len, said},
    incoming::{End, Incoming},
    limits,
    record::Exchange,
    relay::Shared,
};

/// What the caller gets of the answer, and what then becomes of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Give {
    Whole,
    Nothing(Next),
    Half(Next),
}

/// How far the request went, told to the side that reads the answer.
#[derive(Default)]
struct Sent {
    whole: AtomicBool,
    bytes: AtomicU64,
}

/// Why the request was not sent whole.
enum NotSent {
    Caller(Broken),
    Upstream,
}

/// Forwards a request; ends the exchange.
pub(super) async fn run(
    caller: &mut Caller,
    shared: &Shared,
    head: &RequestHead,
    exchange: Exchange,
    give: Give,
) -> Next {
    let upstream = match shared.way.connect().await {
        Ok(io) => io,
        Err(error) => return unreachable(caller, shared, exchange, &error.to_string()).await,
    };
    let (from, mut to) = tokio::io::split(upstream);
    let sent = Sent::default();
    let done = {
        let sending = send(&mut caller.from, head, &mut to, shared, &sent);
        let answer = Answer { shared, head, give, sent: &sent, exchange: exchange.clone(), caller: &mut caller.to };
        let receiving = answer.receive(Incoming::new(from));
        pin!(sending, receiving);
        select! {
            biased;
            sent = &mut sending => match sent {
                Err(NotSent::Caller(broken)) => Err(broken),
                Ok(()) | Err(NotSent::Upstream) => Ok(receiving.await),
            },
            next = &mut receiving => {
                // An answer before the request was whole. What the upstream still takes it gets.
                let _ = timeout(limits::EARLY_ANSWER_WAIT, sending).await;
                Ok(next)
            }
        }
    };
    match done {
        Ok(next) => next,
        Err(broken) => not_whole(caller, shared, exchange, broken).await,
    }
}

async fn send<W: AsyncWrite + Unpin>(
    caller: &mut Incoming<OwnedReadHalf>,
    head: &RequestHead,
    to: &mut W,
    shared: &Shared,
    sent: &Sent,
) -> Result<(), NotSent> {
    let written = |result: std::io::Result<()>| result.map_err(|_| NotSent::Upstream);
    written(said(to, &head.for_upstream(&shared.upstream)).await)?;
    let mut body = Body::new(head.framing);
    while let Some(piece) = caller.piece(&mut body).await.map_err(NotSent::Caller)? {
        let all = sent.bytes.fetch_add(len(&piece), Ordering::Relaxed) + len(&piece);
        if all > limits::BODY_BYTES_MAX {
            return Err(NotSent::Caller(Broken::TooLong));
        }
        written(said(to, &piece).await)?;
    }
    sent.whole.store(true, Ordering::Relaxed);
    shared.record.forwarded();
    Ok(())
}

/// The way of an answer back to the caller.
struct Answer<'a> {
    shared: &'a Shared,
    head: &'a RequestHead,
    give: Give,
    sent: &'a Sent,
    exchange: Exchange,
    caller: &'a mut OwnedWriteHalf,
}

impl Answer<'_> {
    async fn receive<R: AsyncRead + Unpin>(mut self, mut upstream: Incoming<R>) -> Next {
        loop {
            let bytes = match upstream.head().await {
                Ok(bytes) => bytes,
                Err(NoHead::Ended { part, end }) => return self.cut(&part, end).await,
                Err(NoHead::TooLong { part }) => return self.unreadable(&part, upstream).await,
            };
            match AnswerHead::read(&bytes, &self.head.method) {
                None => return self.unreadable(&bytes, upstream).await,
                Some(answer) if answer.is_interim() => self.interim(&answer, &bytes).await,
                Some(answer) => return self.answer(&answer, upstream).await,
            }
        }
    }

    /// Gives a `1xx` on: all of them with a whole answer, else only the one without which no body comes.
    async fn interim(&mut self, answer: &AnswerHead, bytes: &[u8]) {
        let is_awaited = answer.status == 100 && self.head.waits();
        if self.give == Give::Whole || is_awaited {
            // A caller that left is seen at the answer.
            let _ = said(self.caller, bytes).await;
        }
    }

    async fn answer<R: AsyncRead + Unpin>(mut self, answer: &AnswerHead, mut upstream: Incoming<R>) -> Next {
        self.exchange.status = Some(answer.status);
        let mut body = Body::new(answer.framing);
        let is_whole = self.sent.whole.load(Ordering::Relaxed);
        let closes = !self.head.keeps_alive() || !is_whole || body.ends_with_the_connection();
        // What the caller gets and has not got yet. It lags one piece behind, so that the exchange is on record before
        // the caller can see its end.
        let mut waiting = answer.for_caller(closes || self.give != Give::Whole);
        let head_bytes = waiting.len();
        loop {
            let piece = match upstream.piece(&mut body).await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(broken) => return self.broken(&waiting, broken).await,
            };
            self.exchange.answer_bytes += len(&piece);
            if self.exchange.answer_bytes > limits::BODY_BYTES_MAX {
                return self.broken(&waiting, Broken::TooLong).await;
            }
            match self.give {
                Give::Whole if said(self.caller, &waiting).await.is_err() => {
                    return self.over(Outcome::CallerGone, Next::Close);
                }
                Give::Whole => waiting = piece.to_vec(),
                Give::Half(_) if waiting.len() < head_bytes + limits::HALF_BYTES_MAX => {
                    waiting.extend_from_slice(&piece)
                }
                Give::Half(_) | Give::Nothing(_) => {}
            }
        }
        let next = if closes { Next::Close } else { Next::Another };
        self.finish(waiting, head_bytes, next).await
    }

    /// The upstream's answer is here in full.
    async fn finish(self, mut waiting: Vec<u8>, head_bytes: usize, next: Next) -> Next {
        let (outcome, next) = match self.give {
            Give::Whole => (Outcome::Answered, next),
            Give::Nothing(next) => {
                waiting.clear();
                (Outcome::Dropped, next)
            }
            Give::Half(next) => {
                waiting.truncate(half(waiting.len(), head_bytes, self.exchange.answer_bytes));
                (Outcome::Dropped, next)
            }
        };
        self.shared.record.end(self.ended(), outcome);
        let said = said(self.caller, &waiting).await;
        if said.is_ok() { next } else { Next::Close }
    }

    /// An answer that is no HTTP/1: given on as it is, to its end.
    async fn unreadable<R: AsyncRead + Unpin>(mut self, first: &[u8], mut upstream: Incoming<R>) -> Next {
        let mut piece = bytes::Bytes::copy_from_slice(first);
        let mut all = Vec::new();
        let end = loop {
            self.exchange.answer_bytes += len(&piece);
            match self.give {
                Give::Whole => drop(said(self.caller, &piece).await),
                _ if all.len() < limits::HALF_BYTES_MAX => all.extend_from_slice(&piece),
                _ => {}
            }
            match upstream.anything().await {
                Ok(more) if self.exchange.answer_bytes < limits::BODY_BYTES_MAX => piece = more,
                Ok(_) => break End::Closed,
                Err(end) => break end,
            }
        };
        if end != End::Closed {
            return self.cut(&[], end).await;
        }
        let so_far = all.len();
        self.finish(all, so_far, Next::Close).await
    }

    async fn broken(self, waiting: &[u8], broken: Broken) -> Next {
        let end = if let Broken::Ended(end) = broken { end } else { End::Closed };
        self.cut(waiting, end).await
    }

    /// The upstream ended before its answer did: so does the caller's connection, in the same way.
    async fn cut(self, waiting: &[u8], end: End) -> Next {
        let next = match (self.give, end) {
            (Give::Nothing(next) | Give::Half(next), _) => next,
            (Give::Whole, End::Reset) => Next::Reset,
            (Give::Whole, _) => Next::Close,
        };
        self.shared.record.end(self.ended(), Outcome::UpstreamCut);
        if self.give == Give::Whole {
            let _ = said(self.caller, waiting).await;
        }
        next
    }

    fn over(self, outcome: Outcome, next: Next) -> Next {
        self.shared.record.end(self.ended(), outcome);
        next
    }

    fn ended(&self) -> Exchange {
        Exchange { request_bytes: self.sent.bytes.load(Ordering::Relaxed), ..self.exchange.clone() }
    }
}

/// How much of what was kept is half of the answer: the head and half of the body, or half of the head.
fn half(kept: usize, head_bytes: usize, body_bytes: u64) -> usize {
    if kept == head_bytes {
        return head_bytes / 2;
    }
    let half = usize::try_from(body_bytes / 2).unwrap_or(usize::MAX);
    kept.min(head_bytes.saturating_add(half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_answer_is_never_all_of_it() {
        assert_eq!(half(40, 40, 0), 20);
        assert_eq!(half(41, 40, 1), 40);
        assert_eq!(half(50, 40, 10), 45);
        assert_eq!(half(140, 40, 1_000_000), 140);
    }
}
