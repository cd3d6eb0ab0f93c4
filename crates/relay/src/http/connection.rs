//! A caller's connection: one exchange after the other, then the end that the last one asks for.

use std::{io, sync::Arc};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};

use super::{exchange, source::Source};
use crate::{limits, relay::Shared};

/// The caller's side of an exchange.
pub(super) struct Caller {
    pub(super) from: Source<OwnedReadHalf>,
    pub(super) to: OwnedWriteHalf,
}

/// What becomes of the caller's connection after an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Another,
    Close,
    Reset,
    Silence,
}

/// Serves a connection to its end.
pub(crate) async fn serve(io: TcpStream, shared: Arc<Shared>) {
    // Without it an answer only comes later; nothing depends on it.
    let _ = io.set_nodelay(true);
    let (from, to) = io.into_split();
    let mut caller = Caller { from: Source::new(from), to };
    let mut next = Next::Another;
    while next == Next::Another {
        next = exchange::one(&mut caller, &shared).await;
    }
    if let Ok(io) = caller.from.into_inner().reunite(caller.to) {
        end(io, next).await;
    }
}

/// Ends a connection in the given way.
pub(crate) async fn end(mut io: TcpStream, next: Next) {
    match next {
        // The caller left already, or the connection closes with the stream.
        Next::Another => {}
        Next::Close => {
            let _ = io.shutdown().await;
            // Unread bytes at the close would make it a reset.
            let _ = timeout(limits::LINGER_WAIT, until_left(&mut io)).await;
        }
        Next::Reset => {
            let _ = io.set_zero_linger();
        }
        Next::Silence => {
            let _ = timeout(limits::SILENCE_WAIT, until_left(&mut io)).await;
        }
    }
}

async fn until_left(io: &mut TcpStream) {
    let mut sink = [0; 4096];
    while matches!(io.read(&mut sink).await, Ok(n) if n > 0) {}
}

impl Caller {
    /// Writes all of it.
    pub(super) async fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        said(&mut self.to, bytes).await
    }
}

/// Writes and flushes all of it, within the bound for a peer that does not read.
pub(super) async fn said<W: tokio::io::AsyncWrite + Unpin>(to: &mut W, bytes: &[u8]) -> io::Result<()> {
    let writing = async {
        to.write_all(bytes).await?;
        to.flush().await
    };
    timeout(limits::IDLE_WAIT, writing).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
