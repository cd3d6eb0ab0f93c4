//! TLS towards the database, as `sslmode` asks: what libpq's words mean, on rustls.
//!
//! `prefer` (also without a word) and `require` encrypt and do not look at the certificate, unless `sslrootcert` names
//! the one to trust; `verify-ca` and `verify-full` both check certificate and name (stricter than libpq's `verify-ca`).

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Whose certificate is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// Anybody's: the line is encrypted, the other end unproven.
    Anyone,
    /// Those the machine trusts.
    System,
    /// Those in this PEM file.
    File(String),
}

/// Makes the connector.
///
/// # Errors
/// In words: no usable root certificate.
pub(super) fn connector(trust: &Trust) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?;
    let config = match trust {
        Trust::Anyone => builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate { provider })),
        Trust::System => builder.with_root_certificates(system_roots()?),
        Trust::File(path) => builder.with_root_certificates(roots_in(Path::new(path))?),
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

fn system_roots() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        return Err(format!("the machine has no root certificates ({:?})", found.errors));
    }
    Ok(roots)
}

fn roots_in(path: &Path) -> Result<RootCertStore, String> {
    let bad = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| bad(&e))? {
        roots.add(certificate.map_err(|e| bad(&e))?).map_err(|e| bad(&e))?;
    }
    if roots.is_empty() {
        return Err(bad(&"no certificate in it"));
    }
    Ok(roots)
}

/// Takes any certificate; the handshake's signature must still be by its key.
#[derive(Debug)]
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
