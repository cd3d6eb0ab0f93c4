//! A request at the door that waits for its outcome, on the common [`crate::waits`].

use std::time::Duration;

use super::{OutAnswer, Waiting, stand::stand};
use crate::{
    engine::Engine,
    error::{EngineError, Result},
    waits::Stand,
};

impl Engine {
    /// Waits until the outcome is known or the time is over, and says what there is to say. A repeat that comes while
    /// another request waits for the same run is answered at once. Dropping this stops nothing.
    ///
    /// # Errors
    /// The run is gone, the store.
    pub async fn out_wait(&self, waiting: &Waiting) -> Result<OutAnswer> {
        let mut place = self.inner().waits.enter(waiting.run);
        let is_second = waiting.is_repeat && place.others > 0;
        let patience = if is_second { Duration::ZERO } else { Duration::from_millis(waiting.wait_ms) };
        let answer = self.watch(&mut place, patience, || self.out_stand(waiting)).await?;
        Ok(of(answer, waiting.is_repeat))
    }

    async fn out_stand(&self, waiting: &Waiting) -> Result<Stand<OutAnswer>> {
        let agg = self.store().run_load(&waiting.tenant, waiting.run).await?;
        let agg = agg.ok_or(EngineError::NotFound("run"))?;
        let content = match agg.run.state.is_final() {
            true => self.store().run_content(&waiting.tenant, waiting.run).await?,
            false => None,
        };
        let switches = if agg.run.effects.open > 0 { self.switches_in_force().await } else { Vec::new() };
        let now = self.now();
        let entries = self.budget_entries(&agg, now).await?;
        Ok(stand(&agg, content.as_ref(), &entries, &switches, now))
    }
}

/// Whether an answer is a repeat is the request's part, not the run's.
fn of(answer: OutAnswer, is_repeat: bool) -> OutAnswer {
    match answer {
        OutAnswer::Kept { kept, run, .. } => OutAnswer::Kept { kept, replayed: is_repeat, run },
        other => other,
    }
}
