//! The listener: HTTP/1.1 on our own accept loop, because axum's has no timeout for a request's head and no cap on
//! connections. Connections beyond the cap wait in the kernel's queue. At shutdown the listener closes first, then
//! requests under way end.
//!
//! A request with both Content-Length and Transfer-Encoding is read as chunked and its connection closed afterwards
//! (RFC 9112 section 6.3); HTTP/1.0 with Transfer-Encoding is refused by hyper with 400.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::ConnectInfo};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};
use tower::ServiceExt as _;

use crate::{
    app::{App, WebSettings},
    metrics,
    router::router,
};

/// Without a free descriptor every accept fails at once; a pause lets connections end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown` completes, then ends what is under way.
///
/// # Errors
/// None from connections; the listener's own address, if it cannot be read.
pub async fn serve(listener: TcpListener, app: App, shutdown: impl Future<Output = ()> + Send) -> io::Result<()> {
    let (settings, live) = (app.settings.clone(), app.live.clone());
    tracing::info!(address = %listener.local_addr()?, "listening");
    let router = router(app);
    let upkeep = tokio::spawn(metrics::upkeep());
    let permits = Arc::new(Semaphore::new(settings.connections_max));
    let (stop, stopped) = watch::channel(false);
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        if let Some((stream, peer, permit)) = accepted {
            let connection = connection(stream, peer, router.clone(), settings.clone(), stopped.clone());
            tokio::spawn(async move {
                connection.await;
                drop(permit);
            });
        }
    }
    drop(listener);
    stop.send_replace(true);
    live.end();
    upkeep.abort();
    drained(&permits, &settings).await;
    Ok(())
}

/// Every permit back means that every connection has ended. Each bounds itself, so this does too.
async fn drained(permits: &Semaphore, settings: &WebSettings) {
    let all = u32::try_from(settings.connections_max).unwrap_or(u32::MAX);
    let patience = Duration::from_millis(settings.shutdown_ms) + ACCEPT_PAUSE;
    if tokio::time::timeout(patience, permits.acquire_many(all)).await.is_err() {
        tracing::warn!("stopped with connections open");
    }
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = permits.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, permit)),
        Err(error) => {
            tracing::debug!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    settings: Arc<WebSettings>,
    mut stopped: watch::Receiver<bool>,
) {
    // Answers are small and whole: nothing is won by waiting for more to send.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request.map(Body::new))
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(Duration::from_millis(settings.header_timeout_ms));
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = until(&mut stopped) => {
            serving.as_mut().graceful_shutdown();
            let patience = Duration::from_millis(settings.shutdown_ms);
            tokio::time::timeout(patience, serving).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "a connection ended early");
    }
}

/// The reading is let go at once: it is a lock.
async fn until(stopped: &mut watch::Receiver<bool>) {
    drop(stopped.wait_for(|stop| *stop).await);
}
