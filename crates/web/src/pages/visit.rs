//! One request for a page: who comes, from where, with which form key. Everything a handler needs, extracted once.

use std::{marker::PhantomData, net::IpAddr};

use axum::{
    extract::{FromRequest, FromRequestParts, Request},
    response::{IntoResponse as _, Response},
};
use effectgate_core::{actor::Person, ids::Tenant, time::Timestamp};
use effectgate_engine::keys::KeyScope;
use effectgate_lang::Msg;
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};

use super::{answer, approval::login_path, stale, tongue::Tongue};
use crate::{
    app::App,
    auth::{Identity, SignedIn, allowed::Need, csrf, session, signin},
    problem::Result,
};

pub(crate) struct Visit {
    pub(crate) app: App,
    pub(crate) headers: HeaderMap,
    pub(crate) peer: IpAddr,
    pub(crate) signed_in: Option<SignedIn>,
    pub(crate) now: Timestamp,
    /// The page's path, without the query.
    pub(crate) path: String,
    /// The reader's language and zone.
    pub(crate) tongue: Tongue,
}

impl FromRequestParts<App> for Visit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let headers = parts.headers.clone();
        let signed_in = session::signed_in(app, &headers).await.map_err(|problem| answer::problem(&problem, None))?;
        let (peer, now) = (signin::peer(&parts.extensions), app.engine.now());
        let path = parts.uri.path().to_owned();
        let tongue = tongue(app, signed_in.as_ref(), &headers).await;
        Ok(Self { app: app.clone(), headers, peer, signed_in, now, path, tongue })
    }
}

/// A setting that cannot be read is no reason to refuse a page: the browser's word and UTC do.
async fn tongue(app: &App, signed_in: Option<&SignedIn>, headers: &HeaderMap) -> Tongue {
    let Some(SignedIn { tenant, person, .. }) = signed_in else { return Tongue::of(None, headers) };
    let profile = app.engine.store().profile_find(tenant, person.subject.as_str()).await;
    let profile = profile.unwrap_or_else(|error| {
        tracing::warn!(%error, "a reader's language and zone could not be read");
        None
    });
    Tongue::of(profile.as_ref(), headers)
}

impl Visit {
    /// The person, if the session is one of this tenant.
    pub(crate) fn person_of(&self, tenant: &Tenant) -> Option<&Person> {
        self.signed_in.as_ref().filter(|s| s.tenant == *tenant).map(|s| &s.person)
    }

    /// The tokens for this visit's forms, and the cookie that begins a visit where there was none.
    pub(crate) fn forms(&self) -> Forms {
        let (key, cookie) = csrf::Key::of(self.signed_in.as_ref(), &self.headers, &self.app.settings);
        Forms { key, cookie }
    }

    /// Checks where a form came from.
    pub(crate) fn check_form(&self, path: &str, token: &str) -> Result<()> {
        csrf::check_form(self.signed_in.as_ref(), &self.headers, &self.app.settings, path, token)
    }
}

/// A visit of somebody who is signed in and holds one of the scopes that `N` names: the pages' side of
/// [`crate::auth::allowed::Allowed`]. Without a session the answer leads to the sign-in and back; without the role it
/// is a page that names the roles that would do.
pub(crate) struct Entitled<N> {
    pub(crate) visit: Visit,
    pub(crate) who: Identity,
    need: PhantomData<N>,
}

impl<N: Need> FromRequestParts<App> for Entitled<N> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let visit = Visit::from_request_parts(parts, app).await?;
        // Only a page can be come back to.
        let next = if parts.method.is_safe() { parts.uri.path_and_query().map_or("/", |p| p.as_str()) } else { "/" };
        Self::of(visit, next).map_err(|response| *response)
    }
}

impl<N: Need> Entitled<N> {
    /// `next`: where a sign-in leads back to.
    fn of(visit: Visit, next: &str) -> Result<Self, Box<Response>> {
        let Some(signed_in) = &visit.signed_in else { return Err(answer::see(&login_path(&visit, None, next)).into()) };
        let who = Identity::Person(signed_in.clone());
        who.need(N::ANY_OF).map_err(|problem| no_role(&visit, N::ANY_OF, problem.status()))?;
        Ok(Self { visit, who, need: PhantomData })
    }
}

/// The same for a form into which something was typed, with the request that brings it. Where the session ended
/// meanwhile, the answer holds what was typed ([`stale`]).
pub(crate) struct Sent<N>(pub(crate) Entitled<N>, pub(crate) Request);

impl<N: Need> FromRequest<App> for Sent<N> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let visit = Visit::from_request_parts(&mut parts, app).await?;
        let request = Request::from_parts(parts, body);
        if visit.signed_in.is_none() && stale::is_ours(&visit) {
            return Err(stale::signed_out(&visit, request).await);
        }
        let entitled = Entitled::of(visit, "/").map_err(|response| *response)?;
        Ok(Self(entitled, request))
    }
}

/// The page for somebody whose account has none of the roles that would do. `worker` is for API keys alone.
fn no_role(visit: &Visit, any_of: &[KeyScope], status: StatusCode) -> Response {
    let roles: Vec<&str> = any_of.iter().filter(|s| **s != KeyScope::Worker).map(|scope| scope.as_str()).collect();
    let said = format!("This wants the role {}; this account does not have it.", roles.join(" or "));
    answer::Note::new(Some(visit), visit.tongue.say(Msg::StopOutsiderTitle), said)
        .way("/inbox", visit.tongue.say(Msg::LoginToInbox))
        .answer(status)
}

/// Tokens for the forms on one page.
pub(crate) struct Forms {
    key: csrf::Key,
    cookie: Option<HeaderValue>,
}

impl Forms {
    pub(crate) fn token(&self, path: &str) -> String {
        self.key.token(path)
    }

    /// The page with its cookie, if it begins a visit.
    pub(crate) fn with(self, page: Response) -> Response {
        match self.cookie {
            Some(cookie) => ([(header::SET_COOKIE, cookie)], page).into_response(),
            None => page,
        }
    }
}
