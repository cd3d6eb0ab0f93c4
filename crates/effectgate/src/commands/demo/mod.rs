//! `demo`: the whole story offline, in seconds. A real server (a child process of this executable, on loopback, on a
//! temporary SQLite file), real HTTP calls, and a scripted provider in this process that counts what it executed.
//! Every figure that is printed was counted there or answered by the server; none is written in.

mod approval;
mod config;
mod crash;
mod story;
mod switch;
mod webhook;
mod world;

use serde::Serialize;
use serde_json::Value;

use self::{story::Story, world::World};
use crate::{
    exit::{Failure, Result},
    output::Out,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Every count, part by part.
#[derive(Debug, Serialize)]
struct Counts {
    without_gate: webhook::Naive,
    with_gate: webhook::Gated,
    approval: approval::Counts,
    crash: crash::Counts,
    switch: switch::Counts,
    timeline: Vec<Value>,
    /// Every guarantee that the story shows, and whether its counts bear it out.
    guarantees: Vec<Kept>,
}

/// A guarantee, held against what was counted.
#[derive(Debug, Clone, Serialize)]
struct Kept {
    what: &'static str,
    kept: bool,
}

fn kept(what: &'static str, kept: bool) -> Kept {
    Kept { what, kept }
}

pub(crate) async fn run(_: &Args, out: Out) -> Result {
    let story = Story::new(out);
    let mut world = World::start().await?;
    let told = tell(&mut world, &story).await;
    let log = world.log_tail();
    let counts = told.map_err(|failure| if failure.hint.is_none() { failure.hint(log) } else { failure })?;
    world.end().await?;
    if out.json {
        out.value(&counts)?;
    }
    match counts.guarantees.iter().find(|g| !g.kept) {
        None => story.end(&counts.guarantees),
        Some(broken) => Err(Failure::failed(format!("not kept: {}", broken.what))),
    }
}

async fn tell(world: &mut World, story: &Story) -> Result<Counts> {
    story.begin(world)?;
    let without_gate = webhook::without_gate(world, story).await?;
    let with_gate = webhook::with_gate(world, story).await?;
    let approval = approval::show(world, story).await?;
    let crash = crash::show(world, story).await?;
    let switch = switch::show(world, story).await?;
    let timeline = world.timeline(&crash.run).await?;
    story.timeline(&crash.key, &timeline)?;
    let mut guarantees = with_gate.guarantees(&without_gate);
    guarantees.extend(approval.guarantees());
    guarantees.extend(crash.guarantees());
    guarantees.extend(switch.guarantees());
    Ok(Counts { without_gate, with_gate, approval, crash, switch, timeline, guarantees })
}
