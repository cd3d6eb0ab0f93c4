//! kill -9 at every point where it hurts, then the same data again: what the gate then says must be what the provider's
//! ledger says, and the calls of a client who heard no answer must be harmless.

use std::{
    process::Command,
    sync::{Arc, Mutex},
    thread,
};

use effectgate_testkit::provider::{Act, ScriptedProvider, Step};
use serde_json::{Value, json};
use tokio::{runtime::Handle, task::spawn_blocking};

use crate::{
    auditor::audit,
    config::{HEAD, Head, http, ungated},
    ground::{Answer, Backend, Calls as _, Ground, eventually, on_both_backends},
    support::Gate,
};

const BLIND: &str = r#"
effects.act = { path = "/blind", external_id = "/id" }
"#;
const SEEN: &str = r#"
attempts_max = 20
backoff = { base_ms = 100, max_ms = 1_000 }
effects.act = { path = "/seen", external_id = "/id" }
[providers.seen.lookup]
path = "/seen?ref={{ provider_key }}"
found = "/items/0/id"
settle_delay_ms = 200
period_ms = 100
authoritative = true
"#;
const KEEPER: &str = r#"
class = "enforcing"
key_header = "Idempotency-Key"
key_window_ms = 3_600_000
key_window_margin_ms = 60_000
conflict_in_flight = true
attempts_max = 20
backoff = { base_ms = 100, max_ms = 1_000 }
effects.act = { path = "/keeper", external_id = "/id" }
"#;
const ASKED: &str = r#"
[flows.asked]
effects.act = { provider = "keeper", impact = "high", gate = "approve" }
approval = { audience = ["role:lead"] }
[flows.linked]
effects.act = { provider = "keeper", impact = "normal", gate = "approve" }
approval = { audience = ["lead@example.test"], login = "token", link_in_answer = true }
"#;

/// Three providers: one where nobody can be asked, one that can be looked at, one that keeps our keys. A flow each, and
/// two where a person decides. Times are short, so that what was lost is found soon.
fn config(provider: &str, keeper: &str) -> String {
    // Three servers a test, many tests on one PostgreSQL.
    let head = Head { connections_max: Some(4), ..HEAD };
    let soon = "connect_timeout_ms = 500\ntimeout_ms = 2_000\nsending_margin_ms = 500";
    let place = |name, url, more| http(name, url, &[soon, more].concat());
    head.with(&[
        &place("blind", provider, BLIND),
        &place("seen", provider, SEEN),
        &place("keeper", keeper, KEEPER),
        &ungated("blind", "act", "blind"),
        "lease_ms_min = 100",
        &ungated("seen", "act", "seen"),
        &ungated("keeper", "act", "keeper"),
        ASKED,
    ])
}

on_both_backends! {
    killed_before_a_reservation_is_committed;
    killed_after_a_reservation_was_committed_and_before_its_answer;
    killed_before_a_proposal_is_committed;
    killed_after_a_proposal_was_committed_and_before_its_answer;
    killed_before_a_completion_is_committed;
    killed_after_a_completion_was_committed_and_before_its_answer;
    killed_after_the_attempt_is_on_record;
    killed_right_before_the_first_byte;
    killed_while_the_provider_has_part_of_the_request;
    killed_while_the_provider_has_the_request_and_has_done_nothing;
    killed_while_the_provider_has_done_it_and_has_not_answered;
    killed_when_the_answer_is_there;
    killed_before_the_settlement;
    killed_before_a_decision_is_committed;
    killed_after_a_decision_was_committed_and_before_its_answer;
    killed_before_a_decision_by_link_is_committed;
    killed_after_a_decision_by_link_was_committed_and_before_its_answer;
    killed_in_the_middle_of_a_sweep_of_lost_attempts;
    killed_in_the_middle_of_a_sweep_of_lost_workers;
    killed_again_and_again_under_load;
}

const OWNER: &str = "worker-1";
const KEY: &str = "order:1";

async fn provider() -> ScriptedProvider {
    ScriptedProvider::start([]).await
}

async fn ground(backend: Backend, provider: &ScriptedProvider) -> Option<Ground> {
    ground_at(backend, provider, provider).await
}

async fn ground_at(backend: Backend, provider: &ScriptedProvider, keeper: &ScriptedProvider) -> Option<Ground> {
    Ground::new(backend, &config(&provider.url(), &keeper.url())).await
}

fn payload() -> Value {
    json!({ "cents": 100 })
}

/// Reserves on a gate that lives.
fn granted(gate: &Gate, flow: &str) -> (String, i64) {
    let answer = gate.reserve(flow, KEY, OWNER).unwrap();
    assert_eq!(answer.status, 201, "{}", answer.body);
    (answer.run_id(), answer.fence())
}

fn repeated(answer: &Answer) -> bool {
    answer.body["repeated"] == true
}

// --- reserve --------------------------------------------------------------------------------------

async fn killed_before_a_reservation_is_committed(backend: Backend) {
    killed_at_a_reservation(backend, "reserve.before_commit", false).await;
}

async fn killed_after_a_reservation_was_committed_and_before_its_answer(backend: Backend) {
    killed_at_a_reservation(backend, "reserve.after_commit", true).await;
}

async fn killed_at_a_reservation(backend: Backend, point: &str, committed: bool) {
    let provider = provider().await;
    let Some(ground) = ground(backend, &provider).await else { return };
    let mut gate = ground.serve_with(point, "abort");
    assert!(gate.reserve("blind", KEY, OWNER).is_none());
    gate.until_dead();

    let gate = ground.serve();
    let again = gate.reserve("blind", KEY, OWNER).unwrap();
    let other = gate.reserve("blind", KEY, "worker-2").unwrap();

    assert_eq!((again.status, repeated(&again), again.fence()), (201, committed, 1), "{}", again.body);
    assert_eq!((again.body["run"]["attempts"].as_i64(), other.status), (Some(1), 202));
    goes_on(&ground, &gate, &provider, &again.run_id());
}

/// The run is whole: its worker proposes, it is sent once, the record is right.
fn goes_on(ground: &Ground, gate: &Gate, provider: &ScriptedProvider, run: &str) {
    let proposed = gate.propose(run, (OWNER, 1), &payload()).unwrap();
    assert_eq!(proposed.status, 200, "{}", proposed.body);
    gate.until_effect(run, &["completed"]);
    let ledger = provider.ledger();
    assert_eq!(ledger.executions.len(), 1);
    audit(ground, gate, &ledger, &[run.to_owned()]);
}

// --- proposal and completion ----------------------------------------------------------------------

async fn killed_before_a_proposal_is_committed(backend: Backend) {
    killed_at_a_proposal(backend, "change.before_commit").await;
}

async fn killed_after_a_proposal_was_committed_and_before_its_answer(backend: Backend) {
    killed_at_a_proposal(backend, "change.after_commit").await;
}

async fn killed_at_a_proposal(backend: Backend, point: &str) {
    let provider = provider().await;
    provider.enforce("Idempotency-Key");
    let Some(ground) = ground(backend, &provider).await else { return };
    let mut gate = ground.serve_with(point, "abort");
    let (run, fence) = granted(&gate, "keeper");
    assert!(gate.propose(&run, (OWNER, fence), &payload()).is_none());
    gate.until_dead();

    let gate = ground.serve();
    let again = gate.propose(&run, (OWNER, fence), &payload()).unwrap();
    let third = gate.propose(&run, (OWNER, fence), &payload()).unwrap();

    let committed = point == "change.after_commit";
    assert_eq!((again.status, repeated(&again)), (200, committed), "{}", again.body);
    assert_eq!((third.status, repeated(&third)), (200, true), "{}", third.body);
    gate.until_effect(&run, &["completed"]);
    let ledger = provider.ledger();
    assert_eq!(ledger.executions.len(), 1);
    audit(&ground, &gate, &ledger, &[run]);
}

async fn killed_before_a_completion_is_committed(backend: Backend) {
    killed_at_a_completion(backend, "change.before_commit").await;
}

async fn killed_after_a_completion_was_committed_and_before_its_answer(backend: Backend) {
    killed_at_a_completion(backend, "change.after_commit").await;
}

async fn killed_at_a_completion(backend: Backend, point: &str) {
    let provider = provider().await;
    let Some(ground) = ground(backend, &provider).await else { return };
    let result = json!({ "result": { "label": "question" } });
    let mut gate = ground.serve_with(point, "abort");
    let (run, fence) = granted(&gate, "blind");
    assert!(gate.under_lease("complete", &run, (OWNER, fence), &result).is_none());
    gate.until_dead();

    let gate = ground.serve();
    let again = gate.under_lease("complete", &run, (OWNER, fence), &result).unwrap();
    let duplicate = gate.reserve("blind", KEY, "worker-2").unwrap();

    let committed = point == "change.after_commit";
    assert_eq!((again.status, repeated(&again)), (200, committed), "{}", again.body);
    assert_eq!((duplicate.status, &duplicate.body["answer"]), (200, &json!("replay")));
    assert_eq!(duplicate.body["run"]["result"], result["result"]);
    audit(&ground, &gate, &provider.ledger(), &[run]);
}

// --- sending --------------------------------------------------------------------------------------

/// When the gate that sends is killed.
#[derive(Clone)]
enum Kill {
    /// At a failure point of the gate.
    At(&'static str),
    /// Once the provider has so much of the request, which it plays this step for.
    Reading { step: Step, bytes: usize },
}

async fn killed_after_the_attempt_is_on_record(backend: Backend) {
    at_every_provider(backend, Kill::At("dispatch.after_attempt"), false).await;
}

async fn killed_right_before_the_first_byte(backend: Backend) {
    at_every_provider(backend, Kill::At("dispatch.before_write"), false).await;
}

async fn killed_while_the_provider_has_part_of_the_request(backend: Backend) {
    let step = Step::from(Act::ReadPartThenSilence { bytes: 4 });
    at_every_provider(backend, Kill::Reading { step, bytes: 4 }, false).await;
}

async fn killed_while_the_provider_has_the_request_and_has_done_nothing(backend: Backend) {
    let step = Step::created().held().executing(false);
    at_every_provider(backend, Kill::Reading { step, bytes: payload().to_string().len() }, false).await;
}

async fn killed_while_the_provider_has_done_it_and_has_not_answered(backend: Backend) {
    let step = Step::created().held();
    at_every_provider(backend, Kill::Reading { step, bytes: payload().to_string().len() }, true).await;
}

async fn killed_when_the_answer_is_there(backend: Backend) {
    at_every_provider(backend, Kill::At("dispatch.after_answer"), true).await;
}

async fn killed_before_the_settlement(backend: Backend) {
    at_every_provider(backend, Kill::At("dispatch.before_settle"), true).await;
}

/// The same death at each kind of provider, each with a database of its own; they wait for their leases together.
async fn at_every_provider(backend: Backend, kill: Kill, executed: bool) {
    let runtime = Handle::current();
    // Threads of their own: what blocks one of the runtime's holds up the provider.
    let deaths = ["blind", "seen", "keeper"].map(|flow| {
        let (runtime, kill) = (runtime.clone(), kill.clone());
        spawn_blocking(move || runtime.block_on(killed_sending(backend, flow, kill, executed)))
    });
    for death in deaths {
        death.await.unwrap();
    }
}

async fn killed_sending(backend: Backend, flow: &'static str, kill: Kill, executed: bool) {
    let provider = provider().await;
    if flow == "keeper" {
        provider.enforce("Idempotency-Key");
    }
    let Some(ground) = ground(backend, &provider).await else { return };
    let (run, fence) = die(&ground, &provider, flow, &kill).await;
    assert_eq!(provider.ledger().executions.len(), usize::from(executed), "{flow}");

    let gate = ground.serve();
    let lease = (OWNER, fence);
    assert_eq!(gate.reserve(flow, KEY, OWNER).unwrap().body["answer"], "replay");
    assert!(repeated(&gate.propose(&run, lease, &payload()).unwrap()));
    let story = gate.until_effect(&run, &["completed", "review", "failed", "cancelled"]);

    // Where nobody can be asked it stays unknown, whatever is true; elsewhere it ends done, once.
    let blind = flow == "blind";
    let told = (&story["sent"], &story["effects"][0]["state"]);
    let expected = if blind { (json!("unknown"), json!("review")) } else { (json!("yes"), json!("completed")) };
    assert_eq!(told, (&expected.0, &expected.1), "{flow}: {story:#}");
    assert!(repeated(&gate.propose(&run, lease, &payload()).unwrap()));
    let ledger = provider.ledger();
    assert_eq!(ledger.executions.len(), usize::from(executed || !blind), "{flow}: {story:#}");
    let reissued = ledger.requests.iter().filter(|r| r.replayed).count();
    assert_eq!(reissued > 0, executed && flow == "keeper", "{flow}: {ledger:#?}");
    audit(&ground, &gate, &ledger, &[run]);
}

/// Proposes an effect and kills the gate while it sends it.
async fn die(ground: &Ground, provider: &ScriptedProvider, flow: &str, kill: &Kill) -> (String, i64) {
    let gate = match kill {
        Kill::At(point) => ground.serve_with(point, "pause"),
        Kill::Reading { step, .. } => {
            provider.push(step.clone());
            ground.serve()
        }
    };
    let (run, fence) = granted(&gate, flow);
    let proposed = gate.propose(&run, (OWNER, fence), &payload()).unwrap();
    assert_eq!(proposed.status, 200, "{}", proposed.body);
    match kill {
        Kill::At(point) => ground.until_at(point),
        Kill::Reading { bytes, .. } => {
            provider.until(|ledger| ledger.requests.iter().any(|r| r.body.len() >= *bytes)).await;
        }
    }
    gate.kill();
    // What was held goes to a peer that is no more.
    provider.release();
    (run, fence)
}

// --- deciding -------------------------------------------------------------------------------------

async fn killed_before_a_decision_is_committed(backend: Backend) {
    killed_at_a_decision(backend, "decide.before_commit", false).await;
}

async fn killed_after_a_decision_was_committed_and_before_its_answer(backend: Backend) {
    killed_at_a_decision(backend, "decide.after_commit", true).await;
}

async fn killed_at_a_decision(backend: Backend, point: &str, committed: bool) {
    let provider = provider().await;
    provider.enforce("Idempotency-Key");
    let Some(ground) = ground(backend, &provider).await else { return };
    let mut gate = ground.serve_with(point, "abort");
    ground.add_user("anna", "lead,approver");
    let (run, fence) = granted(&gate, "asked");
    let waiting = gate.propose(&run, (OWNER, fence), &payload()).unwrap();
    assert_eq!(waiting.body["answer"], "waiting", "{}", waiting.body);
    let approval = waiting.body["approval"].clone();
    let anna = gate.sign_in("anna");
    assert!(gate.decide(&anna, &approval, "approve").is_none());
    gate.until_dead();
    let before = provider.ledger().executions.len();

    let gate = ground.serve();
    let again = gate.decide(&anna, &approval, "approve").unwrap();
    let contrary = gate.decide(&anna, &approval, "reject").unwrap();

    assert_eq!((again.status, repeated(&again)), (200, committed), "{}", again.body);
    assert!(committed || before == 0, "sent before anybody decided");
    assert_eq!(contrary.status, 409, "{}", contrary.body);
    let story = gate.until_effect(&run, &["completed"]);
    assert_eq!(story["approved_by"].as_array().map(Vec::len), Some(1), "{story:#}");
    assert_eq!(provider.ledger().executions.len(), 1);
    audit(&ground, &gate, &provider.ledger(), &[run]);
}

async fn killed_before_a_decision_by_link_is_committed(backend: Backend) {
    killed_at_a_decision_by_link(backend, "decide.before_commit").await;
}

async fn killed_after_a_decision_by_link_was_committed_and_before_its_answer(backend: Backend) {
    killed_at_a_decision_by_link(backend, "decide.after_commit").await;
}

/// The form is sent again as it was, as a browser does that got no answer: with the cookie and the token of the page
/// that the dead server made.
async fn killed_at_a_decision_by_link(backend: Backend, point: &str) {
    let provider = provider().await;
    provider.enforce("Idempotency-Key");
    let Some(ground) = ground(backend, &provider).await else { return };
    let mut gate = ground.serve_with(point, "abort");
    let (run, fence) = granted(&gate, "linked");
    let waiting = gate.propose(&run, (OWNER, fence), &payload()).unwrap();
    let link = waiting.body["approval"]["link"].as_str().unwrap_or_else(|| panic!("{}", waiting.body));
    let path = &link[link.find("/a/").unwrap()..];
    let page = gate.exchange("GET", path, &[], "").unwrap();
    let press = |gate: &Gate, button: &str| {
        let cookie = page.header("set-cookie").unwrap().split(';').next().unwrap();
        let fields = [("cookie", cookie), ("content-type", "application/x-www-form-urlencoded")];
        let (csrf, hash) = (hidden(&page.text, "csrf"), hidden(&page.text, "effects_hash").replace(':', "%3A"));
        let form = format!("csrf={csrf}&effects_hash={hash}&decision={button}&reason=because");
        gate.exchange("POST", path, &fields, &form)
    };
    assert!(press(&gate, "approve").is_none());
    gate.until_dead();

    let gate = ground.serve();
    let again = press(&gate, "approve").unwrap();
    let third = press(&gate, "approve").unwrap();
    let contrary = press(&gate, "reject").unwrap();

    assert_eq!((again.status, third.status, contrary.status), (303, 303, 409), "{}", again.text);
    let story = gate.until_effect(&run, &["completed"]);
    assert_eq!(story["approved_by"].as_array().map(Vec::len), Some(1), "{story:#}");
    assert_eq!(provider.ledger().executions.len(), 1);
    audit(&ground, &gate, &provider.ledger(), &[run]);
}

/// The value of a hidden field.
fn hidden<'a>(page: &'a str, name: &str) -> &'a str {
    let from = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("{name}: {page}")).1;
    from.split_once('"').unwrap().0
}

// --- sweeping -------------------------------------------------------------------------------------

async fn killed_in_the_middle_of_a_sweep_of_lost_attempts(backend: Backend) {
    let provider = provider().await;
    let Some(ground) = ground(backend, &provider).await else { return };
    let (run, _) = die(&ground, &provider, "seen", &Kill::At("dispatch.after_answer")).await;
    let gate = ground.serve_with("sweep.before_move", "pause");
    ground.until_at("sweep.before_move");
    assert_eq!(gate.explain(&run)["sent"], "unknown");
    gate.kill();

    let gate = ground.serve();
    gate.until_effect(&run, &["completed"]);

    let ledger = provider.ledger();
    assert_eq!((ledger.executions.len(), ledger.requests.len()), (1, 1), "{ledger:#?}");
    audit(&ground, &gate, &ledger, &[run]);
}

/// A worker that began an inline effect and died, and then the sweeper that found it.
async fn killed_in_the_middle_of_a_sweep_of_lost_workers(backend: Backend) {
    let provider = provider().await;
    let Some(ground) = ground(backend, &provider).await else { return };
    let gate = ground.serve_with("sweep.before_move", "pause");
    let body = json!({ "flow": "blind", "key": KEY, "payload": { "order": KEY }, "owner": OWNER, "lease_ms": 2_000 });
    let reserved = gate.call("POST", "/v1/runs", &body).unwrap();
    let (run, lease) = (reserved.run_id(), (OWNER, reserved.fence()));
    let effect = json!({ "type": "act", "target": "there", "payload": payload() });
    let begun = gate.under_lease("effects", &run, lease, &effect).unwrap();
    assert_eq!(begun.status, 201, "{}", begun.body);
    ground.until_at("sweep.before_move");
    gate.kill();

    let gate = ground.serve();
    let story = gate.until_effect(&run, &["review"]);
    let late = gate.under_lease("effects", &run, lease, &effect).unwrap();
    let next = gate.reserve("blind", KEY, "worker-2").unwrap();

    assert_eq!((&story["sent"], &story["state"]), (&json!("unknown"), &json!("awaiting_human")), "{story:#}");
    assert_eq!((late.status, &late.body["code"]), (409, &json!("lease_lost")), "no leave to call again: {}", late.body);
    assert_eq!((next.status, &next.body["answer"]), (200, &json!("replay")), "{}", next.body);
    audit(&ground, &gate, &provider.ledger(), &[run]);
}

// --- under load and asleep ------------------------------------------------------------------------

const CLIENTS: usize = 9;
const KEYS: usize = 12;
const KILLS: usize = 6;

/// Clients ask until they are heard, whoever listens.
async fn killed_again_and_again_under_load(backend: Backend) {
    let (provider, keeper) = (provider().await, provider().await);
    keeper.enforce("Idempotency-Key");
    for peer in [&provider, &keeper] {
        peer.set_default(Step { delay_ms: 50, ..Step::created() });
    }
    let Some(ground) = ground_at(backend, &provider, &keeper).await else { return };
    let mut gate = ground.serve();
    let address = Arc::new(Mutex::new(gate.url.clone()));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            let address = Arc::clone(&address);
            thread::spawn(move || (0..KEYS).map(|turn| heard(&address, n, turn)).collect::<Vec<_>>())
        })
        .collect();
    for _ in 0..KILLS {
        // Some are on the wire, some before it, some behind.
        let seen = provider.ledger().requests.len();
        provider.until(|ledger| ledger.requests.len() >= seen + 3).await;
        gate.kill();
        gate = ground.serve();
        address.lock().unwrap().clone_from(&gate.url);
    }

    let runs: Vec<String> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    let done = runs.iter().map(|run| gate.until_effect(run, &["completed", "review", "failed", "cancelled"]));
    let stories: Vec<Value> = done.collect();

    for story in &stories {
        let state = story["effects"][0]["state"].as_str().unwrap();
        assert!(state == "completed" || (state, &story["flow"]) == ("review", &json!("blind")), "{story:#}");
    }
    let lost = |story: &&Value| story["timeline"].as_array().unwrap().iter().any(|m| m["kind"] == "attempt_lost");
    assert!(stories.iter().filter(lost).count() >= KILLS, "nothing was under way when it was killed");
    let (mut ledger, kept) = (provider.ledger(), keeper.ledger());
    ledger.requests.extend(kept.requests);
    ledger.executions.extend(kept.executions);
    audit(&ground, &gate, &ledger, &runs);
}

/// Reserves and proposes until both were answered; the run.
fn heard(address: &Mutex<String>, n: usize, turn: usize) -> String {
    let (flow, key, owner) =
        (["blind", "seen", "keeper"][turn % 3], format!("order:{n}:{turn}"), format!("worker-{n}"));
    let now = || address.lock().unwrap().clone();
    let reserved = eventually("a reservation", || now().reserve(flow, &key, &owner));
    assert_eq!((reserved.status, reserved.fence()), (201, 1), "{}", reserved.body);
    let run = reserved.run_id();
    let proposed = eventually("a proposal", || now().propose(&run, (&owner, 1), &payload()));
    assert_eq!((proposed.status, &proposed.body["answer"]), (200, &json!("queued")), "{}", proposed.body);
    run
}

/// A process that stands still longer than its attempt may take (a suspended machine) has been given up meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_slept_through_its_lease_changes_nothing_when_it_wakes() {
    let provider = provider().await;
    let Some(ground) = ground(Backend::Postgres, &provider).await else { return };
    provider.push(Step::created().held());
    let asleep = ground.serve();
    let (run, fence) = granted(&asleep, "blind");
    assert_eq!(asleep.propose(&run, (OWNER, fence), &payload()).unwrap().status, 200);
    provider.requests(1).await;
    send(&asleep, "STOP");
    let awake = ground.serve();
    awake.until_effect(&run, &["review"]);
    provider.release();
    provider.until(|ledger| ledger.connections_ended == 0 && ledger.executions.len() == 1).await;
    send(&asleep, "CONT");

    // What it has to say of its attempt is noted, and changes nothing.
    let noted = eventually("the late report", || {
        let story = asleep.explain(&run);
        let kinds = story["timeline"].as_array().unwrap().iter().map(|m| m["kind"].as_str().unwrap().to_owned());
        kinds.collect::<Vec<_>>().contains(&"late_report".to_owned()).then_some(story)
    });
    assert_eq!((&noted["sent"], &noted["effects"][0]["state"]), (&json!("unknown"), &json!("review")), "{noted:#}");
    audit(&ground, &awake, &provider.ledger(), &[run]);
}

fn send(gate: &Gate, signal: &str) {
    let pid = gate.child.id().to_string();
    assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success());
}
