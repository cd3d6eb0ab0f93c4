//! The same request twice, one after the other, as a caller that repeats itself would send it. The request is held in
//! memory for that, and so is the first answer, which the caller gets after the second copy was answered too.

use bytes::{Bytes, BytesMut};
use tokio::{pin, select};

use super::{
    body::Body,
    exchange::{invite, not_whole, refuse, unreachable},
    head::{AnswerHead, RequestHead},
    source::{Broken, NoHead},
};
use crate::{
    Outcome,
    caller::{Caller, Next, len, said},
    incoming::Incoming,
    limits,
    record::Exchange,
    relay::Shared,
};

/// An answer in memory.
struct Held {
    head: AnswerHead,
    body: Bytes,
    /// Does the body end where the connection did?
    closes: bool,
}

/// Why there is no answer to a copy.
enum NoAnswer {
    Unreachable(String),
    Cut,
    TooLarge,
}

/// Forwards a request twice; ends the exchange.
pub(super) async fn run(caller: &mut Caller, shared: &Shared, head: &RequestHead, mut exchange: Exchange) -> Next {
    let body = match hold(caller, head).await {
        Ok(body) => body,
        Err(broken) => return not_whole(caller, shared, exchange, broken).await,
    };
    exchange.request_bytes = len(&body);
    let request = [head.for_upstream(&shared.upstream), body.to_vec()].concat();
    let first = match copy(shared, head, &request).await {
        Ok(held) => held,
        Err(NoAnswer::Unreachable(why)) => return unreachable(caller, shared, exchange, &why).await,
        Err(NoAnswer::TooLarge) => {
            return refuse(caller, shared, exchange, 502, "the answer is too large to hold").await;
        }
        Err(NoAnswer::Cut) => {
            shared.record.end(exchange, Outcome::UpstreamCut);
            return Next::Close;
        }
    };
    let second = copy(shared, head, &request).await;
    exchange.status = Some(first.head.status);
    exchange.second_status = second.ok().map(|held| held.head.status);
    exchange.answer_bytes = len(&first.body);
    give(caller, shared, head, exchange, &first).await
}

async fn give(caller: &mut Caller, shared: &Shared, head: &RequestHead, exchange: Exchange, first: &Held) -> Next {
    let closes = first.closes || !head.keeps_alive();
    // Without an answer to the second copy nobody knows whether the upstream had it; it was not a duplicate then.
    let outcome = if exchange.second_status.is_some() { Outcome::Duplicated } else { Outcome::UpstreamCut };
    shared.record.end(exchange, outcome);
    let answer = [first.head.for_caller(closes), first.body.to_vec()].concat();
    let said = caller.say(&answer).await;
    if said.is_err() || closes { Next::Close } else { Next::Another }
}

async fn hold(caller: &mut Caller, head: &RequestHead) -> Result<Bytes, Broken> {
    invite(caller, head).await?;
    collect(&mut caller.from, &mut Body::new(head.framing)).await
}

async fn collect<R: tokio::io::AsyncRead + Unpin>(from: &mut Incoming<R>, body: &mut Body) -> Result<Bytes, Broken> {
    let mut all = BytesMut::new();
    while let Some(piece) = from.piece(body).await? {
        if all.len() + piece.len() > limits::HELD_BYTES_MAX {
            return Err(Broken::TooLong);
        }
        all.extend_from_slice(&piece);
    }
    Ok(all.freeze())
}

/// Sends one copy on a connection of its own and reads its whole answer.
async fn copy(shared: &Shared, head: &RequestHead, request: &[u8]) -> Result<Held, NoAnswer> {
    let io = shared.way.connect().await.map_err(|error| NoAnswer::Unreachable(error.to_string()))?;
    let (from, mut to) = tokio::io::split(io);
    let mut from = Incoming::new(from);
    let sending = async {
        if said(&mut to, request).await.is_ok() {
            shared.record.forwarded();
        }
    };
    let receiving = receive(&mut from, head);
    pin!(sending, receiving);
    select! {
        biased;
        () = &mut sending => receiving.await,
        answer = &mut receiving => answer,
    }
}

async fn receive<R: tokio::io::AsyncRead + Unpin>(
    from: &mut Incoming<R>,
    request: &RequestHead,
) -> Result<Held, NoAnswer> {
    let head = loop {
        let bytes = from.head().await.map_err(|no_head| match no_head {
            NoHead::Ended { .. } => NoAnswer::Cut,
            NoHead::TooLong { .. } => NoAnswer::TooLarge,
        })?;
        let head = AnswerHead::read(&bytes, &request.method).ok_or(NoAnswer::Cut)?;
        if !head.is_interim() {
            break head;
        }
    };
    let mut body = Body::new(head.framing);
    let closes = body.ends_with_the_connection();
    match collect(from, &mut body).await {
        Ok(body) => Ok(Held { head, body, closes }),
        Err(Broken::TooLong) => Err(NoAnswer::TooLarge),
        Err(_) => Err(NoAnswer::Cut),
    }
}
