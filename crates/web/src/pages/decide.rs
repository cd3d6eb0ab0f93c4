//! POST on the card: reads the form strictly, asks who it is, and hands the wish to the engine: approve, reject, edit and
//! approve, take the question back, call an effect back. What comes of it is a redirect to the card, which shows the
//! outcome, or the page again with what stood in the way and everything that was typed.

use std::collections::HashMap;

use axum::{
    Form,
    extract::{FromRequest as _, Path, Request, rejection::PathRejection},
    response::Response,
};
use effectgate_core::{
    approval::{Refused, Verdict, Wish},
    digest::Digest,
    ids::EffectId,
    operate::Asker,
};
use effectgate_engine::{EngineError, view::Findings};
use effectgate_lang::Msg;
use http::StatusCode;

use super::{
    answer,
    approval::{self, Banner, Door, Found, Typed},
    ask, edit, stale,
    viewer::{Sight, Viewer, sight},
    visit::Visit,
};
use crate::{
    auth::csrf,
    problem::{self, Code, Problem, Result},
};

/// The form as the card and the edit page send it. What an edit's form holds besides is the payloads' members.
struct DecisionForm {
    csrf: String,
    effects_hash: String,
    decision: String,
    reason: String,
    /// Which effect to call back.
    effect: String,
    fields: HashMap<String, String>,
}

impl DecisionForm {
    fn of(mut fields: HashMap<String, String>) -> Result<Self> {
        let mut take = |name: &str| fields.remove(name);
        let missing = || Problem::new(Code::BadMember, "the form did not come whole; open the page again");
        Ok(Self {
            csrf: take("csrf").ok_or_else(missing)?,
            effects_hash: take("effects_hash").unwrap_or_default(),
            decision: take("decision").ok_or_else(missing)?,
            reason: take("reason").unwrap_or_default().replace("\r\n", "\n"),
            effect: take("effect").unwrap_or_default(),
            fields,
        })
    }

    fn reason(&self) -> Option<String> {
        Some(self.reason.clone()).filter(|reason| !reason.trim().is_empty())
    }

    fn posted(self) -> stale::Posted {
        let Self { decision, effects_hash, reason, effect, fields, csrf: _ } = self;
        stale::Posted { decision, effects_hash, reason, effect, fields }
    }

    fn shown(&self) -> Result<Digest> {
        let bad = |_| Problem::new(Code::BadMember, "the form names no hash of what was shown").at("/effects_hash");
        self.effects_hash.parse().map_err(bad)
    }
}

/// What a form wants done.
enum Wanted {
    Decide(Verdict),
    Edit,
    Withdraw,
    Cancel,
}

impl Wanted {
    fn of(word: &str) -> Result<Self> {
        match word {
            "approve" => Ok(Self::Decide(Verdict::Approve)),
            "reject" => Ok(Self::Decide(Verdict::Reject)),
            "edit" => Ok(Self::Edit),
            "withdraw" => Ok(Self::Withdraw),
            "cancel" => Ok(Self::Cancel),
            _ => Err(Problem::new(Code::BadMember, "a decision is approve, reject or edit").at("/decision")),
        }
    }
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
    match read(request).await {
        Ok(form) => match visit.check_form(&door.path(), &form.csrf) {
            Ok(()) => wished(&visit, &door, form).await,
            Err(problem) => stale::answer(&visit, &door, form.posted(), problem).await,
        },
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

/// Form encoding only: a foreign page can send text/plain that parses as JSON (HC-33).
async fn read(request: Request) -> Result<DecisionForm> {
    if !csrf::is_media(request.headers(), "application/x-www-form-urlencoded") {
        return Err(Problem::new(Code::UnsupportedMediaType, "only the form on the page decides"));
    }
    DecisionForm::of(form(request).await?)
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

async fn wished(visit: &Visit, door: &Door, form: DecisionForm) -> Response {
    let found = match approval::find(visit, door).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let viewer = match sight(visit, &found.tenant, &found.approval, found.audience.as_deref()).await {
        Ok(Sight::Card(viewer)) => viewer,
        Ok(other) => return approval::not_shown(visit, door, &found, &other, StatusCode::FORBIDDEN),
        Err(problem) => return answer::problem(&problem, Some(visit)),
    };
    let at = At { visit, door, viewer: &viewer };
    let done = match Wanted::of(&form.decision) {
        Ok(Wanted::Decide(verdict)) => at.decide(&found, &form, verdict).await,
        Ok(Wanted::Edit) => at.edit(found, &form).await,
        Ok(Wanted::Withdraw) => at.withdraw(&found, &form).await,
        Ok(Wanted::Cancel) => at.cancel(&found, &form).await,
        Err(problem) => Err(problem),
    };
    done.unwrap_or_else(|problem| answer::problem(&problem, Some(visit)))
}

/// Who does something where.
struct At<'a> {
    visit: &'a Visit,
    door: &'a Door,
    viewer: &'a Viewer,
}

impl At<'_> {
    async fn decide(&self, found: &Found, form: &DecisionForm, verdict: Verdict) -> Result<Response> {
        let wish = Wish { verdict, reason: form.reason(), shown: form.shown()?, edited: None };
        match self.asked(found, &wish).await? {
            Ok(()) => Ok(answer::see(&self.door.path())),
            Err((why, _)) => Ok(self.refused(&wish, why).await),
        }
    }

    /// Asks the engine, in a task of its own: a browser that hangs up cancels no commit.
    async fn asked(&self, found: &Found, wish: &Wish) -> Result<Result<(), (Refused, Findings)>> {
        let (engine, tenant, id) = (self.visit.app.engine.clone(), found.tenant.clone(), found.approval.id);
        let (person, wanted) = (self.viewer.person.clone(), wish.clone());
        let decided = tokio::spawn(async move { engine.decide(&tenant, id, &person, &wanted).await }).await;
        match decided.map_err(|error| Problem::internal(&error))? {
            Ok(_) => Ok(Ok(())),
            Err(EngineError::DecisionRefused { why, findings, .. }) => Ok(Err((why, findings))),
            Err(error) => Err(error.into()),
        }
    }

    /// An edit: read against the effects that the form showed, judged by the engine.
    async fn edit(&self, found: Found, form: &DecisionForm) -> Result<Response> {
        let (shown, tongue) = (form.shown()?, &self.visit.tongue);
        let typed = edit::Typed::of(&form.fields, form.reason.clone());
        let policy = self.visit.app.engine.policy();
        let Some(effects) = found.approval.effects_at(shown) else {
            let wish = Wish { verdict: Verdict::Edit, reason: form.reason(), shown, edited: None };
            let now = found.approval.effects_hash;
            return Ok(self.refused(&wish, Refused::Changed { now }).await);
        };
        let edited = match edit::read(effects, &found, policy, &typed, tongue) {
            Ok(edited) => edited,
            Err(errors) => return Ok(self.again(&found, edit::State { typed, errors, ..wrong(self.visit) })),
        };
        let wish = Wish { verdict: Verdict::Edit, reason: form.reason(), shown, edited: Some(edited) };
        let (why, findings) = match self.asked(&found, &wish).await? {
            Ok(()) => return Ok(answer::see(&self.door.path())),
            Err(refused) => refused,
        };
        Ok(self.edit_refused(&wish, typed, why, &findings).await)
    }

    async fn edit_refused(&self, wish: &Wish, typed: edit::Typed, why: Refused, findings: &Findings) -> Response {
        let (visit, tongue) = (self.visit, &self.visit.tongue);
        let state = match &why {
            Refused::InvalidEdit => edit::State { errors: edit::placed(findings), ..wrong(visit) },
            Refused::Changed { .. } => edit::State {
                status: StatusCode::CONFLICT,
                banner: Some((tongue.say(Msg::StopChangedTitle), tongue.say(Msg::EditChangedMeanwhile))),
                overtaken: Some(wish.shown),
                ..edit::State::default()
            },
            Refused::NothingChanged | Refused::TooManyEdits | Refused::ReasonTooLong => edit::State {
                status: problem::refused(&why).status(),
                banner: Some((tongue.say(Msg::StopReasonTitle), ask::said(&why, tongue))),
                ..edit::State::default()
            },
            _ => return self.refused(wish, why).await,
        };
        match approval::find(visit, self.door).await {
            Ok(found) => self.again(&found, edit::State { typed, ..state }),
            Err(response) => response,
        }
    }

    fn again(&self, found: &Found, state: edit::State) -> Response {
        edit::page(self.visit, self.door, found, self.viewer.person.subject.as_str(), state)
    }

    async fn withdraw(&self, found: &Found, form: &DecisionForm) -> Result<Response> {
        let (engine, tenant, id) = (self.visit.app.engine.clone(), found.tenant.clone(), found.approval.id);
        let (asker, reason) = (self.asker()?, form.reason.clone());
        let done = tokio::spawn(async move { engine.withdraw(&tenant, id, &asker, &reason).await.map(drop) }).await;
        self.operated(done.map_err(|error| Problem::internal(&error))?, &form.reason).await
    }

    async fn cancel(&self, found: &Found, form: &DecisionForm) -> Result<Response> {
        let bad = |_| Problem::new(Code::BadMember, "the form names no effect").at("/effect");
        let effect: EffectId = form.effect.parse().map_err(bad)?;
        if effect.run != found.agg.run.id {
            return Err(Problem::new(Code::NotFound, "this approval has no such effect"));
        }
        let (engine, tenant) = (self.visit.app.engine.clone(), found.tenant.clone());
        let (asker, reason) = (self.asker()?, form.reason.clone());
        let done = tokio::spawn(async move { engine.cancel(&tenant, effect, &asker, &reason).await.map(drop) }).await;
        self.operated(done.map_err(|error| Problem::internal(&error))?, &form.reason).await
    }

    /// Operators sign in; a link alone operates nothing.
    fn asker(&self) -> Result<Asker> {
        let asker = self.viewer.asker();
        asker.ok_or_else(|| Problem::new(Code::Forbidden, "this wants a sign-in; the link alone is not enough"))
    }

    /// The card, or the card with what stood in the way.
    async fn operated(&self, done: std::result::Result<(), EngineError>, reason: &str) -> Result<Response> {
        let tongue = &self.visit.tongue;
        let Err(error) = done else { return Ok(answer::see(&self.door.path())) };
        let (title, text) = match &error {
            EngineError::ReasonRequired => (Msg::StopReasonTitle, Msg::StopReasonWanted),
            EngineError::WrongState { .. } => (Msg::StopTooLateTitle, Msg::StopTooLate),
            _ => return Err(error.into()),
        };
        let banner = Banner { title: tongue.say(title), text: tongue.say(text) };
        let typed = Typed { operate: reason.to_owned(), ..Typed::default() };
        Ok(self.card(Problem::from(error).status(), banner, typed).await)
    }

    /// The card as it is now, with what stood in the way on top. Nothing that was typed is lost.
    async fn refused(&self, wish: &Wish, why: Refused) -> Response {
        let (visit, tongue) = (self.visit, &self.visit.tongue);
        let found = match approval::find(visit, self.door).await {
            Ok(found) => found,
            Err(response) => return response,
        };
        let reason = wish.reason.clone().unwrap_or_default();
        let typed = match wish.verdict {
            Verdict::Approve | Verdict::Edit => Typed { note: reason, ..Typed::default() },
            Verdict::Reject => Typed { reason, ..Typed::default() },
        };
        let is_over = !found.approval.is_open(visit.now);
        let title = match &why {
            _ if is_over => Msg::StopOverTitle,
            Refused::Changed { .. } => Msg::StopChangedTitle,
            Refused::ReasonRequired | Refused::ReasonTooLong => Msg::StopReasonTitle,
            _ => Msg::StopOverTitle,
        };
        let banner = Banner { title: tongue.say(title), text: ask::said(&why, tongue) };
        let shown = matches!(why, Refused::Changed { .. }).then_some(wish.shown);
        let typed = Typed { overtaken: shown, ..typed };
        approval::card(visit, self.door, found, self.viewer, problem::refused(&why).status(), Some(banner), typed).await
    }

    async fn card(&self, status: StatusCode, banner: Banner, typed: Typed) -> Response {
        match approval::find(self.visit, self.door).await {
            Ok(found) => approval::card(self.visit, self.door, found, self.viewer, status, Some(banner), typed).await,
            Err(response) => response,
        }
    }
}

/// 422 with the fields named on top.
fn wrong(visit: &Visit) -> edit::State {
    let tongue = &visit.tongue;
    edit::State {
        status: StatusCode::UNPROCESSABLE_ENTITY,
        banner: Some((tongue.say(Msg::EditErrorsTitle), tongue.say(Msg::EditErrors))),
        ..edit::State::default()
    }
}
