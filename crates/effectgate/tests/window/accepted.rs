//! The provider has done it, and its answer is lost: what follows depends on what the provider promises about keys.

use effectgate_relay::Fault;
use effectgate_testkit::provider::Lookup;

use crate::world::{World, attempts};

/// Enough that a worker which sends again on its own would have.
const SWEEPS: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_of_an_advisory_provider_goes_to_a_person_and_never_out_again() {
    let world = World::new().await;
    world.next(Fault::ForwardThenDropResponse);

    let run = world.queued("blind", "order:1");
    let story = world.until(&run, "review");
    world.sweeps(SWEEPS);

    assert_eq!(story["sent"], "unknown", "{story:#}");
    let ledger = world.ledger();
    assert_eq!((ledger.executions.len(), ledger.connections), (1, 1), "one effect, and nobody knocked again");
    let counts = world.relay.counts();
    assert_eq!((counts.seen, counts.dropped), (1, 1));
    let story = world.until(&run, "review");
    assert_eq!(attempts(&story).len(), 1, "{story:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_of_an_enforcing_provider_is_asked_for_again_under_the_same_key() {
    let world = World::keeping_keys().await;
    world.next(Fault::ForwardThenDropResponse);

    let run = world.queued("keeper", "order:1");
    let story = world.until(&run, "completed");
    world.sweeps(SWEEPS);

    let ledger = world.ledger();
    assert_eq!((ledger.executions.len(), ledger.requests.len()), (1, 2), "{story:#}");
    let keys = world.keys_seen();
    assert_eq!(keys[0], keys[1]);
    assert_eq!(story["effects"][0]["external_id"], "pred_1", "the id of the effect that the lost answer named");
    let counts = world.relay.counts();
    assert_eq!((counts.dropped, counts.answered), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_the_window_of_the_key_a_lost_answer_goes_to_a_person() {
    let world = World::keeping_keys().await;
    world.relay.set_mode(Fault::ForwardThenDropResponse);

    // Every answer is lost until the three seconds of this key are over.
    let run = world.queued("brief", "order:1");
    let story = world.until(&run, "review");
    world.relay.set_mode(Fault::ForwardAndRespond);
    let sent = world.ledger().requests.len();
    world.sweeps(SWEEPS);

    let ledger = world.ledger();
    assert_eq!((ledger.executions.len(), ledger.requests.len()), (1, sent), "{story:#}");
    assert!(sent > 1, "inside the window it was asked again");
    assert_eq!(attempts(&story).len(), sent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_that_a_lookup_finds_is_completed_and_never_sent_again() {
    let world = World::new().await;
    world.next(Fault::ForwardThenDropResponse);

    let run = world.queued("seen", "order:1");
    let story = world.until(&run, "completed");
    world.sweeps(SWEEPS);

    let ledger = world.ledger();
    assert_eq!((ledger.executions.len(), ledger.requests.len()), (1, 1), "{story:#}");
    assert!(!ledger.lookups.is_empty(), "it was asked for");
    assert_eq!((&story["effects"][0]["external_id"], attempts(&story).len()), (&"pred_1".into(), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_that_no_lookup_finds_goes_to_a_person_and_never_out_again() {
    let world = World::new().await;
    world.provider.set_lookup(Lookup::Hidden);
    world.next(Fault::ForwardThenDropResponse);

    let run = world.queued("seen", "order:1");
    let story = world.until(&run, "review");
    world.sweeps(SWEEPS);

    let ledger = world.ledger();
    assert_eq!((ledger.executions.len(), ledger.requests.len()), (1, 1), "{story:#}");
    assert_eq!((&story["sent"], attempts(&story).len()), (&"unknown".into(), 1));
}
