//! What one item plays on: the gate, the far side, keys of its own, and the moves that several items make. What an item
//! needs and is not there makes it not applicable, with the reason.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use url::Url;

use crate::{
    door::Door,
    evidence::{Done, Evidence, Stop},
    far::Provider,
    form::Form,
    gate::{self, Gate, Leased, Link, Wanted},
    ground::{EFFECT, Flow},
    house::House,
    http::Answer,
    item::Item,
    target::{Login, Options, Target},
    workflow::Workflow,
};

/// How long something that must come about may take.
const PATIENCE: Duration = Duration::from_secs(30);
const PERIOD: Duration = Duration::from_millis(25);

/// What one item plays on.
pub(crate) struct Stage<'a> {
    target: &'a mut Target,
    pub(crate) gate: Gate,
    pub(crate) look_on: Duration,
    /// In every key of this item in this run, so that no run meets another's keys.
    nonce: String,
}

/// A run that waits for a person, as its worker left it.
pub(crate) struct Waiting {
    pub(crate) run: String,
    pub(crate) approval: Value,
    pub(crate) link: Link,
    /// The far side's path of its effect.
    pub(crate) path: String,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(target: &'a mut Target, options: &Options, item: Item) -> Self {
        let gate = Gate::new(target.url.clone(), target.key.clone());
        let nonce = format!("{}-{}", item.id(), uuid::Uuid::new_v4().simple());
        Self { target, gate, look_on: options.look_on, nonce }
    }

    pub(crate) fn far(&self) -> Done<&Provider> {
        Ok(self.door()?.far())
    }

    pub(crate) fn door(&self) -> Done<&Door> {
        self.target.door.as_ref().ok_or_else(|| {
            Stop::NotApplicable(
                "effects of this gate cannot be counted: name a flow of certify's own with --flow".into(),
            )
        })
    }

    pub(crate) fn flow(&self, flow: Flow) -> Done<String> {
        let ground = self.target.ground.as_ref().ok_or_else(|| {
            Stop::NotApplicable("it would disturb a gate in service: name a flow of certify's own with --flow".into())
        })?;
        Ok(ground.flow(flow))
    }

    pub(crate) fn workflow(&self) -> Option<&Workflow> {
        self.target.workflow.as_ref()
    }

    /// The id of an event of this item.
    pub(crate) fn event(&self) -> String {
        format!("certify-{}", self.nonce)
    }

    /// The house, where the gate is a throwaway one.
    pub(crate) fn house(&mut self) -> Option<&mut Box<dyn House>> {
        self.target.house.as_mut()
    }

    /// Kills the gate's process and starts it again on the same data.
    pub(crate) async fn start(&mut self) -> Done {
        let Some(house) = self.target.house.as_mut() else { return Ok(()) };
        let url = house.start().await?;
        self.target.url = Url::parse(&url).map_err(|e| Stop::Error(format!("{url}: {e}")))?;
        self.gate = Gate::new(self.target.url.clone(), self.target.key.clone());
        Ok(())
    }

    pub(crate) fn approver(&self) -> Done<Login> {
        let missing = || {
            Stop::NotApplicable("nobody to decide: name a person of the role flow's audience with --login".to_owned())
        };
        self.target.approver.clone().ok_or_else(missing)
    }

    pub(crate) fn maybe_approver(&self) -> Option<Login> {
        self.target.approver.clone()
    }

    pub(crate) fn stranger(&self) -> Done<Login> {
        let missing = || {
            Stop::NotApplicable("nobody to be refused: name a person without the role with --other-login".to_owned())
        };
        self.target.stranger.clone().ok_or_else(missing)
    }

    /// Everything that may be searched for tokens.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        let own = self.target.house.as_ref().map(|house| house.folder());
        self.target.look_in.iter().cloned().chain(own).collect()
    }

    /// A key of this item.
    pub(crate) fn key(&self, name: &str) -> String {
        format!("certify:{name}:{}", self.nonce)
    }

    /// A target of this item: it ends in the far side's path, where its effects are counted.
    fn target(&self, name: &str) -> String {
        format!("{name}-{}", self.nonce)
    }

    /// Where the effect of this name arrives at the far side.
    pub(crate) fn path(&self, flow: Flow, name: &str) -> String {
        let part = if flow == Flow::Kept { "kept" } else { "plain" };
        format!("/{part}/{}", self.target(name))
    }

    pub(crate) fn effect(&self, name: &str, payload: &Value) -> Value {
        json!({ "type": EFFECT, "target": self.target(name), "payload": payload })
    }

    /// Reserves a key of this item.
    pub(crate) async fn leased(&self, flow: Flow, name: &str) -> Done<Leased> {
        let (flow, key, owner) = (self.flow(flow)?, self.key(name), format!("{name}-worker"));
        let payload = payload(name);
        self.gate.leased(Wanted { flow: &flow, key: &key, owner: &owner, payload: &payload, lease_ms: None }).await
    }

    /// Reserves a key and proposes its one effect; the run's id.
    pub(crate) async fn proposed(&self, flow: Flow, name: &str) -> Done<String> {
        let lease = self.leased(flow, name).await?;
        let answer = self.gate.propose(&lease, &self.effect(name, &payload(name))).await?;
        if answer.is_success() { Ok(lease.run) } else { Err(gate::refused("a proposal", &answer)) }
    }

    /// Reserves a key and proposes an effect that a person must decide.
    pub(crate) async fn waiting(&self, flow: Flow, name: &str, seen: &mut Evidence) -> Done<Waiting> {
        let lease = self.leased(flow, name).await?;
        let answer = self.gate.propose(&lease, &self.effect(name, &payload(name))).await?;
        self.as_waiting(flow, name, lease, &answer, seen)
    }

    /// Reads the answer to a proposal that a person must decide. That it waits is a fact of the item.
    pub(crate) fn as_waiting(
        &self,
        flow: Flow,
        name: &str,
        lease: Leased,
        answer: &Answer,
        seen: &mut Evidence,
    ) -> Done<Waiting> {
        if !answer.is_success() {
            return Err(gate::refused("a proposal", answer));
        }
        if answer.word() != "waiting" {
            seen.word("the gate's answer to a proposal that a person must decide", &answer.word(), &["waiting"]);
            return Err(Stop::Error("there is nothing to decide".to_owned()));
        }
        let no_link = || Stop::Error("the answer to the proposal carries no link; is link_in_answer set?".to_owned());
        let link = gate::link(answer).ok_or_else(no_link)?;
        let approval = answer.json()["approval"].clone();
        Ok(Waiting { run: lease.run, approval, link, path: self.path(flow, name) })
    }

    /// The form behind a button of a card; a card without it ends the item.
    pub(crate) async fn form(&self, link: &Link, button: &str) -> Done<Form> {
        let form = self.gate.form(link, button).await?;
        form.ok_or_else(|| Stop::Error(format!("the card has no form to {button}")))
    }

    /// How often the far side executed what goes to this path.
    pub(crate) fn executed(&self, path: &str) -> Done<usize> {
        Ok(self.far()?.executed(path))
    }

    /// Waits until the run is as `is` says; the run as it is then.
    pub(crate) async fn until(&self, id: &str, what: &str, is: impl Fn(&Value) -> bool) -> Done<Value> {
        let began = Instant::now();
        loop {
            let run = self.gate.run(id).await?;
            if is(&run) {
                return Ok(run);
            }
            if began.elapsed() > PATIENCE {
                let now = format!("run {}, effect {}", word(&run, "/state"), word(&run, "/effects/0/state"));
                return Err(Stop::Error(format!("never seen: {what}; there is: {now}")));
            }
            sleep(PERIOD).await;
        }
    }

    /// Waits until the first effect of the run is in one of these states; the run as it is then.
    pub(crate) async fn until_effect(&self, id: &str, states: &[&str]) -> Done<Value> {
        let what = format!("an effect that is {}", states.join(" or "));
        self.until(id, &what, |run| states.contains(&word(run, "/effects/0/state").as_str())).await
    }

    /// Waits until the far side has executed something at this path.
    pub(crate) async fn until_executed(&self, path: &str) -> Done {
        let mut counter = self.far()?.counter();
        let reached = async {
            while self.executed(path).is_ok_and(|n| n == 0) {
                if counter.changed().await.is_err() {
                    break;
                }
            }
        };
        let late = |_| Stop::Error("the provider saw no request in time".to_owned());
        timeout(PATIENCE, reached).await.map_err(late)
    }

    /// Looks on for as long as several sweeps take.
    pub(crate) async fn look_on(&self) {
        sleep(self.look_on).await;
    }

    /// Ends a run whose effect waits on the review desk, so that nothing of certify's is left for people.
    pub(crate) async fn settle(&self, run: &Value) -> Done {
        let effect = word(run, "/effects/0/id");
        let body = json!({ "verdict": "happened", "external_id": "seen-by-certify", "reason": "effectgate certify" });
        self.gate.post(&format!("/v1/effects/{effect}/resolve"), &body).await.map(drop)
    }

    /// Takes the question of a run back, so that nothing of certify's is left for people.
    pub(crate) async fn withdraw(&self, approval: &Value) -> Done {
        let path = format!("/v1/approvals/{}/withdraw", word(approval, "/id"));
        self.gate.post(&path, &json!({ "reason": "effectgate certify" })).await.map(drop)
    }
}

/// The payload of an effect of this name.
pub(crate) fn payload(name: &str) -> Value {
    json!({ "note": name, "cents": 4_900 })
}

/// A member as a word; a dash where there is none.
pub(crate) fn word(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => "-".to_owned(),
        Some(other) => other.to_string(),
    }
}
