//! The key: there before anything else happens, and standing for one payload.

use serde_json::{Value, json};

use crate::{
    evidence::{Done, Evidence},
    gate::Wanted,
    ground::Flow,
    stage::{Stage, payload, word},
};

/// A granted reservation is there for everybody else at once, and is still there after the process was killed: no model
/// was called yet, and the event cannot be forgotten or worked on twice any more.
pub(super) async fn before_model(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let flow = stage.flow(Flow::Go)?;
    let (key, own) = (stage.key("event"), payload("event"));
    let wanted = Wanted { flow: &flow, key: &key, owner: "event-worker", payload: &own, lease_ms: None };
    let lease = stage.gate.leased(wanted).await?;
    seen.note("a key was granted to a worker (201); no model was called");
    seen.count("runs that another client finds under the key", found(stage, &flow, &key).await?.len(), 1);
    let second = stage.gate.reserve(Wanted { owner: "second-worker", ..wanted }).await?;
    seen.word("what a second delivery is told", &second.word(), &["busy"]);
    if let Some(house) = stage.house() {
        house.kill().await?;
        stage.start().await?;
        seen.note("the gate's process was killed (SIGKILL) and started again on the same data");
        let runs = found(stage, &flow, &key).await?;
        seen.count("runs under the key after that", runs.len(), 1);
        let run = runs.first().cloned().unwrap_or_default();
        seen.word("state of that run", &word(&run, "/state"), &["processing"]);
    } else {
        seen.note("the gate was not killed: it is not a throwaway one");
    }
    stage.gate.under(&lease, "complete", json!({ "result": {} })).await?;
    Ok(())
}

async fn found(stage: &Stage<'_>, flow: &str, key: &str) -> Done<Vec<Value>> {
    let mut path = stage.gate.at("/v1/runs")?;
    path.query_pairs_mut().append_pair("flow", flow).append_pair("key", key);
    let query = path.query().unwrap_or_default();
    let answer = stage.gate.get(&format!("/v1/runs?{query}")).await?;
    Ok(answer.json()["runs"].as_array().cloned().unwrap_or_default())
}

/// A value that must not come back in any answer about a conflict.
const SECRET: &str = "certify-never-shown";

/// The same key for another payload is refused in every state, recorded, and merges nothing.
pub(super) async fn payload_conflict(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let flow = stage.flow(Flow::Go)?;
    let (key, own) = (stage.key("event"), payload("event"));
    let wanted = Wanted { flow: &flow, key: &key, owner: "event-worker", payload: &own, lease_ms: None };
    let lease = stage.gate.leased(wanted).await?;
    let before = stage.gate.run(&lease.run).await?;
    let other = json!({ "note": SECRET, "cents": 4_901 });
    let wanted_other = Wanted { owner: "second-worker", payload: &other, ..wanted };

    let answer = stage.gate.reserve(wanted_other).await?;
    seen.word("the same key with another payload", &answer.word(), &["payload_conflict"]);
    seen.count("status of that answer", usize::from(answer.status), 422);
    seen.check(!answer.text().contains(SECRET), "the answer names hashes and members, and shows no value");
    let after = stage.gate.run(&lease.run).await?;
    let same =
        ["/payload_hash", "/version", "/state"].iter().all(|member| before.pointer(member) == after.pointer(member));
    seen.check(same, "the run's payload hash, version and state are as before");
    stage.gate.under(&lease, "complete", json!({ "result": {} })).await?;
    let again = stage.gate.reserve(wanted_other).await?;
    seen.word("the same once the run is completed", &again.word(), &["payload_conflict"]);
    let (text, entries) = stage.gate.journal(&lease.run).await?;
    let noted = entries.iter().filter(|entry| entry["kind"] == "conflict").count();
    seen.check(noted >= 1, format!("entries of the conflict in the journal: {noted}"));
    seen.check(!text.contains(SECRET), "the journal shows no value of either payload");
    Ok(())
}
