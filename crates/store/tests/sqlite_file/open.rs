//! Opening: one process, its own schema, readers beside it.

use std::sync::Arc;

use effectgate_store::{Reserved, SqliteStore, Store, StoreError};

use crate::{
    SqliteBench,
    conformance::{Bench, fixtures::*},
};

#[tokio::test]
async fn a_second_process_is_refused_until_the_first_has_closed() {
    let bench = SqliteBench::new().await.unwrap();

    let refused = SqliteStore::open(bench.path()).err();
    bench.store().close().await;
    let second = SqliteStore::open(bench.path());

    assert!(matches!(refused, Some(StoreError::InUse { .. })), "{refused:?}");
    second.unwrap().close().await;
}

#[test]
fn of_many_openers_of_a_new_file_one_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let openers: Vec<_> = (0..8)
        .map(|_| {
            let path = folder.path().join("gate.db");
            std::thread::spawn(move || SqliteStore::open(path))
        })
        .collect();

    let opened: Vec<_> = openers.into_iter().map(|t| t.join().unwrap()).collect();

    assert_eq!(opened.iter().filter(|o| o.is_ok()).count(), 1);
    let refused = |o: &&Result<SqliteStore, StoreError>| matches!(o, Err(StoreError::InUse { .. }));
    assert_eq!(opened.iter().filter(refused).count(), 7);
}

#[tokio::test]
async fn opening_again_migrates_nothing_and_keeps_everything() {
    let bench = SqliteBench::new().await.unwrap();
    let agg = start(&bench.store(), reserved("k", bench.now().await)).await;
    bench.store().close().await;

    let again: Arc<dyn Store> = Arc::new(SqliteStore::open(bench.path()).unwrap());

    assert_eq!(load(&again, &agg.run).await.run, agg.run);
    assert_eq!(again.health().await.unwrap().schema, SCHEMA);
}

/// The file as the first schema had it, with data in it.
#[tokio::test]
async fn an_upgrade_gives_open_approvals_their_place_in_the_inbox() {
    let bench = SqliteBench::new().await.unwrap();
    let wanted = before_people(&bench).await;
    bench.store().close().await;
    bench.sql(UNDO_PEOPLE).await;

    let again: Arc<dyn Store> = Arc::new(SqliteStore::open(bench.path()).unwrap());

    after_people(&again, &wanted).await;
}

async fn reopened_after(statement: &str) -> Option<StoreError> {
    let bench = SqliteBench::new().await.unwrap();
    bench.store().close().await;
    bench.sql(statement).await;
    SqliteStore::open(bench.path()).err()
}

#[tokio::test]
async fn a_file_of_a_newer_binary_is_refused() {
    let refused = reopened_after("INSERT INTO schema_migrations VALUES (99, 'x', 0)").await;
    assert!(matches!(refused, Some(StoreError::TooNew { found: 99, known: SCHEMA })), "{refused:?}");
}

#[tokio::test]
async fn a_migration_that_was_applied_with_another_text_is_refused() {
    let refused = reopened_after("UPDATE schema_migrations SET sha256 = 'other' WHERE number = 1").await;
    assert!(matches!(refused, Some(StoreError::MigrationChanged { number: 1 })), "{refused:?}");
}

#[tokio::test]
async fn a_command_line_reads_beside_the_server_and_writes_nothing() {
    let bench = SqliteBench::new().await.unwrap();
    let (server, now) = (bench.store(), bench.now().await);
    let reader: Arc<dyn Store> = Arc::new(SqliteStore::open_read_only(bench.path()).unwrap());

    let agg = start(&server, reserved("k", now)).await;

    assert_eq!(load(&reader, &agg.run).await.run, agg.run);
    assert!(reader.run_reserve(reserved("other", now)).await.is_err());
    assert!(reader.commit(touch(&agg.run, now)).await.is_err());
    reader.close().await;
    server.close().await;
    let alone: Arc<dyn Store> = Arc::new(SqliteStore::open_read_only(bench.path()).unwrap());
    assert_eq!(load(&alone, &agg.run).await.run, agg.run);
}

#[test]
fn reading_only_needs_a_migrated_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.db");
    assert!(matches!(SqliteStore::open_read_only(&path), Err(StoreError::Open { .. })));

    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
    assert!(matches!(SqliteStore::open_read_only(&path), Err(StoreError::Open { .. })));
}

#[test]
fn a_database_in_memory_is_refused() {
    for path in [":memory:", ""] {
        assert!(matches!(SqliteStore::open(path), Err(StoreError::Open { .. })), "{path:?}");
    }
    assert!(matches!(SqliteStore::open("/nowhere/at/all/gate.db"), Err(StoreError::Open { .. })));
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = SqliteBench::new().await.unwrap();
    start(&bench.store(), reserved("k", bench.now().await)).await;

    for suffix in ["", "-wal"] {
        let path = format!("{}{suffix}", bench.path().display());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{path}");
    }
}

/// HC-42: another process's write lock is waited for, never passed on as an error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_42_a_lock_of_another_process_is_waited_for() {
    let bench = SqliteBench::new().await.unwrap();
    let (store, now) = (bench.store(), bench.now().await);
    let other = rusqlite::Connection::open(bench.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let waiting: Vec<_> = (0..20)
        .map(|n| {
            let (store, new) = (Arc::clone(&store), reserved(&format!("k{n}"), now));
            tokio::spawn(async move { store.run_reserve(new).await })
        })
        .collect();
    // Reads go on meanwhile.
    assert!(store.run_load(&tenant(), id("k0")).await.unwrap().is_none());
    other.execute_batch("COMMIT").unwrap();

    for task in waiting {
        assert!(matches!(task.await.unwrap().unwrap(), Reserved::Created { .. }));
    }
}
