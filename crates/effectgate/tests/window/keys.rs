//! The provider's key names the intention: it is the same in every attempt, whatever was lost, and it is not trusted past
//! its window.

use effectgate_relay::Fault;
use effectgate_testkit::provider::Step;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{
    ground::{Calls as _, eventually},
    world::{World, attempts},
};

/// The one key that all requests carried.
fn only_key(world: &World) -> String {
    let mut keys = world.keys_seen();
    keys.dedup();
    assert_eq!(keys.len(), 1, "{keys:?}");
    keys.remove(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_24_a_lost_answer_is_asked_for_again_under_the_same_key() {
    let world = World::keeping_keys().await;
    world.next(Fault::ForwardThenDropResponse);

    let run = world.queued("keeper", "refund:1");
    let story = world.until(&run, "completed");

    assert_eq!(story["effects"][0]["provider_key"], only_key(&world).as_str());
    assert_eq!((world.ledger().executions.len(), &story["effects"][0]["external_id"]), (1, &"pred_1".into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_24_a_crash_between_send_and_record_keeps_the_key() {
    let world = World::keeping_keys().await;
    world.provider.push(Step::created().held());
    let run = world.queued("keeper", "refund:1");
    world.provider.until(|ledger| ledger.executions.len() == 1).await;

    let world = world.killed_and_started();
    world.provider.release();
    let story = world.until(&run, "completed");

    assert_eq!(story["effects"][0]["provider_key"], only_key(&world).as_str());
    assert_eq!((world.ledger().executions.len(), attempts(&story).len()), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_24_an_operator_who_presses_twice_sends_once_more_under_the_same_key() {
    let world = World::keeping_keys().await;
    world.relay.set_mode(Fault::ForwardThenDropResponse);
    let run = world.queued("keeper", "refund:1");
    let story = world.until(&run, "review");
    let tried = attempts(&story).len();
    world.relay.set_mode(Fault::ForwardAndRespond);

    let first = world.send_again(&run);
    let second = world.send_again(&run);
    let story = world.until(&run, "completed");
    let third = world.send_again(&run);

    assert_eq!(first.0, 200, "{}", first.1);
    for (status, body) in [second, third] {
        assert_eq!((status, &body["code"]), (409, &Value::from("wrong_state")), "{body}");
    }
    only_key(&world);
    assert_eq!((world.ledger().executions.len(), attempts(&story).len()), (1, tried + 1));
}

/// How long the key of `brief` is good for after the first send.
const WINDOW: SignedDuration = SignedDuration::from_secs(3);

/// Waits until the key of the run's only effect is too old by the gate's own clock, which the ticks of its workers show,
/// and by its own record of when it sent first.
fn until_the_window_is_over(world: &World, run: &str) {
    let moment = |at: &Value| at.as_str().unwrap().parse::<Timestamp>().unwrap();
    let over = moment(&attempts(&world.gate.explain(run))[0]["at"]) + WINDOW;
    eventually("the end of the key's window", || {
        let workers = world.gate.get("/readyz")["workers"].as_array().cloned().unwrap_or_default();
        workers.iter().any(|worker| moment(&worker["last_tick_at"]) > over).then_some(())
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_25_a_key_that_the_provider_may_have_forgotten_is_not_sent_again() {
    let world = World::keeping_keys().await;
    // Held until the switch is off: no re-issue comes before it.
    world.provider.push(Step::created().held());
    world.next(Fault::ForwardThenDropResponse);
    let run = world.queued("brief", "customer:1");
    world.provider.requests(1).await;
    world.turn(false);
    world.provider.release();
    until_the_window_is_over(&world, &run);
    world.provider.apply(effectgate_testkit::provider::Mode { forget_keys: true, ..Default::default() });

    world.turn(true);
    let story = world.until(&run, "review");
    world.sweeps(5);

    assert_eq!((world.ledger().executions.len(), world.ledger().requests.len()), (1, 1), "{story:#}");
    assert_eq!((attempts(&story).len(), &story["sent"]), (1, &"unknown".into()));
    assert_eq!(world.gate.get("/v1/journal/verify")["verified"], true);
}
