//! `user add|list|disable|sign-out`: local accounts, and the end of anybody's sessions, directly on the database. A password is typed, piped in, or in the
//! environment; never an argument.

use effectgate_core::ids::Tenant;
use effectgate_engine::{Engine, people::UserPut};
use effectgate_store::UserRow;
use effectgate_web::auth::password;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::{
    commands::{Here, key::ACTOR},
    exit::{Failure, Result},
    output::Out,
    secret, wire,
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
    /// Make an account, or change one. The password is asked for, piped in, or in EFFECTGATE_PASSWORD
    Add {
        /// What the person types to sign in
        name: String,
        /// Roles and qualifications; a role named like a scope (operator, switch_owner …) gives it. Several with commas
        #[arg(long, value_delimiter = ',')]
        roles: Vec<String>,
        #[arg(long)]
        email: Option<String>,
        /// Keep the password there is
        #[arg(long)]
        keep_password: bool,
    },
    /// List accounts
    List,
    /// Take an account out of use; its sessions end with it
    Disable { name: String },
    /// End every session of a person: an account's name, a subject of single sign-on (oidc:…#…), or a mail address
    SignOut { name: String },
}

pub(crate) async fn run(args: Args, here: &Here) -> Result {
    let engine = wire::beside(here.config.as_deref()).await?;
    let done = act(&engine, &Tenant::new(args.tenant), args.verb, here.out).await;
    engine.store().close().await;
    done
}

async fn act(engine: &Engine, tenant: &Tenant, verb: Verb, out: Out) -> Result {
    match verb {
        Verb::Add { name, roles, email, keep_password } => {
            let password_hash = if keep_password { None } else { Some(new_password(&name).await?) };
            let put = UserPut { name: name.clone(), email, password_hash, roles };
            let is_new = engine.user_put(tenant, &ACTOR, &put).await?;
            let word = if is_new { "made" } else { "changed" };
            if out.json {
                out.value(&json!({ "user": name, "new": is_new }))
            } else {
                out.line(format!("{name}: {word}"))
            }
        }
        Verb::List => list(&engine.store().user_list(tenant).await?, out),
        Verb::Disable { name } => {
            engine.user_disable(tenant, &ACTOR, &name).await?;
            if out.json {
                out.value(&json!({ "user": name, "disabled": true }))
            } else {
                out.line(format!("{name}: disabled"))
            }
        }
        Verb::SignOut { name } => {
            let ended = engine.user_sign_out(tenant, &ACTOR, &name).await?;
            if out.json {
                out.value(&json!({ "signed_out": ended }))
            } else {
                ended.iter().try_for_each(|user| out.line(format!("{user}: signed out everywhere")))
            }
        }
    }
}

async fn new_password(name: &str) -> Result<String> {
    let password = secret::password("EFFECTGATE_PASSWORD", &format!("New password of {name}: "))?;
    let name = name.to_owned();
    let hashed = tokio::task::spawn_blocking(move || password::hash_for(&name, password.expose_secret())).await;
    hashed.map_err(Failure::failed)?.map_err(Failure::usage)
}

fn list(users: &[UserRow], out: Out) -> Result {
    if out.json {
        return out.value(&json!({ "users": users.iter().map(shown).collect::<Vec<_>>() }));
    }
    let rows = users.iter().map(|user| {
        let state = if user.disabled { "disabled" } else { "in use" };
        let email = user.email.clone().unwrap_or_else(|| "-".into());
        vec![user.name.clone(), email, user.roles.join(","), state.to_owned(), user.updated_at.to_string()]
    });
    out.table(&["name", "e-mail", "roles", "state", "changed"], &rows.collect::<Vec<_>>(), "No accounts.")
}

fn shown(user: &UserRow) -> Value {
    json!({ "name": user.name, "tenant": user.tenant.as_str(), "email": user.email, "roles": user.roles,
        "disabled": user.disabled, "created_at": user.created_at, "updated_at": user.updated_at })
}
