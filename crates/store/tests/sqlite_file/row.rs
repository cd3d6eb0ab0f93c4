//! Rows that this program never writes are named, never guessed at.

use effectgate_store::StoreError;

use crate::{
    SqliteBench,
    conformance::{Bench, fixtures::*},
};

#[tokio::test]
async fn a_corrupt_cell_is_named_by_table_column_and_row() {
    let bench = SqliteBench::new().await.unwrap();
    let (store, now) = (bench.store(), bench.now().await);
    let agg = approved(&store, reserved("k", now), 1, now, |_| {}).await;
    let table = [
        ("UPDATE runs SET origin = '{'", "runs", "origin", "UPDATE runs SET origin = '{}'"),
        ("UPDATE runs SET state = 'nonsense'", "runs", "state", "UPDATE runs SET state = 'approved'"),
        ("UPDATE runs SET attempts = 4294967296", "runs", "attempts", "UPDATE runs SET attempts = 1"),
        ("UPDATE runs SET payload_hash = x'00'", "runs", "payload_hash", "UPDATE runs SET payload_hash = zeroblob(32)"),
        ("UPDATE effects SET executor = 'nobody'", "effects", "executor", "UPDATE effects SET executor = 'inline'"),
        ("UPDATE effects SET due_at = NULL", "effects", "state", "UPDATE effects SET due_at = 1"),
    ];

    for (spoil, wanted_table, wanted_column, mend) in table {
        bench.sql(&format!("PRAGMA ignore_check_constraints = ON; {spoil}")).await;

        let error = store.run_load(&tenant(), agg.run.id).await;

        let Err(StoreError::Corrupt { table, column, row }) = error else { panic!("{spoil}: {error:?}") };
        assert_eq!((table, column, row), (wanted_table, wanted_column, agg.run.id.to_string()), "{spoil}");
        bench.sql(&format!("PRAGMA ignore_check_constraints = ON; {mend}")).await;
    }
    assert!(store.run_load(&tenant(), agg.run.id).await.unwrap().is_some());
}
