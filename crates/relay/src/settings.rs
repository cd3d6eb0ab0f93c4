//! What a relay is started with, and why it does not start.

use std::{fmt, net::SocketAddr, str::FromStr};

use url::Url;

use crate::{Mode, limits};

/// How a relay is to stand.
#[derive(Debug, Clone)]
pub struct RelaySettings {
    /// Where callers connect; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Where requests go.
    pub upstream: Upstream,
    /// What happens to an exchange that no header and no rule names.
    pub mode: Mode,
    /// Allows an upstream that is neither loopback nor private.
    pub allow_public: bool,
    /// Honours the header `Effectgate-Fault`. It is never forwarded, honoured or not.
    pub header_rules: bool,
    /// Where the control listener stands (loopback only); none without.
    pub control: Option<SocketAddr>,
}

/// The provider behind the relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upstream {
    /// An `http` or `https` address. A path is put before every request's own.
    Http(Url),
    /// An SMTP server without TLS.
    Smtp { host: String, port: u16 },
}

/// Why a relay does not start.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The address of the upstream cannot be used.
    #[error("the upstream {0:?} cannot be used: {1}")]
    BadUpstream(String, &'static str),
    /// The upstream's name has no address.
    #[error("the upstream {host} cannot be found: {source}")]
    Unresolved {
        host: String,
        #[source]
        source: std::io::Error,
    },
    /// The upstream is out in the open, and nobody said that this is meant.
    #[error("{host} is {address}, which is neither loopback nor private: a fault there would be a real one")]
    PublicUpstream { host: String, address: std::net::IpAddr },
    /// The control listener decides what happens to every exchange; it is for this machine only.
    #[error("the control listener must stand on loopback, and {0} does not")]
    ControlNotLoopback(SocketAddr),
    /// An address cannot be listened on.
    #[error("{address} cannot be listened on: {source}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: std::io::Error,
    },
    /// TLS towards the upstream has nothing to check certificates with.
    #[error("TLS towards the upstream cannot be set up: {0}")]
    Tls(String),
    /// A rule that can never match.
    #[error("the rule cannot be used: {0}")]
    BadRule(&'static str),
    /// Too many rules wait.
    #[error("{max} rules wait already", max = limits::RULES_MAX)]
    TooManyRules,
}

impl RelaySettings {
    /// A relay to `upstream` on a free port of 127.0.0.1: forward and respond, private upstreams only, the header is
    /// honoured, no control listener.
    #[must_use]
    pub fn to(upstream: Upstream) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            upstream,
            mode: Mode::ForwardAndRespond,
            allow_public: false,
            header_rules: true,
            control: None,
        }
    }
}

impl Upstream {
    /// Reads an `http` or `https` address.
    ///
    /// # Errors
    /// [`RelayError::BadUpstream`] for another scheme, no host, credentials, a query or a fragment.
    pub fn http(text: &str) -> Result<Self, RelayError> {
        let bad = |why| RelayError::BadUpstream(text.to_owned(), why);
        let url = Url::parse(text).map_err(|_| bad("it is no URL"))?;
        match fault_of(&url) {
            Some(why) => Err(bad(why)),
            None => Ok(Self::Http(url)),
        }
    }

    /// Reads `HOST:PORT`.
    ///
    /// # Errors
    /// [`RelayError::BadUpstream`] where that is not its form.
    pub fn smtp(text: &str) -> Result<Self, RelayError> {
        let bad = |why| RelayError::BadUpstream(text.to_owned(), why);
        let (host, port) = text.rsplit_once(':').ok_or_else(|| bad("give HOST:PORT"))?;
        let port = u16::from_str(port).ok().filter(|port| *port > 0).ok_or_else(|| bad("the port is no port"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || host.contains(['/', '@', ' ']) {
            return Err(bad("give HOST:PORT"));
        }
        Ok(Self::Smtp { host: host.to_owned(), port })
    }

    pub(crate) fn host(&self) -> &str {
        match self {
            Self::Http(url) => url.host_str().unwrap_or_default().trim_matches(['[', ']']),
            Self::Smtp { host, .. } => host,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::Http(url) => url.port_or_known_default().unwrap_or(80),
            Self::Smtp { port, .. } => *port,
        }
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Self::Http(url) if url.scheme() == "https")
    }

    /// Checks an address that was not read by [`Upstream::http`] too.
    pub(crate) fn check(&self) -> Result<(), RelayError> {
        match self {
            Self::Http(url) => match fault_of(url) {
                Some(why) => Err(RelayError::BadUpstream(url.to_string(), why)),
                None => Ok(()),
            },
            Self::Smtp { .. } => Ok(()),
        }
    }
}

fn fault_of(url: &Url) -> Option<&'static str> {
    [
        (matches!(url.scheme(), "http" | "https"), "it must begin with http:// or https://"),
        (url.host_str().is_some(), "it has no host"),
        (url.username().is_empty() && url.password().is_none(), "it must carry no credentials"),
        (url.query().is_none() && url.fragment().is_none(), "it must have no query and no fragment"),
    ]
    .into_iter()
    .find_map(|(is_well, why)| (!is_well).then_some(why))
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(url) => f.write_str(url.as_str().trim_end_matches('/')),
            Self::Smtp { host, port } => write!(f, "smtp://{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_an_address_and_nothing_more() {
        for good in ["http://127.0.0.1:8080", "https://sandbox.example.test/v1", "http://[::1]:80/"] {
            assert!(Upstream::http(good).is_ok(), "{good}");
        }
        for bad in ["ftp://a", "http://u:p@a", "http://a?x=1", "http://a#b", "a:80", ""] {
            assert!(Upstream::http(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_smtp_upstream_is_a_host_and_a_port() {
        assert_eq!(Upstream::smtp("mail.test:25").unwrap().to_string(), "smtp://mail.test:25");
        assert_eq!(Upstream::smtp("[::1]:25").unwrap().host(), "::1");
        for bad in ["mail.test", "mail.test:0", ":25", "mail.test:x", "smtp://mail.test:25"] {
            assert!(Upstream::smtp(bad).is_err(), "{bad}");
        }
    }
}
