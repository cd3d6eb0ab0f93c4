//! One run: why it stands where it stands on top, then its effects with their attempts, its approvals, its record in
//! words, and for those who may read it what it holds. GET changes nothing; what operators do is in [`act`].

pub(super) mod act;
mod approvals;
pub(super) mod correct;
pub(super) mod effects;
pub(super) mod entries;

use askama::Template;
use axum::{extract::Path, response::Response};
use effectgate_core::{
    ids::RunId,
    run::{Aggregate, RunState},
};
use effectgate_engine::{EngineError, act::Act, explain::Explanation};
use effectgate_store::Content;
use http::StatusCode;

use self::{
    approvals::ApprovalBlock,
    effects::EffectBlock,
    entries::{Chain, local},
};
use super::{
    action::{Action, Refusal, Words},
    answer::{self, Frame, Note},
    approval::Banner,
    listing::{Moment, Tag},
    text::{Shown, TextBlock},
    visit::{Entitled, Visit},
};
use crate::{
    auth::{
        Identity,
        allowed::{Need as _, Operate, Read, ReadContent},
    },
    problem::Result,
};

#[derive(Template)]
#[template(path = "run.html")]
struct RunPage {
    frame: Frame,
    banner: Option<Banner>,
    key: Shown,
    flow: Shown,
    state: Tag,
    explain: Explain,
    facts: Vec<Fact>,
    corrects: Option<correct::Link>,
    corrections: Vec<correct::Link>,
    /// `None` for a run that has not ended, and for those who may not correct it.
    correction: Option<correct::CorrectBlock>,
    actions: Vec<Action>,
    effects: Vec<EffectBlock>,
    approvals: Vec<ApprovalBlock>,
    chain: Chain,
    /// `None` for those who may not read it.
    content: Option<Vec<ContentPart>>,
    zone: String,
}

/// The answers of `explain`.
struct Explain {
    code: String,
    text: Shown,
    next: Shown,
    processed: &'static str,
    sent: &'static str,
}

pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: Shown,
}

struct ContentPart {
    name: &'static str,
    block: TextBlock,
}

/// What is said above the page after a form, and what stood in its way.
#[derive(Default)]
pub(super) struct Said {
    pub(super) banner: Option<Banner>,
    pub(super) refusal: Option<Refusal>,
    pub(super) correction: Option<correct::Kept>,
}

pub(crate) async fn show(Entitled { visit, who, .. }: Entitled<Read>, Path(id): Path<String>) -> Response {
    match id.parse() {
        Ok(id) => page(&visit, &who, id, Said::default(), StatusCode::OK).await,
        Err(_) => no_such_run(&visit),
    }
}

/// The page as it is now.
pub(super) async fn page(visit: &Visit, who: &Identity, id: RunId, said: Said, status: StatusCode) -> Response {
    match build(visit, who, id, said).await {
        Ok(Some(page)) => answer::page(status, &page),
        Ok(None) => no_such_run(visit),
        Err(problem) => answer::problem(&problem, Some(visit)),
    }
}

pub(super) fn no_such_run(visit: &Visit) -> Response {
    Note::new(Some(visit), "There is no such run", "It does not exist here, or its record was removed after its time.")
        .way("/runs", "To the runs")
        .answer(StatusCode::NOT_FOUND)
}

async fn build(visit: &Visit, who: &Identity, id: RunId, said: Said) -> Result<Option<RunPage>> {
    let engine = &visit.app.engine;
    let explanation = match engine.explain(who.tenant(), id).await {
        Ok(explanation) => explanation,
        Err(EngineError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Some(agg) = engine.store().run_load(who.tenant(), id).await.map_err(EngineError::from)? else {
        return Ok(None);
    };
    let may_operate = who.need(Operate::ANY_OF).is_ok();
    let content = match who.need(ReadContent::ANY_OF) {
        Ok(()) => {
            Some(engine.store().run_content(who.tenant(), id).await.map_err(EngineError::from)?.unwrap_or_default())
        }
        Err(_) => None,
    };
    let payload = content.as_ref().and_then(|content| content.payload.as_deref());
    let correction = may_operate.then(|| correct::block(visit, &agg.run, payload, said.correction.as_ref())).flatten();
    let refusal = said.refusal.as_ref();
    Ok(Some(RunPage {
        frame: Frame::english("Run", visit),
        banner: said.banner,
        key: Shown::new(&agg.run.key),
        flow: Shown::new(agg.run.flow.as_str()),
        state: Tag::new(agg.run.state.as_str(), agg.run.state.reason()),
        facts: facts(visit, &agg, &explanation),
        corrects: correct::original(&agg.run),
        corrections: correct::links(visit, &engine.corrections(who.tenant(), id).await?),
        correction,
        actions: if may_operate { actions(visit, &agg, refusal) } else { Vec::new() },
        effects: effects::blocks(visit, &agg, &explanation, may_operate, refusal),
        approvals: approvals::blocks(visit, &agg, may_operate, refusal),
        chain: entries::tail(visit, who, &agg).await?,
        content: content.map(parts),
        zone: super::listing::zone(visit).to_string(),
        explain: explain(visit, &explanation),
    }))
}

fn explain(visit: &Visit, explanation: &Explanation) -> Explain {
    let shown = |text: &str| Shown::new(&answer::sentence(&local(visit, text)));
    Explain {
        code: super::text::one_line(&explanation.reason.code),
        text: shown(&explanation.reason.text),
        next: shown(&explanation.reason.next),
        processed: if explanation.processed { "Yes" } else { "No" },
        sent: match explanation.sent {
            "yes" => "Yes, all of it",
            "partly" => "Partly",
            "unknown" => "Not known",
            _ => "No",
        },
    }
}

fn facts(visit: &Visit, agg: &Aggregate, explanation: &Explanation) -> Vec<Fact> {
    let run = &agg.run;
    let moment = |at| {
        let Moment { text, relative, .. } = Moment::new(visit, at);
        format!("{text} ({relative})")
    };
    let delivery = explanation.delivery.as_ref();
    let model = |name: &str| explanation.model[name].as_str().map(str::to_owned);
    let all = [
        ("Run", Some(run.id.to_string())),
        ("Created", Some(moment(run.created_at))),
        ("Last change", Some(moment(run.updated_at))),
        ("Attempts", Some(format!("{} of {}", run.attempts, run.attempts_max))),
        ("Worker", run.owner.as_ref().map(|owner| owner.as_str().to_owned())),
        ("Lease until", agg.lease.map(|lease| moment(lease.expires_at))),
        ("May be claimed from", run.state.next_attempt_at().map(moment)),
        ("Came in at", run.origin.inbound.as_ref().map(|source| format!("the source {source}"))),
        ("Delivery", delivery.map(|story| answer::sentence(&local(visit, &story.text)))),
        ("Calls to its worker", delivery.map(|story| story.calls.to_string())),
        ("API key", run.origin.api_key.clone()),
        ("Correlation id", run.origin.correlation_id.clone()),
        ("Source record", run.origin.source_url.clone()),
        ("Trigger", run.origin.trigger.as_ref().map(ToString::to_string)),
        ("Workflow execution", run.origin.execution.as_ref().map(ToString::to_string)),
        ("Model", model("name")),
        ("Model revision", model("revision")),
        ("Prompt revision", model("prompt_revision")),
        ("Flow revision", Some(run.flow_revision.clone())),
        ("Payload hash", Some(run.payload_hash.to_string())),
        ("Key kept until", run.expires_at.map(moment)),
        ("Content kept until", run.content_expires_at.map(moment)),
    ];
    let given = all.into_iter().filter_map(|(name, value)| Some((name, value.filter(|v| !v.is_empty())?)));
    given.map(|(name, value)| Fact { name, value: Shown::new(&value) }).collect()
}

fn parts(content: Content) -> Vec<ContentPart> {
    let Content { payload, output, result, .. } = content;
    let all = [("Payload", payload), ("What the model produced", output), ("Result", result)];
    all.into_iter().filter_map(|(name, text)| Some(ContentPart { name, block: TextBlock::new(&text?) })).collect()
}

/// What an operator may do with the run itself.
fn actions(visit: &Visit, agg: &Aggregate, refusal: Option<&Refusal>) -> Vec<Action> {
    if !matches!(agg.run.state, RunState::Quarantined { .. }) {
        return Vec::new();
    }
    let release = Words {
        name: "release",
        title: "Release it",
        does: "The run goes back into the queue, with one more attempt, and a worker takes it from the beginning."
            .into(),
        button: "Release",
        is_stop: false,
    };
    let close = Words {
        name: "close",
        title: "Close it",
        does: "The run ends here for good, and nothing of it is sent. A correction is a new event with its own key."
            .into(),
        button: "Close",
        is_stop: true,
    };
    let action = |words: Words, act: &Act| {
        let path = format!("/runs/{}/{}", agg.run.id, words.name);
        let shown = effectgate_engine::act::mark(agg, act).unwrap_or_default();
        Action::new(visit, path, 0, shown, words).again(refusal)
    };
    vec![action(release, &Act::Release), action(close, &Act::Close)]
}
