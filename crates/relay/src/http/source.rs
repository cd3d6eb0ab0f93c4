//! Reading HTTP from one side: a head up to its blank line, then the pieces of a body, never a byte beyond.

use bytes::Bytes;
use tokio::io::AsyncRead;

use super::body::Body;
use crate::{
    incoming::{End, Incoming},
    limits,
};

/// Why there is no head.
#[derive(Debug)]
pub(super) enum NoHead {
    /// The connection is over; what came of a head is here.
    Ended { part: Bytes, end: End },
    /// No blank line within the limit.
    TooLong { part: Bytes },
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

impl<R: AsyncRead + Unpin> Incoming<R> {
    /// The bytes of the next head, its blank line included.
    pub(super) async fn head(&mut self) -> Result<Bytes, NoHead> {
        let mut searched: usize = 0;
        loop {
            // Empty lines before a request line are skipped (RFC 9112 section 2.2); an answer has none.
            while searched == 0 && self.buffer.starts_with(b"\r\n") {
                self.take(2);
            }
            let from = searched.saturating_sub(3);
            if let Some(at) = self.buffer[from..].windows(4).position(|four| four == b"\r\n\r\n") {
                return Ok(self.take(from + at + 4));
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
                return Ok(Some(self.take(used)));
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::body::Framing;

    #[tokio::test]
    async fn a_second_request_in_the_same_packet_is_left_for_later() {
        let mut source = Incoming::new(&b"\r\nPOST / HTTP/1.1\r\n\r\nbodyGET / HTTP/1.1\r\n\r\n"[..]);
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

        assert!(matches!(Incoming::new(&long[..]).head().await, Err(NoHead::TooLong { .. })));
    }
}
