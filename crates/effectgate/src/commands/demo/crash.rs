//! Part 4: the server dies between the provider's answer and its own note of it. After a restart on the same data the
//! effect is unknown, is not sent again, and a person who looked at the provider settles it.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Kept, kept,
    story::Story,
    world::{LOOK_ON, World},
};
use crate::{
    exit::{Failure, Result},
    output::cell,
};

const PATH: &str = "/bank/payouts";
pub(super) const KEY: &str = "payout.due:ledger:77:1";
/// The worst place: executed over there, not yet written here.
const FAILPOINT: &str = "dispatch.after_answer=abort";

#[derive(Debug, Serialize)]
pub(super) struct Counts {
    pub(super) key: String,
    pub(super) run: String,
    effects_at_crash: usize,
    state_after_crash: String,
    /// Executed between the restart and the person's word, while the server looked on.
    resent: usize,
    state_after_settlement: String,
    run_state: String,
    effects: usize,
}

pub(super) async fn show(world: &mut World, story: &Story) -> Result<Counts> {
    story.part("4  A crash between \"they did it\" and \"we noted it\"")?;
    world.restart(Some(FAILPOINT)).await?;
    let run = start_payout(world).await?;
    world.server_dies().await?;
    let effects_at_crash = world.provider.executed(PATH);
    story.step("the server was killed right after the bank's answer")?;
    story.count("payouts at the bank", effects_at_crash)?;

    world.restart(None).await?;
    let unknown = world.wait_effect(&run, &["unknown", "review"]).await?;
    let state_after_crash = cell(&unknown, "/effects/0/state");
    story.step(format!("restarted on the same data, the gate says: {state_after_crash}. It does not send again"))?;
    tokio::time::sleep(LOOK_ON).await;
    let resent = world.provider.executed(PATH) - effects_at_crash;
    story.count("payouts sent again", resent)?;

    let settled = settle(world, &cell(&unknown, "/effects/0/id")).await?;
    let settled = settled.get("run").cloned().unwrap_or(settled);
    let (state_after_settlement, run_state) = (cell(&settled, "/effects/0/state"), cell(&settled, "/state"));
    story.step(format!(
        "a person looks at the bank's list and settles it: effect {state_after_settlement}, run {run_state}"
    ))?;
    let effects = world.provider.executed(PATH);
    story.count("payouts at the bank", effects)?;
    let key = KEY.to_owned();
    Ok(Counts { key, run, effects_at_crash, state_after_crash, resent, state_after_settlement, run_state, effects })
}

async fn start_payout(world: &World) -> Result<String> {
    let payload = json!({ "payout": 77, "cents": 12_500 });
    let granted = world.reserve("payout", KEY, &payload, "execution-4").await?;
    let effect = json!({ "type": "payout", "target": "account-77", "payload": payload });
    // The answer may be lost with the server; what was committed is not.
    match world.propose(&granted, "execution-4", &effect).await {
        Ok(_) => {}
        Err(failure) if failure.code == "answer_lost" => {}
        Err(failure) => return Err(failure),
    }
    Ok(cell(&granted, "/run/id"))
}

/// The person finds the payout in the provider's own list.
async fn settle(world: &World, effect: &str) -> Result<Value> {
    let seen = world.provider.ledger().into_iter().find(|e| e.path == PATH);
    let seen = seen.ok_or_else(|| Failure::failed("the bank has no payout"))?;
    let reason = "seen in the bank's list of payouts";
    let body = json!({ "verdict": "happened", "external_id": seen.id, "reason": reason });
    world.gate.post(&format!("/v1/effects/{effect}/resolve"), &body).await
}

impl Counts {
    pub(super) fn guarantees(&self) -> Vec<Kept> {
        let unknown = ["unknown", "review"].contains(&self.state_after_crash.as_str());
        let settled = self.state_after_settlement == "completed" && self.run_state == "completed";
        vec![
            kept("after a crash what is not known is called unknown", unknown && self.effects_at_crash == 1),
            kept("what is unknown is never sent again blindly", self.resent == 0 && self.effects == 1),
            kept("a person settles it, and the run is completed", settled),
        ]
    }
}
