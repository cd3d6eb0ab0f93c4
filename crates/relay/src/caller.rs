//! The caller's side of a connection, and the ways in which the relay ends it.

use std::io;

use tokio::{
    io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};

use crate::{incoming::Incoming, limits};

pub(crate) struct Caller {
    pub(crate) from: Incoming<OwnedReadHalf>,
    pub(crate) to: OwnedWriteHalf,
}

/// What becomes of the caller's connection after an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Another,
    Close,
    Reset,
    Silence,
}

impl Caller {
    pub(crate) fn new(io: TcpStream) -> Self {
        // Without it an answer only comes later; nothing depends on it.
        let _ = io.set_nodelay(true);
        let (from, to) = io.into_split();
        Self { from: Incoming::new(from), to }
    }

    /// Writes all of it.
    pub(crate) async fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        said(&mut self.to, bytes).await
    }

    /// Ends the connection in the given way.
    pub(crate) async fn end(self, next: Next) {
        // Always the two halves of one stream.
        let Ok(mut io) = self.from.into_inner().reunite(self.to) else { return };
        match next {
            Next::Another | Next::Close => {
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
}

async fn until_left(io: &mut TcpStream) {
    let mut sink = [0; 4096];
    while matches!(io.read(&mut sink).await, Ok(n) if n > 0) {}
}

/// Writes and flushes all of it, within the bound for a peer that does not read.
pub(crate) async fn said<W: AsyncWrite + Unpin>(to: &mut W, bytes: &[u8]) -> io::Result<()> {
    let writing = async {
        to.write_all(bytes).await?;
        to.flush().await
    };
    timeout(limits::IDLE_WAIT, writing).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// A length as the counts have it.
pub(crate) fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
