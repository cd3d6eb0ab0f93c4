//! `[server]`, `[database]` and the workers' pace.

use std::{net::SocketAddr, time::Duration};

use effectgate_engine::{
    policy::{DispatcherPolicy, SweeperPolicy},
    replay::ReplayPolicy,
};
use effectgate_web::auth::proxies::Network;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::{
    DatabaseSettings, ServerSettings,
    judge::{Judge, unsigned},
};
use crate::config::{
    server::{DatabaseConfig, ServerConfig},
    workers::{DispatcherConfig, ReplayConfig, SweeperConfig},
};

/// A bound that only says that the number is meant.
const DAY_MS: i64 = 86_400_000;

pub(super) fn server(judge: &mut Judge<'_>, config: &ServerConfig) -> Option<ServerSettings> {
    let body = judge.within(
        "server.body_bytes_max",
        config.body_bytes_max,
        1_024,
        67_108_864,
        "Below 1 KiB no proposal fits; above 64 MiB a few callers fill the memory: send a reference instead.",
    );
    let connections = judge.within(
        "server.connections_max",
        config.connections_max,
        1,
        65_535,
        "Choose a number below the limit of open files.",
    );
    let timeout = judge.within(
        "server.header_timeout_ms",
        config.header_timeout_ms,
        100,
        120_000,
        "Between a slow network's round trips and a connection that is held for nothing.",
    );
    let rate = judge.within(
        "server.requests_per_second_max",
        config.requests_per_second_max,
        1,
        1_000_000,
        "Requests of one API key in a second; to shut a key out, revoke it.",
    );
    let tool_wait = judge.within(
        "server.tool_wait_ms",
        config.tool_wait_ms,
        0,
        55_000,
        "0 never waits; above 55 s n8n has given up, and its model reads an error instead of an answer.",
    );
    Some(ServerSettings {
        listen: listen(judge, config)?,
        body_bytes_max: unsigned(body),
        connections_max: unsigned(connections),
        header_timeout: Duration::from_millis(unsigned(timeout)),
        trusted_proxies: trusted_proxies(judge, config),
        requests_per_second_max: unsigned(rate),
        tool_wait_ms: unsigned(tool_wait),
    })
}

fn trusted_proxies(judge: &mut Judge<'_>, config: &ServerConfig) -> Vec<Network> {
    let network = |(n, text): (usize, &String)| {
        let advice = "Write an address or a network, as in 10.0.0.5 or 10.0.0.0/8.";
        let refused =
            |()| judge.refuse(&format!("server.trusted_proxies[{n}]"), format!("{text:?} is neither"), advice);
        text.parse().map_err(refused).ok()
    };
    config.trusted_proxies.iter().enumerate().filter_map(network).collect()
}

fn listen(judge: &mut Judge<'_>, config: &ServerConfig) -> Option<SocketAddr> {
    let listen = config.listen.parse();
    let what = format!("{:?} is not an address and port", config.listen);
    listen.map_err(|_| judge.refuse("server.listen", what, "Write 127.0.0.1:8787, or [::1]:8787.")).ok()
}

/// Without the trailing slash.
pub(super) fn public_url(judge: &mut Judge<'_>, config: &ServerConfig) -> Option<String> {
    let Some(text) = &config.public_url else { return Some(format!("http://{}", config.listen)) };
    let url = Url::parse(text).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
    });
    let Some(url) = url else {
        let advice = "Write the address people reach this server by, as in https://gate.example.com.";
        judge.refuse("server.public_url", format!("{text:?} cannot be the beginning of a link"), advice);
        return None;
    };
    let is_here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    if url.scheme() == "http" && !is_here {
        judge.note("server.public_url", "links and sessions go over plain http; use https in front of this server");
    }
    Some(url.as_str().trim_end_matches('/').to_owned())
}

pub(super) fn database(judge: &mut Judge<'_>, config: &DatabaseConfig) -> Option<DatabaseSettings> {
    let at = "database.url";
    let given = config.url.is_some() || config.url_file.is_some();
    let url = match judge.secret(at, config.url.as_ref(), config.url_file.as_deref()) {
        Some(url) => url,
        None if given => return None,
        None => SecretString::from("sqlite:effectgate.db"),
    };
    let connections = judge.within(
        "database.connections_max",
        config.connections_max,
        1,
        512,
        "Choose a number below what the database server allows for all replicas together.",
    );
    let batch = judge.within("database.batch_max", config.batch_max, 1, 4_096, "Choose what one transaction can bear.");
    let text = url.expose_secret();
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return Some(DatabaseSettings::Postgres { url, connections_max: unsigned(connections) });
    }
    let path = text.strip_prefix("sqlite:").map(|rest| rest.strip_prefix("//").unwrap_or(rest));
    match path {
        Some(path) if !path.is_empty() && !path.starts_with(':') => {
            Some(DatabaseSettings::Sqlite { path: judge.place(path.as_ref()), batch_max: unsigned(batch) })
        }
        Some(_) => {
            judge.refuse(
                at,
                "this is no file",
                "Name one, as in sqlite:effectgate.db: what is in memory does not last.",
            );
            None
        }
        None => {
            judge.refuse(at, "this is neither sqlite: nor postgres://", "Write sqlite:effectgate.db or postgres://….");
            None
        }
    }
}

pub(super) fn dispatcher(judge: &mut Judge<'_>, config: &DispatcherConfig) -> DispatcherPolicy {
    let workers = judge.within(
        "dispatcher.workers",
        config.workers,
        1,
        256,
        "Each worker holds a connection; to stop sending, use the switch.",
    );
    let batch = judge.within("dispatcher.batch", config.batch, 1, 1_000, "Choose a few for each worker.");
    let period = judge.within("dispatcher.period_ms", config.period_ms, 10, 60_000, PERIOD);
    DispatcherPolicy { workers: unsigned(workers), period_ms: unsigned(period), batch: unsigned(batch) }
}

pub(super) fn sweeper(judge: &mut Judge<'_>, config: &SweeperConfig) -> SweeperPolicy {
    let batch = judge.within("sweeper.batch", config.batch, 1, 10_000, "Choose what one transaction can bear.");
    let period = judge.within("sweeper.period_ms", config.period_ms, 10, 60_000, PERIOD);
    let stuck_ms = judge.within(
        "sweeper.stuck_ms",
        config.stuck_ms,
        1_000,
        90 * DAY_MS,
        "Choose the age at which a person should look.",
    );
    SweeperPolicy { period_ms: unsigned(period), batch: unsigned(batch), stuck_ms }
}

pub(super) fn replay(judge: &mut Judge<'_>, config: &ReplayConfig) -> ReplayPolicy {
    let plan_ms = judge.within(
        "replay.plan_ms",
        config.plan_ms,
        60_000,
        DAY_MS,
        "Below a minute nobody has read it; after a day the runs are not the ones that were planned.",
    );
    let kept_days =
        judge.within("replay.kept_days", config.kept_days, 1, 730, "Plans hold keys: keep them as long as needed.");
    ReplayPolicy { plan_ms, kept_ms: kept_days * DAY_MS }
}

const PERIOD: &str = "Below 10 ms it only burns the processor; above a minute leases and approvals end late.";
