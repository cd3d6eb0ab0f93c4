//! The outbound door on real sockets: a workflow's own request as one effect, and its answer at every repeat.

use std::{collections::BTreeMap, sync::Arc};

use effectgate_core::{
    approval::Verdict,
    budget::{Budget, Holder, Per},
    gate::Gate,
    ids::{FlowName, ProviderName, Tenant},
    operate::Resolution,
    provider::Class,
    run::Origin,
    switch::Scope,
};
use effectgate_engine::{
    Caller, Engine, EngineError,
    connect::{http::HttpLimits, tls::Tls},
    connector::Connector,
    connectors::{Auth, DoorSettings, HttpConnector, HttpSettings, KeyPlace},
    outbound::{Began, Kept, OutAnswer, OutPolicy, OutRequest, OutRules},
    reserve::{KeyGiven, PayloadGiven, Request, Reserved},
};
use effectgate_testkit::provider::{Act, ScriptedProvider, Step};
use http::Method;
use secrecy::SecretString;

use crate::common::{HOUR, Options, World, enforcing, lead};

/// How much of an answer is kept in these tests.
const ANSWER_BYTES_MAX: usize = 2_000;
/// Longer than any machine's hiccup; an outcome that is there ends the wait at once.
const PATIENCE_MS: u64 = 60_000;

fn rules() -> OutRules {
    let headers = vec!["x-version".parse().unwrap()];
    OutRules { methods: vec![Method::POST, Method::DELETE], paths: vec!["/v1/refunds".into()], headers }
}

fn connector(url: &str, key: KeyPlace) -> Arc<dyn Connector> {
    Arc::new(HttpConnector::new(&settings(url, key), Tls::new(None).unwrap()).unwrap())
}

fn settings(url: &str, key: KeyPlace) -> HttpSettings {
    HttpSettings {
        url: url.parse().unwrap(),
        allow_private: true,
        auth: Some(Auth::Bearer(SecretString::from("our-s3cret"))),
        key,
        replayed: None,
        limits: HttpLimits { connect_ms: 20_000, first_byte_ms: 20_000, total_ms: 20_000, answer_bytes_max: 16 },
        effects: BTreeMap::new(),
        lookup: None,
        door: Some(DoorSettings { rules: rules(), answer_bytes_max: ANSWER_BYTES_MAX }),
    }
}

fn options(url: &str, class: Class, gate: Gate) -> Options {
    let out = OutPolicy {
        flow: FlowName::new("ticket"),
        rules: rules(),
        wait_ms: PATIENCE_MS,
        external_id: Some("/id".into()),
    };
    let connector = Some(connector(url, KeyPlace::default()));
    Options { connector, out: Some(out), class, gate, attempts_max: 4, ..Options::default() }
}

/// As [`connector`], with a name and a password.
fn with_password(url: &str) -> Arc<dyn Connector> {
    let mut settings = settings(url, KeyPlace::default());
    settings.auth = Some(Auth::Basic { username: "gate".into(), password: SecretString::from("pass-w0rd/x") });
    Arc::new(HttpConnector::new(&settings, Tls::new(None).unwrap()).unwrap())
}

async fn world(script: impl IntoIterator<Item = Step>, class: Class, gate: Gate) -> (ScriptedProvider, World) {
    let provider = ScriptedProvider::start(script).await;
    let world = World::with(options(&provider.url(), class, gate));
    (provider, world)
}

fn refund(key: &str) -> OutRequest {
    OutRequest {
        provider: ProviderName::new("crm"),
        key: key.into(),
        method: Method::POST,
        path: "/v1/refunds?expand=1".into(),
        content_type: Some("application/json".into()),
        accept: None,
        headers: BTreeMap::new(),
        body: "{ \"amount\": 1.10 }".into(),
    }
}

async fn begin(engine: &Engine, caller: &Caller, request: &OutRequest) -> Began {
    engine.out_begin(caller, request).await.unwrap()
}

/// One request as the web room makes it, waiting no longer than one look.
async fn ask(world: &World, request: &OutRequest) -> OutAnswer {
    match begin(&world.engine, &world.caller, request).await {
        Began::Answered(answer) => answer,
        Began::Waiting(mut waiting) => {
            waiting.wait_ms = 0;
            world.engine.out_wait(&waiting).await.unwrap()
        }
    }
}

/// One request that waits for its outcome while the dispatcher works.
async fn send(world: &World, request: &OutRequest) -> OutAnswer {
    let Began::Waiting(waiting) = begin(&world.engine, &world.caller, request).await else {
        panic!("answered at once")
    };
    let engine = world.engine.clone();
    let waits = tokio::spawn(async move { engine.out_wait(&waiting).await.unwrap() });
    world.round().await;
    world.engine.sweep_tick().await.unwrap();
    waits.await.unwrap()
}

fn kept(answer: OutAnswer) -> (Kept, bool) {
    match answer {
        OutAnswer::Kept { kept, replayed, .. } => (kept, replayed),
        other => panic!("no answer of the provider: {other:?}"),
    }
}

#[tokio::test]
async fn a_request_goes_out_once_as_it_came_and_its_answer_is_given_to_every_repeat() {
    let (provider, world) = world([], Class::Advisory, Gate::None).await;
    let mut request = refund("order-17");
    request.headers.insert("x-version".into(), "2026-01-01".into());

    let (first, replayed) = kept(send(&world, &request).await);
    let (second, again) = kept(ask(&world, &request).await);

    assert_eq!((first.status, &first.body[..], replayed), (201, &br#"{"id":"pred_1"}"#[..], false));
    assert_eq!((&second, again), (&first, true));
    let ledger = provider.ledger();
    assert_eq!((ledger.requests.len(), ledger.connections), (1, 1));
    let seen = &ledger.requests[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/refunds?expand=1"));
    assert_eq!(seen.body, b"{ \"amount\": 1.10 }", "byte for byte");
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("authorization"), Some("Bearer our-s3cret"));
    assert_eq!(seen.header("x-version"), Some("2026-01-01"));
    let run = world.agg(world.id_of("order-17")).await;
    let effect = &run.effects[0];
    assert_eq!(seen.header("idempotency-key"), Some(effect.provider_key.as_str()));
    assert_eq!((effect.target.as_str(), effect.external_id.as_deref()), ("POST /v1/refunds", Some("pred_1")));
    assert_eq!(run.run.state.as_str(), "completed");
    world.verify(run.run.id).await;
}

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
async fn with_the_switch_off_nothing_is_sent_and_it_goes_when_the_switch_is_on() {
    let (provider, world) = world([], Class::Advisory, Gate::None).await;
    world.turn(Scope::Provider, "crm", false).await;

    for _ in 0..2 {
        let answer = send(&world, &refund("k")).await;
        assert!(matches!(answer, OutAnswer::SwitchOff { .. }), "{answer:?}");
    }
    assert_eq!(provider.ledger().connections, 0);
    world.turn(Scope::Provider, "crm", true).await;
    world.round().await;

    assert_eq!(kept(ask(&world, &refund("k")).await).0.status, 201);
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn where_the_gate_wants_a_person_nothing_is_sent_before_one_agrees() {
    let (provider, world) = world([], Class::Advisory, Gate::Approve).await;
    let (yes, no) = (world.id_of("yes"), world.id_of("no"));
    for key in ["yes", "no"] {
        let OutAnswer::AwaitingApproval { run } = send(&world, &refund(key)).await else { panic!("{key}") };
        assert!(run.approval.is_some_and(|approval| approval.state == "open"));
    }
    assert_eq!(provider.ledger().connections, 0);

    world.decide(yes, &lead("anna"), Verdict::Approve).await.unwrap();
    world.decide(no, &lead("anna"), Verdict::Reject).await.unwrap();
    world.round().await;

    assert_eq!(kept(ask(&world, &refund("yes")).await).0.status, 201);
    let answer = ask(&world, &refund("no")).await;
    assert!(matches!(&answer, OutAnswer::NotSent { why, .. } if why.contains("rejected")), "{answer:?}");
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn a_cancel_window_holds_it_back_and_says_until_when() {
    let (provider, world) = world([], Class::Advisory, Gate::CancelWindow { window_ms: 2 * HOUR }).await;

    let OutAnswer::Scheduled { wait_ms, .. } = send(&world, &refund("k")).await else { panic!("not scheduled") };
    assert_eq!((wait_ms, provider.ledger().connections), (2 * HOUR, 0));
    world.pass(2, HOUR).await;

    assert_eq!(kept(ask(&world, &refund("k")).await).0.status, 201);
}

#[tokio::test]
async fn a_refusal_is_an_answer_and_is_given_again_byte_for_byte() {
    let refusal = Act::Answer {
        status: 422,
        headers: vec![
            ("Content-Type".into(), "application/problem+json".into()),
            ("Set-Cookie".into(), "session=1".into()),
            ("WWW-Authenticate".into(), "Bearer".into()),
        ],
        body: "{ \"error\" : \"no such charge\", \"seen\": \"Bearer our-s3cret\" }\n".into(),
    };
    let (provider, world) = world([refusal.into()], Class::Advisory, Gate::None).await;

    let (first, _) = kept(send(&world, &refund("k")).await);
    let (second, replayed) = kept(ask(&world, &refund("k")).await);

    assert_eq!((first.status, &first, replayed), (422, &second, true));
    assert_eq!(first.body, "{ \"error\" : \"no such charge\", \"seen\": \"[redacted]\" }\n");
    assert_eq!(first.headers.keys().collect::<Vec<_>>(), ["content-type"]);
    assert_eq!(provider.ledger().requests.len(), 1);
    let stored = world.store.run_content(&world.caller.tenant, world.id_of("k")).await.unwrap().unwrap();
    assert!(!format!("{stored:?}").contains("session=1") && !format!("{stored:?}").contains("our-s3cret"));
}

#[tokio::test]
async fn a_password_that_a_provider_reads_out_of_our_header_is_cut_out_of_what_it_says() {
    let answer =
        Act::Answer { status: 200, headers: vec![], body: r#"{"user":"gate","password":"pass-w0rd\/x"}"#.into() };
    let (provider, mut world) = world([answer.into()], Class::Advisory, Gate::None).await;
    let url = provider.url();
    world.restart_with(|options| options.connector = Some(with_password(&url)));

    let (answer, _) = kept(send(&world, &refund("k")).await);

    assert_eq!(answer.body, r#"{"user":"gate","password":"[redacted]"}"#);
}

#[tokio::test]
async fn a_redirect_is_neither_followed_nor_handed_on() {
    let script = [Step::answer_with(307, "Location", "https://elsewhere.example.test/")];
    let (_provider, world) = world(script, Class::Advisory, Gate::None).await;

    let answer = send(&world, &refund("k")).await;

    assert!(matches!(&answer, OutAnswer::NoAnswer { status: Some(307), .. }), "{answer:?}");
}

#[tokio::test]
async fn an_answer_that_is_too_long_to_keep_is_done_all_the_same() {
    let long = Step::answer(201, &"x".repeat(ANSWER_BYTES_MAX + 1));
    let fits = Step::answer(201, &"x".repeat(ANSWER_BYTES_MAX));
    let (provider, world) = world([long, fits], Class::Advisory, Gate::None).await;

    let answer = send(&world, &refund("long")).await;
    let (whole, _) = kept(send(&world, &refund("fits")).await);

    let OutAnswer::NoAnswer { run, status: Some(201) } = answer else { panic!("{answer:?}") };
    assert_eq!((run.state.as_str(), run.effects[0].state.as_str()), ("completed", "completed"));
    assert_eq!((whole.body.len(), provider.ledger().requests.len()), (ANSWER_BYTES_MAX, 2));
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
async fn an_outcome_that_a_person_settled_has_no_answer_to_give_and_says_what_is_known() {
    let (provider, world) = world([Act::ReadThenReset.into()], Class::Advisory, Gate::None).await;
    send(&world, &refund("k")).await;
    let effect = world.agg(world.id_of("k")).await.effects[0].id;
    let happened = Resolution::Happened { external_id: Some("re_9".into()) };
    world.resolve(effect, happened).await.unwrap();

    let answer = ask(&world, &refund("k")).await;

    let OutAnswer::NoAnswer { run, status: None } = answer else { panic!("{answer:?}") };
    assert_eq!(run.effects[0].external_id.as_deref(), Some("re_9"));
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn an_erased_answer_is_said_to_be_erased_and_nothing_is_sent_again() {
    let (provider, world) = world([], Class::Advisory, Gate::None).await;
    kept(send(&world, &refund("k")).await);
    world.clock.advance_ms(31 * 24 * HOUR);
    world.store.run_purge(100).await.unwrap();

    let answer = send(&world, &refund("k")).await;

    assert!(matches!(&answer, OutAnswer::Erased { run } if run.state == "completed"), "{answer:?}");
    assert_eq!(provider.ledger().requests.len(), 1);
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

#[tokio::test]
async fn an_edit_cannot_lead_out_of_the_door() {
    let (_provider, world) = world([], Class::Advisory, Gate::Approve).await;
    send(&world, &refund("k")).await;
    let agg = world.agg(world.id_of("k")).await;
    let shown = &agg.approval().unwrap().proposed[0];
    let connector = &world.engine.policy().provider(&ProviderName::new("crm")).unwrap().connector;
    let check = |payload: &str| {
        let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
        connector.check(&shown.effect_type, &shown.target, &payload)
    };

    assert_eq!(check(&shown.payload), []);
    assert_eq!(check(&shown.payload.replace("1.10", "1.20")), []);
    assert_eq!(check(&shown.payload.replace("/v1/refunds", "/v1/charges"))[0].pointer, "/path");
    assert_eq!(check(&shown.payload.replace("/v1/refunds", "/v1/refunds/re_1"))[0].pointer, "/path");
    assert!(!check(&shown.payload.replace("\"method\"", "\"host\":\"x\",\"method\"")).is_empty());
}

/// A world whose provider has a budget of this many an hour, or of this sum of a member of the request's body.
async fn with_budget(max: i64, amount: Option<&str>) -> (ScriptedProvider, World) {
    let provider = ScriptedProvider::start([]).await;
    let holder = Holder::Provider(ProviderName::new("crm"));
    let budget = Budget { holder, per: Per::Provider, window_ms: HOUR, max, amount: amount.map(str::to_owned) };
    let world = World::with(Options { budgets: vec![budget], ..options(&provider.url(), Class::Advisory, Gate::None) });
    (provider, world)
}

fn refund_of(key: &str, cents: i64) -> OutRequest {
    OutRequest { body: format!("{{\"amount\":{cents}}}").into(), ..refund(key) }
}

async fn to_the_turn(world: &World) {
    let turn = effectgate_core::budget::window(HOUR, world.engine.now()).1;
    world.clock.advance_ms(turn.ms_since(world.engine.now()));
    world.round().await;
}

#[tokio::test]
async fn a_request_over_the_budget_waits_for_the_windows_turn_and_is_told_of_which_budget() {
    let (provider, world) = with_budget(1, None).await;
    assert_eq!(kept(send(&world, &refund("a")).await).0.status, 201);

    let second = send(&world, &refund("b")).await;

    let OutAnswer::BudgetUsedUp { why, until, wait_ms, run } = second else { panic!("{second:?}") };
    let turn = effectgate_core::budget::window(HOUR, world.engine.now()).1;
    assert!(why.contains("provider crm, 1 an hour") && why.contains(&turn.to_string()), "{why}");
    assert_eq!((until, wait_ms), (Some(turn), turn.ms_since(world.engine.now())));
    assert_eq!((run.state.as_str(), provider.ledger().requests.len()), ("approved", 1));
    let again = ask(&world, &refund("b")).await;
    assert!(matches!(again, OutAnswer::BudgetUsedUp { .. }), "{again:?}");
    to_the_turn(&world).await;
    assert_eq!(kept(ask(&world, &refund("b")).await).0.status, 201);
    assert_eq!(provider.ledger().requests.len(), 2);
}

#[tokio::test]
async fn the_amount_of_a_budget_is_read_in_the_requests_own_json_body() {
    let (provider, world) = with_budget(1_000, Some("/amount")).await;
    assert_eq!(kept(send(&world, &refund_of("a", 700)).await).0.status, 201);
    assert_eq!(world.engine.budgets_now().await.unwrap()[0].used, Some(700));

    let second = send(&world, &refund_of("b", 400)).await;
    assert!(matches!(second, OutAnswer::BudgetUsedUp { until: Some(_), .. }), "{second:?}");
    assert_eq!(kept(send(&world, &refund_of("c", 300)).await).0.status, 201, "what has room is not held up");
    let hopeless = send(&world, &refund_of("d", 1_001)).await;
    let OutAnswer::BudgetUsedUp { why, until: None, .. } = hopeless else { panic!("{hopeless:?}") };
    assert!(why.starts_with("POST /v1/refunds asks for more than the whole budget of provider crm"), "{why}");

    to_the_turn(&world).await;
    assert_eq!(kept(ask(&world, &refund_of("b", 400)).await).0.status, 201);
    assert_eq!(provider.ledger().requests.len(), 3);
}

#[tokio::test]
async fn a_request_without_the_amount_that_a_budget_counts_takes_no_key() {
    let (provider, world) = with_budget(1_000, Some("/amount")).await;
    let plain = OutRequest { content_type: Some("text/plain".into()), ..refund_of("k", 5) };
    // An amount in the query or beside the body is none.
    let beside = OutRequest { body: "{}".into(), path: "/v1/refunds?amount=5".into(), ..refund("k") };
    for request in [refund("k"), plain, beside] {
        let refused = world.engine.out_begin(&world.caller, &request).await.unwrap_err();
        let EngineError::InvalidPayload { findings } = refused else { panic!("{refused}") };
        assert_eq!(findings[0].pointer, "/payload/json/amount");
        assert!(findings[0].message.contains("provider crm, 1000 of /amount an hour"), "{}", findings[0].message);
    }

    assert_eq!(kept(send(&world, &refund_of("k", 5)).await).0.status, 201, "the key is free");
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn people_read_method_and_path_and_not_the_type_of_every_request() {
    let (_provider, world) = with_budget(1_000, Some("/amount")).await;
    let _ = send(&world, &refund_of("k", 2_000)).await;

    let told = world.engine.explain(&world.caller.tenant, world.id_of("k")).await.unwrap();

    let queued = told.timeline.iter().find(|moment| moment.kind == "effect_queued").unwrap();
    assert_eq!(queued.text, "put POST /v1/refunds into the outbox for crm");
    assert!(told.reason.text.starts_with("POST /v1/refunds asks for more"), "{}", told.reason.text);
}

#[test]
fn an_effect_is_named_by_its_type_and_one_of_the_door_by_its_target() {
    for (effect_type, target, name) in [
        ("http", "POST /v1/refunds", "POST /v1/refunds"),
        ("http", "", "a request"),
        ("http", "anna@example.test", "http"),
        ("refund", "POST /v1/refunds", "refund"),
    ] {
        assert_eq!(effectgate_engine::outbound::named(effect_type, target), name);
    }
}
