//! Retention: a run that is over says until when its key counts. Judged on a run of certify's own where there is a flow
//! for it, and on the newest finished runs of every flow.

use effectgate_core::time::Timestamp;
use serde_json::{Value, json};

use crate::{
    evidence::{Done, Evidence, Stop},
    gate::Wanted,
    ground::Flow,
    stage::{Stage, payload, word},
};

/// Senders of webhooks repeat for up to three days; a key that ends before that lets a late repeat count as new.
const KEY_MS_MIN: i64 = 3 * 86_400_000;

pub(super) async fn set(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let own = stage.flow(Flow::Go);
    if own.is_ok() {
        of_own_run(stage, seen).await?;
    }
    let mut judged = 0;
    for state in ["completed", "failed_terminal"] {
        let answer = stage.gate.get(&format!("/v1/runs?state={state}&limit=200")).await?.json();
        let runs = answer["runs"].as_array().cloned().unwrap_or_default();
        let endless = runs.iter().filter(|run| run["expires_at"].is_null()).count();
        judged += runs.len();
        if !runs.is_empty() {
            let what = format!("of the newest {} runs that are {state}, those without an end of their key", runs.len());
            seen.count(&what, endless, 0);
        }
    }
    if judged == 0 && own.is_err() {
        return Err(Stop::NotApplicable(
            "no run of this gate is over yet, and --flow names none to make one in".into(),
        ));
    }
    Ok(())
}

async fn of_own_run(stage: &Stage<'_>, seen: &mut Evidence) -> Done {
    let lease = stage.leased(Flow::Go, "event").await?;
    let open = stage.gate.run(&lease.run).await?;
    seen.check(open["expires_at"].is_null(), "while it is worked on a run has no end");
    stage.gate.under(&lease, "complete", json!({ "result": { "label": "done" } })).await?;
    let run = stage.gate.run(&lease.run).await?;
    let kept = kept_ms(&run);
    let days = kept.map_or_else(|| "not set".to_owned(), |ms| (ms / 86_400_000).to_string());
    seen.check(kept.is_some_and(|ms| ms >= KEY_MS_MIN), format!("days that its key counts once it is over: {days}"));
    let (flow, key, own) = (stage.flow(Flow::Go)?, stage.key("event"), payload("event"));
    let again = Wanted { flow: &flow, key: &key, owner: "another-worker", payload: &own, lease_ms: None };
    let answer = stage.gate.reserve(again).await?;
    let told = word(&answer.json(), "/run/expires_at");
    seen.check(
        answer.word() == "replay" && told != "-",
        format!("a late repeat is told the stored answer, and until when: {told}"),
    );
    Ok(())
}

fn kept_ms(run: &Value) -> Option<i64> {
    let moment = |member: &str| run[member].as_str()?.parse::<Timestamp>().ok();
    Some(moment("expires_at")?.ms_since(moment("updated_at")?))
}
