//! What the door answers: the provider's own answer, or why there is none yet or never will be. Every answer about a run
//! names it and its effect in headers, because the provider's body is not ours to write into.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use effectgate_core::time::Timestamp;
use effectgate_engine::{
    outbound::{Kept, OUT_TYPE, OutAnswer},
    view::{EffectView, RunView},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    api::{REPLAYED, Reply},
    problem::{Code, Problem},
};

const RUN: HeaderName = HeaderName::from_static("effectgate-run");
const EFFECT: HeaderName = HeaderName::from_static("effectgate-effect");

/// The request is kept and will be sent later: the workflow goes on, or asks again with the same key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OutAccepted)]
pub(crate) struct Accepted {
    /// `awaiting_approval` or `scheduled`.
    code: &'static str,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_id: Option<String>,
    /// With `scheduled`: when it is sent unless somebody cancels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    not_before: Option<Timestamp>,
    run: RunView,
}

pub(super) fn response(answer: OutAnswer) -> Response {
    match answer {
        OutAnswer::Kept { kept, replayed, run } => named(kept_response(kept, replayed), &run),
        OutAnswer::AwaitingApproval { run } => accepted(awaiting(*run), None),
        OutAnswer::Scheduled { run, not_before, wait_ms } => accepted(scheduled(*run, not_before), Some(wait_ms)),
        OutAnswer::InFlight { run, retry_after_ms } => {
            let said = "this request is under way; ask again with the same key, nothing is sent twice";
            problem(Problem::new(Code::InFlight, said).retry_after_ms(retry_after_ms), &run)
        }
        OutAnswer::Unknown { run } => problem(unknown(&run), &run),
        OutAnswer::SwitchOff { run } => {
            let said = "actions are switched off: nothing was sent; it is kept and goes when the switch is on";
            problem(Problem::new(Code::SwitchOff, said), &run)
        }
        OutAnswer::BudgetUsedUp { run, why, until, wait_ms } => problem(over_budget(&why, until, wait_ms), &run),
        OutAnswer::NotSent { run, why } => {
            problem(Problem::new(Code::NotSent, format!("it was not sent and will not be: {why}")), &run)
        }
        OutAnswer::NoAnswer { run, status } => problem(no_answer(&run, status), &run),
        OutAnswer::Erased { run } => {
            let said =
                "it was answered, and the answer was erased with the rest of its content; it is never sent again";
            problem(Problem::new(Code::AnswerErased, said), &run)
        }
        OutAnswer::Conflict { run, stored, came, differs } => {
            let said = "this key stands for another request; nothing was sent, and it is on record";
            let conflict = Problem::new(Code::PayloadConflict, said).with("stored_hash", &stored);
            problem(conflict.with("request_hash", &came).with("differs", &differs), &run)
        }
    }
}

/// The provider's answer. What a browser may make of it is said by the headers that every answer carries.
fn kept_response(kept: Kept, replayed: bool) -> Response {
    // A status that HTTP does not know cannot have been read from the wire.
    let status = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut response = Response::new(Body::from(kept.body));
    *response.status_mut() = status;
    for (name, value) in kept.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    if replayed {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

fn awaiting(run: RunView) -> Accepted {
    let approval = run.approval.as_ref();
    Accepted {
        code: "awaiting_approval",
        detail: "a person decides first; ask again with the same key for the answer".into(),
        approval_id: approval.map(|approval| approval.id.to_string()),
        not_before: None,
        run,
    }
}

fn scheduled(run: RunView, not_before: Timestamp) -> Accepted {
    let detail = format!("held back until {not_before}; ask again with the same key for the answer");
    Accepted { code: "scheduled", detail, approval_id: None, not_before: Some(not_before), run }
}

fn accepted(accepted: Accepted, wait_ms: Option<i64>) -> Response {
    let reply = Reply::new(StatusCode::ACCEPTED, &accepted);
    let reply = match wait_ms {
        Some(ms) => reply.retry_after_ms(ms),
        None => reply,
    };
    named(reply.into_response(), &accepted.run)
}

fn unknown(run: &RunView) -> Problem {
    let said = match effect(run).map(|effect| effect.state.as_str()) {
        Some("review") => "it may have happened and nobody knows: a person settles it; it is not sent again by itself",
        _ => "it may have happened and nobody knows yet: it is being looked into; ask again with the same key",
    };
    Problem::new(Code::OutcomeUnknown, said).with("effect", &effect(run))
}

/// Waiting helps only where there is a moment to wait for.
fn over_budget(why: &str, until: Option<Timestamp>, wait_ms: i64) -> Problem {
    match until {
        Some(until) => {
            let said = format!("it was not sent yet: {why}, by itself; ask again then with the same key");
            Problem::new(Code::BudgetUsedUp, said).with("until", &until).retry_after_ms(wait_ms)
        }
        None => {
            let said = format!("it was not sent: {why}; somebody raises the budget in the config, or cancels it");
            Problem::new(Code::BudgetUsedUp, said)
        }
    }
}

fn no_answer(run: &RunView, status: Option<u16>) -> Problem {
    let said = match status {
        Some(300..=399) => {
            "the provider answered with a redirect, which is never followed or handed on: correct the address, and use a \
             new key"
                .to_owned()
        }
        Some(status) => format!("the provider answered {status}, and the answer was too long to keep"),
        None => "it is settled, and the provider's answer was never seen; what is known is in effect".to_owned(),
    };
    let problem = Problem::new(Code::NoAnswer, said).with("effect", &effect(run));
    match status {
        Some(status) => problem.with("provider_status", &status),
        None => problem,
    }
}

fn problem(problem: Problem, run: &RunView) -> Response {
    named(problem.with("run", run).into_response(), run)
}

fn effect(run: &RunView) -> Option<&EffectView> {
    run.effects.iter().find(|effect| effect.effect_type == OUT_TYPE)
}

fn named(mut response: Response, run: &RunView) -> Response {
    let headers: &mut HeaderMap = response.headers_mut();
    let ids = [(RUN, Some(run.id.to_string())), (EFFECT, effect(run).map(|effect| effect.id.to_string()))];
    for (name, id) in ids {
        if let Some(Ok(id)) = id.map(HeaderValue::try_from) {
            headers.insert(name, id);
        }
    }
    response
}
