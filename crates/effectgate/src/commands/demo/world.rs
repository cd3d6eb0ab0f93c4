//! What the demo plays in: a temporary folder, the scripted provider, the server, and a client that does what a
//! workflow does (reserve, propose) and what a person does (look, settle).

use std::time::Duration;

use effectgate_certify::far::Provider;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::config;
use crate::{
    client::Api,
    exit::{Failure, Result},
    output::cell,
    throwaway::Throwaway,
};

pub(super) struct World {
    pub(super) provider: Provider,
    /// A client of the gate; its address changes with each start of the server.
    pub(super) gate: Api,
    house: Throwaway,
}

/// What the demo waits for takes up to two seconds (a lost attempt's lease); this is for a machine under load.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the demo asks whether something has come about.
const PERIOD: Duration = Duration::from_millis(20);
/// How long it looks on where nothing may happen: a dozen ticks of the dispatcher, several sweeps.
pub(super) const LOOK_ON: Duration = Duration::from_millis(700);

impl World {
    pub(super) async fn start() -> Result<Self> {
        let provider = Provider::start().await?;
        let house = Throwaway::start(&config::sections(&provider.url()), &[], Vec::new()).await?;
        let gate = client(&house)?;
        Ok(Self { provider, gate, house })
    }

    /// The address of the running server.
    pub(super) fn gate_url(&self) -> &str {
        self.house.url()
    }

    /// Stops the server in order and starts another on the same data, with a failure point armed or not.
    pub(super) async fn restart(&mut self, failpoint: Option<&str>) -> Result {
        self.house.restart(failpoint).await?;
        self.gate = client(&self.house)?;
        Ok(())
    }

    /// Waits for the server to die by itself.
    pub(super) async fn server_dies(&mut self) -> Result {
        self.house.dies(PATIENCE).await
    }

    pub(super) async fn end(mut self) -> Result {
        self.house.end().await
    }

    pub(super) fn log_tail(&self) -> String {
        self.house.log_tail()
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

fn client(house: &Throwaway) -> Result<Api> {
    let mut api = Api::open(house.url())?;
    api.set_key(house.key());
    Ok(api)
}
