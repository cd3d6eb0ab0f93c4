//! The private PostgreSQL keeps its word: it starts, survives a crash with its files, and leaves nothing behind.

use effectgate_testkit::pg::{PgOptions, test_database, test_server};
use tokio_postgres::NoTls;

async fn client(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the server runs");
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn each_database_is_empty_and_apart() {
    let (Some(a), Some(b)) = (test_database().await, test_database().await) else { return };

    client(&a).await.batch_execute("CREATE TABLE here (x int)").await.unwrap();

    assert!(client(&b).await.query("SELECT * FROM here", &[]).await.is_err());
}

#[tokio::test]
async fn a_killed_server_comes_back_with_what_was_committed() {
    let Some(mut server) = test_server(PgOptions::default()).await else { return };
    let url = server.create_database().await.unwrap();
    client(&url).await.batch_execute("CREATE TABLE t (x int); INSERT INTO t VALUES (7)").await.unwrap();

    server.kill();
    assert!(tokio_postgres::connect(&url, NoTls).await.is_err());
    server.restart().unwrap();

    assert_eq!(client(&url).await.query_one("SELECT x FROM t", &[]).await.unwrap().get::<_, i32>(0), 7);
    let socket = server.socket_url("postgres");
    assert_eq!(client(&socket).await.query_one("SHOW fsync", &[]).await.unwrap().get::<_, &str>(0), "on");
}
