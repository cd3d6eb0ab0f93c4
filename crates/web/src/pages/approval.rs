//! The approval card. GET shows and changes nothing, whatever the query says; POST decides, through the engine's one
//! function. By a link (`/a/{token}`) or, signed in, by the approval's id (`/approvals/{id}`). Journey (b) begins here.

use askama::Template;
use axum::{
    extract::{Path, rejection::PathRejection},
    response::Response,
};
use effectgate_core::{
    approval::{Approval, ApprovalState},
    ids::{ApprovalId, Tenant},
    run::Aggregate,
};
use effectgate_engine::EngineError;
use http::StatusCode;

use super::{
    answer::{self, Frame, Note},
    card::{Card, Kept, Parts, is_open},
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
    pub(crate) title: &'static str,
    pub(crate) text: String,
}

/// What the form holds when it comes back with an error.
#[derive(Default)]
pub(crate) struct Typed {
    pub(crate) note: String,
    pub(crate) reason: String,
}

#[derive(Template)]
#[template(path = "card.html")]
struct CardPage {
    frame: Frame,
    card: Card,
    banner: Option<Banner>,
    typed: Typed,
    action: String,
    csrf: String,
    effects_hash: String,
    reason_chars_max: usize,
}

pub(crate) async fn by_link(visit: Visit, token: Result<Path<String>, PathRejection>) -> Response {
    show(&visit, &Door::link(token)).await
}

/// A link whose token was lost on the way.
pub(crate) async fn cut_off(visit: Visit) -> Response {
    dead_link(&visit)
}

pub(crate) async fn by_id(visit: Visit, Path(id): Path<String>) -> Response {
    match id.parse() {
        Ok(id) => show(&visit, &Door::Inbox(id)).await,
        Err(_) => no_such_approval(&visit),
    }
}

async fn show(visit: &Visit, door: &Door) -> Response {
    let found = match find(visit, door).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    match sight(visit, &found.tenant, &found.approval, found.audience.as_deref()).await {
        Ok(Sight::Card(viewer)) => card(visit, door, found, &viewer, StatusCode::OK, None, Typed::default()).await,
        Ok(other) => not_shown(visit, door, &found, &other, StatusCode::OK),
        Err(problem) => answer::problem(&problem, Some(visit)),
    }
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
    Note::new(Some(visit), "This link leads nowhere", "It may have been cut by a mail program, or typed by hand.")
        .and("Copy the whole link out of the message, or sign in and look into your inbox. Nothing was decided.")
        .way("/inbox", "To the inbox")
        .answer(StatusCode::NOT_FOUND)
}

fn no_such_approval(visit: &Visit) -> Response {
    Note::new(
        Some(visit),
        "There is no such approval",
        "It does not exist, or its record was removed long after its end.",
    )
    .way("/inbox", "To the inbox")
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
    match sight {
        Sight::Disabled => Note::new(
            Some(visit),
            "This account is disabled",
            "The account this link was issued to is not in use any more.",
        )
        .and("Nothing was decided. Somebody else who was asked can decide.")
        .answer(StatusCode::FORBIDDEN),
        Sight::Outsider => {
            let name = visit.signed_in.as_ref().map(|s| s.display_name.as_str()).unwrap_or_default();
            let said = format!("You are signed in as {name}, who is not among those who were asked to decide.");
            Note::new(Some(visit), "Not for this account", said)
                .and("Sign out and sign in with the account that was asked. Nothing was decided.")
                .answer(StatusCode::FORBIDDEN)
        }
        Sight::SignIn | Sight::Card(_) => sign_in_wanted(visit, door, found, sign_in),
    }
}

/// All that a leaked link reveals: that this flow asks somebody, until when, or that it is over.
fn sign_in_wanted(visit: &Visit, door: &Door, found: &Found, status: StatusCode) -> Response {
    let (approval, flow) = (&found.approval, super::text::one_line(found.agg.run.flow.as_str()));
    let until = super::time::When::new(approval.expires_at, visit.now);
    let said = if is_open(approval, visit.now) {
        format!("The flow {flow} asks for a decision before {} ({}).", until.text, until.relative)
    } else {
        format!("The flow {flow} asked for a decision. It is over: {}.", over_word(approval))
    };
    Note::new(Some(visit), "Sign in to see this", said)
        .and("The link only finds the card. Who may read it and decide is a matter of the account. Opening it changed nothing.")
        .way(login_path(visit, Some(&found.tenant), &door.path()), "Sign in")
        .answer(status)
}

fn over_word(approval: &Approval) -> &'static str {
    match approval.state {
        ApprovalState::Open | ApprovalState::Expired => "expired",
        state => state.as_str(),
    }
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
    let parts = Parts {
        agg: &found.agg,
        approval: &found.approval,
        output: content.output.as_deref(),
        kept: kept.unwrap_or_default(),
        policy: engine.policy(),
        viewer,
        now: visit.now,
    };
    let card = Card::new(&parts);
    let (forms, action) = (visit.forms(), door.path());
    let page = CardPage {
        frame: Frame::new("Approval", Some(visit)),
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
