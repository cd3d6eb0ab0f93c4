//! Where a source's runs are delivered to, and under which bounds. Judged once, so that a delivery only reads it. The
//! operator named the worker: it may lie in the own network, and mostly does.

use secrecy::SecretString;
use url::Url;

use crate::{
    connect::{guard::EgressGuard, tls::Tls},
    connectors::{Auth, SettingError},
};

/// What the config says; numbers were bounded there.
pub struct DeliverSettings {
    pub url: Url,
    pub auth: Option<Auth>,
    pub timeout_ms: u64,
    pub concurrent: usize,
    pub lease_ms: i64,
    pub give_up_ms: i64,
}

/// The worker that is called with each run of a source.
pub struct DeliverPolicy {
    pub url: Url,
    /// A header that shows who calls. Never printed.
    pub auth: Option<(String, SecretString)>,
    pub guard: EgressGuard,
    pub tls: Tls,
    /// One call in all, the worker's answer included.
    pub timeout_ms: u64,
    /// Calls under way at once, in one process.
    pub concurrent: usize,
    /// The lease that a delivered run is claimed with; longer than `timeout_ms`.
    pub lease_ms: i64,
    /// How long a run is offered to a worker that cannot be reached.
    pub give_up_ms: i64,
}

impl DeliverPolicy {
    /// Judges where to and with what.
    ///
    /// # Errors
    /// Every fault, by its member.
    pub fn new(settings: DeliverSettings, tls: Tls) -> Result<Self, Vec<SettingError>> {
        let DeliverSettings { url, auth, timeout_ms, concurrent, lease_ms, give_up_ms } = settings;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let guard = EgressGuard::new([host], true);
        let guard =
            guard.and_then(|guard| guard.check_url(&url).and_then(|to| guard.check_literal(&to)).map(|()| guard));
        let guard = guard.map_err(|e| {
            SettingError::new("url", e, "Write the worker's webhook, as in http://127.0.0.1:5678/webhook/ticket.")
        });
        let auth = auth.as_ref().map(Auth::header).transpose();
        match (guard, auth) {
            (Ok(guard), Ok(auth)) => Ok(Self { url, auth, guard, tls, timeout_ms, concurrent, lease_ms, give_up_ms }),
            (guard, auth) => Err(guard.err().into_iter().chain(auth.err()).collect()),
        }
    }
}
