//! What a route asks of its caller, said in its signature: `Allowed<Operate>` is an identity that holds the scope. It is
//! extracted before the body, so nobody without the right is told anything about their request.

use std::{marker::PhantomData, net::IpAddr, sync::Arc};

use axum::extract::FromRequestParts;
use effectgate_core::{
    actor::Person,
    approval::{Approval, is_in_audience},
    operate::Asker,
};
use effectgate_engine::keys::KeyScope;
use http::{HeaderMap, Method, request::Parts};

use super::{Identity, KeyIdentity, SignedIn, api_key, csrf, session, signin};
use crate::{
    app::App,
    problem::{Code, Problem, Result},
};

/// A caller who holds one of the scopes that `N` names.
pub(crate) struct Allowed<N> {
    pub who: Identity,
    need: PhantomData<N>,
}

/// What is asked for. An empty list asks only that the caller is known.
pub(crate) trait Need: Send + Sync + 'static {
    const ANY_OF: &'static [KeyScope];
}

macro_rules! needs {
    ($($(#[$doc:meta])* $name:ident = [$($scope:ident),*];)+) => {$(
        $(#[$doc])*
        pub(crate) struct $name;
        impl Need for $name {
            const ANY_OF: &'static [KeyScope] = &[$(KeyScope::$scope),*];
        }
    )+};
}

needs! {
    /// Anybody who is known.
    Known = [];
    /// Reserve and work.
    Work = [Worker];
    /// Look at runs, effects and switches.
    Read = [Worker, Viewer, Approver, Operator, Auditor, SwitchOwner];
    /// See which approvals there are and how they stand.
    ListApprovals = [Viewer, Approver, Operator, Auditor, SwitchOwner];
    /// Look at approvals with what they are about. A person who approves does so where asked: [`Identity::may_read`].
    ReadApprovals = [Approver, Operator, Auditor];
    /// Follow an approval: how it stands and who decided what, without what it is about; whoever reads approvals may too.
    FollowApprovals = [Worker, Approver, Operator, Auditor];
    /// Look at what a run holds: payload, output, result.
    ReadContent = [Operator, Auditor];
    /// See a run's result, which its worker wrote: content for everybody but the worker who reads it back.
    ReadResult = [Worker, Operator, Auditor];
    /// Cancel, resolve, release, close, replay, correct.
    Operate = [Operator];
    /// Verify and export the journal.
    Audit = [Auditor];
    /// Turn a switch.
    Turn = [SwitchOwner];
}

impl Identity {
    /// Asks that the caller holds one of the scopes.
    ///
    /// # Errors
    /// `forbidden`, naming the scopes that would do.
    pub fn need(&self, any_of: &[KeyScope]) -> Result<()> {
        let held = self.scopes();
        if any_of.is_empty() || held.contains(&KeyScope::Admin) || any_of.iter().any(|scope| held.contains(scope)) {
            return Ok(());
        }
        let words: Vec<&str> = any_of.iter().map(|scope| scope.as_str()).collect();
        let said = format!("this wants the scope {}", words.join(" or "));
        Err(Problem::new(Code::Forbidden, said).with("scopes", &words))
    }

    /// A person's roles that are named like a scope give that scope; `worker` is for API keys alone.
    #[must_use]
    pub fn scopes(&self) -> Vec<KeyScope> {
        match self {
            Self::ApiKey(key) => key.scopes.clone(),
            Self::Person(signed_in) => {
                let scopes = signed_in.person.roles.iter().filter_map(|role| KeyScope::parse(role));
                scopes.filter(|scope| *scope != KeyScope::Worker).collect()
            }
        }
    }

    /// The caller in core's words, for what operators may do and others may by their part in a run.
    #[must_use]
    pub fn asker(&self) -> Asker {
        let person = match self {
            Self::ApiKey(_) => None,
            Self::Person(signed_in) => Some(signed_in.person.clone()),
        };
        Asker { actor: self.actor(), person, is_operator: self.need(Operate::ANY_OF).is_ok() }
    }

    /// True if the caller may read an approval whole: the effects, the words. Operators and auditors all of them, other
    /// people those they had a part in: asked, decided, or the ones who asked for it.
    #[must_use]
    pub fn may_read(&self, approval: &Approval) -> bool {
        match self {
            Self::ApiKey(_) => self.need(ReadApprovals::ANY_OF).is_ok(),
            Self::Person(signed_in) => {
                self.need(ReadContent::ANY_OF).is_ok() || has_part_in(approval, &signed_in.person)
            }
        }
    }

    /// True if the caller may touch this flow.
    #[must_use]
    pub fn may_touch(&self, flow: &str) -> bool {
        match self {
            Self::ApiKey(key) => key.flows.is_empty() || key.flows.iter().any(|f| f == flow),
            Self::Person(_) => true,
        }
    }

    /// True if there are flows that the caller may not touch.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        matches!(self, Self::ApiKey(key) if !key.flows.is_empty())
    }
}

impl<N: Need> FromRequestParts<App> for Allowed<N> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let peer = signin::peer(&parts.extensions);
        let identity = identify(app, &parts.method, &parts.headers, peer).await?;
        identity.need(N::ANY_OF)?;
        Ok(Self { who: identity, need: PhantomData })
    }
}

/// Asked, decided under whatever name, or the one who asked for it.
pub(crate) fn has_part_in(approval: &Approval, person: &Person) -> bool {
    is_in_audience(approval, person)
        || approval.decisions.iter().any(|decision| decision.is_by(person))
        || approval.terms.requesters.iter().any(|requester| person.is(requester))
}

/// A key that holds one of the scopes that `N` names, or any person: which of them may is said by what they ask about.
pub(crate) struct OrPerson<N> {
    pub who: Identity,
    need: PhantomData<N>,
}

impl<N: Need> FromRequestParts<App> for OrPerson<N> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let who = Allowed::<Known>::from_request_parts(parts, app).await?.who;
        if matches!(who, Identity::ApiKey(_)) {
            who.need(N::ANY_OF)?;
        }
        Ok(Self { who, need: PhantomData })
    }
}

/// An API key that holds one of the scopes that `N` names. People are refused, whatever their roles: what is made here
/// belongs to a key.
pub(crate) struct OfKey<N> {
    pub who: Identity,
    pub key: Arc<KeyIdentity>,
    need: PhantomData<N>,
}

impl<N: Need> FromRequestParts<App> for OfKey<N> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let who = Allowed::<N>::from_request_parts(parts, app).await?.who;
        match &who {
            Identity::ApiKey(key) => Ok(Self { key: Arc::clone(key), who, need: PhantomData }),
            Identity::Person(_) => Err(Problem::new(Code::Forbidden, "this wants an API key; a person has none")),
        }
    }
}

/// A signed-in person. An API key is refused here, whatever its scopes: an automation that approves its own work is no
/// gate.
pub(crate) struct Deciding(pub SignedIn);

impl FromRequestParts<App> for Deciding {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        match Allowed::<Known>::from_request_parts(parts, app).await?.who {
            Identity::Person(signed_in) => Ok(Self(signed_in)),
            Identity::ApiKey(_) => {
                Err(Problem::new(Code::CannotDecide, "an API key cannot decide; a signed-in person can"))
            }
        }
    }
}

/// Counts the request against its key, before its right is looked at and its body is read.
fn within_pace(app: &App, key: &KeyIdentity) -> Result<()> {
    app.pace.take(&key.public_id, app.engine.now()).map_err(|ms| {
        let said = format!("this API key may make {} requests in a second", app.pace.per_second());
        Problem::new(Code::TooManyRequests, said).retry_after_ms(ms)
    })
}

async fn identify(app: &App, method: &Method, headers: &HeaderMap, peer: IpAddr) -> Result<Identity> {
    if let Some(key) = api_key::identify(app, headers, peer).await? {
        within_pace(app, &key)?;
        return Ok(Identity::ApiKey(key));
    }
    let Some(signed_in) = session::signed_in(app, headers).await? else {
        return Err(api_key::unauthorized("an API key or a signed-in session is wanted"));
    };
    if !method.is_safe() {
        csrf::check_program(headers, &app.settings)?;
    }
    Ok(Identity::Person(signed_in))
}
