//! A form whose visit is over: the session ended while somebody typed, or began anew in another tab. Its token fits no
//! cookie any more, so it does nothing; what was typed comes back all the same. Whoever may see the card gets the form
//! again with a token that fits; whoever has to sign in first gets a page that holds it until then. The forms of the
//! night shift come back on such a page too, which shows what they hold and sends it again.
//!
//! Only for a form that the browser says came from a page of ours: nobody else puts words on our pages.

use std::collections::{BTreeMap, HashMap};

use askama::Template;
use axum::{extract::Request, response::Response};
use effectgate_lang::Msg;
use http::StatusCode;

use super::{
    answer::{self, Frame},
    approval::{self, Banner, Door, Found, Typed},
    decide, edit, listing,
    text::Shown,
    tongue::Tongue,
    viewer::{Sight, Viewer, sight},
    visit::Visit,
};
use crate::{
    auth::csrf::{Site, is_media},
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
    title: String,
    text: String,
    action: String,
    /// For somebody who has to sign in first.
    login: Option<String>,
    /// What the form holds, for whoever sends it again without seeing its page.
    shown: Vec<(String, Shown)>,
    /// Name and text of each field, to be sent again as they are.
    fields: Vec<(String, String)>,
}

/// The answer to a form whose token did not fit: `problem` as it is, or what was typed with a way on.
pub(super) async fn answer(visit: &Visit, door: &Door, posted: Posted, problem: Problem) -> Response {
    if !is_ours(visit) {
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
    let login = approval::login_path(visit, found.map(|found| &found.tenant), "/me");
    page(visit, Some(login), door.path(), fields, Vec::new())
}

/// True if the browser says that the form came from a page of ours.
pub(super) fn is_ours(visit: &Visit) -> bool {
    Site::of(&visit.headers, &visit.app.settings) == Site::Same
}

/// The answer to a form of the night shift that came without a session: it is held as it is. One that cannot be read
/// leads to the sign-in.
pub(super) async fn signed_out(visit: &Visit, request: Request) -> Response {
    let is_form = is_media(request.headers(), "application/x-www-form-urlencoded");
    match decide::form::<BTreeMap<String, String>>(request).await {
        Ok(fields) if is_form => kept(visit, &visit.path, fields.into_iter().collect()),
        _ => answer::see(&approval::login_path(visit, None, "/")),
    }
}

/// A form of the night shift whose token did not fit, shown and held: under a token of this visit for somebody who is
/// signed in, else without one, so that it comes back here.
pub(super) fn kept(visit: &Visit, path: &str, mut fields: Vec<(String, String)>) -> Response {
    fields.retain(|(name, _)| name != "csrf");
    let filled = fields.iter().filter(|(_, text)| !text.is_empty());
    let shown = filled.map(|(name, text)| (listing::words(name), Shown::new(text))).collect();
    let is_in = visit.signed_in.is_some();
    let token = if is_in { visit.forms().token(path) } else { String::new() };
    fields.push(("csrf".to_owned(), token));
    let login = (!is_in).then(|| approval::login_path(visit, None, "/me"));
    page(visit, login, path.to_owned(), fields, shown)
}

fn page(
    visit: &Visit,
    login: Option<String>,
    action: String,
    fields: Vec<(String, String)>,
    shown: Vec<(String, Shown)>,
) -> Response {
    let tongue = &visit.tongue;
    let (title, text) = match login {
        Some(_) => (tongue.say(Msg::StopEndedTitle), tongue.say(Msg::StopEnded)),
        None => (tongue.say(Msg::StopForeignFormTitle), tongue.say(Msg::StopKept)),
    };
    let frame = Frame::new(title.clone(), Some(visit));
    let page = Held { frame, t: tongue.clone(), title, text, action, login, shown, fields };
    answer::page(StatusCode::FORBIDDEN, &page)
}
