//! Where a waiting workflow execution is told that an approval has ended: taken from workers, and shown as it stands. The
//! call itself is the effect of a run of its own, which the notifier makes ([`crate::notify`]).

use effectgate_core::{
    actor::Actor,
    approval::{self, Approval, ApprovalState, Resume, ResumeAt},
    effect::EffectState,
    ids::{ApprovalId, FlowName, RunId, Tenant},
    run::{Aggregate, RunState},
};

use crate::{
    engine::{Engine, Step},
    error::{EngineError, Result},
    n8n,
    view::{self, ApprovalView, ResumeState, ResumeView},
};

/// A place as a worker names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeGiven {
    pub url: String,
    /// Left out, it is the number in the address's path.
    pub execution: Option<String>,
    pub node: Option<String>,
}

/// Ids of executions are numbers today, of nodes UUIDs; names of nodes are what people type.
const NAME_CHARS_MAX: usize = 200;

impl Engine {
    /// Judges a place that a worker names. `at` is the pointer to it in the request.
    ///
    /// # Errors
    /// No workflow tool is configured, an address that is not called, a name that is none.
    pub fn resume_place(&self, given: &ResumeGiven, at: &str) -> Result<Resume> {
        let refused = |why: String| EngineError::UrlNotAllowed { pointer: format!("{at}/url"), why };
        let Some(n8n) = &self.policy().n8n else {
            return Err(refused("this server calls no workflow tool: its config has no [n8n]".to_owned()));
        };
        let url = n8n.allows(&given.url).map_err(|why| refused(why.to_string()))?;
        let execution = given.execution.clone().or_else(|| n8n::execution_in(&url));
        let Some(execution) = execution else {
            let detail = "the address names no execution, so it has to be said".to_owned();
            return Err(EngineError::BadMember { pointer: format!("{at}/execution"), detail });
        };
        name(&execution, &format!("{at}/execution"))?;
        given.node.as_deref().map_or(Ok(()), |node| name(node, &format!("{at}/node")))?;
        Ok(Resume::first(url.into(), execution, given.node.clone()))
    }

    /// Says where the end of an approval is to be told, as it is now. Where it has ended already, the call is queued.
    ///
    /// Guarantees: the same place again changes nothing; the place and the word to tell it are one transaction.
    ///
    /// # Errors
    /// As [`Engine::resume_place`]; not found; another place too often; the store.
    pub async fn resume_at(
        &self,
        tenant: &Tenant,
        id: ApprovalId,
        actor: &Actor,
        given: &ResumeGiven,
    ) -> Result<ApprovalView> {
        let place = self.resume_place(given, "")?;
        let (_, agg) = self
            .change(tenant, id.run, |agg, now| match approval::resume_at(agg, id, actor, &place, now) {
                ResumeAt::Set(transition) => Ok(Step::Write(transition, ())),
                ResumeAt::Same => Ok(Step::Answer(())),
                ResumeAt::Absent => Err(EngineError::NotFound("approval")),
                ResumeAt::TooOften => Err(EngineError::BadMember {
                    pointer: "/url".to_owned(),
                    detail: format!("an approval is waited for at {} places at most", approval::RESUMES_MAX),
                }),
            })
            .await
            .map_err(|error| match error {
                EngineError::NotFound(_) => EngineError::NotFound("approval"),
                other => other,
            })?;
        let approval = agg.approvals.iter().find(|a| a.id == id).ok_or(EngineError::NotFound("approval"))?;
        self.approval_followed(&agg, approval).await
    }

    /// An approval with what has become of telling its end.
    ///
    /// # Errors
    /// The store.
    pub async fn approval_followed(&self, agg: &Aggregate, approval: &Approval) -> Result<ApprovalView> {
        let mut seen = view::approval_view(approval);
        if let (Some(last), Some(shown)) = (approval.terms.resumes.last(), &mut seen.resume)
            && approval.state != ApprovalState::Open
        {
            let id = run_of(&agg.run.tenant, approval.id, last.n);
            if let Some(run) = self.store().run_load(&agg.run.tenant, id).await? {
                *shown = ResumeView { state: state_of(&run), run_id: Some(id), ..shown.clone() };
            }
        }
        Ok(seen)
    }
}

/// The key of the run that tells the end of an approval at one place.
pub(crate) fn key_of(id: ApprovalId, n: u32) -> String {
    if n == 1 { format!("resume:{id}") } else { format!("resume:{id}:{n}") }
}

fn run_of(tenant: &Tenant, id: ApprovalId, n: u32) -> RunId {
    RunId::derive(tenant, &FlowName::new(n8n::FLOW), &key_of(id, n))
}

fn state_of(agg: &Aggregate) -> ResumeState {
    let in_review = agg.effects.iter().any(|effect| matches!(effect.state, EffectState::Review { .. }));
    match &agg.run.state {
        RunState::Completed => ResumeState::Resumed,
        RunState::FailedTerminal { .. } => ResumeState::Failed,
        _ if in_review => ResumeState::Review,
        _ => ResumeState::Queued,
    }
}

fn name(text: &str, at: &str) -> Result<()> {
    let is_sound = !text.trim().is_empty()
        && text.chars().count() <= NAME_CHARS_MAX
        && !text.chars().any(char::is_control)
        && !text.contains('/');
    if is_sound {
        return Ok(());
    }
    let detail = format!("1 to {NAME_CHARS_MAX} characters, none of them a slash or a control character");
    Err(EngineError::BadMember { pointer: at.to_owned(), detail })
}
