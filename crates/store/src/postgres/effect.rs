//! The outbox: what is due, lost or unknown, and the rows that a transition writes.

use effectgate_core::{
    digest::Digest,
    effect::{Attempt, Effect, EffectState, Executor},
    ids::{EffectId, ProviderName, RunId, Tenant},
    time::Timestamp,
    transition::EffectWrite,
};

use super::{
    columns::{Kind::*, Rows, Shape},
    pool::Pool,
    tx::now,
};
use crate::{
    Result,
    row::{self, attempt_columns, effect_columns, run_columns},
    types::{DueEffect, EffectFilter, Page},
};

/// A plain read, without FOR UPDATE SKIP LOCKED: a lock would end with the statement, before the claim. The claim is a
/// commit of its own, by compare-and-set; of two replicas that read the same rows one wins each, and the other is told.
pub(super) const DUE: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e JOIN runs r ON r.run_id = e.run_id
WHERE e.provider = $1 AND e.state IN ('pending', 'scheduled') AND e.executor = 'dispatcher' AND e.due_at <= (SELECT ",
    now!(),
    ")
  AND NOT EXISTS (SELECT 1 FROM switches s WHERE NOT s.enabled AND (s.scope, s.name) IN (('all', ''),
    ('tenant', r.tenant), ('flow', r.flow), ('provider', e.provider), ('effect_type', e.type)))
ORDER BY e.due_at, e.run_id, e.n LIMIT $2"
);

pub(super) async fn due(pool: &Pool, provider: &ProviderName, limit: u32) -> Result<Vec<DueEffect>> {
    pool.list(DUE, &[&provider.as_str(), &i64::from(limit)], row::due_effect).await
}

/// As above, for what waits for a budget: room may have come before its moment.
pub(super) const WAITING: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e JOIN runs r ON r.run_id = e.run_id
WHERE e.provider = $1 AND e.state = 'pending' AND e.executor = 'dispatcher'
  AND e.reason IN ('budget_used_up', 'budget_too_small') AND e.due_at > (SELECT ",
    now!(),
    ")
  AND NOT EXISTS (SELECT 1 FROM switches s WHERE NOT s.enabled AND (s.scope, s.name) IN (('all', ''),
    ('tenant', r.tenant), ('flow', r.flow), ('provider', e.provider), ('effect_type', e.type)))
ORDER BY e.due_at, e.run_id, e.n LIMIT $2"
);

pub(super) async fn waiting(pool: &Pool, provider: &ProviderName, limit: u32) -> Result<Vec<DueEffect>> {
    pool.list(WAITING, &[&provider.as_str(), &i64::from(limit)], row::due_effect).await
}

pub(super) const LOST: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e JOIN runs r ON r.run_id = e.run_id
WHERE e.state = 'sending' AND e.lease_expires_at <= (SELECT ",
    now!(),
    ") ORDER BY e.lease_expires_at, e.run_id, e.n LIMIT $1"
);

pub(super) async fn lost(pool: &Pool, limit: u32) -> Result<Vec<DueEffect>> {
    pool.list(LOST, &[&i64::from(limit)], row::due_effect).await
}

pub(super) const UNKNOWN: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e JOIN runs r ON r.run_id = e.run_id
WHERE e.state = 'unknown' AND e.due_at <= (SELECT ",
    now!(),
    ") ORDER BY e.due_at, e.run_id, e.n LIMIT $1"
);

pub(super) async fn unknown(pool: &Pool, limit: u32) -> Result<Vec<DueEffect>> {
    pool.list(UNKNOWN, &[&i64::from(limit)], row::due_effect).await
}

/// In the order of the index of what is open. Names the states once more for the planner, as [`FIND_OPEN_OLDEST`] does.
pub(super) const REVIEW: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e JOIN runs r ON r.run_id = e.run_id
WHERE e.state = 'review' AND e.state IN ('scheduled', 'pending', 'sending', 'unknown', 'review')
  AND e.due_at <= $1 AND (e.updated_at, e.run_id, e.n) > ($2, $3, $4) ORDER BY e.updated_at, e.run_id, e.n LIMIT $5"
);

pub(super) async fn review(
    pool: &Pool,
    since: Timestamp,
    after: Option<&Effect>,
    limit: u32,
) -> Result<Vec<DueEffect>> {
    let at = after.map_or(i64::MIN, |last| last.updated_at.micros());
    let run = after.map_or(&[][..], |last| last.id.run.as_bytes());
    let n = after.map_or(0, |last| i64::from(last.id.n));
    pool.list(REVIEW, &[&since.micros(), &at, &run, &n, &i64::from(limit)], row::due_effect).await
}

pub(super) const FIND: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", ",
    effect_columns!(),
    " FROM effects e JOIN runs r ON r.run_id = e.run_id
WHERE r.tenant = $1 AND (e.updated_at, e.run_id, e.n) < ($2, $3, $4)
  AND (cardinality($5::text[]) = 0 OR e.state = ANY ($5))
  AND ($6::text IS NULL OR e.provider = $6)
ORDER BY e.updated_at DESC, e.run_id DESC, e.n DESC LIMIT $7"
);

/// One state that is not final: a seek in the index of those, however many effects have ended. Names the states once
/// more for the planner, which takes a partial index only where the condition stands.
macro_rules! find_open {
    ($order:literal, $beyond:literal) => {
        concat!(
            "SELECT ",
            run_columns!(),
            ", ",
            effect_columns!(),
            " FROM effects e JOIN runs r ON r.run_id = e.run_id
WHERE e.state = ($5::text[])[1] AND e.state IN ('scheduled', 'pending', 'sending', 'unknown', 'review')
  AND r.tenant = $1 AND (e.updated_at, e.run_id, e.n) ",
            $beyond,
            " ($2, $3, $4) AND ($6::text IS NULL OR e.provider = $6)
ORDER BY e.updated_at ",
            $order,
            ", e.run_id ",
            $order,
            ", e.n ",
            $order,
            " LIMIT $7"
        )
    };
}
pub(super) const FIND_OPEN_NEWEST: &str = find_open!("DESC", "<");
pub(super) const FIND_OPEN_OLDEST: &str = find_open!("ASC", ">");

pub(super) async fn find(pool: &Pool, tenant: &Tenant, filter: &EffectFilter) -> Result<Page<DueEffect>> {
    let is_oldest_first = filter.is_oldest_first();
    let sql = match (filter.one_open_state().is_some(), is_oldest_first) {
        (true, true) => FIND_OPEN_OLDEST,
        (true, false) => FIND_OPEN_NEWEST,
        (false, _) => FIND,
    };
    let before = filter.cursor.as_deref().map(row::parse_cursor::<EffectId>).transpose()?;
    let first = if is_oldest_first { i64::MIN } else { i64::MAX };
    let at = before.as_ref().map_or(first, |(at, _)| at.micros());
    let run = before.as_ref().map_or(&[][..], |(_, id)| id.run.as_bytes());
    let n = before.as_ref().map_or(0, |(_, id)| i64::from(id.n));
    let provider = filter.provider.as_ref().map(ProviderName::as_str);
    let limit = row::page_limit(filter.limit);
    let limit_and_one = i64::from(limit) + 1;
    let found = pool
        .list(sql, &[&tenant.as_str(), &at, &run, &n, &filter.states, &provider, &limit_and_one], |r| {
            let due = row::due_effect(r)?;
            let cursor = row::cursor(due.effect.updated_at, due.effect.id);
            Ok((due, cursor))
        })
        .await?;
    Ok(row::page(found, limit))
}

pub(super) const ATTEMPTS_OF: &str =
    concat!("SELECT ", attempt_columns!(), " FROM attempts a WHERE a.run_id = $1 ORDER BY a.effect_n, a.fence");

pub(super) async fn attempts(pool: &Pool, run: RunId) -> Result<Vec<Attempt>> {
    pool.list(ATTEMPTS_OF, &[&run.as_bytes()], row::attempt).await
}

/// Effects on their way into a statement. Differs: the statement itself stands in [`super::commit`], because a batch
/// is one.
pub(super) const EFFECTS: Shape = Shape {
    name: "e",
    columns: &[
        ("run_id", Blob),
        ("n", Int),
        ("type", Text),
        ("target", Text),
        ("provider", Text),
        ("executor", Text),
        ("state", Text),
        ("reason", Text),
        ("payload", Text),
        ("decided", Blob),
        ("provider_key", Text),
        ("external_id", Text),
        ("fence", Int),
        ("attempts", Int),
        ("due_at", Int),
        ("sending_ms", Int),
        ("sends_on", Flag),
        ("first_sent_at", Int),
        ("unknown_since", Int),
        ("created_at", Int),
        ("updated_at", Int),
        ("is_new", Flag),
        ("charged", Text),
    ],
};

/// Each effect once, as it shall be in the end: one statement changes a row once.
pub(super) fn push_all<'a>(rows: &mut Rows<'a>, writes: &'a [EffectWrite]) -> Result<()> {
    for (place, write) in writes.iter().enumerate() {
        let id = write.effect.id;
        if writes[place + 1..].iter().any(|later| later.effect.id == id) {
            continue;
        }
        let is_new = writes[..=place].iter().any(|w| w.effect.id == id && w.is_new);
        push(rows, write, is_new)?;
    }
    Ok(())
}

fn push<'a>(rows: &mut Rows<'a>, w: &'a EffectWrite, is_new: bool) -> Result<()> {
    let e = &w.effect;
    let sends_on = e.state == EffectState::Sending && e.executor == Executor::Dispatcher && w.sending_ms.is_none();
    rows.push([
        e.id.run.as_bytes().into(),
        e.id.n.into(),
        e.effect_type.as_str().into(),
        (&e.target).into(),
        e.provider.as_str().into(),
        e.executor.as_str().into(),
        e.state.as_str().into(),
        e.reason.as_deref().into(),
        (&e.payload).into(),
        e.decided.as_ref().map(Digest::as_bytes).into(),
        (&e.provider_key).into(),
        e.external_id.as_deref().into(),
        e.fence.0.into(),
        e.attempts.into(),
        e.state.due_at().map(Timestamp::micros).into(),
        w.sending_ms.into(),
        sends_on.into(),
        e.first_sent_at.map(Timestamp::micros).into(),
        e.unknown_since.map(Timestamp::micros).into(),
        e.created_at.micros().into(),
        e.updated_at.micros().into(),
        is_new.into(),
        row::charged_cell(e)?.into(),
    ]);
    Ok(())
}

pub(super) const ATTEMPTS: Shape = Shape {
    name: "t",
    columns: &[
        ("run_id", Blob),
        ("effect_n", Int),
        ("fence", Int),
        ("started_at", Int),
        ("ended_at", Int),
        ("class", Text),
        ("phase", Text),
        ("bytes_sent", Int),
        ("status", Int),
        ("detail", Text),
        ("handle", Text),
    ],
};

/// An attempt is written when it starts and again when it ends.
pub(super) fn push_attempt<'a>(rows: &mut Rows<'a>, a: &'a Attempt) -> Result<()> {
    let end = a.end.as_ref();
    rows.push([
        a.effect.run.as_bytes().into(),
        a.effect.n.into(),
        a.fence.0.into(),
        a.started_at.micros().into(),
        end.map(|e| e.at.micros()).into(),
        end.map(|e| e.class.as_str()).into(),
        end.map(|e| row::word_of(&e.phase)).transpose()?.into(),
        end.map(|e| e.bytes_sent).into(),
        end.and_then(|e| e.status).map(i64::from).into(),
        end.and_then(|e| e.detail.as_deref()).into(),
        end.and_then(|e| e.handle.as_deref()).into(),
    ]);
    Ok(())
}
