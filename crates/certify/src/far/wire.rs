//! Reading a request and writing an answer, no more of HTTP/1.1 than the far side's peers use: a length, no chunks.

use std::io;

use tokio::{io::AsyncReadExt as _, net::TcpStream};

/// Requests here are small; more is a mistake.
const REQUEST_BYTES_MAX: usize = 1024 * 1024;

pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    /// The `ref` of the query.
    pub(super) reference: String,
    pub(super) key: Option<String>,
    pub(super) body: Vec<u8>,
}

/// The next request; `None` at the end of the connection.
pub(super) async fn read(stream: &mut TcpStream, inbox: &mut Vec<u8>) -> io::Result<Option<Request>> {
    let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    loop {
        if let Some(end) = find(inbox, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&inbox[..end]).into_owned();
            let length = field(&head, "content-length").map_or(Some(0), |text| text.parse().ok());
            let length: usize = length.ok_or_else(|| bad("no length that can be read"))?;
            if length > REQUEST_BYTES_MAX {
                return Err(bad("too long"));
            }
            if inbox.len() >= end + 4 + length {
                let body = inbox.drain(..end + 4 + length).skip(end + 4).collect();
                return request(&head, body).map(Some).ok_or_else(|| bad("no request line"));
            }
        } else if inbox.len() > REQUEST_BYTES_MAX {
            return Err(bad("no end of the head"));
        }
        if stream.read_buf(inbox).await? == 0 {
            return Ok(None);
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn field<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.into_iter().find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
}

fn request(head: &str, body: Vec<u8>) -> Option<Request> {
    let mut words = head.lines().next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let reference = query.split('&').find_map(|pair| pair.strip_prefix("ref=")).unwrap_or_default().to_owned();
    let key = field(head, "idempotency-key").map(str::to_owned);
    Some(Request { method, path: path.to_owned(), reference, key, body })
}

pub(super) fn answer(status: u16, retry_after_s: Option<u32>, body: &str) -> String {
    let later = retry_after_s.map(|s| format!("retry-after: {s}\r\n")).unwrap_or_default();
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{later}content-length: {length}\r\n\r\n{body}")
}
