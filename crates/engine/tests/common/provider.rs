//! A provider that does as it is told: each attempt takes the next answer from its script, or the default. It counts
//! what reached it and what it executed, by key.

use std::{
    collections::{BTreeMap, VecDeque},
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
use tokio::sync::Semaphore;

/// What the provider does with one attempt.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Executes and says so.
    Ok,
    /// Executes and answers with this status and body.
    OkWith(u16, String),
    /// Does not execute; answers this status, with a Retry-After.
    Status(u16, Option<String>),
    /// Answers this status, marked as an answer that was kept for the key.
    Replayed(u16),
    /// Executes, and the answer is lost.
    AcceptThenDrop,
    /// Nothing could be sent.
    ConnectionRefused,
    /// Waits for [`Scripted::release`] between the check of the switch and the end, having executed.
    Hang,
    /// Waits for [`Scripted::release`] before the check of the switch: claimed, nothing written.
    HoldBeforeWrite,
    /// Executes, and this process never hears of it or of anything else: it was killed.
    ExecuteThenDie,
    /// The process was killed after the check of the switch, before anything left.
    DieBeforeWrite,
    /// The connector panics before it asks whether it may write.
    Panic,
    /// The connector panics with the request on the wire, having executed.
    PanicOnTheWire,
}

/// One attempt as the provider saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub effect_type: String,
    pub target: String,
    pub payload: String,
    pub provider_key: String,
    pub executed: bool,
}

#[derive(Clone)]
pub struct Scripted {
    inner: Arc<Mutex<Inner>>,
    /// Permits to end a hanging attempt.
    released: Arc<Semaphore>,
    /// Told when an attempt hangs.
    hanging: Arc<Semaphore>,
}

#[derive(Default)]
struct Inner {
    script: VecDeque<Answer>,
    default: Option<Answer>,
    seen: Vec<Seen>,
    /// What attempts for a target come to, before the script is asked.
    by_target: BTreeMap<String, Answer>,
    looks: VecDeque<Look>,
    looked: usize,
    panicking_looks: usize,
    held_look: Option<Look>,
    during_look: Option<Box<dyn FnOnce() + Send>>,
}

impl Default for Scripted {
    fn default() -> Self {
        let semaphore = || Arc::new(Semaphore::new(0));
        Self { inner: Arc::default(), released: semaphore(), hanging: semaphore() }
    }
}

impl Scripted {
    pub fn push(&self, answer: Answer) {
        self.inner.lock().unwrap().script.push_back(answer);
    }
    pub fn always(&self, answer: Answer) {
        self.inner.lock().unwrap().default = Some(answer);
    }
    /// Every attempt for this target comes to this.
    pub fn always_for(&self, target: &str, answer: Answer) {
        self.inner.lock().unwrap().by_target.insert(target.into(), answer);
    }
    pub fn push_look(&self, look: Look) {
        self.inner.lock().unwrap().looks.push_back(look);
    }
    /// The next lookup hangs until [`Self::release`], and then says this.
    pub fn hold_next_look(&self, look: Look) {
        self.inner.lock().unwrap().held_look = Some(look);
    }
    /// The next lookup panics.
    pub fn push_panicking_look(&self) {
        self.inner.lock().unwrap().panicking_looks += 1;
    }
    /// What happens while the next lookup is under way.
    pub fn during_the_next_look(&self, happens: impl FnOnce() + Send + 'static) {
        self.inner.lock().unwrap().during_look = Some(Box::new(happens));
    }
    pub fn seen(&self) -> Vec<Seen> {
        self.inner.lock().unwrap().seen.clone()
    }
    pub fn looked(&self) -> usize {
        self.inner.lock().unwrap().looked
    }
    /// Effects that happened over there.
    pub fn executed(&self) -> usize {
        self.seen().iter().filter(|s| s.executed).count()
    }
    /// Waits until this many attempts hang, before or after their write.
    pub async fn until_hanging(&self, attempts: u32) {
        self.hanging.acquire_many(attempts).await.unwrap().forget();
    }
    pub fn release(&self, attempts: usize) {
        self.released.add_permits(attempts);
    }

    fn next(&self, effect: &Effect) -> Answer {
        let mut inner = self.inner.lock().unwrap();
        if let Some(answer) = inner.by_target.get(&effect.target) {
            return answer.clone();
        }
        let default = inner.default.clone();
        inner.script.pop_front().or(default).unwrap_or(Answer::Ok)
    }

    async fn hang(&self) {
        self.hanging.add_permits(1);
        self.released.acquire().await.unwrap().forget();
    }

    /// The attempt's task stands still for ever, as if its process were gone.
    async fn die(&self) -> ! {
        self.hanging.add_permits(1);
        std::future::pending::<()>().await;
        unreachable!("what is pending for ever does not end")
    }

    fn note(&self, effect: &Effect, executed: bool) -> usize {
        let mut inner = self.inner.lock().unwrap();
        inner.seen.push(Seen {
            effect_type: effect.effect_type.as_str().into(),
            target: effect.target.clone(),
            payload: effect.payload.clone(),
            provider_key: effect.provider_key.clone(),
            executed,
        });
        inner.seen.len()
    }
}

fn answered(status: u16, body: String, retry_after: Option<String>) -> Report {
    let answer = WireAnswer { status, retry_after, body: body.into_bytes(), body_complete: true, replayed: false };
    Report { phase: Phase::Answered, bytes_sent: 100, answer: Some(answer), error: None, handle: None }
}

#[async_trait]
impl Connector for Scripted {
    async fn attempt(&self, effect: &Effect, gate: &dyn WriteGate) -> Report {
        let answer = self.next(effect);
        match answer {
            Answer::ConnectionRefused => return Report::not_sent(Phase::Connect, "connection refused"),
            Answer::Panic => panic!("the connector panics, as the test told it to"),
            Answer::HoldBeforeWrite => self.hang().await,
            _ => {}
        }
        if let Err(reason) = gate.may_write().await {
            return Report::not_sent(Phase::Prepared, reason);
        }
        match answer {
            Answer::Ok | Answer::HoldBeforeWrite => {
                let n = self.note(effect, true);
                answered(200, format!(r#"{{"id":"ext_{n}"}}"#), None)
            }
            Answer::OkWith(status, body) => {
                self.note(effect, true);
                answered(status, body, None)
            }
            Answer::Status(status, retry_after) => {
                self.note(effect, false);
                answered(status, String::new(), retry_after)
            }
            Answer::Replayed(status) => {
                self.note(effect, false);
                let mut report = answered(status, String::new(), None);
                report.answer.as_mut().unwrap().replayed = true;
                report
            }
            Answer::AcceptThenDrop => {
                self.note(effect, true);
                let error = Some("connection reset".to_owned());
                Report { phase: Phase::Request, bytes_sent: 100, answer: None, error, handle: None }
            }
            Answer::Hang => {
                let n = self.note(effect, true);
                self.hang().await;
                answered(200, format!(r#"{{"id":"ext_{n}"}}"#), None)
            }
            Answer::ExecuteThenDie => {
                self.note(effect, true);
                self.die().await
            }
            Answer::DieBeforeWrite => self.die().await,
            Answer::PanicOnTheWire => {
                self.note(effect, true);
                panic!("the connector panics on the wire, as the test told it to")
            }
            Answer::Panic | Answer::ConnectionRefused => unreachable!("ended above"),
        }
    }

    fn success(&self, _: &EffectType) -> Success {
        Success { external_id: Some("/id".into()), member: None }
    }

    async fn look(&self, _: &Effect) -> Look {
        let held = self.inner.lock().unwrap().held_look.take();
        if let Some(look) = held {
            self.hang().await;
            return look;
        }
        let mut inner = self.inner.lock().unwrap();
        inner.looked += 1;
        if inner.panicking_looks > 0 {
            inner.panicking_looks -= 1;
            drop(inner);
            panic!("the lookup panics, as the test told it to");
        }
        if let Some(happens) = inner.during_look.take() {
            happens();
        }
        inner.looks.pop_front().unwrap_or(Look::Absent)
    }

    fn check(&self, _: &EffectType, _: &str, _: &Value) -> Vec<FindingView> {
        Vec::new()
    }
}
