//! `journal verify|export`: the audit of the record, by a running server or, with `--offline`, straight from the
//! database (reading only, also while a server runs).

use serde_json::{Value, json};

use crate::{
    client::{Api, ServerArgs},
    exit::{Failure, Result},
    output::{Out, cell},
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
    /// Check every chain against its head
    Verify,
    /// Print every entry, one JSON object a line
    Export,
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let api = Api::connect(&args.server)?;
    match args.verb {
        Verb::Verify => said(&api.get("/v1/journal/verify", &[]).await?, out),
        Verb::Export => {
            let answer = api.send(http::Method::GET, "/v1/journal/export", &[], None).await?;
            match answer.status {
                200 => out.bytes(&answer.body),
                _ => crate::client::json_of(answer).map(drop),
            }
        }
    }
}

/// Tells what a verification found; a broken chain is a failure.
fn said(report: &Value, out: Out) -> Result {
    let broken = report.get("broken").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if out.json {
        out.value(report)?;
    } else {
        out.line(format!("{} chains, {} entries", cell(report, "/chains"), cell(report, "/entries")))?;
        broken.iter().try_for_each(|fault| out.line(format!("broken: {}", cell(fault, "/detail"))))?;
    }
    if broken.is_empty() && report.get("ok") != Some(&json!(false)) {
        return Ok(());
    }
    Err(Failure::failed(format!("{} chains do not verify", broken.len())))
}
