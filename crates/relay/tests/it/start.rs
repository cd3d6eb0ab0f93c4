//! What a relay starts towards, and what it refuses.

use std::net::SocketAddr;

use effectgate_relay::{Relay, RelayError, RelaySettings, Upstream};

fn to(upstream: &str) -> RelaySettings {
    RelaySettings::to(Upstream::http(upstream).unwrap())
}

#[tokio::test]
async fn a_public_upstream_is_refused_unless_it_is_said_to_be_meant() {
    // TEST-NET-1 (RFC 5737): no name to resolve, and no packet goes there.
    let public = "http://192.0.2.1";

    let refused = Relay::start(to(public)).await;
    let meant = Relay::start(RelaySettings { allow_public: true, ..to(public) }).await;

    assert!(matches!(refused, Err(RelayError::PublicUpstream { .. })));
    assert!(meant.is_ok());
}

#[tokio::test]
async fn loopback_by_address_and_by_name_is_fine() {
    for upstream in ["http://127.0.0.1:9", "http://localhost:9", "http://10.0.0.1", "https://127.0.0.1:9"] {
        assert!(Relay::start(to(upstream)).await.is_ok(), "{upstream}");
    }
    let smtp = RelaySettings::to(Upstream::smtp("127.0.0.1:25").unwrap());
    let relay = Relay::start(smtp).await.unwrap();
    assert!(relay.url().starts_with("smtp://127.0.0.1:"));
}

#[tokio::test]
async fn the_control_listener_stands_on_loopback_only() {
    let control = Some(SocketAddr::from(([0, 0, 0, 0], 0)));

    let refused = Relay::start(RelaySettings { control, ..to("http://127.0.0.1:9") }).await;

    assert!(matches!(refused, Err(RelayError::ControlNotLoopback(_))));
}

#[tokio::test]
async fn a_name_without_an_address_is_told_as_such() {
    let refused = Relay::start(to("http://nowhere.invalid")).await;

    assert!(matches!(refused, Err(RelayError::Unresolved { .. })));
}
