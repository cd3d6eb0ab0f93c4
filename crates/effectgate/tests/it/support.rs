//! A server of the binary under test in a folder of its own, and the binary's other commands against it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::config;

/// The binary, without whatever this process's environment says about Effectgate.
pub(crate) fn effectgate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_effectgate"));
    for (name, _) in std::env::vars_os() {
        let ours = name.to_str().is_some_and(|n| n.starts_with("EFFECTGATE") || n == "AI_ACTIONS_ENABLED");
        if ours {
            command.env_remove(name);
        }
    }
    command.args(args).stdin(Stdio::null());
    command
}

/// What a finished command said.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {} {}", self.out, self.err))
    }
}

pub(crate) fn said(command: &mut Command) -> Said {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
}

pub(crate) const SQLITE: &str = "sqlite:gate.db";

/// A folder with a config, where a server can run.
pub(crate) struct House {
    folder: TempDir,
}

impl House {
    /// With one flow whose provider nobody answers for.
    pub(crate) fn new() -> Self {
        Self::with(&config::to_nobody())
    }

    /// `DATABASE` in the config, where nobody put another one, is a file in the house.
    pub(crate) fn with(config: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let config = config.replace("DATABASE", SQLITE);
        fs::write(folder.path().join("effectgate.toml"), config).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command in the house to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Said {
        said(self.command(args).current_dir(self.folder.path()))
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = effectgate(args);
        command.current_dir(self.folder.path());
        command
    }

    /// Starts the server and waits until it says where it listens.
    pub(crate) fn serve(&self, variables: &[(&str, &str)]) -> Gate {
        let mut command = self.command(&["serve", "--json", "--until-stdin-closes"]);
        let log = fs::File::options().create(true).append(true).open(self.path("server.log")).unwrap();
        command.envs(variables.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut gate = Gate { child, url: String::new(), first_key: None, lines };
        while gate.url.is_empty() {
            let mut line = String::new();
            let read = gate.lines.read_line(&mut line).unwrap();
            assert!(read > 0, "the server ended: {}", fs::read_to_string(self.path("server.log")).unwrap());
            let said: Value = serde_json::from_str(&line).unwrap();
            gate.first_key = said["bootstrap_key"].as_str().map(str::to_owned).or(gate.first_key.take());
            gate.url = said["listening"].as_str().unwrap_or_default().to_owned();
        }
        gate
    }
}

/// A running server. Killed when dropped.
pub(crate) struct Gate {
    pub(crate) child: Child,
    pub(crate) url: String,
    pub(crate) first_key: Option<String>,
    lines: BufReader<ChildStdout>,
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Gate {
    /// One request; status and body.
    pub(crate) fn post(&self, key: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let host = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap())
    }

    /// kill -9.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal by name and waits for the end.
    pub(crate) fn signal(&mut self, name: &str) -> i32 {
        // Kept open over the wait, which would close it: the signal alone must be enough.
        let _stdin = self.child.stdin.take();
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A key for automated starts.
pub(crate) const KEY: &str = "a-key-that-only-tests-know-0123456789";
