//! `key create|list|revoke`: API keys, directly on the database, so that somebody who has lost every key can make one.
//! Works while a server runs: on PostgreSQL as one more client, on SQLite as a short second connection.

use effectgate_core::{actor::Actor, ids::Tenant};
use effectgate_engine::{Engine, keys::KeyScope};
use effectgate_store::ApiKeyRow;
use serde_json::{Value, json};

use crate::{
    commands::Here,
    exit::{Failure, Result},
    output::Out,
    wire,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long, global = true, default_value = wire::TENANT)]
    tenant: String,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Make a key; it is printed once and kept nowhere
    Create {
        /// How the journal names what was done with it
        name: String,
        /// worker, approver, operator, auditor, switch_owner or admin; several with commas
        #[arg(long, value_delimiter = ',', required = true, value_parser = scope)]
        scopes: Vec<KeyScope>,
        /// Flows it may touch; all without. Several with commas
        #[arg(long, value_delimiter = ',')]
        flows: Vec<String>,
    },
    /// List keys, revoked ones included
    List,
    /// Revoke a key; a server that has just seen it forgets it within seconds
    Revoke {
        /// The public id, as `key list` shows it
        id: String,
    },
}

fn scope(word: &str) -> Result<KeyScope, String> {
    let words = || KeyScope::ALL.map(KeyScope::as_str).join(", ");
    KeyScope::parse(word).ok_or_else(|| format!("one of {}", words()))
}

/// How the journal names this command: the key that did it is the shell's own right to the database.
pub(crate) const ACTOR: Actor = Actor::System("command_line");

pub(crate) async fn run(args: Args, here: &Here) -> Result {
    let engine = wire::beside(here.config.as_deref()).await?;
    let done = act(&engine, &Tenant::new(args.tenant), args.verb, here.out).await;
    engine.store().close().await;
    done
}

async fn act(engine: &Engine, tenant: &Tenant, verb: Verb, out: Out) -> Result {
    match verb {
        Verb::Create { name, scopes, flows } => create(engine, tenant, &name, &scopes, &flows, out).await,
        Verb::List => list(&engine.key_list(tenant).await?, out),
        Verb::Revoke { id } => {
            let row = engine.key_revoke(tenant, &ACTOR, &id).await?;
            if out.json { out.value(&shown(&row)) } else { out.line(format!("{id} ({}) is revoked", row.name)) }
        }
    }
}

async fn create(
    engine: &Engine,
    tenant: &Tenant,
    name: &str,
    scopes: &[KeyScope],
    flows: &[String],
    out: Out,
) -> Result {
    if let Some(unknown) = flows.iter().find(|flow| !engine.policy().flows.contains_key(flow.as_str())) {
        return Err(Failure::not_found(format!("the config has no flow {unknown:?}")));
    }
    let made = engine.key_create(tenant, &ACTOR, name, scopes, flows, None).await?;
    if out.json {
        let mut value = shown(&made.row);
        value["key"] = json!(made.token);
        return out.value(&value);
    }
    // On a terminal with a word beside it; a pipe gets the key alone.
    if out.terminal {
        out.line(format!("{} ({}), shown this once:", made.row.name, made.row.public_id))?;
    }
    out.line(made.token)
}

fn list(rows: &[ApiKeyRow], out: Out) -> Result {
    if out.json {
        return out.value(&json!({ "keys": rows.iter().map(shown).collect::<Vec<_>>() }));
    }
    let rows = rows.iter().map(|row| {
        let flows = if row.flows.is_empty() { "all".to_owned() } else { row.flows.join(",") };
        let revoked = row.revoked_at.map_or_else(|| "-".into(), |at| at.to_string());
        vec![row.public_id.clone(), row.name.clone(), row.scopes.join(","), flows, row.created_at.to_string(), revoked]
    });
    let rows: Vec<_> = rows.collect();
    out.table(&["id", "name", "scopes", "flows", "made", "revoked"], &rows, "No keys.")
}

fn shown(row: &ApiKeyRow) -> Value {
    json!({ "id": row.public_id, "name": row.name, "tenant": row.tenant.as_str(), "scopes": row.scopes,
        "flows": row.flows, "created_at": row.created_at, "revoked_at": row.revoked_at })
}
