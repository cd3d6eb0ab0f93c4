//! Single sign-on as pages: the redirect to the issuer, the way back, and what is said when it does not work. No page
//! here gives a session by itself: the way back needs the cookie of the browser that went.
//!
//! Both are GET, as the protocol has it. HEAD, which scanners send, is answered without doing anything.

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use effectgate_lang::Msg;
use effectgate_oidc::Answer;
use http::{HeaderValue, Method, StatusCode, header};
use serde::Deserialize;

use super::{
    answer::{self, Note},
    login::safe_path,
    visit::Visit,
};
use crate::{
    auth::{cookie::Cookie, single_sign_on},
    problem::{Code, Problem},
};

/// Where to go afterwards.
#[derive(Deserialize, Default)]
pub(crate) struct Wanted {
    #[serde(default)]
    next: String,
}

/// GET /auth/oidc/start: off to the issuer.
pub(crate) async fn start(method: Method, visit: Visit, wanted: Result<Query<Wanted>, QueryRejection>) -> Response {
    if method == Method::HEAD {
        return nothing();
    }
    let next = safe_path(&wanted.map(|Query(wanted)| wanted.next).unwrap_or_default());
    match single_sign_on::begin(&visit.app, &visit.headers, visit.peer, &next).await {
        Ok(going) => with_cookies(answer::see(&going.url), going.cookies),
        Err(problem) => refused(&visit, &problem, &next),
    }
}

/// GET /auth/oidc/callback: back from the issuer.
pub(crate) async fn callback(
    method: Method,
    visit: Visit,
    answered: Result<Query<Answer>, QueryRejection>,
) -> Response {
    if method == Method::HEAD {
        return nothing();
    }
    let answered = answered.map(|Query(answered)| answered).unwrap_or_default();
    let back = single_sign_on::finish(&visit.app, &visit.headers, visit.peer, answered).await;
    let next = safe_path(&back.next);
    let response = match back.result {
        Ok(opened) => {
            let settings = &visit.app.settings;
            let mine = vec![Cookie::Session.set(&opened.secret, settings), Cookie::Visit.clear(settings)];
            with_cookies(answer::see(&next), mine)
        }
        Err(problem) => refused(&visit, &problem, &next),
    };
    with_cookies(response, back.cookies)
}

/// Says why nobody was signed in, what that means, and the way on. Whoever is signed in still is.
fn refused(visit: &Visit, problem: &Problem, next: &str) -> Response {
    let t = &visit.tongue;
    let note = |title, text: String| Note::new(Some(visit), t.say(title), text);
    let note = match problem.code() {
        Code::SignInExpired => note(Msg::SignOnOverTitle, t.say(Msg::SignOnOver)),
        Code::IssuerUnavailable => note(Msg::SignOnAwayTitle, t.say(Msg::SignOnAway)),
        Code::NoRole => note(Msg::SignOnRoleTitle, t.say(Msg::SignOnRole)),
        // The reason stays as the log has it: it is for whoever runs this server.
        Code::SignInRefused => {
            note(Msg::SignOnRefusedTitle, t.with(Msg::SignOnRefused, "reason", &answer::sentence(problem.detail())))
        }
        _ => return answer::problem(problem, Some(visit)),
    };
    let note = match &visit.signed_in {
        Some(person) => {
            note.and(t.with(Msg::SignOnStill, "name", &person.display_name)).way("/inbox", t.say(Msg::LoginToInbox))
        }
        None => note.way(super::approval::login_path(visit, None, next), t.say(Msg::SignOnAgain)),
    };
    let mut response = note.answer(problem.status());
    if let Some(ms) = problem.wait_ms() {
        response.headers_mut().insert(header::RETRY_AFTER, crate::problem::retry_after(ms));
    }
    response
}

fn nothing() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

fn with_cookies(mut response: Response, cookies: Vec<HeaderValue>) -> Response {
    for cookie in cookies {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
