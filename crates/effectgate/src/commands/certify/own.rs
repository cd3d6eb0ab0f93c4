//! The throwaway gate that `certify --self` judges: this executable, a temporary folder, short times, two people, and
//! the right to kill it.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use async_trait::async_trait;
use effectgate_certify::{
    Door, House, HouseError, Login, Target,
    ground::{Ground, ROLE},
};
use effectgate_engine::random;
use secrecy::SecretString;
use url::Url;

use crate::{
    exit::{Failure, Result},
    throwaway::{Account, Throwaway},
};

/// A dozen ticks of the dispatcher and several sweeps, as the throwaway gate has them.
pub(super) const LOOK_ON: Duration = Duration::from_millis(800);

/// A free port of this machine.
const ANYWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

const APPROVER: &str = "certify-approver";
const STRANGER: &str = "certify-stranger";

pub(super) async fn target() -> Result<Target> {
    let ground = Ground::new("certify").ok_or_else(|| Failure::failed("the word certify is no name"))?;
    let door = Door::start(ANYWHERE).await.map_err(Failure::failed)?;
    let (password, other) = (random::token(), random::token());
    let roles = format!("approver,{ROLE}");
    let accounts = [
        Account { name: APPROVER, roles: &roles, password: &password },
        Account { name: STRANGER, roles: "approver", password: &other },
    ];
    let house = Throwaway::start(&sections(&ground, &door.url()), &accounts, variables()).await?;
    let url = Url::parse(house.url()).map_err(Failure::failed)?;
    Ok(Target {
        name: format!("a throwaway gate of effectgate {}", env!("CARGO_PKG_VERSION")),
        url,
        key: SecretString::from(house.key()),
        ground: Some(ground),
        door: Some(door),
        approver: Some(Login { user: APPROVER.to_owned(), password: password.into() }),
        stranger: Some(Login { user: STRANGER.to_owned(), password: other.into() }),
        house: Some(Box::new(Own(house))),
        workflow: None,
        look_in: Vec::new(),
    })
}

/// A debug build may be told to leave out a guard, so that a test sees the fitting item turn red.
fn variables() -> Vec<(&'static str, String)> {
    let broken = effectgate_engine::probe::broken().ok().flatten();
    broken.map(|guard| ("EFFECTGATE_BROKEN", guard.as_str().to_owned())).into_iter().collect()
}

/// Certify's own sections, and local accounts for its two people.
fn sections(ground: &Ground, provider: &str) -> String {
    format!("[auth.local]\nenabled = true\n\n{}", ground.config(provider))
}

struct Own(Throwaway);

fn failed(failure: Failure) -> HouseError {
    HouseError(failure.to_string())
}

#[async_trait]
impl House for Own {
    async fn kill(&mut self) -> Result<(), HouseError> {
        self.0.kill().await.map_err(failed)
    }

    async fn start(&mut self) -> Result<String, HouseError> {
        self.0.revive(None).await.map_err(failed)?;
        Ok(self.0.url().to_owned())
    }

    async fn end(&mut self) -> Result<(), HouseError> {
        self.0.end().await.map_err(failed)
    }

    fn log_tail(&self) -> String {
        self.0.log_tail()
    }

    fn folder(&self) -> PathBuf {
        self.0.folder()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Environment, load},
        throwaway,
    };

    #[test]
    fn the_throwaway_gates_config_starts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gate.toml");
        let sections = sections(&Ground::new("proof").expect("a name"), "http://127.0.0.1:9");
        std::fs::write(&path, throwaway::config(&sections, folder.path())).expect("written");

        let resolved = load(Some(&path), Environment::default()).and_then(|loaded| loaded.resolve());

        assert!(resolved.is_ok(), "{}", resolved.err().map(|e| e.to_string()).unwrap_or_default());
    }
}
