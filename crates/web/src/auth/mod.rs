//! Who calls: an API key in the `Authorization` header, or a signed-in person with a session cookie. Everything behind
//! here is scoped by the caller's tenant. What a caller may do is asked with [`Identity::need`] before anything is read.

pub(crate) mod allowed;
pub(crate) mod api_key;
pub mod attempts;
mod common;
pub(crate) mod cookie;
pub mod csrf;
pub(crate) mod failures;
pub(crate) mod key_cache;
pub(crate) mod own_password;
pub(crate) mod pace;
pub mod password;
pub mod proxies;
pub mod session;
pub(crate) mod signin;
pub mod single_sign_on;
pub(crate) mod switching;
pub(crate) mod underway;

use std::sync::Arc;

use effectgate_core::{
    actor::{Actor, Person},
    ids::Tenant,
};
use effectgate_engine::{Caller, keys::KeyScope, sessions::Source};

/// Who calls.
#[derive(Debug, Clone)]
pub enum Identity {
    ApiKey(Arc<KeyIdentity>),
    Person(SignedIn),
}

/// A checked API key.
#[derive(Debug, Clone)]
pub struct KeyIdentity {
    /// The first part of the token, which is no secret: one key, whatever its name.
    pub public_id: String,
    pub tenant: Tenant,
    pub name: String,
    pub scopes: Vec<KeyScope>,
    /// Flows it may touch; empty means all.
    pub flows: Vec<String>,
}

/// A person with a live session.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub tenant: Tenant,
    /// With roles; roles named like a scope give that scope.
    pub person: Person,
    /// What the pages show.
    pub display_name: String,
    /// Whose the sessions are: an account's name, or the subject of single sign-on.
    pub user: String,
    pub source: Source,
    /// Identifies the session for CSRF tokens; not the secret itself.
    pub session: String,
}

impl Identity {
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        match self {
            Self::ApiKey(key) => &key.tenant,
            Self::Person(signed_in) => &signed_in.tenant,
        }
    }

    /// How the journal names the caller.
    #[must_use]
    pub fn actor(&self) -> Actor {
        match self {
            Self::ApiKey(key) => Actor::ApiKey(key.name.clone()),
            Self::Person(signed_in) => Actor::Person(signed_in.person.subject.clone()),
        }
    }

    /// The caller in the engine's words.
    pub(crate) fn caller(&self) -> Caller {
        let api_key = match self {
            Self::ApiKey(key) => key.name.clone(),
            Self::Person(signed_in) => signed_in.person.subject.to_string(),
        };
        Caller { tenant: self.tenant().clone(), api_key }
    }
}
