//! Tools for agents, by two doors: `POST /v1/tools/{flow}/{effect_type}` ([`rest`]) and `/mcp/{flow}` ([`mcp`]). Both
//! read the same things from where a workflow writes and no model does (`asked`: URL and headers), hand the model's
//! arguments on as they came, and answer the same words. What they mean is the engine's business.
//!
//! The work runs in a task of its own and is waited for here, so a caller that hangs up loses its answer and nothing else.

mod asked;
pub(crate) mod mcp;
pub(crate) mod rest;

use std::time::Duration;

use effectgate_engine::{
    EngineError,
    tools::{Began, ToolAnswer, ToolCall},
};

use crate::{
    api::detached,
    app::App,
    auth::Identity,
    problem::{Problem, Result},
};

/// Makes a call and waits for what comes of it, for so long.
async fn call(app: &App, who: &Identity, call: ToolCall, patience: Duration) -> Result<ToolAnswer> {
    let (engine, caller) = (app.engine.clone(), who.caller());
    let began = detached(async move { engine.tool_begin(&caller, &call).await.map_err(refused) }).await?;
    match began {
        Began::Waiting(waiting) => app.engine.tool_wait(&waiting, patience).await.map_err(Problem::from),
        Began::Answered(answer) => Ok(answer),
    }
}

/// What the engine refuses, said of a URL or a header and not of a member.
fn refused(error: EngineError) -> Problem {
    match error {
        EngineError::BadKey(error) => asked::bad_key(&error),
        other => Problem::from(other),
    }
}
