//! Rows of `approvals`, `approval_tokens` and `notices`.

use effectgate_core::{
    approval::{Approval, ApprovalState},
    ids::{ApprovalId, Tenant},
    notice::{Notice, NoticeState},
    time::Timestamp,
};

use super::{Cells, RUNS, Reader, run, table};
use crate::{
    Result,
    types::{ApprovalItem, DueNotice, TokenHit},
};

table!(
    APPROVALS,
    approval_columns,
    "approvals",
    "p",
    run_id,
    n,
    state,
    effects_hash,
    proposed,
    terms,
    decisions,
    created_at,
    expires_at,
    next_step_at,
    decided_at,
    edits,
);
/// Tokens joined with the run's tenant: the statement names `r.tenant` last.
pub(crate) const TOKENS: super::Table =
    super::Table { name: "approval_tokens", columns: &["run_id", "approval_n", "audience", "expires_at", "tenant"] };
/// The columns of [`TOKENS`].
macro_rules! token_columns {
    () => {
        "t.run_id, t.approval_n, t.audience, t.expires_at, r.tenant"
    };
}
pub(crate) use token_columns;
table!(NOTICES, notice_columns, "notices", "m", run_id, n, tenant, kind, dedupe, state, attempts, due_at);

pub(crate) fn approval<C: Cells>(cells: &C) -> Result<Approval> {
    approval_at(cells, 0)
}

/// Edits as their column: NULL where there are none, as after an erasure.
pub(crate) fn edits_of(approval: &Approval) -> Result<Option<String>> {
    if approval.edits.is_empty() { Ok(None) } else { super::json(&approval.edits).map(Some) }
}

/// A row of [`RUNS`] followed by [`APPROVALS`].
pub(crate) fn approval_item<C: Cells>(cells: &C) -> Result<ApprovalItem> {
    Ok(ApprovalItem { run: run(cells)?, approval: approval_at(cells, RUNS.columns.len())? })
}

fn approval_at<C: Cells>(cells: &C, offset: usize) -> Result<Approval> {
    let r = Reader::new(cells, &APPROVALS, offset);
    Ok(Approval {
        id: ApprovalId { run: r.run_id("run_id")?, n: r.small("n")? },
        state: r.word("state", ApprovalState::parse)?,
        effects_hash: r.digest("effects_hash")?,
        proposed: r.json("proposed")?,
        terms: r.json("terms")?,
        decisions: r.json("decisions")?,
        edits: r.opt_text("edits")?.map_or_else(|| Ok(Vec::new()), |_| r.json("edits"))?,
        created_at: r.time("created_at")?,
        expires_at: r.time("expires_at")?,
        next_step_at: r.opt_time("next_step_at")?,
        decided_at: r.opt_time("decided_at")?,
    })
}

pub(crate) fn token_hit<C: Cells>(cells: &C, now: Timestamp) -> Result<TokenHit> {
    let r = Reader::new(cells, &TOKENS, 0);
    let expires_at = r.time("expires_at")?;
    Ok(TokenHit {
        tenant: Tenant::new(r.text("tenant")?),
        approval: ApprovalId { run: r.run_id("run_id")?, n: r.small("approval_n")? },
        audience: r.text("audience")?,
        expires_at,
        is_expired: expires_at <= now,
    })
}

pub(crate) fn due_notice<C: Cells>(cells: &C) -> Result<DueNotice> {
    let r = Reader::new(cells, &NOTICES, 0);
    let notice = Notice {
        n: r.int("n")?,
        kind: r.json("kind")?,
        dedupe: r.text("dedupe")?,
        due_at: r.time("due_at")?,
        attempts: r.small("attempts")?,
        state: r.word("state", NoticeState::parse)?,
    };
    Ok(DueNotice { tenant: Tenant::new(r.text("tenant")?), run: r.run_id("run_id")?, notice })
}
