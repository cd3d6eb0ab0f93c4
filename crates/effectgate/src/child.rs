//! A server of this same executable as a child process, for the demo, certify and the benchmark: started with a config of its
//! own, watched on its standard output, stopped when its standard input closes. It cannot outlive its parent.

use std::{fs::File, path::Path, process::Stdio, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::exit::{Failure, Result};

/// A running server process.
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) url: String,
    /// Kept open: a server whose output nobody reads must not be stopped by a closed pipe.
    _lines: Lines<BufReader<ChildStdout>>,
}

/// A start migrates and listens within a fraction of a second; this is for a machine under load.
const START_MAX: Duration = Duration::from_secs(30);
/// Longer than the server gives its own connections and attempts.
const STOP_MAX: Duration = Duration::from_secs(30);

impl Server {
    /// Starts `serve` with a config, and these variables beside the environment's own (ours are taken out). Its log
    /// goes to `log`.
    ///
    /// # Errors
    /// It did not say where it listens; the end of its log is told.
    pub(crate) async fn start(config: &Path, log: &Path, variables: &[(&str, &str)]) -> Result<Self> {
        let mut command = command(&["serve", "--json", "--until-stdin-closes"], config, variables)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(log)?);
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| Failure::failed("the server has no output"))?;
        let mut lines = BufReader::new(stdout).lines();
        match timeout(START_MAX, address(&mut lines)).await {
            Ok(Some(url)) => Ok(Self { child, url, _lines: lines }),
            _ => Err(Failure::failed("the server did not start").hint(tail(log))),
        }
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until the process has ended by itself; false if it still runs after `patience`.
    pub(crate) async fn ended(&mut self, patience: Duration) -> bool {
        timeout(patience, self.child.wait()).await.is_ok()
    }

    /// SIGKILL, and waits until the process is gone.
    pub(crate) async fn kill(&mut self) -> Result {
        Ok(self.child.kill().await?)
    }

    /// Stops it in order: what is under way ends first.
    pub(crate) async fn stop(&mut self) -> Result {
        drop(self.child.stdin.take());
        match timeout(STOP_MAX, self.child.wait()).await {
            Ok(ended) => ended.map(drop).map_err(Failure::from),
            Err(_) => Err(Failure::failed("the server did not stop in time")),
        }
    }
}

/// Runs a command of this executable to its end.
///
/// # Errors
/// It did not end well; what it said is told.
pub(crate) async fn run(args: &[&str], config: &Path, variables: &[(&str, &str)]) -> Result {
    let ended = command(args, config, variables)?.stdin(Stdio::null()).output().await?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Err(Failure::failed(format!("effectgate {}: {said}", args.join(" "))))
}

/// A command of this executable with a config of its own and these variables; ours of the environment are taken out.
fn command(args: &[&str], config: &Path, variables: &[(&str, &str)]) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(args).arg("--config").arg(config);
    let ours = |name: &str| name.starts_with("EFFECTGATE") || name == "AI_ACTIONS_ENABLED";
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(ours)).for_each(|(name, _)| {
        command.env_remove(name);
    });
    command.envs(variables.iter().copied()).kill_on_drop(true);
    Ok(command)
}

/// Reads lines until one says where the server listens.
async fn address(lines: &mut Lines<BufReader<ChildStdout>>) -> Option<String> {
    while let Ok(Some(line)) = lines.next_line().await {
        let said = serde_json::from_str::<Value>(&line).unwrap_or(Value::Null);
        if let Some(url) = said.get("listening").and_then(Value::as_str) {
            return Some(url.to_owned());
        }
    }
    None
}

/// The last lines of a log.
pub(crate) fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n  ")
}
