//! Rows of `replays` and `replay_items`.

use effectgate_core::ids::{ReplayId, Tenant};

use super::{Cells, Reader, table};
use crate::{
    Result,
    types::{ReplayFound, ReplayItem, ReplayItemState, ReplayRow, ReplayStage},
};

table!(
    REPLAYS,
    replay_columns,
    "replays",
    "y",
    replay_id,
    tenant,
    filter,
    run_limit,
    summary,
    made_by,
    reason,
    stage,
    made_at,
    expires_at,
    started_at,
    started_by,
    start_reason,
    ended_at,
    purge_after,
);
table!(ITEMS, replay_item_columns, "replay_items", "i", replay_id, n, run_id, version, state, planned, why, outcome);

/// Computed by the statements behind [`REPLAYS`], in this order.
const COUNTS: super::Table =
    super::Table { name: "replays", columns: &["is_expired", "waiting", "done", "skipped", "refused"] };

fn id<C: Cells>(r: &Reader<'_, C>) -> Result<ReplayId> {
    r.opt_blob("replay_id")?.and_then(|bytes| ReplayId::from_bytes(&bytes)).ok_or_else(|| r.corrupt("replay_id"))
}

/// A plan with its counts behind it.
pub(crate) fn replay<C: Cells>(cells: &C) -> Result<ReplayFound> {
    let r = Reader::new(cells, &REPLAYS, 0);
    let counts = Reader::new(cells, &COUNTS, REPLAYS.columns.len());
    let row = ReplayRow {
        id: id(&r)?,
        tenant: Tenant::new(r.text("tenant")?),
        filter: r.json("filter")?,
        limit: r.small("run_limit")?,
        summary: r.text("summary")?,
        made_by: r.text("made_by")?,
        reason: r.text("reason")?,
        stage: r.word("stage", ReplayStage::parse)?,
        made_at: r.time("made_at")?,
        expires_at: r.time("expires_at")?,
        started_at: r.opt_time("started_at")?,
        started_by: r.opt_text("started_by")?,
        start_reason: r.opt_text("start_reason")?,
        ended_at: r.opt_time("ended_at")?,
        purge_after: r.time("purge_after")?,
    };
    Ok(ReplayFound {
        is_expired: row.stage == ReplayStage::Planned && counts.flag("is_expired")?,
        waiting: counts.int("waiting")?,
        done: counts.int("done")?,
        skipped: counts.int("skipped")?,
        refused: counts.int("refused")?,
        row,
    })
}

pub(crate) fn replay_item<C: Cells>(cells: &C) -> Result<ReplayItem> {
    let r = Reader::new(cells, &ITEMS, 0);
    let state = ReplayItemState::from_parts(&r.text("state")?, r.opt_text("why")?, r.opt_text("outcome")?);
    Ok(ReplayItem {
        n: r.small("n")?,
        run: r.run_id("run_id")?,
        version: r.int("version")?,
        state: state.ok_or_else(|| r.corrupt("state"))?,
        planned: r.text("planned")?,
    })
}

table!(REPLAY_REF, replay_ref_columns, "replays", "y", replay_id, tenant);

pub(crate) fn replay_ref<C: Cells>(cells: &C) -> Result<(Tenant, ReplayId)> {
    let r = Reader::new(cells, &REPLAY_REF, 0);
    Ok((Tenant::new(r.text("tenant")?), id(&r)?))
}
