//! Signing in and out. The form is bound to a visit cookie, so that nobody can be signed in to a stranger's account by a
//! foreign page.

use askama::Template;
use axum::{
    extract::{Query, Request, rejection::QueryRejection},
    response::{IntoResponse as _, Response},
};
use effectgate_engine::sessions::{Ended, Source};
use effectgate_lang::Msg;
use http::{HeaderValue, StatusCode, header};
use serde::Deserialize;

use super::{
    answer::{self, Frame, Note},
    decide::form,
    tongue::Tongue,
    visit::Visit,
};
use crate::{
    auth::{
        cookie::Cookie,
        csrf, session,
        signin::{self, Credentials},
    },
    problem::{Code, Problem, Result},
};

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    frame: Frame,
    t: Tongue,
    csrf: String,
    next: String,
    tenant: String,
    user: String,
    error: Option<String>,
    /// The form for local accounts is shown.
    local: bool,
    sign_on: Option<SignOn>,
}

/// The button of single sign-on.
struct SignOn {
    name: String,
    href: String,
}

/// Where to go afterwards, and in which tenant, where it is not the house's own.
#[derive(Deserialize, Default)]
pub(crate) struct Wanted {
    #[serde(default)]
    next: String,
    #[serde(default)]
    tenant: String,
}

#[derive(Deserialize)]
struct LoginForm {
    csrf: String,
    user: String,
    password: String,
    #[serde(default)]
    next: String,
    #[serde(default)]
    tenant: String,
}

#[derive(Deserialize)]
struct LogoutForm {
    csrf: String,
}

const LOGIN: &str = "/login";
const LOGOUT: &str = "/logout";

pub(crate) async fn show(visit: Visit, wanted: Result<Query<Wanted>, QueryRejection>) -> Response {
    let Query(wanted) = wanted.unwrap_or_default();
    again(&visit, wanted, String::new(), None, StatusCode::OK)
}

pub(crate) async fn sign_in(visit: Visit, request: Request) -> Response {
    let form = match read::<LoginForm>(&visit, request, LOGIN, |form| &form.csrf).await {
        Ok(form) => form,
        Err(problem) => return answer::problem(&problem, Some(&visit)),
    };
    let wanted = Wanted { next: form.next, tenant: form.tenant };
    let tenant = Some(wanted.tenant.clone()).filter(|t| !t.is_empty());
    let typed = Credentials { user: form.user.clone(), password: form.password, tenant };
    match signin::sign_in(&visit.app, &visit.headers, visit.peer, typed).await {
        Ok(opened) => {
            let settings = &visit.app.settings;
            let mut response = answer::see(&safe_path(&wanted.next));
            response.headers_mut().append(header::SET_COOKIE, Cookie::Session.set(&opened.secret, settings));
            response.headers_mut().append(header::SET_COOKIE, Cookie::Visit.clear(settings));
            response
        }
        Err(problem) => refused(&visit, wanted, form.user, &problem),
    }
}

fn refused(visit: &Visit, wanted: Wanted, user: String, problem: &Problem) -> Response {
    match problem.code() {
        Code::Unauthorized | Code::TooManyFailures => {
            let said = match problem.wait_ms() {
                Some(ms) => visit.tongue.around(Msg::LoginWait, &[("span", &visit.tongue.span(ms.max(1_000)))]),
                None => visit.tongue.say(Msg::LoginRefused),
            };
            let mut response = again(visit, wanted, user, Some(said), page_status(problem));
            if let Some(ms) = problem.wait_ms() {
                response.headers_mut().insert(header::RETRY_AFTER, crate::problem::retry_after(ms));
            }
            response
        }
        _ => answer::problem(problem, Some(visit)),
    }
}

/// 403 instead of 401: a 401 owes the browser a challenge that it can answer, and a form is none.
fn page_status(problem: &Problem) -> StatusCode {
    if problem.code() == Code::Unauthorized { StatusCode::FORBIDDEN } else { problem.status() }
}

fn again(visit: &Visit, wanted: Wanted, user: String, error: Option<String>, status: StatusCode) -> Response {
    let forms = visit.forms();
    let page = LoginPage {
        frame: Frame::new(visit.tongue.say(Msg::LoginTitle), Some(visit)),
        t: visit.tongue.clone(),
        csrf: forms.token(LOGIN),
        next: safe_path(&wanted.next),
        tenant: wanted.tenant.clone(),
        user,
        error,
        local: visit.app.settings.local_accounts,
        sign_on: sign_on(visit, &wanted.next),
    };
    forms.with(answer::page(status, &page))
}

/// A link, not a form: our forms may not lead to another site, and a redirect is one.
fn sign_on(visit: &Visit, next: &str) -> Option<SignOn> {
    let configured = visit.app.single_sign_on.as_ref()?;
    let next = safe_path(next);
    let next = percent_encoding::utf8_percent_encode(&next, percent_encoding::NON_ALPHANUMERIC);
    Some(SignOn { name: configured.name.clone(), href: format!("/auth/oidc/start?next={next}") })
}

pub(crate) async fn sign_out(visit: Visit, request: Request) -> Response {
    if let Err(problem) = read::<LogoutForm>(&visit, request, LOGOUT, |form| &form.csrf).await {
        return answer::problem(&problem, Some(&visit));
    }
    let cookie = Cookie::Session.clear(&visit.app.settings);
    match session::close(&visit.app, &visit.headers).await {
        Ok(ended) => ([(header::SET_COOKIE, cookie)], signed_out(&visit, ended).await).into_response(),
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

/// After single sign-on the issuer is told as well: else the next press of the button signs the same person in again
/// without a word. By a page that moves on at once, because a form of ours may not be redirected to another site.
async fn signed_out(visit: &Visit, ended: Option<Ended>) -> Response {
    let ended = ended.filter(|ended| ended.source == Source::SingleSignOn);
    let (Some(ended), Some(configured)) = (ended, &visit.app.single_sign_on) else { return answer::see(LOGIN) };
    let Some(url) = configured.provider.sign_out(ended.id_token.as_deref(), visit.now).await else {
        return answer::see(LOGIN);
    };
    let t = &visit.tongue;
    let there = t.with(Msg::SignOutThere, "name", &configured.name);
    // Without the frame of somebody who is signed in: they are not any more.
    let mut note = Note::new(None, t.say(Msg::SignOutTitle), there).way(url.as_str(), t.say(Msg::SignOutOn));
    (note.frame.lang, note.frame.dir) = (t.language.tag(), t.language.dir());
    let mut response = note.answer(StatusCode::OK);
    if let Ok(refresh) = HeaderValue::from_str(&format!("0; url={url}")) {
        response.headers_mut().insert(header::REFRESH, refresh);
    }
    response
}

pub(crate) async fn read<T: serde::de::DeserializeOwned>(
    visit: &Visit,
    request: Request,
    path: &str,
    token: impl Fn(&T) -> &str,
) -> Result<T> {
    if !csrf::is_media(request.headers(), "application/x-www-form-urlencoded") {
        return Err(Problem::new(Code::UnsupportedMediaType, "only forms are read here"));
    }
    let form: T = form(request).await?;
    visit.check_form(path, token(&form))?;
    Ok(form)
}

/// A path of this server, or the inbox: nobody is sent to another site after signing in.
pub(crate) fn safe_path(next: &str) -> String {
    let is_path = next.starts_with('/') && !next.starts_with("//") && next.chars().all(|c| c.is_ascii_graphic());
    if is_path && !next.contains('\\') { next.to_owned() } else { "/inbox".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_another_site_after_signing_in() {
        assert_eq!(safe_path("/a/token"), "/a/token");
        for bad in ["", "//attacker.test", "/\\attacker.test", "https://attacker.test", "/a\r\nSet-Cookie: x", "a"] {
            assert_eq!(safe_path(bad), "/inbox", "{bad}");
        }
    }
}
