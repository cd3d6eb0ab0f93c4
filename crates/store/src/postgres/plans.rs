//! Every statement prepares, and none that runs for each operation or on a period reads a whole table: its cost grows
//! with what is due, not with what there is. Tests only.

use effectgate_testkit::pg::test_database;
use tokio_postgres::NoTls;

use super::{
    PgStore, approval, asked, charge, charged, commit, doubt, effect, health, house, journal, notice, profile, purge,
    replay, reserve, run, search, session, subscription, tally,
};
use crate::Store as _;

/// Rows in every state, enough that an index pays.
const FILL: &str = "
INSERT INTO runs SELECT decode(lpad(to_hex(n), 40, '0'), 'hex'), 't' || n % 5, 'f', 'r', 'k' || n, s,
    CASE WHEN s IN ('awaiting_human', 'failed_retryable', 'failed_terminal') THEN 'r' END, 1,
    decode(repeat('00', 32), 'hex'), 'v1', 'o', 1, CASE WHEN s = 'processing' THEN 1 END,
    CASE WHEN s = 'processing' THEN 2 + n END, 1, 5, 0, 0, 0, 0, 0, 0, 0, CASE WHEN s = 'failed_retryable' THEN n END, 1,
    decode(repeat('00', 32), 'hex'), '{}', n, n, CASE WHEN s IN ('completed', 'failed_terminal') THEN n END,
    CASE WHEN s = 'completed' THEN n END
  FROM (SELECT n, CASE WHEN n % 100 < 93 THEN 'completed' ELSE (ARRAY['queued', 'processing', 'awaiting_human', 'approved',
    'failed_retryable', 'failed_terminal', 'processing'])[n % 100 - 92] END AS s FROM generate_series(1, 20000) n) x;
INSERT INTO effects SELECT run_id, 1, 'mail', 'x', 'p' || created_at % 5, 'dispatcher', s, NULL, '{}',
    decode(repeat('00', 32), 'hex'), 'k', NULL, 1, 1, CASE WHEN s IN ('scheduled', 'pending', 'unknown', 'review') THEN
    created_at END, CASE WHEN s = 'sending' THEN created_at END, 1, 1, created_at, updated_at
  FROM (SELECT *, CASE WHEN created_at % 100 < 93 THEN 'completed' ELSE (ARRAY['scheduled', 'pending', 'sending', 'unknown',
    'review', 'failed', 'cancelled'])[created_at % 100 - 92] END AS s FROM (SELECT run_id, created_at, updated_at FROM runs) r) x;
INSERT INTO approvals SELECT run_id, 1, s, decode(repeat('00', 32), 'hex'), '[]', '{}', '[]', created_at, created_at + 1,
    CASE WHEN s = 'open' THEN created_at END, CASE WHEN s <> 'open' THEN created_at END
  FROM (SELECT *, CASE WHEN created_at % 100 < 97 THEN 'approved' ELSE 'open' END AS s FROM runs) x;
INSERT INTO approval_tokens SELECT run_id, 1, sha256(run_id), 'a', created_at, created_at + 1 FROM runs;
INSERT INTO notices SELECT run_id, 1, tenant, '{}', 'd' || created_at % 50,
    CASE WHEN created_at % 100 < 97 THEN 'sent' ELSE 'pending' END, 1, created_at FROM runs;
INSERT INTO journal SELECT run_id, 1, 1, 'reserved', '{}', decode(repeat('00', 32), 'hex') FROM runs;
INSERT INTO heads SELECT set_byte(run_id, 0, 255), tenant, 1, journal_head, CASE WHEN created_at % 2 = 0 THEN created_at END
  FROM runs;
INSERT INTO contents SELECT run_id FROM runs;
INSERT INTO asked SELECT run_id, 1, m, 't' || created_at % 5, created_at % 3, created_at, created_at + 1 FROM runs,
    (VALUES (''), ('role:a'), ('mail:' || 1)) v (m);
INSERT INTO flows SELECT 't' || n % 5, 'f' || n FROM generate_series(1, 500) n;
INSERT INTO sessions SELECT sha256(run_id), tenant, 'u' || created_at, '{}', 1, 1, created_at FROM runs;
INSERT INTO charges SELECT 's' || n % 500, n, n + 1, 1 FROM generate_series(1, 20000) n;
INSERT INTO tallies SELECT 't' || n % 5, n / 50, 'x', n, 1 FROM generate_series(1, 20000) n;
INSERT INTO profiles SELECT tenant, 'user:' || created_at, 'oidc', 'n', NULL, '[]', NULL, NULL, 1, 1 FROM runs;
INSERT INTO api_keys SELECT 'k' || n, 't', 'n', decode(repeat('00', 32), 'hex'), '[]', '[]', 1, NULL
  FROM generate_series(1, 20) n;
INSERT INTO subscriptions SELECT set_byte(decode(repeat('00', 20), 'hex'), 0, n), 't', 'k' || n, 'u', '[]', NULL, 1, NULL,
  NULL, 0, NULL FROM generate_series(1, 20) n;
INSERT INTO deliveries SELECT set_byte(decode(repeat('00', 20), 'hex'), 0, created_at::int % 20 + 1), run_id, 1, 0, 'e', '',
  CASE WHEN created_at % 100 < 97 THEN 'sent' ELSE 'pending' END, 1, created_at, created_at FROM runs;
ANALYZE";

/// By name; true for those that must follow an index.
fn statements() -> Vec<(&'static str, &'static str, bool)> {
    [
        ("reserve", reserve::RESERVE_SQL.as_str(), true),
        ("commit", commit::COMMIT_SQL.as_str(), true),
        ("commit that charges", charged::CHARGED_SQL.as_str(), true),
        ("charges", charge::LIST, true),
        ("charges dropped", charge::DROP_OVER, true),
        ("effects waiting", effect::WAITING, true),
        ("look again", doubt::LOOK, true),
        ("barrier", doubt::BARRIER, false),
        ("run", run::BY_ID, true),
        ("load", run::LOAD_SQL.as_str(), true),
        ("content", run::CONTENT, true),
        ("runs found", run::FIND, true),
        ("claimable", run::CLAIMABLE, true),
        ("deliverable", run::DELIVERABLE, true),
        ("lease over", run::LEASE_OVER, true),
        ("unchanged", run::UNCHANGED, true),
        ("effects due", effect::DUE, true),
        ("effects lost", effect::LOST, true),
        ("effects unknown", effect::UNKNOWN, true),
        ("effects in review", effect::REVIEW, true),
        ("effects found", effect::FIND, true),
        ("attempts", effect::ATTEMPTS_OF, true),
        ("approval by token", approval::BY_TOKEN, true),
        ("approvals open", approval::FIND_OPEN, true),
        ("approvals found", approval::FIND, true),
        ("approvals overdue", approval::OVERDUE, true),
        ("inbox by risk", asked::BY_RISK, true),
        ("inbox by age", asked::BY_AGE, true),
        ("inbox by due", asked::BY_DUE, true),
        ("inbox items", asked::ITEMS, true),
        ("inbox counted", asked::COUNTED, true),
        ("runs of a key", run::BY_IDS, true),
        ("flows", run::FLOWS, false),
        ("sessions of", session::DELETE_OF, true),
        ("profile", profile::FIND, true),
        ("tallies added", tally::ADD, true),
        ("tallies", tally::FIND, true),
        ("journal", journal::READ, true),
        ("heads", journal::HEADS, true),
        ("notices due", notice::DUE, true),
        ("notice claimed", notice::CLAIM, true),
        ("notices sent", notice::SENT_SINCE, true),
        ("session", session::FIND, false),
        ("sessions of", session::LIST_OF, true),
        ("switches", house::SWITCHES, false),
        ("runs gauged", health::RUNS, true),
        ("effects gauged", health::EFFECTS, true),
        ("runs expired", purge::EXPIRED_RUNS, true),
        ("contents expired", purge::EXPIRED_CONTENTS, true),
        ("runs purged", purge::PURGE_RUNS_SQL.as_str(), true),
        ("contents purged", purge::PURGE_CONTENTS_SQL.as_str(), true),
        ("journals dropped", purge::DROP_JOURNALS, true),
        ("matching, to be retried", replay::RETRYABLE, true),
        ("matching, lease over", replay::LEASE_OVER, true),
        ("matching, quarantined", replay::QUARANTINED, true),
        ("matching, any", replay::ANY, true),
        ("matching, any, to", replay::ANY_END, true),
        ("corrections", replay::CORRECTIONS, true),
        ("replay", replay::FIND, false),
        ("replays", replay::LIST, false),
        ("replay items", replay::ITEMS, false),
        ("replay items that wait", replay::WAITING, false),
        ("replay item settled", replay::SETTLE, false),
        ("replay held", replay::HOLD, false),
        ("replays stalled", replay::STALLED, false),
        ("replays over", replay::DROP_OVER, false),
        ("subscription", subscription::FIND, false),
        ("subscription by id", subscription::BY_ID, false),
        ("subscriptions", subscription::LIST, false),
        ("subscriptions due", subscription::DUE_SUBSCRIPTIONS, true),
        ("deliveries added", subscription::ADD_SQL.as_str(), true),
        ("deliveries due", subscription::DUE, true),
        ("delivery claimed", subscription::CLAIM, true),
        ("delivery settled", subscription::SETTLE, true),
        ("deliveries over", subscription::DROP_OVER, true),
    ]
    .into_iter()
    .chain(search::STATEMENTS.map(|(name, sql)| (name, sql, true)))
    .collect()
}

/// Statements whose order is an index's order: nothing is sorted but what was found.
const INDEXES: &[(&str, &str)] = &[
    ("inbox by risk", "Index Only Scan using asked_by_risk"),
    ("inbox by age", "Index Only Scan using asked_by_age"),
    ("inbox by due", "Index Only Scan using asked_by_due"),
    ("journal searched", "Index Scan Backward using journal_by_at"),
    ("chain searched", "Index Scan Backward using journal_pkey"),
    ("runs of a key", "runs_pkey"),
];

#[tokio::test]
async fn every_statement_prepares_and_follows_an_index() {
    let Some(url) = test_database().await else { return };
    PgStore::connect(&url).await.unwrap().close().await;
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(FILL).await.unwrap();
    // The plan for any values, as the writers have it and readers after some uses.
    client.batch_execute("SET plan_cache_mode = force_generic_plan; SET jit = off").await.unwrap();
    for (name, sql, follows) in statements() {
        let index = INDEXES.iter().find(|(n, _)| *n == name).map(|(_, index)| *index);
        let prepared = client.prepare(sql).await.unwrap_or_else(|e| panic!("{name}: {e:?}"));
        client.batch_execute(&format!("PREPARE p AS {sql}")).await.unwrap();
        let nulls = vec!["NULL"; prepared.params().len()].join(", ");
        let call = if nulls.is_empty() { "p".to_owned() } else { format!("p({nulls})") };
        let plan: Vec<String> = client
            .query(&format!("EXPLAIN EXECUTE {call}"), &[])
            .await
            .unwrap_or_else(|e| panic!("{name}: {e:?}"))
            .iter()
            .map(|row| row.get(0))
            .collect();
        let whole = plan.iter().find(|line| {
            [
                "runs",
                "charges",
                "effects",
                "approvals",
                "approval_tokens",
                "asked",
                "notices",
                "journal",
                "heads",
                "contents",
                "sessions",
                "tallies",
                "profiles",
                "deliveries",
            ]
            .iter()
            .any(|table| line.contains(&format!("Seq Scan on {table}")))
        });
        assert!(!follows || whole.is_none(), "{name}: {plan:#?}");
        if let Some(index) = index {
            assert!(plan.iter().any(|line| line.contains(index)), "{name}: {plan:#?}");
        }
        client.batch_execute("DEALLOCATE p").await.unwrap();
    }
}
