//! A running relay: its listener, its handle, and what both share.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, broadcast},
    task::{JoinHandle, JoinSet},
};

use crate::{
    Counts, LogLine, Mode, RelayError, RelaySettings, Rule, Upstream, address::Way, control, http, limits, plan::Plan,
    record::Record, smtp,
};

/// A running relay. Dropping it ends it, and every connection with it.
pub struct Relay {
    shared: Arc<Shared>,
    address: SocketAddr,
    control: Option<SocketAddr>,
    tasks: Vec<JoinHandle<()>>,
}

/// What every connection of a relay needs.
pub(crate) struct Shared {
    pub(crate) upstream: Upstream,
    pub(crate) way: Way,
    pub(crate) record: Record,
    plan: Mutex<Plan>,
}

impl Relay {
    /// Starts a relay; it listens when this returns.
    ///
    /// # Errors
    /// [`RelayError`]: an upstream that cannot be found or is public, an address that cannot be listened on.
    pub async fn start(settings: RelaySettings) -> Result<Self, RelayError> {
        let RelaySettings { listen, upstream, mode, allow_public, header_rules, control } = settings;
        if let Some(address) = control.filter(|address| !address.ip().is_loopback()) {
            return Err(RelayError::ControlNotLoopback(address));
        }
        let way = Way::find(&upstream, allow_public).await?;
        let (listener, address) = listening(listen).await?;
        let plan = Mutex::new(Plan::new(mode, header_rules));
        let shared = Arc::new(Shared { upstream, way, record: Record::new(), plan });
        let mut tasks = vec![tokio::spawn(accept(listener, Arc::clone(&shared), limits::CONNECTIONS_MAX, serve))];
        let mut at = None;
        if let Some(wanted) = control {
            let (listener, bound) = listening(wanted).await?;
            tasks.push(tokio::spawn(accept(
                listener,
                Arc::clone(&shared),
                limits::CONTROL_CONNECTIONS_MAX,
                control::serve,
            )));
            at = Some(bound);
        }
        Ok(Self { shared, address, control: at, tasks })
    }

    /// Where callers connect.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Where callers connect, as an address with a scheme: `http://127.0.0.1:PORT` or `smtp://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = match self.shared.upstream {
            Upstream::Http(_) => "http",
            Upstream::Smtp { .. } => "smtp",
        };
        format!("{scheme}://{}", self.address)
    }

    /// Where the control listener stands.
    #[must_use]
    pub fn control_addr(&self) -> Option<SocketAddr> {
        self.control
    }

    /// What happens to exchanges where no header and no rule says otherwise.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.shared.plan().mode()
    }

    /// Sets what happens to exchanges that begin from now on, where no header and no rule says otherwise.
    pub fn set_mode(&self, mode: Mode) {
        self.shared.plan().set_mode(mode);
    }

    /// Adds a rule behind those that wait.
    ///
    /// # Errors
    /// A rule that can never strike, or too many that wait.
    pub fn add_rule(&self, rule: Rule) -> Result<(), RelayError> {
        self.shared.add_rule(rule)
    }

    /// Forgets every rule, and how often a header was honoured.
    pub fn forget_rules(&self) {
        self.shared.plan().forget();
    }

    /// What was counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.record.counts()
    }

    /// The last exchanges that ended (at most 1,000), oldest first.
    #[must_use]
    pub fn log(&self) -> Vec<LogLine> {
        self.shared.record.log()
    }

    /// Every exchange that ends from now on. A reader that is 1,000 behind loses the oldest.
    #[must_use]
    pub fn lines(&self) -> broadcast::Receiver<LogLine> {
        self.shared.record.lines()
    }

    /// Waits until the counts are as asked; no polling. Never ends if they never are: bound it with a timeout.
    pub async fn until(&self, shows: impl Fn(&Counts) -> bool) -> Counts {
        let mut changes = self.shared.record.watch();
        loop {
            let counts = self.counts();
            if shows(&counts) {
                return counts;
            }
            if changes.changed().await.is_err() {
                return self.counts();
            }
        }
    }

    /// Ends the relay and every connection it has; returns when its port is free.
    pub async fn shutdown(mut self) {
        for task in std::mem::take(&mut self.tasks) {
            task.abort();
            // Aborted: an error, and the point of it.
            let _ = task.await;
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Shared {
    pub(crate) fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_rule(&self, rule: Rule) -> Result<(), RelayError> {
        rule.check(&self.upstream)?;
        self.plan().add_rule(rule)
    }
}

async fn listening(address: SocketAddr) -> Result<(TcpListener, SocketAddr), RelayError> {
    let failed = |source: io::Error| RelayError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// Accepts connections, so many at a time; ends them all when it is aborted.
async fn accept<F>(listener: TcpListener, shared: Arc<Shared>, most: usize, serve: fn(TcpStream, Arc<Shared>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(most));
    let mut connections = JoinSet::new();
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((io, _)) => {
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    serve(io, shared).await;
                    drop(place);
                });
            }
            // Such as too many open files: the next one may do.
            Err(_) => tokio::time::sleep(limits::ACCEPT_PAUSE).await,
        }
    }
}

async fn serve(io: TcpStream, shared: Arc<Shared>) {
    match shared.upstream {
        Upstream::Http(_) => http::serve(io, &shared).await,
        Upstream::Smtp { .. } => smtp::serve(io, &shared).await,
    }
}
