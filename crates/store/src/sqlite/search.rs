//! The journal searched, newest first. There is no index for it: a page looks at a bounded number of entries and says
//! where it ended.
//!
//! Differs: newest is the order of the rowid, which grows with every entry; PostgreSQL has an index on the moment.
//! Moments stand in nearly that order (an entry is sealed shortly before it is written), so the ends of a stretch of
//! time are found by halving, [`APART_MS`] further out.

use effectgate_core::{ids::Tenant, journal::SealedEntry, time::Timestamp};
use rusqlite::{Row, named_params, params};

use super::tx::{Tx, failed};
use crate::{
    Result, StoreError,
    row::{self, journal_columns},
    types::{JOURNAL_SEARCHED_MAX, JournalFilter, Page},
};

/// An entry's moment is at most this much older or younger than those of its neighbours: no transition is made an hour
/// before it is committed, and the clock of one process does not run backwards.
const APART_MS: i64 = 3_600_000;

/// The statements for the places of the whole journal (the rowid) or of one chain (the entry's number).
struct Places {
    below: &'static str,
    from: &'static str,
    find: &'static str,
}

macro_rules! places {
    ($place:literal, $within:literal) => {
        Places {
            below: concat!(
                "SELECT ",
                $place,
                ", j.at FROM journal j WHERE ",
                $within,
                " AND ",
                $place,
                " < ?2 ORDER BY ",
                $place,
                " DESC LIMIT 1"
            ),
            from: concat!(
                "SELECT ",
                $place,
                ", j.at FROM journal j WHERE ",
                $within,
                " AND ",
                $place,
                " >= ?2 ORDER BY ",
                $place,
                " LIMIT 1"
            ),
            find: concat!(
                "SELECT ",
                journal_columns!(),
                ", ",
                $place,
                " FROM journal j WHERE ",
                $within,
                " AND ",
                $place,
                " >= :floor AND ",
                $place,
                " < :before
  AND (:kind IS NULL OR j.kind = :kind) AND (:actor IS NULL OR substr(j.entry, 1, length(:actor)) = :actor)
  AND j.at >= :since AND j.at < :until
  AND (EXISTS (SELECT 1 FROM runs r WHERE r.run_id = j.run_id AND r.tenant = :tenant)
    OR EXISTS (SELECT 1 FROM heads h WHERE h.run_id = j.run_id AND h.tenant = :tenant))
ORDER BY ",
                $place,
                " DESC LIMIT :limit"
            ),
        }
    };
}

const WHOLE: Places = places!("j.rowid", "?1 IS NULL");
const CHAIN: Places = places!("j.seq", "j.run_id = ?1");
/// For the plans.
#[cfg(test)]
pub(super) const STATEMENTS: [(&str, &str); 6] = [
    ("journal below", WHOLE.below),
    ("journal from", WHOLE.from),
    ("journal searched", WHOLE.find),
    ("chain below", CHAIN.below),
    ("chain from", CHAIN.from),
    ("chain searched", CHAIN.find),
];

/// One entry's place and moment.
type Place = (i64, Timestamp);

pub(super) fn find(tx: &Tx<'_>, tenant: &Tenant, filter: &JournalFilter) -> Result<Page<SealedEntry>> {
    let search = Search { tx, filter, places: if filter.run.is_some() { CHAIN } else { WHOLE } };
    let before = match &filter.cursor {
        Some(cursor) => cursor.parse().map_err(|_| StoreError::BadCursor)?,
        None => search.start()?,
    };
    let Some((top, _)) = search.below(before)? else { return Ok(Page { items: Vec::new(), next: None }) };
    let floor = top.saturating_sub(JOURNAL_SEARCHED_MAX - 1);
    let limit = row::page_limit(filter.limit);
    let found = search.between(tenant, floor, before, limit + 1)?;
    if found.len() > limit as usize {
        return Ok(row::page(found, limit));
    }
    let next = search.goes_on_below(floor)?.then(|| floor.to_string());
    Ok(Page { items: found.into_iter().map(|(entry, _)| entry).collect(), next })
}

struct Search<'a> {
    tx: &'a Tx<'a>,
    filter: &'a JournalFilter,
    places: Places,
}

impl Search<'_> {
    fn place(&self, sql: &str, at: i64) -> Result<Option<Place>> {
        let cells = |r: &Row<'_>| {
            let at = r.get(1).map(Timestamp::from_micros).map_err(failed)?;
            Ok((r.get(0).map_err(failed)?, at))
        };
        self.tx.first(sql, params![self.run(), at], cells)
    }

    fn run(&self) -> Option<&[u8]> {
        self.filter.run.as_ref().map(effectgate_core::ids::RunId::as_bytes)
    }

    /// The last entry before a place.
    fn below(&self, place: i64) -> Result<Option<Place>> {
        self.place(self.places.below, place)
    }

    /// The place before which everything is that was written before `until`.
    fn start(&self) -> Result<i64> {
        let Some(until) = self.filter.until else { return Ok(i64::MAX) };
        let late = until.plus_ms(APART_MS);
        let (mut low, mut high) = (1, self.below(i64::MAX)?.map_or(1, |(top, _)| top.saturating_add(1)));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.place(self.places.from, middle)? {
                Some((place, at)) if at < late => low = place + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    fn between(&self, tenant: &Tenant, floor: i64, before: i64, limit: u32) -> Result<Vec<(SealedEntry, String)>> {
        let f = self.filter;
        let values = named_params! {
            "?1": self.run(), ":tenant": tenant.as_str(), ":floor": floor, ":before": before, ":kind": f.kind,
            ":actor": f.actor.as_deref().map(row::actor_prefix).transpose()?,
            ":since": f.since.map_or(i64::MIN, Timestamp::micros), ":until": f.until.map_or(i64::MAX, Timestamp::micros),
            ":limit": limit,
        };
        self.tx.list(self.places.find, values, |r| {
            let place: i64 = r.get(row::JOURNAL.columns.len()).map_err(failed)?;
            Ok((row::entry(r)?, place.to_string()))
        })
    }

    /// True if there may be more before this place.
    fn goes_on_below(&self, place: i64) -> Result<bool> {
        let early = self.filter.since.map(|since| since.plus_ms(-APART_MS));
        Ok(self.below(place)?.is_some_and(|(_, at)| early.is_none_or(|early| at >= early)))
    }
}
