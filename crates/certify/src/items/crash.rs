//! The crash window: the provider has done it, and the gate dies before it could write that down.

use serde_json::Value;

use crate::{
    evidence::{Done, Evidence, Stop},
    far::Mode,
    ground::Flow,
    stage::{Stage, word},
};

pub(super) async fn found(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    if stage.house().is_none() {
        let why = "a gate in service is not killed; `certify --self` does it with this same binary";
        return Err(Stop::NotApplicable(why.to_owned()));
    }
    let path = stage.path(Flow::Go, "event");
    stage.far()?.script_at(&path, &[Mode::Hold]);
    let run = stage.proposed(Flow::Go, "event").await?;
    stage.until_executed(&path).await?;
    let story = stage.gate.explain(&run).await?;
    let on_record = word(&story, "/effects/0/attempts/0/outcome");
    if !seen.word("the attempt on record while the provider holds its answer", &on_record, &["sending"]) {
        // What is not on record before the crash cannot be found after it.
        return Ok(());
    }
    if let Some(house) = stage.house() {
        house.kill().await?;
    }
    seen.note("the provider executed the request; the gate's process was killed (SIGKILL) before any answer");
    stage.start().await?;
    seen.note("the gate was started again on the same data");
    let settled = |run: &Value| !["sending", "pending"].contains(&word(run, "/effects/0/state").as_str());
    let stood = stage.until(&run, "the lost attempt", settled).await?;
    seen.word("the effect then", &word(&stood, "/effects/0/state"), &["unknown", "review"]);
    stage.look_on().await;
    stage.look_on().await;
    seen.count("requests at the provider after that many sweeps", stage.far()?.arrived(&path).len(), 1);
    let stood = stage.gate.run(&run).await?;
    seen.word("the effect now", &word(&stood, "/effects/0/state"), &["review"]);
    stage.settle(&stood).await?;
    let stood = stage.gate.run(&run).await?;
    seen.word("the run once a person has looked and settled it", &word(&stood, "/state"), &["completed"]);
    seen.count("effects at the provider in the end", stage.executed(&path)?, 1);
    Ok(())
}
