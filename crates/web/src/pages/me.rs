//! /me: who somebody is here, their language and zone, their sessions, and, for a local account, their password. Everybody
//! who is signed in may see and change their own, and nobody else's: the person is always the session's.

use askama::Template;
use axum::{
    extract::Request,
    response::{IntoResponse as _, Response},
};
use effectgate_core::{digest::Digest, time::Timestamp};
use effectgate_engine::sessions::{self, Listed, Source};
use effectgate_lang::{Language, Msg, Zone, when};
use effectgate_store::{ProfileRow, ProfileSource};
use http::{StatusCode, header};
use serde::Deserialize;

use super::{
    answer::{self, Frame},
    login::read,
    tongue::Tongue,
    visit::{Entitled, Visit},
};
use crate::{
    api::detached,
    auth::{
        SignedIn,
        allowed::Known,
        cookie::Cookie,
        own_password::{self, Change},
    },
    problem::{Code, Problem, Result},
};

#[derive(Template)]
#[template(path = "me.html")]
struct MePage {
    frame: Frame,
    t: Tongue,
    name: String,
    subject: String,
    source: String,
    addresses: Vec<String>,
    roles: String,
    language: String,
    languages: Vec<LanguageChoice>,
    zones: Vec<ZoneChoice>,
    sessions: Vec<SessionShown>,
    is_local: bool,
    csrf: String,
    csrf_sign_out: String,
    csrf_password: String,
    done: Option<String>,
    error: Option<String>,
}

struct LanguageChoice {
    tag: &'static str,
    name: &'static str,
    is_chosen: bool,
}

struct ZoneChoice {
    name: String,
    is_chosen: bool,
}

struct SessionShown {
    device: String,
    is_this: bool,
    times: String,
}

#[derive(Deserialize)]
struct SettingsForm {
    csrf: String,
    #[serde(default)]
    language: String,
    #[serde(default)]
    zone: String,
}

#[derive(Deserialize)]
struct SignOutForm {
    csrf: String,
}

#[derive(Deserialize)]
struct PasswordForm {
    csrf: String,
    old: String,
    new: String,
}

const ME: &str = "/me";
const SIGN_OUT: &str = "/me/sign-out";
const PASSWORD: &str = "/me/password";

/// What is said above the page.
enum Said {
    Nothing,
    Done(String),
    Refused(Problem),
}

/// GET /me.
pub(crate) async fn show(Entitled { visit, .. }: Entitled<Known>) -> Response {
    shown(&visit, Said::Nothing).await
}

/// POST /me: language and zone.
pub(crate) async fn save(Entitled { mut visit, .. }: Entitled<Known>, request: Request) -> Response {
    let said = match read::<SettingsForm>(&visit, request, ME, |form| &form.csrf).await {
        Ok(form) => saved(&visit, form).await,
        Err(problem) => return answer::problem(&problem, Some(&visit)),
    };
    match said {
        // The answer speaks the language that was just chosen.
        Ok(profile) => {
            visit.tongue = Tongue::of(Some(&profile), &visit.headers);
            shown(&visit, Said::Done(visit.tongue.say(Msg::MeSaved))).await
        }
        Err(problem) if problem.code() == Code::BadMember => shown(&visit, Said::Refused(problem)).await,
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

/// POST /me/sign-out: every session of this person ends, this one too.
pub(crate) async fn sign_out(Entitled { visit, .. }: Entitled<Known>, request: Request) -> Response {
    let done = match read::<SignOutForm>(&visit, request, SIGN_OUT, |form| &form.csrf).await {
        Ok(_) => everywhere(&visit).await,
        Err(problem) => Err(problem),
    };
    match done {
        Ok(()) => {
            let cookie = Cookie::Session.clear(&visit.app.settings);
            ([(header::SET_COOKIE, cookie)], answer::see("/login")).into_response()
        }
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

/// POST /me/password: asks the old one; the other sessions end, this one goes on under a new secret.
pub(crate) async fn password(Entitled { visit, .. }: Entitled<Known>, request: Request) -> Response {
    let form = match read::<PasswordForm>(&visit, request, PASSWORD, |form| &form.csrf).await {
        Ok(form) => form,
        Err(problem) => return answer::problem(&problem, Some(&visit)),
    };
    let Ok(me) = me(&visit) else { return answer::see("/login") };
    let change = Change { old: form.old, new: form.new };
    match own_password::change(&visit.app, &visit.headers, visit.peer, me, change).await {
        Ok(opened) => {
            // The page's form tokens belong to the session: it is read again under the new one.
            let cookie = Cookie::Session.set(&opened.secret, &visit.app.settings);
            ([(header::SET_COOKIE, cookie)], answer::see(ME)).into_response()
        }
        Err(problem) => match problem.code() {
            Code::BadMember | Code::TooManyFailures => shown(&visit, Said::Refused(problem)).await,
            _ => answer::problem(&problem, Some(&visit)),
        },
    }
}

fn me(visit: &Visit) -> Result<&SignedIn> {
    visit.signed_in.as_ref().ok_or_else(|| Problem::new(Code::Unauthorized, "nobody is signed in"))
}

async fn everywhere(visit: &Visit) -> Result<()> {
    let (app, me) = (visit.app.clone(), me(visit)?.clone());
    detached(async move { Ok(app.engine.sessions_end(&me.tenant, &me.user).await?) }).await
}

async fn saved(visit: &Visit, form: SettingsForm) -> Result<ProfileRow> {
    let bad = |pointer: &str, said: &str| Problem::new(Code::BadMember, said).at(pointer);
    let language = match form.language.as_str() {
        "" => None,
        tag => Some(Language::of_tag(tag).ok_or_else(|| bad("/language", "this language is not one of the list"))?),
    };
    let zone = Zone::parse(&form.zone).ok_or_else(|| bad("/zone", "this time zone is not one of the list"))?;
    let (app, me, now) = (visit.app.clone(), me(visit)?.clone(), visit.now);
    detached(async move {
        let old = app.engine.store().profile_find(&me.tenant, me.person.subject.as_str()).await?;
        let profile = ProfileRow {
            language: language.map(|language| language.tag().to_owned()),
            zone: Some(zone.name().to_owned()),
            seen_at: now,
            ..old.unwrap_or_else(|| new_profile(&me, now))
        };
        app.engine.store().profile_put(profile.clone()).await?;
        Ok(profile)
    })
    .await
}

fn new_profile(me: &SignedIn, now: Timestamp) -> ProfileRow {
    ProfileRow {
        tenant: me.tenant.clone(),
        subject: me.person.subject.to_string(),
        source: match me.source {
            Source::Local => ProfileSource::Local,
            Source::SingleSignOn => ProfileSource::Oidc,
        },
        name: me.display_name.clone(),
        email: addresses(me).into_iter().next(),
        roles: me.person.roles.iter().cloned().collect(),
        language: None,
        zone: None,
        created_at: now,
        seen_at: now,
    }
}

fn addresses(me: &SignedIn) -> Vec<String> {
    me.person.aliases.iter().filter_map(|alias| alias.as_str().strip_prefix("mail:")).map(str::to_owned).collect()
}

async fn shown(visit: &Visit, said: Said) -> Response {
    match page(visit, said).await {
        Ok(response) => response,
        Err(problem) => answer::problem(&problem, Some(visit)),
    }
}

async fn page(visit: &Visit, said: Said) -> Result<Response> {
    let (me, engine) = (me(visit)?, &visit.app.engine);
    let profile = engine.store().profile_find(&me.tenant, me.person.subject.as_str()).await?;
    let listed = engine.sessions_of(&me.tenant, &me.user).await?;
    let zone = Zone::pick(profile.as_ref().and_then(|p| p.zone.as_deref()));
    let language = profile.and_then(|p| p.language).unwrap_or_default();
    let this = Cookie::Session.read(&visit.headers, &visit.app.settings).map(|secret| sessions::id_of(&secret));
    let (status, done, error) = match said {
        Said::Nothing => (StatusCode::OK, None, None),
        Said::Done(done) => (StatusCode::OK, Some(done), None),
        Said::Refused(problem) => (problem.status(), None, Some(answer::sentence(problem.detail()))),
    };
    let forms = visit.forms();
    let roles: Vec<&str> = me.person.roles.iter().map(String::as_str).collect();
    let page = MePage {
        frame: Frame::new(visit.tongue.say(Msg::NavMe), Some(visit)),
        t: visit.tongue.clone(),
        name: me.display_name.clone(),
        subject: me.person.subject.to_string(),
        source: source(visit, me),
        addresses: addresses(me),
        roles: roles.join(", "),
        languages: languages(&language),
        language,
        zones: zones(&zone),
        sessions: listed.into_iter().map(|session| session_shown(session, this, &visit.tongue)).collect(),
        is_local: me.source == Source::Local,
        csrf: forms.token(ME),
        csrf_sign_out: forms.token(SIGN_OUT),
        csrf_password: forms.token(PASSWORD),
        done,
        error,
    };
    Ok(forms.with(answer::page(status, &page)))
}

fn source(visit: &Visit, me: &SignedIn) -> String {
    match (me.source, &visit.app.single_sign_on) {
        (Source::SingleSignOn, Some(configured)) => configured.name.clone(),
        (Source::SingleSignOn, None) => visit.tongue.say(Msg::MeSingleSignOn),
        (Source::Local, _) => visit.tongue.say(Msg::MeAccount),
    }
}

fn languages(chosen: &str) -> Vec<LanguageChoice> {
    let choice = |language: Language| LanguageChoice {
        tag: language.tag(),
        name: language.name(),
        is_chosen: language.tag() == chosen,
    };
    Language::ALL.into_iter().map(choice).collect()
}

fn zones(chosen: &Zone) -> Vec<ZoneChoice> {
    Zone::names().map(|name| ZoneChoice { is_chosen: name == chosen.name(), name }).collect()
}

fn session_shown(session: Listed, this: Option<Digest>, tongue: &Tongue) -> SessionShown {
    let at = |moment| when(moment, &tongue.zone, tongue.language);
    let (created, seen, expires) = (at(session.created_at), at(session.seen_at), at(session.expires_at));
    let times = [("created", created.as_str()), ("seen", seen.as_str()), ("expires", expires.as_str())];
    SessionShown {
        is_this: this == Some(session.id),
        device: session.device,
        times: tongue.around(Msg::MeSessionTimes, &times),
    }
}
