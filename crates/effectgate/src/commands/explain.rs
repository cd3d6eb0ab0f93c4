//! `explain KEY|RUN_ID`: the story of one run, as the server tells it.

use serde_json::Value;

use crate::{
    client::{Api, ServerArgs},
    exit::{Failure, Result},
    output::{Out, cell, printable},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The key, or the run's id (run_…)
    key_or_run: String,
    /// The flow, if the key exists in more than one
    #[arg(long)]
    flow: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let api = Api::connect(&args.server)?;
    let id = find(&api, &args.key_or_run, args.flow.as_deref()).await?;
    let story = api.get(&format!("/v1/runs/{id}/explain"), &[]).await?;
    if out.json { out.value(&story) } else { lines(&story).into_iter().try_for_each(|line| out.line(line)) }
}

/// The run that a key or an id names.
async fn find(api: &Api, text: &str, flow: Option<&str>) -> Result<String> {
    if text.starts_with("run_") && flow.is_none() {
        return Ok(text.to_owned());
    }
    let found = api.list("/v1/runs", "runs", &[("key", Some(text)), ("flow", flow)], 20).await?;
    match found.items.as_slice() {
        [] => Err(Failure::not_found(format!("no run has the key {text:?}"))),
        [only] => Ok(cell(only, "/id")),
        several => {
            let flows: Vec<_> = several.iter().map(|run| cell(run, "/flow")).collect();
            Err(Failure::usage(format!("the key {text:?} exists in several flows: {}", flows.join(", ")))
                .hint("Name one with --flow."))
        }
    }
}

/// The story in lines, for people.
pub(crate) fn lines(story: &Value) -> Vec<String> {
    let mut lines = vec![
        format!("{}  {}", cell(story, "/key"), cell(story, "/run_id")),
        format!("  flow {}, {}", cell(story, "/flow"), cell(story, "/state")),
        format!("  processed: {}   sent: {}", yes(&story["processed"]), cell(story, "/sent")),
        format!("  why: {} [{}]", cell(story, "/reason/text"), cell(story, "/reason/code")),
        format!("  next: {}", cell(story, "/reason/next")),
    ];
    if story["delivery"].is_object() {
        let (source, state) = (cell(story, "/delivery/source"), cell(story, "/delivery/state"));
        lines.push(format!("  came in at {source}, {state}: {}", cell(story, "/delivery/text")));
    }
    for decision in list(story, "approved_by") {
        let (who, what) = (cell(decision, "/subject"), cell(decision, "/decision"));
        lines.push(format!("  {what} by {who} at {}", cell(decision, "/at")));
    }
    if story["model"]["name"].is_string() {
        lines.push(format!("  model: {} {}", cell(story, "/model/name"), cell(story, "/model/revision")));
    }
    list(story, "effects").iter().for_each(|effect| effect_lines(effect, &mut lines));
    lines.push("  timeline".into());
    for moment in list(story, "timeline") {
        let (at, kind) = (cell(moment, "/at"), cell(moment, "/kind"));
        lines.push(format!("    {at}  {kind:<20} {}  ({})", cell(moment, "/text"), cell(moment, "/actor")));
    }
    lines.iter().map(|line| printable(line)).collect()
}

fn effect_lines(effect: &Value, lines: &mut Vec<String>) {
    let (kind, target, provider) = (cell(effect, "/type"), cell(effect, "/target"), cell(effect, "/provider"));
    let (state, reason, external) = (cell(effect, "/state"), cell(effect, "/reason"), cell(effect, "/external_id"));
    lines.push(format!("  effect {kind} to {target} at {provider}: {state}, reason {reason}, external id {external}"));
    for attempt in list(effect, "attempts") {
        let (n, outcome, phase) = (cell(attempt, "/n"), cell(attempt, "/outcome"), cell(attempt, "/phase"));
        let (bytes, at) = (cell(attempt, "/bytes_sent"), cell(attempt, "/at"));
        lines.push(format!("    attempt {n} at {at}: {outcome}, phase {phase}, {bytes} bytes sent"));
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn yes(value: &Value) -> &'static str {
    if value.as_bool() == Some(true) { "yes" } else { "no" }
}
