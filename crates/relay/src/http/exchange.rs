//! One exchange: read the request's head, choose the fault, do exactly that.

use super::{
    answer,
    body::Body,
    forward::{self, Give},
    head::{BadRequest, RequestHead},
    source::{Broken, NoHead},
    twice,
};
use crate::{
    By, Fault, Outcome, Phase,
    caller::{Caller, Next, len},
    incoming::End,
    limits,
    record::Exchange,
    relay::Shared,
};

/// Serves the caller's next request.
pub(super) async fn one(caller: &mut Caller, shared: &Shared) -> Next {
    let head = match caller.from.head().await {
        Ok(bytes) => RequestHead::read(&bytes),
        Err(NoHead::Ended { .. }) => return Next::Close,
        Err(NoHead::TooLong { .. }) => Err(BadRequest { status: 400, why: "the request's head is too long" }),
    };
    let head = match head {
        Ok(head) => head,
        Err(bad) => {
            let exchange = shared.record.begin("-", "", Fault::ForwardAndRespond, By::Mode);
            return refuse(caller, shared, exchange, bad.status, bad.why).await;
        }
    };
    let chosen = shared.plan().choose(&head.asked());
    match chosen {
        Ok(chosen) => {
            let exchange = shared.record.begin(&head.method, &head.target, chosen.fault, chosen.by);
            struck(caller, shared, &head, exchange).await
        }
        Err(why) => {
            let exchange = shared.record.begin(&head.method, &head.target, Fault::ForwardAndRespond, By::Header);
            refuse(caller, shared, exchange, 400, &why).await
        }
    }
}

async fn struck(caller: &mut Caller, shared: &Shared, head: &RequestHead, exchange: Exchange) -> Next {
    match exchange.fault {
        Fault::ForwardAndRespond => forward::run(caller, shared, head, exchange, Give::Whole).await,
        Fault::ForwardThenDropResponse => {
            forward::run(caller, shared, head, exchange, Give::Nothing(Next::Close)).await
        }
        Fault::Duplicate => twice::run(caller, shared, head, exchange).await,
        Fault::FailBeforeForward => fail(caller, shared, head, exchange).await,
        Fault::Reset(phase) => at(phase, Next::Reset, caller, shared, head, exchange).await,
        Fault::Close(phase) => at(phase, Next::Close, caller, shared, head, exchange).await,
        Fault::Silence(phase) => at(phase, Next::Silence, caller, shared, head, exchange).await,
    }
}

/// A fault of the connection, at its phase.
async fn at(
    phase: Phase,
    next: Next,
    caller: &mut Caller,
    shared: &Shared,
    head: &RequestHead,
    mut exchange: Exchange,
) -> Next {
    match phase {
        Phase::AfterForward => forward::run(caller, shared, head, exchange, Give::Nothing(next)).await,
        Phase::MidAnswer => forward::run(caller, shared, head, exchange, Give::Half(next)).await,
        Phase::BeforeForward => match swallow(caller, head, &mut exchange).await {
            Ok(()) => {
                shared.record.end(exchange, Outcome::KeptBack);
                next
            }
            Err(broken) => not_whole(caller, shared, exchange, broken).await,
        },
    }
}

/// Answers that the relay failed, with nothing forwarded.
async fn fail(caller: &mut Caller, shared: &Shared, head: &RequestHead, mut exchange: Exchange) -> Next {
    // A caller that waits with its body for `100 Continue` is not asked for it.
    if !head.waits()
        && let Err(broken) = swallow(caller, head, &mut exchange).await
    {
        return not_whole(caller, shared, exchange, broken).await;
    }
    shared.record.end(exchange, Outcome::KeptBack);
    let word = Fault::FailBeforeForward.word();
    let answer = answer::own(502, word, "The relay forwarded nothing; the fault was asked for.", &head.method);
    let _ = caller.say(&answer).await;
    Next::Close
}

/// Reads the whole body and forgets it.
async fn swallow(caller: &mut Caller, head: &RequestHead, exchange: &mut Exchange) -> Result<(), Broken> {
    invite(caller, head).await?;
    let mut body = Body::new(head.framing);
    while let Some(piece) = caller.from.piece(&mut body).await? {
        exchange.request_bytes += len(&piece);
        if exchange.request_bytes > limits::BODY_BYTES_MAX {
            return Err(Broken::TooLong);
        }
    }
    Ok(())
}

/// Tells a caller that waits with its body to send it.
pub(super) async fn invite(caller: &mut Caller, head: &RequestHead) -> Result<(), Broken> {
    if !head.waits() {
        return Ok(());
    }
    let said = caller.say(b"HTTP/1.1 100 Continue\r\n\r\n").await;
    said.map_err(|_| Broken::Ended(End::Closed))
}

/// Ends an exchange whose request never came whole.
pub(super) async fn not_whole(caller: &mut Caller, shared: &Shared, exchange: Exchange, broken: Broken) -> Next {
    match broken {
        Broken::Ended(_) => {
            shared.record.end(exchange, Outcome::CallerGone);
            Next::Close
        }
        Broken::Chunks => refuse(caller, shared, exchange, 400, "the chunks of the body cannot be read").await,
        Broken::TooLong => refuse(caller, shared, exchange, 413, "the body is too large for this exchange").await,
    }
}

pub(super) async fn refuse(caller: &mut Caller, shared: &Shared, exchange: Exchange, status: u16, why: &str) -> Next {
    let method = exchange.method.clone();
    shared.record.end(exchange, Outcome::Refused);
    let _ = caller.say(&answer::own(status, "refused", why, &method)).await;
    Next::Close
}

/// Answers that the upstream cannot be reached.
pub(super) async fn unreachable(caller: &mut Caller, shared: &Shared, exchange: Exchange, why: &str) -> Next {
    let method = exchange.method.clone();
    shared.record.end(exchange, Outcome::UpstreamUnreachable);
    let _ = caller.say(&answer::own(502, Outcome::UpstreamUnreachable.word(), why, &method)).await;
    Next::Close
}
