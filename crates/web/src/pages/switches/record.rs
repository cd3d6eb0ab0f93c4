//! A receipt, and what a drill found: read from the entry of the house chain that holds the counts.

use askama::Template;
use axum::{extract::Path, response::Response};
use effectgate_core::{ids::RunId, journal::SealedEntry, switch::Scope};
use effectgate_engine::EngineError;
use http::StatusCode;
use serde_json::Value;

use super::{
    super::{
        answer::{self, Frame, Note},
        listing::Moment,
        text::{Shown, grouped},
        visit::{Entitled, Visit},
    },
    scope_words,
};
use crate::{auth::Identity, auth::allowed::Read, problem::Result};

#[derive(Template)]
#[template(path = "switch_record.html")]
struct RecordPage {
    frame: Frame,
    is_drill: bool,
    title: &'static str,
    scope: &'static str,
    name: Shown,
    /// `on` or `off`; empty for a drill.
    word: &'static str,
    by: Shown,
    at: Moment,
    reason: Option<Shown>,
    figures: Vec<Figure>,
    is_complete: bool,
    hash: String,
}

struct Figure {
    name: &'static str,
    count: String,
    /// What it means for these effects.
    text: &'static str,
}

pub(crate) async fn receipt(Entitled { visit, who, .. }: Entitled<Read>, Path(seq): Path<String>) -> Response {
    record(&visit, &who, &seq, "switch_receipt").await
}

pub(crate) async fn drill(Entitled { visit, who, .. }: Entitled<Read>, Path(seq): Path<String>) -> Response {
    record(&visit, &who, &seq, "switch_drill").await
}

async fn record(visit: &Visit, who: &Identity, seq: &str, kind: &str) -> Response {
    match find(visit, who, seq, kind).await {
        Ok(Some(entry)) => answer::page(StatusCode::OK, &page(visit, &entry)),
        Ok(None) => Note::new(Some(visit), "There is no such record", "No turn and no drill has this number.")
            .way("/switches", "To the switch")
            .answer(StatusCode::NOT_FOUND),
        Err(problem) => answer::problem(&problem, Some(visit)),
    }
}

async fn find(visit: &Visit, who: &Identity, seq: &str, kind: &str) -> Result<Option<SealedEntry>> {
    let Some(seq) = seq.parse::<i64>().ok().filter(|seq| *seq > 0) else { return Ok(None) };
    let store = visit.app.engine.store();
    let found = store.journal_read(RunId::house(who.tenant()), seq - 1, 1).await.map_err(EngineError::from)?;
    Ok(found.into_iter().find(|entry| entry.seq == seq && entry.kind == kind))
}

fn page(visit: &Visit, entry: &SealedEntry) -> RecordPage {
    let body: Value = serde_json::from_str(&entry.text).unwrap_or_default();
    let (facts, is_drill) = (&body["facts"], entry.kind == "switch_drill");
    let text = |name: &str| facts[name].as_str().unwrap_or_default();
    RecordPage {
        frame: Frame::english(if is_drill { "Drill" } else { "Receipt" }, visit),
        is_drill,
        title: if is_drill { "What this switch would hold" } else { "Receipt of a turn" },
        scope: Scope::parse(text("scope")).map_or("", scope_words),
        name: Shown::new(text("name")),
        word: match facts["enabled"].as_bool() {
            Some(true) => "on",
            Some(false) => "off",
            None => "",
        },
        by: Shown::new(body["actor"].as_str().unwrap_or_default()),
        at: Moment::new(visit, entry.at),
        reason: facts["reason"].as_str().map(Shown::new),
        figures: figures(facts, if is_drill { &DRILLED } else { &COUNTED }),
        is_complete: facts["complete"] != false,
        hash: entry.hash.to_string(),
    }
}

fn figures(facts: &Value, told: &[(&str, &'static str, &'static str)]) -> Vec<Figure> {
    let count = |name: &str| grouped(facts[name].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_default());
    told.iter().map(|(fact, name, text)| Figure { name, count: count(fact), text }).collect()
}

const COUNTED: [(&str, &str, &str); 5] = [
    ("queued", "Queued", "effects that were due to leave"),
    ("scheduled", "Scheduled", "effects held back until their time"),
    ("leased", "Leased", "runs that a worker had in hand"),
    ("in_flight", "In flight", "effects on the wire: they end and are recorded"),
    ("awaiting", "Awaiting", "runs that waited for a person"),
];

const DRILLED: [(&str, &str, &str); 5] = [
    ("would_hold", "Would be held", "effects that this switch would hold back from now on"),
    ("held_already", "Held already", "effects of this scope that another switch holds"),
    ("in_flight", "In flight", "effects on the wire: they would end and be recorded"),
    ("in_doubt", "In doubt", "unknown or in review: nothing leaves, and a re-issue would be held"),
    ("goes_on", "Would go on", "open effects outside of this scope"),
];
