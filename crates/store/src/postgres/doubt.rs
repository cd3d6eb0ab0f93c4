//! What is done when nobody knows whether a batch was committed: wait until the process that ran it is gone, and read by
//! key. What certainly was not committed is given back; what may still happen is told as unknown.
//! Differs: SQLite knows the fate of its commits.

use std::{collections::HashMap, time::Duration};

use effectgate_core::ids::RunId;
use tokio::time::sleep;

use super::{
    batch::{Fate, OpId, Seen, Slot, Waiting, Work, again_error, answer_all, share},
    connect::{Identity, Link},
    tx::{self, Fault, now},
};
use crate::{
    Result, StoreError,
    row::{self, run_columns},
};

/// How long a lost connection's process is waited for: a process that has lost its client ends at its next message or
/// at the end of its statement.
const GONE_WAIT: Duration = Duration::from_secs(5);
const GONE_POLL: Duration = Duration::from_millis(50);

/// Reads the runs again on a new connection. Answers what is known; gives back what certainly was not committed.
pub(super) async fn find_out<W: Work>(slot: &mut Slot, open: Vec<Waiting<W>>, what: &str) -> Vec<Waiting<W>> {
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
        match waiting.op.judge(waiting.id, seen.get(&waiting.op.run_id())) {
            Fate::Settled(answer) => share(slot, waiting, Ok(answer)).await,
            Fate::NotThere if gone => not_committed.push(waiting),
            Fate::Unreadable(error) => waiting.answer(&Err(error)),
            Fate::NotThere => waiting.answer(&Err(again_error(&unknown))),
        }
    }
    not_committed
}

/// A row for each operation's run that exists, with the writer of the entry that would be the operation's.
pub(super) const LOOK: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", j.op, ",
    now!(),
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
    let seqs: Vec<i64> = open.iter().map(|w| w.op.entry_seq()).collect();
    let found = link.query(LOOK, &[&runs, &seqs]).await?;
    link.run(BARRIER, &[]).await?;
    if link.take_unreplicated() {
        return Err(Fault::Lost { what: "the wait for the standby was cancelled".into() });
    }
    let mut seen = HashMap::new();
    for row in found {
        let id = row::run_ref(&row)?.id;
        let writer: Option<i64> = tx::computed(&row, row::RUNS.columns.len())?;
        seen.insert(id, Seen { row, writer: writer.map(OpId) });
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
