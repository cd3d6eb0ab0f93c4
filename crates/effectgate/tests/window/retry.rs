//! What counts as failure, and how often something is tried: as often as it says, never more behind anybody's back.

use effectgate_relay::{Fault, Phase};
use effectgate_testkit::provider::{Act, ScriptedProvider, Step};

use crate::{
    ground::Calls as _,
    world::{World, attempts},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_21_an_error_member_that_is_there_is_no_failure() {
    let world = World::new().await;
    let files = [
        (include_str!("../data/hc21-ok-1.json"), "pred_1"),
        (include_str!("../data/hc21-ok-2.json"), "row_9"),
        (include_str!("../data/hc21-ok-3.json"), "row_9"),
        (include_str!("../data/hc21-ok-4.json"), "row_9"),
    ];
    for (n, (body, id)) in (1..).zip(files) {
        world.provider.push(Step::answer(200, body));

        let run = world.queued("blind", &format!("order:{n}"));
        let story = world.until(&run, "completed");

        assert_eq!((&story["effects"][0]["external_id"], attempts(&story).len()), (&id.into(), 1), "{body}");
    }
    world.sweeps(5);
    assert_eq!(world.relay.counts().seen, 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_22_nothing_follows_a_redirect_and_a_person_sees_that_it_is_misconfigured() {
    let world = World::new().await;
    let elsewhere = ScriptedProvider::start([]).await;
    let mut sent = 0;
    for status in ["302 Found", "301 Moved Permanently", "303 See Other"] {
        for location in [format!("{}/landing", elsewhere.url()), format!("{}/landing", world.relay.url())] {
            let text = include_str!("../data/hc22-provider-302.http")
                .replace("302 Found", status)
                .replace("https://other.example.test/landing", &location);
            world.provider.push(Act::Raw { text });
            sent += 1;

            let run = world.queued("blind", &format!("order:{sent}"));
            let story = world.until(&run, "failed");

            assert_eq!(story["effects"][0]["reason"], "redirect", "{status} to {location}: {story:#}");
        }
    }
    world.sweeps(5);
    let ledger = world.ledger();
    assert_eq!((ledger.requests.len(), world.relay.counts().seen), (sent, sent as u64));
    assert!(ledger.requests.iter().all(|r| r.method == "POST" && r.path == "/blind"));
    assert_eq!(elsewhere.ledger().connections, 0, "no key, body or credential went there");
}

/// Attempts of a provider that the metric counts.
fn counted(world: &World, provider: &str) -> u64 {
    let text = world.gate.call("GET", "/metrics", &serde_json::Value::Null).unwrap().text;
    let of = format!("provider=\"{provider}\"");
    let lines = text.lines().filter(|line| line.starts_with("effectgate_attempts_total{") && line.contains(&of));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_23_an_overloaded_provider_is_asked_as_often_as_the_record_says() {
    let world = World::new().await;
    world.provider.set_default(Step::answer_with(503, "Retry-After", "0"));

    let run = world.queued("busy", "order:1");
    let story = world.until(&run, "failed");
    world.sweeps(5);

    assert_eq!((attempts(&story).len(), world.relay.counts().seen), (4, 4), "{story:#}");
    assert_eq!((world.ledger().requests.len(), counted(&world, "busy")), (4, 4));
    assert_eq!(story["effects"][0]["reason"], "attempts_exhausted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_23_a_closed_port_is_tried_as_often_as_it_says_and_nothing_arrives() {
    let world = World::new().await;
    let World { ground, gate, relay, provider } = world;
    relay.shutdown().await;

    let granted = gate.reserve("blind", "order:1", "worker-1").unwrap();
    let run = granted.run_id();
    gate.propose(&run, ("worker-1", granted.fence()), &serde_json::json!({ "cents": 1 })).unwrap();
    let story = gate.until_effect(&run, &["failed"]);

    assert_eq!(attempts(&story).len(), 4, "{story:#}");
    assert_eq!((&story["effects"][0]["reason"], provider.ledger().connections), (&"attempts_exhausted".into(), 0));
    assert_eq!(ground.verify()["verified"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_23_a_silent_provider_that_keeps_no_keys_is_written_to_once() {
    let world = World::new().await;
    world.relay.set_mode(Fault::Silence(Phase::AfterForward));

    let run = world.queued("curt", "order:1");
    let story = world.until(&run, "review");
    world.sweeps(5);

    assert_eq!((attempts(&story).len(), world.relay.counts().seen), (1, 1), "{story:#}");
    assert_eq!((world.ledger().executions.len(), counted(&world, "curt")), (1, 1));
}
