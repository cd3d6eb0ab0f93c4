//! What is known of an effect from elsewhere: every look so far, whoever looked, and reports that came too late.

use effectgate_core::{
    ids::EffectId,
    journal::{EntryKind, SealedEntry},
};
use serde_json::Value;

use super::super::{listing::Moment, text::Shown, visit::Visit};

/// One look, or one late report.
pub(super) struct Look {
    pub(super) at: Moment,
    pub(super) by: Shown,
    /// What it said, in words.
    pub(super) said: Shown,
    /// A report that contradicts what is on record, or more than one match.
    pub(super) is_contrary: bool,
    /// The id it found.
    pub(super) external_id: Option<String>,
}

/// What the journal holds about this effect, newest first.
pub(super) fn looks(visit: &Visit, id: EffectId, entries: &[SealedEntry]) -> Vec<Look> {
    entries.iter().rev().filter_map(|entry| look(visit, &id.to_string(), entry)).collect()
}

fn look(visit: &Visit, id: &str, entry: &SealedEntry) -> Option<Look> {
    let is_late = entry.kind == EntryKind::LateReport.as_str();
    if !is_late && entry.kind != EntryKind::Looked.as_str() {
        return None;
    }
    let body: Value = serde_json::from_str(&entry.text).ok()?;
    let facts = body.get("facts")?;
    if facts["effect"] != id {
        return None;
    }
    let said = if is_late { late(facts) } else { answer(facts) };
    Some(Look {
        at: Moment::new(visit, entry.at),
        by: Shown::new(body["actor"].as_str().unwrap_or_default()),
        said: Shown::new(&said),
        is_contrary: is_late || facts["lookup"] == "found_many" || facts["means"] == "contradicts",
        external_id: facts["external_id"].as_str().map(str::to_owned),
    })
}

fn late(facts: &Value) -> String {
    let word = facts["outcome"].as_str().unwrap_or_default().replace('_', " ");
    let id = facts["external_id"].as_str().map(|id| format!(", known there as {id}")).unwrap_or_default();
    format!("a report that came too late says: {word}{id}. It changed nothing here.")
}

fn answer(facts: &Value) -> String {
    let fact = |name: &str| facts[name].as_str().unwrap_or_default();
    let said = match fact("lookup") {
        "found" if !fact("external_id").is_empty() => format!("it is there, known as {}", fact("external_id")),
        "found" => "it is there".into(),
        "found_many" if facts["count"].is_u64() => format!("it is there {} times", facts["count"]),
        "found_many" => "it is there more than once".into(),
        "absent" => "it is not there (yet)".into(),
        "in_progress" => "the provider is still at it".into(),
        "no_information" if !fact("detail").is_empty() => format!("no clear answer: {}", fact("detail")),
        "no_information" => "no clear answer".into(),
        _ => "nobody was asked".into(),
    };
    match fact("next") {
        "" => said,
        _ if fact("reason") == effectgate_core::look::ASKED => said,
        next => format!("{said}; then: {} ({})", next.replace('_', " "), fact("reason").replace('_', " ")),
    }
}
