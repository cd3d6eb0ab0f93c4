//! `review`: effects whose outcome nobody knows. A person looks at the provider and says what happened; nothing is sent
//! again without that word.

use serde_json::{Value, json};

use crate::{
    client::{Api, ServerArgs},
    commands::effects,
    exit::Result,
    output::{Out, cell},
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
    /// List what waits for a person (the default)
    List,
    /// Ask the provider what became of one effect; it settles nothing
    Look {
        /// The effect's id (eff_…)
        effect: String,
    },
    /// Settle one effect
    Resolve(Resolve),
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("verdict").required(true).args(["happened", "send_again", "cancel"])))]
struct Resolve {
    /// The effect's id (eff_…)
    effect: String,
    /// It happened; the provider's id of it
    #[arg(long, value_name = "EXTERNAL_ID")]
    happened: Option<String>,
    /// It did not happen: send it, as a new attempt; wants --fence
    #[arg(long, requires = "fence")]
    send_again: bool,
    /// It did not happen, and is not wanted any more
    #[arg(long)]
    cancel: bool,
    /// The effect's fence, as the list or a look showed it. With it the same word twice is one act, and a word on an
    /// attempt that is not the last one any more does nothing
    #[arg(long, value_name = "N")]
    fence: Option<i64>,
    /// How you know
    #[arg(long)]
    reason: String,
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let api = Api::connect(&args.server)?;
    match args.verb.unwrap_or(Verb::List) {
        Verb::List => effects::list(&api, Some("review,unknown"), None, 200, out).await,
        Verb::Look { effect } => {
            let answer = api.post(&format!("/v1/effects/{effect}/look"), &json!({})).await?;
            if out.json { out.value(&answer) } else { out.line(told(&effect, &answer)) }
        }
        Verb::Resolve(wish) => {
            let answer = api.post(&format!("/v1/effects/{}/resolve", wish.effect), &body(&wish)).await?;
            if out.json { out.value(&answer) } else { out.line(said(&wish.effect, &answer)) }
        }
    }
}

fn body(wish: &Resolve) -> Value {
    let (fence, reason) = (wish.fence, &wish.reason);
    match &wish.happened {
        Some(id) => json!({ "verdict": "happened", "external_id": id, "fence": fence, "reason": reason }),
        None => {
            let then = if wish.send_again { "send_again" } else { "cancel" };
            json!({ "verdict": "did_not_happen", "then": then, "fence": fence, "reason": reason })
        }
    }
}

/// What the provider said, and what it means.
fn told(effect: &str, answer: &Value) -> String {
    let (text, stands) = (cell(answer, "/text"), standing(&answer["effect"]));
    if answer["look"].is_null() {
        return format!("{effect} ({stands}): nobody was asked. {text}");
    }
    let said = cell(answer, "/look/said").replace('_', " ");
    let more = ["external_id", "count", "detail"].iter().filter(|name| !answer["look"][**name].is_null());
    let more: Vec<String> = more.map(|name| cell(answer, &format!("/look/{name}"))).collect();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
    format!("{effect} ({stands}): the provider says {said}{more}. {text}")
}

/// The state, and the fence that `resolve` takes.
fn standing(effect: &Value) -> String {
    format!("{}, fence {}", cell(effect, "/state"), cell(effect, "/fence"))
}

fn said(effect: &str, answer: &Value) -> String {
    let run = answer.get("run").unwrap_or(answer);
    let effects = run.get("effects").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let state = effects.iter().find(|e| e["id"] == effect).map_or_else(|| "-".into(), |e| cell(e, "/state"));
    format!("{effect} is {state}; its run {} is {}", cell(run, "/id"), cell(run, "/state"))
}
