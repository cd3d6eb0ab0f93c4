//! A provider that executes and answers, or executes and loses its answer, as it is told; it keeps what it saw.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use effectgate_core::{
    effect::Effect,
    ids::EffectType,
    outcome::{Answer as WireAnswer, Phase, Report},
    retry::{Look, Success},
};
use effectgate_engine::{connect::WriteGate, connector::Connector, view::FindingView};
use serde_json::Value;

#[derive(Debug, Clone, Copy)]
pub enum Answer {
    Ok,
    /// Executes, and the answer is lost.
    AcceptThenDrop,
}

#[derive(Clone, Default)]
pub struct Scripted(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    script: VecDeque<Answer>,
    /// Payloads that were executed.
    seen: Vec<String>,
}

impl Scripted {
    pub fn push(&self, answer: Answer) {
        self.0.lock().unwrap().script.push_back(answer);
    }
    pub fn seen(&self) -> Vec<String> {
        self.0.lock().unwrap().seen.clone()
    }
}

#[async_trait]
impl Connector for Scripted {
    async fn attempt(&self, effect: &Effect, gate: &dyn WriteGate) -> Report {
        if let Err(reason) = gate.may_write().await {
            return Report::not_sent(Phase::Prepared, reason);
        }
        let mut inner = self.0.lock().unwrap();
        inner.seen.push(effect.payload.clone());
        let body = format!(r#"{{"id":"ext_{}"}}"#, inner.seen.len()).into_bytes();
        match inner.script.pop_front().unwrap_or(Answer::Ok) {
            Answer::Ok => {
                let answer = WireAnswer { status: 200, retry_after: None, body, body_complete: true, replayed: false };
                Report { phase: Phase::Answered, bytes_sent: 100, answer: Some(answer), error: None, handle: None }
            }
            Answer::AcceptThenDrop => {
                let error = Some("connection reset".to_owned());
                Report { phase: Phase::Request, bytes_sent: 100, answer: None, error, handle: None }
            }
        }
    }

    fn success(&self, _: &EffectType) -> Success {
        Success { external_id: Some("/id".into()), member: None }
    }

    async fn look(&self, _: &Effect) -> Look {
        Look::Absent
    }

    fn check(&self, _: &EffectType, _: &str, _: &Value) -> Vec<FindingView> {
        Vec::new()
    }
}
