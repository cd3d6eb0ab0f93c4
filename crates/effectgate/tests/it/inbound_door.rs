//! The inbound door of the real binary, over both databases: deliveries that come at once, and what was answered when the
//! server dies.

use std::{collections::BTreeMap, sync::Barrier, thread};

use serde_json::json;

use crate::{
    config::to_nobody,
    ground::{Answer, Backend, Calls as _, Ground, on_both_backends},
    support::{Gate, House},
};

const SECRET: &str = "a-secret-of-the-shop-4711";
const SOURCE: &str = r#"
[sources.shop]
flow = "ticket"
signature = { scheme = "shared-secret", secret = "a-secret-of-the-shop-4711" }
key_parts = { source = "'shop'", event_type = "/type", external_id = "/id", version = "'1'" }
"#;

fn config() -> String {
    [to_nobody(), SOURCE.to_owned()].concat()
}

fn deliver(gate: &Gate, id: usize) -> Option<Answer> {
    let bearer = format!("Bearer {SECRET}");
    let body = format!(r#"{{"type":"order.paid","id":{id},"amount":12.50}}"#);
    gate.exchange("POST", "/in/shop", &[("authorization", &bearer)], &body)
}

const DELIVERIES: usize = 10;
const ROUNDS: usize = 20;

/// Of PostgreSQL two replicas, of SQLite the one server there can be.
async fn ten_identical_deliveries_at_once_are_one_run_on_every_database(backend: Backend) {
    let Some(ground) = Ground::new(backend, &config()).await else { return };
    let replicas = if matches!(backend, Backend::Postgres) { 2 } else { 1 };
    let gates: Vec<Gate> = (0..replicas).map(|_| ground.serve()).collect();
    let barrier = Barrier::new(DELIVERIES);

    let rounds = |n: usize| {
        let round = |id| {
            barrier.wait();
            // Nobody may fail here: the others would wait at the barrier for ever.
            deliver(&gates[n % replicas], id)
        };
        (0..ROUNDS).map(round).collect::<Vec<_>>()
    };

    let told: Vec<Vec<Option<Answer>>> = thread::scope(|scope| {
        let rounds = &rounds;
        let all: Vec<_> = (0..DELIVERIES).map(|n| scope.spawn(move || rounds(n))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });

    for id in 0..ROUNDS {
        let mut answers: BTreeMap<(u16, String), usize> = BTreeMap::new();
        for answer in told.iter().map(|one| one[id].as_ref().unwrap()) {
            *answers.entry((answer.status, answer.body["answer"].to_string())).or_default() += 1;
        }
        let wanted = BTreeMap::from([((200, "\"duplicate\"".into()), 9), ((202, "\"accepted\"".into()), 1)]);
        assert_eq!(answers, wanted, "round {id}");
    }
    let runs = gates[0].get("/v1/runs?flow=ticket&state=queued&limit=200");
    assert_eq!(runs["runs"].as_array().unwrap().len(), ROUNDS);
    assert_eq!(ground.verify()["verified"], true);
}

async fn an_event_that_was_answered_outlives_a_server_that_is_killed(backend: Backend) {
    let Some(ground) = Ground::new(backend, &config()).await else { return };
    let gate = ground.serve();
    let first = deliver(&gate, 17).unwrap();
    assert_eq!((first.status, &first.body["answer"]), (202, &json!("accepted")));
    drop(gate);

    let gate = ground.serve();
    let again = deliver(&gate, 17).unwrap();
    let claimed = gate.call("POST", "/v1/runs/claim", &json!({"flow": "ticket", "owner": "w"})).unwrap();

    assert_eq!((again.status, &again.body["answer"]), (200, &json!("duplicate")));
    assert_eq!(again.body["run_id"], first.body["run_id"]);
    assert_eq!((claimed.status, claimed.run_id()), (201, first.body["run_id"].as_str().unwrap().to_owned()));
    assert!(claimed.text.contains(r#""payload":{"type":"order.paid","id":17,"amount":12.50}"#), "{}", claimed.text);
}

on_both_backends! {
    ten_identical_deliveries_at_once_are_one_run_on_every_database;
    an_event_that_was_answered_outlives_a_server_that_is_killed;
}

#[test]
fn the_secret_of_a_source_is_shown_nowhere() {
    let house = House::with(&config().replace("DATABASE", "sqlite:gate.db"));

    let shown = house.run(&["check", "--effective"]);
    let faulty =
        House::with(&config().replace("DATABASE", "sqlite:gate.db").replace("flow = \"ticket\"", "flow = \"x\""));
    let told = faulty.run(&["check"]);

    assert_eq!((shown.code, told.code), (0, 1), "{} {}", shown.err, told.out);
    assert!(shown.out.contains("[sources.shop.signature]") && shown.out.contains("secret = \"***\""), "{}", shown.out);
    for said in [shown, told] {
        assert!(!said.out.contains(SECRET) && !said.err.contains(SECRET));
    }
}
