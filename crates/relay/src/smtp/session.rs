//! One caller's dialogue: each command goes to the upstream, each reply comes back; a message is `message.rs`'s.

use bytes::Bytes;
use tokio::{
    io::{ReadHalf, WriteHalf},
    net::TcpStream,
};

use super::{lines::Reply, message};
use crate::{
    By, Fault, Outcome,
    address::Io,
    caller::{Caller, Next, said},
    incoming::{End, Incoming},
    limits,
    relay::Shared,
    rule::Asked,
};

/// A dialogue under way.
pub(super) struct Session<'a> {
    pub(super) shared: &'a Shared,
    pub(super) caller: Caller,
    from: Incoming<ReadHalf<Box<dyn Io>>>,
    to: WriteHalf<Box<dyn Io>>,
    /// MAIL and RCPT as the upstream took them, for a second delivery.
    pub(super) envelope: Vec<Bytes>,
}

/// What a step of a dialogue leads to: the next step, or the end of the connection.
pub(super) type Step<T = ()> = Result<T, Next>;

const NOTHING_FORWARDED: &[u8] = b"421 4.3.2 effectgate relay: nothing was forwarded, the fault was asked for\r\n";
const UNREACHABLE: &[u8] = b"421 4.4.1 effectgate relay: the upstream cannot be reached\r\n";
const NOT_OFFERED: &[u8] = b"502 5.5.1 effectgate relay: not offered, the relay must see every step\r\n";

/// Serves a caller's connection to its end.
pub(crate) async fn serve(io: TcpStream, shared: &Shared) {
    let mut caller = Caller::new(io);
    if shared.plan().foresee(&Asked::default()) == Fault::FailBeforeForward {
        keep_back(&mut caller, shared).await;
        return caller.end(Next::Close).await;
    }
    let Ok(upstream) = shared.way.connect().await else {
        let exchange = shared.record.begin(message::METHOD, "", shared.plan().mode(), By::Mode);
        shared.record.end(exchange, Outcome::UpstreamUnreachable);
        let _ = caller.say(UNREACHABLE).await;
        return caller.end(Next::Close).await;
    };
    let (from, to) = tokio::io::split(upstream);
    let mut session = Session { shared, caller, from: Incoming::new(from), to, envelope: Vec::new() };
    let next = session.dialogue().await;
    let Session { caller, from, to, .. } = session;
    // First: however long the caller stays, the upstream's dialogue is over.
    drop((from, to));
    caller.end(next).await;
}

/// Fails before anything is forwarded, with no connection to the upstream.
async fn keep_back(caller: &mut Caller, shared: &Shared) {
    // No message has a header of its own, so nothing can be wrong with one.
    if let Ok(chosen) = shared.plan().choose(&Asked::default()) {
        let exchange = shared.record.begin(message::METHOD, "", chosen.fault, chosen.by);
        shared.record.end(exchange, Outcome::KeptBack);
    }
    let _ = caller.say(NOTHING_FORWARDED).await;
}

impl Session<'_> {
    async fn dialogue(&mut self) -> Next {
        let mut step = self.give_reply().await.map(|_| ());
        loop {
            step = match step {
                Ok(()) => self.command().await,
                Err(next) => return next,
            };
        }
    }

    async fn command(&mut self) -> Step {
        let line = self.caller.from.line().await.map_err(|_| Next::Close)?;
        match verb(&line).as_str() {
            "EHLO" | "HELO" => self.hello(&line).await,
            "AUTH" => self.auth(&line).await,
            "STARTTLS" | "BDAT" => self.say(NOT_OFFERED).await,
            "MAIL" => {
                self.envelope.clear();
                self.addressed(line).await
            }
            "RCPT" => self.addressed(line).await,
            "DATA" => self.message(&line).await,
            "QUIT" => {
                self.passed(&line).await?;
                Err(Next::Close)
            }
            _ => self.passed(&line).await.map(|_| ()),
        }
    }

    async fn hello(&mut self, line: &[u8]) -> Step {
        let reply = self.asked(line).await.map_err(mirrored)?;
        self.say(&reply.without_what_hides().bytes).await
    }

    /// The lines of a sign-in pass as they are, whatever the mechanism.
    async fn auth(&mut self, line: &[u8]) -> Step {
        let mut reply = self.passed(line).await?;
        while reply.code == 334 {
            let more = self.caller.from.line().await.map_err(|_| Next::Close)?;
            reply = self.passed(&more).await?;
        }
        Ok(())
    }

    async fn addressed(&mut self, line: Bytes) -> Step {
        let reply = self.passed(&line).await?;
        if reply.is_success() && self.envelope.len() < limits::RECIPIENTS_MAX {
            self.envelope.push(line);
        }
        Ok(())
    }

    /// Sends a line to the upstream and gives its reply to the caller.
    async fn passed(&mut self, line: &[u8]) -> Step<Reply> {
        // A line that cannot be written has no reply either; what ended is seen there.
        let _ = said(&mut self.to, line).await;
        self.give_reply().await
    }

    async fn give_reply(&mut self) -> Step<Reply> {
        let reply = self.from.reply().await.map_err(mirrored)?;
        self.say(&reply.bytes).await?;
        Ok(reply)
    }

    pub(super) async fn say(&mut self, bytes: &[u8]) -> Step {
        self.caller.say(bytes).await.map_err(|_| Next::Close)
    }

    /// Sends a line to the upstream and reads its reply, which the caller does not get.
    pub(super) async fn asked(&mut self, line: &[u8]) -> Result<Reply, End> {
        let _ = self.send(line).await;
        self.reply().await
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        said(&mut self.to, bytes).await
    }

    pub(super) async fn reply(&mut self) -> Result<Reply, End> {
        self.from.reply().await
    }
}

/// The caller's connection ends as the upstream's did.
pub(super) fn mirrored(end: End) -> Next {
    if end == End::Reset { Next::Reset } else { Next::Close }
}

fn verb(line: &[u8]) -> String {
    let word = line.split(|byte| byte.is_ascii_whitespace() || *byte == b':').next().unwrap_or_default();
    String::from_utf8_lossy(word).to_ascii_uppercase()
}
