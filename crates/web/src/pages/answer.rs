//! Answers as pages, and the policy that every page carries: no third party, no script but our own file, no frame.

use askama::Template;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use effectgate_lang::Msg;
use http::{HeaderValue, StatusCode, header};

use super::{
    assets,
    nav::{self, Place},
    tongue::Tongue,
    visit::Visit,
};
use crate::{
    auth::{Identity, SignedIn},
    problem::{Code, Problem, retry_after},
};

/// What every page has around it: language, navigation, who is signed in. Made from the visit alone.
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) lang: &'static str,
    /// `ltr` or `rtl`.
    pub(crate) dir: &'static str,
    pub(crate) css: &'static str,
    pub(crate) js: &'static str,
    pub(crate) words: FrameWords,
    /// Where this person may go; empty for a visitor.
    pub(crate) places: Vec<Place>,
    /// Who is signed in, with the token of the form that signs out.
    pub(crate) person: Option<SignedInAs>,
}

pub(crate) struct SignedInAs {
    pub(crate) name: String,
    pub(crate) csrf: String,
}

/// The words around every page, in its language.
pub(crate) struct FrameWords {
    pub(crate) skip: String,
    pub(crate) menu: String,
    pub(crate) places: String,
    pub(crate) account: String,
    pub(crate) sign_out: String,
    /// What is announced when a part of the page was brought up to date.
    pub(crate) renewed: String,
}

impl FrameWords {
    fn new(tongue: &Tongue) -> Self {
        Self {
            skip: tongue.say(Msg::NavSkip),
            menu: tongue.say(Msg::FrameMenu),
            places: tongue.say(Msg::NavMain),
            account: tongue.say(Msg::NavMe),
            sign_out: tongue.say(Msg::NavSignOut),
            renewed: tongue.say(Msg::FrameRenewed),
        }
    }
}

impl Frame {
    pub(crate) fn new(title: impl Into<String>, visit: Option<&Visit>) -> Self {
        Self::spoken(title.into(), visit, visit.map(|visit| visit.tongue.clone()).unwrap_or_default())
    }

    /// Around a page that is in English whoever reads it: those of operators and auditors. The zone is the reader's.
    pub(crate) fn english(title: &str, visit: &Visit) -> Self {
        let tongue = Tongue { language: effectgate_lang::Language::En, zone: visit.tongue.zone.clone() };
        Self::spoken(title.to_owned(), Some(visit), tongue)
    }

    fn spoken(title: String, visit: Option<&Visit>, tongue: Tongue) -> Self {
        let signed_in = visit.and_then(|visit| Some((visit, visit.signed_in.as_ref()?)));
        let places =
            |(visit, who): (&Visit, &SignedIn)| nav::places(&Identity::Person(who.clone()), &visit.path, &tongue);
        let person = |(visit, who): (&Visit, &SignedIn)| SignedInAs {
            name: who.display_name.clone(),
            csrf: visit.forms().token("/logout"),
        };
        Self {
            title,
            lang: tongue.language.tag(),
            dir: tongue.language.dir(),
            css: assets::css_path(),
            js: assets::js_path(),
            words: FrameWords::new(&tongue),
            places: signed_in.map(places).unwrap_or_default(),
            person: signed_in.map(person),
        }
    }
}

/// A page that says one thing.
#[derive(Template)]
#[template(path = "note.html")]
pub(crate) struct Note {
    pub(crate) frame: Frame,
    pub(crate) title: String,
    pub(crate) paragraphs: Vec<String>,
    /// Where to go from here.
    pub(crate) way: Option<Way>,
    /// Another way, less likely.
    pub(crate) other: Option<Way>,
}

pub(crate) struct Way {
    pub(crate) href: String,
    pub(crate) text: String,
}

impl Note {
    pub(crate) fn new(visit: Option<&Visit>, title: impl Into<String>, text: impl Into<String>) -> Self {
        let title = title.into();
        Self { frame: Frame::new(title.clone(), visit), title, paragraphs: vec![text.into()], way: None, other: None }
    }

    pub(crate) fn and(mut self, text: impl Into<String>) -> Self {
        self.paragraphs.push(text.into());
        self
    }

    pub(crate) fn way(mut self, href: impl Into<String>, text: impl Into<String>) -> Self {
        self.way = Some(Way { href: href.into(), text: text.into() });
        self
    }

    pub(crate) fn other(mut self, href: impl Into<String>, text: impl Into<String>) -> Self {
        self.other = Some(Way { href: href.into(), text: text.into() });
        self
    }

    pub(crate) fn answer(self, status: StatusCode) -> Response {
        page(status, &self)
    }
}

/// Renders a page.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// 303: what was posted is done; look at the result here.
pub(crate) fn see(path: &str) -> Response {
    Redirect::to(path).into_response()
}

/// A problem that no page has better words for.
pub(crate) fn problem(problem: &Problem, visit: Option<&Visit>) -> Response {
    let tongue = visit.map(|visit| visit.tongue.clone()).unwrap_or_default();
    let note = |title, text| Note::new(visit, tongue.say(title), tongue.say(text));
    let note = match problem.code() {
        Code::CrossSite => {
            note(Msg::StopForeignFormTitle, Msg::StopForeignForm).and(tongue.say(Msg::StopNothingDecided))
        }
        Code::UnsupportedMediaType => note(Msg::StopForeignFormTitle, Msg::StopMedia),
        Code::CommitUnknown => note(Msg::StopUncertainTitle, Msg::StopUncertain),
        Code::DatabaseUnavailable | Code::Contended => note(Msg::StopLaterTitle, Msg::StopLater),
        Code::TooManyFailures => note(Msg::StopManyTitle, Msg::StopMany),
        _ => Note::new(visit, tongue.say(Msg::StopProblemTitle), sentence(problem.detail())),
    };
    // No page is a dead end for somebody who is signed in.
    let note = match visit.filter(|visit| visit.signed_in.is_some()) {
        Some(_) => note.way("/inbox", tongue.say(Msg::LoginToInbox)),
        None => note,
    };
    let mut response = note.answer(problem.status());
    if let Some(ms) = problem.wait_ms() {
        response.headers_mut().insert(header::RETRY_AFTER, retry_after(ms));
    }
    response
}

pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// Nothing but our own style sheet, script file and icon; the script talks to ourselves alone; forms go to ourselves;
/// nobody frames the buttons. No inline script, no eval: what a model wrote can only ever be text.
const CSP: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; \
                   form-action 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'";

/// Puts the pages' policy on. The headers of every answer are [`crate::headers`]' business.
pub(crate) async fn guarded(mut response: Response) -> Response {
    response.headers_mut().entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(CSP));
    response
}
