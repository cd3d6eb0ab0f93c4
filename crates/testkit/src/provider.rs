//! A provider with a ledger: a real TCP peer that can answer, cut, reset or go silent at any point, and that remembers
//! every byte it got and every effect it committed. Tests ask the ledger what really happened.
//!
//! In a test: [`ScriptedProvider::start`]. In a process of its own: the binary `scripted-provider`.

mod control;
mod ledger;
mod read;
mod script;
mod serve;
mod state;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub use ledger::{Execution, Ledger, Received};
pub use script::{Act, Enforcing, Lookup, Mode, Step};
use state::State;

/// Longest wait in [`ScriptedProvider::until`]: far above any machine's hiccup, below a test runner's patience.
const UNTIL_S_MAX: u64 = 30;

/// A running provider on a free port of 127.0.0.1. Dropping it stops new connections.
pub struct ScriptedProvider {
    state: Arc<State>,
    address: SocketAddr,
    control: SocketAddr,
    tasks: [JoinHandle<()>; 2],
}

impl ScriptedProvider {
    /// Starts a provider that plays `script` in order and then answers 201 with a fresh id each time.
    ///
    /// # Panics
    /// If no port can be had.
    pub async fn start(script: impl IntoIterator<Item = Step>) -> Self {
        let provider = Self::start_on(0).await.expect("a free port on 127.0.0.1");
        provider.apply(Mode { push: script.into_iter().collect(), ..Mode::default() });
        provider
    }

    /// Starts on a given port (0: any free one).
    ///
    /// # Errors
    /// If the port is taken.
    pub async fn start_on(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let control = TcpListener::bind("127.0.0.1:0").await?;
        let state = Arc::new(State::new());
        Ok(Self {
            address: listener.local_addr()?,
            control: control.local_addr()?,
            tasks: [
                accept(listener, Arc::clone(&state), serve::connection),
                accept(control, Arc::clone(&state), control::connection),
            ],
            state,
        })
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where `GET /_ledger` and `POST /_mode` are answered.
    #[must_use]
    pub fn control_address(&self) -> SocketAddr {
        self.control
    }

    /// Changes the behaviour from now on.
    pub fn apply(&self, mode: Mode) {
        self.state.apply(mode);
    }

    /// Queues a step for the next request.
    pub fn push(&self, step: impl Into<Step>) {
        self.apply(Mode { push: vec![step.into()], ..Mode::default() });
    }

    /// Sets what happens when the queue is empty.
    pub fn set_default(&self, step: impl Into<Step>) {
        self.apply(Mode { default: Some(step.into()), ..Mode::default() });
    }

    /// Keeps keys from `header` from now on and replays the first answer under each.
    pub fn enforce(&self, header: &str) {
        let enforcing = Enforcing { header: header.to_owned(), compares_body: false };
        self.apply(Mode { enforcing: Some(enforcing), ..Mode::default() });
    }

    /// Sets what lookups answer.
    pub fn set_lookup(&self, lookup: Lookup) {
        self.apply(Mode { lookup: Some(lookup), ..Mode::default() });
    }

    /// Lets one held answer go.
    pub fn release(&self) {
        self.apply(Mode { release: 1, ..Mode::default() });
    }

    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.state.ledger()
    }

    /// Waits until the ledger shows what the test needs; no polling.
    ///
    /// # Panics
    /// After 30 seconds, with the ledger as it is then.
    pub async fn until(&self, shows: impl Fn(&Ledger) -> bool) -> Ledger {
        let mut changes = self.state.watch();
        let waiting = async {
            while !shows(&self.ledger()) {
                if changes.changed().await.is_err() {
                    break;
                }
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(UNTIL_S_MAX), waiting).await;
        assert!(waited.is_ok(), "the ledger never showed it: {:#?}", self.ledger());
        self.ledger()
    }

    /// Waits until `count` requests have arrived in full.
    pub async fn requests(&self, count: usize) -> Ledger {
        self.until(|ledger| ledger.requests.iter().filter(|r| r.complete).count() >= count).await
    }
}

impl Drop for ScriptedProvider {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

fn accept<F>(listener: TcpListener, state: Arc<State>, serve: fn(TcpStream, Arc<State>) -> F) -> JoinHandle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    tokio::spawn(async move {
        while let Ok((io, _)) = listener.accept().await {
            tokio::spawn(serve(io, Arc::clone(&state)));
        }
    })
}
