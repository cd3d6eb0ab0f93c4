//! `approve`: lists approvals, shows one, decides one, takes one back. An API key cannot decide: to decide, the command
//! signs in as a person, shows what is asked, decides on exactly the bytes shown, and signs out.

mod edit;
mod show;

use std::path::PathBuf;

use clap::ValueEnum;
use secrecy::ExposeSecret as _;
use serde::Serialize;
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
    /// Show one with its effects; with --json in the form that --edit takes
    Show(Which),
    /// Decide one
    Decide(Decide),
    /// Take a question back: for operators, and for the person who asked
    Withdraw {
        #[command(flatten)]
        which: Which,
        /// Why
        #[arg(long)]
        reason: String,
    },
}

#[derive(Debug, clap::Args)]
struct Which {
    /// The approval's id (apr_…)
    approval: String,
    /// Your account, instead of an API key. The password is asked for, piped in, or in EFFECTGATE_PASSWORD
    #[arg(long, env = "EFFECTGATE_USER")]
    user: Option<String>,
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
    /// Approve with other payloads: the file has the effects as they are to be, as `approve show --json` prints them
    /// ("-" for standard input). Unless the flow waives it, somebody who edited nothing has to approve too
    #[arg(long, value_name = "FILE")]
    edit: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Decision {
    Approve,
    Reject,
}

/// The body of a decision. Payloads go as the text they are.
#[derive(Debug, Serialize)]
struct Body {
    decision: &'static str,
    effects_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<Vec<edit::Effect>>,
}

pub(crate) async fn run(args: Args, out: Out) -> Result {
    let server = args.server;
    match args.verb.unwrap_or(Verb::List { state: "open".into() }) {
        Verb::List { state } => list(&Api::connect(&server)?, &state, out).await,
        Verb::Show(which) => show::show(&Wanted { server, which }, out).await,
        Verb::Decide(wish) => {
            let (id, answer) = (wish.approval.clone(), decide(server, wish).await?);
            let word = cell(&answer, "/decision");
            say(&answer, &format!("{id}: {word} is on record"), out)
        }
        Verb::Withdraw { which, reason } => {
            let wanted = Wanted { server, which };
            let session = wanted.open().await?;
            let path = format!("{}/withdraw", wanted.path());
            let answer = session.api.post(&path, &json!({ "reason": reason })).await;
            session.close().await;
            say(&answer?, &format!("{}: withdrawn", wanted.which.approval), out)
        }
    }
}

fn say(answer: &Value, what: &str, out: Out) -> Result {
    if out.json {
        return out.value(answer);
    }
    let run = answer.get("run").unwrap_or(answer);
    out.line(format!("{what}; the run {} is {}", cell(run, "/id"), cell(run, "/state")))
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

/// One approval at one server, and who asks about it.
struct Wanted {
    server: ServerArgs,
    which: Which,
}

impl Wanted {
    fn path(&self) -> String {
        format!("/v1/approvals/{}", self.which.approval)
    }

    /// Signed in as the account that was named, or with the API key.
    async fn open(&self) -> Result<Session> {
        let Some(user) = &self.which.user else {
            return Ok(Session { api: Api::connect(&self.server)?, signed_in: false });
        };
        let mut api = Api::open(&self.server.url)?;
        sign_in(&mut api, user).await?;
        Ok(Session { api, signed_in: true })
    }
}

struct Session {
    api: Api,
    signed_in: bool,
}

impl Session {
    /// The session ends with the command, also where it was refused.
    async fn close(self) {
        if self.signed_in {
            let _ = self.api.send(http::Method::DELETE, "/v1/session", &[], None).await;
        }
    }
}

async fn decide(server: ServerArgs, wish: Decide) -> Result<Value> {
    let edit = match &wish.edit {
        Some(_) if wish.decision == Decision::Reject => {
            return Err(Failure::usage("--edit belongs to approve: a rejection sends nothing"));
        }
        Some(path) => Some(edit::Edit::read(path)?),
        None => None,
    };
    let wanted = Wanted { server, which: Which { approval: wish.approval.clone(), user: Some(wish.user.clone()) } };
    let session = wanted.open().await?;
    let decided = send(&session.api, &wanted.path(), wish, edit).await;
    session.close().await;
    decided
}

async fn send(api: &Api, path: &str, wish: Decide, edit: Option<edit::Edit>) -> Result<Value> {
    let decision = match (wish.decision, &edit) {
        (Decision::Approve, None) => "approve",
        (Decision::Approve, Some(_)) => "edit",
        (Decision::Reject, _) => "reject",
    };
    let (effects, in_file) = edit.map_or((None, None), |edit| (Some(edit.effects), edit.effects_hash));
    let effects_hash = match wish.effects_hash.or(in_file) {
        Some(hash) => hash,
        None => hash_of(api, path).await?,
    };
    let body = Body { decision, effects_hash, reason: wish.reason, effects };
    let body = serde_json::to_string(&body).map_err(Failure::failed)?;
    api.post_text(&format!("{path}/decide"), body).await
}

async fn hash_of(api: &Api, path: &str) -> Result<String> {
    let shown = api.get(path, &[]).await?;
    let hash = shown.get("effects_hash").and_then(Value::as_str);
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
