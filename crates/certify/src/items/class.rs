//! The class table: what a provider's answer, and what a worker's failure, leads to. Judged by how often the provider
//! was asked, and by what the run then says.

use serde_json::json;

use crate::{
    evidence::{Done, Evidence},
    far::Mode,
    ground::Flow,
    stage::{Stage, word},
};

const fn refuse(status: u16) -> Mode {
    Mode::Refuse { status, retry_after_s: None }
}

pub(super) async fn table(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    stage.far()?;
    let later = Mode::Refuse { status: 429, retry_after_s: Some(1) };
    let scripts = [
        (Flow::Go, "refused", refuse(422)),
        (Flow::Go, "limited", later),
        (Flow::Go, "broken", refuse(500)),
        (Flow::Kept, "broken-kept", refuse(500)),
    ];
    let mut runs = Vec::new();
    for (flow, name, mode) in scripts {
        stage.far()?.script_at(&stage.path(flow, name), &[mode]);
        runs.push(stage.proposed(flow, name).await?);
    }

    let run = stage.until_effect(&runs[0], &["failed", "completed", "review"]).await?;
    seen.word("422 from the provider", &word(&run, "/effects/0/state"), &["failed"]);
    let run = stage.until_effect(&runs[1], &["completed", "failed", "review"]).await?;
    seen.word("429 with Retry-After, then 201", &word(&run, "/effects/0/state"), &["completed"]);
    let arrived = stage.far()?.arrived(&stage.path(Flow::Go, "limited"));
    seen.count("requests for it", arrived.len(), 2);
    if let [first, second] = arrived.as_slice() {
        let waited = second.at.duration_since(first.at).as_millis();
        seen.check(waited >= 900, format!("the second came {waited} ms after the first; asked for: 1000"));
    }
    let run = stage.until_effect(&runs[3], &["completed", "failed", "review"]).await?;
    seen.word("500 from a provider that honours keys, then 201", &word(&run, "/effects/0/state"), &["completed"]);
    let keys: Vec<_> =
        stage.far()?.arrived(&stage.path(Flow::Kept, "broken-kept")).into_iter().map(|a| a.key).collect();
    let one_key = keys.len() == 2 && keys[0].is_some() && keys[0] == keys[1];
    seen.check(one_key, format!("requests for it: {}, under one key", keys.len()));
    let run = stage.until_effect(&runs[2], &["review", "completed", "failed"]).await?;
    seen.word("500 from a provider that keeps no keys", &word(&run, "/effects/0/state"), &["review"]);
    stage.look_on().await;
    for (name, what) in [("refused", "requests after the 422"), ("broken", "requests after the 500 without keys")] {
        seen.count(what, stage.far()?.arrived(&stage.path(Flow::Go, name)).len(), 1);
    }
    stage.settle(&run).await?;
    of_workers(stage, seen).await
}

/// What a worker reports about its model step.
async fn of_workers(stage: &Stage<'_>, seen: &mut Evidence) -> Done {
    for (class, retried, state) in
        [("model_timeout", true, "failed_retryable"), ("agent_limit", false, "failed_terminal")]
    {
        let lease = stage.leased(Flow::Go, class).await?;
        let unknown = stage.gate.under(&lease, "fail", json!({ "class": "bad_luck" })).await?;
        let answer = stage.gate.under(&lease, "fail", json!({ "class": class })).await?;
        let json = answer.json();
        let told = format!("a worker reports {class}: retry {}, run {}", json["retry"], word(&json, "/run/state"));
        seen.check(json["retry"] == retried && word(&json, "/run/state") == state, told);
        if retried {
            seen.word("a class that is none", &unknown.word(), &["unknown_class"]);
            // Left to itself it would come up for a retry; it is ended by whoever takes it next.
            end(stage, class).await?;
        }
    }
    Ok(())
}

async fn end(stage: &Stage<'_>, name: &str) -> Done {
    let flow = stage.flow(Flow::Go)?;
    let payload = crate::stage::payload(name);
    let key = stage.key(name);
    let wanted = crate::gate::Wanted { flow: &flow, key: &key, owner: "end", payload: &payload, lease_ms: None };
    let answer = stage.gate.reserve(wanted).await?;
    if answer.status == 201 {
        let lease = crate::gate::leased(&answer, "end");
        stage.gate.under(&lease, "complete", json!({ "result": {} })).await?;
    }
    Ok(())
}
