//! Signing in with an issuer: the way there and the way back. What is checked of its word is `effectgate-oidc`'s, what it
//! gives here is the engine's ([`effectgate_engine::sign_on`]); this is what binds both to one browser.

use std::net::IpAddr;

use effectgate_core::ids::Tenant;
use effectgate_engine::sign_on::{Known, SignOnPolicy, SignedOn};
use effectgate_oidc::{Answer, Claimed, Failed, Provider, Refusal};
use http::{HeaderMap, HeaderValue};

use super::{
    attempts::Try,
    session, signin,
    signin::Opened,
    underway::{self, Kept},
};
use crate::{
    api::detached,
    app::App,
    problem::{Code, Problem, Result},
};

/// One issuer that people may sign in with.
pub struct SingleSignOn {
    /// What the button says: "Sign in with …".
    pub name: String,
    pub provider: Provider,
    pub policy: SignOnPolicy,
}

/// Where the browser goes, and the cookies that remember it.
pub(crate) struct Going {
    pub(crate) url: String,
    pub(crate) cookies: Vec<HeaderValue>,
}

/// How a sign-in came back.
pub(crate) struct Back {
    pub(crate) result: Result<Opened>,
    /// Where the person wanted to go.
    pub(crate) next: String,
    /// The cookie's end: one try each.
    pub(crate) cookies: Vec<HeaderValue>,
}

/// Begins a sign-in that leads back to `next`.
///
/// # Errors
/// [`Code::NoSuchPath`] without an issuer, [`Code::TooManyFailures`], [`Code::IssuerUnavailable`].
pub(crate) async fn begin(app: &App, headers: &HeaderMap, peer: IpAddr, next: &str) -> Result<Going> {
    let sso = configured(app)?;
    let now = app.engine.now();
    if let Some(ms) = app.attempts.beginning(peer, now) {
        return Err(Problem::new(Code::TooManyFailures, "too many sign-ins were begun").retry_after_ms(ms));
    }
    let begun = sso.provider.begin(now).await.map_err(|failed| problem(&failed))?;
    let kept = Kept { underway: begun.underway, next: next.to_owned(), at: now };
    let cookies = underway::keep(&kept, headers, &app.settings);
    Ok(Going { url: begun.url.into(), cookies })
}

/// Ends a sign-in: a fresh session, and the old one of this browser ended.
pub(crate) async fn finish(app: &App, headers: &HeaderMap, peer: IpAddr, answer: Answer) -> Back {
    let state = answer.state.as_deref().unwrap_or_default();
    let kept = underway::find(state, headers, &app.settings, app.engine.now());
    let cookies = underway::drop_one(state, headers, &app.settings);
    let Some(kept) = kept else {
        let said = "this sign-in took too long, is finished already, or was begun in another browser";
        return Back { result: Err(Problem::new(Code::SignInExpired, said)), next: String::new(), cookies };
    };
    let (app, headers, next) = (app.clone(), headers.clone(), kept.next.clone());
    // In a task of its own: a browser that hangs up must not leave a code redeemed and a session half made.
    let result = detached(async move { finished(&app, &headers, peer, &kept, &answer).await }).await;
    Back { result, next, cookies }
}

async fn finished(app: &App, headers: &HeaderMap, peer: IpAddr, kept: &Kept, answer: &Answer) -> Result<Opened> {
    let sso = configured(app)?;
    let now = app.engine.now();
    if let Try::Wait { ms, is_first, what } = app.attempts.sign_on(peer, now) {
        if is_first {
            let house = Tenant::new(&app.settings.tenant);
            signin::note(app, &house, what, None, peer).await?;
        }
        return Err(Problem::new(Code::TooManyFailures, "too many tries; wait before the next").retry_after_ms(ms));
    }
    let claimed = sso.provider.finish(&kept.underway, answer, now).await.map_err(|failed| problem(&failed))?;
    app.attempts.signed_on(peer);
    let device = session::device(headers);
    match app.engine.sign_on(&sso.policy, known(claimed), &device, &app.settings.sessions).await? {
        SignedOn::Opened { secret, signed_in } => {
            session::close(app, headers).await?;
            tracing::info!(tenant = %signed_in.tenant, "signed in with single sign-on");
            Ok(Opened { secret, signed_in: *signed_in })
        }
        SignedOn::NoTenant => Err(no_tenant()),
        SignedOn::NoRole => {
            let said = "none of your groups has a role here; ask whoever runs this server for one";
            Err(Problem::new(Code::NoRole, said))
        }
    }
}

fn configured(app: &App) -> Result<&SingleSignOn> {
    app.single_sign_on
        .as_deref()
        .ok_or_else(|| Problem::new(Code::NoSuchPath, "single sign-on is not configured on this server"))
}

fn no_tenant() -> Problem {
    tracing::warn!("a sign-in was refused: the tenant's claim names no tenant of this server");
    Problem::new(Code::SignInRefused, "your account belongs to no organisation of this server")
}

fn known(claimed: Claimed) -> Known {
    let Claimed { issuer, sub, name, email, groups, tenant, id_token } = claimed;
    Known { issuer, sub, name, email, groups, tenant, id_token }
}

/// The reason goes to the log; it names no token, no code and nobody. A person who pressed cancel is no warning.
fn problem(failed: &Failed) -> Problem {
    match failed {
        Failed::Unavailable(why) => {
            tracing::warn!(why, "nobody can sign in with the issuer");
            let said = "the sign-in service cannot be reached, or does not answer as it should";
            Problem::new(Code::IssuerUnavailable, said).retry_after_ms(UNAVAILABLE_MS)
        }
        Failed::Refused(Refusal::ByIssuer(word)) if word == "access_denied" => {
            Problem::new(Code::SignInRefused, "the sign-in was cancelled")
        }
        Failed::Refused(refusal) => {
            tracing::warn!(%refusal, "a sign-in was refused");
            Problem::new(Code::SignInRefused, refusal.to_string())
        }
    }
}

/// The issuer is asked again after this long.
const UNAVAILABLE_MS: i64 = 5_000;
