//! `correct`: a new event with its own key from upstream, linked to a run that has ended.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    client::{Api, ServerArgs},
    exit::{Failure, Result},
    output::{Out, cell},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// The run to correct (run_…); it must have ended
    run: String,
    /// The new event's own key, from upstream; not the old one with something added
    #[arg(long)]
    new_key: String,
    /// A file with the new event's payload (JSON); - reads standard input
    #[arg(long)]
    payload: PathBuf,
    /// Why; it stands in both runs' records, and the new run's worker is shown it
    #[arg(long)]
    reason: String,
    /// The new event's flow; left out, the original's
    #[arg(long)]
    flow: Option<String>,
}

/// More than any server takes; a wrong file is not read to its end.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let api = Api::connect(&args.server)?;
    let answer = api.post_text(&format!("/v1/runs/{}/correct", args.run), body(&args)?).await?;
    if out.json {
        return out.value(&answer);
    }
    let (run, state) = (cell(&answer, "/run/id"), cell(&answer, "/run/state"));
    let said = if answer["answer"] == "queued" { "made" } else { "was there already" };
    out.line(format!("{run} {said}; it is {state} and corrects {}", args.run))
}

/// The payload goes as the text that it is: numbers and spaces are part of it.
fn body(args: &Args) -> Result<String> {
    let payload = read(&args.payload)?;
    serde_json::from_str::<serde::de::IgnoredAny>(&payload)
        .map_err(|e| Failure::usage(format!("the payload is not JSON: {e}")))?;
    let text = |text: &str| Value::from(text).to_string();
    let flow = args.flow.as_deref().map(|flow| format!("\"flow\":{},", text(flow))).unwrap_or_default();
    Ok(format!("{{{flow}\"key\":{},\"payload\":{payload},\"reason\":{}}}", text(&args.new_key), text(&args.reason)))
}

fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    } else {
        let file = fs::File::open(path).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))?;
        file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    }
    Ok(text)
}
