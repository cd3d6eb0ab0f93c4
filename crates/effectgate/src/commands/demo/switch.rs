//! Part 5: the kill switch. Off, effects stay where they are and say why; on, each goes once.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Kept, kept,
    story::Story,
    world::{LOOK_ON, World},
};
use crate::{exit::Result, output::cell};

const PATH: &str = "/crm/notes";

#[derive(Debug, Serialize)]
pub(super) struct Counts {
    queued: usize,
    /// What the effect says while it is held back.
    reason: String,
    effects_while_off: usize,
    receipt_at_on: Value,
    effects_after_on: usize,
}

pub(super) async fn show(world: &World, story: &Story) -> Result<Counts> {
    story.part("5  The switch")?;
    let before = world.provider.executed(PATH);
    turn(world, false).await?;
    let run = queue(world).await?;
    tokio::time::sleep(LOOK_ON).await;
    let held = world.run(&run).await?;
    let held = held.get("run").cloned().unwrap_or(held);
    let reason = cell(&held, "/effects/0/reason");
    let effects_while_off = world.provider.executed(PATH) - before;
    story.step(format!("off: the run is worked on, its effect is {} ({reason})", cell(&held, "/effects/0/state")))?;
    story.count("notes written", effects_while_off)?;
    let receipt_at_on = turn(world, true).await?["receipt"].take();
    world.wait_effect(&run, &["completed"]).await?;
    tokio::time::sleep(LOOK_ON).await;
    let effects_after_on = world.provider.executed(PATH) - before;
    story.step(format!("on again; at the turn {} effect was queued", cell(&receipt_at_on, "/queued")))?;
    story.count("notes written", effects_after_on)?;
    Ok(Counts { queued: 1, reason, effects_while_off, receipt_at_on, effects_after_on })
}

async fn turn(world: &World, enabled: bool) -> Result<Value> {
    let reason = "the demo shows the switch";
    let body = json!({ "scope": "all", "name": "", "enabled": enabled, "reason": reason });
    world.gate.put("/v1/switches", &body).await
}

async fn queue(world: &World) -> Result<String> {
    let payload = json!({ "order": 1002, "text": "Customer 18 ordered" });
    let granted = world.reserve("note", "order.created:shop:1002:1", &payload, "execution-5").await?;
    let effect = json!({ "type": "crm_note", "target": "customer-18", "payload": payload });
    world.propose(&granted, "execution-5", &effect).await?;
    Ok(cell(&granted, "/run/id"))
}

impl Counts {
    pub(super) fn guarantees(&self) -> Vec<Kept> {
        let receipt = self.receipt_at_on["queued"] == json!(self.queued);
        vec![
            kept("with the switch off nothing leaves", self.effects_while_off == 0 && self.reason == "switch_off"),
            kept("the receipt says what waited", receipt),
            kept("with the switch on each effect goes once", self.effects_after_on == self.queued),
        ]
    }
}
