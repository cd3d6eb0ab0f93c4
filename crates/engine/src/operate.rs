//! What operators do over the wire: cancel, resolve a review, release, close. Core says what is allowed, and who besides
//! operators may; the web room found out who calls and checked the scope.

use effectgate_core::{
    actor::Actor,
    ids::{EffectId, RunId, Tenant},
    operate::{self, Asker, Refused, Resolution},
    run::Aggregate,
    transition::Transition,
};

use crate::{
    engine::{Engine, Step},
    error::{EngineError, Result},
    inline::find,
    view::{self, RunView},
};

impl Engine {
    /// Cancels an effect that has not left: an operator at any time, whoever is asked in this flow within the window.
    ///
    /// # Errors
    /// Not entitled, no reason, a state from which nothing can be called back, not found, the store.
    pub async fn cancel(&self, tenant: &Tenant, id: EffectId, asker: &Asker, reason: &str) -> Result<RunView> {
        let step = |agg: &Aggregate, now| {
            let effect = find(agg, id)?;
            operate::cancel(agg, effect, asker, self.audience(agg), reason, now).map_err(|why| refused(agg, why))
        };
        self.operated(tenant, id.run, step).await
    }

    /// Whether [`Engine::cancel`] would be taken now, for pages that show a button only where it works.
    #[must_use]
    pub fn may_cancel(&self, agg: &Aggregate, id: EffectId, asker: &Asker) -> bool {
        find(agg, id).is_ok_and(|effect| operate::may_cancel(agg, effect, asker, self.audience(agg)).is_ok())
    }

    /// Whom the run's flow asks, as the config says now.
    fn audience(&self, agg: &Aggregate) -> &[String] {
        let approval = self.flow_of(agg).ok().and_then(|flow| flow.flow.approval.as_ref());
        approval.map_or(&[], |approval| &approval.audience)
    }

    /// Settles an unknown effect on a person's word.
    ///
    /// Guarantees: a double click is one resolution; "send again" is one more attempt with the same provider key.
    ///
    /// # Errors
    /// No reason, nothing to settle, not found, the store.
    pub async fn resolve(
        &self,
        tenant: &Tenant,
        id: EffectId,
        actor: &Actor,
        resolution: &Resolution,
        reason: &str,
    ) -> Result<RunView> {
        let step = |agg: &Aggregate, now| {
            let effect = find(agg, id)?;
            operate::resolve(agg, effect, actor, resolution, reason, now).map_err(|why| refused(agg, why))
        };
        self.operated(tenant, id.run, step).await
    }

    /// Puts a quarantined run back into the queue.
    ///
    /// # Errors
    /// No reason, not quarantined, not found, the store.
    pub async fn release(&self, tenant: &Tenant, id: RunId, actor: &Actor, reason: &str) -> Result<RunView> {
        let step = |agg: &Aggregate, now| operate::release(agg, actor, reason, now).map_err(|why| refused(agg, why));
        self.operated(tenant, id, step).await
    }

    /// Ends a quarantined run.
    ///
    /// # Errors
    /// No reason, not quarantined, not found, the store.
    pub async fn close(&self, tenant: &Tenant, id: RunId, actor: &Actor, reason: &str) -> Result<RunView> {
        let step = |agg: &Aggregate, now| operate::close(agg, actor, reason, now).map_err(|why| refused(agg, why));
        self.operated(tenant, id, step).await
    }

    async fn operated(
        &self,
        tenant: &Tenant,
        id: RunId,
        step: impl Fn(&Aggregate, effectgate_core::time::Timestamp) -> Result<Transition> + Send + Sync,
    ) -> Result<RunView> {
        let changed = self.change(tenant, id, |agg, now| Ok(Step::Write(Box::new(step(agg, now)?), ()))).await?;
        self.view(&changed.1).await
    }
}

/// What is never sent again by itself, however often somebody asks (HC-46).
pub const MAKE_A_CORRECTION: &str = "it is never sent again under its key; once its run has ended, make a correction: \
POST /v1/runs/{id}/correct with a key of its own from upstream, linked to this run";

fn way_from(agg: &Aggregate, state: &str) -> Option<&'static str> {
    let has_ended = agg.run.state.is_final() || matches!(state, "completed" | "failed" | "cancelled");
    has_ended.then_some(MAKE_A_CORRECTION)
}

pub(crate) fn refused(agg: &Aggregate, why: Refused) -> EngineError {
    match why {
        Refused::NotEntitled => EngineError::NotEntitled,
        Refused::ReasonRequired => EngineError::ReasonRequired,
        Refused::KeyPoisoned(id) => match find(agg, id) {
            Ok(effect) => EngineError::KeyPoisoned { effect: Box::new(view::effect_view(&agg.run, effect, &[])) },
            Err(error) => error,
        },
        Refused::WrongState(state) => {
            let run = Box::new(view::run_view(agg, None, &[]));
            EngineError::WrongState { state: state.to_owned(), next: way_from(agg, state), run }
        }
    }
}
