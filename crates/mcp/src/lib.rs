//! effectgate-mcp: tools over the Model Context Protocol (streamable HTTP, no sessions), on the official SDK. A leaf: it
//! imports no room, and knows neither flows nor keys.
//!
//! Whoever offers tools implements [`Tools`] for one request and hands that request to [`answer`]. Which tools there are,
//! who may call them and what came of a call is theirs to say; here is the protocol: its versions, its envelope, its
//! errors. The arguments of a call are handed on as the text that came in, because the SDK reads numbers as doubles and
//! an amount must not lose a digit on its way.

mod server;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{Full, combinators::BoxBody};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use std::{convert::Infallible, sync::Arc};

/// A tool as a client is shown it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub input: Map<String, Value>,
    /// JSON Schema of [`Outcome::structured`].
    pub output: Option<Map<String, Value>>,
    /// What it does cannot be taken back. A hint for clients that ask their user first.
    pub is_destructive: bool,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What the model reads.
    pub text: String,
    pub structured: Option<Value>,
    /// The call did not do what it was for, and will not.
    pub is_error: bool,
}

/// Tools for the length of one request.
pub trait Tools: Send + Sync + 'static {
    /// What the client is told to hand its model beside the tools.
    fn instructions(&self) -> String;

    fn tools(&self) -> Vec<Tool>;

    /// Calls a tool. `arguments` is the JSON text that came in; `{}` where there was none. `None`: there is no such tool.
    /// The future may be dropped where the client hangs up; what must not stop half-way runs elsewhere.
    fn call(&self, name: &str, arguments: String) -> impl Future<Output = Option<Outcome>> + Send;
}

/// Who serves, as clients are told.
#[derive(Debug, Clone, Copy)]
pub struct About {
    pub name: &'static str,
    pub version: &'static str,
}

/// Answers one request: a JSON-RPC message in, a JSON-RPC message out, nothing kept in between. The caller has bounded
/// the body and knows who asks.
///
/// The `Host` header is not judged: that protects servers that trust whoever reaches them from pages in a browser, and
/// here every request carries a key. Behind a proxy or in a container's network the name is anybody's.
pub async fn answer(tools: impl Tools, about: About, request: Request<Bytes>) -> Response<BoxBody<Bytes, Infallible>> {
    let server = server::Server::new(tools, about, arguments(request.body()));
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(usize::MAX);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    service.handle(request.map(Full::new)).await
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// The arguments as they stand in the message; `{}` without any. What is no message is the SDK's to refuse.
fn arguments(body: &[u8]) -> String {
    let envelope = serde_json::from_slice::<Envelope<'_>>(body).ok();
    let raw = envelope.and_then(|envelope| envelope.params).and_then(|params| params.arguments);
    raw.map_or_else(|| "{}".to_owned(), |raw| raw.get().to_owned())
}
