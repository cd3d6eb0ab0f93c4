//! The issuer of the config, reached over the engine's own connection: fresh for each request, bounded, guarded, without
//! redirects. Only the host of the URL at hand is let through, and only public addresses unless the config says that the
//! issuer lives in the own network; the discovery document is what names the other hosts.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use effectgate_engine::connect::{
    fetch::fetch,
    guard::EgressGuard,
    http::{HttpLimits, HttpRequest},
    tls::Tls,
};
use effectgate_oidc::{Fetch, FetchFailed, Provider, Settings};
use effectgate_web::auth::single_sign_on::SingleSignOn;
use http::{Request, Response};
use secrecy::SecretString;
use url::Url;

use crate::config::OidcSettings;

/// A discovery document has some 5 KiB, a set of keys with their certificates some 20.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// What the web room signs people in with. Nothing is asked of the issuer yet: a server starts without it.
pub(crate) fn single_sign_on(oidc: OidcSettings, public_url: &str) -> SingleSignOn {
    let settings = Settings {
        issuer: oidc.issuer,
        client_id: oidc.client_id,
        client_secret: Some(oidc.client_secret),
        redirect_url: format!("{public_url}/auth/oidc/callback"),
        signed_out_url: format!("{public_url}/login"),
        scopes: oidc.scopes,
        groups_claim: oidc.groups_claim,
        tenant_claim: oidc.tenant_claim,
    };
    let connection = Connection {
        allow_private: oidc.allow_private,
        tls: oidc.tls,
        limits: HttpLimits {
            connect_ms: oidc.timeout_ms,
            first_byte_ms: oidc.timeout_ms,
            total_ms: oidc.timeout_ms,
            answer_bytes_max: ANSWER_BYTES_MAX,
        },
    };
    SingleSignOn { name: oidc.name, provider: Provider::new(settings, Arc::new(connection)), policy: oidc.policy }
}

struct Connection {
    allow_private: bool,
    tls: Tls,
    limits: HttpLimits,
}

#[async_trait]
impl Fetch for Connection {
    async fn fetch(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, FetchFailed> {
        let (head, body) = request.into_parts();
        let url = Url::parse(&head.uri.to_string()).map_err(|_| FetchFailed("a URL cannot be read".into()))?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let guard = EgressGuard::new([&host], self.allow_private).map_err(|e| FetchFailed(e.to_string()))?;
        let text = |value: &http::HeaderValue| value.to_str().map(|text| SecretString::from(text.to_owned()));
        let headers = head.headers.iter().map(|(name, value)| Ok((name.to_string(), text(value)?)));
        let headers: Result<Vec<_>, http::header::ToStrError> = headers.collect();
        let headers = headers.map_err(|_| FetchFailed("a header cannot be sent".into()))?;
        let request = HttpRequest { method: head.method, url, headers, body: Bytes::from(body) };
        let fetched = fetch(request, &self.limits, &guard, &self.tls).await;
        let fetched = fetched.map_err(|error| FetchFailed(format!("{host}: {error}")))?;
        let mut answer = Response::new(fetched.body);
        *answer.status_mut() = http::StatusCode::from_u16(fetched.status).map_err(|e| FetchFailed(e.to_string()))?;
        *answer.headers_mut() = fetched.headers;
        Ok(answer)
    }
}
