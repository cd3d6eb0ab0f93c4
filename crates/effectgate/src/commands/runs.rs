//! `runs`: finds runs by flow, key, state and time.

use serde_json::json;

use crate::{
    client::{Api, ServerArgs},
    exit::Result,
    output::{Out, rows},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: ServerArgs,
    #[arg(long)]
    flow: Option<String>,
    /// The whole key
    #[arg(long)]
    key_is: Option<String>,
    /// queued, processing, awaiting_human, approved, completed, failed_retryable, failed_terminal or quarantined
    #[arg(long)]
    state: Option<String>,
    /// Created at or after this moment (RFC 3339)
    #[arg(long)]
    since: Option<String>,
    /// Created before this moment (RFC 3339)
    #[arg(long)]
    until: Option<String>,
    /// At most this many
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let api = Api::connect(&args.server)?;
    let query = [
        ("flow", args.flow.as_deref()),
        ("key", args.key_is.as_deref()),
        ("state", args.state.as_deref()),
        ("since", args.since.as_deref()),
        ("until", args.until.as_deref()),
    ];
    let found = api.list("/v1/runs", "runs", &query, args.limit).await?;
    if out.json {
        return out.value(&json!({ "items": found.items, "more": found.more }));
    }
    let rows = rows(&found.items, &["/id", "/flow", "/key", "/state", "/reason", "/attempts", "/updated_at"]);
    out.table(&["run", "flow", "key", "state", "reason", "attempts", "changed"], &rows, "No runs.")?;
    crate::commands::say_more(out, found.more)
}
