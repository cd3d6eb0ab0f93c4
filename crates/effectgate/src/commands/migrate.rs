//! `migrate status|apply`: the schema. The server does the same at its start; this is for those who want it apart.

use serde_json::json;

use crate::{
    commands::Here,
    config::DatabaseSettings,
    exit::{Exit, Failure, Result},
    wire::{self, Access},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Clone, Copy, clap::Subcommand)]
enum Verb {
    /// Say how the schema stands; changes nothing (the default)
    Status,
    /// Bring the schema up to this binary
    Apply,
}

pub(crate) async fn run(args: &Args, here: &Here) -> Result {
    let database = wire::read_config(here.config.as_deref())?.resolve()?.database;
    let access = match args.verb.unwrap_or(Verb::Status) {
        Verb::Status if is_new(&database) => {
            return Err(Failure::new(Exit::Refused, "no_database", "there is no database yet")
                .hint("`effectgate migrate apply` makes it; so does the first start of the server."));
        }
        Verb::Status => Access::Read,
        Verb::Apply => Access::Serve,
    };
    let store = wire::open(&database, access).await?;
    let health = store.health().await;
    store.close().await;
    let health = health?;
    if here.out.json {
        return here.out.value(&json!({ "backend": health.backend, "schema": health.schema, "current": true }));
    }
    here.out.line(format!("{}: schema {}, as this binary knows it", health.backend, health.schema))
}

fn is_new(database: &DatabaseSettings) -> bool {
    matches!(database, DatabaseSettings::Sqlite { path, .. } if !path.exists())
}
