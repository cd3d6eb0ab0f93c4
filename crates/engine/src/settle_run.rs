//! Complete and fail: how a worker ends its work. The answer to `fail` says whether, when and how often more.

use effectgate_core::{
    ending::{self, EndRefused, FailClass},
    run::{Aggregate, RunState},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    call::{Answered, LeaseCall, Moved},
    engine::Engine,
    error::{EngineError, Result},
    random,
    view::{self, RunView},
};

/// The answer to `complete`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Completed {
    pub run: RunView,
}

/// The answer to `fail`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Failed {
    pub run: RunView,
    /// Whether there will be another attempt.
    pub retry: bool,
    #[schema(value_type = Option<String>)]
    pub next_attempt_at: Option<Timestamp>,
    pub attempts_left: i32,
}

/// A worker's words about a failure are for people and are cut in the journal.
pub const MESSAGE_CHARS_MAX: usize = 10_000;

impl Engine {
    /// Completes a run with its result, kept as the text that came in.
    ///
    /// Guarantees: fenced by owner, fence and the live lease; idempotent for the same call.
    ///
    /// # Errors
    /// Lease lost, inline effects open, not found, the store.
    pub async fn complete(&self, call: &LeaseCall, result: &str) -> Result<Answered<Completed>> {
        let parsed = effectgate_core::json::parse(result.as_bytes());
        parsed.map_err(|error| EngineError::BadJson { pointer: format!("/result{}", error.pointer), error })?;
        self.moved(call, |agg, now| {
            let transition =
                ending::complete(agg, &call.owner, call.fence, result, now).map_err(|r| refused(r, agg))?;
            let result = result.to_owned();
            let answer = move |after: &Aggregate| Completed { run: view::run_view(after, Some(&result), &[]) };
            Ok(Moved::new(Box::new(transition), Box::new(answer)))
        })
        .await
    }

    /// Fails a run with a class of the matrix.
    ///
    /// Guarantees: as for [`Engine::complete`].
    ///
    /// # Errors
    /// Unknown class, lease lost, not found, the store.
    pub async fn fail(&self, call: &LeaseCall, class: &str, message: Option<&str>) -> Result<Answered<Failed>> {
        let class = FailClass::parse(class).ok_or(EngineError::UnknownClass)?;
        let jitter = random::unit();
        self.moved(call, |agg, now| {
            let flow = &self.flow_of(agg)?.flow;
            let transition =
                ending::fail(agg, flow, &call.owner, call.fence, class, message, now, jitter, self.policy())
                    .map_err(|r| refused(r, agg))?;
            Ok(Moved::new(Box::new(transition), Box::new(failed)))
        })
        .await
    }
}

fn failed(after: &Aggregate) -> Failed {
    let run = &after.run;
    Failed {
        retry: matches!(run.state, RunState::FailedRetryable { .. }),
        next_attempt_at: run.state.next_attempt_at(),
        attempts_left: run.attempts_max - run.attempts,
        run: view::run_view(after, None, &[]),
    }
}

pub(crate) fn refused(refused: EndRefused, agg: &Aggregate) -> EngineError {
    let run = Box::new(view::run_view(agg, None, &[]));
    match refused {
        EndRefused::LeaseLost => EngineError::LeaseLost { run },
        EndRefused::EffectsOpen => EngineError::EffectsOpen { run },
    }
}
