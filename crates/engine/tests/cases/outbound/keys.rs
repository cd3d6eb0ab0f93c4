//! One key, one request: of ten at once, of another tenant, of a request that could never be sent.

use std::sync::Arc;

use effectgate_core::{
    gate::Gate,
    ids::{FlowName, Tenant},
    provider::Class,
    run::Origin,
};
use effectgate_engine::{
    Caller, EngineError,
    connectors::KeyPlace,
    outbound::{Began, OutAnswer, OutRequest},
    reserve::{KeyGiven, PayloadGiven, Request, Reserved},
};
use effectgate_testkit::provider::Step;
use http::Method;

use super::{ask, begin, connector, kept, refund, send, world};

#[tokio::test]
async fn ten_requests_at_once_are_one_request_at_the_far_side() {
    let (provider, world) = world([Step::created().held()], Class::Advisory, Gate::None).await;
    let all: Vec<_> = (0..10)
        .map(|_| {
            let (engine, caller) = (world.engine.clone(), world.caller.clone());
            tokio::spawn(async move {
                match begin(&engine, &caller, &refund("k")).await {
                    Began::Answered(answer) => answer,
                    Began::Waiting(waiting) => engine.out_wait(&waiting).await.unwrap(),
                }
            })
        })
        .collect();
    let world = Arc::new(world);
    let working = world.clone();
    let works = tokio::spawn(async move {
        while working.engine.dispatch_tick().await.unwrap().started == 0 {
            tokio::task::yield_now().await;
        }
    });
    provider.requests(1).await;
    provider.release();
    works.await.unwrap();

    let (mut answers, mut in_flight) = (0, 0);
    for task in all {
        match task.await.unwrap() {
            OutAnswer::Kept { kept, .. } => answers += usize::from(kept.status == 201),
            OutAnswer::InFlight { retry_after_ms, .. } => in_flight += usize::from(retry_after_ms > 0),
            other => panic!("{other:?}"),
        }
    }
    assert!(answers >= 1 && answers + in_flight == 10, "{answers} answers, {in_flight} in flight");
    assert_eq!(provider.ledger().executions.len(), 1);
}

#[tokio::test]
async fn another_request_under_the_key_is_a_conflict_and_the_same_json_laid_out_otherwise_is_not() {
    let (provider, world) = world([], Class::Advisory, Gate::None).await;
    kept(send(&world, &refund("k")).await);
    let others = [
        OutRequest { body: "{\"amount\":2}".into(), ..refund("k") },
        OutRequest { path: "/v1/refunds?expand=2".into(), ..refund("k") },
        OutRequest { method: Method::DELETE, ..refund("k") },
        OutRequest { content_type: Some("text/plain".into()), ..refund("k") },
    ];
    for other in others {
        let answer = ask(&world, &other).await;

        assert!(matches!(&answer, OutAnswer::Conflict { stored, came, .. } if stored != came), "{answer:?}");
    }
    let same = OutRequest { body: "{\"amount\":1.1}".into(), accept: Some("text/csv".into()), ..refund("k") };
    assert!(kept(ask(&world, &same).await).1);
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn a_second_tenant_with_the_same_key_is_its_own_effect_and_sees_nothing_of_the_first() {
    let (provider, world) = world([], Class::Advisory, Gate::None).await;
    let other = Caller { tenant: Tenant::new("other"), api_key: "n8n".into() };
    kept(send(&world, &refund("k")).await);

    let Began::Waiting(waiting) = begin(&world.engine, &other, &refund("k")).await else { panic!() };
    assert!(!waiting.is_repeat);
    world.round().await;
    let (second, replayed) = kept(world.engine.out_wait(&waiting).await.unwrap());

    assert_eq!((&second.body[..], replayed), (&br#"{"id":"pred_2"}"#[..], false));
    let ledger = provider.ledger();
    assert_eq!(ledger.executions.len(), 2);
    assert_ne!(ledger.requests[0].header("idempotency-key"), ledger.requests[1].header("idempotency-key"));
}

#[tokio::test]
async fn a_request_that_could_never_be_sent_takes_no_key() {
    let (provider, mut world) = world([], Class::Advisory, Gate::None).await;
    let at_door = [
        OutRequest { path: "/v1/charges".into(), ..refund("k") },
        OutRequest { path: "/v1/refunds/../charges".into(), ..refund("k") },
        OutRequest { method: Method::PATCH, ..refund("k") },
    ];
    for request in at_door {
        let error = world.engine.out_begin(&world.caller, &request).await.unwrap_err();
        assert!(matches!(error, EngineError::InvalidPayload { .. }), "{error:?}");
    }
    // Where the provider wants its key in the body, a body that has one of its own is no request of ours.
    let url = provider.url();
    world.restart_with(|options| {
        options.connector = Some(connector(&url, KeyPlace::Field("idempotency_key".into())));
    });
    let form = Some("application/x-www-form-urlencoded".into());
    let own_keys = [
        OutRequest { body: "{\"idempotency_key\":\"mine\"}".into(), ..refund("k") },
        OutRequest { body: "a=1&%69dempotency_key=mine".into(), content_type: form, ..refund("k") },
    ];
    for own_key in own_keys {
        assert!(world.engine.out_begin(&world.caller, &own_key).await.is_err());
    }

    let (answer, replayed) = kept(send(&world, &refund("k")).await);

    assert_eq!((answer.status, replayed), (201, false), "the key was free");
    let body = String::from_utf8(provider.ledger().requests[0].body.clone()).unwrap();
    assert!(body.starts_with("{\"idempotency_key\":\"eg-") && body.ends_with("\", \"amount\": 1.10 }"), "{body}");
}

/// A result that its worker wrote is no answer of the provider's; the door makes no header of it that it would not keep.
#[tokio::test]
async fn a_run_that_a_worker_ended_under_the_doors_key_brings_no_headers_of_its_own() {
    let (provider, world) = world([], Class::Advisory, Gate::None).await;
    let text =
        r#"{"method":"POST","path":"/v1/refunds?expand=1","content_type":"application/json","json":{"amount":1.10}}"#;
    let request = Request {
        flow: FlowName::new("ticket"),
        key: KeyGiven::Whole("k".into()),
        payload: PayloadGiven::Text(text.into()),
        owner: Some("w".into()),
        lease_ms: None,
        origin: Origin::default(),
    };
    let Reserved::Granted { run, lease, .. } = world.engine.reserve(&world.caller, request).await.unwrap() else {
        panic!()
    };
    let held = crate::common::Held { run: *run, lease };
    let forged = r#"{"status":200,"headers":{"set-cookie":"s=1","content-length":"9","etag":"e"},"text":"y"}"#;
    world.engine.complete(&world.call(&held, "complete", "y"), forged).await.unwrap();

    let (answer, replayed) = kept(ask(&world, &refund("k")).await);

    assert!(replayed && provider.ledger().requests.is_empty());
    assert_eq!(answer.headers.keys().collect::<Vec<_>>(), ["etag"]);
}
