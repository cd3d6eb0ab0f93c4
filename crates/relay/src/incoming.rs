//! The unread bytes of one side of a connection, and how that side ended. What the bytes mean is read in `http/source.rs`
//! and `smtp/lines.rs`.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    time::timeout,
};

use crate::limits;

/// One side's bytes that were read and not taken yet.
pub(crate) struct Incoming<R> {
    io: R,
    pub(crate) buffer: BytesMut,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    Reset,
    /// Nothing came for too long.
    Quiet,
}

impl<R: AsyncRead + Unpin> Incoming<R> {
    pub(crate) fn new(io: R) -> Self {
        Self { io, buffer: BytesMut::new() }
    }

    /// Reads more into the buffer.
    pub(crate) async fn fill(&mut self) -> Result<(), End> {
        self.buffer.reserve(limits::PIECE_BYTES);
        match timeout(limits::IDLE_WAIT, self.io.read_buf(&mut self.buffer)).await {
            Ok(Ok(0)) => Err(End::Closed),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionReset => Err(End::Reset),
            // TLS without its farewell: many servers just close.
            Ok(Err(_)) => Err(End::Closed),
            Err(_) => Err(End::Quiet),
        }
    }

    /// Takes the first bytes out of the buffer.
    pub(crate) fn take(&mut self, bytes: usize) -> Bytes {
        self.buffer.split_to(bytes).freeze()
    }

    /// Takes what is in the buffer.
    pub(crate) fn rest(&mut self) -> Bytes {
        self.buffer.split().freeze()
    }

    /// The connection itself; what was read and not taken is lost.
    pub(crate) fn into_inner(self) -> R {
        self.io
    }
}
