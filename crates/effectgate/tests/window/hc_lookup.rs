//! Lookups after a lost answer: an early "none" is no proof, the late find completes, two matches and a long silence go to
//! a person; and what contradicts the record is told and changes nothing. The real binary asks through the real relay.

use std::thread;

use effectgate_relay::{Fault, Match, Rule};
use effectgate_testkit::provider::Lookup;
use serde_json::{Value, json};

use crate::{
    config::{http, ungated},
    ground::{Answer, Calls as _, eventually},
    world::{BRISK, World},
};

const SWEEPS: usize = 10;

const ASKER: &str = r#"
timeout_ms = 5_000
sending_margin_ms = 500
effects.act = { path = "/asker", external_id = "/id" }
[providers.asker.lookup]
path = "/asker?ref={{ provider_key }}"
found = "/items/0/id"
period_ms = 100
"#;

/// A world whose provider's index lags by at most this, in milliseconds.
async fn asking(settle_ms: u32, is_proof: bool) -> World {
    let lookup = format!("{ASKER}settle_delay_ms = {settle_ms}\nauthoritative = {is_proof}");
    World::with(&BRISK.with(&[&http("asker", "RELAY", &lookup), &ungated("asker", "act", "asker")])).await
}

/// Sends one effect whose answer is lost; the lookups pass.
async fn lost(settle_ms: u32, lookup: Lookup) -> (World, String) {
    let world = asking(settle_ms, false).await;
    world.provider.set_lookup(lookup);
    let matches = Match { method: Some("POST".into()), ..Match::default() };
    world.relay.add_rule(Rule { times: 1, matches, fault: Fault::ForwardThenDropResponse }).unwrap();
    let run = world.queued("asker", "order:1");
    (world, run)
}

/// Waits until the provider was asked so often.
async fn asked(world: &World, times: usize) {
    world.provider.until(|ledger| ledger.lookups.len() >= times).await;
}

/// One effect happened, by one request.
fn happened_once(world: &World) {
    let ledger = world.ledger();
    assert_eq!((ledger.executions.len(), ledger.requests.len()), (1, 1), "{ledger:#?}");
}

fn alerts(world: &World) -> Vec<String> {
    let file = rusqlite::Connection::open(world.ground.house.path("gate.db")).unwrap();
    let mut statement = file.prepare("SELECT kind FROM notices ORDER BY n").unwrap();
    let kinds = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let alert = |kind: String| serde_json::from_str::<Value>(&kind).unwrap()["alert"].as_str().map(str::to_owned);
    kinds.filter_map(|kind| alert(kind.unwrap())).collect()
}

fn effect_id(world: &World, run: &str) -> String {
    world.gate.explain(run)["effects"][0]["id"].as_str().unwrap().to_owned()
}

fn look(world: &World, effect: &str) -> Answer {
    world.gate.call("POST", &format!("/v1/effects/{effect}/look"), &json!({})).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_26_an_early_none_is_no_proof_and_the_late_find_completes() {
    let (world, run) = lost(600_000, Lookup::Hidden).await;

    asked(&world, 5).await;
    let waiting = world.gate.get(&format!("/v1/runs/{run}"));
    assert_eq!(waiting["effects"][0]["state"], "unknown", "{waiting:#}");
    assert!(waiting["effects"][0]["next_attempt_at"].is_string(), "it says when it looks again: {waiting:#}");
    world.provider.set_lookup(Lookup::Visible);
    let story = world.until(&run, "completed");
    world.sweeps(SWEEPS);

    assert_eq!(story["effects"][0]["external_id"], "pred_1");
    happened_once(&world);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_26_still_none_after_the_settle_delay_goes_to_a_person_and_is_never_sent_again() {
    let (world, run) = lost(1_000, Lookup::Hidden).await;

    let story = world.until(&run, "review");
    world.sweeps(SWEEPS);

    assert_eq!(story["effects"][0]["reason"], "not_found", "{story:#}");
    happened_once(&world);
    assert_eq!(alerts(&world), ["review"]);
    world.until(&run, "review");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_26_two_matches_are_an_alert_and_no_completion() {
    let (world, run) = lost(600_000, Lookup::Matches { count: 2 }).await;

    let story = world.until(&run, "review");
    world.sweeps(SWEEPS);

    assert_eq!(story["effects"][0]["reason"], "found_many", "{story:#}");
    happened_once(&world);
    assert_eq!(alerts(&world), ["review"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_26_a_lookup_that_fails_is_no_information() {
    let (world, run) = lost(100, Lookup::Status { status: 503 }).await;

    asked(&world, 3).await;
    world.provider.set_lookup(Lookup::Close);
    asked(&world, 6).await;
    let story = world.gate.explain(&run);
    assert_eq!(story["effects"][0]["state"], "unknown", "whatever the settle delay: {story:#}");
    world.provider.set_lookup(Lookup::Visible);
    world.until(&run, "completed");

    happened_once(&world);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_27_a_late_failure_takes_no_success_back() {
    let world = asking(100, true).await;
    let run = world.queued("asker", "order:1");
    world.until(&run, "completed");
    let effect = effect_id(&world, &run);
    let before = world.gate.get(&format!("/v1/runs/{run}"));
    // Beyond the settle delay, so that "not there" means something.
    world.sweeps(5);

    world.provider.set_lookup(Lookup::Hidden);
    let failed = look(&world, &effect);
    world.provider.set_lookup(Lookup::Visible);
    // A second click gets the first answer for five seconds; then the provider is asked anew.
    let again = eventually("a new look", || Some(look(&world, &effect)).filter(|got| got.body["answer"] == "looked"));
    let both = thread::scope(|scope| {
        let one = scope.spawn(|| look(&world, &effect));
        let two = scope.spawn(|| look(&world, &effect));
        [one.join().unwrap(), two.join().unwrap()]
    });

    assert_eq!((failed.status, &failed.body["look"]["means"]), (200, &json!("contradicts")), "{}", failed.body);
    assert_eq!(again.body["look"]["means"], "agrees", "{}", again.body);
    for answer in both {
        assert_eq!((answer.status, &answer.body["effect"]["state"]), (200, &json!("completed")));
    }
    let after = world.gate.get(&format!("/v1/runs/{run}"));
    assert_eq!((&after["state"], &after["effects"]), (&before["state"], &before["effects"]));
    assert_eq!(alerts(&world), ["contrary_report"]);
    happened_once(&world);
    assert_eq!(world.ground.verify()["verified"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_27_found_after_it_was_settled_as_not_happened_is_told_and_changes_nothing() {
    let (world, run) = lost(100, Lookup::Hidden).await;
    world.until(&run, "review");
    let effect = effect_id(&world, &run);
    let word = json!({ "verdict": "did_not_happen", "then": "cancel", "reason": "not in their list" });
    let settled = world.gate.call("POST", &format!("/v1/effects/{effect}/resolve"), &word).unwrap();
    assert_eq!(settled.status, 200, "{}", settled.body);

    world.provider.set_lookup(Lookup::Visible);
    let found = look(&world, &effect);

    assert_eq!((&found.body["look"]["said"], &found.body["look"]["means"]), (&json!("found"), &json!("contradicts")));
    assert_eq!(
        (&found.body["effect"]["state"], &found.body["look"]["external_id"]),
        (&json!("cancelled"), &json!("pred_1"))
    );
    assert_eq!(alerts(&world), ["review", "contrary_report"]);
    world.sweeps(SWEEPS);
    happened_once(&world);
}
