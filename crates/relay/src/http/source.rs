//! Reading from one side: a head up to its blank line, then the pieces of a body, never a byte beyond.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    time::timeout,
};

use super::body::Body;
use crate::limits;

/// One side's unread bytes.
pub(super) struct Source<R> {
    io: R,
    buffer: BytesMut,
}

/// Why there is no head.
#[derive(Debug)]
pub(super) enum NoHead {
    /// The connection is over; what came of a head is here.
    Ended { part: Bytes, end: End },
    /// No blank line within the limit.
    TooLong { part: Bytes },
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Closed,
    Reset,
    /// Nothing came for too long.
    Quiet,
}

/// Why there is no further piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// The connection was over before the body was.
    Ended(End),
    /// The chunks cannot be read.
    Chunks,
    /// More than the limit.
    TooLong,
}

impl<R: AsyncRead + Unpin> Source<R> {
    pub(super) fn new(io: R) -> Self {
        Self { io, buffer: BytesMut::new() }
    }

    /// The bytes of the next head, its blank line included.
    pub(super) async fn head(&mut self) -> Result<Bytes, NoHead> {
        let mut searched: usize = 0;
        loop {
            // Lines before a request line are skipped (RFC 9112 section 2.2); an answer has none.
            while searched == 0 && self.buffer.starts_with(b"\r\n") {
                let _ = self.buffer.split_to(2);
            }
            let from = searched.saturating_sub(3);
            if let Some(at) = self.buffer[from..].windows(4).position(|four| four == b"\r\n\r\n") {
                return Ok(self.buffer.split_to(from + at + 4).freeze());
            }
            searched = self.buffer.len();
            if searched > limits::HEAD_BYTES_MAX {
                return Err(NoHead::TooLong { part: self.rest() });
            }
            if let Err(end) = self.fill().await {
                return Err(NoHead::Ended { part: self.rest(), end });
            }
        }
    }

    /// The next piece of a body; `None` at its end.
    pub(super) async fn piece(&mut self, body: &mut Body) -> Result<Option<Bytes>, Broken> {
        loop {
            if body.is_done() {
                return Ok(None);
            }
            let used = body.take(&self.buffer).map_err(|_| Broken::Chunks)?;
            if used > 0 {
                return Ok(Some(self.buffer.split_to(used).freeze()));
            }
            match self.fill().await {
                Ok(()) => {}
                Err(End::Closed) if body.ends_with_the_connection() => return Ok(None),
                Err(end) => return Err(Broken::Ended(end)),
            }
        }
    }

    /// Whatever comes next, until the other side ends.
    pub(super) async fn anything(&mut self) -> Result<Bytes, End> {
        if self.buffer.is_empty() {
            self.fill().await?;
        }
        Ok(self.rest())
    }

    fn rest(&mut self) -> Bytes {
        self.buffer.split().freeze()
    }

    async fn fill(&mut self) -> Result<(), End> {
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

    /// The connection itself; what was read and not taken is lost.
    pub(super) fn into_inner(self) -> R {
        self.io
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::body::Framing;

    #[tokio::test]
    async fn a_second_request_in_the_same_packet_is_left_for_later() {
        let mut source = Source::new(&b"\r\nPOST / HTTP/1.1\r\n\r\nbodyGET / HTTP/1.1\r\n\r\n"[..]);
        let mut body = Body::new(Framing::Length(4));

        assert_eq!(source.head().await.unwrap(), "POST / HTTP/1.1\r\n\r\n");
        assert_eq!(source.piece(&mut body).await.unwrap().unwrap(), "body");
        assert_eq!(source.piece(&mut body).await.unwrap(), None);
        assert_eq!(source.head().await.unwrap(), "GET / HTTP/1.1\r\n\r\n");
        assert!(matches!(source.head().await, Err(NoHead::Ended { part, end: End::Closed }) if part.is_empty()));
    }

    #[tokio::test]
    async fn a_head_without_an_end_is_given_up() {
        let long = vec![b'a'; limits::HEAD_BYTES_MAX * 3];

        assert!(matches!(Source::new(&long[..]).head().await, Err(NoHead::TooLong { .. })));
    }
}
