//! What every handler has at hand: the engine, the settings, the secrets and small tables of this process. Cheap to
//! clone. Nothing durable lives here.

use std::{ops::Deref, sync::Arc};

use effectgate_engine::{Engine, sessions::SessionLimits};

use crate::{
    auth::{
        attempts::{Attempts, Lockout},
        failures::Failures,
        key_cache::KeyCache,
        pace::Pace,
        password::Passwords,
        proxies::Network,
        single_sign_on::SingleSignOn,
    },
    pages::live::Live,
};

/// What the config says about the HTTP side. Every limit has its reason beside it.
#[derive(Debug, Clone)]
pub struct WebSettings {
    /// Links and problem types are made from this. Without a trailing slash.
    pub public_url: String,
    /// Larger request bodies are refused with 413.
    pub body_bytes_max: usize,
    /// Connections open at once; more wait in the kernel's queue.
    pub connections_max: usize,
    /// How long a caller may take to send a request's head, and how long an idle connection is kept.
    pub header_timeout_ms: u64,
    /// How long a caller may take to send a request's body.
    pub body_timeout_ms: u64,
    /// How long connections may take to end their requests at shutdown.
    pub shutdown_ms: u64,
    /// Cookies carry `Secure`. Off only for plain HTTP on this machine.
    pub cookie_secure: bool,
    /// `/metrics` without a key. For scrapers on a private listener.
    pub metrics_open: bool,
    /// The tenant of people who sign in with a local account.
    pub tenant: String,
    /// People may sign in with a local account.
    pub local_accounts: bool,
    /// When sessions of people end.
    pub sessions: SessionLimits,
    /// How many refused sign-ins in which time.
    pub lockout: Lockout,
    /// Requests of one API key in a second; more are answered 429.
    pub requests_per_second_max: u32,
    /// How long a call of a tool waits for its outcome, where it does not say.
    pub tool_wait_ms: u64,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            public_url: "http://127.0.0.1:8787".into(),
            body_bytes_max: 1_048_576,
            // A worker holds one connection; a thousand workers and their operators fit, and so do the descriptors.
            connections_max: 4_096,
            header_timeout_ms: 30_000,
            // A megabyte over a bad mobile line.
            body_timeout_ms: 20_000,
            shutdown_ms: 10_000,
            cookie_secure: true,
            metrics_open: false,
            tenant: "default".into(),
            local_accounts: true,
            sessions: SessionLimits::default(),
            lockout: Lockout::default(),
            // Above what one process answers on a large machine: it stops a loop that ran away, not a busy worker.
            requests_per_second_max: 50_000,
            // A third of the minute that n8n gives a tool: an effect with one slow attempt ends in it.
            tool_wait_ms: 20_000,
            trusted_proxies: Vec::new(),
        }
    }
}

/// What every handler has at hand, behind one count: each layer of the router clones it for each request, and ten counts
/// cloned in each of six layers were a fifth of the CPU of a small request (measured with perf on /healthz, 2026-11-30).
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// What an [`App`] holds.
#[derive(Clone)]
pub struct Parts {
    pub engine: Engine,
    pub settings: Arc<WebSettings>,
    pub(crate) keys: Arc<KeyCache>,
    pub(crate) pace: Arc<Pace>,
    pub(crate) failures: Arc<Failures>,
    pub(crate) attempts: Arc<Attempts>,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) live: Arc<Live>,
    pub(crate) single_sign_on: Option<Arc<SingleSignOn>>,
}

impl App {
    #[must_use]
    pub fn new(engine: Engine, settings: WebSettings) -> Self {
        let attempts = Attempts::new(settings.lockout);
        let pace = Pace::new(settings.requests_per_second_max);
        Self(Arc::new(Parts {
            engine,
            settings: Arc::new(settings),
            keys: Arc::new(KeyCache::default()),
            pace: Arc::new(pace),
            failures: Arc::new(Failures::default()),
            attempts: Arc::new(attempts),
            passwords: Arc::new(Passwords::default()),
            live: Arc::new(Live::default()),
            single_sign_on: None,
        }))
    }

    /// Lets people sign in with an issuer as well.
    #[must_use]
    pub fn with_single_sign_on(self, single_sign_on: SingleSignOn) -> Self {
        let parts = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Parts { single_sign_on: Some(Arc::new(single_sign_on)), ..parts }))
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
