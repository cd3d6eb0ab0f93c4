//! Calls under a lease, and their repeats. A repeat by the same owner and fence with the same body gets the first
//! answer again, whatever has happened since: an answer lost on the way is harmless everywhere.

use effectgate_core::{
    digest::Digest,
    ids::{Fence, OWNER_CHARS_MAX, Owner, RunId, Tenant},
    run::Aggregate,
    time::Timestamp,
    transition::{StoredAnswer, Transition},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    engine::{Engine, Step},
    error::{EngineError, Result},
    probe::{Guard, is_broken},
};

/// Who calls, for which run, with what body.
#[derive(Debug, Clone)]
pub struct LeaseCall {
    pub tenant: Tenant,
    pub run: RunId,
    pub owner: Owner,
    pub fence: Fence,
    /// Identifies the call: operation, owner, fence and body.
    pub call: Digest,
}

impl LeaseCall {
    /// `body` is the request as it came in. The tenant counts, so that nobody is given another tenant's answer.
    #[must_use]
    pub fn new(tenant: Tenant, run: RunId, owner: Owner, fence: Fence, operation: &str, body: &[u8]) -> Self {
        let (who, held) = (tenant.as_str().as_bytes(), owner.as_str().as_bytes());
        let call = Digest::of_parts(&[b"call", who, operation.as_bytes(), held, &fence.0.to_be_bytes(), body]);
        Self { tenant, run, owner, fence, call }
    }
}

/// Reads an owner's name as a caller gave it.
///
/// # Errors
/// Empty, too long, or with control characters.
pub fn owner(text: &str) -> Result<Owner> {
    let bad = |detail: &str| EngineError::BadMember { pointer: "/owner".into(), detail: detail.into() };
    if text.trim().is_empty() {
        return Err(bad("an owner needs a name"));
    }
    if text.chars().count() > OWNER_CHARS_MAX || text.chars().any(char::is_control) {
        return Err(bad("an owner's name has at most 200 characters and no control characters"));
    }
    Ok(Owner::new(text))
}

/// An answer, and whether it was given before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered<T> {
    pub repeated: bool,
    pub answer: T,
}

/// What a call decides: the transition, and the answer that is stored with it.
pub(crate) struct Moved<T> {
    transition: Box<Transition>,
    answer: Box<dyn FnOnce(&Aggregate) -> T + Send>,
}

impl<T> Moved<T> {
    pub(crate) fn new(transition: Box<Transition>, answer: Box<dyn FnOnce(&Aggregate) -> T + Send>) -> Self {
        Self { transition, answer }
    }
}

impl Engine {
    /// Runs a call under a lease: a stored answer first, else load, decide, commit with the answer.
    pub(crate) async fn moved<T>(
        &self,
        call: &LeaseCall,
        mut decide: impl FnMut(&Aggregate, Timestamp) -> Result<Moved<T>> + Send,
    ) -> Result<Answered<T>>
    where
        T: Serialize + DeserializeOwned + Send,
    {
        if let Some(answer) = self.stored(call).await? {
            return Ok(Answered { repeated: true, answer });
        }
        let changed = self
            .change(&call.tenant, call.run, |agg, now| {
                let Moved { mut transition, answer } = decide(agg, now)?;
                let answer = answer(&agg.after(&transition));
                transition.answer = Some(StoredAnswer { call: call.call, body: json(&answer) });
                Ok(Step::Write(transition, answer))
            })
            .await;
        match changed {
            Ok((answer, _)) => Ok(Answered { repeated: false, answer }),
            // Two deliveries of one call at once: the loser finds the winner's answer.
            Err(error @ (EngineError::LeaseLost { .. } | EngineError::WrongState { .. })) => {
                match self.stored(call).await? {
                    Some(answer) => Ok(Answered { repeated: true, answer }),
                    None => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// The call as it came. Without the guard on fences: as if its owner held the lease that there is.
    pub(crate) async fn trusted(&self, call: &LeaseCall) -> Result<LeaseCall> {
        let mut call = call.clone();
        if is_broken(Guard::Fence) {
            let run = self.load(&call.tenant, call.run).await?.run;
            (call.owner, call.fence) = (run.owner.unwrap_or(call.owner), run.fence);
        }
        Ok(call)
    }

    async fn stored<T: DeserializeOwned>(&self, call: &LeaseCall) -> Result<Option<T>> {
        let body = self.store().answer_find(call.run, &call.call).await?;
        Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
    }
}

fn json<T: Serialize>(answer: &T) -> String {
    serde_json::to_string(answer).expect("views are made of strings, numbers and JSON texts")
}
