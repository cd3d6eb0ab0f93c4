//! A lost answer: the provider accepted, and nobody heard of it. Unknown, and nothing more leaves by itself.

use crate::{
    evidence::{Done, Evidence, Stop},
    gate::Wanted,
    ground::Flow,
    stage::{Stage, payload, word},
};

pub(super) async fn no_resend(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let path = stage.path(Flow::Go, "event");
    stage.door()?.lose_answer(&path).map_err(|e| Stop::Error(e.to_string()))?;
    let run = stage.proposed(Flow::Go, "event").await?;
    stage.until_executed(&path).await?;
    let stood = stage.until_effect(&run, &["unknown", "review", "completed", "failed"]).await?;
    for line in stage.door()?.log(&path) {
        let status = line.status.map_or_else(|| "none".to_owned(), |status| status.to_string());
        let what = "the relay, with the request and with the provider's answer";
        seen.word(what, &format!("{}, {status}", line.fault), &["forward-then-drop-response, 201"]);
    }
    seen.word("the effect then", &word(&stood, "/effects/0/state"), &["unknown", "review"]);
    stage.look_on().await;
    stage.look_on().await;
    seen.count("requests at the provider after that many sweeps", stage.far()?.arrived(&path).len(), 1);
    let stood = stage.gate.run(&run).await?;
    seen.word("the effect now", &word(&stood, "/effects/0/state"), &["review"]);
    let story = stage.gate.explain(&run).await?;
    seen.word("was it sent, as explain says", &word(&story, "/sent"), &["unknown"]);
    let (flow, key, own) = (stage.flow(Flow::Go)?, stage.key("event"), payload("event"));
    let again = Wanted { flow: &flow, key: &key, owner: "another-worker", payload: &own, lease_ms: None };
    let again = stage.gate.reserve(again).await?;
    seen.word("another delivery of the event", &again.word(), &["replay"]);
    stage.settle(&stood).await?;
    let stood = stage.gate.run(&run).await?;
    seen.word("the effect once a person has looked and settled it", &word(&stood, "/effects/0/state"), &["completed"]);
    seen.count("effects at the provider in the end", stage.executed(&path)?, 1);
    Ok(())
}
