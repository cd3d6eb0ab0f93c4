//! Providers: do their hosts resolve, and does a mail host greet. No request is made: a provider may count those.

use std::time::Duration;

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::{TcpStream, lookup_host},
    time::timeout,
};
use url::Url;

use super::Finding;
use crate::config::{Config, ProviderConfig, TlsWord};

/// A resolver that is asked about a host of ours answers in milliseconds; a mail host may look us up first.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn look(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, provider) in &config.providers {
        let what = format!("provider {name}");
        findings.push(match place(provider) {
            None => Finding::warn(what, "its host cannot be read from the config", "Look at its section."),
            Some(place) => one(what, &place).await,
        });
    }
    findings
}

/// Where a provider is.
struct Place {
    host: String,
    port: u16,
    /// A mail host that greets in clear.
    greets: bool,
}

fn place(provider: &ProviderConfig) -> Option<Place> {
    if let Some(url) = &provider.url {
        let url = Url::parse(url).ok()?;
        let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
        return Some(Place { host, port: url.port_or_known_default()?, greets: false });
    }
    let tls = provider.tls.unwrap_or(TlsWord::Starttls);
    let usual = match tls {
        TlsWord::None => 25,
        TlsWord::Starttls => 587,
        TlsWord::Tls => 465,
    };
    let port = provider.port.map_or(Some(usual), |port| u16::try_from(port).ok())?;
    Some(Place { host: provider.host.clone()?, port, greets: tls != TlsWord::Tls })
}

async fn one(what: String, place: &Place) -> Finding {
    let Place { host, port, greets } = place;
    let found = timeout(PATIENCE, lookup_host((host.as_str(), *port))).await;
    let resolves = found.is_ok_and(|found| found.is_ok_and(|mut addresses| addresses.next().is_some()));
    if !resolves {
        return Finding::fail(what, format!("{host} does not resolve"), "Check the name, and this machine's resolver.");
    }
    if !greets {
        return Finding::ok(what, format!("{host} resolves"));
    }
    match timeout(PATIENCE, greeting(host, *port)).await {
        Ok(Ok(line)) if line.starts_with("220") => Finding::ok(what, format!("{host}:{port} greets")),
        Ok(Ok(line)) => {
            let line: String = line.trim().chars().take(100).collect();
            Finding::fail(
                what,
                format!("{host}:{port} greets with {line:?}"),
                "Is this a mail host, and may we use it?",
            )
        }
        Ok(Err(error)) => Finding::fail(what, format!("{host}:{port}: {error}"), "Check host, port and firewall."),
        Err(_) => Finding::fail(what, format!("{host}:{port} says nothing"), "Check host, port, firewall and tls."),
    }
}

async fn greeting(host: &str, port: u16) -> std::io::Result<String> {
    let mut line = String::new();
    BufReader::new(TcpStream::connect((host, port)).await?).read_line(&mut line).await?;
    Ok(line)
}
