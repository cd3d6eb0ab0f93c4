//! The workflow tool that calls us and waits for us: where it is, which of its addresses may be called, and the one way
//! to call them. Made from `[n8n]`; without that section nothing here exists.
//!
//! Not here: what is called and why. Resuming is an effect ([`crate::connectors`]), telling of events is the
//! subscriptions'.

mod allow;
mod call;

use effectgate_core::outcome::Report;
use http::Method;
use secrecy::SecretString;
use url::Url;

use allow::Bases;
pub use allow::NotAllowed;
pub(crate) use call::{CALLER, ResumeCall};
pub use call::{FLOW, PROVIDER, RESUME, RESUME_WAIT, effect_type, execution_in};

use crate::{
    connect::{
        WriteGate,
        guard::EgressGuard,
        http::{HttpLimits, HttpRequest, send},
        tls::Tls,
    },
    connectors::SettingError,
};

/// What `[n8n]` says.
pub struct N8nSettings {
    /// Its own API is below this one.
    pub url: String,
    /// Further beginnings of addresses that may be called.
    pub allow_urls: Vec<String>,
    /// For looking at executions, which changes nothing.
    pub api_key: Option<SecretString>,
    pub limits: HttpLimits,
    /// Resumes under way at once.
    pub concurrent: usize,
}

/// The workflow tool.
pub struct N8n {
    base: Url,
    bases: Bases,
    api_key: Option<SecretString>,
    limits: HttpLimits,
    concurrent: usize,
    guard: EgressGuard,
    tls: Tls,
}

impl N8n {
    /// Judges the settings.
    ///
    /// # Errors
    /// Every setting that cannot be used, by its member.
    pub fn new(settings: N8nSettings, tls: Tls) -> Result<Self, Vec<SettingError>> {
        let N8nSettings { url, allow_urls, api_key, limits, concurrent } = settings;
        let more = allow_urls.iter().enumerate().map(|(n, url)| (format!("allow_urls[{n}]"), url.as_str()));
        let bases = Bases::new(std::iter::once(("url".to_owned(), url.as_str())).chain(more))?;
        let fault = |what: String| vec![SettingError::new("url", what, "Write it as in http://127.0.0.1:5678.")];
        let parsed = |text: &String| Url::parse(text).map_err(|e| fault(e.to_string()));
        let all = std::iter::once(&url).chain(&allow_urls).map(parsed).collect::<Result<Vec<_>, _>>()?;
        let hosts = all.iter().map(|url| url.host_str().unwrap_or_default().trim_matches(['[', ']']));
        // The operator named these hosts, and n8n mostly stands in the own network.
        let guard = EgressGuard::new(hosts, true).map_err(|e| fault(e.to_string()))?;
        let mut base = parsed(&url)?;
        base.set_path(&format!("{}/", base.path().trim_end_matches('/')));
        Ok(Self { base, bases, api_key, limits, concurrent, guard, tls })
    }

    /// The address, if it may be called: at the origin of a base and below its path, without userinfo, and with a path
    /// that everybody on the way reads alike.
    ///
    /// # Errors
    /// Why not, in words without the address.
    pub fn allows(&self, url: &str) -> Result<Url, NotAllowed> {
        self.bases.allows(url)
    }

    /// Its own address, ending in a slash.
    #[must_use]
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// For the header `X-N8N-API-KEY`.
    #[must_use]
    pub fn api_key(&self) -> Option<&SecretString> {
        self.api_key.as_ref()
    }

    /// How long one call may take.
    #[must_use]
    pub const fn limits(&self) -> HttpLimits {
        self.limits
    }

    /// Calls under way at once.
    #[must_use]
    pub const fn concurrent(&self) -> usize {
        self.concurrent
    }

    /// A POST of JSON to an address that [`N8n::allows`] gave. Further headers may be put on it.
    #[must_use]
    pub fn post(url: Url, body: bytes::Bytes) -> HttpRequest {
        let headers =
            [("User-Agent", USER_AGENT), ("Accept", "application/json"), ("Content-Type", "application/json")];
        let headers = headers.map(|(name, value)| (name.to_owned(), SecretString::from(value))).to_vec();
        HttpRequest { method: Method::POST, url, headers, body }
    }

    /// One request on one fresh connection, to a host that the config names; asks `gate` right before the first byte.
    pub async fn send(&self, request: HttpRequest, gate: &dyn WriteGate) -> Report {
        self.send_within(request, &self.limits, gate).await
    }

    /// [`N8n::send`] with other limits than those of the section.
    pub async fn send_within(&self, request: HttpRequest, limits: &HttpLimits, gate: &dyn WriteGate) -> Report {
        send(request, limits, &self.guard, &self.tls, gate).await
    }
}

const USER_AGENT: &str = concat!("effectgate/", env!("CARGO_PKG_VERSION"));
