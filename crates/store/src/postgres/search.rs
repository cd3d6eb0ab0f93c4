//! The journal searched, newest first: a page looks at a bounded number of entries and says where it ended.
//!
//! Differs: newest is the order of the entries' moments, which have an index; SQLite has the rowid.

use effectgate_core::{
    ids::{RunId, Tenant},
    journal::SealedEntry,
    time::Timestamp,
};
use tokio_postgres::Row;

use super::{pool::Pool, tx};
use crate::{
    Result, StoreError,
    row::{self, journal_columns},
    types::{JOURNAL_SEARCHED_MAX, JournalFilter, Page},
};

/// The statements for the places of the whole journal or of one chain. The inner LIMIT bounds what is looked at, the
/// outer one what is found; nothing is looked at beyond the last entry found. LATERAL keeps the look for the tenant a
/// look by key.
struct Places {
    find: &'static str,
    end: &'static str,
}

macro_rules! places {
    ($within:literal, $order:literal) => {
        Places {
            find: concat!(
                "SELECT ",
                journal_columns!(),
                " FROM (
  SELECT j.* FROM journal j WHERE ",
                $within,
                " AND j.at >= $5 AND j.at < $6 ORDER BY ",
                $order,
                " LIMIT $7) j
CROSS JOIN LATERAL (SELECT 1 FROM runs r WHERE r.run_id = j.run_id AND r.tenant = $8
  UNION ALL SELECT 1 FROM heads h WHERE h.run_id = j.run_id AND h.tenant = $8 LIMIT 1) t
WHERE ($9::text IS NULL OR j.kind = $9) AND ($10::text IS NULL OR starts_with(j.entry, $10))
ORDER BY ",
                $order,
                " LIMIT $11"
            ),
            end: concat!(
                "SELECT j.at, j.run_id, j.seq FROM journal j WHERE ",
                $within,
                " AND j.at >= $5 AND j.at < $6 ORDER BY ",
                $order,
                " OFFSET $7::bigint - 1 LIMIT 1"
            ),
        }
    };
}

const WHOLE: Places = places!(
    "$1::bytea IS NULL AND (j.at, j.run_id, j.seq) < ($2, $3, $4::bigint)",
    "j.at DESC, j.run_id DESC, j.seq DESC"
);
const CHAIN: Places = places!("j.run_id = $1 AND ($2::bigint, $3::bytea) IS NOT NULL AND j.seq < $4", "j.seq DESC");
/// For the plans.
#[cfg(test)]
pub(super) const STATEMENTS: [(&str, &str); 4] = [
    ("journal searched", WHOLE.find),
    ("journal searched to", WHOLE.end),
    ("chain searched", CHAIN.find),
    ("chain searched to", CHAIN.end),
];

/// An entry's place: its moment, its chain, its number.
struct Place {
    at: i64,
    run: Vec<u8>,
    seq: i64,
}

impl Place {
    const TOP: Self = Self { at: i64::MAX, run: Vec::new(), seq: i64::MAX };

    fn cursor(at: i64, run: RunId, seq: i64) -> String {
        format!("{at}.{run}.{seq}")
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let (at, run, seq) = (parts.next()?.parse().ok()?, parts.next()?.parse::<RunId>().ok()?, parts.next()?);
        Some(Self { at, run: run.as_bytes().to_vec(), seq: seq.parse().ok()? })
    }
}

pub(super) async fn find(pool: &Pool, tenant: &Tenant, filter: &JournalFilter) -> Result<Page<SealedEntry>> {
    let places = if filter.run.is_some() { CHAIN } else { WHOLE };
    let before = match &filter.cursor {
        Some(cursor) => Place::parse(cursor).ok_or(StoreError::BadCursor)?,
        None => Place::TOP,
    };
    let run = filter.run.as_ref().map(RunId::as_bytes);
    let since = filter.since.map_or(i64::MIN, Timestamp::micros);
    let until = filter.until.map_or(i64::MAX, Timestamp::micros);
    let actor = filter.actor.as_deref().map(row::actor_prefix).transpose()?;
    let limit = row::page_limit(filter.limit);
    let (tenant, limit_and_one) = (tenant.as_str(), i64::from(limit) + 1);
    let found = pool
        .list(
            places.find,
            &[
                &run,
                &before.at,
                &before.run,
                &before.seq,
                &since,
                &until,
                &JOURNAL_SEARCHED_MAX,
                &tenant,
                &filter.kind,
                &actor,
                &limit_and_one,
            ],
            |r| row::entry(r).map(|e| (Place::cursor(e.at.micros(), e.run, e.seq), e)).map(|(cursor, e)| (e, cursor)),
        )
        .await?;
    if found.len() > limit as usize {
        return Ok(row::page(found, limit));
    }
    let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] =
        &[&run, &before.at, &before.run, &before.seq, &since, &until, &JOURNAL_SEARCHED_MAX];
    let next = pool.first(places.end, values, end).await?;
    Ok(Page { items: found.into_iter().map(|(entry, _)| entry).collect(), next })
}

/// The cursor behind the last entry that was looked at.
fn end(row: &Row) -> Result<String> {
    let run: &[u8] = tx::computed(row, 1)?;
    let run =
        RunId::from_bytes(run).ok_or(StoreError::Corrupt { table: "journal", column: "run_id", row: "?".into() })?;
    Ok(Place::cursor(tx::computed(row, 0)?, run, tx::computed(row, 2)?))
}
