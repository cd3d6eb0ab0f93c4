//! The provider's memory: the script, the ledger, the keys it keeps. One lock, never held across an await.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use tokio::sync::{Semaphore, watch};

use super::ledger::{Execution, Ledger, Received};
use super::script::{Act, Enforcing, Lookup, Mode, Step};

/// An answer in full, before the wire act has its way with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

#[derive(Debug)]
enum Kept {
    InFlight,
    Answered { body: Vec<u8>, reply: Reply },
}

struct Inner {
    queue: VecDeque<Step>,
    default: Step,
    enforcing: Option<Enforcing>,
    kept: HashMap<String, Kept>,
    lookup: Lookup,
    reference_headers: Vec<String>,
    reference_member: Option<String>,
    ledger: Ledger,
}

pub(crate) struct State {
    inner: Mutex<Inner>,
    started: Instant,
    pub(crate) releases: Semaphore,
    changed: watch::Sender<u64>,
}

impl State {
    pub(crate) fn new() -> Self {
        let inner = Inner {
            queue: VecDeque::new(),
            default: Step::created(),
            enforcing: None,
            kept: HashMap::new(),
            lookup: Lookup::Visible,
            reference_headers: vec!["Idempotency-Key".to_owned(), "Webhook-Id".to_owned()],
            reference_member: None,
            ledger: Ledger::default(),
        };
        Self {
            inner: Mutex::new(inner),
            started: Instant::now(),
            releases: Semaphore::new(0),
            changed: watch::Sender::new(0),
        }
    }

    pub(crate) fn apply(&self, mode: Mode) {
        {
            let mut inner = self.lock();
            if mode.clear {
                inner.queue.clear();
            }
            inner.queue.extend(mode.push);
            if mode.advisory || mode.forget_keys {
                inner.kept.clear();
            }
            if mode.advisory {
                inner.enforcing = None;
            }
            set(&mut inner.default, mode.default);
            set(&mut inner.lookup, mode.lookup);
            set(&mut inner.reference_headers, mode.reference_headers);
            inner.enforcing = mode.enforcing.or(inner.enforcing.take());
            inner.reference_member = mode.reference_member.or(inner.reference_member.take());
        }
        self.releases.add_permits(mode.release);
    }

    pub(crate) fn ledger(&self) -> Ledger {
        self.lock().ledger.clone()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Counts a connection and takes the act that is due at once, if the script's next one is of that kind.
    pub(crate) fn accepted(&self) -> (u64, Option<Act>) {
        self.write(|inner| {
            inner.ledger.connections += 1;
            let next = inner.queue.front().unwrap_or(&inner.default);
            let act = next.act.is_at_accept().then(|| next.act.clone());
            if act.is_some() {
                inner.queue.pop_front();
            }
            (inner.ledger.connections, act)
        })
    }

    pub(crate) fn connection_ended(&self) {
        self.write(|inner| inner.ledger.connections_ended += 1);
    }

    /// Puts a request that has just begun on record and gives its place.
    pub(crate) fn began(&self, connection: u64) -> usize {
        let at_ms = self.elapsed_ms();
        self.write(|inner| {
            inner.ledger.requests.push(Received { connection, at_ms, ..Received::default() });
            inner.ledger.requests.len() - 1
        })
    }

    /// Replaces the head of a recorded request.
    pub(crate) fn head_read(&self, place: usize, head: &Received) {
        self.write(|inner| {
            let Some(entry) = inner.ledger.requests.get_mut(place) else { return };
            entry.method.clone_from(&head.method);
            entry.path.clone_from(&head.path);
            entry.headers.clone_from(&head.headers);
        });
    }

    pub(crate) fn body_read(&self, place: usize, piece: &[u8]) {
        self.write(|inner| {
            if let Some(entry) = inner.ledger.requests.get_mut(place) {
                entry.body.extend_from_slice(piece);
            }
        });
    }

    /// Marks a recorded request as whole and gives it back.
    pub(crate) fn completed(&self, place: usize) -> Received {
        self.write(|inner| {
            let Some(entry) = inner.ledger.requests.get_mut(place) else { return Received::default() };
            entry.complete = true;
            entry.clone()
        })
    }

    /// The script's step for the next request. Acts at accept found here were set as the default meanwhile: a close.
    pub(crate) fn next_step(&self) -> Step {
        let mut inner = self.lock();
        inner.queue.pop_front().unwrap_or_else(|| inner.default.clone())
    }

    /// Decides what the request leads to: a stored answer, a refusal by key, or an execution and its answer.
    ///
    /// The key stays in flight until [`State::answered`].
    pub(crate) fn perform(&self, place: usize, request: &Received, step: &Step) -> Reply {
        let at_ms = self.elapsed_ms();
        self.write(|inner| {
            let key = inner.key_of(request);
            if let Some(reply) = key.as_ref().and_then(|key| inner.known(key, request)) {
                if let Some(entry) = inner.ledger.requests.get_mut(place) {
                    entry.replayed = true;
                }
                return reply;
            }
            let id = if step.is_executing() { inner.execute(request, at_ms) } else { String::new() };
            if let Some(key) = key.filter(|_| step.is_executing()) {
                inner.kept.insert(key, Kept::InFlight);
            }
            reply_of(&step.act, &id)
        })
    }

    /// Ends the flight of a key: from now on its first answer is replayed.
    pub(crate) fn answered(&self, request: &Received, reply: &Reply) {
        self.write(|inner| {
            let Some(key) = inner.key_of(request) else { return };
            if matches!(inner.kept.get(&key), Some(Kept::InFlight)) {
                let body = request.body.clone();
                inner.kept.insert(key, Kept::Answered { body, reply: reply.clone() });
            }
        });
    }

    /// Moves a request to the lookups and answers it; `None` closes the connection instead.
    pub(crate) fn looked_up(&self, place: usize, request: &Received, reference: &str) -> Option<Reply> {
        self.write(|inner| {
            if place < inner.ledger.requests.len() {
                inner.ledger.requests.remove(place);
            }
            inner.ledger.lookups.push(request.clone());
            inner.look(reference)
        })
    }

    fn write<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let out = change(&mut self.lock());
        self.changed.send_modify(|n| *n += 1);
        out
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no code under this lock panics")
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Inner {
    fn key_of(&self, request: &Received) -> Option<String> {
        request.header(&self.enforcing.as_ref()?.header).map(str::to_owned)
    }

    fn known(&self, key: &str, request: &Received) -> Option<Reply> {
        let compares = self.enforcing.as_ref().is_some_and(|e| e.compares_body);
        match self.kept.get(key)? {
            Kept::InFlight => Some(json(409, r#"{"error":{"code":"key_in_use"}}"#)),
            Kept::Answered { body, .. } if compares && *body != request.body => {
                Some(json(422, r#"{"error":{"code":"key_reused"}}"#))
            }
            Kept::Answered { reply, .. } => {
                let mut reply = reply.clone();
                reply.headers.push(("Idempotent-Replayed".to_owned(), "true".to_owned()));
                Some(reply)
            }
        }
    }

    fn execute(&mut self, request: &Received, at_ms: u64) -> String {
        let id = format!("pred_{}", self.ledger.executions.len() + 1);
        let reference = self.reference_of(request);
        let (path, body) = (request.path.clone(), request.body.clone());
        self.ledger.executions.push(Execution { id: id.clone(), reference, at_ms, path, body });
        id
    }

    fn reference_of(&self, request: &Received) -> Option<String> {
        let member = self.reference_member.as_ref().and_then(|name| {
            let body: serde_json::Value = serde_json::from_slice(&request.body).ok()?;
            Some(body.get(name)?.as_str()?.to_owned())
        });
        member.or_else(|| self.reference_headers.iter().find_map(|name| request.header(name)).map(str::to_owned))
    }

    fn look(&mut self, reference: &str) -> Option<Reply> {
        let found = match &mut self.lookup {
            Lookup::Close => return None,
            Lookup::Status { status } => return Some(json(*status, "{}")),
            Lookup::Matches { count } => (1..=*count).map(|n| format!("pred_{n}")).collect(),
            Lookup::Hidden => Vec::new(),
            Lookup::HiddenFor { requests } if *requests > 0 => {
                *requests -= 1;
                Vec::new()
            }
            Lookup::HiddenFor { .. } | Lookup::Visible => self.executed_as(reference),
        };
        let items: Vec<_> = found.into_iter().map(|id| serde_json::json!({ "id": id })).collect();
        Some(json(200, &serde_json::json!({ "items": items }).to_string()))
    }

    fn executed_as(&self, reference: &str) -> Vec<String> {
        let same = |e: &&Execution| e.reference.as_deref() == Some(reference);
        self.ledger.executions.iter().filter(same).map(|e| e.id.clone()).collect()
    }
}

/// What the provider would answer if the wire let it.
fn reply_of(act: &Act, id: &str) -> Reply {
    match act {
        Act::Answer { status, headers, body } => {
            Reply { status: *status, headers: headers.clone(), body: body.replace("{{id}}", id) }
        }
        Act::AnswerBeforeBody { status } => json(*status, "{}"),
        Act::Raw { text } => Reply { status: 200, headers: Vec::new(), body: text.replace("{{id}}", id) },
        _ => json(201, &format!(r#"{{"id":"{id}"}}"#)),
    }
}

fn json(status: u16, body: &str) -> Reply {
    let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    Reply { status, headers, body: body.to_owned() }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
