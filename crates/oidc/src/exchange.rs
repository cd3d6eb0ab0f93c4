//! The code for the tokens (RFC 6749 section 4.1.3, RFC 7636): one POST to the token endpoint.

use std::{pin::Pin, sync::Arc};

use openidconnect::{
    AccessToken, AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, HttpRequest, HttpResponse, IssuerUrl,
    OAuth2TokenResponse as _, PkceCodeVerifier, RedirectUrl, RequestTokenError, TokenResponse as _, TokenUrl,
    core::{CoreClient, CoreIdToken},
};
use secrecy::ExposeSecret as _;

use crate::{
    discovery::unusable,
    error::{Failed, Refusal, word},
    fetch::Fetch,
    issuer::{Issuer, Known},
    settings::Settings,
};

/// What the token endpoint gave.
pub(crate) struct Tokens {
    pub(crate) id_token: CoreIdToken,
    pub(crate) access_token: AccessToken,
}

/// Redeems a code.
pub(crate) async fn redeem(
    issuer: &Issuer,
    known: &Known,
    settings: &Settings,
    code: &str,
    verifier: &str,
) -> Result<Tokens, Failed> {
    let bad = |_| unusable("a URL of its discovery document cannot be used".into());
    let mut client = CoreClient::new(
        ClientId::new(settings.client_id.clone()),
        IssuerUrl::new(settings.issuer.clone()).map_err(bad)?,
        known.keys.clone(),
    )
    .set_auth_uri(AuthUrl::from_url(known.discovery.authorization_endpoint.clone()))
    .set_token_uri(TokenUrl::from_url(known.discovery.token_endpoint.clone()))
    .set_redirect_uri(RedirectUrl::new(settings.redirect_url.clone()).map_err(bad)?);
    if let Some(secret) = &settings.client_secret {
        client = client.set_client_secret(ClientSecret::new(secret.expose_secret().to_owned()));
    }
    if known.discovery.wants_secret_in_form() {
        client = client.set_auth_type(AuthType::RequestBody);
    }
    let send = sender(issuer.fetch());
    let asked = client
        .exchange_code(AuthorizationCode::new(code.to_owned()))
        .set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()))
        .request_async(&send);
    let answer = asked.await.map_err(|error| match error {
        RequestTokenError::Request(failed) => failed,
        RequestTokenError::ServerResponse(said) => refused_by_issuer(said.error().as_ref()),
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => Refusal::TokenAnswer.into(),
    })?;
    let id_token = answer.id_token().ok_or(Refusal::NoIdToken)?.clone();
    Ok(Tokens { id_token, access_token: answer.access_token().clone() })
}

type Sending = Pin<Box<dyn Future<Output = Result<HttpResponse, Failed>> + Send>>;

/// The library's HTTP client, over ours. Owned and boxed: a future that borrows is not `Send` for every lifetime.
fn sender(fetch: Arc<dyn Fetch>) -> impl Fn(HttpRequest) -> Sending + Send + Sync {
    move |request| {
        let fetch = fetch.clone();
        Box::pin(async move { fetch.fetch(request).await.map_err(|error| unusable(error.0)) })
    }
}

/// A client that the issuer does not know is the operator's to mend, not the person's.
fn refused_by_issuer(said: &str) -> Failed {
    match said {
        "invalid_client" | "unauthorized_client" => {
            unusable("it does not accept this server's client_id and client_secret".into())
        }
        said => Refusal::Code(word(said)).into(),
    }
}
