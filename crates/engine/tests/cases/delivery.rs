//! Bringing runs to a source's worker: a real peer on a port, which answers as it is told and remembers what it got.

use std::{sync::Arc, time::Duration};

use effectgate_core::{
    actor::Actor,
    delivery::{UNDELIVERABLE, UNDELIVERED},
    facts,
    ids::{Fence, FlowName, Owner, RunId, SourceName, Tenant},
    journal::{EntryKind, Head, seal},
    payload::{IdentityRule, PayloadHash},
    run::{EffectCounts, Origin, Run, RunState},
    switch::Scope,
    time::Timestamp,
    transition::ContentWrite,
};
use effectgate_engine::{Engine, call::LeaseCall, correct::CorrectRequest, inbound::DeliverReport, reserve::KeyGiven};
use effectgate_store::{NewRun, PgStore, Store};
use effectgate_testkit::{
    pg::test_database,
    provider::{Act, Mode, Received, ScriptedProvider, Step},
};

use crate::common::*;

/// Numbers and spaces as a sender writes them: the worker gets these bytes.
const EVENT: &str = r#"{"id": 9007199254740993,  "total": 12.50}"#;

/// An event of the source `shop`, kept and not yet brought to anybody.
async fn arrive(store: &Arc<dyn Store>, key: &str, state: RunState, now: Timestamp) -> RunId {
    let (tenant, flow, source) = (Tenant::new("default"), FlowName::new("ticket"), SourceName::new("shop"));
    let id = RunId::derive(&tenant, &flow, key);
    let mut head = Head::EMPTY;
    let entry = seal(&mut head, id, now, EntryKind::Accepted, &Actor::Source(source.clone()), &facts! { "key" => key });
    let run = Run {
        id,
        tenant,
        flow,
        flow_revision: "sha256:test".into(),
        key: key.into(),
        state,
        version: 1,
        payload_hash: PayloadHash::from_bytes([7; 32]),
        identity_rule: IdentityRule::default().as_text(),
        owner: None,
        fence: Fence(0),
        attempts: 0,
        attempts_max: 5,
        repairs_used: 0,
        takeovers: 0,
        effects: EffectCounts::default(),
        refusals: 0,
        head,
        origin: Origin { inbound: Some(source), ..Origin::default() },
        created_at: now,
        updated_at: now,
        expires_at: None,
        content_expires_at: None,
    };
    let content = ContentWrite { payload: Some(EVENT.into()), ..ContentWrite::default() };
    store.run_reserve(NewRun { run, lease_ms: None, entry, content }).await.unwrap();
    id
}

/// A world whose source delivers to `url`.
fn delivering_to(url: &str, change: impl FnOnce(&mut WorkerAt)) -> World {
    let mut worker = WorkerAt::new(url);
    change(&mut worker);
    World::with(Options { worker: Some(worker), ..Options::default() })
}

impl World {
    async fn arrived(&self, key: &str) -> RunId {
        arrive(&self.store, key, RunState::Queued, self.engine.now()).await
    }

    /// One tick, and the calls it began to their ends.
    async fn deliver(&self) -> DeliverReport {
        let report = self.engine.deliver_tick().await.unwrap();
        self.engine.deliver_idle().await;
        report
    }

    async fn state(&self, id: RunId) -> String {
        let run = self.agg(id).await.run;
        [run.state.as_str(), run.state.reason().unwrap_or_default()].join(" ").trim().to_owned()
    }
}

/// What a worker says of the run that it was handed.
fn by(request: &Received, operation: &str, body: &str) -> LeaseCall {
    let said = |name: &str| request.header(name).unwrap().to_owned();
    let fence = Fence(said("effectgate-fence").parse().unwrap());
    let (run, owner) = (said("effectgate-run").parse().unwrap(), Owner::new(said("effectgate-owner")));
    LeaseCall::new(Tenant::new("default"), run, owner, fence, operation, body.as_bytes())
}

async fn renew(world: &World, call: &LeaseCall) -> effectgate_engine::Result<()> {
    world.engine.renew(&call.tenant, call.run, &call.owner, call.fence, Some(120_000)).await.map(drop)
}

/// A port on which nobody listens.
async fn nowhere() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn a_worker_gets_the_payload_as_it_came_and_what_it_needs_to_speak_of_the_run() {
    let worker = ScriptedProvider::start([]).await;
    let world = delivering_to(&worker.url(), |_| {});
    let id = world.arrived("заказ:17").await;

    let report = world.deliver().await;

    assert_eq!((report.seen, report.started, report.more), (1, 1, false));
    let ledger = worker.ledger();
    let got = &ledger.requests[0];
    assert_eq!((got.method.as_str(), got.path.as_str()), ("POST", "/webhook/ticket"));
    assert_eq!(String::from_utf8_lossy(&got.body), EVENT, "bytes as they came");
    let owner = got.header("effectgate-owner").unwrap();
    assert!(owner.starts_with("in:shop:"), "{owner}");
    let expires = world.engine.now().plus_ms(60_000).to_string();
    let id_text = id.to_string();
    for (name, value) in [
        ("content-type", "application/json"),
        ("authorization", "Bearer worker-token"),
        ("effectgate-run", id_text.as_str()),
        ("effectgate-fence", "1"),
        ("effectgate-flow", "ticket"),
        ("effectgate-key", "%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7:17"),
        ("effectgate-attempt", "1"),
        ("effectgate-lease-expires-at", expires.as_str()),
        ("effectgate-source", "shop"),
    ] {
        assert_eq!(got.header(name), Some(value), "{name}");
    }
}

#[tokio::test]
async fn a_worker_that_said_yes_goes_on_under_the_owner_and_fence_it_was_handed() {
    let worker = ScriptedProvider::start([]).await;
    let world = delivering_to(&worker.url(), |_| {});
    let id = world.arrived("k").await;
    world.deliver().await;
    let got = worker.ledger().requests[0].clone();

    assert_eq!(world.deliver().await.seen, 0, "it is the worker's now");
    renew(&world, &by(&got, "renew", "")).await.unwrap();
    world.engine.complete(&by(&got, "complete", "{}"), r#"{"ticket":"T-1"}"#).await.unwrap();

    assert_eq!(world.kinds(id).await, ["accepted", "claimed", "delivered", "renewed", "completed"]);
    assert_eq!(world.deliver().await.seen, 0, "and it never starts again");
    world.verify(id).await;
}

#[tokio::test]
async fn each_answer_leads_to_its_state() {
    let refused = |status: u16| Step::answer(status, "{}");
    // what the worker does -> the run, attempts counted, the last entry
    let table = [
        (Step::answer(200, ""), "processing", 1, "delivered"),
        (Step::answer(202, ""), "processing", 1, "delivered"),
        (refused(401), "failed_retryable undelivered", 0, "undelivered"),
        (refused(404), "failed_retryable undelivered", 0, "undelivered"),
        (refused(429), "failed_retryable undelivered", 0, "undelivered"),
        (refused(502), "failed_retryable undelivered", 0, "undelivered"),
        (refused(503), "failed_retryable undelivered", 0, "undelivered"),
        (refused(400), "failed_retryable worker_error", 1, "failed"),
        (refused(422), "failed_retryable worker_error", 1, "failed"),
        (refused(500), "failed_retryable worker_error", 1, "failed"),
        (refused(302), "failed_retryable worker_error", 1, "failed"),
        (refused(504), "processing", 1, "claimed"),
        (Act::ReadThenClose.into(), "processing", 1, "claimed"),
        (Act::ReadThenReset.into(), "processing", 1, "claimed"),
        (Act::HalfHeadThenClose.into(), "processing", 1, "claimed"),
        (Act::ReadThenSilence.into(), "processing", 1, "claimed"),
        // Its yes was read; how the sentence ended does not matter.
        (Act::CutBody.into(), "processing", 1, "delivered"),
    ];
    for (step, state, attempts, last) in table {
        let what = format!("{step:?}");
        let worker = ScriptedProvider::start([step]).await;
        let world = delivering_to(&worker.url(), |at| at.timeout_ms = 300);
        let id = world.arrived("k").await;

        world.deliver().await;

        let run = world.agg(id).await.run;
        let kinds = world.kinds(id).await;
        assert_eq!((world.state(id).await.as_str(), run.attempts), (state, attempts), "{what}");
        assert_eq!(kinds.last().map(String::as_str), Some(last), "{what}");
    }
}

#[tokio::test]
async fn a_worker_that_is_not_there_costs_no_attempt() {
    let world = delivering_to(&nowhere().await, |_| {});
    let id = world.arrived("k").await;

    world.deliver().await;

    let run = world.agg(id).await.run;
    assert_eq!((run.attempts, run.state.reason()), (0, Some(UNDELIVERED)));
    assert_eq!(run.state.next_attempt_at(), Some(world.engine.now().plus_ms(1_000)));
    let why = &world.facts(id, "undelivered").await[0]["reason"];
    assert!(why.as_str().unwrap().contains("refused"), "{why}");
}

#[tokio::test]
async fn a_lost_answer_leaves_the_lease_and_the_next_delivery_shuts_the_late_worker_out() {
    let worker = ScriptedProvider::start([Act::ReadThenClose.into()]).await;
    let world = delivering_to(&worker.url(), |_| {});
    let id = world.arrived("k").await;
    world.deliver().await;
    assert_eq!(world.deliver().await.seen, 0, "the worker may be at work: its lease lives");

    world.clock.advance_ms(60_001);
    world.deliver().await;

    let ledger = worker.ledger();
    let (late, next) = (&ledger.requests[0], &ledger.requests[1]);
    assert_eq!(next.header("effectgate-fence"), Some("2"));
    assert_eq!(next.header("effectgate-attempt"), Some("2"));
    assert!(world.engine.complete(&by(late, "complete", "late"), "{}").await.is_err());
    assert!(renew(&world, &by(late, "renew", "")).await.is_err());
    assert!(world.engine.fail(&by(late, "fail", ""), "worker_error", None).await.is_err());
    assert_eq!(world.state(id).await, "processing");
    world.engine.complete(&by(next, "complete", "{}"), "{}").await.unwrap();
    assert_eq!(world.state(id).await, "completed");
}

#[tokio::test]
async fn a_worker_that_never_answers_uses_the_attempts_up_and_people_are_told() {
    let worker = ScriptedProvider::start([]).await;
    worker.set_default(Act::ReadThenClose);
    let world = delivering_to(&worker.url(), |_| {});
    let id = world.arrived("k").await;

    for _ in 0..6 {
        world.deliver().await;
        world.clock.advance_ms(60_001);
        world.engine.sweep_tick().await.unwrap();
    }

    assert_eq!(world.state(id).await, "failed_terminal abandoned");
    assert_eq!(worker.ledger().requests.len(), 5, "attempts_max");
    assert!(world.alerts().await.contains(&"exhausted".to_owned()));
}

#[tokio::test]
async fn a_worker_that_fails_is_called_again_by_the_flows_backoff_until_its_attempts_are_used_up() {
    let worker = ScriptedProvider::start([]).await;
    worker.set_default(Step::answer(500, r#"{"message":"Error in workflow"}"#));
    let world = delivering_to(&worker.url(), |_| {});
    let id = world.arrived("k").await;

    for _ in 0..8 {
        world.deliver().await;
        world.clock.advance_ms(60_001);
    }

    assert_eq!(world.state(id).await, "failed_terminal attempts_exhausted");
    assert_eq!(worker.ledger().requests.len(), 5);
    assert_eq!(world.facts(id, "failed").await[0]["message"], "the worker of shop answered 500");
}

#[tokio::test]
async fn a_run_that_no_worker_takes_for_the_whole_of_give_up_ms_ends_undeliverable() {
    let url = nowhere().await;
    let world = delivering_to(&url, |at| at.give_up_ms = 2 * HOUR);
    let id = world.arrived("k").await;
    let mut steps = 0;

    while !world.agg(id).await.run.state.is_final() {
        world.deliver().await;
        world.clock.advance_ms(60_000);
        steps += 1;
        assert!(steps < 130, "{}", world.state(id).await);
    }

    assert!(steps >= 120, "{steps} minutes");
    assert_eq!(world.state(id).await, format!("failed_terminal {UNDELIVERABLE}"));
    let tries = world.facts(id, "undelivered").await;
    assert!(tries.len() < 40, "{} entries: the wait grows with the age", tries.len());
    assert!(tries.iter().all(|t| t["since"] == tries[0]["since"]), "one beginning");
    let told = world.alerts().await;
    assert_eq!(told, ["undeliverable", "undeliverable"], "once after ten minutes, once at the end");
    world.verify(id).await;
}

#[tokio::test]
async fn a_source_whose_worker_is_away_is_asked_with_one_run_at_a_time() {
    let worker = ScriptedProvider::start([]).await;
    worker.set_default(Step::answer(503, ""));
    let world = delivering_to(&worker.url(), |_| {});
    for n in 0..50 {
        world.arrived(&format!("k{n}")).await;
    }

    assert_eq!(world.deliver().await.started, 4, "nobody knew");
    assert_eq!(world.engine.paused_sources().len(), 1);
    for pause_ms in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
        world.clock.advance_ms(pause_ms - 1);
        assert_eq!(world.deliver().await.seen, 0, "{pause_ms}");
        world.clock.advance_ms(1);
        assert_eq!(world.deliver().await.started, 1, "{pause_ms}");
    }
    assert_eq!(worker.ledger().requests.len(), 11, "of 50 runs in a minute and a half");

    worker.set_default(Step::answer(200, ""));
    world.clock.advance_ms(300_000);
    assert_eq!(world.deliver().await.started, 1, "one shows that it is back");
    assert_eq!(world.deliver().await.started, 4);
    assert!(world.engine.paused_sources().is_empty());
    while world.deliver().await.more {}
    let taken = worker.ledger().requests.len() - 11;
    assert_eq!(taken, 50, "each once");
}

#[tokio::test]
async fn no_more_calls_are_under_way_than_the_source_allows() {
    let worker = ScriptedProvider::start([]).await;
    worker.set_default(Step::answer(200, "").held());
    let world = delivering_to(&worker.url(), |at| at.concurrent = 2);
    for n in 0..5 {
        world.arrived(&format!("k{n}")).await;
    }

    assert_eq!(world.engine.deliver_tick().await.unwrap().started, 2);
    worker.requests(2).await;
    assert_eq!(world.engine.deliver_tick().await.unwrap().seen, 0);
    assert_eq!(world.engine.deliveries_under_way(), 2);

    worker.apply(Mode { release: 5, ..Mode::default() });
    world.engine.deliver_idle().await;
    while world.deliver().await.more {}
    assert_eq!(worker.ledger().requests.len(), 5);
}

#[tokio::test]
async fn the_switch_holds_effects_back_and_no_delivery() {
    let worker = ScriptedProvider::start([]).await;
    let world = delivering_to(&worker.url(), |_| {});
    let id = world.arrived("k").await;
    world.turn(Scope::All, "", false).await;

    world.deliver().await;
    let got = worker.ledger().requests[0].clone();
    world.engine.propose(&by(&got, "proposal", ""), &asked(&[("note", "t", r#"{"text":"hello"}"#)])).await.unwrap();
    world.dispatch().await;

    assert_eq!(world.effect_state(id).await, "pending");
    assert!(world.provider.seen().is_empty(), "a draft is no effect, and no effect left");
}

#[tokio::test]
async fn a_released_run_is_brought_to_its_worker_and_a_quarantined_one_is_not() {
    let worker = ScriptedProvider::start([]).await;
    let world = delivering_to(&worker.url(), |_| {});
    let quarantined = RunState::Quarantined { reason: "invalid_payload".into() };
    let id = arrive(&world.store, "k", quarantined, world.engine.now()).await;
    assert_eq!(world.deliver().await.seen, 0);

    world.engine.release(&world.caller.tenant, id, &olga(), "the schema was wrong").await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), world.engine.nudges().deliverer.notified()).await.unwrap();
    world.deliver().await;

    assert_eq!(worker.ledger().requests.len(), 1);
}

/// A correction is a run like any other, and whoever waits to be called is called with it.
#[tokio::test]
async fn a_correction_of_an_event_is_brought_to_the_same_worker() {
    let worker = ScriptedProvider::start([]).await;
    let world = delivering_to(&worker.url(), |_| {});
    let id = world.arrived("k").await;
    world.deliver().await;
    let got = worker.ledger().requests[0].clone();
    world.engine.complete(&by(&got, "complete", "{}"), "{}").await.unwrap();
    let wish = |key: &str, flow: Option<&str>| CorrectRequest {
        flow: flow.map(FlowName::new),
        key: KeyGiven::Whole(key.into()),
        payload: EVENT.into(),
        reason: "the total was wrong".into(),
        trigger: None,
    };

    world.engine.correct(&world.caller.tenant, &olga(), id, wish("order-18", None)).await.unwrap();
    world.engine.correct(&world.caller.tenant, &olga(), id, wish("order-19", Some("held_back"))).await.unwrap();
    world.deliver().await;

    let keys: Vec<_> =
        worker.ledger().requests.iter().map(|r| r.header("effectgate-key").unwrap().to_owned()).collect();
    assert_eq!(keys, ["k", "order-18"], "the other flow has other workers");
}

#[tokio::test]
async fn the_patience_with_a_run_begins_when_it_is_released_not_when_it_came() {
    let world = delivering_to(&nowhere().await, |at| at.give_up_ms = HOUR);
    let quarantined = RunState::Quarantined { reason: "invalid_payload".into() };
    let id = arrive(&world.store, "k", quarantined, world.engine.now()).await;
    world.clock.advance_ms(48 * HOUR);

    world.engine.release(&world.caller.tenant, id, &olga(), "the schema was wrong").await.unwrap();
    world.deliver().await;

    assert_eq!(world.state(id).await, "failed_retryable undelivered");
}

/// HC-47: B and C know the key and guess at everything else.
#[tokio::test]
async fn hc_47_a_duplicate_never_changes_a_delivered_run() {
    let worker = ScriptedProvider::start([]).await;
    let world = delivering_to(&worker.url(), |_| {});
    let id = world.arrived("k").await;
    world.deliver().await;
    let a = worker.ledger().requests[0].clone();
    let before = world.agg(id).await;
    let row = |agg: &effectgate_core::run::Aggregate| {
        (agg.run.state.clone(), agg.run.owner.clone(), agg.run.fence, agg.run.version, agg.run.attempts, agg.lease)
    };

    for (owner, fence) in [("worker-b", 1), ("worker-b", 2), ("in:shop:", 1), ("", 1), ("in:shop:0", 0)] {
        let call = |operation: &str| {
            let tenant = world.caller.tenant.clone();
            LeaseCall::new(tenant, id, Owner::new(owner), Fence(fence), operation, operation.as_bytes())
        };
        assert!(world.engine.complete(&call("complete"), "{}").await.is_err());
        assert!(world.engine.fail(&call("fail"), "worker_error", None).await.is_err());
        assert!(world.engine.fail(&call("fail"), "agent_limit", None).await.is_err());
        assert!(renew(&world, &call("renew")).await.is_err());
        assert!(world.engine.propose(&call("proposal"), &asked(&[("note", "t", "{}")])).await.is_err());
    }
    // The same owner with another fence, and the other way round.
    for (owner, fence) in [(a.header("effectgate-owner").unwrap(), 2), (a.header("effectgate-owner").unwrap(), 0)] {
        let tenant = world.caller.tenant.clone();
        let call = LeaseCall::new(tenant, id, Owner::new(owner), Fence(fence), "complete", b"");
        assert!(world.engine.complete(&call, "{}").await.is_err());
    }
    assert!(world.engine.release(&world.caller.tenant, id, &olga(), "guess").await.is_err());
    let reserved = world.reserve("k", EVENT, "worker-b").await;
    assert!(!matches!(reserved, effectgate_engine::reserve::Reserved::Granted { .. }), "{reserved:?}");
    world.deliver().await;

    assert_eq!(row(&world.agg(id).await), row(&before), "nothing of A's run moved");
    assert_eq!(worker.ledger().requests.len(), 1);
    world.engine.complete(&by(&a, "complete", "{}"), "{}").await.unwrap();
    assert_eq!(world.state(id).await, "completed");
}

/// Two processes over one database: a run is delivered by one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_replicas_bring_each_run_once() {
    let Some(url) = test_database().await else { return };
    let worker = ScriptedProvider::start([]).await;
    worker.set_default(Step::answer(200, ""));
    let options = Options { worker: Some(WorkerAt::new(&worker.url())), ..Options::default() };
    let mut replicas = Vec::new();
    for _ in 0..2 {
        let store: Arc<dyn Store> = Arc::new(PgStore::connect(&url).await.unwrap());
        let clock = effectgate_engine::clock::SystemClock;
        replicas.push(Engine::new(store, policy(&options, &Scripted::default()), Arc::new(clock)));
    }
    for n in 0..40 {
        arrive(replicas[0].store(), &format!("k{n}"), RunState::Queued, replicas[0].now()).await;
    }

    let run_dry = |engine: Engine| async move {
        while engine.deliver_tick().await.unwrap().seen > 0 || engine.deliveries_under_way() > 0 {
            engine.deliver_idle().await;
        }
    };
    tokio::join!(run_dry(replicas[0].clone()), run_dry(replicas[1].clone()));

    let ledger = worker.ledger();
    let mut runs: Vec<_> = ledger.requests.iter().filter_map(|r| r.header("effectgate-run")).collect();
    assert_eq!(runs.len(), 40);
    runs.sort_unstable();
    runs.dedup();
    assert_eq!(runs.len(), 40, "no run came twice");
    assert!(ledger.requests.iter().all(|r| r.header("effectgate-fence") == Some("1")));
    for engine in replicas {
        engine.store().close().await;
    }
}
