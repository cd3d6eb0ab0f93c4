//! One fresh connection: resolve, check, connect, and count every byte that is handed to the kernel. The count lies
//! under TLS, so it does not move until something of ours leaves. Nothing here knows HTTP or SMTP.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use effectgate_core::outcome::{Phase, Report};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::guard::{EgressGuard, GuardError, Target};
use super::tls::Tls;

/// What both a bare and a TLS connection can do.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// Bytes of one connection that were handed to the kernel.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent(Arc<AtomicU64>);

impl Sent {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// An open connection.
pub(crate) struct Line {
    pub(crate) io: Box<dyn Stream>,
    pub(crate) sent: Sent,
    pub(crate) peer: SocketAddr,
}

/// Where and why an attempt ended before anything of the request was written.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) phase: Phase,
    pub(crate) error: String,
}

impl From<GuardError> for Failed {
    fn from(error: GuardError) -> Self {
        Self { phase: Phase::Resolve, error: error.to_string() }
    }
}

impl From<Failed> for Report {
    fn from(failed: Failed) -> Self {
        Self::not_sent(failed.phase, failed.error)
    }
}

/// Resolves, judges and connects, all before `deadline`. Addresses are tried in order, each with an equal share of the
/// time left, so one dead address cannot use it all up.
pub(crate) async fn connect(guard: &EgressGuard, target: &Target, deadline: Instant) -> Result<Line, Failed> {
    let addresses = match timeout_at(deadline, guard.resolve(target)).await {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => return Err(Failed { phase: Phase::Resolve, error: "resolving the name took too long".to_owned() }),
    };
    let mut last = String::new();
    for (at, address) in addresses.iter().enumerate() {
        match connect_one(*address, share(deadline, addresses.len() - at)).await {
            Ok(line) => return Ok(line),
            Err(error) => last = format!("connecting to {address}: {error}"),
        }
    }
    Err(Failed { phase: Phase::Connect, error: last })
}

/// Puts TLS over a line, before `deadline`.
pub(crate) async fn secure(line: Line, tls: &Tls, target: &Target, deadline: Instant) -> Result<Line, Failed> {
    let failed = |error: String| Failed { phase: Phase::Handshake, error };
    let Line { io, sent, peer } = line;
    match timeout_at(deadline, tls.handshake(&target.host, io)).await {
        Ok(Ok(io)) => Ok(Line { io, sent, peer }),
        Ok(Err(error)) => Err(failed(error)),
        Err(_) => Err(failed("the TLS handshake took too long".to_owned())),
    }
}

async fn connect_one(address: SocketAddr, deadline: Instant) -> Result<Line, String> {
    let connected = timeout_at(deadline, TcpStream::connect(address)).await;
    let tcp = connected.map_err(|_| "no answer in time".to_owned())?.map_err(|e| e.to_string())?;
    // One small request, one answer: waiting to fill a segment would only add delay.
    tcp.set_nodelay(true).map_err(|e| e.to_string())?;
    let sent = Sent::default();
    Ok(Line { io: Box::new(Counted { tcp, sent: sent.clone() }), sent, peer: address })
}

fn share(deadline: Instant, attempts_left: usize) -> Instant {
    let now = Instant::now();
    let left = deadline.saturating_duration_since(now);
    now + left / u32::try_from(attempts_left.max(1)).unwrap_or(u32::MAX)
}

struct Counted {
    tcp: TcpStream,
    sent: Sent,
}

impl Counted {
    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &written {
            self.sent.0.fetch_add(*bytes as u64, Ordering::AcqRel);
        }
        written
    }
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(cx, buf)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.tcp).poll_write(cx, buf);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}
