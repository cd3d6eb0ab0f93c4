//! What n8n says while it starts. It listens before its routes are there, and answers whatever is asked: with 200 while its
//! database migrates, with the router's own 404 for some seconds after (seen at 2.41.1, on every path). Neither comes from a
//! webhook, a waiting execution or its API, so neither says that anything was taken, is gone, or never was.

use crate::outcome::Answer;

/// Written by hand in its server, as the whole body.
const STARTING: &str = "n8n is starting up. Please wait";
/// The page of its router for a path that it does not have (yet), with the method and the path behind it.
const NO_ROUTE: &str = "<pre>Cannot ";

/// Says whether an answer is one of a server whose routes are not there yet: nothing was taken, and nothing is known.
#[must_use]
pub fn is_starting(answer: &Answer) -> bool {
    let text = String::from_utf8_lossy(&answer.body);
    match answer.status {
        200 => text.trim() == STARTING,
        404 => text.contains(NO_ROUTE),
        _ => false,
    }
}
