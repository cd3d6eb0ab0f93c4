//! A gate in service: what certify may touch there, and with whose rights.

use effectgate_certify::{Login, Target, far::Provider, ground::Ground};
use secrecy::SecretString;
use url::Url;

use super::Args;
use crate::{
    client::key_of,
    exit::{Exit, Failure, Result},
};

pub(super) async fn target(args: &Args) -> Result<Target> {
    let url = Url::parse(&args.server.url).map_err(Failure::usage)?;
    let key = SecretString::from(key_of(&args.server)?);
    let ground = args.flow.as_deref().map(ground).transpose()?;
    let far = match &ground {
        Some(_) => Some(provider(args).await?),
        None => None,
    };
    Ok(Target {
        name: url.origin().ascii_serialization(),
        url,
        key,
        ground,
        far,
        approver: login(args.login.as_deref(), &args.password_env)?,
        stranger: login(args.other_login.as_deref(), &args.other_password_env)?,
        house: None,
        look_in: args.look_in.clone(),
    })
}

pub(super) fn ground(word: &str) -> Result<Ground> {
    let bad = || Failure::usage(format!("{word:?} is no name of a flow: letters, digits, - and _, at most 40"));
    Ground::new(word).ok_or_else(bad)
}

async fn provider(args: &Args) -> Result<Provider> {
    let listen = args.far;
    Provider::start_at(listen).await.map_err(|error| {
        Failure::new(Exit::Unavailable, "cannot_listen", format!("{listen}: {error}"))
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
