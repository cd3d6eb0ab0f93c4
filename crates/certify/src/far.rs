//! The far side: a provider that does as it is told and counts what it executed. Its ledger is the only source of the
//! counts that certify, the demo and the dispatch benchmark print.
//!
//! `POST` executes. `GET …?ref=…` looks up without executing. What happens to a request can be scripted: dropped after
//! it was executed, held without an answer, or answered with a status and not executed. Below [`KEPT`] the provider
//! honours `Idempotency-Key`: a key it has executed gets its first answer again.

mod wire;

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

use self::wire::Request;

/// Paths that begin so belong to the part of the provider that honours keys.
pub const KEPT: &str = "/kept";

/// What the provider does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Executes and answers.
    Answer,
    /// Executes, and then the connection closes without an answer.
    AcceptThenDrop,
    /// Executes, and never answers; until the peer goes away.
    Hold,
    /// Does not execute; answers with this status.
    Refuse { status: u16, retry_after_s: Option<u32> },
}

/// One executed request.
#[derive(Debug, Clone)]
pub struct Executed {
    /// The path without the query.
    pub path: String,
    /// The `ref` of the query: the effect's provider key.
    pub reference: String,
    /// The provider's own id of what it did.
    pub id: String,
    pub body: Vec<u8>,
    pub at: Instant,
}

/// One request that would execute, whatever became of it.
#[derive(Debug, Clone)]
pub struct Arrived {
    pub path: String,
    /// The `Idempotency-Key` as it came.
    pub key: Option<String>,
    pub at: Instant,
}

#[derive(Default)]
struct Ledger {
    /// Modes of the next requests to a path, and to any; empty means answer.
    script_at: BTreeMap<String, VecDeque<Mode>>,
    script: VecDeque<Mode>,
    arrived: Vec<Arrived>,
    executed: Vec<Executed>,
    kept: BTreeMap<String, String>,
    lookups: usize,
}

/// The running provider. Stops when it is dropped.
pub struct Provider {
    address: SocketAddr,
    ledger: Arc<Mutex<Ledger>>,
    /// Rises with each execution.
    count: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

impl Provider {
    /// Starts it on a free port of loopback.
    ///
    /// # Errors
    /// No port.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let (counted, count) = watch::channel(0);
        let task = tokio::spawn(accept(listener, Arc::clone(&ledger), counted));
        Ok(Self { address, ledger, count, task })
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets what happens to the next requests, in order.
    pub fn script(&self, modes: &[Mode]) {
        lock(&self.ledger).script = modes.iter().copied().collect();
    }

    /// Sets what happens to the next requests to one path, in order; goes before [`Self::script`].
    pub fn script_at(&self, path: &str, modes: &[Mode]) {
        lock(&self.ledger).script_at.insert(path.to_owned(), modes.iter().copied().collect());
    }

    /// How many requests to paths that begin so were executed.
    #[must_use]
    pub fn executed(&self, prefix: &str) -> usize {
        lock(&self.ledger).executed.iter().filter(|e| e.path.starts_with(prefix)).count()
    }

    /// Every request to paths that begin so that would execute, in order.
    #[must_use]
    pub fn arrived(&self, prefix: &str) -> Vec<Arrived> {
        lock(&self.ledger).arrived.iter().filter(|e| e.path.starts_with(prefix)).cloned().collect()
    }

    /// Everything that was executed, in order.
    #[must_use]
    pub fn ledger(&self) -> Vec<Executed> {
        lock(&self.ledger).executed.clone()
    }

    #[must_use]
    pub fn lookups(&self) -> usize {
        lock(&self.ledger).lookups
    }

    /// Wakes at each execution.
    #[must_use]
    pub fn counter(&self) -> watch::Receiver<usize> {
        self.count.clone()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, ledger: Arc<Mutex<Ledger>>, counted: watch::Sender<usize>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (ledger, counted) = (Arc::clone(&ledger), counted.clone());
        // A caller that goes away in the middle was not executed; nothing else to tell.
        tokio::spawn(async move { drop(serve(stream, &ledger, &counted).await) });
    }
}

/// What follows from a request.
enum Reaction {
    Answer(String),
    Drop,
    Hold,
}

/// Serves one connection until it ends or an answer is not to be given.
async fn serve(mut stream: TcpStream, ledger: &Mutex<Ledger>, counted: &watch::Sender<usize>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut inbox = Vec::new();
    while let Some(request) = wire::read(&mut stream, &mut inbox).await? {
        match react(request, ledger, counted) {
            Reaction::Answer(answer) => stream.write_all(answer.as_bytes()).await?,
            Reaction::Drop => return stream.shutdown().await,
            Reaction::Hold => {
                while stream.read(&mut [0; 64]).await? > 0 {}
                return Ok(());
            }
        }
    }
    Ok(())
}

fn react(request: Request, ledger: &Mutex<Ledger>, counted: &watch::Sender<usize>) -> Reaction {
    let mut ledger = lock(ledger);
    if request.method != "POST" {
        ledger.lookups += 1;
        let found = ledger.executed.iter().filter(|e| e.path == request.path && e.reference == request.reference);
        let items: Vec<_> = found.map(|e| json!({ "id": e.id })).collect();
        return Reaction::Answer(wire::answer(200, None, &json!({ "items": items }).to_string()));
    }
    let at = Instant::now();
    ledger.arrived.push(Arrived { path: request.path.clone(), key: request.key.clone(), at });
    let own = ledger.script_at.get_mut(&request.path).and_then(VecDeque::pop_front);
    let mode = own.or_else(|| ledger.script.pop_front()).unwrap_or(Mode::Answer);
    if let Mode::Refuse { status, retry_after_s } = mode {
        return Reaction::Answer(wire::answer(status, retry_after_s, r#"{"error":"as scripted"}"#));
    }
    let id = execute(&mut ledger, request, at);
    counted.send_replace(ledger.executed.len());
    match mode {
        Mode::Hold => Reaction::Hold,
        Mode::AcceptThenDrop => Reaction::Drop,
        _ => Reaction::Answer(wire::answer(201, None, &json!({ "id": id }).to_string())),
    }
}

/// The id of what was done, or of what was done under this key before.
fn execute(ledger: &mut Ledger, request: Request, at: Instant) -> String {
    let kept = request.key.filter(|_| request.path.starts_with(KEPT));
    if let Some(id) = kept.as_ref().and_then(|key| ledger.kept.get(key)) {
        return id.clone();
    }
    let id = format!("done-{}", ledger.executed.len() + 1);
    ledger.kept.extend(kept.map(|key| (key, id.clone())));
    let Request { path, reference, body, .. } = request;
    ledger.executed.push(Executed { path, reference, id: id.clone(), body, at });
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn talk(provider: &Provider, text: &str) -> String {
        let mut stream = TcpStream::connect(provider.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    const POST: &str = "POST /crm/notes?ref=k1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
    const KEPT_POST: &str = "POST /kept/notes HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: 2\r\n\r\n{}";

    #[tokio::test]
    async fn a_dropped_answer_is_an_executed_request_all_the_same() {
        let provider = Provider::start().await.unwrap();
        provider.script(&[Mode::AcceptThenDrop]);

        assert_eq!(talk(&provider, POST).await, "");
        assert!(talk(&provider, POST).await.starts_with("HTTP/1.1 201"));

        assert_eq!((provider.executed("/crm"), provider.executed("/mail")), (2, 0));
    }

    #[tokio::test]
    async fn a_held_request_is_executed_and_ends_with_its_peer() {
        let provider = Provider::start().await.unwrap();
        provider.script_at("/crm/notes", &[Mode::Hold]);

        assert_eq!(talk(&provider, POST).await, "");

        assert_eq!(provider.executed("/crm"), 1);
    }

    #[tokio::test]
    async fn a_refused_request_arrives_and_is_not_executed() {
        let provider = Provider::start().await.unwrap();
        provider.script(&[Mode::Refuse { status: 429, retry_after_s: Some(3) }]);

        let answer = talk(&provider, POST).await;

        assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after: 3\r\n"), "{answer}");
        assert_eq!((provider.arrived("/crm").len(), provider.executed("/crm")), (1, 0));
    }

    #[tokio::test]
    async fn a_kept_key_is_executed_once_and_answered_alike() {
        let provider = Provider::start().await.unwrap();

        let (first, second) = (talk(&provider, KEPT_POST).await, talk(&provider, KEPT_POST).await);

        assert_eq!(first, second);
        assert_eq!((provider.arrived(KEPT).len(), provider.executed(KEPT)), (2, 1));
    }

    #[tokio::test]
    async fn a_lookup_finds_and_executes_nothing() {
        let provider = Provider::start().await.unwrap();
        talk(&provider, POST).await;

        let found = talk(&provider, "GET /crm/notes?ref=k1 HTTP/1.1\r\nHost: x\r\n\r\n").await;
        let absent = talk(&provider, "GET /crm/notes?ref=k2 HTTP/1.1\r\nHost: x\r\n\r\n").await;

        assert!(found.ends_with(r#"{"items":[{"id":"done-1"}]}"#), "{found}");
        assert!(absent.ends_with(r#"{"items":[]}"#), "{absent}");
        assert_eq!((provider.executed(""), provider.lookups()), (1, 2));
    }

    #[tokio::test]
    async fn half_a_request_is_not_executed() {
        let provider = Provider::start().await.unwrap();

        talk(&provider, &POST[..POST.len() - 1]).await;

        assert_eq!(provider.executed(""), 0);
    }
}
