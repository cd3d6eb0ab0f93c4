//! A gate in service: what certify may touch there, and with whose rights.

use effectgate_certify::{Door, Item, Login, Target, ground::Ground};
use secrecy::SecretString;
use url::Url;

use super::Args;
use crate::{
    client::key_of,
    exit::{Exit, Failure, Result},
};

pub(super) async fn target(args: &Args, items: &[Item]) -> Result<Target> {
    let url = Url::parse(&args.server.url).map_err(Failure::usage)?;
    let judges_gate = items.iter().any(|item| item.is_of_gate());
    // Where only a workflow is judged no gate is asked anything, and there may be none.
    let key = SecretString::from(if judges_gate { key_of(&args.server)? } else { String::new() });
    let ground = args.flow.as_deref().map(ground).transpose()?;
    let door = match &ground {
        Some(_) => Some(door(args).await?),
        None => None,
    };
    Ok(Target {
        name: if judges_gate { url.origin().ascii_serialization() } else { "a workflow".to_owned() },
        url,
        key,
        ground,
        door,
        approver: login(args.login.as_deref(), &args.password_env)?,
        stranger: login(args.other_login.as_deref(), &args.other_password_env)?,
        house: None,
        workflow: None,
        look_in: args.look_in.clone(),
    })
}

pub(super) fn ground(word: &str) -> Result<Ground> {
    let bad = || Failure::usage(format!("{word:?} is no name of a flow: letters, digits, - and _, at most 40"));
    Ground::new(word).ok_or_else(bad)
}

async fn door(args: &Args) -> Result<Door> {
    Door::start(args.far).await.map_err(|error| {
        Failure::new(Exit::Unavailable, "cannot_listen", error)
            .hint("certify plays the provider there; --far names another address, which the config must name too.")
    })
}

fn login(user: Option<&str>, variable: &str) -> Result<Option<Login>> {
    let Some(user) = user else { return Ok(None) };
    let password = std::env::var(variable).ok().filter(|text| !text.is_empty());
    let password = password.ok_or_else(|| {
        Failure::usage(format!("the variable {variable} holds no password for {user}"))
            .hint("A password is never given on the command line, where other users of the machine can read it.")
    })?;
    Ok(Some(Login { user: user.to_owned(), password: password.into() }))
}
