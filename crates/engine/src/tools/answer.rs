//! What an agent is told: one of six words, ids, and a sentence that says what to do now. A model that reads "error"
//! tries again, so nothing here sounds like one, and every sentence but one says not to call again.

use effectgate_core::{
    effect::Effect,
    ids::{ApprovalId, EffectId, EffectType, RunId},
    run::{Aggregate, Run},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::view::{FindingView, Findings};

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolWord {
    /// Done, by this call.
    Succeeded,
    /// Done, by an earlier call of the same request.
    AlreadySucceeded,
    /// A person decides first.
    AwaitingApproval,
    /// Kept and decided; it goes by itself, later.
    Accepted,
    /// It may have happened, or it is not known yet.
    Unknown,
    /// Not done, and it will not be.
    Refused,
}

/// The answer to a call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ToolAnswer {
    pub answer: ToolWord,
    /// For the model: what happened, and what to do now.
    pub message: String,
    /// The same at every call of one request.
    pub correlation_id: String,
    /// Absent where nothing was kept.
    #[schema(value_type = Option<String>)]
    pub run_id: Option<RunId>,
    /// From the moment at which it is decided on.
    #[schema(value_type = Option<String>)]
    pub effect_id: Option<EffectId>,
    /// What was made: the provider's id; where it names none, the effect's.
    pub result_id: Option<String>,
    #[schema(value_type = Option<String>)]
    pub approval_id: Option<ApprovalId>,
    /// With `refused`: what is wrong with the arguments. Pointers from their root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Findings,
}

const NOT_AGAIN: &str = "Do not call it again for this request";

impl ToolAnswer {
    fn about(run: &Run, answer: ToolWord, message: String) -> Self {
        Self {
            answer,
            message,
            correlation_id: correlation_id(run),
            run_id: Some(run.id),
            effect_id: None,
            result_id: None,
            approval_id: None,
            errors: Vec::new(),
        }
    }

    pub(super) fn done(agg: &Aggregate, effect: Option<&Effect>) -> Self {
        let result_id = effect.map(|e| e.external_id.clone().unwrap_or_else(|| e.id.to_string()));
        let named = result_id.as_ref().map_or(String::new(), |id| format!(" Its id is {id}."));
        let message = format!("Done, once.{named} {NOT_AGAIN}.");
        Self { result_id, ..Self::about(&agg.run, ToolWord::Succeeded, message) }.with(effect)
    }

    /// The same answer for a call that found it done: then nothing was done by this one.
    pub(super) fn repeated(self) -> Self {
        if self.answer != ToolWord::Succeeded {
            return self;
        }
        let named = self.result_id.as_ref().map_or(String::new(), |id| format!(" Its id is {id}."));
        let message = format!("This was done before in this request, and nothing was done now.{named} {NOT_AGAIN}.");
        Self { answer: ToolWord::AlreadySucceeded, message, ..self }
    }

    pub(super) fn awaiting(agg: &Aggregate) -> Self {
        let approval_id = agg.approval().map(|approval| approval.id);
        let named = approval_id.map_or(String::new(), |id| format!(" (approval {id})"));
        let message = format!(
            "A person decides first{named}. Nothing is done until then, and it is done by itself if they agree. \
             {NOT_AGAIN}; say that it waits for a person."
        );
        Self { approval_id, ..Self::about(&agg.run, ToolWord::AwaitingApproval, message) }
    }

    pub(super) fn accepted(agg: &Aggregate, effect: &Effect, why: &str) -> Self {
        let message = format!("It is kept and will be done by itself, later: {why}. {NOT_AGAIN}.");
        Self::about(&agg.run, ToolWord::Accepted, message).with(Some(effect))
    }

    pub(super) fn unknown(agg: &Aggregate, effect: Option<&Effect>, why: &str) -> Self {
        let message = format!("{why} {NOT_AGAIN}, and do not try to reach the same in another way.");
        Self::about(&agg.run, ToolWord::Unknown, message).with(effect)
    }

    pub(super) fn refused(agg: &Aggregate, effect: Option<&Effect>, why: &str) -> Self {
        let message = format!("It was not done and will not be: {why}. {NOT_AGAIN}.");
        Self::about(&agg.run, ToolWord::Refused, message).with(effect)
    }

    /// The request was made with other arguments before. Names of members, never values.
    pub(super) fn conflict(run: &Run, differs: &[String]) -> Self {
        let message = format!(
            "This request was made before with other arguments. Nothing was done with these, and they were not kept. \
             {NOT_AGAIN}."
        );
        let errors = differs.iter().map(|at| FindingView::new(at, "const", "differs from the first call"));
        Self { errors: errors.collect(), ..Self::about(run, ToolWord::Refused, message) }
    }

    /// The one answer after which a model may call again.
    pub(super) fn invalid(effect_type: &EffectType, correlation_id: String, errors: Findings) -> Self {
        let found: Vec<String> = errors.iter().take(TOLD_MAX).map(told).collect();
        let message = format!(
            "The arguments do not fit {effect_type}: {}. Nothing was kept or done. Correct them and call it once more; \
             if you cannot, say so.",
            found.join("; ")
        );
        let answer = ToolWord::Refused;
        let (run_id, effect_id, result_id, approval_id) = (None, None, None, None);
        Self { answer, message, correlation_id, run_id, effect_id, result_id, approval_id, errors }
    }

    fn with(self, effect: Option<&Effect>) -> Self {
        Self { effect_id: effect.map(|effect| effect.id), ..self }
    }
}

/// Findings in the sentence; `errors` has them all.
const TOLD_MAX: usize = 3;

fn told(finding: &FindingView) -> String {
    let at = if finding.pointer.is_empty() { "as a whole" } else { finding.pointer.as_str() };
    format!("{at}: {}", finding.message)
}

/// What connects the calls of one request: what the workflow named at the first of them, else the run itself.
fn correlation_id(run: &Run) -> String {
    run.origin.correlation_id.clone().unwrap_or_else(|| run.id.to_string())
}
