//! A message and its fault. Its bytes pass as they are, the caller's own dot-stuffing included: what is stuffed for the
//! relay is stuffed for the upstream.

use bytes::{Bytes, BytesMut};

use super::{
    lines::{FinalDot, Reply},
    session::{Session, Step, mirrored},
};
use crate::{
    Fault, Outcome, Phase,
    caller::{Next, len},
    incoming::End,
    limits,
    record::Exchange,
    rule::Asked,
};

/// What the log calls a message.
pub(super) const METHOD: &str = "DATA";

const KEPT_BACK: &[u8] = b"451 4.3.0 effectgate relay: nothing was forwarded, the fault was asked for\r\n";
const TAKEN: &[u8] = b"354 effectgate relay: go ahead, nothing will be forwarded\r\n";
const TOO_LARGE: &[u8] = b"552 5.3.4 effectgate relay: too large for this exchange\r\n";

/// Why a message did not come to its final dot.
enum NotWhole {
    CallerGone,
    TooLarge,
}

impl Session<'_> {
    /// The command DATA and all that follows it.
    pub(super) async fn message(&mut self, line: &[u8]) -> Step {
        // No message has a header of its own, so nothing can be wrong with one.
        let Ok(chosen) = self.shared.plan().choose(&Asked::default()) else { return Err(Next::Close) };
        let exchange = self.shared.record.begin(METHOD, "", chosen.fault, chosen.by);
        match chosen.fault {
            Fault::FailBeforeForward => {
                self.shared.record.end(exchange, Outcome::KeptBack);
                self.say(KEPT_BACK).await
            }
            Fault::Reset(Phase::BeforeForward) => self.swallowed(exchange, Next::Reset).await,
            Fault::Close(Phase::BeforeForward) => self.swallowed(exchange, Next::Close).await,
            Fault::Silence(Phase::BeforeForward) => self.swallowed(exchange, Next::Silence).await,
            _ => self.forwarded(line, exchange).await,
        }
    }

    /// Takes the whole message, forwards nothing, and ends.
    async fn swallowed(&mut self, mut exchange: Exchange, next: Next) -> Step {
        self.say(TAKEN).await?;
        match self.pump(&mut exchange, false, None).await {
            Ok(()) => {
                self.shared.record.end(exchange, Outcome::KeptBack);
                Err(next)
            }
            Err(why) => self.not_whole(exchange, why).await,
        }
    }

    async fn forwarded(&mut self, line: &[u8], mut exchange: Exchange) -> Step {
        let reply = match self.asked(line).await {
            Ok(reply) => reply,
            Err(end) => return Err(self.cut(exchange, end)),
        };
        if reply.code != 354 {
            exchange.status = Some(reply.code);
            self.shared.record.end(exchange, Outcome::Answered);
            return self.say(&reply.bytes).await;
        }
        self.say(&reply.bytes).await?;
        let mut held = (exchange.fault == Fault::Duplicate).then(BytesMut::new);
        if let Err(why) = self.pump(&mut exchange, true, held.as_mut()).await {
            return self.not_whole(exchange, why).await;
        }
        match self.reply().await {
            Ok(reply) => self.replied(exchange, &reply, held.map(BytesMut::freeze)).await,
            Err(end) => Err(self.cut(exchange, end)),
        }
    }

    /// The upstream has replied to the final dot.
    async fn replied(&mut self, mut exchange: Exchange, reply: &Reply, held: Option<Bytes>) -> Step {
        exchange.status = Some(reply.code);
        exchange.answer_bytes = len(&reply.bytes);
        let (outcome, given, step) = match exchange.fault {
            Fault::Duplicate => {
                exchange.second_status = self.again(&held.unwrap_or_default()).await.ok();
                let is_twice = exchange.second_status.is_some();
                (if is_twice { Outcome::Duplicated } else { Outcome::UpstreamCut }, reply.bytes.len(), Ok(()))
            }
            Fault::Reset(phase) => (Outcome::Dropped, half(phase, reply), Err(Next::Reset)),
            Fault::Close(phase) => (Outcome::Dropped, half(phase, reply), Err(Next::Close)),
            Fault::Silence(phase) => (Outcome::Dropped, half(phase, reply), Err(Next::Silence)),
            Fault::ForwardThenDropResponse => (Outcome::Dropped, 0, Err(Next::Close)),
            Fault::ForwardAndRespond | Fault::FailBeforeForward => (Outcome::Answered, reply.bytes.len(), Ok(())),
        };
        self.shared.record.end(exchange, outcome);
        self.say(&reply.bytes[..given]).await?;
        step
    }

    /// Delivers the same message again in the same dialogue; the code of the last reply.
    async fn again(&mut self, message: &[u8]) -> Result<u16, End> {
        let envelope = self.envelope.clone();
        for line in &envelope {
            let reply = self.asked(line).await?;
            if !reply.is_success() {
                self.asked(b"RSET\r\n").await?;
                return Ok(reply.code);
            }
        }
        let reply = self.asked(b"DATA\r\n").await?;
        if reply.code != 354 {
            return Ok(reply.code);
        }
        if self.send(message).await.is_ok() {
            self.shared.record.forwarded();
        }
        Ok(self.reply().await?.code)
    }

    /// Reads the message to its final dot; forwards and holds it as asked.
    async fn pump(
        &mut self,
        exchange: &mut Exchange,
        forwards: bool,
        mut held: Option<&mut BytesMut>,
    ) -> Result<(), NotWhole> {
        let mut dot = FinalDot::default();
        let mut is_up = forwards;
        while let Some(piece) = self.caller.from.message_piece(&mut dot).await.map_err(|_| NotWhole::CallerGone)? {
            exchange.request_bytes += len(&piece);
            let is_held = held.is_some();
            let most = if is_held { len_of(limits::HELD_BYTES_MAX) } else { limits::BODY_BYTES_MAX };
            if exchange.request_bytes > most {
                return Err(NotWhole::TooLarge);
            }
            if let Some(held) = held.as_deref_mut() {
                held.extend_from_slice(&piece);
            }
            // An upstream that takes no more is seen at its reply; the caller says its message to the end.
            is_up = is_up && self.send(&piece).await.is_ok();
        }
        if is_up {
            self.shared.record.forwarded();
        }
        Ok(())
    }

    async fn not_whole(&mut self, exchange: Exchange, why: NotWhole) -> Step {
        match why {
            NotWhole::CallerGone => self.shared.record.end(exchange, Outcome::CallerGone),
            NotWhole::TooLarge => {
                self.shared.record.end(exchange, Outcome::Refused);
                self.say(TOO_LARGE).await?;
            }
        }
        // The upstream's connection ends with this one, and without a dot it keeps nothing.
        Err(Next::Close)
    }

    /// The upstream ended before its reply did: so does the caller's connection, or as the fault says.
    fn cut(&mut self, exchange: Exchange, end: End) -> Next {
        let next = match exchange.fault {
            Fault::Reset(_) => Next::Reset,
            Fault::Silence(_) => Next::Silence,
            Fault::Close(_) | Fault::ForwardThenDropResponse => Next::Close,
            _ => mirrored(end),
        };
        self.shared.record.end(exchange, Outcome::UpstreamCut);
        next
    }
}

fn half(phase: Phase, reply: &Reply) -> usize {
    if phase == Phase::MidAnswer { reply.bytes.len() / 2 } else { 0 }
}

fn len_of(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
