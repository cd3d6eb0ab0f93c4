//! Connections that end after the request was read, in every way they can: each is unknown, and nothing is repeated.

use effectgate_relay::{Fault, Phase};
use effectgate_testkit::provider::Act;
use serde_json::json;

use crate::world::{World, attempts};

/// What happens to the second request of a gate whose first one went well.
#[derive(Debug, Clone)]
enum End {
    /// The relay loses the provider's whole answer.
    Relay(Fault),
    /// The provider ends, and the relay passes that on.
    Provider(Act),
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_20_a_connection_that_ends_after_the_request_was_read_is_unknown_and_nothing_is_repeated() {
    let world = World::new().await;
    let first = world.queued("blind", "order:0");
    world.until(&first, "completed");
    let ends = [
        End::Relay(Fault::Close(Phase::AfterForward)),
        End::Relay(Fault::Reset(Phase::AfterForward)),
        End::Relay(Fault::Close(Phase::MidAnswer)),
        End::Provider(Act::HalfHeadThenClose),
        End::Provider(Act::ContinueThenClose),
        End::Provider(Act::ReadThenReset),
    ];
    for (n, end) in (1..).zip(&ends) {
        match end {
            End::Relay(fault) => world.next(*fault),
            End::Provider(act) => world.provider.push(act.clone()),
        }

        let run = world.queued("blind", &format!("order:{n}"));
        let story = world.until(&run, "review");

        assert_eq!(story["sent"], "unknown", "{end:?}: {story:#}");
        let [attempt] = attempts(&story).as_slice() else { panic!("{end:?}: {story:#}") };
        assert!(attempt["bytes_sent"].as_i64() > Some(0) && attempt["detail"].is_string(), "{end:?}: {attempt:#}");
    }
    world.sweeps(5);
    let (ledger, counts) = (world.ledger(), world.relay.counts());
    assert_eq!((ledger.executions.len(), ledger.requests.len()), (ends.len() + 1, ends.len() + 1));
    assert_eq!(counts.seen, ends.len() as u64 + 1, "no client repeated one behind the gate's back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_the_relay_kept_is_as_unknown_as_one_that_was_done() {
    let world = World::new().await;
    world.next(Fault::Close(Phase::BeforeForward));

    let run = world.queued("blind", "order:1");
    let story = world.until(&run, "review");
    world.sweeps(5);

    assert_eq!(story["sent"], "unknown", "the gate cannot know which of the two it was: {story:#}");
    assert_eq!(world.ledger().connections, 0);
    let (status, body) = world.send_again(&run);
    assert_eq!(status, 200, "{body}");
    let story = world.until(&run, "completed");
    assert_eq!((attempts(&story).len(), world.ledger().executions.len()), (2, 1), "a person looked, and it went once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_duplicate_on_the_way_is_one_effect_where_keys_are_kept() {
    let world = World::keeping_keys().await;
    world.next(Fault::Duplicate);

    let run = world.queued("keeper", "order:1");
    let story = world.until(&run, "completed");

    let ledger = world.ledger();
    assert_eq!((ledger.executions.len(), ledger.requests.len()), (1, 2));
    assert_eq!((attempts(&story).len(), &story["effects"][0]["external_id"]), (1, &json!("pred_1")));
}
