//! `replay`: plan a bulk recovery, look at it, execute it once. The server does the work; on a terminal a bar shows how
//! far it is.

use std::{collections::BTreeMap, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Make a plan, or with --dry-run only see what one would be
    Plan(Plan),
    /// Execute a plan, and wait until it has ended
    Execute(Execute),
    /// Show a plan and what became of it, key by key
    Show {
        /// The plan's id (rpl_…)
        replay: String,
    },
    /// List plans, newest first
    List {
        /// At most this many
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
}

/// Nothing of the filter has a default: what a replay is about is always somebody's word.
#[derive(Debug, clap::Args)]
struct Plan {
    /// The flow whose runs are meant
    #[arg(long)]
    flow: String,
    /// The event type of the key's parts; '*' means any
    #[arg(long)]
    event_type: String,
    /// Created at or after this moment (RFC 3339, such as 2026-11-30T00:00:00Z)
    #[arg(long)]
    since: String,
    /// Created before this moment (RFC 3339)
    #[arg(long)]
    until: String,
    /// failed_retryable, processing (with a lease that is over), quarantined or any
    #[arg(long)]
    state: String,
    /// At most this many runs, 1 to 1000
    #[arg(long)]
    limit: u32,
    /// Why; it stands in each recovered run's record
    #[arg(long)]
    reason: String,
    /// Only say what a plan would be; nothing is kept but an entry in the record
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
struct Execute {
    /// The plan's id (rpl_…)
    replay: String,
    /// Written into each run's record; left out, the plan's
    #[arg(long)]
    reason: Option<String>,
    /// Begin it and do not wait
    #[arg(long)]
    no_wait: bool,
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let api = Api::connect(&args.server)?;
    match args.verb {
        Verb::Plan(wish) => {
            let plan = api.post("/v1/replays", &body(&wish)).await?;
            show(&plan, out)
        }
        Verb::Execute(wish) => execute(&api, &wish, out).await,
        Verb::Show { replay } => show(&api.get(&format!("/v1/replays/{replay}"), &[]).await?, out),
        Verb::List { limit } => list(&api, limit, out).await,
    }
}

fn body(wish: &Plan) -> Value {
    json!({
        "filter": {"flow": wish.flow, "event_type": wish.event_type, "since": wish.since, "until": wish.until,
            "state": wish.state},
        "limit": wish.limit, "reason": wish.reason, "dry_run": wish.dry_run,
    })
}

/// A recovery takes milliseconds; a person sees no finer steps.
const LOOK: Duration = Duration::from_millis(250);

async fn execute(api: &Api, wish: &Execute, out: Out) -> Result {
    let path = format!("/v1/replays/{}", wish.replay);
    let body = json!({ "reason": wish.reason.as_deref().unwrap_or_default() });
    let begun = api.post(&format!("{path}/execute"), &body).await?;
    if wish.no_wait || begun["state"] == "done" {
        return show(&begun, out);
    }
    let bar = bar(&begun, out);
    loop {
        tokio::time::sleep(LOOK).await;
        let now = api.get(&path, &[("keys", Some("false"))]).await?;
        bar.set_position(dealt_with(&now));
        if now["state"] != "running" {
            bar.finish_and_clear();
            return show(&api.get(&path, &[]).await?, out);
        }
    }
}

fn dealt_with(view: &Value) -> u64 {
    let count = |name: &str| view[name].as_u64().unwrap_or_default();
    count("done") + count("skipped")
}

/// Drawn for a person only: on standard error, so that a result can be kept.
fn bar(view: &Value, out: Out) -> ProgressBar {
    let bar = ProgressBar::new(view["total"].as_u64().unwrap_or_default());
    if out.json || !out.terminal {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len} runs, {eta} left") {
        bar.set_style(style);
    }
    bar.set_position(dealt_with(view));
    bar
}

fn show(view: &Value, out: Out) -> Result {
    if out.json {
        return out.value(view);
    }
    let empty = Vec::new();
    let keys = view["keys"].as_array().unwrap_or(&empty);
    let mut table = rows(keys, &["/run_id", "/key", "/state", "/verdict", "/refusal", "/providers", "/results"]);
    for (row, key) in table.iter_mut().zip(keys) {
        row.push(what_became_of(key));
    }
    let headings = ["run", "key", "was", "verdict", "refused for", "systems", "results", "became"];
    out.table(&headings, &table, "No run matches.")?;
    told(view).into_iter().try_for_each(|line| out.line(line))
}

/// `done: failed_retryable, now completed (completed 1)`.
fn what_became_of(key: &Value) -> String {
    let standing = |at: &str| {
        let effects = key.pointer(&format!("/{at}/effects")).and_then(Value::as_object);
        let effects: Vec<String> = effects.into_iter().flatten().map(|(state, n)| format!("{state} {n}")).collect();
        let state = cell(key, &format!("/{at}/state"));
        if effects.is_empty() { state } else { format!("{state} ({})", effects.join(", ")) }
    };
    match key["outcome"].as_str() {
        Some("done") => format!("{}, now {}", standing("after"), standing("now")),
        Some("skipped") => format!("skipped: {}", cell(key, "/why")),
        Some(word) => word.to_owned(),
        None => "-".to_owned(),
    }
}

/// A line for each word that a run was refused with, and what is to be done instead.
fn ways(keys: &[Value]) -> Vec<String> {
    let refused = keys.iter().filter_map(|key| Some((key["refusal"].as_str()?, key["next"].as_str()?)));
    let ways: BTreeMap<&str, &str> = refused.collect();
    ways.into_iter().map(|(word, next)| format!("refused for {word}: {next}")).collect()
}

fn told(view: &Value) -> Vec<String> {
    let at = |pointer: &str| cell(view, pointer);
    let would = match view["state"].as_str() {
        Some("dry_run" | "planned") => "would be recovered",
        _ => "were to be recovered",
    };
    let more = if view["more"] == true { "; more match than the limit lets in" } else { "" };
    let mut lines = vec![format!(
        "{} of {} runs {would}, {} refused, {} have results{more}",
        at("/counts/replayable"),
        at("/counts/matching"),
        at("/counts/refused"),
        at("/counts/with_results"),
    )];
    let empty = Vec::new();
    lines.extend(ways(view["keys"].as_array().unwrap_or(&empty)));
    let systems = view["providers"].as_array().unwrap_or(&empty);
    let system = |p: &Value| format!("{} ({}, {} effects)", cell(p, "/name"), cell(p, "/class"), cell(p, "/effects"));
    let systems: Vec<String> = systems.iter().map(system).collect();
    lines.push(format!("systems: {}", if systems.is_empty() { "none".to_owned() } else { systems.join(", ") }));
    lines.push(format!(
        "cost, at most: {} attempts, {} model runs, {} open effects",
        at("/cost/attempts"),
        at("/cost/model_runs"),
        at("/cost/effects_open")
    ));
    lines.push(match view["state"].as_str().unwrap_or_default() {
        "dry_run" => "a dry run: nothing was kept, and nothing was sent; without --dry-run the plan is kept".to_owned(),
        "planned" => planned(view),
        state => {
            format!("{} is {state}: {} done, {} skipped, of {}", at("/id"), at("/done"), at("/skipped"), at("/total"))
        }
    });
    lines
}

fn planned(view: &Value) -> String {
    let (id, until) = (cell(view, "/id"), cell(view, "/expires_at"));
    match view["counts"]["replayable"].as_u64() {
        Some(0) => format!("{id} is kept until {until}; there is nothing to execute"),
        _ => format!("{id} may be executed until {until}: effectgate replay execute {id}"),
    }
}

async fn list(api: &Api, limit: usize, out: Out) -> Result {
    if limit == 0 {
        return Err(Failure::usage("a limit of 0 shows nothing"));
    }
    let found = api.list("/v1/replays", "replays", &[], limit).await?;
    if out.json {
        return out.value(&json!({ "items": found.items, "more": found.more }));
    }
    let pointers =
        ["/id", "/state", "/filter/flow", "/filter/state", "/done", "/skipped", "/total", "/made_by", "/made_at"];
    let headings = ["plan", "state", "flow", "for", "done", "skipped", "of", "by", "made"];
    out.table(&headings, &rows(&found.items, &pointers), "No plans.")?;
    crate::commands::say_more(out, found.more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_a_key_is_said_in_one_cell() {
        let done = json!({"outcome": "done", "after": {"state": "queued", "effects": {}},
            "now": {"state": "completed", "effects": {"completed": 1}}});

        assert_eq!(what_became_of(&done), "queued, now completed (completed 1)");
        assert_eq!(what_became_of(&json!({"outcome": "skipped", "why": "changed"})), "skipped: changed");
        assert_eq!(what_became_of(&json!({"outcome": null})), "-");
    }

    #[test]
    fn a_plan_says_what_to_do_about_the_refused_and_how_it_is_executed() {
        let refused = |key: &str| json!({"key": key, "refusal": "final", "next": "a correction"});
        let keys = [refused("a"), refused("b"), json!({"key": "c", "refusal": null, "next": null})];
        let plan = json!({"state": "planned", "id": "rpl_1", "expires_at": "noon", "keys": keys, "providers": [],
            "counts": {"replayable": 1, "matching": 3, "refused": 2, "with_results": 0}});

        let lines = told(&plan);

        assert_eq!(lines[0], "1 of 3 runs would be recovered, 2 refused, 0 have results");
        assert_eq!(lines[1..3], ["refused for final: a correction", "systems: none"]);
        assert_eq!(lines.last().unwrap(), "rpl_1 may be executed until noon: effectgate replay execute rpl_1");
    }

    #[test]
    fn a_plan_that_recovers_nothing_says_so_and_one_that_ran_speaks_of_what_was() {
        let counts = json!({"replayable": 0, "matching": 0, "refused": 0, "with_results": 0});
        let with = |state: &str| told(&json!({"state": state, "id": "rpl_1", "expires_at": "noon", "counts": counts}));

        assert_eq!(with("planned").last().unwrap(), "rpl_1 is kept until noon; there is nothing to execute");
        assert!(with("done")[0].starts_with("0 of 0 runs were to be recovered"));
    }

    #[test]
    fn nobody_but_a_person_at_a_terminal_is_drawn_a_bar() {
        let view = json!({"total": 10, "done": 3, "skipped": 1});

        let bar = bar(&view, Out { json: true, terminal: true });

        assert!(bar.is_hidden());
        assert_eq!((bar.position(), bar.length()), (4, Some(10)));
    }
}
