//! A gate to be thrown away: a server of this same executable in a temporary folder, with its database, its log and a
//! key that nobody else knows. The demo tells its story with one, certify judges one. It can be restarted in order,
//! killed, and started again on the same data.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use effectgate_engine::random;
use tempfile::TempDir;

use crate::{
    child::{self, Server},
    exit::{Failure, Result},
};

pub(crate) struct Throwaway {
    server: Server,
    key: String,
    /// Set for every start, beside the key.
    variables: Vec<(&'static str, String)>,
    folder: TempDir,
}

/// A person with a local account of the throwaway gate.
pub(crate) struct Account<'a> {
    pub(crate) name: &'a str,
    pub(crate) roles: &'a str,
    pub(crate) password: &'a str,
}

const CONFIG: &str = "gate.toml";
const LOG: &str = "server.log";

impl Throwaway {
    /// Writes the config around these sections, makes the accounts and starts the server.
    pub(crate) async fn start(
        sections: &str,
        accounts: &[Account<'_>],
        variables: Vec<(&'static str, String)>,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join(CONFIG), config(sections, folder.path()))?;
        for Account { name, roles, password } in accounts {
            let args = ["user", "add", name, "--roles", roles];
            child::run(&args, &folder.path().join(CONFIG), &[("EFFECTGATE_PASSWORD", password)]).await?;
        }
        let key = random::token();
        let server = start(&folder, &key, &variables, None).await?;
        Ok(Self { server, key, variables, folder })
    }

    /// Where the running server listens.
    pub(crate) fn url(&self) -> &str {
        &self.server.url
    }

    /// The admin key.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Stops the server in order and starts another on the same data, with a failure point armed or not.
    pub(crate) async fn restart(&mut self, failpoint: Option<&str>) -> Result {
        self.server.stop().await?;
        self.revive(failpoint).await
    }

    /// Starts a server on the data of one that is no more.
    pub(crate) async fn revive(&mut self, failpoint: Option<&str>) -> Result {
        self.server = start(&self.folder, &self.key, &self.variables, failpoint).await?;
        Ok(())
    }

    /// SIGKILL, and waits until the process is gone.
    pub(crate) async fn kill(&mut self) -> Result {
        self.server.kill().await
    }

    /// Waits for the server to die by itself.
    pub(crate) async fn dies(&mut self, patience: Duration) -> Result {
        if self.server.ended(patience).await { Ok(()) } else { Err(Failure::failed("the server did not crash")) }
    }

    /// Stops it in order. The folder goes with this value.
    pub(crate) async fn end(&mut self) -> Result {
        self.server.stop().await
    }

    pub(crate) fn log_tail(&self) -> String {
        child::tail(&self.folder.path().join(LOG))
    }
}

/// What every throwaway gate needs around its providers and flows. Times are short, so that what takes minutes in
/// service takes a second here.
pub(crate) fn config(sections: &str, folder: &Path) -> String {
    let database = format!("sqlite:{}", folder.join("gate.db").display());
    format!(
        r#"
[server]
listen = "127.0.0.1:0"
[database]
url = {database:?}
[actions]
enabled = true
[dispatcher]
period_ms = 50
[sweeper]
period_ms = 100

{sections}"#
    )
}

async fn start(
    folder: &TempDir,
    key: &str,
    variables: &[(&'static str, String)],
    failpoint: Option<&str>,
) -> Result<Server> {
    let mut all = vec![("EFFECTGATE_BOOTSTRAP_KEY", key)];
    all.extend(variables.iter().map(|(name, value)| (*name, value.as_str())));
    all.extend(failpoint.map(|point| ("EFFECTGATE_FAILPOINT", point)));
    Server::start(&folder.path().join(CONFIG), &folder.path().join(LOG), &all).await
}
