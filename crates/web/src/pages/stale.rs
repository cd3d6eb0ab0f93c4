//! A form whose visit is over: the session ended while somebody typed, or began anew in another tab. Its token fits no
//! cookie any more, so it does nothing; what was typed comes back all the same. Whoever may see the card gets the form
//! again with a token that fits; whoever has to sign in first gets a page that holds it until then.
//!
//! Only for a form that the browser says came from a page of ours: nobody else puts words on our pages.

use std::collections::HashMap;

use askama::Template;
use axum::response::Response;
use effectgate_lang::Msg;
use http::StatusCode;

use super::{
    answer::{self, Frame},
    approval::{self, Banner, Door, Found, Typed},
    edit,
    tongue::Tongue,
    viewer::{Sight, Viewer, sight},
    visit::Visit,
};
use crate::{
    auth::csrf::Site,
    problem::{Problem, Result},
};

/// What the form held, whatever it wanted.
pub(super) struct Posted {
    pub(super) decision: String,
    pub(super) effects_hash: String,
    pub(super) reason: String,
    pub(super) effect: String,
    pub(super) fields: HashMap<String, String>,
}

#[derive(Template)]
#[template(path = "stale.html")]
struct Held {
    frame: Frame,
    t: Tongue,
    action: String,
    login: String,
    /// Name and text of each field, to be sent again as they are.
    fields: Vec<(String, String)>,
}

/// The answer to a form whose token did not fit: `problem` as it is, or what was typed with a way on.
pub(super) async fn answer(visit: &Visit, door: &Door, posted: Posted, problem: Problem) -> Response {
    if Site::of(&visit.headers, &visit.app.settings) != Site::Same {
        return answer::problem(&problem, Some(visit));
    }
    again(visit, door, posted).await.unwrap_or_else(|problem| answer::problem(&problem, Some(visit)))
}

async fn again(visit: &Visit, door: &Door, posted: Posted) -> Result<Response> {
    if visit.signed_in.is_none() && matches!(door, Door::Inbox(_)) {
        return Ok(held(visit, door, None, posted));
    }
    let found = match approval::find(visit, door).await {
        Ok(found) => found,
        Err(response) => return Ok(response),
    };
    Ok(match sight(visit, &found.tenant, &found.approval, found.audience.as_deref()).await? {
        Sight::Card(viewer) => form(visit, door, found, &viewer, posted).await,
        Sight::SignIn => held(visit, door, Some(&found), posted),
        other => approval::not_shown(visit, door, &found, &other, StatusCode::FORBIDDEN),
    })
}

/// The form as it was, under a token of this visit. Nothing was decided, and the page says so.
async fn form(visit: &Visit, door: &Door, found: Found, viewer: &Viewer, posted: Posted) -> Response {
    let tongue = &visit.tongue;
    let (title, text) = (tongue.say(Msg::StopForeignFormTitle), tongue.say(Msg::StopKept));
    let overtaken = posted.effects_hash.parse().ok().filter(|shown| *shown != found.approval.effects_hash);
    let status = StatusCode::FORBIDDEN;
    if posted.decision == "edit" && approval::may_edit(visit, &found, viewer) {
        let typed = edit::Typed::of(&posted.fields, posted.reason);
        let state = edit::State { status, banner: Some((title, text)), typed, overtaken, ..edit::State::default() };
        return edit::page(visit, door, &found, viewer.person.subject.as_str(), state);
    }
    let typed = match posted.decision.as_str() {
        "reject" => Typed { reason: posted.reason, overtaken, ..Typed::default() },
        "withdraw" | "cancel" => Typed { operate: posted.reason, overtaken, ..Typed::default() },
        _ => Typed { note: posted.reason, overtaken, ..Typed::default() },
    };
    approval::card(visit, door, found, viewer, status, Some(Banner { title, text }), typed).await
}

/// Holds what was typed while its writer signs in, in another tab.
fn held(visit: &Visit, door: &Door, found: Option<&Found>, posted: Posted) -> Response {
    let named = |name: &str, text: String| (name.to_owned(), text);
    let mut fields: Vec<(String, String)> = posted.fields.into_iter().collect();
    fields.sort();
    fields.extend([
        named("decision", posted.decision),
        named("effects_hash", posted.effects_hash),
        named("reason", posted.reason),
        named("effect", posted.effect),
    ]);
    // No token: this form decides nothing even if it is sent without a sign-in; it comes back here.
    fields.push(named("csrf", String::new()));
    let page = Held {
        frame: Frame::new(visit.tongue.say(Msg::StopEndedTitle), Some(visit)),
        t: visit.tongue.clone(),
        login: approval::login_path(visit, found.map(|found| &found.tenant), "/me"),
        action: door.path(),
        fields,
    };
    answer::page(StatusCode::FORBIDDEN, &page)
}
