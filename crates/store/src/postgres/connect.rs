//! From a URL to connections: what the URL may say, how long anything waits, and the connections that this twin drives
//! itself ([`Link`]) because it must hear the server's warnings. Reads use pooled ones ([`super::pool`]).

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{task::JoinHandle, time::timeout};
use tokio_postgres::{
    AsyncMessage, Client, Config, Row, Statement,
    config::{Host, SslMode, TargetSessionAttrs},
    types::ToSql,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    tls::{self, Trust},
    tx::said,
};
use crate::{Result, StoreError};

/// One host that does not answer must not keep callers waiting; a TCP handshake takes three times the distance.
const CONNECT_WAIT: Duration = Duration::from_secs(2);
/// TLS, password and the first statements, for all hosts together.
const SESSION_WAIT: Duration = Duration::from_secs(5);
/// A connection whose other end is gone is noticed after about 5 + 3 × 2 seconds.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
const KEEPALIVE_RETRIES: u32 = 3;
/// Bytes that nobody acknowledged for so long: the other end is gone.
const UNACKNOWLEDGED_WAIT: Duration = Duration::from_secs(10);

/// Where the database is and how to speak to it.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
    /// The address without user and password, for messages.
    pub(super) shown: String,
}

impl Target {
    /// Reads a `postgres://` URL: several hosts, unix sockets, `options`, `application_name` as in libpq; `sslmode` and
    /// `sslrootcert` as in [`super::tls`].
    ///
    /// # Errors
    /// [`StoreError::Open`]; the message never repeats the URL, which may hold a password.
    pub(super) fn parse(url: &str) -> Result<Self> {
        let open = |what: String| StoreError::Open { url: without_secrets(url), what };
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(open("not a postgres:// URL".into()));
        }
        let (plain, trust) = split_tls(url);
        let mut config: Config = plain.parse().map_err(|e: tokio_postgres::Error| open(said(&e)))?;
        if trust != Trust::Anyone {
            config.ssl_mode(SslMode::Require);
        }
        complete(&mut config);
        Ok(Self { config, tls: tls::connector(&trust).map_err(open)?, shown: without_secrets(url) })
    }

    /// Connects and prepares the session for writing.
    pub(super) async fn link(&self) -> Result<Link> {
        let mut link = self.connect(|_| {}).await?;
        link.client.batch_execute(SESSION).await.map_err(|e| self.unavailable(&said(&e)))?;
        let identity = link.client.query_one(IDENTITY, &[]).await.map_err(|e| self.unavailable(&said(&e)))?;
        let identity = Identity {
            pid: super::tx::computed(&identity, 0)?,
            backend_since: super::tx::computed(&identity, 1)?,
            server_since: super::tx::computed(&identity, 2)?,
        };
        link.identity = Some(identity);
        Ok(link)
    }

    /// Connects; `hear` is told every notification, on the connection's own task.
    pub(super) async fn connect(
        &self,
        mut hear: impl FnMut(&tokio_postgres::Notification) + Send + 'static,
    ) -> Result<Link> {
        let connecting = self.config.connect(self.tls.clone());
        let (client, mut connection) = timeout(SESSION_WAIT, connecting)
            .await
            .map_err(|_| self.unavailable("no answer in time"))?
            .map_err(|e| self.unavailable(&said(&e)))?;
        let unreplicated = Arc::new(AtomicBool::new(false));
        let warned = Arc::clone(&unreplicated);
        let driver = tokio::spawn(async move {
            // The message before the answer is heard before the answer is handed out.
            while let Some(Ok(message)) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
                match message {
                    AsyncMessage::Notice(notice) if is_warning(&notice) => {
                        tracing::warn!(code = notice.code().code(), message = notice.message(), "the database warns");
                        warned.store(true, Ordering::SeqCst);
                    }
                    AsyncMessage::Notification(notification) => hear(&notification),
                    _ => {}
                }
            }
        });
        Ok(Link { client, unreplicated, driver, identity: None, statements: HashMap::new() })
    }

    pub(super) fn unavailable(&self, what: &str) -> StoreError {
        StoreError::Unavailable { what: format!("{}: {what}", self.shown) }
    }
}

/// "canceling wait for synchronous replication" is a warning of class 01 (or 57P01 where the session ends with it);
/// its text is translated, its code is not. No other statement of a writer's session raises one.
fn is_warning(notice: &tokio_postgres::error::DbError) -> bool {
    let severe = !matches!(notice.severity(), "NOTICE" | "INFO" | "LOG" | "DEBUG");
    severe && matches!(notice.code().code().get(..2), Some("01" | "57"))
}

/// `jit`: with sequential scans priced out, a rare plan looks dear enough to be compiled, for a second. `lock_timeout`:
/// a row that someone else holds must not stop everybody's batches for good; nothing of the statement is committed
/// then. `statement_timeout` must not cancel a commit. `enable_seqscan`, `plan_cache_mode`: batches look rows up by
/// key, whatever the planner believes of a table that has just begun to grow.
const SESSION: &str =
    "SET jit = off; SET lock_timeout = '10s'; SET statement_timeout = 0; SET idle_session_timeout = 0;
SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off";
const IDENTITY: &str = "SELECT pid, extract(epoch FROM backend_start)::text,
  extract(epoch FROM pg_postmaster_start_time())::text FROM pg_stat_activity
WHERE pid = pg_backend_pid()";

/// Which server process stood behind a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pid: i32,
    backend_since: Option<String>,
    server_since: String,
}

/// A connection that hears the server's warnings.
pub(super) struct Link {
    pub(super) client: Client,
    /// Set when the server said that a commit was not replicated as it should be.
    unreplicated: Arc<AtomicBool>,
    driver: JoinHandle<()>,
    identity: Option<Identity>,
    statements: HashMap<&'static str, Statement>,
}

const STILL_THERE: &str = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity
  WHERE pid = $1 AND extract(epoch FROM backend_start)::text IS NOT DISTINCT FROM $2)
  AND extract(epoch FROM pg_postmaster_start_time())::text = $3";

impl Link {
    /// Runs a statement, prepared once for each connection.
    pub(super) async fn query(
        &mut self,
        sql: &'static str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let statement = match self.statements.get(sql) {
            Some(statement) => statement.clone(),
            None => {
                let statement = self.client.prepare(sql).await?;
                self.statements.insert(sql, statement.clone());
                statement
            }
        };
        self.client.query(&statement, params).await
    }

    /// Runs a statement and says how many rows it changed.
    pub(super) async fn run(
        &mut self,
        sql: &'static str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, tokio_postgres::Error> {
        self.client.execute(sql, params).await
    }

    /// True once after a commit whose wait for a standby was cancelled.
    pub(super) fn take_unreplicated(&self) -> bool {
        self.unreplicated.swap(false, Ordering::SeqCst)
    }

    pub(super) fn identity(&self) -> Option<Identity> {
        self.identity.clone()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Ends when the connection does.
    pub(super) async fn closed(&mut self) {
        let _ = (&mut self.driver).await;
    }

    /// True if the process behind a connection that was lost may still be at work. Only the same server can tell;
    /// on another one (a promoted standby) the lost connection's work is not going to appear any more.
    pub(super) async fn may_be_at_work(&mut self, lost: &Identity) -> Result<bool, tokio_postgres::Error> {
        let params: [&(dyn ToSql + Sync); 3] = [&lost.pid, &lost.backend_since, &lost.server_since];
        let rows = self.query(STILL_THERE, &params).await?;
        Ok(rows.first().is_none_or(|row| row.get(0)))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Fills in what the URL left open.
fn complete(config: &mut Config) {
    if config.get_application_name().is_none() {
        config.application_name("effectgate");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_WAIT);
    }
    config.keepalives(true).keepalives_idle(KEEPALIVE_IDLE).keepalives_interval(KEEPALIVE_INTERVAL);
    config.keepalives_retries(KEEPALIVE_RETRIES).tcp_user_timeout(UNACKNOWLEDGED_WAIT);
    // Refuses a server in recovery (and one that is read-only), with one host as with several: what a standby answers
    // is old, and what is written to a demoted primary is lost.
    config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    if config.get_hosts().iter().all(is_socket) {
        config.ssl_mode(SslMode::Disable);
    }
}

fn is_socket(host: &Host) -> bool {
    !matches!(host, Host::Tcp(_))
}

/// Takes `sslrootcert` and the words of `sslmode` that the driver does not know out of the URL.
fn split_tls(url: &str) -> (String, Trust) {
    let Some((front, query)) = url.split_once('?') else { return (url.to_owned(), Trust::Anyone) };
    let mut kept = Vec::new();
    let mut trust = Trust::Anyone;
    let mut file = None;
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", "verify-ca" | "verify-full")) => trust = Trust::System,
            Some(("sslmode", "allow")) => kept.push("sslmode=prefer"),
            Some(("sslrootcert", path)) => file = Some(path.replace("%2F", "/").replace("%2f", "/")),
            _ => kept.push(pair),
        }
    }
    let encrypted = !kept.contains(&"sslmode=disable");
    if let Some(path) = file.filter(|_| encrypted) {
        trust = if path == "system" { Trust::System } else { Trust::File(path) };
    }
    (format!("{front}?{}", kept.join("&")), trust)
}

/// The URL's hosts and database: neither user nor password nor parameters.
fn without_secrets(url: &str) -> String {
    let front = url.split('?').next().unwrap_or_default();
    let (scheme, rest) = front.split_once("://").unwrap_or(("", front));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, hosts)| hosts);
    if scheme.is_empty() { "the database".to_owned() } else { format!("{scheme}://{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_sslmode_say_whose_certificate_is_taken() {
        let table = [
            ("postgres://h/db", Trust::Anyone, SslMode::Prefer),
            ("postgres://h/db?sslmode=require", Trust::Anyone, SslMode::Require),
            ("postgres://h/db?sslmode=verify-full", Trust::System, SslMode::Require),
            ("postgres://h/db?sslmode=disable&sslrootcert=/x", Trust::Anyone, SslMode::Disable),
            ("postgres://%2Ftmp/db", Trust::Anyone, SslMode::Disable),
        ];
        for (url, wanted, mode) in table {
            assert_eq!(split_tls(url).1, wanted, "{url}");
            if wanted == Trust::Anyone {
                assert_eq!(Target::parse(url).unwrap().config.get_ssl_mode(), mode, "{url}");
            }
        }
        assert_eq!(split_tls("postgres://h/?sslrootcert=%2Fca.pem").1, Trust::File("/ca.pem".into()));
    }

    #[test]
    fn a_message_never_repeats_the_password() {
        let url = "postgres://me:s3cret@a:1,b:2/db?password=s3cret&nonsense=1";

        let refused = Target::parse(url).err().unwrap().to_string();

        assert!(!refused.contains("s3cret"), "{refused}");
        assert!(refused.contains("postgres://a:1,b:2/db"), "{refused}");
    }

    #[test]
    fn several_hosts_and_options_are_understood() {
        let url = "postgres://u@a:1,b:2/db?options=-c%20default_transaction_isolation%3Dserializable";

        let target = Target::parse(url).unwrap();

        assert_eq!(target.config.get_hosts().len(), 2);
        assert_eq!(target.config.get_options(), Some("-c default_transaction_isolation=serializable"));
        assert_eq!(target.config.get_application_name(), Some("effectgate"));
    }
}
