//! `[server]` and `[database]`: where it listens, what it lets in, where it keeps things.

use std::path::PathBuf;

use serde::{Deserialize, Serialize, Serializer};
use url::Url;

use super::secret::Secret;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerConfig {
    /// Default `127.0.0.1:8787`: only this machine, until somebody decides otherwise.
    pub(crate) listen: String,
    /// Links in mails and chat are built from this. Default: `http://` and `listen`.
    pub(crate) public_url: Option<String>,
    /// Default 1 MiB: a payload is an event and not a file; each body is in memory as a whole.
    pub(crate) body_bytes_max: i64,
    /// Default 768: below the usual soft limit of 1,024 open files, with room for the database and effects.
    pub(crate) connections_max: i64,
    /// Default 10 s: the head of a request fits one packet; who takes longer holds a connection for nothing.
    pub(crate) header_timeout_ms: i64,
    /// Reverse proxies in front of this server, as addresses or networks (`10.0.0.0/8`): what they write into
    /// `X-Forwarded-For` is who came. Default none. Behind a proxy that is not named everybody has its address, and
    /// bounds by address bound everybody together.
    pub(crate) trusted_proxies: Vec<String>,
    /// For one API key, in each replica. Default 50,000: above what one node was measured to do, so it stops only a
    /// loop; lower it to share a node among callers.
    pub(crate) requests_per_second_max: i64,
    /// How long a call of a tool waits for its outcome. Default 20 s: a third of the minute that n8n gives a tool.
    pub(crate) tool_wait_ms: i64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8787".to_owned(),
            public_url: None,
            body_bytes_max: 1_048_576,
            connections_max: 768,
            header_timeout_ms: 10_000,
            trusted_proxies: Vec::new(),
            requests_per_second_max: 50_000,
            tool_wait_ms: 20_000,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DatabaseConfig {
    /// `sqlite:PATH` or `postgres://…`. Default `sqlite:effectgate.db`. A secret: it may carry a password.
    #[serde(serialize_with = "without_password")]
    pub(crate) url: Option<Secret>,
    pub(crate) url_file: Option<PathBuf>,
    /// PostgreSQL only. Default 16: statements are batched, so more connections only wait on the same disk.
    pub(crate) connections_max: i64,
    /// SQLite only: writes that share one commit. Default 512, beyond which there was little left to gain; 1 commits
    /// each write by itself, for comparison.
    pub(crate) batch_max: i64,
}

impl Default for DatabaseConfig {
    fn default() -> Self {
        Self { url: None, url_file: None, connections_max: 16, batch_max: 512 }
    }
}

/// Which database it is may be seen; how to get in may not. A parameter may hold a password as well, so all go.
fn without_password<S: Serializer>(url: &Option<Secret>, s: S) -> Result<S::Ok, S::Error> {
    let Some(secret) = url else { return s.serialize_none() };
    if secret.expose().starts_with("sqlite:") {
        return s.serialize_some(secret.expose());
    }
    match Url::parse(secret.expose()) {
        Ok(url) if secret.env_name().is_none() && url.has_host() => {
            s.collect_str(&format_args!("{}://***@{}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path()))
        }
        _ => s.serialize_some(secret),
    }
}
