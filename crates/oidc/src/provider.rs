//! One issuer, from the first redirect to a person: [`Provider::begin`], then the browser's way through the issuer, then
//! [`Provider::finish`]. What has to be remembered in between is an [`Underway`], which the caller keeps where only that
//! browser can bring it back from.

use std::sync::Arc;

use effectgate_core::time::Timestamp;
use openidconnect::{CsrfToken, Nonce, PkceCodeChallenge};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use subtle::ConstantTimeEq as _;
use url::Url;

use crate::{
    claims::{self, Claimed},
    error::{Failed, Refusal, word},
    exchange::{self, Tokens},
    fetch::Fetch,
    issuer::{Issuer, Known, Seen},
    settings::Settings,
    verify::{self, Expected},
};

/// Makes sign-ins with one issuer.
pub struct Provider {
    settings: Settings,
    issuer: Issuer,
}

/// A sign-in under way. Secrets: whoever has them and the code is signed in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Underway {
    pub state: String,
    nonce: String,
    verifier: String,
}

/// Where the browser goes, and what is to be remembered until it is back.
pub struct Begun {
    pub url: Url,
    pub underway: Underway,
}

/// What the browser brought back (RFC 6749 section 4.1.2, RFC 9207 section 2). Everything else is ignored.
#[derive(Clone, Default, Deserialize)]
pub struct Answer {
    pub code: Option<String>,
    pub state: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
}

impl Provider {
    #[must_use]
    pub fn new(settings: Settings, fetch: Arc<dyn Fetch>) -> Self {
        let issuer = Issuer::new(settings.issuer.clone(), fetch);
        Self { settings, issuer }
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Asks the issuer for its documents, for somebody who looks whether all is well.
    ///
    /// # Errors
    /// [`Failed::Unavailable`].
    pub async fn look(&self, now: Timestamp) -> Result<Seen, Failed> {
        let known = self.issuer.known(now).await?;
        Ok(Seen { keys: known.keys.keys().len(), signs_out: known.discovery.end_session_endpoint.is_some() })
    }

    /// Begins a sign-in: a fresh state, nonce and PKCE verifier (S256), and the URL that asks the issuer.
    ///
    /// # Errors
    /// [`Failed::Unavailable`].
    pub async fn begin(&self, now: Timestamp) -> Result<Begun, Failed> {
        let known = self.issuer.known(now).await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let (state, nonce) = (CsrfToken::new_random_len(SECRET_BYTES), Nonce::new_random_len(SECRET_BYTES));
        let scopes: Vec<&str> =
            std::iter::once("openid").chain(self.settings.scopes.iter().map(String::as_str)).collect();
        let mut url = known.discovery.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &self.settings.redirect_url)
            .append_pair("scope", &scopes.join(" "))
            .append_pair("state", state.secret())
            .append_pair("nonce", nonce.secret())
            .append_pair("code_challenge", challenge.as_str())
            .append_pair("code_challenge_method", "S256");
        let underway =
            Underway { state: state.into_secret(), nonce: nonce.secret().clone(), verifier: verifier.into_secret() };
        Ok(Begun { url, underway })
    }

    /// Ends a sign-in: the person the issuer vouches for, with every check made.
    ///
    /// # Errors
    /// [`Failed::Unavailable`] if the issuer went away in between, [`Failed::Refused`] with what did not fit.
    pub async fn finish(&self, underway: &Underway, answer: &Answer, now: Timestamp) -> Result<Claimed, Failed> {
        let state = answer.state.as_deref().unwrap_or_default();
        if !bool::from(state.as_bytes().ct_eq(underway.state.as_bytes())) {
            return Err(Refusal::State.into());
        }
        let known = self.issuer.known(now).await?;
        self.check_issuer(answer, &known)?;
        if let Some(error) = &answer.error {
            return Err(Refusal::ByIssuer(word(error)).into());
        }
        let code = answer.code.as_deref().filter(|code| !code.is_empty()).ok_or(Refusal::NoCode)?;
        let redeemed = exchange::redeem(&self.issuer, &known, &self.settings, code, &underway.verifier).await;
        if matches!(redeemed, Err(Failed::Unavailable(_))) {
            self.issuer.doubt(now).await;
        }
        let tokens = redeemed?;
        let claims = self.checked(&tokens, &known, underway, now).await?;
        let more = self.userinfo(&tokens, &known, &claims).await?;
        Ok(claims::read(&claims, &more, &self.settings, tokens.id_token.to_string())?)
    }

    /// Where to sign out at the issuer (OpenID Connect RP-Initiated Logout 1.0 section 2), if it offers that and was
    /// ever reached.
    pub async fn sign_out(&self, id_token: Option<&str>, now: Timestamp) -> Option<Url> {
        let known = self.issuer.known(now).await.ok()?;
        let mut url = known.discovery.end_session_endpoint.clone()?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("post_logout_redirect_uri", &self.settings.signed_out_url);
        if let Some(token) = id_token {
            url.query_pairs_mut().append_pair("id_token_hint", token);
        }
        Some(url)
    }

    /// Against an answer that another issuer gave (mix-up): the parameter is checked wherever it is there.
    fn check_issuer(&self, answer: &Answer, known: &Known) -> Result<(), Refusal> {
        match &answer.iss {
            Some(iss) if *iss == self.settings.issuer => Ok(()),
            Some(_) => Err(Refusal::AnotherIssuer),
            None if known.discovery.authorization_response_iss_parameter_supported => Err(Refusal::NoIssuer),
            None => Ok(()),
        }
    }

    /// Checks the ID token, and once more with fresh keys if none known fits: issuers change them.
    async fn checked(
        &self,
        tokens: &Tokens,
        known: &Known,
        underway: &Underway,
        now: Timestamp,
    ) -> Result<Map<String, Value>, Failed> {
        let Settings { issuer, client_id, .. } = &self.settings;
        let expected = Expected { issuer, client_id, nonce: &underway.nonce, now };
        let check = |known: &Known| verify::id_token(&tokens.id_token, &tokens.access_token, &known.keys, &expected);
        match check(known) {
            Err(refusal @ (Refusal::UnknownKey | Refusal::Signature)) => match self.issuer.keys_again(now).await? {
                Some(known) => Ok(check(&known)?),
                None => Err(refusal.into()),
            },
            checked => Ok(checked?),
        }
    }

    /// Userinfo (Core section 5.3), where the ID token says nothing of groups. Its subject must be the token's.
    async fn userinfo(
        &self,
        tokens: &Tokens,
        known: &Known,
        claims: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Failed> {
        let endpoint = known.discovery.userinfo_endpoint.as_ref();
        let Some(endpoint) = endpoint.filter(|_| claims::lacks_groups(claims, &self.settings)) else {
            return Ok(Map::new());
        };
        let bytes = self.issuer.get(endpoint.as_str(), Some(tokens.access_token.secret())).await?;
        let more: Map<String, Value> = serde_json::from_slice(&bytes)
            .map_err(|_| Failed::Unavailable("its userinfo answer cannot be read".into()))?;
        if more.get("sub") == claims.get("sub") { Ok(more) } else { Err(Refusal::AnotherPerson.into()) }
    }
}

/// 256 bits for state and nonce.
const SECRET_BYTES: u32 = 32;
