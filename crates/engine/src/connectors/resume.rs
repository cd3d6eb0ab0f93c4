//! The connector that tells a waiting execution of an approval's end: one POST to the address it waits at. Two kinds of
//! places, so two kinds of rules: a node of ours re-reads the decision and may be called again; a plain Wait node may
//! not, so a call in doubt is looked at through n8n's API, or by a person.
//!
//! One call at a time per execution: n8n's own guard against two at once lets some through (HC-45).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use async_trait::async_trait;
use effectgate_core::{
    effect::Effect,
    ids::EffectType,
    outcome::{Answer, Phase, Report},
    provider::Provider,
    retry::{self, Class, Classified, Look, Success},
    starting::is_starting,
    time::Timestamp,
};
use secrecy::SecretString;
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

use super::executions;
use crate::{
    connect::WriteGate,
    connector::Connector,
    n8n::{N8n, RESUME, RESUME_WAIT, ResumeCall},
    view::FindingView,
};

/// See the module.
pub struct ResumeConnector {
    n8n: Arc<N8n>,
    /// The rules for plain Wait nodes; those of the provider are for our own.
    wait: Provider,
    turns: Turns,
}

impl ResumeConnector {
    /// `wait` are the rules for places that may not be called twice.
    #[must_use]
    pub fn new(n8n: Arc<N8n>, wait: Provider) -> Self {
        Self { n8n, wait, turns: Turns::default() }
    }

    async fn call(&self, effect: &Effect, gate: &dyn WriteGate) -> Report {
        let Some(call) = ResumeCall::parse(&effect.payload) else { return unmade("the payload is no call") };
        let url = match self.n8n.allows(&call.url) {
            Ok(url) => url,
            Err(why) => return unmade(&why.to_string()),
        };
        let patience = Duration::from_millis(self.n8n.limits().total_ms);
        let Ok(_turn) = tokio::time::timeout(patience, self.turns.take(&effect.target)).await else {
            return Report::not_sent(Phase::Prepared, "another call to this execution is under way");
        };
        let mut request = N8n::post(url, call.body().into());
        request.headers.push(("Idempotency-Key".to_owned(), SecretString::from(effect.provider_key.as_str())));
        let mut report = self.n8n.send(request, gate).await;
        let taken = |answer: &&mut Answer| (200..300).contains(&answer.status) && !is_starting(answer);
        if let Some(answer) = report.answer.as_mut().filter(taken) {
            // It goes on, whatever it says: what its workflow answers is nobody's here, and may be long.
            answer.body.clear();
            answer.body_complete = true;
        }
        report
    }
}

fn unmade(why: &str) -> Report {
    Report::not_sent(Phase::Resolve, format!("{NOT_CALLED}: {why}"))
}

const NOT_CALLED: &str = "the address is not called";

#[async_trait]
impl Connector for ResumeConnector {
    async fn attempt(&self, effect: &Effect, gate: &dyn WriteGate) -> Report {
        Report { handle: Some(self.handle(effect)), ..self.call(effect, gate).await }
    }

    fn success(&self, _: &EffectType) -> Success {
        Success { external_id: None, member: None }
    }

    fn kind(&self) -> Option<&'static str> {
        Some("n8n")
    }

    fn rules(&self, effect_type: &EffectType) -> Option<&Provider> {
        (effect_type.as_str() == RESUME_WAIT).then_some(&self.wait)
    }

    fn means(&self, effect: &Effect, report: &Report) -> Option<Classified> {
        let is_refused = report.error.as_deref().is_some_and(|error| error.starts_with(NOT_CALLED));
        if report.answer.is_none() && is_refused {
            let detail = report.error.clone();
            let (external_id, retry_after_ms) = (None, None);
            return Some(Classified { class: Class::Refused, external_id, retry_after_ms, detail, repeats: false });
        }
        retry::resumed(report, effect, effect.effect_type.as_str() == RESUME)
    }

    async fn look(&self, effect: &Effect) -> Look {
        self.look_since(effect, None).await
    }

    async fn look_since(&self, effect: &Effect, last_began: Option<Timestamp>) -> Look {
        let node = ResumeCall::parse(&effect.payload).and_then(|call| call.node);
        executions::look(&self.n8n, &effect.target, node.as_deref(), last_began).await
    }

    fn goes_by_time(&self) -> bool {
        true
    }

    fn check(&self, _: &EffectType, _: &str, payload: &Value) -> Vec<FindingView> {
        let refused = |said: String| vec![FindingView::new("/url", "url", said)];
        match ResumeCall::parse(&payload.to_string()) {
            None => refused("this is no call to a waiting execution".to_owned()),
            Some(call) => self.n8n.allows(&call.url).err().map(|why| refused(why.to_string())).unwrap_or_default(),
        }
    }

    fn handle(&self, effect: &Effect) -> String {
        format!("execution {}", effect.target)
    }

    fn shown(&self, effect: &Effect) -> String {
        ResumeCall::parse(&effect.payload).map_or_else(String::new, |call| call.masked())
    }
}

/// Whose turn it is at which execution.
#[derive(Default)]
struct Turns(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl Turns {
    async fn take(&self, execution: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // As many as there are calls under way; what nobody holds any more goes.
            all.retain(|_, turn| turn.strong_count() > 0);
            all.get(execution).and_then(Weak::upgrade).unwrap_or_else(|| {
                let turn = Arc::new(tokio::sync::Mutex::new(()));
                all.insert(execution.to_owned(), Arc::downgrade(&turn));
                turn
            })
        };
        turn.lock_owned().await
    }
}
