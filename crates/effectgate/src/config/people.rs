//! `[auth.*]`: how people sign in.

use std::{collections::BTreeMap, path::PathBuf};

use effectgate_engine::sessions::SessionLimits;
use effectgate_web::auth::attempts::Lockout;
use serde::{Deserialize, Serialize};

use super::secret::Secret;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PeopleConfig {
    pub(crate) oidc: Option<OidcConfig>,
    pub(crate) local: LocalConfig,
    pub(crate) session: SessionConfig,
    pub(crate) lockout: LockoutConfig,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OidcConfig {
    /// As the issuer's discovery document says it, byte by byte.
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<Secret>,
    pub(crate) client_secret_file: Option<PathBuf>,
    /// The button says "Sign in with NAME". Default `single sign-on`.
    #[serde(default = "name")]
    pub(crate) name: String,
    /// Beside `openid`. Default `profile`, `email`: a name to show and an address to be asked by.
    #[serde(default = "scopes")]
    pub(crate) scopes: Vec<String>,
    /// The claim that lists groups: a name, or a JSON Pointer such as `/realm_access/roles`. Default `groups`.
    #[serde(default = "groups_claim")]
    pub(crate) groups_claim: String,
    /// Group of the identity provider -> roles here. A group that is not here gives nothing.
    #[serde(default)]
    pub(crate) roles: BTreeMap<String, Vec<String>>,
    /// A tenant's name, or `{ claim = "org", allow = ["acme"] }`. Default `default`.
    #[serde(default)]
    pub(crate) tenant: TenantConfig,
    /// The issuer lives in the own network. An issuer on this machine needs no leave.
    #[serde(default)]
    pub(crate) allow_private: bool,
    /// CA certificates beside the machine's own, as PEM.
    pub(crate) ca_file: Option<PathBuf>,
    /// Default 5 s for one request to the issuer: somebody waits before a page.
    #[serde(default = "timeout_ms")]
    pub(crate) timeout_ms: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum TenantConfig {
    Fixed(String),
    Claimed(TenantClaim),
}

impl Default for TenantConfig {
    fn default() -> Self {
        Self::Fixed(effectgate_web::WebSettings::default().tenant)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TenantClaim {
    pub(crate) claim: String,
    pub(crate) allow: Vec<String>,
}

fn name() -> String {
    "single sign-on".to_owned()
}

fn scopes() -> Vec<String> {
    ["profile", "email"].map(str::to_owned).to_vec()
}

fn groups_claim() -> String {
    "groups".to_owned()
}

const fn timeout_ms() -> i64 {
    5_000
}

/// Accounts of this server's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LocalConfig {
    /// Default true: the first start needs one, and so does the day on which the issuer is away.
    pub(crate) enabled: bool,
}

impl Default for LocalConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// When sessions of people end. The defaults and their reasons are the engine's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SessionConfig {
    /// Without a request. Default 8 h.
    pub(crate) idle_ms: i64,
    /// Whatever happens. Default 24 h. A role that the issuer took away lives on for as long as this.
    pub(crate) absolute_ms: i64,
}

impl Default for SessionConfig {
    fn default() -> Self {
        let SessionLimits { idle_ms, absolute_ms } = SessionLimits::default();
        Self { idle_ms, absolute_ms }
    }
}

/// How many refused sign-ins are borne. The defaults and their reasons are the web room's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LockoutConfig {
    /// One account from one address within `window_ms`. Default 10.
    pub(crate) tries_max: i64,
    /// One account from anywhere within `account_window_ms`. Default 100.
    pub(crate) account_tries_max: i64,
    /// One address, whatever accounts, within `window_ms`. Default 100.
    pub(crate) address_tries_max: i64,
    /// Default 15 min.
    pub(crate) window_ms: i64,
    /// Default 1 h.
    pub(crate) account_window_ms: i64,
}

impl Default for LockoutConfig {
    fn default() -> Self {
        let of = Lockout::default();
        Self {
            tries_max: of.tries_max.into(),
            account_tries_max: of.account_tries_max.into(),
            address_tries_max: of.address_tries_max.into(),
            window_ms: of.window_ms,
            account_window_ms: of.account_window_ms,
        }
    }
}
