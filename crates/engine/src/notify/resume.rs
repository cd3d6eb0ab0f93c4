//! An approval has ended and an execution waits for that: a run of the built-in flow is made, whose one effect is the call.
//! Two commits, as at the outbound door; each can be repeated, so a notifier that dies in between does no harm. From
//! here on lease, fence, unknown outcomes, review and switch hold as for every effect.

use effectgate_core::{
    approval::{Approval, ApprovalState, Resume},
    ids::{ApprovalId, Fence, FlowName, Owner},
    run::{Aggregate, Origin},
};
use effectgate_store::DueNotice;
use serde_json::json;

use super::deliver::Told;
use crate::{
    call::LeaseCall,
    engine::{Caller, Engine},
    error::{EngineError, Result},
    n8n,
    propose::{self, Asked, Proposal},
    reserve::{self, KeyGiven, PayloadGiven, Reserved},
    resume::key_of,
};

impl Engine {
    pub(super) async fn resume(&self, due: &DueNotice, id: ApprovalId, n: u32) -> Result<Told> {
        if self.policy().n8n.is_none() {
            return Ok(Told::NoWay("the config has no [n8n] any more".to_owned()));
        }
        let agg = match self.load(&due.tenant, due.run).await {
            Ok(agg) => agg,
            // Purged: whoever waited has long been told, or asks for itself.
            Err(EngineError::NotFound(_)) => return Ok(Told::Skipped),
            Err(error) => return Err(error),
        };
        let found = agg.approvals.iter().find(|a| a.id == id && a.state != ApprovalState::Open);
        let place = found.and_then(|approval| Some((approval, approval.terms.resumes.iter().find(|r| r.n == n)?)));
        let Some((approval, place)) = place else { return Ok(Told::Skipped) };
        let caller = Caller { tenant: due.tenant.clone(), api_key: n8n::CALLER.to_owned() };
        match self.reserve_own(&caller, reservation(&agg, approval, place)).await? {
            Reserved::Granted { run, lease, .. } => {
                let effect = effect(approval, place);
                let (owner, fence) = (Owner::new(&lease.owner), Fence(lease.fence));
                let call = LeaseCall::new(caller.tenant, run.id, owner, fence, "resume", effect.payload.as_bytes());
                let summary = Some(format!("execution {} is told that its approval has ended", place.execution));
                let request = propose::Request { effects: Some(vec![effect]), summary, ..propose::Request::default() };
                match self.propose(&call, &request).await {
                    Ok(answered) => Ok(told(answered.answer)),
                    Err(EngineError::LeaseLost { .. }) => Ok(Told::Failed("another notifier has the run".to_owned())),
                    Err(error) => Err(error),
                }
            }
            Reserved::Busy { .. } => Ok(Told::Failed("another notifier has the run".to_owned())),
            Reserved::Replay { .. } => Ok(Told::Sent),
            Reserved::Conflict { .. } => Ok(Told::NoWay("its key stands for another place".to_owned())),
        }
    }
}

fn told(answer: Proposal) -> Told {
    match answer {
        Proposal::Queued { .. } | Proposal::Waiting { .. } => Told::Sent,
        Proposal::Invalid { findings, .. } => {
            let why: Vec<String> = findings.into_iter().map(|finding| finding.message).collect();
            Told::NoWay(why.join("; "))
        }
    }
}

fn reservation(agg: &Aggregate, approval: &Approval, place: &Resume) -> reserve::Request {
    let about =
        json!({ "approval_id": approval.id, "execution": place.execution, "node": place.node, "place": place.n });
    let trigger = json!({ "source": "approval", "approval_id": approval.id, "flow": agg.run.flow.as_str() });
    reserve::Request {
        flow: FlowName::new(n8n::FLOW),
        key: KeyGiven::Whole(key_of(approval.id, place.n)),
        payload: PayloadGiven::Text(about.to_string()),
        // The same for every notifier: whoever comes second gets the same grant and gives the same proposal.
        owner: Some(format!("notifier:{}:{}", approval.id, place.n)),
        lease_ms: None,
        origin: Origin {
            correlation_id: agg.run.origin.correlation_id.clone(),
            trigger: Some(trigger),
            ..Origin::default()
        },
    }
}

/// The bytes that are decided on: the address and what is said there.
fn effect(approval: &Approval, place: &Resume) -> Asked {
    let payload = n8n::ResumeCall {
        url: place.url.clone(),
        approval_id: approval.id.to_string(),
        run_id: approval.id.run.to_string(),
        state: approval.state.as_str().to_owned(),
        node: place.node.clone(),
    };
    Asked {
        effect_type: n8n::effect_type(place).into(),
        target: Some(place.execution.clone()),
        payload: payload.to_text(),
    }
}
