//! A path that leads nowhere: a page for somebody who reads pages, a problem for every other caller.

use axum::{
    extract::{FromRequestParts as _, Request, State},
    response::{IntoResponse as _, Response},
};
use effectgate_lang::Msg;
use http::{HeaderMap, StatusCode, header};

use super::{
    answer::{self, Note},
    visit::Visit,
};
use crate::{
    app::App,
    problem::{Code, Problem},
};

/// Answers for every path that no route knows.
pub(crate) async fn show(State(app): State<App>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    if !reads_pages(&parts.headers) {
        return Problem::new(Code::NoSuchPath, "there is nothing at this path; see /docs").into_response();
    }
    let page = match Visit::from_request_parts(&mut parts, &app).await {
        Ok(visit) => no_page(&visit),
        Err(response) => response,
    };
    answer::guarded(page).await
}

fn no_page(visit: &Visit) -> Response {
    let tongue = &visit.tongue;
    Note::new(Some(visit), tongue.say(Msg::StopNoPageTitle), tongue.say(Msg::StopNoPage))
        .way("/inbox", tongue.say(Msg::LoginToInbox))
        .answer(StatusCode::NOT_FOUND)
}

/// True if `Accept` names HTML before any JSON. Browsers put HTML first; libraries name JSON or anything at all
/// (`*/*`), and those get the problem. Weights are not looked at: nobody who wants a page lists it after JSON.
fn reads_pages(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let mut types = lines.flat_map(|line| line.split(',')).map(|range| {
        let media = range.split(';').next().unwrap_or_default();
        media.trim().to_ascii_lowercase()
    });
    types.find(|media| media == "text/html" || media.ends_with("json")).is_some_and(|media| media == "text/html")
}
