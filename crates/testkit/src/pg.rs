//! A private PostgreSQL for tests: the installed server's binaries, a data directory of its own, a unix socket and a
//! free port on 127.0.0.1. A test gets a fresh database, not a fresh server.
//!
//! What lives here: finding the binaries, `initdb`, start and stop. What does not: any knowledge of the schema. The
//! server runs under a small shell that waits on a pipe: when the test process ends, in whatever way, the pipe closes
//! and the shell stops the server and removes its files, so that no test leaves one behind.

mod server;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use server::Server;

/// The address of a running server to use instead of a private one; only databases are made there, and left.
pub const URL_VARIABLE: &str = "EFFECTGATE_TEST_PG_URL";
/// With the value `1` a missing PostgreSQL fails tests that would otherwise say that they were skipped.
pub const REQUIRE_VARIABLE: &str = "EFFECTGATE_REQUIRE_PG";

/// Why there is no PostgreSQL.
#[derive(Debug)]
pub enum PgError {
    /// No server binaries were found in the places named.
    NotInstalled {
        searched: Vec<PathBuf>,
    },
    /// A step failed; `said` is what the program wrote.
    Failed {
        step: &'static str,
        said: String,
    },
    Io {
        step: &'static str,
        source: io::Error,
    },
    Sql {
        step: &'static str,
        source: tokio_postgres::Error,
    },
}

impl std::fmt::Display for PgError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotInstalled { searched } => write!(f, "no PostgreSQL server binaries in {searched:?}"),
            Self::Failed { step, said } => write!(f, "{step} failed: {said}"),
            Self::Io { step, source } => write!(f, "{step} failed: {source}"),
            Self::Sql { step, source } => write!(f, "{step} failed: {source:?}"),
        }
    }
}

impl std::error::Error for PgError {}

/// How the server is set up.
#[derive(Debug, Clone, Default)]
pub struct PgOptions {
    /// True: nothing is flushed. Faster, and worthless for tests of durability.
    pub no_fsync: bool,
    /// Further settings, as `name=value`.
    pub settings: Vec<String>,
}

/// A PostgreSQL server of this test alone. Stopped and removed on drop.
pub struct PrivatePg {
    server: Server,
    databases: AtomicU32,
}

impl PrivatePg {
    /// Starts a server that flushes its commits.
    ///
    /// # Errors
    /// [`PgError::NotInstalled`] if there are no binaries; the other variants if a step failed.
    pub fn start() -> Result<Self, PgError> {
        Self::start_with(PgOptions::default())
    }

    /// Starts a server with options.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with(options: PgOptions) -> Result<Self, PgError> {
        let server = Server::create(&find_binaries()?, options)?;
        Ok(Self { server, databases: AtomicU32::new(0) })
    }

    /// The URL of a database over TCP.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{}@127.0.0.1:{}/{database}", server::USER, self.server.port())
    }

    /// The URL of a database over the unix socket.
    #[must_use]
    pub fn socket_url(&self, database: &str) -> String {
        let dir = self.server.socket_dir().display().to_string().replace('/', "%2F");
        format!("postgres://{}@{dir}:{}/{database}", server::USER, self.server.port())
    }

    /// Makes an empty database and gives its URL.
    ///
    /// # Errors
    /// [`PgError::Sql`] if the server refused.
    pub async fn create_database(&self) -> Result<String, PgError> {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        create(&self.url("postgres"), &name).await?;
        Ok(self.url(&name))
    }

    /// Where its files are; for tests that change them while it is stopped.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.server.data()
    }

    /// Stops the server in good order (fast shutdown). Files and port are kept for [`restart`](Self::restart).
    pub fn stop(&mut self) {
        self.server.end("INT");
    }

    /// Ends the server as a crash would: no checkpoint, connections cut.
    pub fn kill(&mut self) {
        self.server.end("QUIT");
    }

    /// Starts it again on the same files and port.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn restart(&mut self) -> Result<(), PgError> {
        self.server.end("INT");
        self.server.run()
    }
}

/// The server that all tests of one process share: private, or the one that [`URL_VARIABLE`] names.
pub enum SharedPg {
    Private(PrivatePg),
    Given { url: String },
}

impl SharedPg {
    /// The shared server, started by the first caller.
    ///
    /// # Errors
    /// As [`PrivatePg::start`], the same answer for every caller.
    pub fn get() -> Result<&'static Self, &'static PgError> {
        static SHARED: OnceLock<Result<SharedPg, PgError>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| match std::env::var(URL_VARIABLE) {
            Ok(url) => Ok(Self::Given { url }),
            Err(_) => PrivatePg::start().map(Self::Private),
        });
        shared.as_ref()
    }

    /// Makes an empty database and gives its URL.
    ///
    /// # Errors
    /// [`PgError::Sql`] if the server refused.
    pub async fn create_database(&self) -> Result<String, PgError> {
        match self {
            Self::Private(server) => server.create_database().await,
            Self::Given { url } => create_beside(url).await,
        }
    }
}

/// An empty database on the shared server; `None` (and a line that says so) if there is no PostgreSQL and none is
/// required.
///
/// # Panics
/// If there is none and [`REQUIRE_VARIABLE`] is 1, or the server is broken: a test that must run cannot.
pub async fn test_database() -> Option<String> {
    // Starting takes a second or two of waiting on programs: not on the runtime's threads.
    let shared = tokio::task::spawn_blocking(SharedPg::get).await.expect("starting a server does not panic");
    match shared {
        Ok(server) => Some(server.create_database().await.unwrap_or_else(|e| panic!("{e}"))),
        Err(e) => skip(e),
    }
}

/// A server of this test alone, for tests that stop it; `None` under the same conditions as [`test_database`].
///
/// # Panics
/// As [`test_database`].
pub async fn test_server(options: PgOptions) -> Option<PrivatePg> {
    let started = tokio::task::spawn_blocking(|| PrivatePg::start_with(options)).await;
    match started.expect("starting a server does not panic") {
        Ok(server) => Some(server),
        Err(e) => skip(&e),
    }
}

fn skip<T>(error: &PgError) -> Option<T> {
    let missing = matches!(error, PgError::NotInstalled { .. });
    let required = std::env::var(REQUIRE_VARIABLE).is_ok_and(|v| v == "1");
    assert!(missing && !required, "{error}");
    eprintln!("skipped: no PostgreSQL ({error})");
    None
}

/// Makes a database on a given server, with a name that no other test process uses.
#[expect(clippy::disallowed_methods, reason = "a name for a database that no earlier test run used")]
async fn create_beside(url: &str) -> Result<String, PgError> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_micros());
    let name = format!("test_{}_{since}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    create(url, &name).await?;
    let (front, query) = url.split_once('?').map_or((url, String::new()), |(f, q)| (f, format!("?{q}")));
    let front = front.rsplit_once('/').map_or(front, |(before, _)| before);
    Ok(format!("{front}/{name}{query}"))
}

async fn create(admin_url: &str, name: &str) -> Result<(), PgError> {
    let step = "create database";
    let sql = |source| PgError::Sql { step, source };
    let (client, connection) = tokio_postgres::connect(admin_url, tokio_postgres::NoTls).await.map_err(sql)?;
    let driver = tokio::spawn(connection);
    let made = client.batch_execute(&format!("CREATE DATABASE \"{name}\" TEMPLATE template0")).await;
    drop(client);
    let _ = driver.await;
    made.map_err(sql)
}

/// The newest installed server's directory of binaries.
fn find_binaries() -> Result<PathBuf, PgError> {
    let mut searched: Vec<PathBuf> = versions(Path::new("/usr/lib/postgresql"));
    searched.extend(pg_config_bindir());
    searched.extend(["/usr/local/pgsql/bin", "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"].map(PathBuf::from));
    let found = searched.iter().find(|dir| dir.join("postgres").is_file() && dir.join("initdb").is_file());
    found.cloned().ok_or(PgError::NotInstalled { searched })
}

/// Debian keeps one directory for each major version.
fn versions(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut numbered: Vec<(u32, PathBuf)> =
        entries.filter_map(|e| Some((e.file_name().to_str()?.parse().ok()?, e.path().join("bin")))).collect();
    numbered.sort();
    numbered.into_iter().rev().map(|(_, path)| path).collect()
}

fn pg_config_bindir() -> Option<PathBuf> {
    let output = std::process::Command::new("pg_config").arg("--bindir").output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}
