//! Two servers on one database: whichever of them is asked, the answer is that of one gate.

use std::{
    sync::Barrier,
    thread::{self, ScopedJoinHandle},
};

use effectgate_testkit::provider::{Mode, ScriptedProvider, Step};
use serde_json::{Value, json};

use crate::{
    auditor::audit,
    config::{HEAD, Head, http, ungated},
    ground::{Answer, Backend, Calls as _, Ground, eventually},
    support::Gate,
};

const CRM: &str = r#"
rate = { per_second = 40, concurrent = 4 }
effects.act = { path = "/notes", external_id = "/id" }
"#;
const ASKED: &str = r#"
[flows.asked]
effects.act = { provider = "crm", impact = "high", gate = "approve" }
approval = { audience = ["role:lead"] }
"#;

/// A provider and two servers on one database; none where there is no PostgreSQL to test with.
async fn replicas() -> Option<(ScriptedProvider, Ground, [Gate; 2])> {
    let provider = ScriptedProvider::start([]).await;
    let head = Head { connections_max: Some(8), sweeper_ms: 200, ..HEAD };
    let config = head.with(&[&http("crm", &provider.url(), CRM), &ungated("ticket", "act", "crm"), ASKED]);
    let ground = Ground::new(Backend::Postgres, &config).await?;
    let gates = [ground.serve(), ground.serve()];
    Some((provider, ground, gates))
}

const DELIVERIES: usize = 10;
const ROUNDS: usize = 200;

#[tokio::test(flavor = "multi_thread")]
async fn hc_01_of_ten_simultaneous_deliveries_to_two_servers_one_is_granted() {
    let Some((_provider, ground, gates)) = replicas().await else { return };
    let barrier = Barrier::new(DELIVERIES);
    let deliver = |n: usize| {
        let round = |round| {
            barrier.wait();
            // Nobody may fail here: the others would wait at the barrier for ever.
            gates[n % 2].reserve("ticket", &format!("order:{round}"), &format!("worker-{n}"))
        };
        (0..ROUNDS).map(round).collect::<Vec<_>>()
    };

    let told: Vec<Vec<Option<Answer>>> = thread::scope(|scope| {
        let deliver = &deliver;
        let all: Vec<_> = (0..DELIVERIES).map(|n| scope.spawn(move || deliver(n))).collect();
        all.into_iter().map(joined).collect()
    });

    for round in 0..ROUNDS {
        let answers: Vec<&Answer> = told.iter().map(|t| t[round].as_ref().unwrap()).collect();
        let count = |status| answers.iter().filter(|a| a.status == status).count();
        assert_eq!((count(201), count(202)), (1, DELIVERIES - 1), "round {round}: {answers:#?}");
        assert!(answers.iter().all(|a| a.run_id() == answers[0].run_id()), "round {round}: {answers:#?}");
    }
    let verified = ground.verify();
    assert_eq!((&verified["verified"], verified["chains"].as_u64() >= Some(200)), (&json!(true), true), "{verified}");
}

fn joined<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn payload() -> Value {
    json!({ "text": "hello" })
}

#[tokio::test(flavor = "multi_thread")]
async fn identical_proposals_to_two_servers_queue_and_send_one_effect() {
    let Some((provider, ground, gates)) = replicas().await else { return };
    let mut runs = Vec::new();
    for n in 0..20 {
        let granted = gates[n % 2].reserve("ticket", &format!("order:{n}"), "w").unwrap();
        let (run, lease) = (granted.run_id(), ("w", granted.fence()));
        let both = thread::scope(|scope| {
            let propose = |gate: &Gate| gate.propose(&run, lease, &payload()).unwrap();
            let [a, b] = [&gates[0], &gates[1]].map(|gate| scope.spawn(move || propose(gate)));
            [joined(a), joined(b)]
        });
        assert_eq!(both.each_ref().map(|a| a.status), [200, 200], "{both:#?}");
        let repeats = both.iter().filter(|a| a.body["repeated"] == true).count();
        assert_eq!(repeats, 1, "{both:#?}");
        runs.push(run);
    }

    for run in &runs {
        let story = gates[0].until_effect(run, &["completed"]);
        assert_eq!(story["effects"].as_array().map(Vec::len), Some(1), "{story:#}");
    }
    let ledger = provider.ledger();
    assert_eq!(ledger.executions.len(), runs.len());
    audit(&ground, &gates[1], &ledger, &runs);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_people_who_disagree_at_two_servers_the_first_commit_wins() {
    let Some((provider, ground, gates)) = replicas().await else { return };
    let people = ["anna", "bert"].map(|name| {
        ground.add_user(name, "lead,approver");
        gates[0].sign_in(name)
    });
    let (mut runs, mut approved) = (Vec::new(), 0);
    for n in 0..20 {
        let granted = gates[n % 2].reserve("asked", &format!("order:{n}"), "w").unwrap();
        let waiting = gates[n % 2].propose(&granted.run_id(), ("w", granted.fence()), &payload()).unwrap();
        let approval = &waiting.body["approval"];
        let told = thread::scope(|scope| {
            let approve = scope.spawn(|| gates[n % 2].decide(&people[0], approval, "approve").unwrap());
            let reject = scope.spawn(|| gates[(n + 1) % 2].decide(&people[1], approval, "reject").unwrap());
            [joined(approve), joined(reject)]
        });
        let statuses = told.each_ref().map(|a| a.status);
        assert!(statuses == [200, 409] || statuses == [409, 200], "{told:#?}");
        approved += usize::from(statuses[0] == 200);
        runs.push(granted.run_id());
    }

    let ends: Vec<Value> = runs.iter().map(|run| until_final(&gates[0], run)).collect();
    assert_eq!(ends.iter().filter(|story| story["state"] == "completed").count(), approved);
    assert!(ends.iter().all(|story| story["approved_by"].as_array().map(Vec::len) == Some(1)), "{ends:#?}");
    let ledger = provider.ledger();
    assert_eq!(ledger.executions.len(), approved);
    audit(&ground, &gates[1], &ledger, &runs);
}

fn until_final(gate: &Gate, run: &str) -> Value {
    eventually("a final run", || {
        let story = gate.explain(run);
        ["completed", "failed_terminal"].contains(&story["state"].as_str().unwrap()).then_some(story)
    })
}

const CLIENTS: usize = 50;
const TURNS: usize = 8;

/// Reserve, renew, a stale renew that is refused, a conflict, complete; and a key that all of them want.
fn client(gate: &Gate, n: usize) {
    for turn in 0..TURNS {
        let (key, owner) = (format!("order:{n}:{turn}"), format!("worker-{n}"));
        let granted = gate.reserve("ticket", &key, &owner).unwrap();
        let (run, fence) = (granted.run_id(), granted.fence());
        let renew = json!({ "lease_ms": 60_000 });
        let renewed = gate.under_lease("renew", &run, (&owner, fence), &renew).unwrap();
        let stale = gate.under_lease("renew", &run, (&owner, fence + 1), &renew).unwrap();
        let other = json!({ "flow": "ticket", "key": key, "payload": { "order": "another" } });
        let conflict = gate.call("POST", "/v1/runs", &other).unwrap();
        let wanted = gate.reserve("ticket", &format!("wanted:{turn}"), &owner).unwrap();
        let done = gate.under_lease("complete", &run, (&owner, fence), &json!({ "result": n })).unwrap();
        let told = [granted.status, renewed.status, stale.status, conflict.status, done.status];
        assert_eq!(told, [201, 200, 409, 422, 200], "{renewed:?} {stale:?} {conflict:?} {done:?}");
        assert!([201, 202].contains(&wanted.status), "{wanted:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_41_fifty_clients_at_two_servers_write_one_chain_a_run_and_an_edited_byte_is_named() {
    let Some((_provider, ground, gates)) = replicas().await else { return };
    thread::scope(|scope| {
        let all: Vec<_> = (0..CLIENTS).map(|n| (n, &gates[n % 2])).collect();
        all.into_iter().for_each(|(n, gate)| drop(scope.spawn(move || client(gate, n))));
    });

    let verified = ground.verify();
    assert_eq!(verified["verified"], true, "{verified:#}");
    assert!(verified["entries"].as_u64() >= Some((CLIENTS * TURNS * 4) as u64), "{verified:#}");
    let run = gates[0].reserve("ticket", "order:7:3", "w").unwrap().run_id();
    ground
        .sql(
            "UPDATE journal SET entry = replace(entry, ':worker-7\"', ':worker-8\"') WHERE seq = 1 AND run_id = \
             (SELECT run_id FROM runs WHERE key = 'order:7:3')",
        )
        .await;
    let broken = ground.verify();

    assert_eq!(broken["verified"], false, "{broken:#}");
    let named = broken["broken"].as_array().unwrap();
    assert_eq!((named.len(), &named[0]["run"]), (1, &json!(run)), "{broken:#}");
    assert!(named[0]["detail"].as_str().unwrap().contains("entry 1 of"), "{broken:#}");
    assert_eq!(gates[1].get("/v1/journal/verify")["broken"], broken["broken"]);
}

const QUEUED: usize = 40;
/// As the config says for each server.
const CONCURRENT: usize = 4;
/// Turns of each dispatcher that the stillness is watched for.
const TICKS: usize = 5;

fn turn(gate: &Gate, enabled: bool) -> Answer {
    let body = json!({ "scope": "all", "enabled": enabled, "reason": "a test" });
    let turned = gate.call("PUT", "/v1/switches", &body).unwrap();
    assert_eq!(turned.status, 200, "{}", turned.body);
    turned
}

fn queued(gate: &Gate, n: usize) -> String {
    let granted = gate.reserve("ticket", &format!("order:{n}"), "w").unwrap();
    let answer = gate.propose(&granted.run_id(), ("w", granted.fence()), &payload()).unwrap();
    assert_eq!(answer.body["answer"], "queued", "{}", answer.body);
    granted.run_id()
}

/// Waits until both dispatchers have gone round some times.
fn some_ticks(gates: &[Gate; 2]) {
    let tick = |gate: &Gate| {
        let ready = gate.get("/readyz");
        let workers = ready["workers"].as_array().unwrap();
        workers.iter().find(|w| w["worker"] == "dispatcher").unwrap()["last_tick_at"].clone()
    };
    for _ in 0..TICKS {
        let before = [tick(&gates[0]), tick(&gates[1])];
        eventually("a tick of both", || (0..2).all(|n| tick(&gates[n]) != before[n]).then_some(()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_38_a_switch_turned_at_one_server_holds_at_the_other() {
    let Some((provider, ground, gates)) = replicas().await else { return };
    provider.set_default(Step::created().held());
    let mut runs: Vec<String> = (0..QUEUED).map(|n| queued(&gates[n % 2], n)).collect();
    // As many as both may send at once are on the wire.
    provider.requests(2 * CONCURRENT).await;

    turn(&gates[0], false);
    let at_the_turn = provider.ledger().requests.len();
    provider.apply(Mode { default: Some(Step::created()), release: QUEUED, ..Mode::default() });
    runs.extend((QUEUED..QUEUED + 6).map(|n| queued(&gates[n % 2], n)));
    some_ticks(&gates);
    let while_off = provider.ledger().requests.len();
    let held = gates[1].explain(runs.last().unwrap());

    assert_eq!((at_the_turn, while_off), (2 * CONCURRENT, 2 * CONCURRENT));
    eventually("what was on the wire, recorded as it ended", || {
        let done = runs.iter().filter(|run| gates[1].explain(run)["sent"] == "yes").count();
        (done == 2 * CONCURRENT).then_some(())
    });
    assert_eq!(held["reason"]["code"], "switch_off", "{held:#}");
    turn(&gates[1], true);
    for run in &runs {
        gates[0].until_effect(run, &["completed"]);
    }
    let ledger = provider.ledger();
    assert_eq!(ledger.executions.len(), runs.len());
    audit(&ground, &gates[0], &ledger, &runs);
}
