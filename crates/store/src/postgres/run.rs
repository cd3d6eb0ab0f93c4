//! Reservation, and the reads of runs. What changes a run that is there is in [`super::commit`].

use std::sync::LazyLock;

use effectgate_core::{
    digest::Digest,
    ids::{FlowName, RunId, Tenant},
    journal,
    run::{Aggregate, Run},
    time::Timestamp,
};
use tokio_postgres::Row;

use super::{
    batch::{Fate, Seen, Work},
    columns::{Kind::*, Rows, Shape, expand, params},
    connect::Link,
    journal as chain,
    pool::{CONFLICTS_MAX, Pool, pause},
    tx::{self, Cut, Fault, moment, now},
};
use crate::{
    Result, StoreError,
    row::{self, content_columns, run_columns, run_ref_columns},
    types::{Content, NewRun, Page, Reserved, RunFilter, RunOverdue, RunRef},
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
        ("payload", Text),
        ("output", Text),
        ("result", Text),
        ("proposal", Text),
        ("entry_seq", Int),
        ("entry_at", Int),
        ("entry_kind", Text),
        ("entry", Text),
        ("entry_hash", Blob),
    ],
};

/// Reads before it writes: a duplicate takes no lock, no transaction number and no flush. `OFFSET 0` keeps the planner
/// from turning the look by key into a join with the whole table. A key whose run was purged but whose journal still
/// stands (`heads`) is left to [`go_on`]. `IS TRUE` makes the test a hashed look instead of a nested loop.
const RESERVE: &str = concat!(
    "WITH seen AS MATERIALIZED (
  SELECT o.run_id AS o_run_id, h.run_id IS NOT NULL AS has_head, r.* FROM {o}
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
    journal_head, origin, created_at, updated_at, expires_at, content_expires_at)
  SELECT run_id, tenant, flow, flow_revision, key, state, reason, version, payload_hash, identity_rule, owner, fence,
    CASE WHEN lease_ms IS NOT NULL THEN clock END, clock + lease_ms * 1000,
    attempts, attempts_max, repairs_used, takeovers, effects_total, effects_open, effects_failed, effects_cancelled,
    refusals, next_attempt_at, journal_seq, journal_head, origin, created_at, updated_at, expires_at,
    content_expires_at
  FROM ops ORDER BY run_id
  ON CONFLICT (run_id) DO NOTHING
  RETURNING ",
    run_columns!(),
    "),
kept AS (INSERT INTO contents (run_id, payload, output, result, proposal)
  SELECT run_id, payload, output, result, proposal FROM ops
  WHERE (run_id IN (SELECT run_id FROM made)) IS TRUE AND num_nonnulls(payload, output, result, proposal) > 0),
told AS (INSERT INTO journal (run_id, seq, at, kind, entry, hash)
  SELECT run_id, entry_seq, entry_at, entry_kind, entry, entry_hash FROM ops
  WHERE (run_id IN (SELECT run_id FROM made)) IS TRUE)
SELECT ",
    run_columns!(),
    ", coalesce(r.lease_since, ",
    now!(),
    "), true FROM made r
UNION ALL SELECT ",
    run_columns!(),
    ", ",
    now!(),
    ", false FROM seen r WHERE r.run_id IS NOT NULL"
);

/// The place of the moment behind a run's columns.
const NOW_AT: usize = row::RUNS.columns.len();

pub(super) static RESERVE_SQL: LazyLock<String> = LazyLock::new(|| expand(RESERVE, &[&NEW]));

impl Work for NewRun {
    type Answer = Reserved;

    fn run_id(&self) -> RunId {
        self.run.id
    }

    fn statement() -> &'static str {
        &RESERVE_SQL
    }

    fn rows<'a>(ops: &[&'a Self]) -> Result<Vec<Rows<'a>>> {
        let mut rows = Rows::new(&NEW);
        for op in ops {
            push(&mut rows, op)?;
        }
        Ok(vec![rows])
    }

    fn read(row: &Row) -> Result<(RunId, Reserved)> {
        let id = row::run_ref(row)?.id;
        let lease = row::run_lease(row, moment(row, NOW_AT)?)?;
        let answer = if tx::computed(row, NOW_AT + 1)? {
            Reserved::Created { lease }
        } else {
            Reserved::Exists { run: Box::new(row::run(row)?), lease }
        };
        Ok((id, answer))
    }

    /// Lost a race after the statement's snapshot, or the key was used before and its run purged.
    async fn unsaid(&self, link: &mut Link) -> Result<Reserved, Fault> {
        for race in 0..CONFLICTS_MAX {
            match by_itself(link, self).await {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) | Err(Fault::Conflict(_)) => pause(race).await,
                Err(fault) => return Err(fault),
            }
        }
        Err(StoreError::Unavailable { what: format!("{} comes and goes", self.run.id) }.into())
    }

    fn mark(&self) -> Option<(i64, Digest)> {
        Some((self.entry.seq, self.entry.hash))
    }

    fn judge(&self, seen: Option<&Seen>) -> Fate<Reserved> {
        let Some(seen) = seen else { return Fate::NotThere };
        let lease = moment(&seen.row, NOW_AT + 1).and_then(|now| row::run_lease(&seen.row, now));
        match (lease, row::run(&seen.row)) {
            (Ok(lease), _) if seen.entry == Some(self.entry.hash) => Fate::Settled(Reserved::Created { lease }),
            (Ok(lease), Ok(run)) => Fate::Settled(Reserved::Exists { run: Box::new(run), lease }),
            // A row that cannot be read is not ours to judge; nobody is told that it is not there.
            _ => Fate::NotThere,
        }
    }

    fn is_change(answer: &Reserved) -> bool {
        matches!(answer, Reserved::Created { .. })
    }
}

fn push<'a>(rows: &mut Rows<'a>, new: &'a NewRun) -> Result<()> {
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
        new.content.payload.as_deref().into(),
        new.content.output.as_deref().into(),
        new.content.result.as_deref().into(),
        new.content.proposal.as_deref().into(),
        new.entry.seq.into(),
        new.entry.at.micros().into(),
        (&new.entry.kind).into(),
        (&new.entry.text).into(),
        new.entry.hash.as_bytes().into(),
    ]);
    Ok(())
}

pub(super) const BY_ID: &str =
    concat!("SELECT ", run_columns!(), ", ", now!(), " FROM runs r WHERE r.run_id = $1 AND r.tenant = $2");

async fn by_itself(link: &mut Link, new: &NewRun) -> Result<Option<Reserved>, Fault> {
    match exists(link, new).await? {
        Some(found) => Ok(Some(found)),
        None => go_on(link, new).await,
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
async fn go_on(link: &mut Link, new: &NewRun) -> Result<Option<Reserved>, Fault> {
    let Some(mut head) = chain::head_by(link, new.run.id).await? else { return again(link, new).await };
    let old_seq = head.seq;
    let mut next = new.clone();
    next.entry = journal::reseal(&mut head, &new.entry)
        .map_err(|e| StoreError::Rejected { what: format!("the first entry of {} is no entry: {e}", new.run.id) })?;
    next.run.head = head;
    let rows = NewRun::rows(&[&next])?;
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
async fn again(link: &mut Link, new: &NewRun) -> Result<Option<Reserved>, Fault> {
    let rows = NewRun::rows(&[new])?;
    let found = link.query(NewRun::statement(), &params(&rows)).await?;
    Ok(found.first().map(NewRun::read).transpose()?.map(|(_, answer)| answer))
}

/// The run with its children in one statement, so in one snapshot: a row for each child, or one without.
const LOAD: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    now!(),
    ", c.* FROM runs r LEFT JOIN (
  SELECT 1 AS part, ",
    row::effect_columns!(),
    ", {no_approval} FROM effects e WHERE e.run_id = $1
  UNION ALL
  SELECT 2, {no_effect}, ",
    row::approval_columns!(),
    " FROM approvals p WHERE p.run_id = $1) c ON true
WHERE r.run_id = $1 AND r.tenant = $2"
);

pub(super) static LOAD_SQL: LazyLock<String> = LazyLock::new(|| {
    let nulls = |table: &row::Table| vec!["NULL"; table.columns.len()].join(", ");
    LOAD.replace("{no_effect}", &nulls(&row::EFFECTS)).replace("{no_approval}", &nulls(&row::APPROVALS))
});

pub(super) async fn load(pool: &Pool, tenant: &Tenant, id: RunId) -> Result<Option<Aggregate>> {
    let rows = pool.rows(&LOAD_SQL, &[&id.as_bytes(), &tenant.as_str()]).await?;
    let Some(first) = rows.first() else { return Ok(None) };
    let lease = row::run_lease(first, moment(first, NOW_AT)?)?;
    let mut agg = Aggregate { run: row::run(first)?, lease, effects: Vec::new(), approvals: Vec::new() };
    for row in &rows {
        let effect_at = NOW_AT + 2;
        match tx::computed(row, NOW_AT + 1)? {
            Some(1_i32) => agg.effects.push(row::effect(&Cut(row, effect_at))?),
            Some(_) => agg.approvals.push(row::approval(&Cut(row, effect_at + row::EFFECTS.columns.len()))?),
            None => {}
        }
    }
    agg.effects.sort_by_key(|e| e.id.n);
    agg.approvals.sort_by_key(|a| a.id.n);
    Ok(Some(agg))
}

pub(super) const CONTENT: &str = concat!(
    "SELECT ",
    content_columns!(),
    " FROM runs r LEFT JOIN contents c ON c.run_id = r.run_id WHERE r.run_id = $1 AND r.tenant = $2"
);

pub(super) async fn content(pool: &Pool, tenant: &Tenant, id: RunId) -> Result<Option<Content>> {
    pool.first(CONTENT, &[&id.as_bytes(), &tenant.as_str()], row::content).await
}

/// Differs: newest first is the order of `created_at`, with an index of its own; SQLite has the rowid.
pub(super) const FIND: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs r
WHERE r.tenant = $1 AND (r.created_at, r.run_id) < ($2, $3)
  AND ($4::text IS NULL OR r.flow = $4) AND ($5::text IS NULL OR r.key = $5) AND ($6::text IS NULL OR r.state = $6)
  AND ($7::bigint IS NULL OR r.created_at >= $7) AND ($8::bigint IS NULL OR r.created_at < $8)
ORDER BY r.created_at DESC, r.run_id DESC LIMIT $9"
);

pub(super) async fn find(pool: &Pool, tenant: &Tenant, filter: &RunFilter) -> Result<Page<Run>> {
    if let (Some(flow), Some(key)) = (&filter.flow, &filter.key) {
        return find_one(pool, tenant, RunId::derive(tenant, flow, key), filter).await;
    }
    let before = filter.cursor.as_deref().map(row::parse_cursor::<RunId>).transpose()?;
    let at = before.as_ref().map_or(i64::MAX, |(at, _)| at.micros());
    let run = before.as_ref().map_or(&[][..], |(_, id)| id.as_bytes());
    let limit = row::page_limit(filter.limit);
    let (flow, since, until) = (
        filter.flow.as_ref().map(FlowName::as_str),
        filter.since.map(Timestamp::micros),
        filter.until.map(Timestamp::micros),
    );
    let limit_and_one = i64::from(limit) + 1;
    let found = pool
        .list(
            FIND,
            &[&tenant.as_str(), &at, &run, &flow, &filter.key, &filter.state, &since, &until, &limit_and_one],
            |r| {
                let run = row::run(r)?;
                let cursor = row::cursor(run.created_at, run.id);
                Ok((run, cursor))
            },
        )
        .await?;
    Ok(row::page(found, limit))
}

/// Flow and key name the run: no need to look through the others.
async fn find_one(pool: &Pool, tenant: &Tenant, id: RunId, filter: &RunFilter) -> Result<Page<Run>> {
    let run = pool.first(BY_ID, &[&id.as_bytes(), &tenant.as_str()], row::run).await?;
    let fits = |run: &Run| {
        filter.cursor.is_none()
            && filter.state.as_ref().is_none_or(|state| run.state.as_str() == state)
            && filter.since.is_none_or(|since| run.created_at >= since)
            && filter.until.is_none_or(|until| run.created_at < until)
    };
    Ok(Page { items: run.into_iter().filter(fits).collect(), next: None })
}

/// Each part follows an index and is bounded, so a long queue costs no more than a short one.
pub(super) const CLAIMABLE: &str = concat!(
    "SELECT run_id, tenant FROM (
  (SELECT run_id, tenant, updated_at AS due FROM runs WHERE state IN ('queued', 'failed_retryable')
      AND tenant = $1 AND flow = $2 AND next_attempt_at IS NULL ORDER BY updated_at LIMIT $3)
  UNION ALL
  (SELECT run_id, tenant, next_attempt_at AS due FROM runs WHERE state IN ('queued', 'failed_retryable')
      AND tenant = $1 AND flow = $2 AND next_attempt_at <= (SELECT ",
    now!(),
    ") ORDER BY next_attempt_at LIMIT $3)
  UNION ALL
  (SELECT run_id, tenant, lease_expires_at AS due FROM runs WHERE state = 'processing'
      AND tenant = $1 AND flow = $2 AND lease_expires_at <= (SELECT ",
    now!(),
    ") AND attempts < attempts_max
      ORDER BY lease_expires_at LIMIT $3)) due
ORDER BY due, run_id LIMIT $3"
);

pub(super) async fn claimable(pool: &Pool, tenant: &Tenant, flow: &FlowName, limit: u32) -> Result<Vec<RunId>> {
    let limit = i64::from(limit);
    pool.list(CLAIMABLE, &[&tenant.as_str(), &flow.as_str(), &limit], |r| Ok(row::run_ref(r)?.id)).await
}

pub(super) const LEASE_OVER: &str = concat!(
    "SELECT ",
    run_ref_columns!(),
    " FROM runs r WHERE r.state = 'processing' AND r.lease_expires_at <= (SELECT ",
    now!(),
    ") AND r.run_id > $1
  AND (r.attempts >= r.attempts_max OR r.effects_open > 0)
ORDER BY r.run_id LIMIT $2"
);
pub(super) const UNCHANGED: &str = "SELECT run_id, tenant FROM (
  SELECT run_id, tenant FROM runs
    WHERE state IN ('queued', 'awaiting_human', 'approved', 'failed_retryable', 'quarantined') AND updated_at <= $3
  UNION ALL
  SELECT run_id, tenant FROM runs WHERE state = 'processing' AND updated_at <= $3) r
WHERE run_id > $1 ORDER BY run_id LIMIT $2";

pub(super) async fn overdue(pool: &Pool, kind: RunOverdue, after: Option<RunId>, limit: u32) -> Result<Vec<RunRef>> {
    let after = after.as_ref().map_or(&[][..], RunId::as_bytes);
    let limit = i64::from(limit);
    match kind {
        RunOverdue::LeaseOver => pool.list(LEASE_OVER, &[&after, &limit], row::run_ref).await,
        RunOverdue::Unchanged { since } => pool.list(UNCHANGED, &[&after, &limit, &since.micros()], row::run_ref).await,
    }
}
