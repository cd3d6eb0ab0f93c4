//! Reads HTTP/1.1 requests byte by byte into the ledger, so that a request which never became whole is on record too.
//! A parser for tests: it trusts the shape of what our own client sends and nothing about when it stops.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::ledger::Received;

/// How far the reading of one request got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    Head,
    Whole,
    /// The peer closed or reset first.
    Gone,
}

/// One connection's unread bytes.
pub(crate) struct Reader {
    buffer: Vec<u8>,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self { buffer: Vec::new() }
    }

    /// Reads up to the blank line and fills in method, path and headers. `on_byte` runs once, when the first byte is there.
    pub(crate) async fn head(&mut self, io: &mut TcpStream, into: &mut Received, mut on_byte: impl FnMut()) -> Read {
        let mut seen = false;
        loop {
            if !seen && !self.buffer.is_empty() {
                seen = true;
                on_byte();
            }
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let head: Vec<u8> = self.buffer.drain(..end + 4).collect();
                parse_head(&String::from_utf8_lossy(&head), into);
                return Read::Head;
            }
            if !self.fill(io).await {
                return Read::Gone;
            }
        }
    }

    /// Reads the body, at most `limit` bytes of it, telling the ledger of every piece.
    pub(crate) async fn body(
        &mut self,
        io: &mut TcpStream,
        head: &Received,
        limit: usize,
        mut on_piece: impl FnMut(&[u8]),
    ) -> Read {
        if head.header("expect").is_some_and(|v| v.eq_ignore_ascii_case("100-continue"))
            && io.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.is_err()
        {
            return Read::Gone;
        }
        if head.header("transfer-encoding").is_some() {
            return self.chunked(io, on_piece).await;
        }
        let length: usize = head.header("content-length").and_then(|v| v.parse().ok()).unwrap_or(0);
        let mut left = length.min(limit);
        while left > 0 {
            if self.buffer.is_empty() && !self.fill(io).await {
                return Read::Gone;
            }
            let piece: Vec<u8> = self.buffer.drain(..left.min(self.buffer.len())).collect();
            left -= piece.len();
            on_piece(&piece);
        }
        if length > limit { Read::Head } else { Read::Whole }
    }

    async fn chunked(&mut self, io: &mut TcpStream, mut on_piece: impl FnMut(&[u8])) -> Read {
        loop {
            let Some(line) = self.line(io).await else { return Read::Gone };
            let size = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
            while self.buffer.len() < size + 2 {
                if !self.fill(io).await {
                    return Read::Gone;
                }
            }
            let piece: Vec<u8> = self.buffer.drain(..size + 2).collect();
            on_piece(&piece[..size]);
            if size == 0 {
                return Read::Whole;
            }
        }
    }

    async fn line(&mut self, io: &mut TcpStream) -> Option<String> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n") {
                let line: Vec<u8> = self.buffer.drain(..end + 2).collect();
                return Some(String::from_utf8_lossy(&line).into_owned());
            }
            if !self.fill(io).await {
                return None;
            }
        }
    }

    async fn fill(&mut self, io: &mut TcpStream) -> bool {
        let read: io::Result<usize> = io.read_buf(&mut self.buffer).await;
        matches!(read, Ok(n) if n > 0)
    }
}

fn find(buffer: &[u8], needle: &[u8]) -> Option<usize> {
    buffer.windows(needle.len()).position(|window| window == needle)
}

fn parse_head(head: &str, into: &mut Received) {
    let mut lines = head.split("\r\n");
    let mut request = lines.next().unwrap_or_default().splitn(3, ' ');
    into.method = request.next().unwrap_or_default().to_owned();
    into.path = request.next().unwrap_or_default().to_owned();
    into.headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect();
}
