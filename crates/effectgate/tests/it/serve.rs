//! The server as a process: its first words, its signals, its death.

use serde_json::json;

use crate::support::{House, KEY};

#[test]
fn the_first_start_prints_an_admin_key_and_no_other_start_does() {
    let house = House::new();
    let mut gate = house.serve(&[]);
    let key = gate.first_key.clone().unwrap();

    let (status, _) = gate.post(&key, "/v1/runs", &json!({ "flow": "ticket", "key": "a:b:1", "payload": {} }));

    assert_eq!(status, 201);
    assert_eq!(gate.signal("TERM"), 0);
    assert!(house.serve(&[]).first_key.is_none());
}

#[test]
fn a_key_that_was_given_is_not_printed() {
    let house = House::new();
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);

    let (status, _) = gate.post(KEY, "/v1/runs", &json!({ "flow": "ticket", "key": "a:b:1", "payload": {} }));

    assert_eq!((status, &gate.first_key), (201, &None));
}

#[test]
fn both_signals_stop_it_in_order() {
    let house = House::new();
    for signal in ["TERM", "INT"] {
        let mut gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);

        assert_eq!(gate.signal(signal), 0, "{signal}");
    }
    let log = std::fs::read_to_string(house.path("server.log")).unwrap();
    let unwell = log.lines().filter(|line| line.contains("\"ERROR\"") || line.contains("\"WARN\"")).collect::<Vec<_>>();
    assert!(unwell.is_empty(), "{unwell:?}");
}

#[test]
fn what_was_answered_survives_kill_9() {
    let house = House::new();
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let reserve = json!({ "flow": "ticket", "key": "order:1", "payload": { "n": 1 }, "owner": "worker-1" });
    let (_, granted) = gate.post(KEY, "/v1/runs", &reserve);
    let run = granted["run"]["id"].as_str().unwrap().to_owned();
    let done = json!({ "owner": "worker-1", "fence": granted["lease"]["fence"], "result": { "label": "question" } });
    let (status, _) = gate.post(KEY, &format!("/v1/runs/{run}/complete"), &done);
    assert_eq!(status, 200);
    gate.kill();

    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let (status, again) = gate.post(KEY, "/v1/runs", &reserve);

    assert_eq!((status, &again["answer"], &again["run"]["id"]), (200, &json!("replay"), &json!(run)));
    assert_eq!(again["run"]["result"], json!({ "label": "question" }));
}

#[test]
fn one_server_serves_one_file() {
    let house = House::new();
    let _gate = house.serve(&[]);

    let second = house.run(&["serve"]);

    assert_eq!(second.code, 5, "{}", second.err);
    assert!(second.err.contains("in use by another process"), "{}", second.err);
}

#[test]
fn an_unsafe_config_does_not_start() {
    let house = House::with("[flows.a.effects.x]\nprovider = \"absent\"\n");

    let told = house.run(&["serve", "--json"]);

    assert_eq!(told.code, 4);
    assert!(told.err.contains("bad_config") && !house.path("effectgate.db").exists(), "{}", told.err);
}
