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
    /// Say what turning a scope off would hold back now; nothing is turned
    Drill(Drill),
}

#[derive(Debug, clap::Args)]
struct Drill {
    /// all, tenant, flow, provider or effect_type
    #[arg(value_parser = ["all", "tenant", "flow", "provider", "effect_type"])]
    scope: String,
    /// The tenant, flow, provider or effect type; none for `all`
    name: Option<String>,
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
        Verb::Drill(Drill { scope, name }) => {
            is_whole(&scope, name.as_deref())?;
            let body = json!({ "scope": scope, "name": name.unwrap_or_default() });
            let answer = api.post("/v1/switches/drill", &body).await?;
            return if out.json { out.value(&answer) } else { show_drill(&answer, out) };
        }
    };
    if out.json { out.value(&answer) } else { show(&answer, out) }
}

fn body(turn: Turn, enabled: bool) -> Result<Value> {
    let Turn { scope, name, reason } = turn;
    is_whole(&scope, name.as_deref())?;
    Ok(json!({ "scope": scope, "name": name.unwrap_or_default(), "enabled": enabled, "reason": reason }))
}

fn is_whole(scope: &str, name: Option<&str>) -> Result {
    if (scope == "all") == name.is_none() {
        return Ok(());
    }
    Err(Failure::usage("the scope `all` has no name, and every other scope has one"))
}

fn show_drill(answer: &Value, out: Out) -> Result {
    let effects = answer.get("effects").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let rows = rows(effects, &["/id", "/type", "/provider", "/state", "/finding"]);
    out.table(&["effect", "type", "provider", "state", "finding"], &rows, "No open effect is in this scope.")?;
    let words = ["would_hold", "held_already", "in_flight", "in_doubt", "goes_on"];
    let counts: Vec<_> =
        words.iter().map(|word| format!("{} {}", word.replace('_', " "), cell(answer, &format!("/{word}")))).collect();
    let more = if answer["is_complete"] == true { "" } else { " (there are more: not all were looked at)" };
    out.line(format!("nothing was turned; {}{more}", counts.join(", ")))
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
