//! The tasks that write. Each has one connection and one batch in flight, and drains its own bounded queue: what
//! arrives while a batch is under way makes the next one, so there is no timer. One writer serves few callers alone:
//! full batches cost the database less than half of small ones. Two writers may hold the same run, as two replicas may.
//!
//! Operations are handed over, never run in a caller's future: a caller that goes away cancels nothing. Differs: SQLite
//! has one writer on a thread of its own.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use effectgate_core::{ids::RunId, transition::Transition};
use tokio::{
    sync::{Mutex, mpsc, oneshot},
    task::JoinHandle,
    time::{Instant, timeout},
};

use super::{
    batch::{self, OpId, Slot, Waiting, Work},
    charged::{self, Charged},
    commit::makes_work,
    connect::Target,
    house,
    wake::Wake,
};
use crate::{
    Result, StoreError,
    types::{Commit, HouseCommit, HouseWrite, NewRun, Reserved},
};

/// Connections that write: one serves few callers, all of them serve many or go round a batch that is held up.
pub(super) const WRITERS: usize = 3;
/// Callers that one writer serves alone, in batches of half as many. A statement costs the database about 500 us by
/// itself and 25 us for each reservation (2 cores, 2026-11-30): beyond this a second core gains more than it costs.
const CALLERS_OF_ONE: usize = 64;
/// A batch that takes so long waits for a row, a standby or a lost connection; an ordinary one takes up to 20 ms.
const HELD_UP_MS: u64 = 100;
/// Operations in one statement: the flush is a small part of it by then, and the first one waits tens of milliseconds.
const BATCH_MAX: usize = 256;
/// Operations that may wait for one writer. Beyond this a caller waits for room.
const QUEUE_MAX: usize = 2048;
/// How long an operation waits for its turn before its caller is told that it was not tried.
const TURN_WAIT: Duration = Duration::from_secs(5);
/// How long a caller waits for an operation that was begun. The commit is never cancelled, so this only ends the
/// waiting; a row that somebody holds takes up to 10 s by itself, a standby that is away takes for ever.
const ANSWER_WAIT: Duration = Duration::from_secs(30);

/// What becomes of a job is decided once, by whoever is first: its writer or its caller.
const WAITS: u8 = 0;
const BEGUN: u8 = 1;
const GIVEN_UP: u8 = 2;

type Answer<T> = oneshot::Sender<Result<T>>;

enum Op {
    Reserve(Box<NewRun>, Answer<Reserved>),
    Commit(Box<Transition>, Answer<Commit>),
    House(Box<HouseWrite>, Answer<HouseCommit>),
}

struct Job {
    op: Op,
    since: Instant,
    state: Arc<AtomicU8>,
}

/// The way to one writer.
struct Lane {
    queue: mpsc::Sender<Job>,
    at_work: Arc<AtWork>,
}

/// Since when a writer is at its batch: milliseconds since `start`, and 1; 0 between batches.
struct AtWork {
    start: Instant,
    since: AtomicU64,
}

impl AtWork {
    fn new() -> Self {
        Self { start: Instant::now(), since: AtomicU64::new(0) }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1
    }

    fn begin(&self) {
        self.since.store(self.now(), SeqCst);
    }

    fn end(&self) {
        self.since.store(0, SeqCst);
    }

    fn is_held_up(&self) -> bool {
        let since = self.since.load(SeqCst);
        since != 0 && self.now().saturating_sub(since) > HELD_UP_MS
    }
}

/// Counts a caller for as long as it waits, also if it goes away.
struct Caller<'a>(&'a AtomicUsize);

impl<'a> Caller<'a> {
    fn new(callers: &'a AtomicUsize) -> Self {
        callers.fetch_add(1, SeqCst);
        Self(callers)
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

pub(super) struct Writers {
    lanes: std::sync::RwLock<Vec<Lane>>,
    /// Callers that wait for an answer.
    callers: AtomicUsize,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Writers {
    pub(super) fn start(target: &Target, wake: &Wake) -> Self {
        let mut lanes = Vec::with_capacity(WRITERS);
        let mut tasks = Vec::with_capacity(WRITERS);
        for _ in 0..WRITERS {
            let (sender, queue) = mpsc::channel(QUEUE_MAX);
            let at_work = Arc::new(AtWork::new());
            tasks.push(tokio::spawn(work(Slot::new(target.clone()), queue, Arc::clone(&at_work), wake.clone())));
            lanes.push(Lane { queue: sender, at_work });
        }
        Self { lanes: std::sync::RwLock::new(lanes), callers: AtomicUsize::new(0), tasks: Mutex::new(tasks) }
    }

    pub(super) async fn reserve(&self, new: NewRun) -> Result<Reserved> {
        self.submit(new.run.id, |answer| Op::Reserve(Box::new(new), answer)).await
    }

    pub(super) async fn commit(&self, transition: Transition) -> Result<Commit> {
        self.submit(transition.run.id, |answer| Op::Commit(Box::new(transition), answer)).await
    }

    pub(super) async fn house(&self, write: HouseWrite) -> Result<HouseCommit> {
        self.submit(RunId::house(&write.tenant), |answer| Op::House(Box::new(write), answer)).await
    }

    async fn submit<T>(&self, run: RunId, op: impl FnOnce(Answer<T>) -> Op) -> Result<T> {
        let _caller = Caller::new(&self.callers);
        let queue = self.queue_of(run)?;
        let (sender, mut answer) = oneshot::channel();
        let state = Arc::new(AtomicU8::new(WAITS));
        let job = Job { op: op(sender), since: Instant::now(), state: Arc::clone(&state) };
        match timeout(TURN_WAIT, queue.send(job)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(closed()),
            Err(_) => return Err(not_tried()),
        }
        drop(queue);
        if let Ok(answered) = timeout(TURN_WAIT, &mut answer).await {
            return answered.unwrap_or_else(|_| Err(ended()));
        }
        if state.compare_exchange(WAITS, GIVEN_UP, SeqCst, SeqCst).is_ok() {
            return Err(not_tried());
        }
        match timeout(ANSWER_WAIT, answer).await {
            Ok(answered) => answered.unwrap_or_else(|_| Err(ended())),
            Err(_) => Err(StoreError::CommitUnknown { what: "the database has not answered yet".into() }),
        }
    }

    fn queue_of(&self, run: RunId) -> Result<mpsc::Sender<Job>> {
        let lanes = self.lanes.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        // The id is a hash: its last byte is as good as any.
        let by_id = || usize::from(*run.as_bytes().last().unwrap_or(&0)) % lanes.len().max(1);
        let place = if self.callers.load(SeqCst) <= CALLERS_OF_ONE { 0 } else { by_id() };
        let mut from_there = lanes.iter().cycle().skip(place).take(lanes.len());
        let lane = from_there.find(|lane| !lane.at_work.is_held_up()).or_else(|| lanes.get(place));
        lane.map(|lane| lane.queue.clone()).ok_or_else(closed)
    }

    /// Lets the writers finish what is queued and waits for them, as long as a caller would.
    pub(super) async fn close(&self) {
        self.lanes.write().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
        let tasks = std::mem::take(&mut *self.tasks.lock().await);
        for task in tasks {
            match timeout(ANSWER_WAIT, task).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::error!(%error, "a writer of the store ended by a panic"),
                Err(_) => tracing::error!("a writer of the store is still waiting for the database"),
            }
        }
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable { what: "the store is closed".into() }
}

fn not_tried() -> StoreError {
    StoreError::Unavailable { what: "too much was waiting to be written; this was not tried".into() }
}

/// The writer's task is gone with the job in hand.
fn ended() -> StoreError {
    StoreError::CommitUnknown { what: "the writer ended".into() }
}

/// What one batch consists of. No run is in it twice, except that twins of a reservation share one place.
#[derive(Default)]
struct Batch {
    runs: HashSet<RunId>,
    reserves: Vec<Waiting<NewRun>>,
    place_of: HashMap<RunId, usize>,
    commits: Vec<Waiting<Transition>>,
    /// Those that charge budgets go one by one.
    charged: Vec<Waiting<Charged>>,
    houses: Vec<(Box<HouseWrite>, Answer<HouseCommit>)>,
}

/// Works until every sender is gone and the queue is empty.
async fn work(mut slot: Slot, mut queue: mpsc::Receiver<Job>, at_work: Arc<AtWork>, wake: Wake) {
    let mut later = VecDeque::new();
    loop {
        if later.is_empty() {
            match queue.recv().await {
                Some(job) => later.push_back(job),
                None => return,
            }
        }
        while later.len() < BATCH_MAX
            && let Ok(job) = queue.try_recv()
        {
            later.push_back(job);
        }
        let batch = Batch::take(&mut later);
        at_work.begin();
        run(&mut slot, batch, &wake).await;
        at_work.end();
    }
}

async fn run(slot: &mut Slot, batch: Batch, wake: &Wake) {
    let Batch { mut reserves, mut commits, charged, houses, .. } = batch;
    // Rows are locked in the order in which they stand: the same everywhere, so that replicas do not lock crosswise.
    reserves.sort_by_key(|w| w.op.run_id());
    commits.sort_by_key(|w| w.op.run_id());
    let nudge = commits.iter().any(|w| makes_work(&w.op))
        || charged.iter().any(|w| makes_work(&w.op.0))
        || reserves.iter().any(|w| w.op.lease_ms.is_none());
    batch::run(slot, reserves).await;
    batch::run(slot, commits).await;
    for waiting in charged {
        charged::run(slot, waiting).await;
    }
    for (write, answer) in houses {
        let written = match slot.link().await {
            Ok(link) => house::commit(link, &write).await,
            Err(error) => Err(error),
        };
        let _ = answer.send(written);
    }
    if nudge {
        wake.nudge();
    }
}

impl Batch {
    /// Takes what can go together; what names a run that is taken already stays for the next batch.
    fn take(waiting: &mut VecDeque<Job>) -> Self {
        let mut batch = Self::default();
        let mut stays = VecDeque::new();
        for job in waiting.drain(..) {
            if batch.is_free(&job.op) {
                batch.begin(job);
            } else {
                stays.push_back(job);
            }
        }
        *waiting = stays;
        batch
    }

    fn is_free(&self, op: &Op) -> bool {
        match op {
            Op::Reserve(new, _) => !self.runs.contains(&new.run.id) || self.place_of.contains_key(&new.run.id),
            Op::Commit(transition, _) => !self.runs.contains(&transition.run.id),
            Op::House(..) => true,
        }
    }

    fn begin(&mut self, job: Job) {
        if job.state.compare_exchange(WAITS, BEGUN, SeqCst, SeqCst).is_err() {
            return;
        }
        // Callers that went away leave their jobs behind: after an outage they are not run late.
        let stale = job.since.elapsed() > TURN_WAIT;
        match job.op {
            Op::Reserve(_, answer) if stale => drop(answer.send(Err(not_tried()))),
            Op::Commit(_, answer) if stale => drop(answer.send(Err(not_tried()))),
            Op::House(_, answer) if stale => drop(answer.send(Err(not_tried()))),
            Op::Reserve(new, answer) => self.reserve(*new, answer),
            Op::Commit(transition, answer) => {
                self.runs.insert(transition.run.id);
                let (id, answers) = (OpId::next(), vec![answer]);
                if transition.charges.is_empty() {
                    self.commits.push(Waiting { id, op: *transition, answers });
                } else {
                    self.charged.push(Waiting { id, op: Charged(*transition), answers });
                }
            }
            Op::House(write, answer) => self.houses.push((write, answer)),
        }
    }

    fn reserve(&mut self, new: NewRun, answer: Answer<Reserved>) {
        let run = new.run.id;
        if let Some(place) = self.place_of.get(&run) {
            self.reserves[*place].answers.push(answer);
            return;
        }
        self.runs.insert(run);
        self.place_of.insert(run, self.reserves.len());
        self.reserves.push(Waiting { id: OpId::next(), op: new, answers: vec![answer] });
    }
}
