//! Lines, replies, and where a message ends.

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncRead;

use crate::{
    incoming::{End, Incoming},
    limits,
};

/// A whole reply, all its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// 0 where the reply has no code.
    pub(super) code: u16,
    pub(super) bytes: Bytes,
}

/// The end of a message: CR LF, a dot, CR LF (RFC 5321 section 4.1.1.4). A dot between bare line feeds is no end; servers
/// that take it for one let a second message be smuggled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum FinalDot {
    /// At the beginning of a line. So begins a message, whose 354 ended a line.
    #[default]
    LineStart,
    Within,
    Cr,
    Dot,
    DotCr,
    Done,
}

impl FinalDot {
    /// Says how many of these bytes belong to the message, its final dot included, and moves past them.
    pub(super) fn take(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            *self = self.after(*byte);
            if *self == Self::Done {
                return at + 1;
            }
        }
        bytes.len()
    }

    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::DotCr, b'\n') => Self::Done,
            (Self::Cr, b'\n') => Self::LineStart,
            (Self::LineStart, b'.') => Self::Dot,
            (Self::Dot, b'\r') => Self::DotCr,
            (_, b'\r') => Self::Cr,
            _ => Self::Within,
        }
    }
}

impl Reply {
    pub(super) fn is_success(&self) -> bool {
        matches!(self.code, 200..=299)
    }

    /// The reply to EHLO without the extensions that would hide a step from the relay.
    pub(super) fn without_what_hides(self) -> Self {
        let all: Vec<&[u8]> = self.bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let kept: Vec<&[u8]> =
            all.iter().enumerate().filter(|(at, line)| *at == 0 || !hides(line)).map(|(_, l)| *l).collect();
        let mut bytes = BytesMut::new();
        for (at, line) in kept.iter().enumerate() {
            let from = bytes.len();
            bytes.extend_from_slice(line);
            if let Some(mark) = bytes.get_mut(from + 3) {
                *mark = if at + 1 == kept.len() { b' ' } else { b'-' };
            }
        }
        Self { code: self.code, bytes: bytes.freeze() }
    }
}

/// Does the line of an EHLO reply name an extension that the relay does not offer?
fn hides(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line.get(4..).unwrap_or_default()).to_ascii_uppercase();
    let word = text.split_whitespace().next().unwrap_or_default();
    matches!(word, "STARTTLS" | "PIPELINING" | "CHUNKING" | "BINARYMIME")
}

impl<R: AsyncRead + Unpin> Incoming<R> {
    /// The next line, its end included.
    pub(super) async fn line(&mut self) -> Result<Bytes, End> {
        loop {
            if let Some(at) = self.buffer.iter().position(|byte| *byte == b'\n') {
                return Ok(self.take(at + 1));
            }
            if self.buffer.len() > limits::LINE_BYTES_MAX {
                return Err(End::Closed);
            }
            self.fill().await?;
        }
    }

    /// The next reply: lines of a code and `-`, then one of a code alone (RFC 5321 section 4.2.1).
    pub(super) async fn reply(&mut self) -> Result<Reply, End> {
        let mut bytes = BytesMut::new();
        for _ in 0..limits::REPLY_LINES_MAX {
            let line = self.line().await?;
            bytes.extend_from_slice(&line);
            if line.get(3) != Some(&b'-') {
                let code =
                    std::str::from_utf8(line.get(..3).unwrap_or_default()).ok().and_then(|text| text.parse().ok());
                return Ok(Reply { code: code.unwrap_or(0), bytes: bytes.freeze() });
            }
        }
        Err(End::Closed)
    }

    /// The next piece of a message; `None` after its final dot.
    pub(super) async fn message_piece(&mut self, dot: &mut FinalDot) -> Result<Option<Bytes>, End> {
        if *dot == FinalDot::Done {
            return Ok(None);
        }
        if self.buffer.is_empty() {
            self.fill().await?;
        }
        let used = dot.take(&self.buffer);
        Ok(Some(self.take(used)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(bytes: &[u8], step: usize) -> Option<usize> {
        let mut dot = FinalDot::default();
        let taken = bytes.chunks(step).map(|piece| dot.take(piece)).sum();
        (dot == FinalDot::Done).then_some(taken)
    }

    #[test]
    fn a_message_ends_at_a_dot_between_whole_line_ends_only() {
        for step in 1..=30 {
            assert_eq!(end(b"Subject: x\r\n\r\nhi\r\n.\r\n", step), Some(21), "{step}");
            assert_eq!(end(b".\r\n", step), Some(3), "{step}");
        }
        for open in
            ["a\n.\n", "a\n.\r\n", "a\r\n.\n", "a\r\n..\r\n", "a\r\n.b\r\n", "a.\r\n", "\r.\r\n", "a\r\n.\r\r\n"]
        {
            assert_eq!(end(open.as_bytes(), 1), None, "{open:?}");
        }
    }

    #[tokio::test]
    async fn a_reply_has_all_its_lines() {
        let mut incoming = Incoming::new(&b"250-a\r\n250-STARTTLS\r\n250 SIZE 10\r\n354 go\r\n"[..]);

        let reply = incoming.reply().await.unwrap();

        assert_eq!((reply.code, reply.bytes.as_ref()), (250, &b"250-a\r\n250-STARTTLS\r\n250 SIZE 10\r\n"[..]));
        assert_eq!(incoming.reply().await.unwrap().code, 354);
        assert_eq!(incoming.reply().await, Err(End::Closed));
    }

    #[test]
    fn what_would_hide_a_step_is_not_offered() {
        let reply = |text: &'static str| Reply { code: 250, bytes: Bytes::from_static(text.as_bytes()) };

        let offered = reply("250-PIPELINING.test hello\r\n250-pipelining\r\n250-AUTH PLAIN\r\n250 STARTTLS\r\n");

        assert_eq!(offered.without_what_hides(), reply("250-PIPELINING.test hello\r\n250 AUTH PLAIN\r\n"));
        assert_eq!(reply("250 mail.test\r\n").without_what_hides(), reply("250 mail.test\r\n"));
    }
}
