//! Inline effects over the wire: begin before the worker's own call to the provider, settle after it.

use effectgate_core::{
    budget::{self, Plan, Used, Want},
    ids::{EffectId, Tenant},
    inline::{self, Begin, Reported, Settle},
    proposal::Proposed,
    provider::Class,
    retry,
    run::{Aggregate, Run},
    time::Timestamp,
    transition::Transition,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    call::{Answered, LeaseCall},
    check::{self, Asked},
    engine::{Engine, Step},
    error::{EngineError, Result},
    gate, propose,
    settle_run::refused,
    view::{self, EffectView, FindingView},
};

/// The answer to `effects`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Begun {
    pub effect: EffectView,
    /// False: it was begun before; `effect` says what is known.
    pub begun: bool,
}

/// The answer to `settle`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Settled {
    pub effect: EffectView,
    /// False: it was final before and the report changed nothing.
    pub changed: bool,
}

impl Engine {
    /// Records that the worker is about to call the provider itself.
    ///
    /// Guarantees: the marker is durable before this answers; one row per type and target.
    ///
    /// # Errors
    /// Lease lost, unknown type, a payload or target that is not allowed, other bytes than before, the store.
    /// A repeat gets no stored answer: "begun: true" is leave to call the provider, and is given once. The effect's row
    /// says what is known now.
    pub async fn begin(&self, call: &LeaseCall, asked: &Asked) -> Result<Answered<Begun>> {
        let content = self.store().run_content(&call.tenant, call.run).await?.unwrap_or_default();
        let switches = self.switches_in_force().await;
        let mut charged = Vec::new();
        let changed = self.change(&call.tenant, call.run, |agg, now| {
            let policy = self.flow_of(agg)?;
            let wanted = check::one_effect(self.policy(), policy, asked, content.payload.as_deref(), "")
                .map_err(|findings| EngineError::InvalidPayload { findings })?;
            let reissue = self.may_reissue(agg, &wanted, now);
            let facts = gate::facts(agg, content.payload.as_deref(), None, &propose::Request::default());
            let passage = gate::passage(policy, std::slice::from_ref(&wanted), agg.run.key.as_str(), &facts, now);
            let begin = inline::begin(agg, &call.owner, call.fence, &wanted, &passage, reissue, now);
            match begin.map_err(|r| refused(r, agg))? {
                Begin::Gated { why } => Err(EngineError::InvalidPayload {
                    findings: vec![FindingView::new("/type", "gate", why.join("; "))],
                }),
                Begin::Begun(mut transition) => {
                    charged = self.charge_inline(&agg.run, &mut transition, now)?;
                    let stopped = transition.switch.as_ref().and_then(|applies| applies.stopped_by(&switches));
                    if stopped.is_some() {
                        return Err(EngineError::SwitchOff);
                    }
                    let answer = begun(&agg.after(&transition), transition.effects.first().map(|w| w.effect.id));
                    Ok(Step::Write(transition, Answered { repeated: false, answer }))
                }
                Begin::Known(effect) => {
                    let repeated = effect.fence == call.fence;
                    let effect = view::effect_view(&agg.run, &effect, &[]);
                    Ok(Step::Answer(Answered { repeated, answer: Begun { effect, begun: false } }))
                }
                Begin::Differs(effect) => {
                    let effect = Box::new(view::effect_view(&agg.run, &effect, &[]));
                    Err(EngineError::EffectDiffers { effect })
                }
            }
        });
        let changed = changed.await;
        Ok(changed.map_err(|error| in_words(error, &charged))?.0)
    }

    /// Charges what a worker is about to do itself. It does not wait for room here: its worker is told until when.
    /// Answers with what was asked of budgets.
    fn charge_inline(&self, run: &Run, transition: &mut Transition, now: Timestamp) -> Result<Vec<Want>> {
        let Some(effect) = transition.effects.first().map(|write| write.effect.clone()) else { return Ok(Vec::new()) };
        let wants = self.wants(run, &effect);
        if wants.is_empty() {
            return Ok(wants);
        }
        match budget::plan(&wants, &effect.charged, &Used::default(), now) {
            Plan::Now { charges, charged } => budget::attach(transition, &effect, charges, &charged),
            Plan::Later { by, .. } | Plan::Never { by, .. } => {
                return Err(EngineError::BudgetUsedUp { budget: by.budget, until: None });
            }
        }
        Ok(wants)
    }

    /// An unsettled inline effect may be called again by the next owner only where the provider's key still holds.
    fn may_reissue(&self, agg: &Aggregate, wanted: &Proposed, now: Timestamp) -> bool {
        let existing = agg.effects.iter().find(|e| e.effect_type == wanted.effect_type && e.target == wanted.target);
        let provider = self.policy().provider(&wanted.provider).map(|p| &p.provider);
        match (existing, provider) {
            (Some(effect), Some(provider)) => {
                matches!(provider.class, Class::Enforcing { .. }) && retry::key_holds(effect, provider, now)
            }
            _ => false,
        }
    }

    /// Settles an inline effect by the worker's report.
    ///
    /// # Errors
    /// Lease lost, not begun by this worker, not found, the store.
    pub async fn settle_inline(
        &self,
        call: &LeaseCall,
        id: EffectId,
        reported: &Reported,
    ) -> Result<Answered<Settled>> {
        let answered = |repeated, answer| Answered { repeated, answer };
        let changed = self.change(&call.tenant, call.run, |agg, now| {
            let effect = find(agg, id)?;
            let settle = inline::settle(agg, effect, &call.owner, call.fence, reported, now);
            match settle.map_err(|r| refused(r, agg))? {
                Settle::Settled(transition) => {
                    let answer = settled(&agg.after(&transition), id, true);
                    Ok(Step::Write(transition, answered(false, answer)))
                }
                Settle::Agrees => Ok(Step::Answer(answered(true, settled(agg, id, false)))),
                Settle::Contrary(None) => Ok(Step::Answer(answered(false, settled(agg, id, false)))),
                Settle::Contrary(Some(noted)) => Ok(Step::Write(noted, answered(false, settled(agg, id, false)))),
                Settle::NotBegun => {
                    let effect = Box::new(view::effect_view(&agg.run, effect, &[]));
                    Err(EngineError::NotBegun { effect })
                }
            }
        });
        Ok(changed.await?.0)
    }

    /// One effect with its run's bearings.
    ///
    /// # Errors
    /// Not found, the store.
    pub async fn effect(&self, tenant: &Tenant, id: EffectId) -> Result<EffectView> {
        let agg = self.store().run_load(tenant, id.run).await?.ok_or(EngineError::NotFound("effect"))?;
        let switches = self.switches_in_force().await;
        Ok(view::effect_view(&agg.run, find(&agg, id)?, &switches))
    }
}

/// The store names a count; people know the budget.
fn in_words(error: EngineError, wants: &[Want]) -> EngineError {
    match error {
        EngineError::BudgetUsedUp { budget: scope, until } => {
            let want = wants.iter().find(|want| want.scope == scope);
            EngineError::BudgetUsedUp { budget: want.map_or(scope, |want| want.budget.clone()), until }
        }
        other => other,
    }
}

pub(crate) fn find(agg: &Aggregate, id: EffectId) -> Result<&effectgate_core::effect::Effect> {
    agg.effects.iter().find(|e| e.id == id).ok_or(EngineError::NotFound("effect"))
}

fn begun(after: &Aggregate, id: Option<EffectId>) -> Begun {
    let effect = after.effects.iter().find(|e| Some(e.id) == id).or(after.effects.last());
    let effect = effect.expect("the transition wrote this effect");
    Begun { effect: view::effect_view(&after.run, effect, &[]), begun: true }
}

fn settled(after: &Aggregate, id: EffectId, changed: bool) -> Settled {
    let effect = after.effects.iter().find(|e| e.id == id).expect("found above in the same aggregate");
    Settled { effect: view::effect_view(&after.run, effect, &[]), changed }
}
