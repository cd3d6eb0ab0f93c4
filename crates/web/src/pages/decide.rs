//! POST on the card: reads the form strictly, asks who it is, and hands the wish to the engine. What comes of it is a
//! redirect to the card, which shows the outcome, or the card again with what stood in the way.

use axum::{
    Form,
    extract::{FromRequest as _, Path, Request, rejection::PathRejection},
    response::Response,
};
use effectgate_core::{
    approval::{Refused, Verdict, Wish},
    digest::Digest,
};
use effectgate_engine::EngineError;
use http::StatusCode;
use serde::Deserialize;

use super::{
    answer::{self, sentence},
    approval::{self, Banner, Door, Typed},
    card::is_open,
    viewer::{Sight, Viewer, sight},
    visit::Visit,
};
use crate::{
    auth::csrf,
    problem::{Code, Problem, Result},
};

/// The form as the card sends it.
#[derive(Deserialize)]
struct DecisionForm {
    csrf: String,
    effects_hash: String,
    decision: String,
    #[serde(default)]
    reason: String,
}

pub(crate) async fn by_link(visit: Visit, token: Result<Path<String>, PathRejection>, request: Request) -> Response {
    taken(visit, Door::link(token), request).await
}

pub(crate) async fn by_id(visit: Visit, Path(id): Path<String>, request: Request) -> Response {
    match id.parse() {
        Ok(id) => taken(visit, Door::Inbox(id), request).await,
        Err(_) => answer::problem(&Problem::new(Code::NotFound, "there is no approval of this id"), Some(&visit)),
    }
}

async fn taken(visit: Visit, door: Door, request: Request) -> Response {
    match read(&visit, &door, request).await {
        Ok(form) => decide(&visit, &door, form).await,
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

/// Form encoding only: a foreign page can send text/plain that parses as JSON (HC-33). Then the origin, then the token.
async fn read(visit: &Visit, door: &Door, request: Request) -> Result<DecisionForm> {
    if !csrf::is_media(request.headers(), "application/x-www-form-urlencoded") {
        return Err(Problem::new(Code::UnsupportedMediaType, "only the form on the page decides"));
    }
    let form: DecisionForm = form(request).await?;
    visit.check_form(&door.path(), &form.csrf)?;
    Ok(form)
}

/// Reads a form of ours; what is missing in it was taken out on the way.
pub(crate) async fn form<T: serde::de::DeserializeOwned>(request: Request) -> Result<T> {
    let form = Form::<T>::from_request(request, &()).await;
    form.map(|Form(form)| form).map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new(Code::BodyTooLarge, "what was typed is too long for this form"),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Problem::new(Code::UnsupportedMediaType, "only forms are read here"),
        _ => Problem::new(Code::BadMember, "the form did not come whole; open the page again"),
    })
}

async fn decide(visit: &Visit, door: &Door, form: DecisionForm) -> Response {
    let found = match approval::find(visit, door).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let viewer = match sight(visit, &found.tenant, &found.approval, found.audience.as_deref()).await {
        Ok(Sight::Card(viewer)) => viewer,
        Ok(other) => return approval::not_shown(visit, door, &found, &other, StatusCode::FORBIDDEN),
        Err(problem) => return answer::problem(&problem, Some(visit)),
    };
    let wish = match wish(&form) {
        Ok(wish) => wish,
        Err(problem) => return answer::problem(&problem, Some(visit)),
    };
    let (engine, tenant, id) = (visit.app.engine.clone(), found.tenant.clone(), found.approval.id);
    let (person, wanted) = (viewer.person.clone(), wish.clone());
    // In a task of its own: a browser that hangs up cancels no commit.
    let decided = tokio::spawn(async move { engine.decide(&tenant, id, &person, &wanted).await }).await;
    match decided {
        Ok(Ok(_)) => answer::see(&door.path()),
        Ok(Err(EngineError::DecisionRefused { why, .. })) => refused(visit, door, &viewer, &wish, why).await,
        Ok(Err(error)) => answer::problem(&error.into(), Some(visit)),
        Err(error) => answer::problem(&Problem::internal(&error), Some(visit)),
    }
}

fn wish(form: &DecisionForm) -> Result<Wish> {
    let verdict = match form.decision.as_str() {
        "approve" => Verdict::Approve,
        "reject" => Verdict::Reject,
        _ => return Err(Problem::new(Code::BadMember, "a decision is approve or reject").at("/decision")),
    };
    let bad = |_| Problem::new(Code::BadMember, "the form names no hash of what was shown").at("/effects_hash");
    let shown: Digest = form.effects_hash.parse().map_err(bad)?;
    let reason = Some(form.reason.replace("\r\n", "\n")).filter(|reason| !reason.trim().is_empty());
    Ok(Wish { verdict, reason, shown, edited: None })
}

/// The card as it is now, with what stood in the way on top. Nothing that was typed is lost.
async fn refused(visit: &Visit, door: &Door, viewer: &Viewer, wish: &Wish, why: Refused) -> Response {
    let found = match approval::find(visit, door).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let reason = wish.reason.clone().unwrap_or_default();
    let typed = match wish.verdict {
        Verdict::Approve | Verdict::Edit => Typed { note: reason, reason: String::new() },
        Verdict::Reject => Typed { note: String::new(), reason },
    };
    let problem = Problem::from(EngineError::DecisionRefused {
        why: why.clone(),
        findings: Vec::new(),
        changes: Vec::new(),
        approval: Box::new(effectgate_engine::view::approval_view(&found.approval)),
        run: Box::new(effectgate_engine::view::bare_run(&found.agg.run)),
    });
    let is_over = !is_open(&found.approval, visit.now);
    let title = if is_over { "Your decision was not taken" } else { title(&why) };
    let text = match &why {
        Refused::Over => {
            format!("Your wish to {} came after the end. Below is what is there now.", wish.verdict.as_str())
        }
        Refused::Changed { .. } => {
            "Somebody changed what is to be sent after you opened this page. Read it again before you decide."
                .to_owned()
        }
        _ => sentence(problem.detail()),
    };
    let banner = Some(Banner { title, text });
    approval::card(visit, door, found, viewer, problem.status(), banner, typed).await
}

fn title(why: &Refused) -> &'static str {
    match why {
        Refused::Changed { .. } => "This is not what you saw",
        Refused::ReasonRequired | Refused::ReasonTooLong => "One more thing",
        _ => "Your decision was not taken",
    }
}
