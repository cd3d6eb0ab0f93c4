//! Every statement that a worker runs on a period follows an index: its cost grows with what is due, not with what
//! there is. Tests only.

use rusqlite::Connection;

use super::{
    approval, asked, charge, clock, effect, health, journal, migrate, notice, purge, replay, run, search, session,
    subscription, tally,
};

fn plan(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut rows = statement.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        lines.push(row.get(3).unwrap());
    }
    lines
}

fn migrated() -> Connection {
    let mut conn = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut conn, clock::system()()).unwrap();
    conn
}

#[test]
fn an_inbox_follows_the_index_of_its_order_and_sorts_nothing() {
    let conn = migrated();
    for (sql, index) in [
        (asked::BY_RISK, "asked_by_risk (tenant=? AND member=? AND (risk_rank,created_at,run_id,n)>(?,?,?,?))"),
        (asked::BY_AGE, "asked_by_age (tenant=? AND member=? AND (created_at,run_id,n)>(?,?,?))"),
        (asked::BY_DUE, "asked_by_due (tenant=? AND member=? AND (expires_at,run_id,n)>(?,?,?))"),
    ] {
        assert_eq!(plan(&conn, sql), [format!("SEARCH a USING COVERING INDEX {index}")]);
    }
}

#[test]
fn no_periodic_statement_reads_a_whole_table() {
    let conn = migrated();
    let statements = [
        ("claimable", run::CLAIMABLE),
        ("deliverable", run::DELIVERABLE),
        ("lease over", run::LEASE_OVER),
        ("unchanged", run::UNCHANGED),
        ("effects due", effect::DUE),
        ("effects waiting", effect::WAITING),
        ("charges", charge::LIST),
        ("charges dropped", charge::DROP_OVER),
        ("effects lost", effect::LOST),
        ("effects unknown", effect::UNKNOWN),
        ("effects in review", effect::REVIEW),
        ("effects found", effect::FIND),
        ("open effects, newest", effect::FIND_OPEN_NEWEST),
        ("open effects, oldest", effect::FIND_OPEN_OLDEST),
        ("approval by token", approval::BY_TOKEN),
        ("approvals open", approval::FIND_OPEN),
        ("approvals found", approval::FIND),
        ("approvals overdue", approval::OVERDUE),
        ("inbox by risk", asked::BY_RISK),
        ("inbox by age", asked::BY_AGE),
        ("inbox by due", asked::BY_DUE),
        ("inbox item", asked::ITEM),
        ("inbox counted", asked::COUNTED),
        ("flows", run::FLOWS),
        ("sessions of", session::DELETE_OF),
        ("tallies", tally::FIND),
        ("heads", journal::HEADS),
        ("notices due", notice::DUE),
        ("notices sent", notice::SENT_SINCE),
        ("runs gauged", health::RUNS),
        ("effects gauged", health::EFFECTS),
        ("runs expired", purge::EXPIRED_RUNS),
        ("contents expired", purge::EXPIRED_CONTENTS),
        ("journals over", purge::OVER),
        ("matching, to be retried", replay::RETRYABLE),
        ("matching, lease over", replay::LEASE_OVER),
        ("matching, quarantined", replay::QUARANTINED),
        ("matching, any", replay::ANY),
        ("matching from", replay::FROM),
        ("corrections", replay::CORRECTIONS),
        ("replay", replay::FIND),
        ("replays", replay::LIST),
        ("replay items", replay::ITEMS),
        ("replay items that wait", replay::WAITING),
        ("replays stalled", replay::STALLED),
        ("subscription", subscription::FIND),
        ("subscription by id", subscription::BY_ID),
        ("subscriptions due", subscription::DUE_SUBSCRIPTIONS),
        ("deliveries due", subscription::DUE),
        ("deliveries over", subscription::DROP_OVER),
    ];
    for (name, sql) in statements.into_iter().chain(search::STATEMENTS) {
        let plan = plan(&conn, sql);
        let whole = |line: &&String| {
            line.starts_with("SCAN ")
                && [
                    "runs",
                    "effects",
                    "approvals",
                    "asked",
                    "journal",
                    "notices",
                    "heads",
                    " r",
                    " e",
                    " p",
                    " a",
                    " j",
                    " y",
                    " g",
                    "charges",
                    "deliveries",
                    " d",
                ]
                .iter()
                .any(|t| line.ends_with(t))
        };
        assert_eq!(plan.iter().find(whole), None, "{name}: {plan:#?}");
    }
}
