//! Signing in with a local account: bounded tries, the same work whether the account exists or not, a fresh session.
//! The page and `POST /v1/session` call the same function.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::ConnectInfo;
use effectgate_core::{digest::Digest, facts, ids::Tenant, journal::Facts};
use effectgate_engine::sessions;
use http::{Extensions, HeaderMap};

use super::{attempts::Try, password::PasswordError, session};
use crate::{
    api::detached,
    app::App,
    problem::{Code, Problem, Result},
};

/// What somebody typed.
pub(crate) struct Credentials {
    pub(crate) user: String,
    pub(crate) password: String,
    /// The house's own tenant without one.
    pub(crate) tenant: Option<String>,
}

/// A session that was just opened.
pub(crate) struct Opened {
    pub(crate) secret: String,
    pub(crate) signed_in: sessions::SignedIn,
}

/// Two sign-ins at once keep a core busy for some 30 ms each; a second is ample.
const BUSY_MS: i64 = 1_000;

/// Opens a session for a name and its password. The old session of the same browser ends.
///
/// # Errors
/// [`Code::LocalAccountsOff`], [`Code::Unauthorized`] for a wrong name or password (which of both is not said), [`Code::TooManyFailures`] with the
/// time to wait, the store.
pub(crate) async fn sign_in(app: &App, headers: &HeaderMap, peer: IpAddr, typed: Credentials) -> Result<Opened> {
    if !app.settings.local_accounts {
        let said = "people sign in with single sign-on here; local accounts are switched off";
        return Err(Problem::new(Code::LocalAccountsOff, said));
    }
    let (app, headers) = (app.clone(), headers.clone());
    detached(async move { tried(&app, &headers, peer, typed).await }).await
}

async fn tried(app: &App, headers: &HeaderMap, peer: IpAddr, typed: Credentials) -> Result<Opened> {
    let tenant = Tenant::new(typed.tenant.as_deref().unwrap_or(&app.settings.tenant));
    let account = app.engine.account(&tenant, &typed.user).await?;
    let standing = app.attempts.sign_in(&tenant, &typed.user, peer, app.engine.now());
    if let Try::Wait { ms, is_first, what } = standing {
        if is_first {
            note(app, &tenant, what, account.as_ref().map(|a| a.name.as_str()), peer).await?;
        }
        return Err(Problem::new(Code::TooManyFailures, "too many tries; wait before the next").retry_after_ms(ms));
    }
    let hash = account.as_ref().filter(|a| !a.disabled).map(|a| a.password_hash.clone());
    let fits = app.passwords.check(typed.password, hash).await.map_err(busy)?;
    let Some(account) = account.filter(|_| fits) else {
        return Err(Problem::new(Code::Unauthorized, "this name and this password do not fit together"));
    };
    app.attempts.signed_in(&tenant, &typed.user, peer);
    session::close(app, headers).await?;
    let (device, limits) = (session::device(headers), &app.settings.sessions);
    let (secret, signed_in) = app.engine.session_open(&account, &device, limits).await?;
    Ok(Opened { secret, signed_in })
}

pub(crate) fn busy(error: PasswordError) -> Problem {
    match error {
        PasswordError::Busy => Problem::new(Code::TooManyFailures, error.to_string()).retry_after_ms(BUSY_MS),
        error => Problem::internal(&error),
    }
}

/// A bound was reached: once for the log, and for the journal as long as it takes more. What was typed as a name is
/// written only if it is an account's: people type passwords into the wrong field. The address stays out of the
/// journal, which nobody can erase.
pub(crate) async fn note(
    app: &App,
    tenant: &Tenant,
    what: &'static str,
    account: Option<&str>,
    peer: IpAddr,
) -> Result<()> {
    tracing::warn!(%peer, what, account, "too many refused sign-ins");
    metrics::counter!("effectgate_sign_ins_refused_total").increment(1);
    if app.attempts.may_note(app.engine.now()) {
        let facts: Facts = facts! { "bound" => what, "user" => account };
        let whom = account.map_or_else(String::new, |name| format!(" of the account {name}"));
        let detail =
            format!("Too many refused sign-ins{whom}: the bound of one {what} was reached. The log names the address.");
        // An address is told apart by its hash: the notice is kept for a while, and whose address it is is nobody's business.
        let about = account.map_or_else(|| Digest::of(peer.to_string().as_bytes()).to_string(), str::to_owned);
        app.engine.note_sign_in_refused(tenant, &facts, &about, &detail).await?;
    }
    Ok(())
}

/// The address of the visitor: the other end of the connection, or who came to a proxy that is trusted
/// ([`super::proxies`]).
pub(crate) fn peer(extensions: &Extensions) -> IpAddr {
    let info = extensions.get::<ConnectInfo<SocketAddr>>();
    info.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(address)| address.ip())
}
