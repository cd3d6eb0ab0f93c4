//! The correction of a run that has ended: a new event with its own key from upstream, filled in from the original where
//! that is still kept. Made here like over the wire; the page of the new run shows what came of it. Also the links both
//! ways between a run and those that correct it.

use axum::{extract::Path, response::Response};
use effectgate_core::{approval::REASON_CHARS_MAX, ids::RunId, run::Run};
use effectgate_engine::{
    EngineError,
    correct::{CorrectRequest, Corrected, CorrectionView},
    reserve::KeyGiven,
};
use http::StatusCode;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        answer,
        listing::{Moment, words},
        posted::{Posted, posted, reason},
        text::Shown,
        visit::{Entitled, Sent, Visit},
    },
    Said, no_such_run, page,
};
use crate::{
    auth::{Identity, allowed::Operate},
    problem::{Problem, Result},
};

/// The form as it is sent.
#[derive(Deserialize, Serialize, Default)]
#[serde(default)]
pub(crate) struct CorrectForm {
    csrf: String,
    key: String,
    payload: String,
    reason: String,
}

impl Posted for CorrectForm {
    fn csrf(&self) -> &str {
        &self.csrf
    }
}

/// What stood in the way of a correction, and what was typed.
pub(crate) struct Kept {
    typed: CorrectForm,
    error: String,
}

/// The form as the page shows it.
pub(super) struct CorrectBlock {
    pub(super) path: String,
    pub(super) csrf: String,
    pub(super) key: String,
    pub(super) payload: String,
    /// Why the payload is not filled in.
    pub(super) hint: Option<&'static str>,
    pub(super) reason: String,
    pub(super) reason_chars_max: usize,
    pub(super) error: Option<String>,
}

/// A longer payload is no text that a person edits in a field.
const PREFILL_BYTES_MAX: usize = 64 * 1024;

/// `None` for a run that has not ended: recovery or the desk is the way then.
pub(super) fn block(visit: &Visit, run: &Run, payload: Option<&str>, kept: Option<&Kept>) -> Option<CorrectBlock> {
    if !run.state.is_final() {
        return None;
    }
    let (payload, hint) = match payload {
        Some(text) if text.len() <= PREFILL_BYTES_MAX => (text, None),
        Some(_) => ("", Some("The original is too long for a field. Over the wire: POST /v1/runs/{id}/correct.")),
        None => ("", Some("The original's payload is not kept any more, or never was. It comes from upstream.")),
    };
    let path = format!("/runs/{}/correct", run.id);
    let block = CorrectBlock {
        csrf: visit.forms().token(&path),
        path,
        key: String::new(),
        payload: payload.to_owned(),
        hint,
        reason: String::new(),
        reason_chars_max: REASON_CHARS_MAX,
        error: None,
    };
    Some(match kept {
        None => block,
        Some(Kept { typed, error }) => CorrectBlock {
            key: typed.key.clone(),
            payload: typed.payload.clone(),
            reason: typed.reason.clone(),
            error: Some(error.clone()),
            ..block
        },
    })
}

/// A run on the other side of a correction.
pub(super) struct Link {
    pub(super) href: String,
    pub(super) key: Shown,
    /// How it stands, who made it, when and why; of an original, as it was when it was corrected.
    pub(super) state: String,
    pub(super) by: Shown,
    pub(super) reason: Shown,
    pub(super) at: Option<Moment>,
}

/// The run that this one corrects.
pub(super) fn original(run: &Run) -> Option<Link> {
    let id = run.origin.corrects?;
    let known = run.origin.correction.as_ref();
    Some(Link {
        href: format!("/runs/{id}"),
        key: Shown::new(known.map_or("an earlier run", |known| &known.original_key)),
        state: known.map(|known| words(&known.original_state)).unwrap_or_default(),
        by: Shown::new(known.map(|known| known.by.as_str()).unwrap_or_default()),
        reason: Shown::new(known.map(|known| known.reason.as_str()).unwrap_or_default()),
        at: None,
    })
}

/// The runs that correct this one.
pub(super) fn links(visit: &Visit, corrections: &[CorrectionView]) -> Vec<Link> {
    let link = |correction: &CorrectionView| Link {
        href: format!("/runs/{}", correction.run_id),
        key: Shown::new(&correction.key),
        state: words(&correction.state),
        by: Shown::new(&correction.by),
        reason: Shown::new(&correction.reason),
        at: Some(Moment::new(visit, correction.created_at)),
    };
    corrections.iter().map(link).collect()
}

pub(crate) async fn correct(
    Path(id): Path<String>,
    Sent(Entitled { visit, who, .. }, request): Sent<Operate>,
) -> Response {
    let Ok(run) = id.parse::<RunId>() else { return no_such_run(&visit) };
    let form: CorrectForm = match posted(&visit, request, &format!("/runs/{run}/correct")).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let why = match reason(&form.reason) {
        Ok(why) => why,
        Err(error) => return again(&visit, &who, run, form, StatusCode::BAD_REQUEST, error.to_owned()).await,
    };
    match corrected(&visit, &who, run, &form, why).await {
        Ok(Ok(Corrected::Queued { run } | Corrected::Repeated { run })) => answer::see(&format!("/runs/{}", run.id)),
        Ok(Ok(Corrected::Conflict { .. })) => {
            let error = "This key stands for a correction of this run already, with another payload. Nothing was made.";
            again(&visit, &who, run, form, StatusCode::CONFLICT, error.into()).await
        }
        Ok(Err(EngineError::NotFound(_))) => no_such_run(&visit),
        Ok(Err(error)) => match wrong(&error) {
            Some((status, said)) => again(&visit, &who, run, form, status, said).await,
            None => answer::problem(&error.into(), Some(&visit)),
        },
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

/// In a task of its own: a browser that hangs up cancels no commit.
async fn corrected(
    visit: &Visit,
    who: &Identity,
    run: RunId,
    form: &CorrectForm,
    reason: String,
) -> Result<Result<Corrected, EngineError>> {
    let (engine, tenant, actor) = (visit.app.engine.clone(), who.tenant().clone(), who.actor());
    let key = KeyGiven::Whole(form.key.trim().to_owned());
    let wish = CorrectRequest { flow: None, key, payload: form.payload.clone(), reason, trigger: None };
    let task = tokio::spawn(async move { engine.correct(&tenant, &actor, run, wish).await });
    task.await.map_err(|error| Problem::internal(&error))
}

/// What the person can put right in the form.
fn wrong(error: &EngineError) -> Option<(StatusCode, String)> {
    let said = || answer::sentence(&error.to_string());
    match error {
        EngineError::CorrectionKey { .. } | EngineError::BadKey(_) | EngineError::BadMember { .. } => {
            Some((StatusCode::BAD_REQUEST, said()))
        }
        EngineError::BadJson { .. } => {
            Some((StatusCode::BAD_REQUEST, format!("The payload is no JSON that can be taken. {}", said())))
        }
        EngineError::InvalidPayload { findings } => {
            let first = findings.first().map(|f| format!(" {}: {}", f.pointer, f.message)).unwrap_or_default();
            Some((StatusCode::BAD_REQUEST, format!("{}{first}", said())))
        }
        EngineError::UnknownFlow => {
            Some((StatusCode::CONFLICT, "The flow of this run is not in the config any more.".into()))
        }
        EngineError::WrongState { .. } => Some((StatusCode::CONFLICT, said())),
        _ => None,
    }
}

async fn again(
    visit: &Visit,
    who: &Identity,
    run: RunId,
    typed: CorrectForm,
    status: StatusCode,
    error: String,
) -> Response {
    let said = Said { correction: Some(Kept { typed, error }), ..Said::default() };
    page(visit, who, run, said, status).await
}
