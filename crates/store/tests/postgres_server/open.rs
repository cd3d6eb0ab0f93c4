//! Opening: addresses, TLS, and databases that another binary made.

use std::{path::Path, process::Command, sync::Arc};

use effectgate_store::{PgStore, Store, StoreError};
use effectgate_testkit::pg::{PgOptions, test_database, test_server};

use crate::{
    PgBench, client,
    conformance::{Bench, fixtures::*},
};

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let Some(url) = test_database().await else { return };
    PgStore::connect(&url).await.unwrap().close().await;
    client(&url).await.batch_execute("INSERT INTO schema_migrations VALUES (99, 'x', 0)").await.unwrap();

    let opened = PgStore::connect(&url).await.map(drop);

    assert!(matches!(opened, Err(StoreError::TooNew { found: 99, known: SCHEMA })), "{opened:?}");
}

/// The database as the first schema had it, with data in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upgrade_gives_open_approvals_their_place_in_the_inbox() {
    let Some(bench) = PgBench::new().await else { return };
    let wanted = before_people(&bench).await;
    bench.store().close().await;
    bench.sql(&format!("{UNDO_PEOPLE}; DROP INDEX journal_by_at")).await;

    let again: Arc<dyn Store> = Arc::new(PgStore::connect(&bench.url).await.unwrap());

    after_people(&again, &wanted).await;
}

#[tokio::test]
async fn a_migration_with_another_text_is_refused() {
    let Some(url) = test_database().await else { return };
    PgStore::connect(&url).await.unwrap().close().await;
    client(&url).await.batch_execute("UPDATE schema_migrations SET sha256 = 'x'").await.unwrap();

    let opened = PgStore::connect(&url).await.map(drop);

    assert!(matches!(opened, Err(StoreError::MigrationChanged { number: 1 })), "{opened:?}");
}

#[tokio::test]
async fn a_database_that_is_not_there_is_not_available() {
    let Some(url) = test_database().await else { return };

    let opened = PgStore::connect(&format!("{url}_nowhere")).await.map(drop);
    let nobody = PgStore::connect("postgres://u:s3cret@127.0.0.1:1/db").await.map(drop);

    assert!(matches!(opened, Err(StoreError::Unavailable { .. })), "{opened:?}");
    let Err(StoreError::Unavailable { what }) = nobody else { panic!("{nobody:?}") };
    assert!(!what.contains("s3cret"), "{what}");
}

#[tokio::test]
async fn the_first_host_that_is_dead_is_passed_over() {
    let Some(server) = test_server(PgOptions { no_fsync: true, ..PgOptions::default() }).await else { return };
    let url = server.create_database().await.unwrap();

    let two = url.replacen("@127.0.0.1", "@127.0.0.1:1,127.0.0.1", 1);
    let socket = server.socket_url("test_0");

    for url in [two, socket] {
        let store = PgStore::connect(&url).await.unwrap();
        assert_eq!(store.health().await.unwrap().backend, "postgres");
        store.close().await;
    }
}

/// A certificate for `localhost` that signs itself; `None` where no openssl is installed.
fn certificate(dir: &Path) -> Option<()> {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(dir.join("server.key"))
        .arg("-out")
        .arg(dir.join("server.crt"))
        .output();
    made.is_ok_and(|output| output.status.success()).then_some(())
}

#[tokio::test]
async fn tls_is_spoken_and_verified_as_sslmode_asks() {
    let Some(mut server) = test_server(PgOptions { no_fsync: true, ..PgOptions::default() }).await else { return };
    let url = server.create_database().await.unwrap().replacen("127.0.0.1", "localhost", 1);
    let data = server.data_dir();
    if certificate(&data).is_none() {
        eprintln!("skipped: no openssl");
        return;
    }
    let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&data).unwrap());
    std::os::unix::fs::chown(data.join("server.key"), Some(owner), None).unwrap();
    client(&url.replacen("localhost", "127.0.0.1", 1)).await.batch_execute("ALTER SYSTEM SET ssl = on").await.unwrap();
    server.restart().unwrap();
    let root = data.join("server.crt").display().to_string();

    let table = [
        ("sslmode=disable".to_owned(), Some(false)),
        ("sslmode=prefer".to_owned(), Some(true)),
        ("sslmode=require".to_owned(), Some(true)),
        (format!("sslmode=verify-full&sslrootcert={root}"), Some(true)),
        ("sslmode=verify-full".to_owned(), None),
    ];
    for (words, wanted) in table {
        let store = PgStore::connect(&format!("{url}?{words}")).await;
        let encrypted = match &store {
            Ok(_) => Some(encrypted(&url).await),
            Err(error) => {
                assert!(error.is_passing(), "{words}: {error:?}");
                None
            }
        };
        assert_eq!(encrypted, wanted, "{words}");
        if let Ok(store) = store {
            store.close().await;
        }
    }
}

/// Whether the store's listening session is encrypted.
async fn encrypted(url: &str) -> bool {
    let beside = client(&format!("{url}?sslmode=disable")).await;
    super::until(&beside, "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'LISTEN%'").await;
    let question = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE query LIKE 'LISTEN%'";
    beside.query_one(question, &[]).await.unwrap().get(0)
}
