//! The egress guard, as a table of places.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use effectgate_engine::connect::guard::{EgressGuard, GuardError};
use url::Url;

/// Spellings of places in the own network, or of no place at all.
const INSIDE: &[&str] = &[
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.127.255.254/",
    "http://169.254.169.254/",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.51.100.7/",
    "http://203.0.113.7/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[::]/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:10.0.0.1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:1::1]/",
    "http://[2001:db8::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://localhost/",
];

const OUTSIDE: &[&str] = &[
    "http://1.1.1.1/",
    "http://172.32.0.1/",
    "http://100.128.0.1/",
    "https://[2606:4700::1111]/",
    "http://[::ffff:1.1.1.1]/",
];

async fn judge(url: &str, allow_private: bool) -> Result<(), GuardError> {
    let url = Url::parse(url).unwrap();
    let guard = EgressGuard::new([url.host_str().unwrap().trim_matches(['[', ']'])], allow_private).unwrap();
    let target = guard.check_url(&url)?;
    guard.resolve(&target).await.map(drop)
}

#[tokio::test]
async fn the_own_network_is_refused_in_every_spelling() {
    for url in INSIDE {
        assert!(matches!(judge(url, false).await, Err(GuardError::Inside { .. })), "{url}");
    }
}

#[tokio::test]
async fn public_addresses_pass() {
    for url in OUTSIDE {
        assert_eq!(judge(url, false).await, Ok(()), "{url}");
    }
}

#[tokio::test]
async fn private_addresses_pass_only_where_allowed_and_senseless_ones_never() {
    for url in ["http://127.0.0.1/", "http://10.1.2.3/", "http://[fd00::1]/", "http://localhost/", "http://[::1]/"] {
        assert_eq!(judge(url, true).await, Ok(()), "{url}");
    }
    for url in ["http://0.0.0.0/", "http://224.0.0.1/", "http://[ff02::1]/", "http://[::]/", "http://255.255.255.255/"]
    {
        assert!(judge(url, true).await.is_err(), "{url}");
    }
}

#[tokio::test]
async fn link_local_passes_only_if_the_address_itself_is_declared() {
    assert_eq!(judge("http://169.254.10.1/", true).await, Ok(()));
    assert!(judge("http://[::ffff:169.254.169.254]/", true).await.is_ok(), "declared as that very address");
    assert!(judge("http://169.254.10.1/", false).await.is_err());
}

#[tokio::test]
async fn only_declared_hosts_schemes_and_bare_urls_pass() {
    let guard = EgressGuard::new(["api.example.test", "xn--bcher-kva.example"], false).unwrap();
    let check = |url: &str| guard.check_url(&Url::parse(url).unwrap());

    assert!(check("https://API.example.test/x").is_ok());
    assert!(check("https://bücher.example/").is_ok());
    for undeclared in ["https://example.test/", "https://api.example.test.evil.test/", "https://evil.api.example.test/"]
    {
        assert!(matches!(check(undeclared), Err(GuardError::Undeclared(_))), "{undeclared}");
    }
    for bad in
        ["ftp://api.example.test/", "https://user@api.example.test/", "https://:pw@api.example.test/", "file:///etc"]
    {
        assert_eq!(check(bad), Err(GuardError::BadUrl), "{bad}");
    }
    assert!(guard.check_host("mail.example.test", 25).is_err());
    assert!(EgressGuard::new(["a b"], false).is_err());
}
