//! From what the file says to what the engine goes by. Every section is judged, whatever was wrong with the one before;
//! either the whole policy comes out, or all faults do.

mod approval;
mod budget;
mod deliver;
mod effect;
mod flow;
mod http;
mod judge;
mod n8n;
mod notify;
mod out;
mod people;
mod provider;
mod record;
mod retention;
mod revision;
mod server;
mod smtp;
mod sources;

use std::{net::SocketAddr, path::Path, path::PathBuf, time::Duration};

use effectgate_core::switch::Ceiling;
use effectgate_engine::policy::Policy;
use effectgate_web::auth::proxies::Network;
use secrecy::SecretString;

use super::{Config, Environment, error::ConfigErrors};
use judge::Judge;
pub(crate) use people::{OidcSettings, PeopleSettings};

/// A config that may start.
pub(crate) struct Resolved {
    pub(crate) policy: Policy,
    pub(crate) server: ServerSettings,
    pub(crate) database: DatabaseSettings,
    pub(crate) people: PeopleSettings,
    /// What a person should know, such as sections that are accepted and not in force yet.
    pub(crate) notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    pub(crate) listen: SocketAddr,
    pub(crate) body_bytes_max: usize,
    pub(crate) connections_max: usize,
    pub(crate) header_timeout: Duration,
    pub(crate) trusted_proxies: Vec<Network>,
    /// For one API key.
    pub(crate) requests_per_second_max: u32,
    pub(crate) tool_wait_ms: u64,
}

#[derive(Debug, Clone)]
pub(crate) enum DatabaseSettings {
    Sqlite { path: PathBuf, batch_max: usize },
    Postgres { url: SecretString, connections_max: usize },
}

/// Judges a config. `folder` is where its relative paths start.
///
/// # Errors
/// Every fault: where, what, and what to change.
pub(crate) fn resolve(config: &Config, folder: &Path, environment: &Environment) -> Result<Resolved, ConfigErrors> {
    let mut judge = Judge::new(folder, environment);
    let server = server::server(&mut judge, &config.server);
    let database = server::database(&mut judge, &config.database);
    let public_url = server::public_url(&mut judge, &config.server);
    let dispatcher = server::dispatcher(&mut judge, &config.dispatcher);
    let sweeper = server::sweeper(&mut judge, &config.sweeper);
    let replay = server::replay(&mut judge, &config.replay);
    let ceiling = Ceiling::from(judge.variable("AI_ACTIONS_ENABLED"), config.actions.enabled);
    if ceiling == Ceiling::Off {
        judge.note("actions.enabled", "actions are off: effects are queued and none is sent");
    }
    let whole = out::with_made_flows(&mut judge, config);
    let n8n = n8n::n8n(&mut judge, config.n8n.as_ref());
    let whole = n8n::with_made(&mut judge, whole);
    let config = &whole;
    let providers = provider::providers(&mut judge, config, n8n.as_ref().and_then(Option::as_ref));
    let channels = notify::channels(&mut judge, config);
    let alerts = notify::alerts(&mut judge, config);
    let flows = flow::flows(&mut judge, config);
    let budgets = budget::budgets(&mut judge, config);
    let people = people::people(&mut judge, &config.auth);
    let sources = sources::sources(&mut judge, config);
    let whole = (|| {
        let policy = Policy {
            flows: flows?,
            providers: providers?,
            sources,
            budgets,
            ceiling,
            public_url: public_url?,
            channels,
            alerts,
            dispatcher,
            sweeper,
            replay,
            n8n: n8n?,
        };
        Some((policy, server?, database?, people?))
    })();
    let ((policy, server, database, people), notes) = judge.finish(whole)?;
    Ok(Resolved { policy, server, database, people, notes })
}
