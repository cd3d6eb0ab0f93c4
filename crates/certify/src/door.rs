//! Where effects go when certify itself plays the provider: the relay that loses answers on purpose, and behind it the
//! far side that counts. The gate knows the relay's address only.

use std::net::SocketAddr;

use effectgate_relay::{Fault, LogLine, Match, Relay, RelayError, RelaySettings, Rule, Upstream};

use crate::far::Provider;

/// A relay and the provider behind it.
pub struct Door {
    far: Provider,
    relay: Relay,
}

/// Why there is no door.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    #[error("the provider that certify plays cannot listen: {0}")]
    Listen(#[from] std::io::Error),
    #[error(transparent)]
    Relay(#[from] RelayError),
}

impl Door {
    /// Starts both; the gate's provider is at `listen`.
    ///
    /// # Errors
    /// The address is taken or not ours.
    pub async fn start(listen: SocketAddr) -> Result<Self, DoorError> {
        let far = Provider::start().await?;
        let settings = RelaySettings { listen, ..RelaySettings::to(Upstream::http(&far.url())?) };
        let relay = Relay::start(RelaySettings { header_rules: false, ..settings }).await?;
        Ok(Self { far, relay })
    }

    /// The address that a config names as the provider's.
    #[must_use]
    pub fn url(&self) -> String {
        self.relay.url()
    }

    pub(crate) fn far(&self) -> &Provider {
        &self.far
    }

    /// Loses the answer to the next request at this path, after the provider has acted.
    pub(crate) fn lose_answer(&self, path: &str) -> Result<(), RelayError> {
        let matches = Match { path_prefix: Some(path.to_owned()), ..Match::default() };
        self.relay.add_rule(Rule { matches, ..Rule::next(Fault::ForwardThenDropResponse) })
    }

    /// What the relay did with requests at this path.
    pub(crate) fn log(&self, path: &str) -> Vec<LogLine> {
        self.relay.log().into_iter().filter(|line| line.path.starts_with(path)).collect()
    }
}
