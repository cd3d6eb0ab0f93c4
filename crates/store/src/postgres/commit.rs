//! The commit of a transition: compare-and-set on the run's row, then everything that hangs on it, in one statement for
//! a whole batch. Which rows change is decided in core; what must hold is judged inside the statement.

use std::sync::LazyLock;

use effectgate_core::{
    digest::Digest,
    ids::RunId,
    run::{Lease, Run, RunState},
    time::Timestamp,
    transition::{LeaseGuard, LeaseWrite, SendingGuard, Transition},
};
use tokio_postgres::Row;

use super::{
    approval::{self, APPROVALS, TOKENS},
    asked::{self, ASKED},
    batch::{Fate, OpId, Seen, Work},
    columns::{Kind::*, Rows, Shape, expand},
    connect::Link,
    effect::{self, ATTEMPTS, EFFECTS},
    journal::{self, ENTRIES},
    notice::{self, NOTICES},
    tx::{self, Fault, moment, now},
};
use crate::{Result, StoreError, row, types::Commit};

/// A run's row as it shall be, and what must hold for it.
const RUNS: Shape = Shape {
    name: "o",
    columns: &[
        ("run_id", Blob),
        ("tenant", Text),
        ("expected_seq", Int),
        ("flow_revision", Text),
        ("state", Text),
        ("reason", Text),
        ("version", Int),
        ("owner", Text),
        ("fence", Int),
        ("lease", Text),
        ("lease_ms", Int),
        ("lease_total_ms", Int),
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
        ("updated_at", Int),
        ("expires_at", Int),
        ("content_expires_at", Int),
        ("journal_kept_ms", Int),
        ("guard", Text),
        ("guard_owner", Text),
        ("guard_fence", Int),
        ("sending", Text),
        ("sending_n", Int),
        ("sending_fence", Int),
        ("switched", Flag),
        ("s_flow", Text),
        ("s_provider", Text),
        ("s_type", Text),
    ],
};
const CONTENTS: Shape = Shape {
    name: "c",
    columns: &[("run_id", Blob), ("payload", Text), ("output", Text), ("result", Text), ("proposal", Text)],
};
const ANSWERS: Shape = Shape { name: "a", columns: &[("run_id", Blob), ("call", Blob), ("body", Text)] };

/// Judges with the row in hand (HC-05): `held` waits for each row's lock, one by one in the order of ids; only then is
/// the clock read, once for the row (`timed`), and only by that is `won` judged. A guard in the WHERE of an UPDATE would
/// be judged before the wait, and not again if the holder changed nothing. LATERAL keeps the look by key a look by key,
/// `IS TRUE` makes the tests for a won run hashed looks instead of nested loops.
///
/// The rest of the statement sees the state before it; that is the state the transition was made from, because the
/// length of the journal is still the one that its caller read.
///
/// The last line fails the whole statement (division by zero) if an effect that is to be changed is not there.
macro_rules! commit_statement {
    ($counts:literal, $judged:literal, $and:literal, $charge:literal, $tail:literal, $cells:literal) => {
        concat!(
    "WITH held AS MATERIALIZED (
  SELECT o.*, r.at_seq, r.at_state, r.at_owner, r.at_fence, r.at_lease_end FROM {o}
  CROSS JOIN LATERAL (SELECT journal_seq AS at_seq, runs.state AS at_state, runs.owner AS at_owner,
      runs.fence AS at_fence, lease_expires_at AS at_lease_end
    FROM runs WHERE runs.run_id = o.run_id AND runs.tenant = o.tenant FOR UPDATE) r)",
    $counts,
    ",
timed AS MATERIALIZED (SELECT *, ",
    now!(),
    " AS clock",
    $judged,
    " FROM held),
won AS (UPDATE runs SET
    flow_revision = h.flow_revision, state = h.state, reason = h.reason, version = h.version, owner = h.owner,
    fence = h.fence,
    lease_since = CASE h.lease WHEN 'grant' THEN h.clock WHEN 'clear' THEN NULL ELSE runs.lease_since END,
    lease_expires_at = CASE h.lease WHEN 'grant' THEN h.clock + h.lease_ms * 1000
      WHEN 'renew' THEN least(h.clock + h.lease_ms * 1000, runs.lease_since + h.lease_total_ms * 1000)
      WHEN 'clear' THEN NULL ELSE runs.lease_expires_at END,
    attempts = h.attempts, attempts_max = h.attempts_max, repairs_used = h.repairs_used, takeovers = h.takeovers,
    effects_total = h.effects_total, effects_open = h.effects_open, effects_failed = h.effects_failed,
    effects_cancelled = h.effects_cancelled, refusals = h.refusals, next_attempt_at = h.next_attempt_at,
    journal_seq = h.journal_seq, journal_head = h.journal_head, updated_at = h.updated_at,
    expires_at = h.expires_at, content_expires_at = h.content_expires_at,
    journal_kept_ms = coalesce(h.journal_kept_ms, runs.journal_kept_ms)
  FROM timed h
  WHERE runs.run_id = h.run_id AND h.at_seq = h.expected_seq
    AND CASE h.guard WHEN 'any' THEN true
      WHEN 'live' THEN h.at_state = 'processing' AND h.at_owner = h.guard_owner AND h.at_fence = h.guard_fence
        AND h.at_lease_end > h.clock
      WHEN 'over' THEN h.at_lease_end <= h.clock
      WHEN 'free' THEN h.at_state <> 'processing' OR h.at_lease_end <= h.clock ELSE false END
    AND (h.sending = 'any' OR EXISTS (SELECT 1 FROM effects e
      WHERE e.run_id = h.run_id AND e.n = h.sending_n AND e.fence = h.sending_fence AND e.state = 'sending'
        AND CASE h.sending WHEN 'live' THEN e.lease_expires_at > h.clock
          WHEN 'over' THEN e.lease_expires_at <= h.clock ELSE false END))
    AND NOT (h.switched AND EXISTS (SELECT 1 FROM switches s WHERE NOT s.enabled AND (s.scope, s.name) IN (('all', ''),
      ('tenant', h.tenant), ('flow', h.s_flow), ('provider', h.s_provider), ('effect_type', h.s_type))))",
    $and,
    "
  RETURNING runs.run_id, runs.lease_since, runs.lease_expires_at, h.clock),
fx AS MATERIALIZED (SELECT e.* FROM {e} WHERE (e.run_id IN (SELECT run_id FROM won)) IS TRUE),
fx_new AS (INSERT INTO effects (run_id, n, type, target, provider, executor, state, reason, payload, decided,
    provider_key, external_id, fence, attempts, due_at, lease_expires_at, first_sent_at, unknown_since, created_at,
    updated_at, charged)
  SELECT run_id, n, type, target, provider, executor, state, reason, payload, decided, provider_key, external_id, fence,
    attempts, due_at, ",
    now!(),
    " + sending_ms * 1000, first_sent_at, unknown_since, created_at, updated_at, charged
  FROM fx WHERE is_new),
fx_old AS (UPDATE effects t SET state = f.state, reason = f.reason, payload = f.payload, decided = f.decided,
    external_id = f.external_id, fence = f.fence, attempts = f.attempts, due_at = f.due_at,
    lease_expires_at = CASE WHEN f.sends_on THEN t.lease_expires_at ELSE ",
    now!(),
    " + f.sending_ms * 1000 END,
    first_sent_at = f.first_sent_at, unknown_since = f.unknown_since, updated_at = f.updated_at,
    charged = f.charged
  FROM fx f WHERE t.run_id = f.run_id AND t.n = f.n AND NOT f.is_new RETURNING 1),
att AS (INSERT INTO attempts (run_id, effect_n, fence, started_at, ended_at, class, phase, bytes_sent, status, detail,
    handle)
  SELECT * FROM {t} WHERE (t.run_id IN (SELECT run_id FROM won)) IS TRUE
  ON CONFLICT (run_id, effect_n, fence) DO UPDATE SET ended_at = excluded.ended_at, class = excluded.class,
    phase = excluded.phase, bytes_sent = excluded.bytes_sent, status = excluded.status, detail = excluded.detail,
    handle = excluded.handle),
ap AS (INSERT INTO approvals (run_id, n, state, effects_hash, proposed, terms, decisions, created_at, expires_at,
    next_step_at, decided_at, edits)
  SELECT * FROM {p} WHERE (p.run_id IN (SELECT run_id FROM won)) IS TRUE
  ON CONFLICT (run_id, n) DO UPDATE SET state = excluded.state, effects_hash = excluded.effects_hash,
    proposed = excluded.proposed, terms = excluded.terms, decisions = excluded.decisions,
    expires_at = excluded.expires_at, next_step_at = excluded.next_step_at, decided_at = excluded.decided_at,
    edits = excluded.edits
  RETURNING run_id, n),
qs AS MATERIALIZED (SELECT q.* FROM {q} WHERE (q.run_id IN (SELECT run_id FROM won)) IS TRUE),
qs_old AS (DELETE FROM asked t USING ap WHERE t.run_id = ap.run_id AND t.n = ap.n
  AND NOT EXISTS (SELECT 1 FROM qs WHERE qs.run_id = t.run_id AND qs.n = t.n AND qs.member = t.member)),
qs_new AS (INSERT INTO asked AS old (run_id, n, member, tenant, risk_rank, created_at, expires_at) SELECT * FROM qs
  ON CONFLICT (run_id, n, member) DO UPDATE SET risk_rank = excluded.risk_rank, expires_at = excluded.expires_at
  WHERE (old.risk_rank, old.expires_at) <> (excluded.risk_rank, excluded.expires_at)),
tk AS (INSERT INTO approval_tokens (run_id, approval_n, hash, audience, created_at, expires_at)
  SELECT * FROM {k} WHERE (k.run_id IN (SELECT run_id FROM won)) IS TRUE),
ct AS (INSERT INTO contents AS old (run_id, payload, output, result, proposal)
  SELECT * FROM {c} WHERE (c.run_id IN (SELECT run_id FROM won)) IS TRUE
  ON CONFLICT (run_id) DO UPDATE SET payload = coalesce(excluded.payload, old.payload),
    output = coalesce(excluded.output, old.output), result = coalesce(excluded.result, old.result),
    proposal = coalesce(excluded.proposal, old.proposal)),
an AS (INSERT INTO answers (run_id, call, body)
  SELECT * FROM {a} WHERE (a.run_id IN (SELECT run_id FROM won)) IS TRUE ON CONFLICT DO NOTHING),
nt AS (INSERT INTO notices (run_id, n, tenant, kind, dedupe, state, attempts, due_at)
  SELECT * FROM {m} WHERE (m.run_id IN (SELECT run_id FROM won)) IS TRUE),
jn AS (INSERT INTO journal (run_id, seq, at, kind, entry, hash, op)
  SELECT * FROM {j} WHERE (j.run_id IN (SELECT run_id FROM won)) IS TRUE)",
    $charge,
    "
SELECT run_id, lease_since, lease_expires_at, clock,
  1 / CASE WHEN (SELECT count(*) FROM fx WHERE NOT is_new) = (SELECT count(*) FROM fx_old) THEN 1 ELSE 0 END",
            $cells,
            "
FROM won",
            $tail
        )
    };
}
pub(super) use commit_statement;

const COMMIT: &str = commit_statement!("", "", "", "", "", "");

/// The rows of a transition, in the order of [`rows`].
pub(super) const SHAPES: [&Shape; 10] =
    [&RUNS, &EFFECTS, &ATTEMPTS, &APPROVALS, &ASKED, &TOKENS, &CONTENTS, &ANSWERS, &NOTICES, &ENTRIES];

pub(super) static COMMIT_SQL: LazyLock<String> = LazyLock::new(|| expand(COMMIT, &SHAPES));

impl Work for Transition {
    type Answer = Commit;

    fn run_id(&self) -> RunId {
        self.run.id
    }

    fn statement() -> &'static str {
        &COMMIT_SQL
    }

    fn rows<'a>(ops: &[(&'a Self, OpId)]) -> Result<Vec<Rows<'a>>> {
        rows(ops)
    }

    fn read(row: &Row) -> Result<(RunId, Commit)> {
        run_and_lease(row).map(|(id, lease)| (id, Commit::Committed { lease }))
    }

    /// Something that was expected was not so.
    async fn unsaid(&self, _: OpId, _: &mut Link) -> Result<Commit, Fault> {
        Ok(Commit::Lost)
    }

    fn entry_seq(&self) -> i64 {
        self.expected_seq + 1
    }

    fn judge(&self, id: OpId, seen: Option<&Seen>) -> Fate<Commit> {
        let Some(seen) = seen else { return Fate::Settled(Commit::Lost) };
        let now = moment(&seen.row, row::RUNS.columns.len() + 1);
        match now.and_then(|now| Ok((row::run(&seen.row)?, row::run_lease(&seen.row, now)?))) {
            Ok((_, lease)) if seen.writer == Some(id) => Fate::Settled(Commit::Committed { lease }),
            Ok((Run { head, .. }, _)) if head.seq != self.expected_seq => Fate::Settled(Commit::Lost),
            Ok(_) => Fate::NotThere,
            Err(error) => Fate::Unreadable(error),
        }
    }

    fn is_change(answer: &Commit) -> bool {
        matches!(answer, Commit::Committed { .. })
    }
}

pub(super) fn rows<'a>(ops: &[(&'a Transition, OpId)]) -> Result<Vec<Rows<'a>>> {
    let [mut runs, mut effects, mut attempts, mut approvals, mut asked, mut tokens] =
        [&RUNS, &EFFECTS, &ATTEMPTS, &APPROVALS, &ASKED, &TOKENS].map(Rows::new);
    let [mut contents, mut answers, mut notices, mut entries] =
        [&CONTENTS, &ANSWERS, &NOTICES, &ENTRIES].map(Rows::new);
    for (t, id) in ops {
        push(&mut runs, t);
        effect::push_all(&mut effects, &t.effects)?;
        for attempt in &t.attempts {
            effect::push_attempt(&mut attempts, attempt)?;
        }
        approval::push_all(&mut approvals, &t.approvals)?;
        asked::push_all(&mut asked, &t.run.tenant, &t.approvals);
        t.tokens.iter().for_each(|token| approval::push_token(&mut tokens, token));
        push_content(&mut contents, t);
        push_answer(&mut answers, t);
        for told in &t.notices {
            notice::push(&mut notices, &t.run.tenant, &t.run.id, told)?;
        }
        t.entries.iter().for_each(|entry| journal::push(&mut entries, entry, *id));
    }
    Ok(vec![runs, effects, attempts, approvals, asked, tokens, contents, answers, notices, entries])
}

/// The first four cells of an answer: the run, its lease's beginning and end, and the database's clock.
pub(super) fn run_and_lease(row: &Row) -> Result<(RunId, Option<Lease>)> {
    let id: &[u8] = tx::computed(row, 0)?;
    let id = RunId::from_bytes(id).ok_or_else(|| StoreError::Corrupt {
        table: "runs",
        column: "run_id",
        row: format!("{id:02x?}"),
    })?;
    let (since, end): (Option<i64>, Option<i64>) = (tx::computed(row, 1)?, tx::computed(row, 2)?);
    let now = moment(row, 3)?;
    let ends = since.zip(end).map(|(since, end)| (Timestamp::from_micros(since), Timestamp::from_micros(end)));
    Ok((id, ends.map(|(since, end)| row::lease(since, end, now))))
}

fn push<'a>(rows: &mut Rows<'a>, t: &'a Transition) {
    let run = &t.run;
    let (lease, ms, total) = lease_write(t.lease);
    let (guard, guard_owner, guard_fence) = lease_guard(&t.lease_guard);
    let (sending, sending_n, sending_fence) = sending_guard(t.sending_guard);
    let applies = t.switch.as_ref();
    rows.push([
        run.id.as_bytes().into(),
        run.tenant.as_str().into(),
        t.expected_seq.into(),
        (&run.flow_revision).into(),
        run.state.as_str().into(),
        run.state.reason().into(),
        run.version.into(),
        run.owner.as_ref().map(|o| o.as_str()).into(),
        run.fence.0.into(),
        lease.into(),
        ms.into(),
        total.into(),
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
        run.updated_at.micros().into(),
        run.expires_at.map(Timestamp::micros).into(),
        run.content_expires_at.map(Timestamp::micros).into(),
        t.journal_kept_ms.into(),
        guard.into(),
        guard_owner.into(),
        guard_fence.into(),
        sending.into(),
        sending_n.into(),
        sending_fence.into(),
        applies.is_some().into(),
        applies.map(|a| a.flow.as_str()).into(),
        applies.map(|a| a.provider.as_str()).into(),
        applies.map(|a| a.effect_type.as_str()).into(),
    ]);
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

fn sending_guard(guard: SendingGuard) -> (&'static str, Option<i64>, Option<i64>) {
    match guard {
        SendingGuard::Any => ("any", None, None),
        SendingGuard::Live { effect, fence } => ("live", Some(i64::from(effect.n)), Some(fence.0)),
        SendingGuard::Over { effect, fence } => ("over", Some(i64::from(effect.n)), Some(fence.0)),
    }
}

/// What is not given stays as it is.
fn push_content<'a>(rows: &mut Rows<'a>, t: &'a Transition) {
    let c = &t.content;
    if !c.is_empty() {
        let [payload, output, result, proposal] = [&c.payload, &c.output, &c.result, &c.proposal].map(|x| x.as_deref());
        rows.push([t.run.id.as_bytes().into(), payload.into(), output.into(), result.into(), proposal.into()]);
    }
}

/// The first answer to a call stays the answer.
fn push_answer<'a>(rows: &mut Rows<'a>, t: &'a Transition) {
    if let Some(kept) = &t.answer {
        rows.push([t.run.id.as_bytes().into(), kept.call.as_bytes().into(), (&kept.body).into()]);
    }
}

/// True if other replicas have reason to look at once: something to send, or somebody to tell.
pub(super) fn makes_work(t: &Transition) -> bool {
    use effectgate_core::effect::EffectState::{Pending, Scheduled, Unknown};
    let due = |state| matches!(state, Pending { .. } | Scheduled { .. } | Unknown { .. });
    !t.notices.is_empty() || t.effects.iter().any(|e| due(e.effect.state)) || t.run.state == RunState::Queued
}
