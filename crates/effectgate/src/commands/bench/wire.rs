//! A keep-alive HTTP/1.1 client with little overhead: the load generator shares the machine with the server it
//! measures. It knows only what our own server answers (a content length, no chunks).

use std::io;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// One connection.
pub(super) struct Conn {
    stream: TcpStream,
    out: Vec<u8>,
    inbox: Vec<u8>,
    host: String,
    key: String,
}

/// An answer; the body is valid until the next call.
pub(super) struct Answer<'c> {
    pub(super) status: u16,
    pub(super) body: &'c [u8],
}

impl Conn {
    /// Connects to `host:port`.
    pub(super) async fn open(host: &str, key: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(host).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, out: Vec::new(), inbox: Vec::new(), host: host.to_owned(), key: key.to_owned() })
    }

    pub(super) async fn call(&mut self, method: &str, path: &str, body: &str) -> io::Result<Answer<'_>> {
        self.out.clear();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.host,
            self.key,
            body.len()
        );
        self.out.extend_from_slice(head.as_bytes());
        self.out.extend_from_slice(body.as_bytes());
        self.stream.write_all(&self.out).await?;
        self.inbox.clear();
        let (status, head_end, whole) = self.read_head().await?;
        while self.inbox.len() < whole {
            self.fill().await?;
        }
        Ok(Answer { status, body: &self.inbox[head_end..whole] })
    }

    /// Status, where the body begins, where it ends.
    async fn read_head(&mut self) -> io::Result<(u16, usize, usize)> {
        loop {
            if let Some(end) = self.inbox.windows(4).position(|w| w == b"\r\n\r\n") {
                let head = std::str::from_utf8(&self.inbox[..end]).map_err(|_| odd("a head that is no text"))?;
                let status = head.get(9..12).and_then(|s| s.parse().ok()).ok_or_else(|| odd("no status"))?;
                let length = length(head).ok_or_else(|| odd("no content length"))?;
                return Ok((status, end + 4, end + 4 + length));
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.inbox).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

fn odd(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

fn length(head: &str) -> Option<usize> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let value =
        fields.filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).map(|(_, value)| value).next()?;
    value.trim().parse().ok()
}
