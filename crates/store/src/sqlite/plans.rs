//! Every statement that a worker runs on a period follows an index: its cost grows with what is due, not with what
//! there is. Tests only.

use rusqlite::Connection;

use super::{approval, clock, effect, health, journal, migrate, notice, purge, run};

fn plan(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut rows = statement.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        lines.push(row.get(3).unwrap());
    }
    lines
}

#[test]
fn no_periodic_statement_reads_a_whole_table() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut conn, clock::system()()).unwrap();
    let statements = [
        ("claimable", run::CLAIMABLE),
        ("lease over", run::LEASE_OVER),
        ("unchanged", run::UNCHANGED),
        ("effects due", effect::DUE),
        ("effects lost", effect::LOST),
        ("effects unknown", effect::UNKNOWN),
        ("effects found", effect::FIND),
        ("approval by token", approval::BY_TOKEN),
        ("approvals open", approval::FIND_OPEN),
        ("approvals found", approval::FIND),
        ("approvals overdue", approval::OVERDUE),
        ("heads", journal::HEADS),
        ("notices due", notice::DUE),
        ("notices sent", notice::SENT_SINCE),
        ("runs gauged", health::RUNS),
        ("effects gauged", health::EFFECTS),
        ("runs expired", purge::EXPIRED_RUNS),
        ("contents expired", purge::EXPIRED_CONTENTS),
        ("journals over", purge::OVER),
    ];
    for (name, sql) in statements {
        let plan = plan(&conn, sql);
        let whole = |line: &&String| {
            line.starts_with("SCAN ")
                && ["runs", "effects", "approvals", "notices", "heads", " r", " e", " p"]
                    .iter()
                    .any(|t| line.ends_with(t))
        };
        assert_eq!(plan.iter().find(whole), None, "{name}: {plan:#?}");
    }
}
