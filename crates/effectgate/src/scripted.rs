//! A provider on loopback that does as it is told and counts what it executed: the other side of the demo and of the
//! dispatch benchmark. Its ledger is the only source of the counts they print.
//!
//! `POST` executes. `GET …?ref=…` looks up without executing. One answer can be dropped on purpose: the request is
//! executed, and then the connection closes.

use std::{
    collections::VecDeque,
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

/// What the provider does after it has executed a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Answer,
    AcceptThenDrop,
}

/// One executed request.
#[derive(Debug, Clone)]
pub(crate) struct Executed {
    /// The path without the query.
    pub(crate) path: String,
    /// The `ref` of the query: the effect's provider key.
    pub(crate) reference: String,
    pub(crate) id: String,
    pub(crate) at: Instant,
}

#[derive(Default)]
struct Ledger {
    /// Modes of the next requests; empty means answer.
    script: VecDeque<Mode>,
    executed: Vec<Executed>,
    lookups: usize,
}

/// The running provider. Stops when it is dropped.
pub(crate) struct Provider {
    address: SocketAddr,
    ledger: Arc<Mutex<Ledger>>,
    /// Rises with each execution.
    count: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

/// Requests here are small; more is a mistake.
const REQUEST_BYTES_MAX: usize = 1024 * 1024;

impl Provider {
    /// Starts it on a free port of loopback.
    pub(crate) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let (counted, count) = watch::channel(0);
        let task = tokio::spawn(accept(listener, Arc::clone(&ledger), counted));
        Ok(Self { address, ledger, count, task })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets what happens to the next requests, in order.
    pub(crate) fn script(&self, modes: &[Mode]) {
        lock(&self.ledger).script = modes.iter().copied().collect();
    }

    /// How many requests to paths that begin so were executed.
    pub(crate) fn executed(&self, prefix: &str) -> usize {
        lock(&self.ledger).executed.iter().filter(|e| e.path.starts_with(prefix)).count()
    }

    /// Everything that was executed, in order.
    pub(crate) fn ledger(&self) -> Vec<Executed> {
        lock(&self.ledger).executed.clone()
    }

    pub(crate) fn lookups(&self) -> usize {
        lock(&self.ledger).lookups
    }

    /// Wakes at each execution.
    pub(crate) fn counter(&self) -> watch::Receiver<usize> {
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

/// Serves one connection until it ends or an answer is to be dropped.
async fn serve(mut stream: TcpStream, ledger: &Mutex<Ledger>, counted: &watch::Sender<usize>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut inbox = Vec::new();
    while let Some(request) = read(&mut stream, &mut inbox).await? {
        let Some(answer) = act(&request, ledger, counted) else { return stream.shutdown().await };
        stream.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

struct Request {
    method: String,
    path: String,
    reference: String,
}

/// The answer's bytes; `None` drops it.
fn act(request: &Request, ledger: &Mutex<Ledger>, counted: &watch::Sender<usize>) -> Option<String> {
    let mut ledger = lock(ledger);
    if request.method != "POST" {
        ledger.lookups += 1;
        let found = ledger.executed.iter().filter(|e| e.path == request.path && e.reference == request.reference);
        let items: Vec<_> = found.map(|e| json!({ "id": e.id })).collect();
        return Some(answer(200, &json!({ "items": items }).to_string()));
    }
    let mode = ledger.script.pop_front().unwrap_or(Mode::Answer);
    let id = format!("done-{}", ledger.executed.len() + 1);
    let (path, reference) = (request.path.clone(), request.reference.clone());
    ledger.executed.push(Executed { path, reference, id: id.clone(), at: Instant::now() });
    counted.send_replace(ledger.executed.len());
    (mode == Mode::Answer).then(|| answer(201, &json!({ "id": id }).to_string()))
}

fn answer(status: u16, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// The next request, body read and forgotten; `None` at the end of the connection.
async fn read(stream: &mut TcpStream, inbox: &mut Vec<u8>) -> io::Result<Option<Request>> {
    let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    loop {
        if let Some(end) = find(inbox, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&inbox[..end]).into_owned();
            let whole = end + 4 + length(&head).ok_or_else(|| bad("no length that can be read"))?;
            if whole > REQUEST_BYTES_MAX {
                return Err(bad("too long"));
            }
            if inbox.len() >= whole {
                inbox.drain(..whole);
                return first_line(&head).map(Some).ok_or_else(|| bad("no request line"));
            }
        } else if inbox.len() > REQUEST_BYTES_MAX {
            return Err(bad("no end of the head"));
        }
        if stream.read_buf(inbox).await? == 0 {
            return Ok(None);
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// The body's length as the head says; 0 where it says nothing.
fn length(head: &str) -> Option<usize> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut lengths = fields.filter(|(name, _)| name.trim().eq_ignore_ascii_case("content-length"));
    lengths.next().map_or(Some(0), |(_, value)| value.trim().parse().ok())
}

fn first_line(head: &str) -> Option<Request> {
    let mut words = head.lines().next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let reference = query.split('&').find_map(|pair| pair.strip_prefix("ref=")).unwrap_or_default().to_owned();
    Some(Request { method, path: path.to_owned(), reference })
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

    #[tokio::test]
    async fn a_dropped_answer_is_an_executed_request_all_the_same() {
        let provider = Provider::start().await.unwrap();
        provider.script(&[Mode::AcceptThenDrop]);

        assert_eq!(talk(&provider, POST).await, "");
        assert!(talk(&provider, POST).await.starts_with("HTTP/1.1 201"));

        assert_eq!((provider.executed("/crm"), provider.executed("/mail")), (2, 0));
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
