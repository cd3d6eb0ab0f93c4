//! ANY /out/{provider}/{path}: the outbound door. A workflow's HTTP request with an `Idempotency-Key` becomes one effect,
//! and its answer is the provider's own, now and at every repeat. Here: reading the request, and saying what came of it;
//! what it means is the engine's business.
//!
//! The work runs in a task of its own and is waited for here, so a caller that hangs up loses its answer and nothing else.

mod answer;
mod asked;

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use effectgate_engine::outbound::Began;
use utoipa::OpenApi;

use crate::{
    api::detached,
    app::App,
    auth::allowed::{Allowed, Work},
    problem::Problem,
};

/// The door's own part of the API's document: one handler answers every method, so it is described by hand.
#[derive(OpenApi)]
#[openapi(paths(send))]
pub(crate) struct Door;

/// Send a request to a provider through the gate.
///
/// Any method that the provider's section `out` allows. The path, the query, `Content-Type`, `Accept` and the body go on
/// as they come; credentials and the provider's key are the gate's. The first request under a key is sent once, and its
/// answer is given again to every repeat, with `Idempotent-Replayed: true`. Every answer names the run and the effect in
/// `Effectgate-Run` and `Effectgate-Effect`.
#[utoipa::path(post, path = "/out/{provider}/{path}", tag = "outbound", operation_id = "send_out",
    params(
        ("provider" = String, Path, description = "A provider whose section has `out`"),
        ("path" = String, Path, description = "What follows the provider's URL, with the query"),
        ("Idempotency-Key" = String, Header, description = "Names the event: a structured-field string, or the same text bare")),
    request_body(content = String, content_type = "*/*", description = "Any body; it goes on byte for byte"),
    responses(
        (status = "default", description = "The provider's own answer: its status, content headers and body"),
        (status = 202, description = "`awaiting_approval`: a person decides first. `scheduled`: held back by its cancel window", body = answer::Accepted)))]
pub(crate) async fn send(State(app): State<App>, Allowed { who, .. }: Allowed<Work>, request: Request) -> Response {
    let asked = match asked::read(&app, &who, request).await {
        Ok(asked) => asked,
        Err(problem) => return problem.into_response(),
    };
    let (engine, caller) = (app.engine.clone(), who.caller());
    let began = detached(async move { engine.out_begin(&caller, &asked).await.map_err(asked::refused) }).await;
    let answer = match began {
        Ok(Began::Waiting(waiting)) => app.engine.out_wait(&waiting).await.map_err(Problem::from),
        Ok(Began::Answered(answer)) => Ok(answer),
        Err(problem) => Err(problem),
    };
    answer.map_or_else(IntoResponse::into_response, answer::response)
}
