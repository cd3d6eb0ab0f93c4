//! `approve`: lists approvals, and decides one. An API key cannot decide: the command signs in as a person, shows what
//! is asked, decides on exactly the bytes shown, and signs out.

use clap::ValueEnum;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::{
    client::{Api, ServerArgs, json_of},
    exit::{Exit, Failure, Result},
    output::{Out, cell, rows},
    secret,
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
    /// List approvals (the default)
    List {
        /// open, approved, rejected, expired, withdrawn
        #[arg(long, default_value = "open")]
        state: String,
    },
    /// Decide one
    Decide(Decide),
}

#[derive(Debug, clap::Args)]
struct Decide {
    /// The approval's id (apr_…)
    approval: String,
    decision: Decision,
    /// Your account. The password is asked for, piped in, or in EFFECTGATE_PASSWORD
    #[arg(long, env = "EFFECTGATE_USER")]
    user: String,
    /// Why; a rejection needs it
    #[arg(long)]
    reason: Option<String>,
    /// The hash of the effects as you saw them; without it, of the effects as they are now
    #[arg(long)]
    effects_hash: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Decision {
    Approve,
    Reject,
}

impl Decision {
    const fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    match args.verb.unwrap_or(Verb::List { state: "open".into() }) {
        Verb::List { state } => list(&Api::connect(&args.server)?, &state, out).await,
        Verb::Decide(wish) => {
            let answer = decide(&args.server, &wish).await?;
            if out.json {
                return out.value(&answer);
            }
            let run = answer.get("run").unwrap_or(&answer);
            let (id, state, word) = (cell(run, "/id"), cell(run, "/state"), wish.decision.word());
            out.line(format!("{}: {word} is on record; the run {id} is {state}", wish.approval))
        }
    }
}

async fn list(api: &Api, state: &str, out: Out) -> Result {
    let found = api.list("/v1/approvals", "approvals", &[("state", Some(state))], 200).await?;
    if out.json {
        return out.value(&json!({ "items": found.items, "more": found.more }));
    }
    let pointers = ["/id", "/state", "/flow", "/key", "/audience", "/expires_at"];
    let headings = ["approval", "state", "flow", "key", "asked", "until"];
    out.table(&headings, &rows(&found.items, &pointers), "No approvals.")?;
    crate::commands::say_more(out, found.more)
}

async fn decide(server: &ServerArgs, wish: &Decide) -> Result<Value> {
    let mut api = Api::open(&server.url)?;
    sign_in(&mut api, &wish.user).await?;
    let path = format!("/v1/approvals/{}", wish.approval);
    let decided = match hash_of(&api, &path, wish).await {
        Ok(hash) => {
            let body = json!({ "decision": wish.decision.word(), "effects_hash": hash, "reason": wish.reason });
            api.post(&format!("{path}/decide"), &body).await
        }
        Err(failure) => Err(failure),
    };
    // The session ends with the command, also where the decision was refused.
    let _ = api.send(http::Method::DELETE, "/v1/session", &[], None).await;
    decided
}

async fn hash_of(api: &Api, path: &str, wish: &Decide) -> Result<String> {
    if let Some(hash) = &wish.effects_hash {
        return Ok(hash.clone());
    }
    let shown = api.get(path, &[]).await?;
    let approval = shown.get("approval").unwrap_or(&shown);
    let hash = approval.get("effects_hash").and_then(Value::as_str);
    hash.map(str::to_owned).ok_or_else(|| Failure::failed("the server did not say what is to be decided"))
}

/// Signs in with a local account; the session is kept in the client.
async fn sign_in(api: &mut Api, user: &str) -> Result {
    let password = secret::password("EFFECTGATE_PASSWORD", &format!("Password of {user}: "))?;
    let body = json!({ "user": user, "password": password.expose_secret() });
    let answer = api.send(http::Method::POST, "/v1/session", &[], Some(&body)).await?;
    api.keep_cookies(&answer.headers);
    json_of(answer)?;
    // Says that no foreign page sends what follows; a session is not taken for it without.
    api.set_header(effectgate_web::auth::csrf::HEADER, "1".to_owned());
    if api.has_cookies() {
        return Ok(());
    }
    Err(Failure::new(Exit::NotAllowed, "not_signed_in", "the server opened no session"))
}
