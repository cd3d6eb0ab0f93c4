//! Rows of `asked`, `profiles` and `tallies`, and the place of an approval in an inbox.

use std::collections::BTreeSet;

use effectgate_core::{
    approval::{Approval, ApprovalState, member_key},
    ids::{ApprovalId, RunId, Tenant},
    time::Timestamp,
};
use serde::Deserialize;

use super::{Cells, Reader, table};
use crate::{
    Result, StoreError,
    types::{INBOX_MEMBERS_MAX, InboxFilter, InboxOrder, ProfileRow, ProfileSource, TallyRow},
};

table!(
    PROFILES,
    profile_columns,
    "profiles",
    "f",
    subject,
    tenant,
    source,
    name,
    email,
    roles,
    language,
    zone,
    created_at,
    seen_at,
);
table!(TALLIES, tally_columns, "tallies", "y", tenant, day, name, bucket, count);
/// Computed by the inbox's statements, in this order.
pub(crate) const INBOX_KEYS: super::Table =
    super::Table { name: "asked", columns: &["run_id", "n", "risk_rank", "moment"] };

pub(crate) fn profile<C: Cells>(cells: &C) -> Result<ProfileRow> {
    let r = Reader::new(cells, &PROFILES, 0);
    Ok(ProfileRow {
        tenant: Tenant::new(r.text("tenant")?),
        subject: r.text("subject")?,
        source: r.word("source", ProfileSource::parse)?,
        name: r.text("name")?,
        email: r.opt_text("email")?,
        roles: r.json("roles")?,
        language: r.opt_text("language")?,
        zone: r.opt_text("zone")?,
        created_at: r.time("created_at")?,
        seen_at: r.time("seen_at")?,
    })
}

pub(crate) fn tally<C: Cells>(cells: &C) -> Result<TallyRow> {
    let r = Reader::new(cells, &TALLIES, 0);
    Ok(TallyRow {
        tenant: Tenant::new(r.text("tenant")?),
        day: r.small("day")?,
        name: r.text("name")?,
        bucket: r.small("bucket")?,
        count: r.int("count")?,
    })
}

/// The member under whom every open approval stands once, whoever was asked. No key is empty.
pub(crate) const EVERYBODY: &str = "";

/// An open approval's row in everybody's list and in each member's.
#[derive(Debug)]
pub(crate) struct AskedRow {
    pub(crate) approval: ApprovalId,
    pub(crate) member: String,
    /// 0 high, 1 normal, 2 low.
    pub(crate) risk_rank: i64,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

/// The rows of an approval as it shall be: none once it is not open.
pub(crate) fn asked_rows(a: &Approval) -> Vec<AskedRow> {
    if a.state != ApprovalState::Open {
        return Vec::new();
    }
    let impacts = a.proposed.iter().map(|p| p.impact.as_str());
    rows_of(a.id, a.terms.audience.iter().map(String::as_str), impacts, (a.created_at, a.expires_at))
}

fn rows_of<'a>(
    approval: ApprovalId,
    audience: impl Iterator<Item = &'a str>,
    impacts: impl Iterator<Item = &'a str>,
    (created_at, expires_at): (Timestamp, Timestamp),
) -> Vec<AskedRow> {
    let risk_rank = risk_rank(impacts);
    let members: BTreeSet<String> = std::iter::once(EVERYBODY.to_owned()).chain(audience.map(member_key)).collect();
    members.into_iter().map(|member| AskedRow { approval, member, risk_rank, created_at, expires_at }).collect()
}

/// What the migration that makes `asked` reads of an open approval: only columns of the first schema, because later
/// ones are not there yet when it runs. The statement names them in this order.
const OPEN: super::Table = super::Table {
    name: "approvals",
    columns: &["run_id", "n", "tenant", "terms", "proposed", "created_at", "expires_at"],
};

#[derive(Default, Deserialize)]
struct OpenTerms {
    audience: Vec<String>,
}

#[derive(Deserialize)]
struct OpenEffect {
    impact: String,
}

/// The rows of an approval that was open before there was `asked`. One whose texts cannot be read stands in everybody's
/// list alone: it must not stop the upgrade.
pub(crate) fn asked_of_open<C: Cells>(cells: &C) -> Result<(Tenant, RunId, Vec<AskedRow>)> {
    let r = Reader::new(cells, &OPEN, 0);
    let approval = ApprovalId { run: r.run_id("run_id")?, n: r.small("n")? };
    let terms: OpenTerms = r.json("terms").unwrap_or_default();
    let effects: Vec<OpenEffect> = r.json("proposed").unwrap_or_default();
    let (audience, impacts) = (terms.audience.iter().map(String::as_str), effects.iter().map(|e| e.impact.as_str()));
    let rows = rows_of(approval, audience, impacts, (r.time("created_at")?, r.time("expires_at")?));
    Ok((Tenant::new(r.text("tenant")?), approval.run, rows))
}

/// The highest impact counts. A word that this program does not know is not taken lightly.
fn risk_rank<'a>(impacts: impl Iterator<Item = &'a str>) -> i64 {
    let rank = |impact| match impact {
        "low" => 2,
        "normal" => 1,
        _ => 0,
    };
    impacts.map(rank).min().unwrap_or(2)
}

/// An approval's place in the inbox's order. Ordered as the list is; `risk_rank` is 0 where it does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InboxKey {
    pub(crate) risk_rank: i64,
    /// When it was asked, or when its time ends.
    pub(crate) moment: Timestamp,
    pub(crate) approval: ApprovalId,
}

pub(crate) fn inbox_key<C: Cells>(cells: &C) -> Result<InboxKey> {
    let r = Reader::new(cells, &INBOX_KEYS, 0);
    let approval = ApprovalId { run: r.run_id("run_id")?, n: r.small("n")? };
    Ok(InboxKey { risk_rank: r.int("risk_rank")?, moment: r.time("moment")?, approval })
}

/// Where a page begins: behind this place.
pub(crate) struct InboxStart {
    pub(crate) risk_rank: i64,
    pub(crate) moment: i64,
    pub(crate) run: Vec<u8>,
    pub(crate) n: i32,
}

impl InboxOrder {
    const fn word(self) -> &'static str {
        match self {
            Self::Risk => "risk",
            Self::Age => "age",
            Self::Due => "due",
        }
    }
}

/// The cursor of a page that ends with this place; it names its order.
pub(crate) fn inbox_cursor(order: InboxOrder, key: &InboxKey) -> String {
    format!("{}.{}.{}.{}", order.word(), key.risk_rank, key.moment.micros(), key.approval)
}

/// # Errors
/// [`StoreError::BadCursor`], also for a cursor of another order.
pub(crate) fn inbox_start(filter: &InboxFilter) -> Result<InboxStart> {
    let first = if filter.order == InboxOrder::Risk { -1 } else { 0 };
    let Some(cursor) = &filter.cursor else {
        return Ok(InboxStart { risk_rank: first, moment: i64::MIN, run: Vec::new(), n: 0 });
    };
    let mut parts = cursor.splitn(4, '.');
    let order = parts.next() == Some(filter.order.word());
    let (rank, moment) = (parts.next().and_then(|p| p.parse().ok()), parts.next().and_then(|p| p.parse().ok()));
    let id = parts.next().and_then(|p| p.parse::<ApprovalId>().ok());
    match (order, rank, moment, id) {
        (true, Some(risk_rank), Some(moment), Some(id)) => {
            Ok(InboxStart { risk_rank, moment, run: id.run.as_bytes().to_vec(), n: id.n })
        }
        _ => Err(StoreError::BadCursor),
    }
}

/// The members whose lists are merged: everybody's, or at most [`INBOX_MEMBERS_MAX`] different ones.
///
/// # Errors
/// [`StoreError::Rejected`] beyond that: a list that leaves somebody's approvals out says nothing true.
pub(crate) fn inbox_members(members: Option<&[String]>) -> Result<Vec<String>> {
    let Some(members) = members else { return Ok(vec![EVERYBODY.to_owned()]) };
    // Nobody's key is everybody's.
    let different: BTreeSet<&String> = members.iter().filter(|m| *m != EVERYBODY).collect();
    if different.len() > INBOX_MEMBERS_MAX {
        return Err(StoreError::Rejected { what: format!("an inbox of more than {INBOX_MEMBERS_MAX} members") });
    }
    Ok(different.into_iter().cloned().collect())
}
