//! The control listener: what was counted, the log, and what happens next, as JSON over HTTP. On loopback only; and since
//! any page in a browser can reach loopback, it takes no request that names another host or has no JSON to say.

use std::{convert::Infallible, net::IpAddr, sync::Arc};

use ::http::{Method, Request, Response, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::{Mode, RelayError, Rule, limits, relay::Shared};

/// The body of `GET` and `PUT /mode`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModeBody {
    mode: Mode,
}

/// A status and what is said with it.
type Said = (StatusCode, Value);

/// Serves one connection to its end.
pub(crate) async fn serve(io: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(|request| answer(request, Arc::clone(&shared)));
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(limits::IDLE_WAIT);
    // A connection that breaks is nobody's business but its caller's.
    let _ = server.serve_connection(TokioIo::new(io), service).await;
}

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, body) = said(request, &shared).await.unwrap_or_else(|refused| refused);
    let mut response = Response::new(Full::from(if body.is_null() { String::new() } else { format!("{body}\n") }));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn said(request: Request<Incoming>, shared: &Shared) -> Result<Said, Said> {
    if !is_for_loopback(&request) {
        return Err(refused(StatusCode::FORBIDDEN, "the control listener is asked for by a loopback address"));
    }
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/counts") => Ok((StatusCode::OK, json!(shared.record.counts()))),
        (&Method::GET, "/log") => Ok((StatusCode::OK, json!(shared.record.log()))),
        (&Method::GET, "/mode") => Ok((StatusCode::OK, json!(ModeBody { mode: shared.plan().mode() }))),
        (&Method::PUT, "/mode") => {
            let body: ModeBody = read(request).await?;
            shared.plan().set_mode(body.mode);
            Ok((StatusCode::OK, json!(body)))
        }
        (&Method::GET, "/rules") => Ok((StatusCode::OK, json!(shared.plan().rules()))),
        (&Method::POST, "/rules") => {
            let rule: Rule = read(request).await?;
            shared.add_rule(rule.clone()).map_err(|error| no_rule(&error))?;
            Ok((StatusCode::CREATED, json!(rule)))
        }
        (&Method::DELETE, "/rules") => {
            shared.plan().forget();
            Ok((StatusCode::NO_CONTENT, Value::Null))
        }
        (_, "/counts" | "/log" | "/mode" | "/rules") => {
            Err(refused(StatusCode::METHOD_NOT_ALLOWED, "this cannot be done here"))
        }
        _ => Err(refused(StatusCode::NOT_FOUND, "there are /counts, /log, /mode and /rules")),
    }
}

/// A page on the web that lets its own name lead to 127.0.0.1 still says its own name.
fn is_for_loopback(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

async fn read<T: DeserializeOwned>(request: Request<Incoming>) -> Result<T, Said> {
    let content = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // A form on a foreign page can send anything but this type without being asked first.
    if !content.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json"));
    }
    let body = Limited::new(request.into_body(), limits::CONTROL_BYTES_MAX).collect().await;
    let body = body.map_err(|error| refused(StatusCode::BAD_REQUEST, error.to_string()))?;
    serde_json::from_slice(&body.to_bytes()).map_err(|error| refused(StatusCode::BAD_REQUEST, error.to_string()))
}

fn no_rule(error: &RelayError) -> Said {
    let status = match error {
        RelayError::TooManyRules => StatusCode::CONFLICT,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    refused(status, error.to_string())
}

fn refused(status: StatusCode, why: impl Into<String>) -> Said {
    (status, json!({ "error": why.into() }))
}
