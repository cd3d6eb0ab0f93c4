//! The same binary over PostgreSQL: two servers on one database, the commands beside them.

use effectgate_testkit::pg::test_database;
use serde_json::json;

use crate::{
    config,
    support::{House, KEY, said},
};

/// A house over a fresh database; none where there is no PostgreSQL to test with.
async fn house() -> Option<House> {
    let url = test_database().await?;
    Some(House::with(&config::to_nobody().replace("DATABASE", &url)))
}

#[tokio::test]
async fn two_servers_on_one_database_grant_a_key_once() {
    let Some(house) = house().await else { return };
    let gates = [0, 1].map(|_| house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]));

    let answers = ["a", "b"].map(|owner| json!({ "flow": "ticket", "key": "order:1", "payload": {}, "owner": owner }));
    let (first, second) = (gates[0].post(KEY, "/v1/runs", &answers[0]), gates[1].post(KEY, "/v1/runs", &answers[1]));

    assert_eq!((first.0, second.0), (201, 202), "{} {}", first.1, second.1);
    assert_eq!(first.1["run"]["id"], second.1["run"]["id"]);
}

#[tokio::test]
async fn looking_at_a_database_changes_nothing_and_applying_brings_it_up() {
    let Some(house) = house().await else { return };

    let before = house.run(&["migrate", "status"]);
    let still = house.run(&["migrate", "status"]);
    let applied = house.run(&["migrate", "apply", "--json"]);
    let after = house.run(&["migrate", "status", "--json"]);

    assert_eq!((before.code, still.code, applied.code, after.code), (5, 5, 0, 0), "{} {}", before.err, applied.err);
    assert!(before.err.contains("older than this binary"), "{}", before.err);
    assert_eq!(after.json()["backend"], "postgres");
}

#[tokio::test]
async fn keys_and_people_are_made_beside_a_server() {
    let Some(house) = house().await else { return };
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);

    let made = house.run(&["key", "create", "n8n", "--scopes", "worker", "--json"]);
    let user = said(house.command(&["user", "add", "anna"]).env("EFFECTGATE_PASSWORD", "long enough for us"));

    assert_eq!((made.code, user.code), (0, 0), "{} {}", made.err, user.err);
    let reserve = json!({ "flow": "ticket", "key": "order:1", "payload": {} });
    assert_eq!(gate.post(made.json()["key"].as_str().unwrap(), "/v1/runs", &reserve).0, 201);
    let verified = house.run(&["journal", "verify", "--offline", "--json"]).json();
    assert_eq!(verified["verified"], true);
}

#[tokio::test]
async fn the_doctor_sees_a_database_and_its_clock() {
    let Some(house) = house().await else { return };
    assert_eq!(house.run(&["migrate", "apply"]).code, 0);

    let told = house.run(&["doctor", "--json"]);

    let findings = told.json()["findings"].as_array().unwrap().clone();
    let verdict = |what: &str| findings.iter().find(|f| f["what"] == what).map(|f| f["verdict"].clone());
    assert_eq!((verdict("database"), verdict("clock")), (Some(json!("ok")), Some(json!("ok"))), "{}", told.out);
    assert_eq!(told.code, 0, "{}", told.out);
}
