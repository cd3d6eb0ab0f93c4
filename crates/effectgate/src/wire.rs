//! Puts the server together: config, store, engine, web. The only place that names a concrete store. What runs and for
//! how long is the commands' business.

use std::{path::Path, sync::Arc};

use effectgate_engine::{Engine, clock::SystemClock, policy::Policy};
use effectgate_store::{PgOptions, PgStore, SqliteOptions, SqliteStore, Store, StoreError};
use effectgate_web::{App, WebSettings};
use secrecy::ExposeSecret as _;

use crate::{
    config::{ConfigErrors, DatabaseSettings, Environment, Loaded, PeopleSettings, Resolved, ServerSettings, load},
    exit::{Exit, Failure, Result},
    single_sign_on::single_sign_on,
};

/// The tenant of a house that has only one.
pub(crate) const TENANT: &str = "default";
/// What is read where no config is named.
const FILE: &str = "effectgate.toml";

/// Reads the config: the file that was named, else `effectgate.toml` if it is here, else defaults.
///
/// # Errors
/// It cannot be read.
pub(crate) fn read_config(named: Option<&Path>) -> Result<Loaded> {
    read_config_in(named, Environment::of_process())
}

/// The same in an environment of the caller's.
pub(crate) fn read_config_in(named: Option<&Path>, environment: Environment) -> Result<Loaded> {
    let here = Some(Path::new(FILE)).filter(|path| path.exists());
    Ok(load(named.or(here), environment)?)
}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Self {
        Self::new(Exit::Refused, "bad_config", &errors).hint("`effectgate check` reads it again.")
    }
}

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// As the server: migrates first; on SQLite nobody else may.
    Serve,
    /// For the few writes of the command line, whether a server runs or not.
    Beside,
    /// Nothing is written.
    Read,
}

/// Opens the database of a config.
///
/// # Errors
/// It cannot be reached, is in use, or is newer than this binary.
pub(crate) async fn open(database: &DatabaseSettings, access: Access) -> Result<Arc<dyn Store>> {
    match database {
        DatabaseSettings::Sqlite { path, batch_max } => {
            let (path, batch_max) = (path.clone(), *batch_max);
            let opened = tokio::task::spawn_blocking(move || open_sqlite(&path, batch_max, access)).await;
            Ok(Arc::new(opened.map_err(Failure::failed)??))
        }
        DatabaseSettings::Postgres { url, connections_max } => {
            Ok(Arc::new(open_postgres(url.expose_secret(), *connections_max, access).await?))
        }
    }
}

/// Opening a file migrates it and starts threads: not on the runtime's own.
fn open_sqlite(path: &Path, batch_max: usize, access: Access) -> Result<SqliteStore, StoreError> {
    match access {
        Access::Serve => {
            SqliteStore::open_with(path, SqliteOptions { batch_max: Some(batch_max), ..SqliteOptions::default() })
        }
        Access::Read => SqliteStore::open_read_only(path),
        // Without a server the lock is free, and a new file gets its schema; with one, the file is there and current.
        Access::Beside => match SqliteStore::open(path) {
            Err(StoreError::InUse { .. }) => SqliteStore::open_beside(path),
            opened => opened,
        },
    }
}

async fn open_postgres(url: &str, connections_max: usize, access: Access) -> Result<PgStore, StoreError> {
    match access {
        Access::Serve => PgStore::connect_with(url, PgOptions { connections_max: Some(connections_max) }).await,
        // One more client among others; the schema is brought up under its lock, as a replica would.
        Access::Beside => PgStore::connect(url).await,
        Access::Read => PgStore::connect_unmigrated(url).await,
    }
}

/// The engine over a store, on the machine's clock.
pub(crate) fn engine(store: Arc<dyn Store>, policy: Policy) -> Engine {
    Engine::new(store, policy, Arc::new(SystemClock))
}

/// An engine for commands that change keys and people directly on the database.
pub(crate) async fn beside(named: Option<&Path>) -> Result<Engine> {
    over(named, Access::Beside).await
}

/// An engine for commands that only read.
pub(crate) async fn reader(named: Option<&Path>) -> Result<Engine> {
    over(named, Access::Read).await
}

async fn over(named: Option<&Path>, access: Access) -> Result<Engine> {
    let Resolved { policy, database, .. } = read_config(named)?.resolve()?;
    Ok(engine(open(&database, access).await?, policy))
}

/// The web room, with the ways in which people sign in.
pub(crate) fn app(engine: &Engine, server: &ServerSettings, people: PeopleSettings, public_url: &str) -> App {
    let app = App::new(engine.clone(), web_settings(server, &people, public_url));
    match people.oidc {
        Some(oidc) => app.with_single_sign_on(single_sign_on(oidc, public_url)),
        None => app,
    }
}

fn web_settings(server: &ServerSettings, people: &PeopleSettings, public_url: &str) -> WebSettings {
    WebSettings {
        public_url: public_url.to_owned(),
        body_bytes_max: server.body_bytes_max,
        connections_max: server.connections_max,
        header_timeout_ms: u64::try_from(server.header_timeout.as_millis()).unwrap_or(u64::MAX),
        // A cookie that is only sent over TLS would never come back over plain HTTP.
        cookie_secure: public_url.starts_with("https://"),
        tenant: TENANT.to_owned(),
        local_accounts: people.local_accounts,
        sessions: people.sessions,
        lockout: people.lockout,
        requests_per_second_max: server.requests_per_second_max,
        tool_wait_ms: server.tool_wait_ms,
        trusted_proxies: server.trusted_proxies.clone(),
        ..WebSettings::default()
    }
}
