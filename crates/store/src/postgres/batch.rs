//! One batch from its operations to their answers: the statement, what its failure means, and what is done when nobody
//! knows whether it was committed.
//!
//! Never a blind retry, never a success that was only hoped for: after a lost connection the rows are read by key on a
//! new one, and an operation is run again only if it certainly was not committed. Differs: SQLite knows the fate of
//! every commit.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::{BuildHasher, Hasher},
    sync::{
        LazyLock,
        atomic::{AtomicI64, Ordering},
    },
};

use effectgate_core::ids::RunId;
use tokio::sync::oneshot;
use tokio_postgres::Row;

use super::{
    columns::{Rows, params},
    connect::{Identity, Link, Target},
    doubt::find_out,
    pool::{CONFLICTS_MAX, IN_THE_WAY, pause},
    tx::Fault,
};
use crate::{Result, StoreError};

/// How often a batch whose connection was lost before its commit is run before the database counts as away.
const RUNS_MAX: usize = 3;

/// An operation that is batched.
pub(super) trait Work: Send + Sync + Sized {
    type Answer: Clone + Send;

    fn run_id(&self) -> RunId;
    /// The statement for a whole batch; one row for each operation it has something to say about.
    fn statement() -> &'static str;
    fn rows<'a>(ops: &[(&'a Self, OpId)]) -> Result<Vec<Rows<'a>>>;
    /// The run and the answer in a row of the statement.
    fn read(row: &Row) -> Result<(RunId, Self::Answer)>;
    /// The answer to an operation that the statement said nothing about.
    fn unsaid(&self, id: OpId, link: &mut Link) -> impl Future<Output = Result<Self::Answer, Fault>> + Send;
    /// The number of the journal entry by which a commit of this operation is known.
    fn entry_seq(&self) -> i64;
    /// What a run that was read again after a lost connection says; see [`Seen`].
    fn judge(&self, id: OpId, seen: Option<&Seen>) -> Fate<Self::Answer>;
    /// True if the answer says that this operation changed something.
    fn is_change(answer: &Self::Answer) -> bool;
}

/// A run as it was read again.
pub(super) struct Seen {
    pub(super) row: Row,
    /// Who wrote the entry with the operation's number, if it is there.
    pub(super) writer: Option<OpId>,
}

/// Names an operation among those of all processes: it is written beside the journal entry, which by itself would be
/// the same for two replicas that try the same change at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpId(pub(super) i64);

impl OpId {
    /// Counts up from a place of this process's own: 64 random bits keep processes apart.
    pub(super) fn next() -> Self {
        static NEXT: LazyLock<AtomicI64> =
            LazyLock::new(|| AtomicI64::new(RandomState::new().build_hasher().finish().cast_signed()));
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What became of an operation.
pub(super) enum Fate<A> {
    /// Known.
    Settled(A),
    /// Not committed, as far as can be seen: true only once the process that ran it is gone.
    NotThere,
    /// The run's row cannot be read.
    Unreadable(StoreError),
}

/// Operations that wait for their answers.
pub(super) struct Waiting<W: Work> {
    pub(super) id: OpId,
    pub(super) op: W,
    /// Twins of a reservation in the same batch wait for the same run.
    pub(super) answers: Vec<oneshot::Sender<Result<W::Answer>>>,
}

impl<W: Work> Waiting<W> {
    pub(super) fn answer(self, with: &Result<W::Answer>) {
        for sender in self.answers {
            // The caller may have gone away; the write stands all the same.
            let _ = sender.send(again(with));
        }
    }
}

/// A connection that is made again when it was lost.
pub(super) struct Slot {
    target: Target,
    link: Option<Link>,
}

impl Slot {
    pub(super) fn new(target: Target) -> Self {
        Self { target, link: None }
    }

    pub(super) async fn link(&mut self) -> Result<&mut Link> {
        if self.link.as_ref().is_none_or(Link::is_closed) {
            self.link = Some(self.target.link().await?);
        }
        Ok(self.link.as_mut().expect("it was just put there"))
    }

    pub(super) fn lose(&mut self) -> Option<Identity> {
        self.link.take().and_then(|link| link.identity())
    }
}

/// What one run of the statement came to.
enum Ran<A> {
    Done(HashMap<RunId, A>),
    /// Done, but the server stopped waiting for its standby.
    Unreplicated(HashMap<RunId, A>),
    /// Definitely nothing was committed; each operation by itself may fare better.
    Refused(StoreError),
    /// Definitely nothing was committed, and nothing will be for now.
    Away(StoreError),
    Unknown {
        what: String,
    },
}

/// Runs a batch and answers every operation of it. No two operations name the same run.
pub(super) async fn run<W: Work>(slot: &mut Slot, batch: Vec<Waiting<W>>) {
    let mut open = batch;
    for _ in 0..RUNS_MAX {
        if open.is_empty() {
            return;
        }
        let link = match slot.link().await {
            Ok(link) => link,
            Err(error) => return answer_all(open, &error),
        };
        match execute(link, &open).await {
            Ran::Done(answers) => return settle(slot, open, answers, false).await,
            Ran::Unreplicated(answers) => return settle(slot, open, answers, true).await,
            Ran::Away(error) => return answer_all(open, &error),
            Ran::Refused(error) if open.len() == 1 => return answer_all(open, &error),
            Ran::Refused(_) => return one_by_one(slot, open).await,
            Ran::Unknown { what } => open = find_out(slot, open, &what).await,
        }
    }
    answer_all(open, &StoreError::Unavailable { what: "the connection was lost again and again".into() });
}

/// An operation that fails in a batch fails alone.
async fn one_by_one<W: Work>(slot: &mut Slot, open: Vec<Waiting<W>>) {
    for waiting in open {
        Box::pin(run(slot, vec![waiting])).await;
    }
}

async fn execute<W: Work>(link: &mut Link, open: &[Waiting<W>]) -> Ran<W::Answer> {
    let ops: Vec<(&W, OpId)> = open.iter().map(|w| (&w.op, w.id)).collect();
    let rows = match W::rows(&ops) {
        Ok(rows) => rows,
        Err(error) => return Ran::Refused(error),
    };
    let values = params(&rows);
    for conflict in 0..CONFLICTS_MAX {
        match link.query(W::statement(), &values).await {
            Ok(found) => return done::<W>(link, &found),
            Err(error) => match Fault::from(error) {
                Fault::Conflict(_) => pause(conflict).await,
                Fault::Lost { what } => return Ran::Unknown { what },
                // A value that is refused or a row that somebody holds concerns one operation, a full disk all.
                Fault::Failed(error @ StoreError::Unavailable { .. }) => return Ran::Away(error),
                Fault::Held(error) | Fault::Failed(error) => return Ran::Refused(error),
            },
        }
    }
    Ran::Refused(StoreError::Unavailable { what: IN_THE_WAY.into() })
}

fn done<W: Work>(link: &Link, found: &[Row]) -> Ran<W::Answer> {
    let unreplicated = link.take_unreplicated();
    match found.iter().map(W::read).collect() {
        // Committed, and then unreadable: nobody is told that nothing happened.
        Err(error) => Ran::Unknown { what: format!("an answer that cannot be read: {error}") },
        Ok(answers) if unreplicated => Ran::Unreplicated(answers),
        Ok(answers) => Ran::Done(answers),
    }
}

/// Answers what the statement said, and asks about the rest.
async fn settle<W: Work>(slot: &mut Slot, open: Vec<Waiting<W>>, mut answers: HashMap<RunId, W::Answer>, doubt: bool) {
    for waiting in open {
        let answer = match answers.remove(&waiting.op.run_id()) {
            Some(answer) => Ok(answer),
            None => match slot.link().await {
                Ok(link) => waiting.op.unsaid(waiting.id, link).await.map_err(Fault::of_write),
                Err(error) => Err(error),
            },
        };
        let doubtful = doubt || slot.link.as_ref().is_some_and(Link::take_unreplicated);
        match &answer {
            Ok(changed) if doubtful && W::is_change(changed) => waiting.answer(&Err(StoreError::CommitUnknown {
                what: "committed here, and the wait for the standby was cancelled".into(),
            })),
            _ => share(slot, waiting, answer).await,
        }
    }
}

/// The first of several twins has changed something; the others are told what is there now.
pub(super) async fn share<W: Work>(slot: &mut Slot, mut waiting: Waiting<W>, answer: Result<W::Answer>) {
    let twins = if answer.as_ref().is_ok_and(W::is_change) { waiting.answers.split_off(1) } else { Vec::new() };
    if !twins.is_empty() {
        let told = match slot.link().await {
            Ok(link) => waiting.op.unsaid(waiting.id, link).await.map_err(Fault::of_write),
            Err(error) => Err(error),
        };
        for twin in twins {
            let _ = twin.send(again(&told));
        }
    }
    waiting.answer(&answer);
}

pub(super) fn answer_all<W: Work>(open: Vec<Waiting<W>>, error: &StoreError) {
    for waiting in open {
        waiting.answer(&Err(again_error(error)));
    }
}

fn again<A: Clone>(result: &Result<A>) -> Result<A> {
    match result {
        Ok(answer) => Ok(answer.clone()),
        Err(error) => Err(again_error(error)),
    }
}

/// The same error for one more caller.
pub(super) fn again_error(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable { what } => StoreError::Unavailable { what: what.clone() },
        StoreError::CommitUnknown { what } => StoreError::CommitUnknown { what: what.clone() },
        StoreError::Corrupt { table, column, row } => StoreError::Corrupt { table, column, row: row.clone() },
        other => StoreError::Rejected { what: other.to_string() },
    }
}
