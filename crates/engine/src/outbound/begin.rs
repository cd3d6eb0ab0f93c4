//! Reserving and queueing: two commits, as for any worker, with this process as the worker. Whoever asks while another
//! request is between them is told that it is in flight; what a crash leaves between them is taken over by the next
//! request once the lease is over, and nothing has left by then.

use std::collections::BTreeMap;

use bytes::Bytes;
use effectgate_core::{
    ids::{Fence, FlowName, Owner, ProviderName, RunId, Tenant},
    run::Origin,
};
use http::Method;
use serde_json::json;

use super::{OUT_TYPE, OutAnswer, Written};
use crate::{
    call::LeaseCall,
    check,
    engine::{Caller, Engine},
    error::{EngineError, Result},
    propose::{self, Asked},
    reserve::{self, KeyGiven, PayloadGiven, Reserved},
    view::RunView,
};

/// A request at the door. What the caller may send on was picked by the door; credentials never are.
#[derive(Debug, Clone)]
pub struct OutRequest {
    pub provider: ProviderName,
    pub key: String,
    pub method: Method,
    /// With the query, as it came.
    pub path: String,
    pub content_type: Option<String>,
    pub accept: Option<String>,
    /// The headers that the section names, by lower-case name.
    pub headers: BTreeMap<String, String>,
    pub body: Bytes,
}

/// What came of a request so far.
#[derive(Debug, Clone)]
pub enum Began {
    /// There is a run, and its outcome may be waited for.
    Waiting(Waiting),
    Answered(OutAnswer),
}

/// A run whose outcome is waited for.
#[derive(Debug, Clone)]
pub struct Waiting {
    pub tenant: Tenant,
    pub run: RunId,
    /// An earlier request made the run.
    pub is_repeat: bool,
    pub wait_ms: u64,
}

impl Engine {
    /// Takes a request at a provider's door: the key is reserved, the request is decided on by the flow's gate and
    /// queued, or an earlier one under the key is found. To be run in a task of its own: a caller that hangs up must not
    /// stop it half-way.
    ///
    /// Guarantees: one run for one tenant, flow and key, whatever the number of callers; nothing has left when this
    /// returns; a request that cannot be sent is refused before anything is kept.
    ///
    /// # Errors
    /// No door at this provider, a bad key, a request that the provider's rules or the flow's schemas refuse, the store.
    pub async fn out_begin(&self, caller: &Caller, request: &OutRequest) -> Result<Began> {
        let out = self.policy().provider(&request.provider).and_then(|provider| provider.out.as_ref());
        let out = out.ok_or(EngineError::NotFound("outbound door"))?;
        let (run_text, effect) = (Written::run_text(request), asked(request));
        self.refuse_unsendable(&out.flow, &effect, &run_text)?;
        let waiting = |run: RunId, is_repeat: bool| {
            Began::Waiting(Waiting { tenant: caller.tenant.clone(), run, is_repeat, wait_ms: out.wait_ms })
        };
        match self.reserve(caller, reservation(&out.flow, request, run_text)).await? {
            Reserved::Granted { run, lease, .. } => {
                let is_ours = self.out_propose(caller, &run, &lease.owner, lease.fence, effect).await?;
                Ok(waiting(run.id, !is_ours))
            }
            Reserved::Replay { run } => Ok(waiting(run.id, true)),
            Reserved::Busy { run, retry_after_ms } => Ok(Began::Answered(OutAnswer::InFlight { run, retry_after_ms })),
            Reserved::Conflict { run, stored, came, differs } => {
                Ok(Began::Answered(OutAnswer::Conflict { run, stored, came, differs }))
            }
        }
    }

    /// The checks of a proposal, before anything is kept: a request that could never be sent takes no key.
    fn refuse_unsendable(&self, flow: &FlowName, effect: &Asked, run_text: &str) -> Result<()> {
        let flow = self.policy().flow(flow).ok_or(EngineError::UnknownFlow)?;
        let checked = check::one_effect(self.policy(), flow, effect, Some(run_text), "");
        checked.map(drop).map_err(|findings| EngineError::InvalidPayload { findings })
    }

    /// Queues the effect, or asks people. False if the lease was over by then and somebody else has the run.
    async fn out_propose(
        &self,
        caller: &Caller,
        run: &RunView,
        owner: &str,
        fence: i64,
        effect: Asked,
    ) -> Result<bool> {
        let (owner, fence) = (Owner::new(owner), Fence(fence));
        let call = LeaseCall::new(caller.tenant.clone(), run.id, owner, fence, "out", effect.payload.as_bytes());
        let summary = effect.target.as_ref().map(|target| format!("{target}, from a workflow"));
        let request = propose::Request { effects: Some(vec![effect]), summary, ..propose::Request::default() };
        match self.propose(&call, &request).await {
            Ok(_) => Ok(true),
            Err(EngineError::LeaseLost { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn asked(request: &OutRequest) -> Asked {
    Asked {
        effect_type: OUT_TYPE.into(),
        target: Some(Written::target(&request.method, &request.path)),
        payload: Written::effect_text(request),
    }
}

fn reservation(flow: &FlowName, request: &OutRequest, run_text: String) -> reserve::Request {
    let target = Written::target(&request.method, &request.path);
    let trigger = json!({ "source": "out", "provider": request.provider.as_str(), "request": target });
    reserve::Request {
        flow: flow.clone(),
        key: KeyGiven::Whole(request.key.clone()),
        payload: PayloadGiven::Text(run_text),
        owner: Some(format!("out:{}", uuid::Uuid::new_v4())),
        lease_ms: None,
        origin: Origin { trigger: Some(trigger), ..Origin::default() },
    }
}
