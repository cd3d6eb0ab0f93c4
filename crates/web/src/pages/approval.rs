//! The approval card. GET shows and changes nothing, whatever the query says (`?edit` shows the form for an edit); POST
//! decides, through the engine's one function. By a link (`/a/{token}`) or, signed in, by the approval's id
//! (`/approvals/{id}`). Journey (b) begins here.

use askama::Template;
use axum::{
    extract::{Path, RawQuery, rejection::PathRejection},
    response::Response,
};
use effectgate_core::{
    approval::{Approval, changes},
    digest::Digest,
    ids::{ApprovalId, EffectId, Tenant},
    run::Aggregate,
};
use effectgate_engine::EngineError;
use effectgate_lang::Msg;
use http::StatusCode;

use super::{
    answer::{self, Frame, Note},
    card::{self, Card, Kept, Parts},
    change::{self, ChangeShown},
    edit,
    text::one_line,
    time::When,
    tongue::Tongue,
    viewer::{Sight, Viewer, sight},
    visit::Visit,
};
use crate::problem::{Problem, Result};

/// How somebody came to the card.
#[derive(Debug, Clone)]
pub(crate) enum Door {
    Link(String),
    Inbox(ApprovalId),
}

/// What is behind a door.
pub(crate) struct Found {
    pub(crate) tenant: Tenant,
    pub(crate) agg: Aggregate,
    pub(crate) approval: Approval,
    /// Whom the link was issued to.
    pub(crate) audience: Option<String>,
}

/// What is said above the card.
pub(crate) struct Banner {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// What the forms hold when they come back with an error.
#[derive(Default)]
pub(crate) struct Typed {
    pub(crate) note: String,
    pub(crate) reason: String,
    /// The reason to withdraw or to cancel.
    pub(crate) operate: String,
    /// What was shown when it was typed, where the effects are others now.
    pub(crate) overtaken: Option<Digest>,
}

#[derive(Template)]
#[template(path = "card.html")]
struct CardPage {
    frame: Frame,
    t: Tongue,
    card: Card,
    banner: Option<Banner>,
    /// What changed since the form was shown.
    changes: Vec<ChangeShown>,
    typed: Typed,
    action: String,
    csrf: String,
    effects_hash: String,
    reason_chars_max: usize,
}

pub(crate) async fn by_link(
    visit: Visit,
    token: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Response {
    show(&visit, &Door::link(token), is_edit(query.as_deref())).await
}

/// A link whose token was lost on the way.
pub(crate) async fn cut_off(visit: Visit) -> Response {
    dead_link(&visit)
}

pub(crate) async fn by_id(visit: Visit, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    match id.parse() {
        Ok(id) => show(&visit, &Door::Inbox(id), is_edit(query.as_deref())).await,
        Err(_) => no_such_approval(&visit),
    }
}

/// Only this word; whatever else a scanner appends is passed over.
fn is_edit(query: Option<&str>) -> bool {
    query.is_some_and(|query| query.split('&').any(|word| word == "edit" || word == "edit=1"))
}

async fn show(visit: &Visit, door: &Door, edits: bool) -> Response {
    let found = match find(visit, door).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    match sight(visit, &found.tenant, &found.approval, found.audience.as_deref()).await {
        Ok(Sight::Card(viewer)) if edits && may_edit(visit, &found, &viewer) => {
            edit::page(visit, door, &found, viewer.person.subject.as_str(), edit::State::default())
        }
        Ok(Sight::Card(viewer)) => card(visit, door, found, &viewer, StatusCode::OK, None, Typed::default()).await,
        Ok(other) => not_shown(visit, door, &found, &other, StatusCode::OK),
        Err(problem) => answer::problem(&problem, Some(visit)),
    }
}

pub(crate) fn may_edit(visit: &Visit, found: &Found, viewer: &Viewer) -> bool {
    super::ask::Ask::new(&found.approval, viewer, visit.now, &visit.tongue).may_approve
}

impl Door {
    /// A path that is no text is a link that leads nowhere.
    pub(crate) fn link(token: Result<Path<String>, PathRejection>) -> Self {
        Self::Link(token.map(|Path(token)| token).unwrap_or_default())
    }

    /// Where the card is and its form is posted to.
    pub(crate) fn path(&self) -> String {
        match self {
            Self::Link(token) => format!("/a/{token}"),
            Self::Inbox(id) => format!("/approvals/{id}"),
        }
    }
}

/// Finds the approval, or answers with the page that says why not.
pub(crate) async fn find(visit: &Visit, door: &Door) -> Result<Found, Response> {
    match door {
        Door::Link(token) => by_token(visit, token).await,
        Door::Inbox(id) => in_tenant(visit, *id).await,
    }
}

async fn by_token(visit: &Visit, token: &str) -> Result<Found, Response> {
    let (engine, attempts) = (&visit.app.engine, &visit.app.attempts);
    if let Some(ms) = attempts.links_blocked(visit.peer, visit.now) {
        let problem = Problem::new(crate::problem::Code::TooManyFailures, "too many dead links").retry_after_ms(ms);
        return Err(answer::problem(&problem, Some(visit)));
    }
    match engine.token(token).await {
        Ok((hit, agg)) => {
            let approval = agg.approvals.iter().find(|a| a.id == hit.approval).cloned();
            let approval = approval.ok_or_else(|| dead_link(visit))?;
            Ok(Found { tenant: hit.tenant, agg, approval, audience: Some(hit.audience) })
        }
        Err(EngineError::UnknownToken) => {
            attempts.dead_link(visit.peer, visit.now);
            Err(dead_link(visit))
        }
        Err(error) => Err(answer::problem(&error.into(), Some(visit))),
    }
}

/// From the inbox: only in the tenant of the session, and only with one.
async fn in_tenant(visit: &Visit, id: ApprovalId) -> Result<Found, Response> {
    let Some(signed_in) = &visit.signed_in else {
        return Err(answer::see(&login_path(visit, None, &Door::Inbox(id).path())));
    };
    let agg = visit.app.engine.store().run_load(&signed_in.tenant, id.run).await;
    let agg = agg.map_err(|error| answer::problem(&error.into(), Some(visit)))?;
    let agg = agg.ok_or_else(|| no_such_approval(visit))?;
    let approval = agg.approvals.iter().find(|a| a.id == id).cloned().ok_or_else(|| no_such_approval(visit))?;
    Ok(Found { tenant: signed_in.tenant.clone(), agg, approval, audience: None })
}

fn dead_link(visit: &Visit) -> Response {
    let tongue = &visit.tongue;
    Note::new(Some(visit), tongue.say(Msg::StopDeadLinkTitle), tongue.say(Msg::StopDeadLink))
        .and(tongue.say(Msg::StopNothingDecided))
        .way("/inbox", tongue.say(Msg::LoginToInbox))
        .answer(StatusCode::NOT_FOUND)
}

fn no_such_approval(visit: &Visit) -> Response {
    let tongue = &visit.tongue;
    Note::new(Some(visit), tongue.say(Msg::StopGoneTitle), tongue.say(Msg::StopGone))
        .way("/inbox", tongue.say(Msg::LoginToInbox))
        .answer(StatusCode::NOT_FOUND)
}

/// Where to sign in and come back from. The tenant is named where it is not the house's own.
pub(crate) fn login_path(visit: &Visit, tenant: Option<&Tenant>, next: &str) -> String {
    let own = visit.app.settings.tenant.as_str();
    let other = tenant.filter(|t| t.as_str() != own);
    let encoded =
        |text: &str| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
    match other {
        Some(tenant) => format!("/login?next={}&tenant={}", encoded(next), encoded(tenant.as_str())),
        None => format!("/login?next={}", encoded(next)),
    }
}

/// What is shown to somebody who may not read the card. `refused`: the status for a try to decide.
pub(crate) fn not_shown(visit: &Visit, door: &Door, found: &Found, sight: &Sight, sign_in: StatusCode) -> Response {
    let tongue = &visit.tongue;
    match sight {
        Sight::Disabled => Note::new(Some(visit), tongue.say(Msg::StopDisabledTitle), tongue.say(Msg::StopDisabled))
            .and(tongue.say(Msg::StopNothingDecided))
            .answer(StatusCode::FORBIDDEN),
        Sight::Outsider => {
            let name = visit.signed_in.as_ref().map(|s| s.display_name.as_str()).unwrap_or_default();
            let said = tongue.with(Msg::StopOutsider, "name", name);
            Note::new(Some(visit), tongue.say(Msg::StopOutsiderTitle), said)
                .and(tongue.say(Msg::StopOtherAccount))
                .answer(StatusCode::FORBIDDEN)
        }
        Sight::SignIn | Sight::Card(_) => sign_in_wanted(visit, door, found, sign_in),
    }
}

/// All that a leaked link reveals: that this flow asks somebody, until when, or that it is over.
fn sign_in_wanted(visit: &Visit, door: &Door, found: &Found, status: StatusCode) -> Response {
    let (approval, flow, tongue) = (&found.approval, one_line(found.agg.run.flow.as_str()), &visit.tongue);
    let until = When::of(approval.expires_at, visit);
    let said = match card::outcome(approval, visit.now) {
        None => {
            let when = format!("{} ({})", until.text, until.relative);
            tongue.around(Msg::StopAsks, &[("flow", &flow), ("when", &when)])
        }
        over => {
            let state = tongue.say(card::outcome_title(over));
            tongue.around(Msg::StopAsked, &[("flow", &flow), ("state", &state)])
        }
    };
    let note = Note::new(Some(visit), tongue.say(Msg::StopSignInTitle), said).and(tongue.say(Msg::StopSignIn));
    let login = login_path(visit, Some(&found.tenant), &door.path());
    match sign_on(visit, found, door) {
        // One press less on the way from a mail to a decision.
        Some((href, text)) if visit.app.settings.local_accounts => {
            note.way(href, text).other(login, tongue.say(Msg::LoginLocal))
        }
        Some((href, text)) => note.way(href, text),
        None => note.way(login, tongue.say(Msg::NavSignIn)),
    }
    .answer(status)
}

/// The way to single sign-on and back, where it is configured and its people are of this tenant.
fn sign_on(visit: &Visit, found: &Found, door: &Door) -> Option<(String, String)> {
    let configured = visit.app.single_sign_on.as_ref()?;
    let is_own = found.tenant.as_str() == visit.app.settings.tenant;
    let next = percent_encoding::utf8_percent_encode(&door.path(), percent_encoding::NON_ALPHANUMERIC).to_string();
    let text = visit.tongue.with(Msg::LoginWith, "name", &configured.name);
    is_own.then(|| (format!("/auth/oidc/start?next={next}"), text))
}

/// The card as it is now.
pub(crate) async fn card(
    visit: &Visit,
    door: &Door,
    found: Found,
    viewer: &Viewer,
    status: StatusCode,
    banner: Option<Banner>,
    typed: Typed,
) -> Response {
    let engine = &visit.app.engine;
    let content = match engine.store().run_content(&found.tenant, found.agg.run.id).await {
        Ok(content) => content.unwrap_or_default(),
        Err(error) => return answer::problem(&error.into(), Some(visit)),
    };
    let kept = content.proposal.as_deref().and_then(|text| serde_json::from_str::<Kept>(text).ok());
    let switches = engine.switches().await;
    let parts = Parts {
        agg: &found.agg,
        approval: &found.approval,
        output: content.output.as_deref(),
        kept: kept.unwrap_or_default(),
        policy: engine.policy(),
        viewer,
        cancellable: cancellable(visit, &found, viewer),
        switches: &switches,
        tongue: &visit.tongue,
        now: visit.now,
    };
    let card = Card::new(&parts);
    let (forms, action) = (visit.forms(), door.path());
    let page = CardPage {
        frame: Frame::new(visit.tongue.say(Msg::CardTitle), Some(visit)),
        t: visit.tongue.clone(),
        changes: overtaking(&found.approval, typed.overtaken, &visit.tongue),
        csrf: forms.token(&action),
        effects_hash: found.approval.effects_hash.to_string(),
        reason_chars_max: effectgate_core::approval::REASON_CHARS_MAX,
        card,
        banner,
        typed,
        action,
    };
    forms.with(answer::page(status, &page))
}

/// The effects that this person may call back now, as the engine says.
fn cancellable(visit: &Visit, found: &Found, viewer: &Viewer) -> Vec<EffectId> {
    let Some(asker) = viewer.asker() else { return Vec::new() };
    let may = |id: &EffectId| visit.app.engine.may_cancel(&found.agg, *id, &asker);
    found.agg.effects.iter().map(|effect| effect.id).filter(may).collect()
}

/// What became other since the form was shown.
pub(crate) fn overtaking(approval: &Approval, shown: Option<Digest>, tongue: &Tongue) -> Vec<ChangeShown> {
    let before = shown.and_then(|shown| approval.effects_at(shown));
    before.map(|before| change::shown(&changes(before, &approval.proposed), tongue)).unwrap_or_default()
}
