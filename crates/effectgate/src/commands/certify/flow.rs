//! A workflow of the user's own: its trigger, an event, and the relay in front of its provider's sandbox.

use effectgate_certify::{Count, EVENT, RelayError, Workflow, WorkflowSettings};
use serde_json::Value;
use url::Url;

use super::Args;
use crate::exit::{Exit, Failure, Result};

/// The workflow that the arguments name, if they name one.
pub(super) async fn workflow(args: &Args) -> Result<Option<Workflow>> {
    let (Some(trigger), Some(sandbox)) = (&args.workflow, &args.provider_sandbox) else { return Ok(None) };
    let count = args.count.as_deref().map(address).transpose()?;
    let settings = WorkflowSettings {
        trigger: address(trigger)?,
        event: event(args)?,
        sandbox: sandbox.clone(),
        listen: args.relay,
        effect_path: args.effect_path.clone(),
        count: count.map(|url| Count { url, pointer: args.count_at.clone() }),
    };
    Workflow::start(settings, args.i_know).await.map(Some).map_err(refused)
}

fn address(text: &str) -> Result<Url> {
    Url::parse(text).map_err(|e| Failure::usage(format!("{text} is no address: {e}")))
}

fn refused(error: RelayError) -> Failure {
    match error {
        RelayError::PublicUpstream { .. } => {
            Failure::new(Exit::Refused, "public_upstream", error).hint("If this is a sandbox and meant so: --i-know")
        }
        RelayError::Listen { .. } => Failure::new(Exit::Unavailable, "cannot_listen", error)
            .hint("--relay names another address, which the workflow's provider must be set to."),
        other => Failure::usage(other),
    }
}

/// An event is JSON and has a place for its id, or every delivery would be the same event.
fn event(args: &Args) -> Result<String> {
    let text = match &args.event {
        None => return Ok(EVENT.to_owned()),
        Some(path) => {
            std::fs::read_to_string(path).map_err(|e| Failure::usage(format!("the event {}: {e}", path.display())))?
        }
    };
    if !text.contains("{{ id }}") {
        return Err(Failure::usage("the event has no {{ id }}: each delivery of a new event must differ in it"));
    }
    match serde_json::from_str::<Value>(&text.replace("{{ id }}", "certify")) {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::usage(format!("the event is no JSON: {error}"))),
    }
}
