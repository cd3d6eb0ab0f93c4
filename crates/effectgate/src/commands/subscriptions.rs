//! `subscriptions`: who hears of events, and dropping one. A trigger node makes and drops its own; this is for looking,
//! and for what was left behind.

use http::Method;
use serde_json::json;

use crate::{
    client::{Api, ServerArgs, json_of},
    exit::Result,
    output::{Out, rows},
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
    /// List those of the API key, with an admin key all (the default)
    List,
    /// Drop one, with what is on its way to it
    Drop {
        /// The subscription's id (sub_…)
        subscription: String,
    },
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let api = Api::connect(&args.server)?;
    match args.verb.unwrap_or(Verb::List) {
        Verb::List => list(&api, out).await,
        Verb::Drop { subscription } => {
            let path = format!("/v1/subscriptions/{subscription}");
            json_of(api.send(Method::DELETE, &path, &[], None).await?)?;
            let gone = json!({ "id": subscription, "dropped": true });
            if out.json { out.value(&gone) } else { out.line(format!("{subscription} is dropped")) }
        }
    }
}

async fn list(api: &Api, out: Out) -> Result {
    let answer = api.get("/v1/subscriptions", &[]).await?;
    let items = answer["data"].as_array().cloned().unwrap_or_default();
    if out.json {
        return out.value(&json!({ "items": items }));
    }
    let pointers = ["/id", "/url", "/flow", "/api_key", "/created_at", "/failing_since", "/last_delivered_at"];
    let mut rows = rows(&items, &pointers);
    for (row, item) in rows.iter_mut().zip(&items) {
        let events = item["events"].as_array().into_iter().flatten().filter_map(|event| event.as_str());
        row.push(events.collect::<Vec<_>>().join(","));
    }
    let headings = ["subscription", "url", "flow", "key", "made", "failing since", "last delivered", "events"];
    out.table(&headings, &rows, "No subscriptions.")
}
