//! Small peers that only the connector tests need: a TLS front for a plain peer, and a socket that says one thing.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a peer that cannot start is a failed test")]

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tempfile::NamedTempFile;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// A certificate for `localhost` and 127.0.0.1, and the file to trust it by.
pub(crate) struct Identity {
    config: Arc<ServerConfig>,
    pub(crate) ca_file: NamedTempFile,
}

impl Identity {
    pub(crate) fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        let ca_file = NamedTempFile::new().unwrap();
        std::fs::write(ca_file.path(), made.cert.pem()).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        Self { config: Arc::new(config), ca_file }
    }

    /// Takes TLS connections and passes the plain text on to `upstream`.
    pub(crate) async fn front(&self, upstream: SocketAddr) -> SocketAddr {
        let (listener, address) = listen().await;
        let acceptor = TlsAcceptor::from(Arc::clone(&self.config));
        tokio::spawn(async move {
            while let Ok((io, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(mut inner) = acceptor.accept(io).await else { return };
                    pass_on(&mut inner, upstream, false).await;
                });
            }
        });
        address
    }

    /// Takes SMTP in the clear up to STARTTLS, answers `extra` along with it, and passes what is under TLS on.
    pub(crate) async fn starttls_front(&self, upstream: SocketAddr, extra: &'static str) -> SocketAddr {
        let (listener, address) = listen().await;
        let acceptor = TlsAcceptor::from(Arc::clone(&self.config));
        tokio::spawn(async move {
            while let Ok((mut io, _)) = listener.accept().await {
                io.write_all(b"220 front\r\n").await.unwrap();
                let mut io = BufReader::new(io);
                read_line(&mut io).await;
                io.write_all(b"250-front\r\n250 STARTTLS\r\n").await.unwrap();
                read_line(&mut io).await;
                io.write_all(format!("220 go\r\n{extra}").as_bytes()).await.unwrap();
                let Ok(mut inner) = acceptor.accept(io.into_inner()).await else { continue };
                pass_on(&mut inner, upstream, true).await;
            }
        });
        address
    }
}

/// A socket that says `text` to each connection, whatever it hears, and then stays open.
pub(crate) async fn saying(text: &'static str) -> SocketAddr {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut io, _)) = listener.accept().await {
            io.write_all(text.as_bytes()).await.unwrap();
            open.push(io);
        }
    });
    address
}

/// An address where nobody listens.
pub(crate) async fn closed() -> SocketAddr {
    listen().await.1
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn pass_on(inner: &mut (impl AsyncRead + AsyncWrite + Unpin), upstream: SocketAddr, skips_greeting: bool) {
    let mut upstream = TcpStream::connect(upstream).await.unwrap();
    if skips_greeting {
        let mut byte = [0];
        while byte != *b"\n" {
            tokio::io::AsyncReadExt::read_exact(&mut upstream, &mut byte).await.unwrap();
        }
    }
    let _ = tokio::io::copy_bidirectional(inner, &mut upstream).await;
}

async fn read_line(io: &mut BufReader<TcpStream>) {
    io.read_line(&mut String::new()).await.unwrap();
}
