//! `effects`: lists effects, and cancels one that has not left.

use serde_json::json;

use crate::{
    client::{Api, ServerArgs},
    exit::Result,
    output::{Out, cell, rows},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// scheduled, pending, sending, completed, unknown, review, failed or cancelled; several with commas
    #[arg(long)]
    state: Option<String>,
    #[arg(long)]
    provider: Option<String>,
    /// At most this many
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Cancel an effect that has not left
    Cancel {
        /// The effect's id (eff_…)
        effect: String,
        #[arg(long)]
        reason: String,
    },
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let api = Api::connect(&args.server)?;
    match args.verb {
        Some(Verb::Cancel { effect, reason }) => {
            let answer = api.post(&format!("/v1/effects/{effect}/cancel"), &json!({ "reason": reason })).await?;
            if out.json { out.value(&answer) } else { out.line(format!("{effect} is cancelled")) }
        }
        None => list(&api, args.state.as_deref(), args.provider.as_deref(), args.limit, out).await,
    }
}

/// Lists effects in these states (comma-separated; all without).
pub(crate) async fn list(api: &Api, state: Option<&str>, provider: Option<&str>, limit: usize, out: Out) -> Result {
    let found = api.list("/v1/effects", "effects", &[("state", state), ("provider", provider)], limit).await?;
    if out.json {
        return out.value(&json!({ "items": found.items, "more": found.more }));
    }
    let pointers = ["/id", "/type", "/target", "/provider", "/state", "/reason", "/attempts", "/fence", "/external_id"];
    let mut rows = rows(&found.items, &pointers);
    for (row, item) in rows.iter_mut().zip(&found.items) {
        row.push(cell(item, "/key"));
    }
    let headings =
        ["effect", "type", "target", "provider", "state", "reason", "attempts", "fence", "external id", "key"];
    out.table(&headings, &rows, "No effects.")?;
    crate::commands::say_more(out, found.more)
}
