//! The WebDriver protocol as bytes: one JSON call, one connection. An error of the protocol is a value; a driver that
//! does not answer is a panic, as nothing can be tested then.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream as StdStream},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

/// How long the end of a session may take before the process is ended without it.
const CLOSE_S_MAX: u64 = 10;

pub(super) struct Wire {
    address: SocketAddr,
    session: String,
}

/// What the driver says when it did not do what was asked.
#[derive(Debug)]
pub(super) struct Refused {
    /// The protocol's word for it, such as `element click intercepted`.
    pub(super) error: String,
    pub(super) message: String,
}

impl Wire {
    pub(super) async fn open(port: u16, capabilities: &Value) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let body = json!({ "capabilities": capabilities });
        let opened = exchange(address, "POST", "/session", Some(&body)).await.expect("chromedriver opens a session");
        let session = opened["sessionId"].as_str().expect("a session has an id").to_owned();
        Self { address, session }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, Refused> {
        exchange(self.address, "GET", &self.path(path), None).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, Refused> {
        exchange(self.address, "POST", &self.path(path), Some(body)).await
    }

    pub(super) async fn delete(&self, path: &str) -> Result<Value, Refused> {
        exchange(self.address, "DELETE", &self.path(path), None).await
    }

    /// Ends the session without a runtime, as in a drop.
    pub(super) fn close(&self) {
        let wait = Some(Duration::from_secs(CLOSE_S_MAX));
        let Ok(mut stream) = StdStream::connect(self.address) else { return };
        let _ = stream.set_read_timeout(wait);
        let _ = write!(stream, "DELETE {} HTTP/1.1\r\nhost: {}\r\n\r\n", self.path(""), self.address);
        let _ = stream.read(&mut [0; 64]);
    }

    fn path(&self, path: &str) -> String {
        format!("/session/{}{path}", self.session)
    }
}

async fn exchange(address: SocketAddr, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Refused> {
    let stream = TcpStream::connect(address).await.expect("chromedriver listens");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("chromedriver speaks HTTP");
    tokio::spawn(connection);
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("host", address.to_string())
        .header("content-type", "application/json; charset=utf-8")
        .body(Full::new(Bytes::from(body.map_or_else(String::new, Value::to_string))))
        .expect("the parts are the protocol's");
    let answer = sender.send_request(request).await.expect("chromedriver answers");
    let is_fine = answer.status().is_success();
    let bytes = answer.into_body().collect().await.expect("chromedriver answers in full").to_bytes();
    let mut answer: Value = serde_json::from_slice(&bytes).expect("chromedriver answers JSON");
    let value = answer["value"].take();
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    if is_fine { Ok(value) } else { Err(Refused { error: text("error"), message: text("message") }) }
}
