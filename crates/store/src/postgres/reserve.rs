//! Reservation: a batch of new keys in one statement, and the rare ones that need more than one.
//! Differs: SQLite's stands in `run.rs`, because there it is a page shorter.

use std::sync::LazyLock;

use effectgate_core::{
    digest::Digest,
    ids::{RunId, SourceName},
    journal,
    time::Timestamp,
};
use tokio_postgres::Row;

use super::{
    batch::{Fate, OpId, Seen, Work},
    columns::{Kind::*, Rows, Shape, expand, params},
    commit::run_and_lease,
    connect::Link,
    journal as chain,
    pool::{CONFLICTS_MAX, pause},
    run::{BY_ID, NOW_AT},
    tx::{self, Cut, Fault, moment, now},
};
use crate::{
    Result, StoreError,
    row::{self, run_columns},
    types::{NewRun, Reserved},
};

/// A new run, its content and its first entry.
const NEW: Shape = Shape {
    name: "o",
    columns: &[
        ("run_id", Blob),
        ("tenant", Text),
        ("flow", Text),
        ("flow_revision", Text),
        ("key", Text),
        ("state", Text),
        ("reason", Text),
        ("version", Int),
        ("payload_hash", Blob),
        ("identity_rule", Text),
        ("owner", Text),
        ("fence", Int),
        ("lease_ms", Int),
        ("attempts", Int),
        ("attempts_max", Int),
        ("repairs_used", Int),
        ("takeovers", Int),
        ("effects_total", Int),
        ("effects_open", Int),
        ("effects_failed", Int),
        ("effects_cancelled", Int),
        ("refusals", Int),
        ("next_attempt_at", Int),
        ("journal_seq", Int),
        ("journal_head", Blob),
        ("origin", Text),
        ("created_at", Int),
        ("updated_at", Int),
        ("expires_at", Int),
        ("content_expires_at", Int),
        ("corrects", Blob),
        ("inbound", Text),
        ("payload", Text),
        ("output", Text),
        ("result", Text),
        ("proposal", Text),
        ("entry_seq", Int),
        ("entry_at", Int),
        ("entry_kind", Text),
        ("entry", Text),
        ("entry_hash", Blob),
        ("op", Int),
    ],
};

/// Reads before it writes: a duplicate takes no lock, no transaction number and no flush. `OFFSET 0` keeps the planner
/// from turning the look by key into a join with the whole table. Of a run that was made only the lease comes back. A key whose run was purged but whose journal still
/// stands (`heads`) is left to [`go_on`]. `IS TRUE` makes the test a hashed look instead of a nested loop.
const RESERVE: &str = concat!(
    "WITH seen AS MATERIALIZED (
  SELECT o.run_id AS o_run_id, h.run_id IS NOT NULL AS has_head, r.* FROM unnest($1::bytea[]) AS o(run_id)
  LEFT JOIN LATERAL (SELECT ",
    run_columns!(),
    " FROM runs r WHERE r.run_id = o.run_id OFFSET 0) r ON true
  LEFT JOIN LATERAL (SELECT h.run_id FROM heads h WHERE h.run_id = o.run_id OFFSET 0) h ON true),
ops AS MATERIALIZED (SELECT *, ",
    now!(),
    " AS clock FROM {o}
  WHERE (o.run_id IN (SELECT o_run_id FROM seen WHERE run_id IS NULL AND NOT has_head)) IS TRUE),
made AS (INSERT INTO runs AS r (run_id, tenant, flow, flow_revision, key, state, reason, version, payload_hash,
    identity_rule, owner, fence, lease_since, lease_expires_at, attempts, attempts_max, repairs_used, takeovers,
    effects_total, effects_open, effects_failed, effects_cancelled, refusals, next_attempt_at, journal_seq,
    journal_head, origin, created_at, updated_at, expires_at, content_expires_at, corrects,
    inbound)
  SELECT run_id, tenant, flow, flow_revision, key, state, reason, version, payload_hash, identity_rule, owner, fence,
    CASE WHEN lease_ms IS NOT NULL THEN clock END, clock + lease_ms * 1000,
    attempts, attempts_max, repairs_used, takeovers, effects_total, effects_open, effects_failed, effects_cancelled,
    refusals, next_attempt_at, journal_seq, journal_head, origin, created_at, updated_at, expires_at,
    content_expires_at, corrects, inbound
  FROM ops ORDER BY run_id
  ON CONFLICT (run_id) DO NOTHING
  RETURNING r.run_id, r.lease_since, r.lease_expires_at),
kept AS (INSERT INTO contents (run_id, payload, output, result, proposal)
  SELECT run_id, payload, output, result, proposal FROM ops
  WHERE (run_id IN (SELECT run_id FROM made)) IS TRUE AND num_nonnulls(payload, output, result, proposal) > 0),
told AS (INSERT INTO journal (run_id, seq, at, kind, entry, hash, op)
  SELECT run_id, entry_seq, entry_at, entry_kind, entry, entry_hash, op FROM ops
  WHERE (run_id IN (SELECT run_id FROM made)) IS TRUE)
SELECT m.run_id, m.lease_since, m.lease_expires_at, coalesce(m.lease_since, ",
    now!(),
    "), true, ",
    run_columns!(),
    " FROM made m LEFT JOIN seen r ON false
UNION ALL SELECT r.run_id, r.lease_since, r.lease_expires_at, ",
    now!(),
    ", false, ",
    run_columns!(),
    " FROM seen r WHERE r.run_id IS NOT NULL"
);

pub(super) static RESERVE_SQL: LazyLock<String> = LazyLock::new(|| expand(RESERVE, &[&NEW]));

/// The place of the word whether this operation made the run: behind what [`run_and_lease`] reads, before the run.
const CREATED_AT: usize = 4;

impl Work for NewRun {
    type Answer = Reserved;

    fn run_id(&self) -> RunId {
        self.run.id
    }

    fn statement() -> &'static str {
        &RESERVE_SQL
    }

    fn rows<'a>(ops: &[(&'a Self, OpId)]) -> Result<Vec<Rows<'a>>> {
        let mut rows = Rows::new(&NEW);
        for (op, id) in ops {
            push(&mut rows, op, *id)?;
        }
        Ok(vec![rows])
    }

    fn read(row: &Row) -> Result<(RunId, Reserved)> {
        let (id, lease) = run_and_lease(row)?;
        let answer = if tx::computed(row, CREATED_AT)? {
            Reserved::Created { lease }
        } else {
            Reserved::Exists { run: Box::new(row::run(&Cut(row, CREATED_AT + 1))?), lease }
        };
        Ok((id, answer))
    }

    /// Lost a race after the statement's snapshot, or the key was used before and its run purged.
    async fn unsaid(&self, id: OpId, link: &mut Link) -> Result<Reserved, Fault> {
        for race in 0..CONFLICTS_MAX {
            match by_itself(link, self, id).await {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) | Err(Fault::Conflict(_)) => pause(race).await,
                Err(fault) => return Err(fault),
            }
        }
        Err(StoreError::Unavailable { what: format!("{} comes and goes", self.run.id) }.into())
    }

    fn entry_seq(&self) -> i64 {
        self.entry.seq
    }

    fn judge(&self, id: OpId, seen: Option<&Seen>) -> Fate<Reserved> {
        let Some(seen) = seen else { return Fate::NotThere };
        let lease = moment(&seen.row, NOW_AT + 1).and_then(|now| row::run_lease(&seen.row, now));
        match (lease, row::run(&seen.row)) {
            (Ok(lease), _) if seen.writer == Some(id) => Fate::Settled(Reserved::Created { lease }),
            (Ok(lease), Ok(run)) => Fate::Settled(Reserved::Exists { run: Box::new(run), lease }),
            // Nobody is told that it is not there, and nothing is done again: the keys would meet.
            (Err(error), _) | (_, Err(error)) => Fate::Unreadable(error),
        }
    }

    fn is_change(answer: &Reserved) -> bool {
        matches!(answer, Reserved::Created { .. })
    }
}

fn push<'a>(rows: &mut Rows<'a>, new: &'a NewRun, id: OpId) -> Result<()> {
    let run = &new.run;
    rows.push([
        run.id.as_bytes().into(),
        run.tenant.as_str().into(),
        run.flow.as_str().into(),
        (&run.flow_revision).into(),
        (&run.key).into(),
        run.state.as_str().into(),
        run.state.reason().into(),
        run.version.into(),
        run.payload_hash.as_bytes().into(),
        (&run.identity_rule).into(),
        run.owner.as_ref().map(|o| o.as_str()).into(),
        run.fence.0.into(),
        new.lease_ms.into(),
        run.attempts.into(),
        run.attempts_max.into(),
        run.repairs_used.into(),
        run.takeovers.into(),
        run.effects.total.into(),
        run.effects.open.into(),
        run.effects.failed.into(),
        run.effects.cancelled.into(),
        run.refusals.into(),
        run.state.next_attempt_at().map(Timestamp::micros).into(),
        run.head.seq.into(),
        run.head.hash.as_ref().map(Digest::as_bytes).into(),
        row::json(&run.origin)?.into(),
        run.created_at.micros().into(),
        run.updated_at.micros().into(),
        run.expires_at.map(Timestamp::micros).into(),
        run.content_expires_at.map(Timestamp::micros).into(),
        run.origin.corrects.as_ref().map(RunId::as_bytes).into(),
        run.origin.inbound.as_ref().map(SourceName::as_str).into(),
        new.content.payload.as_deref().into(),
        new.content.output.as_deref().into(),
        new.content.result.as_deref().into(),
        new.content.proposal.as_deref().into(),
        new.entry.seq.into(),
        new.entry.at.micros().into(),
        (&new.entry.kind).into(),
        (&new.entry.text).into(),
        new.entry.hash.as_bytes().into(),
        id.0.into(),
    ]);
    Ok(())
}

async fn by_itself(link: &mut Link, new: &NewRun, id: OpId) -> Result<Option<Reserved>, Fault> {
    match exists(link, new).await? {
        Some(found) => Ok(Some(found)),
        None => go_on(link, new, id).await,
    }
}

async fn exists(link: &mut Link, new: &NewRun) -> Result<Option<Reserved>, Fault> {
    let found = link.query(BY_ID, &[&new.run.id.as_bytes(), &new.run.tenant.as_str()]).await?;
    let Some(row) = found.first() else { return Ok(None) };
    let lease = row::run_lease(row, moment(row, NOW_AT)?)?;
    Ok(Some(Reserved::Exists { run: Box::new(row::run(row)?), lease }))
}

/// Takes the purged run's head away (compare-and-set: its journal may have been dropped, or the head taken, since).
const TAKE_HEAD: &str = "DELETE FROM heads WHERE run_id = $1 AND seq = $2";

/// The key was used before and its run purged: the new run's record goes on where the old one ended. `None` if another
/// reservation was quicker.
async fn go_on(link: &mut Link, new: &NewRun, id: OpId) -> Result<Option<Reserved>, Fault> {
    let Some(mut head) = chain::head_by(link, new.run.id).await? else { return again(link, new, id).await };
    let old_seq = head.seq;
    let mut next = new.clone();
    next.entry = journal::reseal(&mut head, &new.entry)
        .map_err(|e| StoreError::Rejected { what: format!("the first entry of {} is no entry: {e}", new.run.id) })?;
    next.run.head = head;
    let rows = NewRun::rows(&[(&next, id)])?;
    let transaction = link.client.transaction().await?;
    let taken = transaction.execute(TAKE_HEAD, &[&new.run.id.as_bytes(), &old_seq]).await?;
    let made = transaction.query(RESERVE_SQL.as_str(), &params(&rows)).await?;
    match made.first().map(NewRun::read).transpose()? {
        Some((_, answer @ Reserved::Created { .. })) if taken == 1 => {
            transaction.commit().await?;
            Ok(Some(answer))
        }
        _ => {
            transaction.rollback().await?;
            Ok(None)
        }
    }
}

/// The whole statement once more, for this run alone: what was in the way is gone.
async fn again(link: &mut Link, new: &NewRun, id: OpId) -> Result<Option<Reserved>, Fault> {
    let rows = NewRun::rows(&[(new, id)])?;
    let found = link.query(NewRun::statement(), &params(&rows)).await?;
    Ok(found.first().map(NewRun::read).transpose()?.map(|(_, answer)| answer))
}
