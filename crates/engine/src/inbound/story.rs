//! How the delivery of a run stands, told from its record: who knows only the run asks whether its worker has it.

use effectgate_core::{
    delivery::UNDELIVERABLE,
    journal::{EntryKind, SealedEntry},
    run::{Aggregate, RunState},
    time::Timestamp,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// How a run that came in at a source stands with the source's worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeliveryStory {
    pub source: String,
    /// `held_back` (quarantined), `waiting` (nobody was called), `calling` (called, no answer on record), `delivered`,
    /// `undelivered` (no worker took it), `failed` (the worker answered that it failed), `undeliverable` (given up).
    pub state: &'static str,
    pub text: String,
    /// Calls to the worker, in the last thousand entries of the record.
    pub calls: usize,
    #[schema(value_type = Option<String>)]
    pub last_call_at: Option<Timestamp>,
}

/// The last thing on record.
enum Last {
    Nothing,
    Called,
    Delivered(Value),
    Undelivered(Value),
    Failed(Value),
}

/// Tells it; `None` for a run that a worker reserved by itself. `entries` is the run's record, or its end.
pub(crate) fn delivery_story(agg: &Aggregate, entries: &[SealedEntry]) -> Option<DeliveryStory> {
    let source = agg.run.origin.inbound.as_ref()?.as_str();
    let door = format!("worker:in:{source}:");
    let (mut calls, mut last_call_at, mut last) = (0, None, Last::Nothing);
    for entry in entries {
        let is = |kind: EntryKind| entry.kind == kind.as_str();
        let body = || serde_json::from_str::<Value>(&entry.text).unwrap_or_default();
        if is(EntryKind::Claimed) {
            if body()["actor"].as_str().is_some_and(|actor| actor.starts_with(&door)) {
                (calls, last_call_at, last) = (calls + 1, Some(entry.at), Last::Called);
            }
        } else if is(EntryKind::Delivered) {
            last = Last::Delivered(body());
        } else if is(EntryKind::Undelivered) {
            last = Last::Undelivered(body());
        } else if is(EntryKind::Failed) && matches!(last, Last::Called) {
            last = Last::Failed(body());
        }
    }
    let (state, text) = told(agg, last);
    Some(DeliveryStory { source: source.to_owned(), state, text, calls, last_call_at })
}

fn told(agg: &Aggregate, last: Last) -> (&'static str, String) {
    let next = agg.run.state.next_attempt_at().map_or_else(String::new, |at| format!("; the next call at {at}"));
    let fact = |body: &Value, name: &str| body["facts"][name].as_str().unwrap_or_default().to_owned();
    match last {
        _ if matches!(agg.run.state, RunState::Quarantined { .. }) => {
            ("held_back", "it is brought to nobody as long as it is held back".into())
        }
        Last::Nothing => ("waiting", "no worker was called with it yet".into()),
        Last::Called if agg.lease.is_some_and(|lease| lease.is_live) => (
            "calling",
            "its worker was called and its answer is not on record: it is on the way, or was lost; the lease decides"
                .into(),
        ),
        Last::Called => ("calling", "its worker was called and no answer came".into()),
        Last::Delivered(body) => {
            let at = body["at"].as_str().unwrap_or_default();
            ("delivered", format!("its worker took it at {at} (it answered {})", body["facts"]["status"]))
        }
        Last::Undelivered(body) => {
            let given_up = fact(&body, "next") == UNDELIVERABLE;
            let (since, why) = (fact(&body, "since"), fact(&body, "reason"));
            let text = format!("no worker took it since {since}: {why}{next}");
            (if given_up { UNDELIVERABLE } else { "undelivered" }, text)
        }
        Last::Failed(body) => {
            let said = fact(&body, "message");
            let said = if said.is_empty() { "its worker reported a failure".to_owned() } else { said };
            ("failed", format!("{said}{next}"))
        }
    }
}
