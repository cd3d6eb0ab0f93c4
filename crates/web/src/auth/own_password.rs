//! Changing one's own password: the old one is asked for, bounded as a sign-in is, because a session that somebody left
//! open must not be enough to take an account over.

use std::net::IpAddr;

use effectgate_core::actor::Actor;
use effectgate_engine::sessions::Source;
use http::HeaderMap;

use super::{
    SignedIn,
    attempts::Try,
    password::{self, PasswordError},
    session,
    signin::{self, Opened},
};
use crate::{
    api::detached,
    app::App,
    problem::{Code, Problem, Result},
};

/// What somebody typed.
pub(crate) struct Change {
    pub(crate) old: String,
    pub(crate) new: String,
}

/// Changes the password of whoever is signed in. Every session of theirs ends; a fresh one is opened for this browser.
///
/// # Errors
/// [`Code::Forbidden`] for somebody of single sign-on, [`Code::TooManyFailures`], [`Code::BadMember`] if the old one is
/// wrong or the new one is not taken, the store.
pub(crate) async fn change(
    app: &App,
    headers: &HeaderMap,
    peer: IpAddr,
    me: &SignedIn,
    change: Change,
) -> Result<Opened> {
    let (app, headers, me) = (app.clone(), headers.clone(), me.clone());
    detached(async move { changed(&app, &headers, peer, &me, change).await }).await
}

async fn changed(app: &App, headers: &HeaderMap, peer: IpAddr, me: &SignedIn, change: Change) -> Result<Opened> {
    if me.source != Source::Local {
        return Err(Problem::new(Code::Forbidden, "your password is your sign-in service's, not this server's"));
    }
    let name = &me.user;
    if let Try::Wait { ms, is_first, what } = app.attempts.sign_in(&me.tenant, name, peer, app.engine.now()) {
        if is_first {
            signin::note(app, &me.tenant, what, Some(name), peer).await?;
        }
        return Err(Problem::new(Code::TooManyFailures, "too many tries; wait before the next").retry_after_ms(ms));
    }
    let account = app.engine.account(&me.tenant, name).await?.filter(|account| !account.disabled);
    let old = account.map(|account| account.password_hash);
    if !app.passwords.check(change.old, old).await.map_err(signin::busy)? {
        return Err(Problem::new(Code::BadMember, "the present password is another one").at("/old"));
    }
    app.attempts.signed_in(&me.tenant, name, peer);
    let hash = hashed(name.clone(), change.new).await?;
    let actor = Actor::Person(me.person.subject.clone());
    app.engine.user_password(&me.tenant, &actor, name, &hash).await?;
    app.engine.sessions_end(&me.tenant, name).await?;
    let account = app.engine.account(&me.tenant, name).await?;
    let account = account.ok_or_else(|| Problem::new(Code::NotFound, "this account is not there any more"))?;
    let (device, limits) = (session::device(headers), &app.settings.sessions);
    let (secret, signed_in) = app.engine.session_open(&account, &device, limits).await?;
    Ok(Opened { secret, signed_in })
}

async fn hashed(name: String, new: String) -> Result<String> {
    let hashed = tokio::task::spawn_blocking(move || password::hash_for(&name, &new)).await;
    match hashed {
        Ok(Ok(hash)) => Ok(hash),
        Ok(Err(error @ (PasswordError::TooShort | PasswordError::TooLong | PasswordError::Common))) => {
            Err(Problem::new(Code::BadMember, error.to_string()).at("/new"))
        }
        Ok(Err(error)) => Err(Problem::internal(&error)),
        Err(error) => Err(Problem::internal(&error)),
    }
}
