//! Runs the workers: period with jitter, nudge at commit, backoff when the database is away, shutdown. Each worker is a
//! tick that a test can call by hand; the last report of each is kept for `/readyz` and the pages.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use effectgate_core::time::Timestamp;
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
};

use crate::{engine::Engine, panics::caught, random};

/// Wakes the workers when there is something to do.
#[derive(Clone, Default)]
pub struct Nudges {
    pub dispatcher: Arc<Notify>,
    pub sweeper: Arc<Notify>,
    pub reconciler: Arc<Notify>,
    pub notifier: Arc<Notify>,
    /// Brings what came in at a source to its worker.
    pub deliverer: Arc<Notify>,
    /// Sends events to subscriptions.
    pub messenger: Arc<Notify>,
    health: Arc<Mutex<Health>>,
}

/// When each worker last ended a tick, and how.
#[derive(Debug, Clone, Default)]
pub struct Health {
    pub workers: Vec<WorkerHealth>,
}

#[derive(Debug, Clone)]
pub struct WorkerHealth {
    pub worker: &'static str,
    pub at: Timestamp,
    /// What the tick reported, or its error.
    pub last: Result<String, String>,
}

impl Nudges {
    /// Wakes whoever a commit concerns.
    pub(crate) fn after_commit(&self, work: bool, notices: bool) {
        if work {
            self.dispatcher.notify_one();
            self.sweeper.notify_one();
            self.reconciler.notify_one();
        }
        if notices {
            self.notifier.notify_one();
        }
    }

    /// The workers' last ticks.
    #[must_use]
    pub fn health(&self) -> Health {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn record(&self, health: WorkerHealth) {
        let mut all = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        match all.workers.iter_mut().find(|w| w.worker == health.worker) {
            Some(worker) => *worker = health,
            None => all.workers.push(health),
        }
    }
}

/// The running workers of one process.
pub struct Workers {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
    engine: Engine,
}

impl Workers {
    /// Starts dispatcher, sweeper, reconciler and notifier, the deliverer where a source delivers, and what listens for other replicas' work.
    #[must_use]
    pub fn start(engine: &Engine) -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let policy = engine.policy();
        let period = Duration::from_millis(policy.dispatcher.period_ms);
        tasks.spawn(run(engine.clone(), Worker::Dispatcher, period, stopped.clone()));
        let period = Duration::from_millis(policy.sweeper.period_ms);
        tasks.spawn(run(engine.clone(), Worker::Sweeper, period, stopped.clone()));
        // By itself: a provider whose lookup hangs must not hold up the sweep.
        tasks.spawn(run(engine.clone(), Worker::Reconciler, period, stopped.clone()));
        tasks.spawn(run(engine.clone(), Worker::Notifier, period, stopped.clone()));
        if engine.delivers() {
            let period = Duration::from_millis(policy.dispatcher.period_ms);
            tasks.spawn(run(engine.clone(), Worker::Deliverer, period, stopped.clone()));
        }
        if policy.n8n.is_some() {
            let period = Duration::from_millis(policy.sweeper.period_ms);
            tasks.spawn(run(engine.clone(), Worker::Messenger, period, stopped.clone()));
        }
        tasks.spawn(flush(engine.clone(), stopped.clone()));
        tasks.spawn(listen(engine.clone(), stopped));
        Self { stop, tasks, engine: engine.clone() }
    }

    /// Stops claiming, lets attempts under way end (at most `patience`), and returns. What does not end in time is
    /// found as unknown by the sweeper of the next start.
    pub async fn stop(mut self, patience: Duration) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
        let idle = async { tokio::join!(self.engine.dispatch_idle(), self.engine.deliver_idle()) };
        if tokio::time::timeout(patience, idle).await.is_err() {
            let (attempts, deliveries) = (self.engine.under_way(), self.engine.deliveries_under_way());
            tracing::warn!(attempts, deliveries, "stopped with attempts or deliveries under way");
        }
        // Last, when nothing is counted any more.
        match tokio::time::timeout(FLUSH_PATIENCE, self.engine.tally_flush()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "stopped with counts of the last seconds not written"),
            Err(_) => tracing::warn!("stopped with counts of the last seconds not written"),
        }
    }
}

#[derive(Clone, Copy)]
enum Worker {
    Dispatcher,
    Sweeper,
    Reconciler,
    Notifier,
    Deliverer,
    Messenger,
}

impl Worker {
    fn name(self) -> &'static str {
        match self {
            Self::Dispatcher => "dispatcher",
            Self::Sweeper => "sweeper",
            Self::Reconciler => "reconciler",
            Self::Notifier => "notifier",
            Self::Deliverer => "deliverer",
            Self::Messenger => "messenger",
        }
    }

    fn nudge(self, nudges: &Nudges) -> &Notify {
        match self {
            Self::Dispatcher => &nudges.dispatcher,
            Self::Sweeper => &nudges.sweeper,
            Self::Reconciler => &nudges.reconciler,
            Self::Notifier => &nudges.notifier,
            Self::Deliverer => &nudges.deliverer,
            Self::Messenger => &nudges.messenger,
        }
    }
}

/// The pause after the first failure, doubled up to the maximum: a database that comes back is found within 10 s.
const BACKOFF_FIRST: Duration = Duration::from_millis(200);
const BACKOFF_MAX: Duration = Duration::from_secs(10);
/// A sweep is a scan of several indexes; commits come in thousands. Nudges bring it forward, but not more often.
const SWEEP_PAUSE: Duration = Duration::from_millis(200);

async fn run(engine: Engine, worker: Worker, period: Duration, mut stopped: watch::Receiver<bool>) {
    let mut backoff = BACKOFF_FIRST;
    loop {
        // A worker that panics is as bad as one that fails, and no worse: it tries again after the pause.
        let ticked = tokio::select! {
            ticked = caught(tick(&engine, worker)) => ticked.unwrap_or_else(Err),
            () = given_up(worker, stopped.clone()) => return,
        };
        let again = matches!(ticked, Ok((_, true)));
        let wait = match &ticked {
            Ok(_) => {
                backoff = BACKOFF_FIRST;
                jittered(period)
            }
            Err(error) => {
                tracing::warn!(worker = worker.name(), %error, "a worker's tick failed; it will try again");
                backoff = (backoff * 2).min(BACKOFF_MAX);
                jittered(backoff)
            }
        };
        let failed = ticked.is_err();
        let last = ticked.map(|(report, _)| report);
        engine.nudges().record(WorkerHealth { worker: worker.name(), at: engine.now(), last });
        if again && !*stopped.borrow() {
            continue;
        }
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            () = tokio::time::sleep(wait) => {}
            // A failing database is not hammered at every commit attempt.
            () = nudged(&engine, worker), if !failed => {}
        }
    }
}

/// A message that hangs, to people or to a subscription, holds up no shutdown: it is claimed for some minutes and told
/// then, perhaps twice. Other workers end their tick, because nobody may know how a cut one ended.
const LAST_MESSAGES: Duration = Duration::from_secs(3);

async fn given_up(worker: Worker, mut stopped: watch::Receiver<bool>) {
    if !matches!(worker, Worker::Notifier | Worker::Messenger) || stopped.wait_for(|stop| *stop).await.is_err() {
        return std::future::pending().await;
    }
    tokio::time::sleep(LAST_MESSAGES).await;
}

async fn nudged(engine: &Engine, worker: Worker) {
    if matches!(worker, Worker::Sweeper | Worker::Reconciler) {
        tokio::time::sleep(SWEEP_PAUSE).await;
    }
    worker.nudge(engine.nudges()).notified().await;
}

/// One tick: its report as text, and whether there is more right now.
async fn tick(engine: &Engine, worker: Worker) -> Result<(String, bool), String> {
    let text = |e: crate::error::EngineError| e.to_string();
    match worker {
        Worker::Dispatcher => {
            let report = engine.dispatch_tick().await.map_err(text)?;
            let more = report.more && report.started + report.held > 0;
            Ok((format!("{report:?}"), more))
        }
        Worker::Sweeper => engine.sweep_rows().await.map(|r| (format!("{r:?}"), false)).map_err(text),
        Worker::Reconciler => engine.reconcile_tick().await.map(|r| (format!("{r:?}"), false)).map_err(text),
        Worker::Deliverer => {
            let report = engine.deliver_tick().await.map_err(text)?;
            let more = report.more && report.started > 0;
            Ok((format!("{report:?}"), more))
        }
        Worker::Notifier => {
            let report = engine.notify_tick().await.map_err(text)?;
            Ok((format!("{report:?}"), false))
        }
        Worker::Messenger => engine.messenger_tick().await.map(|r| (format!("{r:?}"), false)).map_err(text),
    }
}

/// Wakes the workers for what other processes committed.
async fn listen(engine: Engine, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            () = engine.store().wait_for_work() => engine.nudges().after_commit(true, true),
        }
    }
}

/// How much of the tally a kill may lose. One small statement per period and process.
const FLUSH_PERIOD: Duration = Duration::from_secs(10);
/// Counts are worth a moment at a stop, not a supervisor's kill.
const FLUSH_PATIENCE: Duration = Duration::from_secs(3);

/// Brings the tally to the database. No worker by name: a server that cannot count is ready all the same.
async fn flush(engine: Engine, mut stopped: watch::Receiver<bool>) {
    let mut failing = false;
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            () = tokio::time::sleep(jittered(FLUSH_PERIOD)) => {}
        }
        let flushed = engine.tally_flush().await;
        if let (Err(error), false) = (&flushed, failing) {
            tracing::warn!(%error, "the counts could not be written; they are kept for the next time");
        }
        failing = flushed.is_err();
    }
}

/// Between 80 and 120 percent, so that replicas do not march in step.
fn jittered(period: Duration) -> Duration {
    period.mul_f64(0.8 + 0.4 * random::unit())
}
