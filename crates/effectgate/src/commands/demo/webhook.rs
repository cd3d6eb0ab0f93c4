//! Parts 1 and 2: the same webhook twice, and a provider whose first answer is lost. Once as a workflow without a gate
//! handles it, once with the gate in between.

use bytes::Bytes;
use effectgate_certify::far::Mode;
use effectgate_engine::connect::http::HttpRequest;
use http::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Kept, kept, story::Story, world::World};
use crate::{
    client::Api,
    exit::{Failure, Result},
    output::cell,
};

/// How often the webhook is delivered: senders repeat what was not answered in time.
const DELIVERIES: usize = 2;
const NAIVE: &str = "/naive/notes";
const GATED: &str = "/crm/notes";
const KEY: &str = "order.created:shop:1001:1";

#[derive(Debug, Serialize)]
pub(super) struct Naive {
    deliveries: usize,
    lost_answers: usize,
    retries: usize,
    effects: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct Gated {
    deliveries: usize,
    lost_answers: usize,
    retries: usize,
    /// What the gate answered to each delivery.
    answers: Vec<String>,
    /// How often the gate asked the provider instead of sending again.
    lookups: usize,
    effect_state: String,
    effects: usize,
}

/// Each delivery writes a note; a node whose answer is lost is retried, as workflow tools do.
pub(super) async fn without_gate(world: &World, story: &Story) -> Result<Naive> {
    story.part("1  Without the gate")?;
    story.step(
        "One order, its webhook delivered twice. The provider executes the first request and the answer is lost.",
    )?;
    world.provider.script(&[Mode::AcceptThenDrop]);
    let provider = Api::open(&world.provider.url())?;
    let (mut lost_answers, mut retries) = (0, 0);
    for _ in 0..DELIVERIES {
        while !write_note(&provider).await? {
            lost_answers += 1;
            retries += 1;
        }
    }
    let effects = world.provider.executed(NAIVE);
    story.count("notes in the CRM", effects)?;
    Ok(Naive { deliveries: DELIVERIES, lost_answers, retries, effects })
}

/// False if no answer came.
async fn write_note(provider: &Api) -> Result<bool> {
    let request = HttpRequest {
        method: Method::POST,
        url: provider.at(NAIVE, &[])?,
        headers: vec![("content-type".into(), "application/json".into())],
        body: Bytes::from(order().to_string()),
    };
    match provider.exchange(request).await {
        Ok(_) => Ok(true),
        Err(failure) if failure.code == "answer_lost" => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// The same deliveries and the same lost answer; the worker's node is retried too.
pub(super) async fn with_gate(world: &World, story: &Story) -> Result<Gated> {
    story.part("2  With the gate")?;
    story.step("The same order, the same two deliveries, the same lost answer, the same retried node.")?;
    world.provider.script(&[Mode::AcceptThenDrop]);
    let (mut answers, mut retries, mut run) = (Vec::new(), 0, Value::Null);
    for n in 1..=DELIVERIES {
        let owner = format!("execution-{n}");
        let answer = world.reserve("note", KEY, &order(), &owner).await?;
        let word = cell(&answer, "/answer");
        story.step(format!("delivery {n}: {word}"))?;
        if word == "granted" {
            run = work(world, &answer, &owner).await?;
            retries += 1;
        }
        answers.push(word);
    }
    let (effects, lookups) = (world.provider.executed(GATED), world.provider.lookups());
    story.step("the outcome was unknown, so the gate asked the provider by the note's reference and found it")?;
    story.count("questions asked", lookups)?;
    story.count("notes in the CRM", effects)?;
    let effect_state = cell(&run, "/effects/0/state");
    Ok(Gated { deliveries: DELIVERIES, lost_answers: 1, retries, answers, lookups, effect_state, effects })
}

/// Proposes, proposes again as a retried node does, and waits for the effect.
async fn work(world: &World, granted: &Value, owner: &str) -> Result<Value> {
    let effect = json!({ "type": "crm_note", "target": "customer-17", "payload": order() });
    world.propose(granted, owner, &effect).await?;
    let again = world.propose(granted, owner, &effect).await?;
    if again["repeated"] != json!(true) {
        return Err(Failure::failed("a repeated proposal was not answered as a repeat"));
    }
    world.wait_effect(&cell(granted, "/run/id"), &["completed"]).await
}

fn order() -> Value {
    json!({ "order": 1001, "text": "Customer 17 ordered again" })
}

impl Gated {
    pub(super) fn guarantees(&self, naive: &Naive) -> Vec<Kept> {
        vec![
            kept("without the gate one event became three effects", naive.effects == 3),
            kept("with the gate the same deliveries are one effect", self.effects == 1),
            kept("one delivery is granted, the others are told so", self.one_granted()),
            kept("a lost answer is settled by asking, not by sending again", self.lookups > 0 && self.is_done()),
        ]
    }

    fn one_granted(&self) -> bool {
        self.answers.len() == self.deliveries && self.answers.iter().filter(|a| *a == "granted").count() == 1
    }

    fn is_done(&self) -> bool {
        self.effect_state == "completed"
    }
}
