//! The lease: one at a time, over when it is over, and nothing for whoever held it before.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    evidence::{Done, Evidence, Stop},
    gate::{Leased, Wanted, leased},
    ground::{Flow, LEASE_MS},
    stage::{Stage, payload, word},
};

/// As many as a sender with an impatient retry makes at once.
const DELIVERIES: usize = 10;

/// Ten deliveries at the same time: one is granted, the others are told that somebody has it.
pub(super) async fn one(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let flow = stage.flow(Flow::Go)?;
    let (key, own) = (stage.key("event"), payload("event"));
    let owners: Vec<String> = (1..=DELIVERIES).map(|n| format!("delivery-{n}")).collect();
    let deliveries = owners
        .iter()
        .map(|owner| stage.gate.reserve(Wanted { flow: &flow, key: &key, owner, payload: &own, lease_ms: None }));
    let answers = join_all(deliveries).await.into_iter().collect::<Done<Vec<_>>>()?;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    seen.note(format!("{DELIVERIES} deliveries of one event at the same time, each by an owner of its own"));
    seen.count("granted (201)", count(201), 1);
    seen.count("busy (202)", count(202), DELIVERIES - 1);
    let ids: Vec<Value> = answers.iter().map(|answer| answer.json()["run"]["id"].clone()).collect();
    seen.check(ids.iter().all(|id| id == &ids[0] && id.is_string()), "all ten answers name the same run");
    let Some(won) = answers.iter().position(|answer| answer.status == 201) else { return Ok(()) };
    let lease = leased(&answers[won], &owners[won]);
    let (_, entries) = stage.gate.journal(&lease.run).await?;
    let begun = entries.iter().filter(|e| e["kind"] == "reserved" || e["kind"] == "claimed").count();
    seen.count("leases in the journal", begun, 1);
    stage.gate.under(&lease, "complete", json!({ "result": {} })).await?;
    Ok(())
}

/// Longer than the lease and any hiccup of a machine under load.
const PATIENCE: Duration = Duration::from_secs(30);

/// A lease that ends is taken over with a higher fence; whatever its old owner sends then changes nothing.
pub(super) async fn takeover(stage: &mut Stage<'_>, seen: &mut Evidence) -> Done {
    let flow = stage.flow(Flow::Go)?;
    let (key, own) = (stage.key("event"), payload("event"));
    let wanted = Wanted { flow: &flow, key: &key, owner: "first", payload: &own, lease_ms: Some(LEASE_MS) };
    let first = stage.gate.leased(wanted).await?;
    seen.note(format!("the first owner had a lease of {LEASE_MS} ms (fence {}) and let it end", first.fence));
    let second = taken_over(stage, Wanted { owner: "second", lease_ms: None, ..wanted }).await?;
    seen.check(second.fence > first.fence, format!("the second owner was granted fence {}", second.fence));
    let before = stage.gate.run(&first.run).await?;
    let effect = stage.effect("late", &own);
    let proposal = stage.gate.propose(&first, &effect).await?;
    seen.word("the old owner proposes", &said(&proposal.word(), proposal.status), &["lease_lost"]);
    for (verb, body) in [
        ("renew", json!({})),
        ("complete", json!({ "result": { "by": "first" } })),
        ("fail", json!({ "class": "model_timeout" })),
    ] {
        let answer = stage.gate.under(&first, verb, body).await?;
        seen.word(&format!("the old owner calls {verb}"), &said(&answer.word(), answer.status), &["lease_lost"]);
    }
    let after = stage.gate.run(&first.run).await?;
    seen.check(before["version"] == after["version"], "the run's version is as before the old owner's calls");
    if stage.far().is_ok() {
        seen.count("effects of the old owner at the provider", stage.executed(&stage.path(Flow::Go, "late"))?, 0);
    }
    let done = stage.gate.under(&second, "complete", json!({ "result": { "by": "second" } })).await?;
    seen.word("the second owner completes", &word(&done.json(), "/run/state"), &["completed"]);
    Ok(())
}

/// The code, or the status where there is none.
fn said(word: &str, status: u16) -> String {
    if word.is_empty() { status.to_string() } else { word.to_owned() }
}

async fn taken_over(stage: &Stage<'_>, wanted: Wanted<'_>) -> Done<Leased> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let answer = stage.gate.reserve(wanted).await?;
        if answer.status == 201 {
            return Ok(leased(&answer, wanted.owner));
        }
        sleep(Duration::from_millis(50)).await;
    }
    Err(Stop::Error("the expired lease was never given to the second owner".to_owned()))
}
