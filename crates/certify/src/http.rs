//! One HTTP request on one fresh connection, its whole answer, whatever the status. No pool, no redirect, no retry: what
//! is judged here must be what was asked once. Plain or TLS (the machine's own roots), HTTP/1.1.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;
use url::Url;

/// A gate under load answers within seconds; turning a switch waits on purpose.
const PATIENCE: Duration = Duration::from_secs(30);
/// A page of the journal is far smaller.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why there is no whole answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {why}")]
pub struct NoAnswer {
    /// Without query and without what follows `/a/`, which is a secret.
    pub url: String,
    pub why: String,
}

/// One request.
#[derive(Debug, Clone)]
pub struct Ask {
    pub method: Method,
    pub url: Url,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

impl Ask {
    #[must_use]
    pub fn new(method: Method, url: Url) -> Self {
        Self { method, url, headers: Vec::new(), body: Bytes::new() }
    }

    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    #[must_use]
    pub fn body(mut self, media: &'static str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self.header("content-type", media)
    }
}

impl Answer {
    /// The body as JSON; null where it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The problem's code, or the `answer` of a success, or nothing.
    #[must_use]
    pub fn word(&self) -> String {
        let json = self.json();
        let word = json["code"].as_str().or_else(|| json["answer"].as_str());
        word.unwrap_or_default().to_owned()
    }

    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Sends one request and reads the whole answer.
///
/// # Errors
/// Nobody listens, no whole answer in time, a header that cannot be sent.
pub async fn send(ask: Ask) -> Result<Answer, NoAnswer> {
    let url = said(&ask.url);
    let done = timeout(PATIENCE, exchange(ask)).await;
    let done = done.unwrap_or_else(|_| Err("no whole answer in time".to_owned()));
    done.map_err(|why| NoAnswer { url, why })
}

/// The address as it may stand in a report: whoever holds an approval's link can decide.
fn said(url: &Url) -> String {
    let path = if url.path().starts_with("/a/") { "/a/…" } else { url.path() };
    format!("{}{path}", url.origin().ascii_serialization())
}

async fn exchange(ask: Ask) -> Result<Answer, String> {
    let host = ask.url.host_str().ok_or("the address names no host")?.to_owned();
    let port = ask.url.port_or_known_default().ok_or("the address names no port")?;
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let stream = TcpStream::connect((bare.as_str(), port)).await.map_err(|e| e.to_string())?;
    // Whole answers matter here, not the last millisecond; but a request split in two packets must not wait.
    stream.set_nodelay(true).map_err(|e| e.to_string())?;
    match ask.url.scheme() {
        "http" => converse(stream, ask).await,
        "https" => {
            let name = ServerName::try_from(bare).map_err(|e| e.to_string())?;
            let stream = connector()?.connect(name, stream).await.map_err(|e| e.to_string())?;
            converse(stream, ask).await
        }
        other => Err(format!("{other} is neither http nor https")),
    }
}

/// Made for each connection: a certificate run makes some hundred requests, and roots may change meanwhile.
fn connector() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = builder.map_err(|e| e.to_string())?.with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

async fn converse(io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, ask: Ask) -> Result<Answer, String> {
    let message = message(ask)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(io)).await.map_err(|e| e.to_string())?;
    let conversation = async {
        let (head, body) = sender.send_request(message).await.map_err(|e| e.to_string())?.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await.map_err(|e| e.to_string())?.to_bytes();
        Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
    };
    tokio::pin!(conversation);
    tokio::select! {
        biased;
        done = &mut conversation => done,
        // The connection may end right after the last byte; what was read of it is still to be taken.
        _ = connection => conversation.await,
    }
}

fn message(ask: Ask) -> Result<Request<Full<Bytes>>, String> {
    let host = ask.url.host_str().unwrap_or_default();
    let authority = ask.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let target = &ask.url[url::Position::BeforePath..url::Position::AfterQuery];
    let mut request = Request::builder().method(ask.method.clone()).uri(target).header(header::HOST, authority);
    if !ask.body.is_empty() || ask.method != Method::GET && ask.method != Method::HEAD {
        request = request.header(header::CONTENT_LENGTH, ask.body.len());
    }
    for (name, value) in ask.headers {
        let value = HeaderValue::from_str(&value).map_err(|_| format!("the header {name} cannot be sent"))?;
        request = request.header(HeaderName::from_static(name), value);
    }
    request.body(Full::new(ask.body)).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_a_report_shows_no_token() {
        let url = Url::parse("http://127.0.0.1:1/a/verysecret?x=1").unwrap();

        assert_eq!(said(&url), "http://127.0.0.1:1/a/…");
    }

    #[tokio::test]
    async fn nobody_there_is_said_with_the_address() {
        let failed = send(Ask::new(Method::GET, Url::parse("http://127.0.0.1:9/x").unwrap())).await.unwrap_err();

        assert!(failed.to_string().starts_with("http://127.0.0.1:9/x: "), "{failed}");
    }
}
