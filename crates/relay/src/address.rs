//! The way to the upstream: its addresses, whether they are private, and a fresh connection. The addresses are looked
//! at again before each connection, so that a name that changes cannot lead a private relay out into the open.

use std::{io, net::IpAddr, sync::Arc};

use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
    time::timeout,
};
use tokio_rustls::TlsConnector;

use crate::{RelayError, Upstream, limits};

/// A connection to the upstream, with or without TLS.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// How to reach the upstream.
pub(crate) struct Way {
    host: String,
    port: u16,
    allow_public: bool,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Way {
    /// Looks once whether the upstream can be found and may be used.
    pub(crate) async fn find(upstream: &Upstream, allow_public: bool) -> Result<Self, RelayError> {
        upstream.check()?;
        let tls = upstream.is_tls().then(|| tls(upstream, systems_roots())).transpose()?;
        let way = Self { host: upstream.host().to_owned(), port: upstream.port(), allow_public, tls };
        way.addresses().await?;
        Ok(way)
    }

    /// A fresh connection. Nothing was written to it.
    pub(crate) async fn connect(&self) -> io::Result<Box<dyn Io>> {
        timeout(limits::CONNECT_WAIT, self.connected()).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    async fn connected(&self) -> io::Result<Box<dyn Io>> {
        let addresses = self.addresses().await.map_err(io::Error::other)?;
        let io = TcpStream::connect(addresses.as_slice()).await?;
        io.set_nodelay(true)?;
        match &self.tls {
            None => Ok(Box::new(io)),
            Some((connector, name)) => Ok(Box::new(connector.connect(name.clone(), io).await?)),
        }
    }

    async fn addresses(&self) -> Result<Vec<std::net::SocketAddr>, RelayError> {
        let unresolved = |source| RelayError::Unresolved { host: self.host.clone(), source };
        let found: Vec<_> = lookup_host((self.host.as_str(), self.port)).await.map_err(unresolved)?.collect();
        if found.is_empty() {
            return Err(unresolved(io::ErrorKind::NotFound.into()));
        }
        match found.iter().find(|address| !is_private(address.ip())) {
            Some(address) if !self.allow_public => {
                Err(RelayError::PublicUpstream { host: self.host.clone(), address: address.ip() })
            }
            _ => Ok(found),
        }
    }
}

/// The certificates that this system trusts; `SSL_CERT_FILE` and `SSL_CERT_DIR` name others.
fn systems_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn tls(upstream: &Upstream, roots: RootCertStore) -> Result<(TlsConnector, ServerName<'static>), RelayError> {
    let told = |error: String| RelayError::Tls(error);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| told(e.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(upstream.host().to_owned()).map_err(|e| told(e.to_string()))?;
    Ok((TlsConnector::from(Arc::new(config)), name))
}

/// Loopback, RFC 1918, link-local and unique local addresses.
pub(crate) fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => is_private(IpAddr::V4(v4)),
            None => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
        },
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// A TLS server that says what it read and ends.
    async fn echo(key: PrivateKeyDer<'static>, cert: CertificateDer<'static>) -> u16 {
        let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert], key)
            .unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((io, _)) = listener.accept().await {
                // One that does not trust us leaves in the handshake.
                let Ok(mut io) = tokio_rustls::TlsAcceptor::from(Arc::new(config.clone())).accept(io).await else {
                    continue;
                };
                let mut said = [0; 5];
                io.read_exact(&mut said).await.unwrap();
                io.write_all(&said).await.unwrap();
            }
        });
        port
    }

    #[tokio::test]
    async fn an_https_upstream_is_spoken_to_with_tls_and_its_certificate_is_checked() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let port = echo(PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into()), made.cert.der().clone()).await;
        let upstream = Upstream::http(&format!("https://localhost:{port}")).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let trusting = tls(&upstream, roots).unwrap();
        let way = |tls| Way { host: "localhost".to_owned(), port, allow_public: false, tls: Some(tls) };

        let mut io = way(trusting).connect().await.unwrap();
        io.write_all(b"hello").await.unwrap();
        let mut said = [0; 5];
        io.read_exact(&mut said).await.unwrap();
        let distrusting = way(tls(&upstream, systems_roots()).unwrap()).connect().await;

        assert_eq!(&said, b"hello");
        assert!(distrusting.is_err_and(|error| error.to_string().contains("certificate")));
    }

    #[test]
    fn private_is_what_no_stranger_has() {
        for private in
            ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.1.1", "::1", "fd00::1", "fe80::1"]
        {
            assert!(is_private(private.parse().unwrap()), "{private}");
        }
        for public in ["8.8.8.8", "172.32.0.1", "0.0.0.0", "2001:db8::1", "::ffff:8.8.8.8", "::"] {
            assert!(!is_private(public.parse().unwrap()), "{public}");
        }
        assert!(is_private("::ffff:127.0.0.1".parse().unwrap()));
    }
}
