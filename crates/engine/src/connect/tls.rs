//! TLS for connectors: rustls on ring, the machine's own roots plus, where asked for, one CA file. Verification is
//! never switched off. A failed handshake means that nothing of the request was sent.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tokio_rustls::TlsConnector;
use url::Host;

use super::wire::Stream;

/// Whom connectors trust. Cheap to clone; the machine's roots are read once per process.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
}

/// Why trust could not be set up.
#[derive(Debug, Error)]
pub enum TlsError {
    #[error("the CA file {path} could not be read: {detail}")]
    CaFile { path: String, detail: String },
    #[error("TLS could not be set up: {0}")]
    Setup(#[from] rustls::Error),
}

impl Tls {
    /// Trusts the machine's roots and, if given, the certificates of one PEM file.
    ///
    /// # Errors
    /// [`TlsError::CaFile`] if the file cannot be read or holds no certificate.
    pub fn new(extra_ca: Option<&Path>) -> Result<Self, TlsError> {
        let mut roots = native_roots().clone();
        if let Some(path) = extra_ca {
            add_file(&mut roots, path)?;
        }
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { config: Arc::new(config) })
    }

    /// Shakes hands over `io` with the named host. No ALPN is offered: the peer then speaks HTTP/1.1 or SMTP.
    pub(super) async fn handshake(&self, host: &Host, io: Box<dyn Stream>) -> Result<Box<dyn Stream>, String> {
        let name = match host {
            Host::Domain(name) => {
                ServerName::try_from(name.clone()).map_err(|_| "the host is not a name TLS can ask for".to_owned())?
            }
            Host::Ipv4(ip) => ServerName::from(std::net::IpAddr::V4(*ip)),
            Host::Ipv6(ip) => ServerName::from(std::net::IpAddr::V6(*ip)),
        };
        let connected = TlsConnector::from(Arc::clone(&self.config)).connect(name, io).await;
        connected.map(|io| Box::new(io) as Box<dyn Stream>).map_err(|e| format!("TLS handshake failed: {e}"))
    }
}

fn native_roots() -> &'static RootCertStore {
    static ROOTS: OnceLock<RootCertStore> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        let loaded = rustls_native_certs::load_native_certs();
        let (added, ignored) = roots.add_parsable_certificates(loaded.certs);
        if added == 0 {
            tracing::warn!(ignored, "no root certificates found on this machine: https providers cannot be verified");
        }
        roots
    })
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), TlsError> {
    let failed = |detail: String| TlsError::CaFile { path: path.display().to_string(), detail };
    let found = CertificateDer::pem_file_iter(path).map_err(|e| failed(e.to_string()))?;
    let mut added = 0;
    for certificate in found {
        let certificate = certificate.map_err(|e| failed(e.to_string()))?;
        roots.add(certificate).map_err(|e| failed(e.to_string()))?;
        added += 1;
    }
    if added == 0 { Err(failed("it holds no certificate".to_owned())) } else { Ok(()) }
}
