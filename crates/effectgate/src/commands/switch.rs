//! `switch`: shows the kill switch by scope, and turns it. Off: nothing leaves; everything else goes on.

use serde_json::{Value, json};

use crate::{
    client::{Api, ServerArgs},
    exit::{Failure, Result},
    output::{Out, cell, rows},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: ServerArgs,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show every switch that was ever turned (the default)
    Show,
    /// Let effects of a scope go again
    On(Turn),
    /// Hold effects of a scope back
    Off(Turn),
}

#[derive(Debug, clap::Args)]
struct Turn {
    /// all, tenant, flow, provider or effect_type
    #[arg(value_parser = ["all", "tenant", "flow", "provider", "effect_type"])]
    scope: String,
    /// The tenant, flow, provider or effect type; none for `all`
    name: Option<String>,
    #[arg(long)]
    reason: String,
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let api = Api::connect(&args.server)?;
    let answer = match args.verb.unwrap_or(Verb::Show) {
        Verb::Show => api.get("/v1/switches", &[]).await?,
        Verb::On(turn) => api.put("/v1/switches", &body(turn, true)?).await?,
        Verb::Off(turn) => api.put("/v1/switches", &body(turn, false)?).await?,
    };
    if out.json { out.value(&answer) } else { show(&answer, out) }
}

fn body(turn: Turn, enabled: bool) -> Result<Value> {
    let Turn { scope, name, reason } = turn;
    if (scope == "all") != name.is_none() {
        return Err(Failure::usage("the scope `all` has no name, and every other scope has one"));
    }
    Ok(json!({ "scope": scope, "name": name.unwrap_or_default(), "enabled": enabled, "reason": reason }))
}

fn show(answer: &Value, out: Out) -> Result {
    let switches = answer.get("switches").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut rows = rows(switches, &["/scope", "/name", "/enabled", "/reason", "/by", "/at"]);
    for row in &mut rows {
        row[2] = if row[2] == "true" { "on".into() } else { "off".into() };
    }
    out.table(
        &["scope", "name", "is", "reason", "by", "since"],
        &rows,
        "No switch was ever turned: everything is on.",
    )?;
    let Some(receipt) = answer.get("receipt").filter(|r| r.is_object()) else { return Ok(()) };
    let words = ["queued", "scheduled", "leased", "in_flight", "awaiting"];
    let counts: Vec<_> = words.iter().map(|word| format!("{word} {}", cell(receipt, &format!("/{word}")))).collect();
    out.line(format!("at the turn: {}", counts.join(", ")))
}
