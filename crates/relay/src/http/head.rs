//! The heads of requests and answers: what they say about the message's end, and how they look on the other side.
//!
//! Changed on the way are only the lines that are about one connection: `Connection` and what it names, `Keep-Alive`,
//! `Proxy-Connection`, `Upgrade`; the request's `Host`, which becomes the upstream's; and `Effectgate-Fault`, which is
//! for the relay. All other lines keep their order, their case and their value.

use http::Method;
use url::Url;

use super::body::Framing;
use crate::{FAULT_HEADER, Upstream, limits, rule::Asked};

type Lines = Vec<(String, Vec<u8>)>;

#[derive(Debug, Clone)]
pub(super) struct RequestHead {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    minor: u8,
    lines: Lines,
    pub(super) framing: Framing,
}

#[derive(Debug, Clone)]
pub(super) struct AnswerHead {
    pub(super) status: u16,
    minor: u8,
    reason: String,
    lines: Lines,
    pub(super) framing: Framing,
}

/// A request that the relay answers itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadRequest {
    pub(super) status: u16,
    pub(super) why: &'static str,
}

/// Lines that concern one connection (RFC 9110 section 7.6.1).
const OF_THE_CONNECTION: [&str; 4] = ["connection", "keep-alive", "proxy-connection", "upgrade"];

impl RequestHead {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, BadRequest> {
        let bad = |why| BadRequest { status: 400, why };
        let mut headers = [httparse::EMPTY_HEADER; limits::HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        if !parsed.parse(bytes).is_ok_and(|done| done.is_complete()) {
            return Err(bad("the request's head cannot be read"));
        }
        let method = parsed.method.unwrap_or_default().to_owned();
        if method == Method::CONNECT.as_str() {
            return Err(BadRequest { status: 501, why: "the relay is no tunnel" });
        }
        let target = origin_form(parsed.path.unwrap_or_default()).ok_or_else(|| bad("the target cannot be read"))?;
        let lines = owned(parsed.headers);
        let framing = match length(&lines).map_err(bad)? {
            Some(framing) => framing,
            None => Framing::Length(0),
        };
        Ok(Self { method, target, minor: parsed.version.unwrap_or(1), lines, framing })
    }

    /// May the caller's connection carry another request?
    pub(super) fn keeps_alive(&self) -> bool {
        self.minor == 1 && !lists(&self.lines, "connection", "close")
    }

    /// Does the caller wait for `100 Continue` before it sends the body?
    pub(super) fn waits(&self) -> bool {
        self.minor == 1 && self.framing != Framing::Length(0) && lists(&self.lines, "expect", "100-continue")
    }

    pub(super) fn asked(&self) -> Asked {
        Asked { method: self.method.clone(), path: self.target.clone(), headers: self.lines.clone() }
    }

    /// The head as the upstream gets it.
    pub(super) fn for_upstream(&self, upstream: &Upstream) -> Vec<u8> {
        let (host, prefix) = place(upstream);
        let mut out = format!("{} {prefix}{} HTTP/1.{}\r\n", self.method, self.target, self.minor).into_bytes();
        let dropped = of_the_connection(&self.lines);
        let mut has_host = false;
        for (name, value) in &self.lines {
            let lower = name.to_ascii_lowercase();
            if lower == "host" {
                if !has_host {
                    line(&mut out, name, host.as_bytes());
                }
                has_host = true;
            } else if lower != FAULT_HEADER && !dropped.contains(&lower) {
                line(&mut out, name, value);
            }
        }
        if !has_host {
            line(&mut out, "Host", host.as_bytes());
        }
        line(&mut out, "Connection", b"close");
        out.extend_from_slice(b"\r\n");
        out
    }
}

impl AnswerHead {
    /// Reads the head of an answer to a request of this method; none if it is no HTTP/1 answer.
    pub(super) fn read(bytes: &[u8], method: &str) -> Option<Self> {
        let mut headers = [httparse::EMPTY_HEADER; limits::HEADERS_MAX];
        let mut parsed = httparse::Response::new(&mut headers);
        parsed.parse(bytes).ok().filter(httparse::Status::is_complete)?;
        let status = parsed.code?;
        let lines = owned(parsed.headers);
        let framing = if method == Method::HEAD.as_str() || matches!(status, 100..=199 | 204 | 304) {
            Framing::Length(0)
        } else {
            length(&lines).ok()?.unwrap_or(Framing::UntilClose)
        };
        let reason = parsed.reason.unwrap_or_default().to_owned();
        Some(Self { status, minor: parsed.version.unwrap_or(1), reason, lines, framing })
    }

    /// `100 Continue` and its kin: the answer itself comes later.
    pub(super) fn is_interim(&self) -> bool {
        matches!(self.status, 100..=199)
    }

    /// The head as the caller gets it.
    pub(super) fn for_caller(&self, closes: bool) -> Vec<u8> {
        let mut out = format!("HTTP/1.{} {} {}\r\n", self.minor, self.status, self.reason).into_bytes();
        let dropped = of_the_connection(&self.lines);
        for (name, value) in &self.lines {
            if !dropped.contains(&name.to_ascii_lowercase()) {
                line(&mut out, name, value);
            }
        }
        if closes {
            line(&mut out, "Connection", b"close");
        }
        out.extend_from_slice(b"\r\n");
        out
    }
}

fn owned(headers: &[httparse::Header<'_>]) -> Lines {
    headers.iter().map(|header| (header.name.to_owned(), header.value.to_vec())).collect()
}

fn line(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn values<'a>(lines: &'a Lines, name: &'a str) -> impl Iterator<Item = String> + 'a {
    let same = move |(n, _): &&(String, Vec<u8>)| n.eq_ignore_ascii_case(name);
    let texts = lines.iter().filter(same).map(|(_, value)| String::from_utf8_lossy(value).to_ascii_lowercase());
    texts.flat_map(|text| text.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>())
}

fn lists(lines: &Lines, name: &str, word: &str) -> bool {
    values(lines, name).any(|value| value == word)
}

fn of_the_connection(lines: &Lines) -> Vec<String> {
    let named =
        values(lines, "connection").filter(|name| !matches!(name.as_str(), "content-length" | "transfer-encoding"));
    OF_THE_CONNECTION.iter().map(|name| (*name).to_owned()).chain(named).collect()
}

/// What the lines say about the body; none if nothing. Two lengths, or a length beside chunks, are how requests are
/// smuggled past a proxy: refused.
fn length(lines: &Lines) -> Result<Option<Framing>, &'static str> {
    let codings: Vec<_> = values(lines, "transfer-encoding").collect();
    let lengths: Vec<_> = values(lines, "content-length").collect();
    match (codings.as_slice(), lengths.as_slice()) {
        ([], []) => Ok(None),
        ([.., last], []) if last == "chunked" => Ok(Some(Framing::Chunked)),
        ([], [first, others @ ..]) if others.iter().all(|other| other == first) => {
            let digits = !first.is_empty() && first.bytes().all(|b| b.is_ascii_digit());
            let n = first.parse().ok().filter(|_| digits);
            n.map(|n| Some(Framing::Length(n))).ok_or("the content length cannot be read")
        }
        _ => Err("the length of the body cannot be told"),
    }
}

/// A target as a path: `/a?b` as it is, `http://host/a?b` without its host, `*` for OPTIONS.
fn origin_form(target: &str) -> Option<String> {
    if target.starts_with('/') || target == "*" {
        return Some(target.to_owned());
    }
    let url = Url::parse(target).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    Some(format!("{}{query}", url.path()))
}

/// The upstream's host line, and what is put before each path.
fn place(upstream: &Upstream) -> (String, String) {
    match upstream {
        Upstream::Http(url) => {
            let host = url.host_str().unwrap_or_default();
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            (format!("{host}{port}"), url.path().trim_end_matches('/').to_owned())
        }
        Upstream::Smtp { host, .. } => (host.clone(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream() -> Upstream {
        Upstream::http("http://sandbox.test:81/v1/").unwrap()
    }

    #[test]
    fn only_the_lines_about_the_connection_change() {
        let head = b"POST /a?b=c HTTP/1.1\r\nhOST: relay\r\nX-a:  1\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 2\r\n\
            Effectgate-Fault: duplicate\r\nIdempotency-Key: \"k\"\r\nContent-Length: 2\r\n\r\n";

        let seen = RequestHead::read(head).unwrap().for_upstream(&upstream());

        assert_eq!(
            String::from_utf8(seen).unwrap(),
            "POST /v1/a?b=c HTTP/1.1\r\nhOST: sandbox.test:81\r\nX-a: 1\r\nIdempotency-Key: \"k\"\r\n\
             Content-Length: 2\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn a_request_whose_end_is_in_doubt_is_refused() {
        for lines in [
            "Content-Length: 1\r\nContent-Length: 2",
            "Content-Length: 1\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: gzip",
            "Content-Length: +1",
            "Content-Length: ",
        ] {
            let head = format!("POST / HTTP/1.1\r\n{lines}\r\n\r\n");
            assert_eq!(RequestHead::read(head.as_bytes()).unwrap_err().status, 400, "{lines}");
        }
        assert_eq!(RequestHead::read(b"CONNECT a:1 HTTP/1.1\r\n\r\n").unwrap_err().status, 501);
        assert_eq!(RequestHead::read(b"POST a HTTP/1.1\r\n\r\n").unwrap_err().status, 400);
    }

    #[test]
    fn a_proxys_target_is_a_path_to_the_upstream() {
        let head = RequestHead::read(b"GET http://other.test/a?b HTTP/1.1\r\n\r\n").unwrap();

        assert_eq!(head.target, "/a?b");
        assert!(head.for_upstream(&upstream()).starts_with(b"GET /v1/a?b HTTP/1.1\r\nHost: sandbox.test:81\r\n"));
    }

    #[test]
    fn the_end_of_an_answer_depends_on_request_and_status() {
        let framing = |head: &str, method| AnswerHead::read(head.as_bytes(), method).map(|head| head.framing);
        let five = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";

        assert_eq!(framing(five, "GET"), Some(Framing::Length(5)));
        assert_eq!(framing(five, "HEAD"), Some(Framing::Length(0)));
        assert_eq!(framing("HTTP/1.1 204 -\r\n\r\n", "POST"), Some(Framing::Length(0)));
        assert_eq!(framing("HTTP/1.0 200 OK\r\n\r\n", "GET"), Some(Framing::UntilClose));
        assert_eq!(framing("HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n", "GET"), Some(Framing::Chunked));
        assert_eq!(framing("ICY 200 OK\r\n\r\n", "GET"), None);
    }

    #[test]
    fn an_answers_connection_lines_are_the_relays_own() {
        let head = b"HTTP/1.1 201 Created\r\nConnection: close\r\nX-Id: 7\r\nContent-Length: 0\r\n\r\n";
        let answer = AnswerHead::read(head, "POST").unwrap();

        assert_eq!(answer.for_caller(false), b"HTTP/1.1 201 Created\r\nX-Id: 7\r\nContent-Length: 0\r\n\r\n");
        assert!(answer.for_caller(true).ends_with(b"Connection: close\r\n\r\n"));
    }
}
