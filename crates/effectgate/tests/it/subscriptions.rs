//! Subscriptions through the real binary: over HTTP as a trigger node makes them, at the command line, and between two
//! servers on one database.

use std::collections::{BTreeMap, BTreeSet};

use effectgate_testkit::provider::{ScriptedProvider, Step};
use serde_json::{Value, json};

use crate::{
    config::{HEAD, Head, NOBODY, http, ungated},
    ground::{Backend, Calls as _, Ground},
    support::{Gate, KEY, said},
};

const CRM: &str = r#"effects.act = { path = "/notes", external_id = "/id" }"#;

/// An n8n that takes everything, and a house that may call it.
async fn house(backend: Backend) -> Option<(ScriptedProvider, Ground)> {
    let n8n = ScriptedProvider::start([]).await;
    n8n.set_default(Step::answer(200, "{}"));
    let section = format!("[n8n]\nurl = \"{}\"\n", n8n.url());
    let head = Head { connections_max: Some(8), sweeper_ms: 200, ..HEAD };
    let config = head.with(&[&section, &http("crm", NOBODY, CRM), &ungated("ticket", "act", "crm")]);
    Some((n8n, Ground::new(backend, &config).await?))
}

fn wish(url: &str) -> Value {
    json!({ "url": url, "events": ["run.failed"] })
}

/// Fails a run for good.
fn fail(gate: &Gate, key: &str) {
    let granted = gate.reserve("ticket", key, "w").unwrap();
    let failed =
        gate.under_lease("fail", &granted.run_id(), ("w", granted.fence()), &json!({ "class": "agent_limit" }));
    assert_eq!(failed.unwrap().status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trigger_registers_is_told_and_goes_and_other_keys_do_not_see_it() {
    let Some((n8n, ground)) = house(Backend::Sqlite).await else { return };
    let gate = ground.serve();
    let url = format!("{}/webhook/a/webhook", n8n.url());
    let made = ground.house.run(&["key", "create", "other", "--scopes", "worker", "--json"]).json();
    let other = made["key"].as_str().unwrap();
    let as_other = |method: &str, path: &str| {
        gate.ask(method, path, &[("authorization", &format!("Bearer {other}"))], &Value::Null).unwrap()
    };

    let first = gate.call("POST", "/v1/subscriptions", &wish(&url)).unwrap();
    let again = gate.call("POST", "/v1/subscriptions", &wish(&url)).unwrap();
    let outside = gate.call("POST", "/v1/subscriptions", &wish("http://127.0.0.1:9/webhook/a")).unwrap();
    let unknown = gate.call("POST", "/v1/subscriptions", &json!({ "url": url, "events": ["run.exploded"] })).unwrap();

    assert_eq!((first.status, again.status), (201, 200), "{first:?} {again:?}");
    assert_eq!(first.body, again.body);
    assert_eq!((outside.status, outside.code(), &outside.body["pointer"]), (422, "url_not_allowed", &json!("/url")));
    assert!(!outside.text.contains("127.0.0.1:9"), "{}", outside.text);
    assert_eq!((unknown.status, unknown.code(), &unknown.body["pointer"]), (400, "bad_member", &json!("/events/0")));

    fail(&gate, "k1");
    let told = n8n.requests(1).await;
    let got: Value = serde_json::from_slice(&told.requests[0].body).unwrap();
    assert_eq!((&got["type"], &got["data"]["run"]["key"]), (&json!("run.failed"), &json!("k1")));

    let path = format!("/v1/subscriptions/{}", first.body["id"].as_str().unwrap());
    assert_eq!(as_other("GET", "/v1/subscriptions").body, json!({ "data": [] }));
    assert_eq!(as_other("DELETE", &path).status, 204, "as for one that is gone");
    assert_eq!(gate.get("/v1/subscriptions")["data"][0]["id"], first.body["id"]);

    let cli =
        |args: &[&str]| said(ground.house.command(args).env("EFFECTGATE_URL", &gate.url).env("EFFECTGATE_KEY", KEY));
    let listed = cli(&["subscriptions", "--json"]).json();
    assert_eq!(listed["items"][0]["url"], json!(url));
    assert!(cli(&["subscriptions", "list"]).out.contains("run.failed"));
    assert_eq!(cli(&["subscriptions", "drop", first.body["id"].as_str().unwrap()]).code, 0);
    assert_eq!(cli(&["subscriptions", "drop", "nothing"]).code, 3, "no id at all");
    assert_eq!(gate.call("DELETE", &path, &Value::Null).unwrap().status, 204);
    assert_eq!(gate.get("/v1/subscriptions"), json!({ "data": [] }));
    assert_eq!(ground.verify()["verified"], json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_on_one_database_tell_of_every_event_under_one_id() {
    let Some((n8n, ground)) = house(Backend::Postgres).await else { return };
    let gates = [ground.serve(), ground.serve()];
    let url = format!("{}/webhook/a/webhook", n8n.url());
    assert_eq!(gates[0].call("POST", "/v1/subscriptions", &wish(&url)).unwrap().status, 201);
    // The other server has not looked at the subscriptions yet, so its first look finds this one.

    for n in 0..40 {
        fail(&gates[n % 2], &format!("k{n}"));
    }

    let keys = |ledger: &effectgate_testkit::provider::Ledger| -> BTreeMap<String, BTreeSet<String>> {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for got in ledger.requests.iter().filter(|got| got.complete) {
            let body: Value = serde_json::from_slice(&got.body).unwrap();
            let id = got.header("webhook-id").unwrap().to_owned();
            all.entry(body["data"]["run"]["key"].as_str().unwrap().to_owned()).or_default().insert(id);
        }
        all
    };
    let ledger = n8n.until(|ledger| keys(ledger).len() == 40).await;
    assert!(keys(&ledger).values().all(|ids| ids.len() == 1), "{:#?}", keys(&ledger));
    assert_eq!(ground.verify()["verified"], json!(true));
}
