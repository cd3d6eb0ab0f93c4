//! Keys and people made on the database while a server runs on it, and what an exit code says of a refused key.

use serde_json::json;

use crate::support::{House, KEY};

#[test]
fn a_key_made_beside_a_running_server_opens_it_and_a_revoked_one_does_not() {
    let house = House::new();
    let gate = house.serve(&[]);

    let made = house.run(&["key", "create", "n8n", "--scopes", "worker", "--json"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let (key, id) = (made.json()["key"].as_str().unwrap().to_owned(), made.json()["id"].as_str().unwrap().to_owned());
    // Revoked before the server has seen it: what it has seen it may take for some seconds more.
    let other = house.run(&["key", "create", "old", "--scopes", "worker", "--json"]).json();
    assert_eq!(house.run(&["key", "revoke", other["id"].as_str().unwrap()]).code, 0);

    let reserve = json!({ "flow": "ticket", "key": "order:1", "payload": {} });
    assert_eq!(gate.post(&key, "/v1/runs", &reserve).0, 201);
    assert_eq!(gate.post(other["key"].as_str().unwrap(), "/v1/runs", &reserve).0, 401);
    let listed = house.run(&["key", "list", "--json"]).json();
    let ids: Vec<_> = listed["keys"].as_array().unwrap().iter().map(|k| k["id"].clone()).collect();
    assert!(ids.contains(&json!(id)) && ids.len() == 3, "{ids:?}");
}

#[test]
fn the_record_of_keys_verifies_offline_and_by_the_server() {
    let house = House::new();
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    assert_eq!(house.run(&["key", "create", "n8n", "--scopes", "worker,auditor"]).code, 0);

    let offline = house.run(&["journal", "verify", "--offline", "--json"]);
    let asked = house.run(&["journal", "verify", "--json", "--url", &gate.url, "--key", KEY]);

    assert_eq!((offline.code, asked.code), (0, 0), "{} {}", offline.err, asked.err);
    assert_eq!(offline.json(), json!({ "verified": true, "chains": 1, "entries": 2, "broken": [] }));
    assert_eq!(offline.json(), asked.json());
    let lines = |args: &[&str]| house.run(args).out.lines().map(str::to_owned).collect::<Vec<_>>();
    let offline = lines(&["journal", "export", "--offline"]);
    assert_eq!(offline.len(), 3);
    assert_eq!(offline[..2], lines(&["journal", "export", "--url", &gate.url, "--key", KEY])[..2]);
}

#[test]
fn a_person_is_made_with_a_password_from_a_pipe_and_never_from_the_command_line() {
    let house = House::new();

    let made = {
        let mut command = house.command(&["user", "add", "Anna", "--roles", "support-lead,operator", "--json"]);
        crate::support::said(command.env("EFFECTGATE_PASSWORD", "correct horse battery"))
    };
    let without = house.run(&["user", "add", "bo"]);

    assert_eq!((made.code, without.code), (0, 2), "{} {}", made.err, without.err);
    let users = house.run(&["user", "list", "--json"]).json();
    assert_eq!(users["users"][0]["name"], "anna");
    assert!(!users.to_string().contains("argon2"), "{users}");
    assert_eq!(house.run(&["user", "disable", "anna"]).code, 0);
    assert_eq!(house.run(&["user", "disable", "nobody"]).code, 3);
}

#[test]
fn exit_codes_tell_a_wrong_key_from_no_server_and_from_nothing_found() {
    let house = House::new();
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let code = |args: &[&str]| house.run(args).code;

    assert_eq!(code(&["explain", "no-such-key", "--url", &gate.url, "--key", KEY]), 3);
    assert_eq!(code(&["runs", "--url", &gate.url, "--key", "eg_wrong"]), 6);
    assert_eq!(code(&["runs", "--url", &gate.url]), 6);
    assert_eq!(code(&["runs", "--url", "http://127.0.0.1:1", "--key", KEY]), 5);
    assert_eq!(code(&["runs", "--url", "not a url", "--key", KEY]), 2);
}
