//! `journal verify|export`: the audit of the record, by a running server or, with `--offline`, straight from the
//! database (reading only, also while a server runs).

use effectgate_core::{
    ids::{RunId, Tenant},
    journal::SealedEntry,
    time::Timestamp,
};
use effectgate_engine::Engine;
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    client::{Api, ServerArgs, json_of},
    commands::Here,
    exit::{Failure, Result},
    output::{Out, cell},
    wire,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// Read the database of the config file instead of asking a server
    #[arg(long, global = true)]
    offline: bool,
    #[arg(long, global = true, default_value = wire::TENANT)]
    tenant: String,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Check every chain against its head
    Verify,
    /// Print every entry, one JSON object a line, and an end line
    Export,
}

pub(crate) async fn run(args: Args, here: &Here) -> Result {
    let out = here.out;
    if args.offline {
        let engine = wire::reader(here.config.as_deref()).await?;
        let tenant = Tenant::new(args.tenant);
        return match args.verb {
            Verb::Verify => said(&audit(&engine, &tenant).await?, out),
            Verb::Export => export(&engine, &tenant, out).await,
        };
    }
    let api = Api::connect(&args.server)?;
    match args.verb {
        Verb::Verify => said(&ask(&api).await?, out),
        Verb::Export => fetch(&api, out).await,
    }
}

/// What was found, all pages together.
#[derive(Default)]
struct Found {
    chains: u64,
    entries: u64,
    broken: Vec<Value>,
}

/// Asks the server, page by page.
async fn ask(api: &Api) -> Result<Found> {
    let mut found = Found::default();
    let mut cursor: Option<String> = None;
    loop {
        let page = api.get("/v1/journal/verify", &[("cursor", cursor.as_deref())]).await?;
        found.chains += page["chains"].as_u64().unwrap_or(0);
        found.entries += page["entries"].as_u64().unwrap_or(0);
        found.broken.extend(page["broken"].as_array().cloned().unwrap_or_default());
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(found);
        }
    }
}

async fn audit(engine: &Engine, tenant: &Tenant) -> Result<Found> {
    let audit = engine.audit(tenant, None, u64::MAX).await?;
    let broken = audit.broken.iter().map(|b| json!({ "run": b.run, "detail": b.detail })).collect();
    Ok(Found { chains: audit.chains, entries: audit.entries, broken })
}

/// Tells what a verification found; a broken chain is a failure.
fn said(found: &Found, out: Out) -> Result {
    let verified = found.broken.is_empty();
    if out.json {
        let (chains, entries, broken) = (found.chains, found.entries, &found.broken);
        out.value(&json!({ "verified": verified, "chains": chains, "entries": entries, "broken": broken }))?;
    } else {
        let word = if verified { "verified" } else { "looked at" };
        out.line(format!("{word}: {} chains, {} entries", found.chains, found.entries))?;
        found.broken.iter().try_for_each(|b| out.line(format!("broken: {}", cell(b, "/detail"))))?;
    }
    if verified { Ok(()) } else { Err(Failure::failed(format!("{} chains do not verify", found.broken.len()))) }
}

async fn fetch(api: &Api, out: Out) -> Result {
    let answer = api.send(http::Method::GET, "/v1/journal/export", &[], None).await?;
    match answer.status {
        200 => out.bytes(&answer.body),
        _ => json_of(answer).map(drop),
    }
}

/// The same lines as the server's export.
async fn export(engine: &Engine, tenant: &Tenant, out: Out) -> Result {
    let (mut after, mut chains, mut entries): (Option<RunId>, u64, u64) = (None, 0, 0);
    loop {
        let page = engine.chains(tenant, after).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.run);
        for head in &page {
            chains += 1;
            for entry in engine.chain(head).await? {
                entries += 1;
                out.line(serde_json::to_string(&Line::of(entry)?).map_err(Failure::failed)?)?;
            }
        }
    }
    out.line(json!({ "end": true, "chains": chains, "entries": entries }).to_string())
}

/// `hash` is SHA-256 over the bytes of `entry` exactly as they stand.
#[derive(Serialize)]
struct Line {
    run_id: RunId,
    seq: i64,
    at: Timestamp,
    kind: String,
    hash: String,
    entry: Box<RawValue>,
}

impl Line {
    fn of(entry: SealedEntry) -> Result<Self> {
        let text = RawValue::from_string(entry.text);
        let text = text.map_err(|e| Failure::failed(format!("entry {} of {}: {e}", entry.seq, entry.run)))?;
        let hash = entry.hash.to_string();
        Ok(Self { run_id: entry.run, seq: entry.seq, at: entry.at, kind: entry.kind, hash, entry: text })
    }
}
