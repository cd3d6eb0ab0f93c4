//! POST /in/{source}: the inbound door. A sender's own webhook becomes a run before it is answered. There is no API key:
//! the signature is the credential. Here: reading, unpacking and believing a delivery, and saying what became of it; what
//! it means is the engine's business.
//!
//! Whatever a sender can mend only by sending something else is no error here: it is kept, and a person looks at it.

mod answer;
mod packing;
mod read;

use axum::extract::{Path, Request, State, rejection::PathRejection};
use effectgate_core::ids::SourceName;

use crate::{api::Reply, app::App, problem::Result};

/// Bring an event.
///
/// For senders that sign what they send: the section `[sources.NAME]` says how. The body is kept as it came, whatever its
/// `Content-Type`; `Content-Encoding: gzip` is unpacked. 202 `accepted`: it is durable, and a worker gets it. 200
/// `duplicate`: the same event came before. 200 `conflict`: its key stands for another payload; nothing was merged. 200
/// `quarantined`: it is kept, and a person looks at it before anything is done. All four tell a sender to stop.
#[utoipa::path(post, path = "/in/{source}", tag = "inbound", operation_id = "accept", security(()),
    params(("source" = String, Path, description = "The name of a source in the config")),
    request_body(content = String, content_type = "*/*", description = "The event; JSON for anything to be done with it"),
    responses(
        (status = 202, description = "`accepted`: kept as a run", body = answer::InAnswer),
        (status = 200, description = "`duplicate`, `conflict` or `quarantined`: nothing to send again", body = answer::InAnswer)))]
pub(crate) async fn accept(
    State(app): State<App>,
    source: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Reply> {
    // A name that is no text is the name of nothing.
    let name = SourceName::new(source.map(|Path(name)| name).unwrap_or_default());
    let delivery = read::read(&app, &name, request).await?;
    // Not in a task of its own: it is one write that the store's writer owns once it is queued, so a sender that hangs up
    // loses its answer and nothing else.
    let accepted = app.engine.accept(&name, delivery).await?;
    Ok(answer::reply(accepted))
}
