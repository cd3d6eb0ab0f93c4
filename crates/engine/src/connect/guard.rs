//! The egress guard: where an attempt may go. Only declared hosts, no address inside the own network unless the
//! provider says so, and the address that was checked is the one connected to (no second look-up, so a name that
//! changes its answer in between gains nothing).
//!
//! Numeric spellings (`0x7f.1`, `2130706433`) are turned into addresses by the URL rules before they are judged.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use thiserror::Error;
use url::{Host, Url};

/// Where one provider's attempts may go.
#[derive(Debug, Clone)]
pub struct EgressGuard {
    hosts: Vec<Host>,
    allow_private: bool,
}

/// A place the guard has let pass by name; its addresses are judged by [`EgressGuard::resolve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

/// Why an attempt may not go there, or could not be told where "there" is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GuardError {
    #[error("{0:?} is not a host name or address")]
    BadHost(String),
    #[error("only http and https URLs without a user or password are sent to")]
    BadUrl,
    #[error("the host {0} is not declared for this provider")]
    Undeclared(String),
    #[error("{host} leads to {address}, which is {kind}")]
    Inside { host: String, address: IpAddr, kind: &'static str },
    #[error("the name {host} could not be resolved: {detail}")]
    Unresolved { host: String, detail: String },
}

impl EgressGuard {
    /// A guard for these host names or addresses. `allow_private` lets declared hosts lead into the own network;
    /// link-local addresses (cloud metadata lives there) pass only if the address itself is declared as well.
    ///
    /// # Errors
    /// [`GuardError::BadHost`] for what is neither a name nor an address.
    pub fn new<S: AsRef<str>>(hosts: impl IntoIterator<Item = S>, allow_private: bool) -> Result<Self, GuardError> {
        let hosts = hosts.into_iter().map(|host| parse_host(host.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { hosts, allow_private })
    }

    /// Checks scheme, user part and host of a URL.
    ///
    /// # Errors
    /// [`GuardError::BadUrl`], [`GuardError::Undeclared`].
    pub fn check_url(&self, url: &Url) -> Result<Target, GuardError> {
        let is_http = matches!(url.scheme(), "http" | "https");
        if !is_http || !url.username().is_empty() || url.password().is_some() {
            return Err(GuardError::BadUrl);
        }
        let port = url.port_or_known_default().ok_or(GuardError::BadUrl)?;
        let host = url.host().ok_or(GuardError::BadUrl)?.to_owned();
        self.declared(Target { host, port })
    }

    /// Checks a host and port, for what has no URL.
    ///
    /// # Errors
    /// [`GuardError::BadHost`], [`GuardError::Undeclared`].
    pub fn check_host(&self, host: &str, port: u16) -> Result<Target, GuardError> {
        self.declared(Target { host: parse_host(host)?, port })
    }

    /// Resolves a target and judges every address of the answer; one forbidden address refuses them all.
    ///
    /// # Errors
    /// [`GuardError::Unresolved`], [`GuardError::Inside`].
    pub async fn resolve(&self, target: &Target) -> Result<Vec<SocketAddr>, GuardError> {
        let addresses = match &target.host {
            Host::Ipv4(ip) => vec![SocketAddr::from((*ip, target.port))],
            Host::Ipv6(ip) => vec![SocketAddr::from((*ip, target.port))],
            Host::Domain(name) => look_up(name, target.port).await?,
        };
        for address in &addresses {
            self.judge(target, address.ip())?;
        }
        Ok(addresses)
    }

    /// Judges a target whose address is known without a look-up: a literal one, or `localhost` (RFC 6761 section 6.3).
    /// For the start, so that a config that can never send does not run.
    ///
    /// # Errors
    /// [`GuardError::Inside`].
    pub fn check_literal(&self, target: &Target) -> Result<(), GuardError> {
        match &target.host {
            Host::Ipv4(ip) => self.judge(target, IpAddr::V4(*ip)),
            Host::Ipv6(ip) => self.judge(target, IpAddr::V6(*ip)),
            Host::Domain(name) if name == "localhost" => self.judge(target, IpAddr::V4(Ipv4Addr::LOCALHOST)),
            Host::Domain(_) => Ok(()),
        }
    }

    fn declared(&self, target: Target) -> Result<Target, GuardError> {
        if self.hosts.contains(&target.host) {
            Ok(target)
        } else {
            Err(GuardError::Undeclared(target.host.to_string()))
        }
    }

    fn judge(&self, target: &Target, address: IpAddr) -> Result<(), GuardError> {
        let is_named = match &target.host {
            Host::Ipv4(ip) => address == IpAddr::V4(*ip),
            Host::Ipv6(ip) => address == IpAddr::V6(*ip),
            Host::Domain(_) => false,
        };
        let kind = match reach_of(address) {
            Reach::Public => return Ok(()),
            Reach::Private(_) if self.allow_private => return Ok(()),
            Reach::LinkLocal if self.allow_private && is_named => return Ok(()),
            Reach::Private(kind) | Reach::Never(kind) => kind,
            Reach::LinkLocal => "link-local",
        };
        Err(GuardError::Inside { host: target.host.to_string(), address, kind })
    }
}

async fn look_up(name: &str, port: u16) -> Result<Vec<SocketAddr>, GuardError> {
    let unresolved = |detail: String| GuardError::Unresolved { host: name.to_owned(), detail };
    let found = tokio::net::lookup_host((name, port)).await.map_err(|e| unresolved(e.to_string()))?;
    let addresses: Vec<SocketAddr> = found.collect();
    if addresses.is_empty() { Err(unresolved("no address".to_owned())) } else { Ok(addresses) }
}

fn parse_host(text: &str) -> Result<Host, GuardError> {
    let bad = || GuardError::BadHost(text.to_owned());
    match text.parse::<Ipv6Addr>() {
        Ok(ip) => Ok(Host::Ipv6(ip)),
        Err(_) => Host::parse(text).map_err(|_| bad()),
    }
}

/// What kind of network an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Public,
    Private(&'static str),
    LinkLocal,
    /// No provider can live there.
    Never(&'static str),
}

fn reach_of(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(ip) => reach_of_v4(ip),
        IpAddr::V6(ip) => reach_of_v6(ip),
    }
}

/// Source: IANA IPv4 Special-Purpose Address Registry (RFC 6890 and its updates).
fn reach_of_v4(ip: Ipv4Addr) -> Reach {
    match ip.octets() {
        [0, ..] => Reach::Never("unspecified"),
        [10, ..] | [192, 168, ..] | [172, 16..=31, ..] => Reach::Private("private"),
        [100, 64..=127, ..] => Reach::Private("shared by carriers (RFC 6598)"),
        [127, ..] => Reach::Private("loopback"),
        [169, 254, ..] => Reach::LinkLocal,
        [192, 0, 0, _] | [198, 18..=19, ..] => Reach::Private("reserved for network tests or protocols"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Reach::Never("for documentation only"),
        [224..=239, ..] => Reach::Never("multicast"),
        [240..=255, ..] => Reach::Never("reserved"),
        _ => Reach::Public,
    }
}

/// Source: IANA IPv6 Special-Purpose Address Registry. Forms that carry an IPv4 address are judged by that address.
fn reach_of_v6(ip: Ipv6Addr) -> Reach {
    let s = ip.segments();
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        reach_of_v4(Ipv4Addr::new(a, b, c, d))
    };
    match s {
        [0, 0, 0, 0, 0, 0, 0, 0] => Reach::Never("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Private("loopback"),
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => embedded(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => embedded(high, low),
        [0x64, 0xff9b, 1, ..] => Reach::Private("a local translation prefix (RFC 8215)"),
        [0x2001, 0, ..] => Reach::Never("a Teredo tunnel"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => Reach::Never("for documentation only"),
        [0xfc00..=0xfdff, ..] => Reach::Private("unique local"),
        [0xfe80..=0xfebf, ..] => Reach::LinkLocal,
        [0xfec0..=0xfeff, ..] => Reach::Private("site-local"),
        [0xff00..=0xffff, ..] => Reach::Never("multicast"),
        [0x2000..=0x3fff, ..] => Reach::Public,
        _ => Reach::Never("not global unicast"),
    }
}
