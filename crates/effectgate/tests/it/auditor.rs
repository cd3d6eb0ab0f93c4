//! Compares what a gate claims (explain, journal) with what the provider's ledger says. The ledger is the truth.

use std::collections::BTreeMap;

use effectgate_testkit::provider::Ledger;
use serde_json::Value;

use crate::{
    ground::{Calls as _, Ground},
    support::Gate,
};

const KEY_HEADER: &str = "Idempotency-Key";

/// Asserts that of these runs nothing was lost, nothing doubled and nothing claimed that is not so, and that the journal
/// verifies. Every execution must belong to one of them.
pub(crate) fn audit(ground: &Ground, gate: &Gate, ledger: &Ledger, runs: &[String]) {
    let mut executed = executions(ledger);
    for run in runs {
        let story = gate.explain(run);
        for effect in story["effects"].as_array().unwrap() {
            let ids = executed.remove(text(&effect["provider_key"])).unwrap_or_default();
            judge_effect(effect, &ids, ledger, &story);
        }
        judge_journal(&gate.get(&format!("/v1/runs/{run}/journal")), &story);
    }
    assert!(executed.is_empty(), "executed, and in nobody's outbox: {executed:?}");
    assert_eq!(gate.get("/v1/journal/verify")["verified"], true);
    assert_eq!(ground.verify()["verified"], true);
}

/// Ids of the executions under each provider key.
fn executions(ledger: &Ledger) -> BTreeMap<&str, Vec<&str>> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for execution in &ledger.executions {
        all.entry(execution.reference.as_deref().unwrap()).or_default().push(&execution.id);
    }
    all
}

fn judge_effect(effect: &Value, executed: &[&str], ledger: &Ledger, story: &Value) {
    assert!(executed.len() <= 1, "doubled: {executed:?} {story:#}");
    match text(&effect["state"]) {
        "completed" => assert_eq!(executed, [text(&effect["external_id"])], "{story:#}"),
        "unknown" | "review" | "sending" => assert_eq!(story["sent"], "unknown", "{story:#}"),
        _ => assert!(executed.is_empty(), "it happened, and nobody says so: {story:#}"),
    }
    let key = text(&effect["provider_key"]);
    let asked = ledger.requests.iter().filter(|r| r.header(KEY_HEADER) == Some(key)).count();
    let attempts = effect["attempts"].as_array().unwrap();
    assert!(asked <= attempts.len(), "{asked} requests: one has no attempt on record: {story:#}");
}

fn judge_journal(journal: &Value, story: &Value) {
    let entries = journal["entries"].as_array().unwrap_or_else(|| panic!("{journal:#}"));
    let count = |kind: &str| entries.iter().filter(|e| e["kind"] == kind).count();
    let effects = story["effects"].as_array().unwrap();
    let attempts: usize = effects.iter().map(|e| e["attempts"].as_array().unwrap().len()).sum();
    // The worker's own calls are begun, the dispatcher's are started; each is one attempt.
    assert_eq!(count("attempt_started") + count("effect_begun"), attempts, "{journal:#} {story:#}");
    let ends = count("attempt_ended") + count("attempt_lost");
    assert!(ends <= attempts, "{journal:#}");
    for once in ["reserved", "proposed", "decided", "completed"] {
        assert!(count(once) <= 1, "{once} is there {} times: {journal:#}", count(once));
    }
    let completed = effects.iter().all(|e| e["state"] == "completed");
    if !effects.is_empty() || story["state"] == "completed" {
        assert_eq!(story["state"] == "completed", completed, "{story:#}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
