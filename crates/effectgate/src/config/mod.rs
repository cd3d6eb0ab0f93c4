//! The config: read from a TOML file and the environment (`load`), shown with secrets masked (`effective`), judged
//! as a whole and turned into the policy in force ([`resolve::resolve`]). A config that cannot be safe does not start.
//!
//! The sections are plain serde structs, a file each; every default stands beside its member, with the reason.
//! `effectgate.example.toml` is documentation, default and test fixture at once.

mod budget;
mod effective;
mod environment;
mod error;
mod flow;
mod load;
mod n8n;
mod notify;
mod out;
mod people;
mod provider;
pub(crate) mod resolve;
mod secret;
mod server;
mod source;
mod workers;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use effective::effective;
pub(crate) use environment::Environment;
pub(crate) use error::{ConfigError, ConfigErrors};
pub(crate) use load::{Loaded, load};
pub(crate) use provider::{ClassWord, ProviderConfig, ProviderKind, TlsWord};
pub(crate) use resolve::{DatabaseSettings, OidcSettings, PeopleSettings, Resolved, ServerSettings};

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) server: server::ServerConfig,
    pub(crate) database: server::DatabaseConfig,
    pub(crate) actions: workers::ActionsConfig,
    pub(crate) dispatcher: workers::DispatcherConfig,
    pub(crate) sweeper: workers::SweeperConfig,
    pub(crate) replay: workers::ReplayConfig,
    pub(crate) notify: notify::NotifyConfig,
    pub(crate) alerts: Vec<notify::AlertConfig>,
    pub(crate) providers: BTreeMap<String, provider::ProviderConfig>,
    pub(crate) flows: BTreeMap<String, flow::FlowConfig>,
    pub(crate) n8n: Option<n8n::N8nConfig>,
    pub(crate) auth: people::PeopleConfig,
    pub(crate) sources: BTreeMap<String, source::SourceConfig>,
}
