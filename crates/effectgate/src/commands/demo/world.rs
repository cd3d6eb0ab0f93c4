//! What the demo plays in: a temporary folder, the scripted provider, the server, and a client that does what a
//! workflow does (reserve, propose) and what a person does (look, settle).

use std::{path::PathBuf, time::Duration};

use effectgate_engine::random;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::config;
use crate::{
    child::{self, Server},
    client::Api,
    exit::{Failure, Result},
    output::cell,
    scripted::Provider,
};

pub(super) struct World {
    pub(super) provider: Provider,
    /// A client of the gate; its address changes with each start of the server.
    pub(super) gate: Api,
    key: String,
    server: Server,
    folder: TempDir,
}

/// What the demo waits for takes up to two seconds (a lost attempt's lease); this is for a machine under load.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the demo asks whether something has come about.
const PERIOD: Duration = Duration::from_millis(20);
/// How long it looks on where nothing may happen: a dozen ticks of the dispatcher, several sweeps.
pub(super) const LOOK_ON: Duration = Duration::from_millis(700);

impl World {
    pub(super) async fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let provider = Provider::start().await?;
        std::fs::write(folder.path().join("demo.toml"), config::text(&provider.url(), folder.path()))?;
        let key = random::token();
        let server = start_server(&folder, &key, None).await?;
        let gate = client(&server, &key)?;
        Ok(Self { provider, gate, key, server, folder })
    }

    /// The address of the running server.
    pub(super) fn gate_url(&self) -> &str {
        &self.server.url
    }

    /// Stops the server in order and starts another on the same data, with a failure point armed or not.
    pub(super) async fn restart(&mut self, failpoint: Option<&str>) -> Result {
        let next = start_after(&mut self.server, &self.folder, &self.key, failpoint).await?;
        self.gate = client(&next, &self.key)?;
        self.server = next;
        Ok(())
    }

    /// Waits for the server to die by itself.
    pub(super) async fn server_dies(&mut self) -> Result {
        if self.server.ended(PATIENCE).await { Ok(()) } else { Err(Failure::failed("the server did not crash")) }
    }

    pub(super) async fn end(mut self) -> Result {
        self.server.stop().await
    }

    pub(super) fn log_tail(&self) -> String {
        child::tail(&log(&self.folder))
    }

    /// A worker asks for the right to work on an event.
    pub(super) async fn reserve(&self, flow: &str, key: &str, payload: &Value, owner: &str) -> Result<Value> {
        let body = json!({ "flow": flow, "key": key, "payload": payload, "owner": owner,
            "trigger": { "source": "demo" } });
        self.gate.post("/v1/runs", &body).await
    }

    /// The worker that owns the run hands in what the model drafted.
    pub(super) async fn propose(&self, granted: &Value, owner: &str, effect: &Value) -> Result<Value> {
        let body = json!({
            "owner": owner, "fence": granted["lease"]["fence"], "finish_reason": "stop",
            "output": { "decision": "go" }, "effects": [effect],
            "model": { "provider_class": "demo", "name": "scripted", "revision": "1", "prompt_revision": "1" },
        });
        self.gate.post(&format!("/v1/runs/{}/proposal", cell(granted, "/run/id")), &body).await
    }

    /// The run as it is now.
    pub(super) async fn run(&self, id: &str) -> Result<Value> {
        self.gate.get(&format!("/v1/runs/{id}"), &[]).await
    }

    /// Waits until the first effect of a run is in one of these states; the run as it is then.
    pub(super) async fn wait_effect(&self, id: &str, states: &[&str]) -> Result<Value> {
        let until = Instant::now() + PATIENCE;
        loop {
            let run = self.run(id).await?;
            let run = run.get("run").cloned().unwrap_or(run);
            let state = cell(&run, "/effects/0/state");
            if states.contains(&state.as_str()) {
                return Ok(run);
            }
            if Instant::now() > until {
                return Err(Failure::failed(format!("the effect of {id} is {state}, not one of {states:?}")));
            }
            sleep(PERIOD).await;
        }
    }

    pub(super) async fn timeline(&self, run: &str) -> Result<Vec<Value>> {
        let mut story = self.gate.get(&format!("/v1/runs/{run}/explain"), &[]).await?;
        match story["timeline"].take() {
            Value::Array(moments) => Ok(moments),
            _ => Err(Failure::failed("the explanation has no timeline")),
        }
    }
}

fn log(folder: &TempDir) -> PathBuf {
    folder.path().join("server.log")
}

fn client(server: &Server, key: &str) -> Result<Api> {
    let mut api = Api::open(&server.url)?;
    api.set_key(key);
    Ok(api)
}

async fn start_server(folder: &TempDir, key: &str, failpoint: Option<&str>) -> Result<Server> {
    let mut variables = vec![("EFFECTGATE_BOOTSTRAP_KEY", key)];
    variables.extend(failpoint.map(|point| ("EFFECTGATE_FAILPOINT", point)));
    Server::start(&folder.path().join("demo.toml"), &log(folder), &variables).await
}

async fn start_after(old: &mut Server, folder: &TempDir, key: &str, failpoint: Option<&str>) -> Result<Server> {
    old.stop().await?;
    start_server(folder, key, failpoint).await
}
