//! An OpenID Connect issuer for tests: signs in whom it is told to, at once or on a page with a button, changes its
//! keys, and lies in every way that a client has to notice ([`Fault`]). No security of its own: never run it where
//! somebody could take it for a real one.
//!
//! In a test: [`ScriptedIssuer::start`], or [`ScriptedIssuer::answer`] without a network. In a process of its own: the
//! binary `scripted-issuer`.

mod answer;
mod form;
mod grant;
mod page;
mod serve;
mod sign;
mod state;

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{Request, Response};
use serde_json::{Map, Value, json};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

pub use state::Asked;
use state::State;

/// The only client that this issuer knows.
pub const CLIENT_ID: &str = "effectgate";
pub const CLIENT_SECRET: &str = "a-secret-of-the-tests";

/// Somebody whom the issuer knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Someone {
    pub sub: String,
    pub name: String,
    pub email: String,
    pub email_verified: bool,
    pub groups: Vec<String>,
    /// Further claims, or others in the place of the usual ones.
    pub more: Map<String, Value>,
}

impl Someone {
    /// A person with a verified address `NAME@house.test`.
    #[must_use]
    pub fn new(name: &str, groups: &[&str]) -> Self {
        Self {
            sub: format!("id-of-{name}"),
            name: name.to_owned(),
            email: format!("{name}@house.test"),
            email_verified: true,
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            more: Map::new(),
        }
    }

    fn claims(&self) -> Map<String, Value> {
        let claims = json!({
            "sub": self.sub, "name": self.name, "email": self.email, "email_verified": self.email_verified,
            "groups": self.groups,
        });
        let mut claims = claims.as_object().cloned().unwrap_or_default();
        claims.extend(self.more.clone());
        claims
    }
}

/// One lie, told until it is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    // At the redirect.
    WrongState,
    AccessDenied,
    NoCode,
    WrongIssParameter,
    NoIssParameter,
    // At the token endpoint.
    NoIdToken,
    RefuseCode,
    RefuseClient,
    // In the ID token.
    WrongNonce,
    NoNonce,
    WrongAudience,
    SecondAudience,
    WrongAuthorizedParty,
    WrongIssuer,
    Expired,
    FromTheFuture,
    NotBefore,
    AlgorithmNone,
    /// Says RS256 and has no signature.
    Unsigned,
    /// Signed by a key that is published nowhere, under the name of one that is.
    WrongSignature,
    /// Signed with the client's secret.
    Hmac,
    WrongAccessToken,
    // Elsewhere.
    OtherUserinfo,
    /// The discovery document names another issuer.
    WrongDiscovery,
    KeysAreNonsense,
}

/// A running issuer on a port of 127.0.0.1. Cheap to clone; stops when the last clone is dropped.
#[derive(Clone)]
pub struct ScriptedIssuer(Arc<Running>);

struct Running {
    state: Mutex<State>,
    url: String,
    address: Option<SocketAddr>,
    /// False while it is down: connections are closed unread.
    up: watch::Sender<bool>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl ScriptedIssuer {
    /// Starts an issuer on a free port.
    ///
    /// # Panics
    /// If no port can be had.
    pub async fn start() -> Self {
        Self::start_on(0).await.expect("a free port on 127.0.0.1")
    }

    /// Starts on a given port (0: any free one).
    ///
    /// # Errors
    /// If the port is taken.
    pub async fn start_on(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let issuer = Self::named(format!("http://{address}"), Some(address));
        let task = tokio::spawn(serve::accept(listener, Arc::downgrade(&issuer.0)));
        *issuer.0.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
        Ok(issuer)
    }

    /// An issuer without a network: requests are given to [`ScriptedIssuer::answer`].
    #[must_use]
    pub fn offline() -> Self {
        Self::named("https://issuer.test".to_owned(), None)
    }

    fn named(url: String, address: Option<SocketAddr>) -> Self {
        let state = Mutex::new(State::new());
        Self(Arc::new(Running { state, url, address, up: watch::Sender::new(true), task: Mutex::new(None) }))
    }

    /// The issuer's name, as its discovery document says it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.url
    }

    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.0.address
    }

    /// Answers one request.
    #[must_use]
    pub fn answer(&self, request: &Request<Vec<u8>>) -> Response<Vec<u8>> {
        answer::answer(&mut self.state(), &self.0.url, request)
    }

    /// From now on this person is signed in at once, without a page.
    pub fn sign_in(&self, person: Someone) {
        let mut state = self.state();
        state.persons.retain(|known| known.sub != person.sub);
        state.at_once = Some(person.sub.clone());
        state.persons.push(person);
    }

    /// From now on a page asks who it is, with a button for each of these.
    pub fn ask(&self, persons: impl IntoIterator<Item = Someone>) {
        let mut state = self.state();
        (state.at_once, state.persons) = (None, persons.into_iter().collect());
    }

    /// Tells one lie from now on, or none.
    pub fn lie(&self, fault: impl Into<Option<Fault>>) {
        self.state().fault = fault.into();
    }

    /// Signs with another key from now on and publishes only that one.
    pub fn rotate(&self) {
        self.state().rotate();
    }

    /// Publishes no names of keys and writes none into tokens.
    pub fn without_key_names(&self) {
        self.state().names_keys = false;
    }

    /// Leaves groups out of ID tokens; userinfo tells them.
    pub fn groups_only_in_userinfo(&self) {
        self.state().groups_in_token = false;
    }

    /// Takes the client's secret only in the form.
    pub fn secret_only_in_form(&self) {
        self.state().secret_in_form = true;
    }

    /// The time that tokens say, in seconds since 1970, instead of the machine's.
    pub fn set_time(&self, seconds: i64) {
        self.state().time = Some(seconds);
    }

    /// Waits before each answer.
    pub fn slow(&self, delay: Duration) {
        self.state().delay = delay;
    }

    /// Closes every connection unread, or no more.
    pub fn down(&self, is_down: bool) {
        self.0.up.send_replace(!is_down);
    }

    /// What was asked so far: how often each endpoint, and which sign-outs.
    #[must_use]
    pub fn asked(&self) -> Asked {
        self.state().asked.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let task = self.task.get_mut().unwrap_or_else(PoisonError::into_inner);
        task.iter().for_each(JoinHandle::abort);
    }
}
