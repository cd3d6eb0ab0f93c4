//! Rows of `runs`, `contents` and `journal`.

use effectgate_core::{
    ids::{Fence, FlowName, Owner, Tenant},
    journal::{Head, SealedEntry},
    payload::PayloadHash,
    run::{EffectCounts, Lease, Run, RunState},
    time::Timestamp,
};

use super::{Cells, Reader, table};
use crate::{
    Result,
    types::{Content, Page, RunFilter},
};

table!(
    RUNS,
    run_columns,
    "runs",
    "r",
    run_id,
    tenant,
    flow,
    flow_revision,
    key,
    state,
    reason,
    version,
    payload_hash,
    identity_rule,
    owner,
    fence,
    lease_since,
    lease_expires_at,
    attempts,
    attempts_max,
    repairs_used,
    takeovers,
    effects_total,
    effects_open,
    effects_failed,
    effects_cancelled,
    refusals,
    next_attempt_at,
    journal_seq,
    journal_head,
    origin,
    created_at,
    updated_at,
    expires_at,
    content_expires_at,
);
table!(CONTENTS, content_columns, "contents", "c", payload, output, result, proposal);
table!(JOURNAL, journal_columns, "journal", "j", run_id, seq, at, kind, entry, hash);

/// A run; its cells are the row's first.
pub(crate) fn run<C: Cells>(cells: &C) -> Result<Run> {
    let r = Reader::new(cells, &RUNS, 0);
    let state = RunState::from_parts(&r.text("state")?, r.opt_text("reason")?, r.opt_time("next_attempt_at")?);
    Ok(Run {
        id: r.run_id("run_id")?,
        tenant: Tenant::new(r.text("tenant")?),
        flow: FlowName::new(r.text("flow")?),
        flow_revision: r.text("flow_revision")?,
        key: r.text("key")?,
        state: state.ok_or_else(|| r.corrupt("state"))?,
        version: r.int("version")?,
        payload_hash: PayloadHash::from_bytes(r.bytes32("payload_hash")?),
        identity_rule: r.text("identity_rule")?,
        owner: r.opt_text("owner")?.map(Owner::new),
        fence: Fence(r.int("fence")?),
        attempts: r.small("attempts")?,
        attempts_max: r.small("attempts_max")?,
        repairs_used: r.small("repairs_used")?,
        takeovers: r.small("takeovers")?,
        effects: EffectCounts {
            total: r.small("effects_total")?,
            open: r.small("effects_open")?,
            failed: r.small("effects_failed")?,
            cancelled: r.small("effects_cancelled")?,
        },
        refusals: r.small("refusals")?,
        head: Head { seq: r.int("journal_seq")?, hash: Some(r.digest("journal_head")?) },
        origin: r.json("origin")?,
        created_at: r.time("created_at")?,
        updated_at: r.time("updated_at")?,
        expires_at: r.opt_time("expires_at")?,
        content_expires_at: r.opt_time("content_expires_at")?,
    })
}

/// The lease of the same row, judged at `now`: the database's clock in that statement.
pub(crate) fn run_lease<C: Cells>(cells: &C, now: Timestamp) -> Result<Option<Lease>> {
    let r = Reader::new(cells, &RUNS, 0);
    match (r.opt_time("lease_since")?, r.opt_time("lease_expires_at")?) {
        (Some(since), Some(expires_at)) => Ok(Some(lease(since, expires_at, now))),
        (None, None) => Ok(None),
        _ => Err(r.corrupt("lease_expires_at")),
    }
}

/// A lease with what the database's clock says of it.
pub(crate) fn lease(since: Timestamp, expires_at: Timestamp, now: Timestamp) -> Lease {
    Lease { since, expires_at, is_live: expires_at > now, left_ms: expires_at.ms_since(now) }
}

pub(crate) fn content<C: Cells>(cells: &C) -> Result<Content> {
    let r = Reader::new(cells, &CONTENTS, 0);
    Ok(Content {
        payload: r.opt_text("payload")?,
        output: r.opt_text("output")?,
        result: r.opt_text("result")?,
        proposal: r.opt_text("proposal")?,
    })
}

pub(crate) fn entry<C: Cells>(cells: &C) -> Result<SealedEntry> {
    let r = Reader::new(cells, &JOURNAL, 0);
    Ok(SealedEntry {
        run: r.run_id("run_id")?,
        seq: r.int("seq")?,
        at: r.time("at")?,
        kind: r.text("kind")?,
        text: r.text("entry")?,
        hash: r.digest("hash")?,
    })
}

/// The runs that bear a key, one for each flow at most, as one page: what else the filter demands, newest first.
pub(crate) fn page_of_key(mut runs: Vec<Run>, filter: &RunFilter) -> Page<Run> {
    let fits = |run: &Run| {
        filter.cursor.is_none()
            && filter.state.as_ref().is_none_or(|state| run.state.as_str() == state)
            && filter.since.is_none_or(|since| run.created_at >= since)
            && filter.until.is_none_or(|until| run.created_at < until)
    };
    runs.retain(fits);
    runs.sort_by_key(|run| std::cmp::Reverse((run.created_at, run.id)));
    Page { items: runs, next: None }
}

/// How an entry of this actor begins: its text is canonical, and the actor is its first member.
pub(crate) fn actor_prefix(actor: &str) -> Result<String> {
    Ok(format!("{{\"actor\":{},\"at\":", super::json(actor)?))
}
