//! A workflow tool that does as n8n 2.41.1 was seen to do with calls to waiting executions, and counts how often each
//! went on. It can lose its answer, refuse like the loser of a race, and hold a call.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use effectgate_engine::clock::Clock as _;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use super::TestClock;

/// What goes wrong with the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It goes on, and the connection closes without an answer.
    LostAfter,
    /// The connection closes, and nothing has happened.
    LostBefore,
    /// 500, as the loser of a race is told: nothing of this call has happened.
    Loser,
}

#[derive(Debug, Clone, Default)]
pub struct Execution {
    pub is_running: bool,
    /// The nodes it will still wait at, the present one first. Empty: it has ended.
    pub waits: VecDeque<String>,
    /// The nodes it has gone on from.
    pub continued: Vec<String>,
    parked_at: String,
}

#[derive(Default)]
struct State {
    executions: HashMap<String, Execution>,
    faults: VecDeque<Fault>,
    calls: Vec<String>,
    under_way: HashMap<String, usize>,
    most_under_way: usize,
}

#[derive(Clone)]
pub struct ScriptedN8n {
    pub url: String,
    state: Arc<Mutex<State>>,
    clock: TestClock,
    /// Calls pass as long as there are permits.
    pub gate: Arc<Semaphore>,
}

impl ScriptedN8n {
    pub async fn start(clock: TestClock) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let gate = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        let n8n = Self { url, state: Arc::default(), clock, gate };
        let of_tasks = n8n.clone();
        tokio::spawn(async move {
            while let Ok((io, _)) = listener.accept().await {
                tokio::spawn(of_tasks.clone().serve(io));
            }
        });
        n8n
    }

    /// An execution that waits at these nodes, one after the other.
    pub fn waits(&self, id: &str, nodes: &[&str]) {
        let waits = nodes.iter().map(|node| (*node).to_owned()).collect();
        let execution = Execution { waits, parked_at: self.clock.now().to_string(), ..Execution::default() };
        self.state.lock().unwrap().executions.insert(id.into(), execution);
    }

    pub fn change(&self, id: &str, change: impl FnOnce(&mut Execution)) {
        let mut state = self.state.lock().unwrap();
        let execution = state.executions.get_mut(id).unwrap();
        change(execution);
        execution.parked_at = self.clock.now().to_string();
    }

    pub fn fails_with(&self, faults: &[Fault]) {
        self.state.lock().unwrap().faults.extend(faults);
    }

    /// The nodes that an execution went on from.
    pub fn continued(&self, id: &str) -> Vec<String> {
        self.state.lock().unwrap().executions[id].continued.clone()
    }

    /// The bodies of all calls.
    pub fn calls(&self) -> Vec<String> {
        self.state.lock().unwrap().calls.clone()
    }

    /// How many calls to one execution were under way at once.
    pub fn most_under_way(&self) -> usize {
        self.state.lock().unwrap().most_under_way
    }

    pub fn plain(&self, id: &str) -> String {
        format!("{}/webhook-waiting/{id}?signature=s3cret", self.url)
    }

    pub fn signed(&self, id: &str, node: &str) -> String {
        format!("{}/webhook-waiting/{id}/{node}?signature=s3cret", self.url)
    }

    async fn serve(self, mut io: TcpStream) {
        let Some((head, body)) = read(&mut io).await else { return };
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let segments: Vec<String> = path.split('/').skip(1).map(str::to_owned).collect();
        let answer = match segments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["api", "v1", "executions", id] => Some(self.look(id, &head)),
            ["webhook-waiting", id, node @ ..] => self.called(id, node.first().copied(), query, body).await,
            _ => Some((404, "no such path".into())),
        };
        if let Some((status, body)) = answer {
            let text = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            let _ = io.write_all(text.as_bytes()).await;
        }
    }

    async fn called(&self, id: &str, node: Option<&str>, query: &str, body: String) -> Option<(u16, String)> {
        {
            let mut state = self.state.lock().unwrap();
            state.calls.push(body);
            let now = state.under_way.entry(id.to_owned()).or_default();
            *now += 1;
            let now = *now;
            state.most_under_way = state.most_under_way.max(now);
        }
        self.gate.acquire().await.unwrap().forget();
        let mut state = self.state.lock().unwrap();
        *state.under_way.get_mut(id).unwrap() -= 1;
        let fault = state.faults.pop_front();
        if fault == Some(Fault::LostBefore) {
            return None;
        }
        if fault == Some(Fault::Loser) {
            return Some((500, r#"{"message":"There was a problem executing the workflow"}"#.into()));
        }
        let parked_at = self.clock.now().to_string();
        let Some(execution) = state.executions.get_mut(id) else {
            return Some((404, format!(r#"{{"message":"The execution \"{id}\" does not exist."}}"#)));
        };
        let answer = execution.resume(id, node, query);
        execution.parked_at = parked_at;
        (fault != Some(Fault::LostAfter)).then_some(answer)
    }

    fn look(&self, id: &str, head: &str) -> (u16, String) {
        if !head.to_ascii_lowercase().contains("x-n8n-api-key: look-key") {
            return (401, "{}".into());
        }
        let state = self.state.lock().unwrap();
        let Some(execution) = state.executions.get(id) else { return (404, "{}".into()) };
        let status = match (execution.is_running, execution.waits.is_empty()) {
            (true, _) => "running",
            (false, true) => "success",
            (false, false) => "waiting",
        };
        let at = execution.waits.front().map(|id| format!("Node {id}"));
        let nodes: Vec<_> = execution.waits.iter().chain(&execution.continued).collect();
        let nodes: Vec<_> =
            nodes.iter().map(|id| serde_json::json!({ "id": id, "name": format!("Node {id}") })).collect();
        let body = serde_json::json!({
            "id": id, "status": status, "stoppedAt": execution.parked_at,
            "data": { "resultData": { "lastNodeExecuted": at } }, "workflowData": { "nodes": nodes },
        });
        (200, body.to_string())
    }
}

impl Execution {
    fn resume(&mut self, id: &str, node: Option<&str>, query: &str) -> (u16, String) {
        if query != "signature=s3cret" {
            return (401, r#"{"error":"Invalid token"}"#.into());
        }
        if self.is_running {
            return (409, format!(r#"{{"message":"The execution \"{id}\" is running already."}}"#));
        }
        match (self.waits.front().cloned(), node) {
            // A node's own address, and it is not there any more.
            (at, Some(node)) if at.as_deref() != Some(node) => (200, "<p>No action required</p>".into()),
            (None, _) => (409, format!(r#"{{"message":"The execution \"{id} has finished already."}}"#)),
            (Some(at), _) => {
                self.waits.pop_front();
                self.continued.push(at);
                (200, r#"{"message":"Workflow was started"}"#.into())
            }
        }
    }
}

async fn read(io: &mut TcpStream) -> Option<(String, String)> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let n = io.read(&mut buffer).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lower = head.to_ascii_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.trim().parse().unwrap()) {
            return Some((head.to_owned(), body.to_owned()));
        }
    }
}
