//! What is lost on the way: answers, callers, processes.

use effectgate_core::{gate::Gate, ids::FlowName, provider::Class, run::Origin};
use effectgate_engine::{
    outbound::{Began, OutAnswer},
    reserve::{KeyGiven, PayloadGiven, Request, Reserved},
};
use effectgate_testkit::provider::{Act, ScriptedProvider, Step};

use super::{ask, begin, kept, options, refund, send, world};
use crate::common::{HOUR, World, enforcing};

#[tokio::test]
async fn a_lost_answer_at_an_advisory_provider_is_unknown_and_is_never_sent_again() {
    let (provider, world) = world([Act::ReadThenReset.into()], Class::Advisory, Gate::None).await;

    let first = send(&world, &refund("k")).await;
    world.pass(20, HOUR / 60).await;
    let second = ask(&world, &refund("k")).await;

    for answer in [first, second] {
        let OutAnswer::Unknown { run } = answer else { panic!("{answer:?}") };
        assert_eq!(run.effects[0].state, "review");
    }
    let ledger = provider.ledger();
    assert_eq!((ledger.requests.len(), ledger.executions.len()), (1, 1));
}

#[tokio::test]
async fn a_lost_answer_at_an_enforcing_provider_is_asked_for_again_under_one_key() {
    let (provider, world) = world([Act::ReadThenReset.into()], enforcing(), Gate::None).await;
    provider.enforce("Idempotency-Key");
    let Began::Waiting(waiting) = begin(&world.engine, &world.caller, &refund("k")).await else { panic!() };
    let engine = world.engine.clone();
    let waits = tokio::spawn(async move { engine.out_wait(&waiting).await.unwrap() });

    world.round().await;
    world.pass(3, 2_000).await;

    let (first, replayed) = kept(waits.await.unwrap());
    let ledger = provider.ledger();
    assert_eq!((first.status, replayed), (201, false));
    assert_eq!((ledger.requests.len(), ledger.executions.len()), (2, 1));
    assert_eq!(ledger.requests[0].header("idempotency-key"), ledger.requests[1].header("idempotency-key"));
    assert_eq!(kept(ask(&world, &refund("k")).await), (first, true));
}

#[tokio::test]
async fn a_caller_that_hangs_up_stops_nothing_and_its_repeat_gets_the_answer() {
    let (provider, world) = world([Step::created().held()], Class::Advisory, Gate::None).await;
    let Began::Waiting(waiting) = begin(&world.engine, &world.caller, &refund("k")).await else { panic!() };
    let engine = world.engine.clone();
    let waits = tokio::spawn(async move { engine.out_wait(&waiting).await.unwrap() });
    world.engine.dispatch_tick().await.unwrap();
    provider.requests(1).await;

    waits.abort();
    assert!(waits.await.unwrap_err().is_cancelled());
    provider.release();
    world.engine.dispatch_idle().await;

    assert_eq!(kept(ask(&world, &refund("k")).await).0.status, 201);
    assert_eq!(provider.ledger().executions.len(), 1);
}

#[tokio::test]
async fn what_never_reached_the_provider_was_not_sent_and_a_repeat_sends_nothing() {
    // A port that nobody listens on any more.
    let url = ScriptedProvider::start([]).await.url();
    let world = World::with(options(&url, Class::Advisory, Gate::None));
    ask(&world, &refund("k")).await;
    world.pass(10, 60_000).await;

    let answer = ask(&world, &refund("k")).await;

    let OutAnswer::NotSent { run, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(run.effects[0].reason.as_deref(), Some("attempts_exhausted"));
}

#[tokio::test]
async fn what_a_crash_leaves_between_reserving_and_queueing_is_taken_over() {
    let (provider, world) = world([], Class::Advisory, Gate::None).await;
    // The process that reserved is gone before it queued anything; the payload is the request's own.
    let text =
        r#"{"method":"POST","path":"/v1/refunds?expand=1","content_type":"application/json","json":{"amount":1.1}}"#;
    let request = Request {
        flow: FlowName::new("ticket"),
        key: KeyGiven::Whole("k".into()),
        payload: PayloadGiven::Text(text.into()),
        owner: Some("out:gone".into()),
        lease_ms: None,
        origin: Origin::default(),
    };
    assert!(matches!(world.engine.reserve(&world.caller, request).await.unwrap(), Reserved::Granted { .. }));

    let busy = ask(&world, &refund("k")).await;
    assert!(matches!(&busy, OutAnswer::InFlight { retry_after_ms, .. } if *retry_after_ms > 0), "{busy:?}");
    world.clock.advance_ms(61_000);

    let (answer, replayed) = kept(send(&world, &refund("k")).await);
    assert_eq!((answer.status, replayed, provider.ledger().requests.len()), (201, false, 1));
}

#[tokio::test]
async fn another_process_waits_for_the_outcome_and_answers_the_repeat() {
    let (provider, world) = world([Step::created().held()], Class::Advisory, Gate::None).await;
    let Began::Waiting(_) = begin(&world.engine, &world.caller, &refund("k")).await else { panic!() };
    world.engine.dispatch_tick().await.unwrap();
    provider.requests(1).await;
    let (other, caller) = (world.another_engine(), world.caller.clone());
    let waits = tokio::spawn(async move {
        let Began::Waiting(waiting) = begin(&other, &caller, &refund("k")).await else { panic!() };
        other.out_wait(&waiting).await.unwrap()
    });

    provider.release();
    world.engine.dispatch_idle().await;

    assert!(kept(waits.await.unwrap()).1);
    assert_eq!(provider.ledger().requests.len(), 1);
}
