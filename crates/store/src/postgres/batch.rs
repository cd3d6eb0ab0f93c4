//! One batch from its operations to their answers: the statement, what its failure means, and what is done when nobody
//! knows whether it was committed.
//!
//! Never a blind retry, never a success that was only hoped for: after a lost connection the rows are read by key on a
//! new one, and an operation is run again only if it certainly was not committed. Differs: SQLite knows the fate of
//! every commit.

use std::{collections::HashMap, time::Duration};

use effectgate_core::{digest::Digest, ids::RunId};
use tokio::{sync::oneshot, time::sleep};
use tokio_postgres::Row;

use super::{
    columns::{Rows, params},
    connect::{Identity, Link, Target},
    pool::{CONFLICTS_MAX, IN_THE_WAY, pause},
    tx::Fault,
};
use crate::{Result, StoreError};

/// How often a batch whose connection was lost before its commit is run before the database counts as away.
const RUNS_MAX: usize = 3;
/// How long a lost connection's process is waited for: a process that has lost its client ends at its next message or
/// at the end of its statement.
const GONE_WAIT: Duration = Duration::from_secs(5);
const GONE_POLL: Duration = Duration::from_millis(50);

/// An operation that is batched.
pub(super) trait Work: Send + Sync + Sized {
    type Answer: Clone + Send;

    fn run_id(&self) -> RunId;
    /// The statement for a whole batch; one row for each operation it has something to say about.
    fn statement() -> &'static str;
    fn rows<'a>(ops: &[&'a Self]) -> Result<Vec<Rows<'a>>>;
    /// The run and the answer in a row of the statement.
    fn read(row: &Row) -> Result<(RunId, Self::Answer)>;
    /// The answer to an operation that the statement said nothing about.
    fn unsaid(&self, link: &mut Link) -> impl Future<Output = Result<Self::Answer, Fault>> + Send;
    /// The journal entry by which a commit of this operation is known: its number and hash.
    fn mark(&self) -> Option<(i64, Digest)>;
    /// What a run that was read again after a lost connection says; see [`Seen`].
    fn judge(&self, seen: Option<&Seen>) -> Fate<Self::Answer>;
    /// True if the answer says that this operation changed something.
    fn is_change(answer: &Self::Answer) -> bool;
}

/// A run as it was read again.
pub(super) struct Seen {
    pub(super) row: Row,
    /// The hash of the entry with the operation's number.
    pub(super) entry: Option<Digest>,
}

/// What became of an operation.
pub(super) enum Fate<A> {
    /// Known.
    Settled(A),
    /// Not committed, as far as can be seen: true only once the process that ran it is gone.
    NotThere,
}

/// Operations that wait for their answers.
pub(super) struct Waiting<W: Work> {
    pub(super) op: W,
    /// Twins of a reservation in the same batch wait for the same run.
    pub(super) answers: Vec<oneshot::Sender<Result<W::Answer>>>,
}

impl<W: Work> Waiting<W> {
    fn answer(self, with: &Result<W::Answer>) {
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

    fn lose(&mut self) -> Option<Identity> {
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
    let ops: Vec<&W> = open.iter().map(|w| &w.op).collect();
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
                Ok(link) => waiting.op.unsaid(link).await.map_err(Fault::of_write),
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
async fn share<W: Work>(slot: &mut Slot, mut waiting: Waiting<W>, answer: Result<W::Answer>) {
    let twins = if answer.as_ref().is_ok_and(W::is_change) { waiting.answers.split_off(1) } else { Vec::new() };
    if !twins.is_empty() {
        let told = match slot.link().await {
            Ok(link) => waiting.op.unsaid(link).await.map_err(Fault::of_write),
            Err(error) => Err(error),
        };
        for twin in twins {
            let _ = twin.send(again(&told));
        }
    }
    waiting.answer(&answer);
}

/// Reads the runs again on a new connection. Answers what is known; gives back what certainly was not committed.
async fn find_out<W: Work>(slot: &mut Slot, open: Vec<Waiting<W>>, what: &str) -> Vec<Waiting<W>> {
    let lost = slot.lose();
    tracing::warn!(what, operations = open.len(), "a connection was lost under a batch; reading by key");
    let unknown = StoreError::CommitUnknown { what: what.to_owned() };
    let (seen, gone) = match look_again(slot, lost.as_ref(), &open).await {
        Ok(found) => found,
        Err(_) => {
            answer_all(open, &unknown);
            return Vec::new();
        }
    };
    let mut not_committed = Vec::new();
    for waiting in open {
        match waiting.op.judge(seen.get(&waiting.op.run_id())) {
            Fate::Settled(answer) => share(slot, waiting, Ok(answer)).await,
            Fate::NotThere if gone => not_committed.push(waiting),
            Fate::NotThere => waiting.answer(&Err(again_error(&unknown))),
        }
    }
    not_committed
}

/// A row for each operation's run that exists, with the entry that would be the operation's.
pub(super) const LOOK: &str = concat!(
    "SELECT ",
    crate::row::run_columns!(),
    ", j.hash, ",
    super::tx::now!(),
    " FROM unnest($1::bytea[], $2::bigint[]) AS o(run_id, seq) JOIN runs r ON r.run_id = o.run_id
LEFT JOIN journal j ON j.run_id = o.run_id AND j.seq = o.seq"
);
/// A commit of ours, after which everything seen before it is as durable as it is: on a standby too, if the server
/// waits for one.
pub(super) const BARRIER: &str = "UPDATE schema_lock SET barrier = barrier + 1 WHERE id = 1";

/// The runs as they are, and whether the lost connection's process is gone.
async fn look_again<W: Work>(
    slot: &mut Slot,
    lost: Option<&Identity>,
    open: &[Waiting<W>],
) -> Result<(HashMap<RunId, Seen>, bool), Fault> {
    let link = slot.link().await?;
    let gone = wait_until_gone(link, lost).await?;
    let ids: Vec<RunId> = open.iter().map(|w| w.op.run_id()).collect();
    let runs: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes()).collect();
    let seqs: Vec<i64> = open.iter().map(|w| w.op.mark().map_or(0, |(seq, _)| seq)).collect();
    let found = link.query(LOOK, &[&runs, &seqs]).await?;
    link.run(BARRIER, &[]).await?;
    if link.take_unreplicated() {
        return Err(Fault::Lost { what: "the wait for the standby was cancelled".into() });
    }
    let mut seen = HashMap::new();
    for row in found {
        let id = crate::row::run_ref(&row)?.id;
        let hash: Option<&[u8]> = super::tx::computed(&row, crate::row::RUNS.columns.len())?;
        let entry = hash.and_then(|h| h.try_into().ok()).map(Digest::from_bytes);
        seen.insert(id, Seen { row, entry });
    }
    Ok((seen, gone))
}

async fn wait_until_gone(link: &mut Link, lost: Option<&Identity>) -> Result<bool, tokio_postgres::Error> {
    let Some(lost) = lost else { return Ok(false) };
    let mut waited = Duration::ZERO;
    while link.may_be_at_work(lost).await? {
        if waited >= GONE_WAIT {
            return Ok(false);
        }
        sleep(GONE_POLL).await;
        waited += GONE_POLL;
    }
    Ok(true)
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
