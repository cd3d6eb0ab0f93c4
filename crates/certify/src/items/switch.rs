//! The switch: turned off for certify's own flow, so that a gate in service goes on beside it.

use serde_json::Value;

use crate::{
    evidence::{Done, Evidence},
    ground::Flow,
    stage::{Stage, word},
};

pub(super) async fn holds(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    stage.far()?;
    let flow = stage.flow(Flow::Go)?;
    let turned = stage.gate.turn(&flow, false).await?;
    let receipt = turned["receipt"]["queued"].is_number();
    seen.check(receipt, "the turn to off was answered with a receipt of what stood where");
    let held = held(stage, seen).await;
    // Whatever came of it, the switch is turned on again.
    stage.gate.turn(&flow, true).await?;
    let (runs, paths) = held?;
    for run in &runs {
        stage.until_effect(run, &["completed"]).await?;
    }
    stage.look_on().await;
    let after: Vec<usize> = paths.iter().map(|path| stage.executed(path)).collect::<Done<_>>()?;
    seen.check(after.iter().all(|n| *n == 1), format!("effects at the provider with the switch on again: {after:?}"));
    Ok(())
}

/// Work goes on while the switch is off, and nothing of it leaves.
async fn held(stage: &Stage<'_>, seen: &mut Evidence) -> Done<(Vec<String>, Vec<String>)> {
    let names = ["first", "second", "third"];
    let mut runs = Vec::new();
    for name in names {
        runs.push(stage.proposed(Flow::Go, name).await?);
    }
    let paths: Vec<String> = names.iter().map(|name| stage.path(Flow::Go, name)).collect();
    stage.look_on().await;
    stage.look_on().await;
    let sent: usize = paths.iter().map(|path| stage.far().map(|far| far.arrived(path).len())).sum::<Done<_>>()?;
    seen.count("requests at the provider for three effects queued while it was off", sent, 0);
    for run in &runs {
        let run: Value = stage.gate.run(run).await?;
        let stands = format!("{} ({})", word(&run, "/effects/0/state"), word(&run, "/effects/0/reason"));
        seen.word("how each of them stands", &stands, &["pending (switch_off)"]);
    }
    Ok((runs, paths))
}
