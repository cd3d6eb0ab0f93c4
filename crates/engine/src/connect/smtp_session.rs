//! The lines of SMTP: commands out, replies in, the message with its dots stuffed. Bounded, because the other side may
//! be anything that listens on a port. Which reply means what is `smtp`'s business.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use super::wire::{Line, Sent, Stream};

/// Bytes of one reply line. RFC 5321 section 4.5.3.1.5 says 512; servers with long texts exist.
const LINE_BYTES_MAX: u64 = 4_096;
/// Lines of one reply; the longest EHLO answers have about twenty.
const REPLY_LINES_MAX: usize = 100;

/// A complete reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) code: u16,
    /// The texts after the code, one for each line.
    pub(super) lines: Vec<String>,
}

/// An open dialogue.
pub(super) struct Session {
    io: BufReader<Box<dyn Stream>>,
    sent: Sent,
    peer: SocketAddr,
}

impl Session {
    pub(super) fn new(line: Line) -> Self {
        Self { io: BufReader::new(line.io), sent: line.sent, peer: line.peer }
    }

    pub(super) fn sent(&self) -> Sent {
        self.sent.clone()
    }

    pub(super) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The bare connection, unless something unread is buffered.
    pub(super) fn into_line(self) -> Option<Line> {
        let is_clean = self.io.buffer().is_empty();
        is_clean.then(|| Line { io: self.io.into_inner(), sent: self.sent, peer: self.peer })
    }

    /// Says one line and reads the reply. A line break inside is refused: it would be a second command.
    pub(super) async fn command(&mut self, line: &str) -> Result<Reply, String> {
        if line.contains(['\r', '\n', '\0']) {
            return Err("a command is one line".to_owned());
        }
        self.write(format!("{line}\r\n").as_bytes()).await?;
        self.reply().await
    }

    /// Writes the message, dots stuffed, and the final dot.
    pub(super) async fn message(&mut self, data: &[u8]) -> Result<(), String> {
        self.write(&stuffed(data)).await
    }

    /// Says goodbye without caring about the answer.
    pub(super) async fn quit(&mut self, patience: Duration) {
        let _ = tokio::time::timeout(patience, self.command("QUIT")).await;
    }

    pub(super) async fn reply(&mut self) -> Result<Reply, String> {
        let mut lines = Vec::new();
        let mut first = None;
        while lines.len() < REPLY_LINES_MAX {
            let line = self.line().await?;
            let (code, is_last, text) = parsed(&line)?;
            if *first.get_or_insert(code) != code {
                return Err("a reply with two codes".to_owned());
            }
            lines.push(text);
            if is_last {
                return Ok(Reply { code, lines });
            }
        }
        Err("a reply without end".to_owned())
    }

    async fn line(&mut self) -> Result<String, String> {
        let mut line = Vec::new();
        let read = (&mut self.io).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await;
        match read.map_err(|e| e.to_string())? {
            0 => Err("the server closed the connection".to_owned()),
            _ if line.ends_with(b"\n") => Ok(String::from_utf8_lossy(&line).trim_end().to_owned()),
            _ => Err("a reply line was cut off or is too long".to_owned()),
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.io.write_all(bytes).await.map_err(|e| e.to_string())?;
        self.io.flush().await.map_err(|e| e.to_string())
    }
}

fn parsed(line: &str) -> Result<(u16, bool, String), String> {
    let malformed = || "a reply that is not SMTP".to_owned();
    let digits = line.get(..3).filter(|d| d.bytes().all(|b| b.is_ascii_digit())).ok_or_else(malformed)?;
    let code = digits.parse().ok().filter(|code| (200..600).contains(code)).ok_or_else(malformed)?;
    let (is_last, text) = match line.get(3..) {
        None | Some("") => (true, ""),
        Some(rest) if rest.starts_with(' ') => (true, &rest[1..]),
        Some(rest) if rest.starts_with('-') => (false, &rest[1..]),
        Some(_) => return Err(malformed()),
    };
    Ok((code, is_last, text.to_owned()))
}

/// Every line end becomes CRLF and every leading dot is doubled (RFC 5321 section 4.5.2), so that no text can end the
/// message early: a bare LF before a dot is how mails are smuggled into one another.
fn stuffed(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + 64);
    let mut bytes = data.iter().copied().peekable();
    let mut is_line_start = true;
    while let Some(byte) = bytes.next() {
        if byte == b'\r' || byte == b'\n' {
            if byte == b'\r' && bytes.peek() == Some(&b'\n') {
                bytes.next();
            }
            out.extend_from_slice(b"\r\n");
            is_line_start = true;
            continue;
        }
        if is_line_start && byte == b'.' {
            out.push(b'.');
        }
        is_line_start = false;
        out.push(byte);
    }
    out.extend_from_slice(if is_line_start { b".\r\n" } else { b"\r\n.\r\n" });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_end_the_message_early() {
        assert_eq!(stuffed(b"a\r\n.\r\nb"), b"a\r\n..\r\nb\r\n.\r\n");
        assert_eq!(stuffed(b"a\n.\nb\r\n"), b"a\r\n..\r\nb\r\n.\r\n");
        assert_eq!(stuffed(b"a\r.\rb"), b"a\r\n..\r\nb\r\n.\r\n");
        assert_eq!(stuffed(b".hidden"), b"..hidden\r\n.\r\n");
        assert_eq!(stuffed(b""), b".\r\n");
    }

    #[test]
    fn replies_are_read_strictly() {
        assert_eq!(parsed("250-SIZE 1"), Ok((250, false, "SIZE 1".to_owned())));
        assert_eq!(parsed("354"), Ok((354, true, String::new())));
        for bad in ["", "25", "2x0 ok", "250ok", "999 no", "099 no", "é50 a"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
