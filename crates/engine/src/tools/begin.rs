//! Reserving and queueing: two commits, as for any worker, with this process as the worker. What a crash leaves between
//! them is taken over by the next call of the same request once the lease is over; nothing has left by then.

use std::time::Duration;

use effectgate_core::{
    ids::{EffectType, Fence, FlowName, Owner, RunId, Tenant},
    json::Json,
    payload::IdentityRule,
    run::Origin,
};
use serde_json::json;

use super::{ToolAnswer, arguments, key, stand::stand};
use crate::{
    call::LeaseCall,
    engine::{Caller, Engine},
    error::{EngineError, Result},
    policy::FlowPolicy,
    propose::{self, Output, Proposal},
    reserve::{self, KeyGiven, PayloadGiven, Reserved},
    view::RunView,
    waits::Stand,
};

/// A call of a tool. Flow, effect type, key and correlation id come from the workflow; of the model there are the
/// arguments alone.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub flow: FlowName,
    pub effect_type: EffectType,
    /// Names the request that the agent works on.
    pub key: String,
    pub correlation_id: Option<String>,
    /// The JSON text as it came in.
    pub arguments: String,
}

/// What came of a call so far.
#[derive(Debug, Clone)]
pub enum Began {
    /// There is a run, and its outcome may be waited for.
    Waiting(Waiting),
    Answered(ToolAnswer),
}

/// A run whose outcome is waited for.
#[derive(Debug, Clone)]
pub struct Waiting {
    tenant: Tenant,
    run: RunId,
    effect_type: EffectType,
    /// An earlier call made the run.
    is_repeat: bool,
}

/// Between the two commits lie milliseconds; half a minute bears a database that fails over, and is how long a crash
/// there can keep the next call from going on. Inside of the flow's bounds.
const LEASE_MS: i64 = 30_000;

/// A call with everything that is known before the database is asked.
struct Known<'a> {
    flow: &'a FlowPolicy,
    run: RunId,
    key: KeyGiven,
    json: Json,
}

impl Engine {
    /// Takes a call of a tool: the key is reserved, the effect is decided on by the flow's gate and queued, or an earlier
    /// call under the key is found. To be run in a task of its own: a caller that hangs up must not stop it half-way.
    ///
    /// Guarantees: one run for one tenant, flow, effect type and key, whatever the number of calls; nothing has left when
    /// this returns; arguments that break a rule are refused before anything is kept.
    ///
    /// # Errors
    /// No tool of this name, a bad key, arguments that are no JSON, the store.
    pub async fn tool_begin(&self, caller: &Caller, call: &ToolCall) -> Result<Began> {
        let known = self.known(caller, call)?;
        let effect = known.flow.flow.effects.get(&call.effect_type).ok_or(EngineError::NotFound("tool"))?;
        let asked = (call.effect_type.as_str(), call.arguments.as_str(), &known.json);
        let accepted = match arguments::judge(self.policy(), known.flow, effect, asked) {
            Ok(accepted) => accepted,
            Err(findings) => return self.unfit(caller, call, &known, findings).await,
        };
        let request = reservation(call, &known);
        match self.reserve(caller, request).await? {
            Reserved::Granted { run, lease, .. } => {
                let held = (Owner::new(&lease.owner), Fence(lease.fence));
                self.tool_propose(caller, call, &run, held, accepted).await
            }
            Reserved::Replay { run } | Reserved::Busy { run, .. } => Ok(waiting(caller, call, run.id, true)),
            Reserved::Conflict { run, differs, .. } => {
                let agg = self.load(&caller.tenant, run.id).await?;
                Ok(Began::Answered(ToolAnswer::conflict(&agg.run, &differs)))
            }
        }
    }

    /// Waits until the outcome is known or the time is over, and says what there is to say. A person's decision is never
    /// waited for. Dropping this stops nothing.
    ///
    /// # Errors
    /// The run is gone, the store.
    pub async fn tool_wait(&self, waiting: &Waiting, patience: Duration) -> Result<ToolAnswer> {
        let mut place = self.inner().waits.enter(waiting.run);
        let answer = self.watch(&mut place, patience, || self.tool_stand(waiting)).await?;
        Ok(if waiting.is_repeat { answer.repeated() } else { answer })
    }

    async fn tool_stand(&self, waiting: &Waiting) -> Result<Stand<ToolAnswer>> {
        let agg = self.load(&waiting.tenant, waiting.run).await?;
        let switches = if agg.run.effects.open > 0 { self.switches_in_force().await } else { Vec::new() };
        Ok(stand(&agg, &waiting.effect_type, &switches, self.now()))
    }

    fn known<'a>(&'a self, caller: &Caller, call: &ToolCall) -> Result<Known<'a>> {
        if self.policy().tool(&call.flow, &call.effect_type).is_none() {
            return Err(EngineError::NotFound("tool"));
        }
        let flow = self.policy().flow(&call.flow).ok_or(EngineError::UnknownFlow)?;
        let (key, whole) = key::run_key(&call.effect_type, &call.key, &flow.flow.key_policy)?;
        let run = RunId::derive(&caller.tenant, &call.flow, whole.as_str());
        Ok(Known { flow, run, key, json: arguments::read(&call.arguments)? })
    }

    /// Arguments that break a rule: nothing is kept of them. Where the request was made before it stays what it was, also
    /// if the rules have changed since.
    async fn unfit(
        &self,
        caller: &Caller,
        call: &ToolCall,
        known: &Known<'_>,
        findings: crate::view::Findings,
    ) -> Result<Began> {
        let Some(agg) = self.store().run_load(&caller.tenant, known.run).await? else {
            let correlation_id = correlation_id(call, known.run);
            return Ok(Began::Answered(ToolAnswer::invalid(&call.effect_type, correlation_id, findings)));
        };
        let rule = IdentityRule::parse(&agg.run.identity_rule).ok();
        let hash = rule.and_then(|rule| reserve::hash_under(&rule, &known.json).ok());
        match hash == Some(agg.run.payload_hash) {
            true => Ok(waiting(caller, call, known.run, true)),
            false => Ok(Began::Answered(ToolAnswer::conflict(&agg.run, &[]))),
        }
    }

    /// Queues the effect, or asks people.
    async fn tool_propose(
        &self,
        caller: &Caller,
        call: &ToolCall,
        run: &RunView,
        (owner, fence): (Owner, Fence),
        accepted: arguments::Accepted,
    ) -> Result<Began> {
        let lease = LeaseCall::new(caller.tenant.clone(), run.id, owner, fence, "tool", call.arguments.as_bytes());
        let output = if accepted.has_output { Output::Json(call.arguments.clone()) } else { Output::None };
        let summary = Some(format!("{}, called by an agent", call.effect_type));
        let effects = Some(vec![accepted.effect]);
        let request = propose::Request { output, effects, summary, ..propose::Request::default() };
        match self.propose(&lease, &request).await {
            Ok(answered) => match answered.answer {
                Proposal::Invalid { findings, .. } => {
                    let correlation_id = correlation_id(call, run.id);
                    Ok(Began::Answered(ToolAnswer::invalid(&call.effect_type, correlation_id, findings)))
                }
                Proposal::Queued { .. } | Proposal::Waiting { .. } => Ok(waiting(caller, call, run.id, false)),
            },
            // The lease was over by then, and somebody else has the run.
            Err(EngineError::LeaseLost { .. }) => Ok(waiting(caller, call, run.id, true)),
            Err(error) => Err(error),
        }
    }
}

fn waiting(caller: &Caller, call: &ToolCall, run: RunId, is_repeat: bool) -> Began {
    let (tenant, effect_type) = (caller.tenant.clone(), call.effect_type.clone());
    Began::Waiting(Waiting { tenant, run, effect_type, is_repeat })
}

/// The run's id, which every call of the request finds by itself, where the workflow names nothing.
fn correlation_id(call: &ToolCall, run: RunId) -> String {
    call.correlation_id.clone().unwrap_or_else(|| run.to_string())
}

fn reservation(call: &ToolCall, known: &Known<'_>) -> reserve::Request {
    let lease = &known.flow.flow.lease;
    let trigger = json!({ "source": "tool", "tool": call.effect_type.as_str() });
    let correlation_id = Some(correlation_id(call, known.run));
    reserve::Request {
        flow: call.flow.clone(),
        key: known.key.clone(),
        payload: PayloadGiven::Text(call.arguments.clone()),
        owner: Some(format!("tool:{}", uuid::Uuid::new_v4())),
        lease_ms: Some(LEASE_MS.clamp(lease.min_ms, lease.max_ms)),
        origin: Origin { correlation_id, trigger: Some(trigger), ..Origin::default() },
    }
}
