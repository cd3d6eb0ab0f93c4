//! The second deliberate re-send: each decision of a person is one more attempt under the same key, never a silent
//! nothing and never a fresh key; and on what has happened it is refused, with the way to go.

use std::thread;

use effectgate_relay::Fault;
use serde_json::{Value, json};

use crate::{
    ground::Calls as _,
    world::{World, attempts},
};

fn send_again(world: &World, effect: &str, reason: &str) -> (u16, Value) {
    let body = json!({ "verdict": "did_not_happen", "then": "send_again", "reason": reason });
    let answer = world.gate.call("POST", &format!("/v1/effects/{effect}/resolve"), &body).unwrap();
    (answer.status, answer.body)
}

/// The reasons of every decision on record, with who decided.
fn decisions(world: &World, run: &str) -> Vec<(String, String)> {
    let journal = world.gate.get(&format!("/v1/runs/{run}/journal"));
    let entries = journal["entries"].as_array().unwrap_or_else(|| panic!("{journal:#}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let resolved = entries.iter().filter(|entry| entry["kind"] == "effect_resolved");
    resolved.map(|entry| (text(&entry["entry"]["actor"]), text(&entry["entry"]["facts"]["reason"]))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_46_each_decision_is_one_more_attempt_under_the_same_key_and_never_a_silent_nothing() {
    let world = World::new().await;
    world.relay.set_mode(Fault::ForwardThenDropResponse);
    let run = world.queued("blind", "order:1");
    let story = world.until(&run, "review");
    let effect = story["effects"][0]["id"].as_str().unwrap().to_owned();

    // A double click: at the same moment, from two connections.
    let mut clicks = thread::scope(|scope| {
        let clicks = [0, 1].map(|_| scope.spawn(|| send_again(&world, &effect, "first").0));
        clicks.map(|click| click.join().unwrap())
    });
    clicks.sort_unstable();
    assert_eq!(clicks, [200, 409]);
    world.provider.until(|ledger| ledger.requests.len() == 2).await;
    let story = world.until(&run, "review");
    assert_eq!(attempts(&story).len(), 2, "one more: {story:#}");

    // Later, with a reason of its own.
    world.relay.set_mode(Fault::ForwardAndRespond);
    assert_eq!(send_again(&world, &effect, "second").0, 200);
    let story = world.until(&run, "completed");

    assert_eq!((attempts(&story).len(), world.ledger().requests.len()), (3, 3));
    let mut keys = world.keys_seen();
    keys.dedup();
    assert_eq!(keys, [story["effects"][0]["provider_key"].as_str().unwrap()], "the same key every time");
    let said: Vec<_> = decisions(&world, &run).into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(said, ["first", "second"]);
    assert!(decisions(&world, &run).iter().all(|(actor, _)| actor == "key:bootstrap"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_46_on_what_has_happened_it_is_refused_with_the_way_to_go_and_the_way_works() {
    let world = World::new().await;
    let run = world.queued("blind", "order:1");
    let story = world.until(&run, "completed");
    let effect = story["effects"][0]["id"].as_str().unwrap().to_owned();

    let (status, refused) = send_again(&world, &effect, "once more");
    world.sweeps(5);

    assert_eq!((status, &refused["code"]), (409, &json!("wrong_state")), "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("correct"), "{refused}");
    assert_eq!(world.ledger().requests.len(), 1, "nothing left");
    let path = format!("/v1/runs/{run}/correct");
    let correction = |key: &str| {
        let body = json!({ "key": key, "payload": { "order": 2 }, "reason": "the wrong one" });
        world.gate.call("POST", &path, &body).unwrap()
    };
    let disguised = correction("order:1:again");
    assert_eq!((disguised.status / 100, disguised.code()), (4, "correction_key"), "{}", disguised.body);
    let made = correction("credit:77");
    assert_eq!((made.status, &made.body["run"]["corrects"]), (201, &json!(run)), "{}", made.body);
    let found = world.gate.get(&format!("/v1/runs/{run}/corrections"));
    assert_eq!(found["corrections"][0]["run_id"], made.body["run"]["id"]);
}
