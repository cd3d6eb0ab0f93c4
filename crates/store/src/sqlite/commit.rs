//! The commit of a transition: compare-and-set on the run's row, then everything that hangs on it, in one savepoint.
//! Which rows change is decided in core; what must hold is judged inside the one UPDATE.

use effectgate_core::{
    ids::RunId,
    run::Lease,
    time::Timestamp,
    transition::{ContentWrite, LeaseGuard, LeaseWrite, SendingGuard, StoredAnswer, Transition},
};
use rusqlite::{ToSql, named_params, params};

use super::{approval, charge, effect, journal, notice, tx::Tx};
use crate::{Result, row, types::Commit};

/// Everything the transition expects stands in the WHERE, so that it is judged at the write and not before.
const UPDATE: &str = "UPDATE runs SET
  flow_revision = :flow_revision, state = :state, reason = :reason, version = :version, owner = :owner, fence = :fence,
  lease_since = CASE :lease WHEN 'grant' THEN :now WHEN 'clear' THEN NULL ELSE lease_since END,
  lease_expires_at = CASE :lease WHEN 'grant' THEN :lease_end WHEN 'renew' THEN min(:lease_end, lease_since + :lease_total)
    WHEN 'clear' THEN NULL ELSE lease_expires_at END,
  attempts = :attempts, attempts_max = :attempts_max, repairs_used = :repairs_used, takeovers = :takeovers,
  effects_total = :total, effects_open = :open, effects_failed = :failed, effects_cancelled = :cancelled,
  refusals = :refusals, next_attempt_at = :next_attempt_at, journal_seq = :seq, journal_head = :head,
  updated_at = :updated_at, expires_at = :expires_at, content_expires_at = :content_expires_at,
  journal_kept_ms = coalesce(:journal_kept_ms, journal_kept_ms)
WHERE run_id = :run AND tenant = :tenant AND journal_seq = :expected_seq
  AND CASE :guard
    WHEN 'any' THEN 1
    WHEN 'live' THEN state = 'processing' AND owner = :guard_owner AND fence = :guard_fence AND lease_expires_at > :now
    WHEN 'over' THEN lease_expires_at <= :now
    WHEN 'free' THEN state <> 'processing' OR lease_expires_at <= :now
    ELSE 0 END
  AND (:sending = 'any' OR EXISTS (SELECT 1 FROM effects e
    WHERE e.run_id = :run AND e.n = :sending_n AND e.fence = :sending_fence AND e.state = 'sending'
      AND CASE :sending WHEN 'live' THEN e.lease_expires_at > :now WHEN 'over' THEN e.lease_expires_at <= :now ELSE 0 END))
  AND NOT EXISTS (SELECT 1 FROM switches s WHERE :switched AND s.enabled = 0 AND (s.scope, s.name) IN (VALUES
    ('all', ''), ('tenant', :s_tenant), ('flow', :s_flow), ('provider', :s_provider), ('effect_type', :s_type)))
RETURNING lease_since, lease_expires_at";

pub(super) fn commit(tx: &Tx<'_>, t: &Transition) -> Result<Commit> {
    if let Some(over) = charge::in_the_way(tx, &t.charges)? {
        return Ok(over);
    }
    let Some(lease) = update(tx, t)? else { return Ok(Commit::Lost) };
    charge::add(tx, &t.charges)?;
    for write in &t.effects {
        effect::write(tx, write)?;
    }
    for attempt in &t.attempts {
        effect::write_attempt(tx, attempt)?;
    }
    approval::write(tx, &t.run.tenant, &t.approvals)?;
    for token in &t.tokens {
        approval::write_token(tx, token)?;
    }
    if !t.content.is_empty() {
        content(tx, t.run.id, &t.content)?;
    }
    if let Some(kept) = &t.answer {
        answer(tx, t.run.id, kept)?;
    }
    for told in &t.notices {
        notice::write(tx, &t.run.tenant, t.run.id, told)?;
    }
    journal::append(tx, &t.entries)?;
    Ok(Commit::Committed { lease })
}

/// The run's lease after the update; `None` on the outside if something expected was not so.
fn update(tx: &Tx<'_>, t: &Transition) -> Result<Option<Option<Lease>>> {
    let run = &t.run;
    let (lease, ms, total) = lease_write(t.lease);
    let (guard, guard_owner, guard_fence) = lease_guard(&t.lease_guard);
    let (sending, sending_n, sending_fence) = sending_guard(t.sending_guard);
    let applies = t.switch.as_ref();
    let values: &[(&str, &dyn ToSql)] = named_params! {
        ":run": run.id.as_bytes(), ":tenant": run.tenant.as_str(), ":expected_seq": t.expected_seq,
        ":now": tx.now.micros(), ":flow_revision": run.flow_revision,
        ":state": run.state.as_str(), ":reason": run.state.reason(), ":version": run.version,
        ":owner": run.owner.as_ref().map(|o| o.as_str()), ":fence": run.fence.0,
        ":lease": lease, ":lease_end": tx.now.plus_ms(ms).micros(), ":lease_total": total.saturating_mul(1_000),
        ":attempts": run.attempts, ":attempts_max": run.attempts_max, ":repairs_used": run.repairs_used,
        ":takeovers": run.takeovers, ":total": run.effects.total, ":open": run.effects.open,
        ":failed": run.effects.failed, ":cancelled": run.effects.cancelled, ":refusals": run.refusals,
        ":next_attempt_at": run.state.next_attempt_at().map(Timestamp::micros),
        ":seq": run.head.seq, ":head": run.head.hash.as_ref().map(|h| &h.as_bytes()[..]),
        ":updated_at": run.updated_at.micros(), ":expires_at": run.expires_at.map(Timestamp::micros),
        ":content_expires_at": run.content_expires_at.map(Timestamp::micros),
        ":journal_kept_ms": t.journal_kept_ms,
        ":guard": guard, ":guard_owner": guard_owner, ":guard_fence": guard_fence,
        ":sending": sending, ":sending_n": sending_n, ":sending_fence": sending_fence,
        ":switched": applies.is_some(), ":s_tenant": applies.map(|a| a.tenant.as_str()),
        ":s_flow": applies.map(|a| a.flow.as_str()), ":s_provider": applies.map(|a| a.provider.as_str()),
        ":s_type": applies.map(|a| a.effect_type.as_str()),
    };
    tx.first(UPDATE, values, |r| {
        use row::Cells as _;
        let bad = |_| crate::StoreError::Corrupt { table: "runs", column: "lease_since", row: run.id.to_string() };
        let (since, end) = (r.int(0).map_err(bad)?, r.int(1).map_err(bad)?);
        let ends = since.zip(end).map(|(since, end)| (Timestamp::from_micros(since), Timestamp::from_micros(end)));
        Ok(ends.map(|(since, end)| row::lease(since, end, tx.now)))
    })
}

/// The word, the length in milliseconds and the chain's total of a lease write.
fn lease_write(write: LeaseWrite) -> (&'static str, i64, i64) {
    match write {
        LeaseWrite::Keep => ("keep", 0, 0),
        LeaseWrite::Grant { ms } => ("grant", ms, 0),
        LeaseWrite::Renew { ms, total_ms_max } => ("renew", ms, total_ms_max),
        LeaseWrite::Clear => ("clear", 0, 0),
    }
}

fn lease_guard(guard: &LeaseGuard) -> (&'static str, Option<&str>, Option<i64>) {
    match guard {
        LeaseGuard::Any => ("any", None, None),
        LeaseGuard::Live { owner, fence } => ("live", Some(owner.as_str()), Some(fence.0)),
        LeaseGuard::Over => ("over", None, None),
        LeaseGuard::Free => ("free", None, None),
    }
}

fn sending_guard(guard: SendingGuard) -> (&'static str, Option<i32>, Option<i64>) {
    match guard {
        SendingGuard::Any => ("any", None, None),
        SendingGuard::Live { effect, fence } => ("live", Some(effect.n), Some(fence.0)),
        SendingGuard::Over { effect, fence } => ("over", Some(effect.n), Some(fence.0)),
    }
}

const PUT_CONTENT: &str = "INSERT INTO contents (run_id, payload, output, result, proposal) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (run_id) DO UPDATE SET payload = coalesce(excluded.payload, payload),
  output = coalesce(excluded.output, output), result = coalesce(excluded.result, result),
  proposal = coalesce(excluded.proposal, proposal)";

/// What is not given stays as it is.
pub(super) fn content(tx: &Tx<'_>, run: RunId, c: &ContentWrite) -> Result<()> {
    tx.run(PUT_CONTENT, params![run.as_bytes(), c.payload, c.output, c.result, c.proposal]).map(drop)
}

const KEEP_ANSWER: &str = "INSERT INTO answers (run_id, call, body) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";

/// The first answer to a call stays the answer.
fn answer(tx: &Tx<'_>, run: RunId, kept: &StoredAnswer) -> Result<()> {
    tx.run(KEEP_ANSWER, params![run.as_bytes(), &kept.call.as_bytes()[..], kept.body]).map(drop)
}
