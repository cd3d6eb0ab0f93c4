//! Who is at the other end when a reverse proxy stands in between: bounds of tries are by address, and behind a proxy
//! everybody would share one, so that a stranger's refused tries would shut the door for the whole house.
//!
//! `X-Forwarded-For` is believed only from the proxies that the config names, and read from its right end: what stands
//! further left than the first address that is no proxy of ours was written by whoever came.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::Response,
};
use http::HeaderMap;

use crate::app::App;

/// One address, or a network as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// Leading bits that count.
    bits: u32,
}

impl FromStr for Network {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(drop)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).map_err(drop)?;
        if bits <= most { Ok(Self { address: address.to_canonical(), bits }) } else { Err(()) }
    }
}

impl Network {
    fn holds(&self, other: IpAddr) -> bool {
        match (self.address, other) {
            (IpAddr::V4(own), IpAddr::V4(other)) => (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.bits,
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.bits,
            _ => false,
        }
    }
}

/// Puts the visitor's address in the place of the proxy's, for every handler behind it.
pub(crate) async fn see_through(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let proxies = &app.settings.trusted_proxies;
    if !proxies.is_empty()
        && let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied()
    {
        let visitor = visitor(peer.ip(), request.headers(), proxies);
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(visitor, peer.port())));
    }
    next.run(request).await
}

/// The last address on the way here that is no proxy of ours. A word that is no address ends the look: nothing left of
/// it can be believed.
fn visitor(peer: IpAddr, headers: &HeaderMap, proxies: &[Network]) -> IpAddr {
    let is_ours = |address: &IpAddr| proxies.iter().any(|proxy| proxy.holds(*address));
    let mut seen = peer.to_canonical();
    let lines: Vec<&str> = headers.get_all("x-forwarded-for").iter().filter_map(|line| line.to_str().ok()).collect();
    for word in lines.iter().flat_map(|line| line.split(',')).rev() {
        if !is_ours(&seen) {
            break;
        }
        let Some(address) = address(word.trim()) else { break };
        seen = address;
    }
    seen
}

/// An address as proxies write it: bare, in brackets, or with a port.
fn address(word: &str) -> Option<IpAddr> {
    let with_port = || word.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    let in_brackets = || word.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    word.parse().ok().or_else(with_port).or_else(in_brackets).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn seen(peer: &str, lines: &[&'static str], proxies: &[&str]) -> String {
        let line =
            |line: &&'static str| (http::HeaderName::from_static("x-forwarded-for"), HeaderValue::from_static(line));
        let headers: HeaderMap = lines.iter().map(line).collect();
        let proxies: Vec<Network> = proxies.iter().map(|text| text.parse().unwrap()).collect();
        visitor(peer.parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn only_a_proxy_that_is_named_is_believed_and_only_about_who_came_to_it() {
        let table: [(&str, &[&'static str], &[&str], &str); 9] = [
            // Nobody is trusted, or somebody else is.
            ("10.0.0.5", &["203.0.113.7"], &[], "10.0.0.5"),
            ("198.51.100.1", &["203.0.113.7"], &["10.0.0.0/8"], "198.51.100.1"),
            // One proxy; what a visitor wrote before it does not count.
            ("10.0.0.5", &["203.0.113.7"], &["10.0.0.5"], "203.0.113.7"),
            ("10.0.0.5", &["1.1.1.1, 203.0.113.7"], &["10.0.0.5"], "203.0.113.7"),
            ("10.0.0.5", &["10.0.0.5", "203.0.113.7"], &["10.0.0.5"], "203.0.113.7"),
            // Two of them, over several lines, with ports and brackets.
            ("::ffff:10.0.0.5", &["203.0.113.7:4711", "10.0.0.6"], &["10.0.0.0/8"], "203.0.113.7"),
            ("10.0.0.5", &["[2001:db8::7]"], &["10.0.0.0/8"], "2001:db8::7"),
            // Nothing to read.
            ("10.0.0.5", &[], &["10.0.0.0/8"], "10.0.0.5"),
            ("10.0.0.5", &["203.0.113.7, unknown"], &["10.0.0.0/8"], "10.0.0.5"),
        ];
        for (peer, lines, proxies, expected) in table {
            assert_eq!(seen(peer, lines, proxies), expected, "{peer} {lines:?} {proxies:?}");
        }
    }

    #[test]
    fn a_network_has_an_address_and_as_many_bits_as_that_has() {
        for sound in ["10.0.0.5", "10.0.0.0/8", "0.0.0.0/0", "::1", "fd00::/8"] {
            assert!(sound.parse::<Network>().is_ok(), "{sound}");
        }
        for bad in ["", "10.0.0", "10.0.0.0/33", "::/129", "proxy.test", "10.0.0.0/", "10.0.0.0/-1"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }
}
