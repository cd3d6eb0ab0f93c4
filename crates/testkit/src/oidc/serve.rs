//! The issuer on a wire.

use std::{convert::Infallible, sync::Weak};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::{Running, ScriptedIssuer};

/// Serves until the issuer is dropped.
pub(super) async fn accept(listener: TcpListener, issuer: Weak<Running>) {
    while let Ok((io, _)) = listener.accept().await {
        let Some(running) = issuer.upgrade() else { return };
        if *running.up.borrow() {
            tokio::spawn(connection(io, issuer.clone()));
        }
    }
}

async fn connection(io: TcpStream, issuer: Weak<Running>) {
    let service = service_fn(move |request: Request<Incoming>| serve(request, issuer.clone()));
    // A peer that hangs up is no fault of the issuer.
    let _ = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(io), service).await;
}

async fn serve(request: Request<Incoming>, issuer: Weak<Running>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default();
    let Some(issuer) = issuer.upgrade().map(ScriptedIssuer) else { return Ok(Response::default()) };
    let delay = issuer.state().delay;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    Ok(issuer.answer(&Request::from_parts(head, body)).map(|body| Full::new(Bytes::from(body))))
}
