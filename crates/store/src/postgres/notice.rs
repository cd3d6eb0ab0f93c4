//! Notices: which are due, who sends one, and how it went.

use effectgate_core::{
    ids::{RunId, Tenant},
    notice::Notice,
    time::Timestamp,
};

use super::{
    columns::{Kind::*, Rows, Shape},
    pool::Pool,
    tx::{self, now},
};
use crate::{
    Result,
    row::{self, notice_columns},
    types::DueNotice,
};

pub(super) const DUE: &str = concat!(
    "SELECT ",
    notice_columns!(),
    " FROM notices m WHERE m.state = 'pending' AND m.due_at <= (SELECT ",
    now!(),
    ") ORDER BY m.due_at, m.run_id, m.n LIMIT $1"
);

pub(super) async fn due(pool: &Pool, limit: u32) -> Result<Vec<DueNotice>> {
    pool.list(DUE, &[&i64::from(limit)], row::due_notice).await
}

pub(super) const CLAIM: &str = "UPDATE notices SET attempts = attempts + 1, due_at = $4
WHERE run_id = $1 AND n = $2 AND state = 'pending' AND attempts = $3";

pub(super) async fn claim(pool: &Pool, due: &DueNotice, until: Timestamp) -> Result<bool> {
    let attempts = i64::from(due.notice.attempts);
    let claimed = pool.write(CLAIM, &[&due.run.as_bytes(), &due.notice.n, &attempts, &until.micros()]).await?;
    Ok(claimed == 1)
}

/// Never out of an end: a slow sender does not take back what a later one has done. Attempts only rise.
const SETTLE: &str = "UPDATE notices SET state = $3, due_at = $4, attempts = greatest(attempts, $5)
WHERE run_id = $1 AND n = $2 AND state = 'pending'";

pub(super) async fn settle(pool: &Pool, run: RunId, notice: &Notice) -> Result<()> {
    let (state, attempts) = (notice.state.as_str(), i64::from(notice.attempts));
    pool.write(SETTLE, &[&run.as_bytes(), &notice.n, &state, &notice.due_at.micros(), &attempts]).await.map(drop)
}

pub(super) const SENT_SINCE: &str =
    "SELECT EXISTS (SELECT 1 FROM notices WHERE state = 'sent' AND dedupe = $1 AND due_at >= $2)";

pub(super) async fn sent_since(pool: &Pool, dedupe: &str, since: Timestamp) -> Result<bool> {
    Ok(pool.first(SENT_SINCE, &[&dedupe, &since.micros()], |r| tx::computed(r, 0)).await?.unwrap_or(false))
}

/// Notices on their way into a statement.
pub(super) const NOTICES: Shape = Shape {
    name: "m",
    columns: &[
        ("run_id", Blob),
        ("n", Int),
        ("tenant", Text),
        ("kind", Text),
        ("dedupe", Text),
        ("state", Text),
        ("attempts", Int),
        ("due_at", Int),
    ],
};

pub(super) fn push<'a>(rows: &mut Rows<'a>, tenant: &'a Tenant, run: &'a RunId, notice: &'a Notice) -> Result<()> {
    rows.push([
        run.as_bytes().into(),
        notice.n.into(),
        tenant.as_str().into(),
        row::json(&notice.kind)?.into(),
        (&notice.dedupe).into(),
        notice.state.as_str().into(),
        notice.attempts.into(),
        notice.due_at.micros().into(),
    ]);
    Ok(())
}
