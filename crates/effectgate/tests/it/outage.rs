//! A database that goes away and comes back, one that is busy, one that is newer than the binary.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use effectgate_testkit::{
    pg::{PgOptions, test_server},
    provider::{ScriptedProvider, Step},
};
use serde_json::{Value, json};

use crate::{
    auditor::audit,
    config::{HEAD, NOBODY, http, ungated},
    ground::{Answer, Backend, Calls as _, Ground, Session, eventually, on_both_backends},
    support::Gate,
};

const ASKED: &str = r#"
[flows.asked]
effects.act = { provider = "crm", impact = "high", gate = "approve" }
approval = { audience = ["role:lead"] }
"#;

/// A flow that goes by itself and one where a person is asked, both to a provider at this address.
fn config(url: &str) -> String {
    let crm = http("crm", url, r#"effects.act = { path = "/notes", external_id = "/id" }"#);
    HEAD.with(&[&crm, &ungated("ticket", "act", "crm"), ASKED])
}

on_both_backends! {
    serve_refuses_a_database_that_is_newer_than_the_binary;
}

async fn serve_refuses_a_database_that_is_newer_than_the_binary(backend: Backend) {
    let Some(ground) = Ground::new(backend, &config(NOBODY)).await else { return };
    assert_eq!(ground.house.run(&["migrate", "apply"]).code, 0);
    ground.sql("INSERT INTO schema_migrations (number, sha256, applied_at) VALUES (999, 'from the future', 0)").await;

    let told = ground.house.run(&["serve"]);

    assert_eq!(told.code, 4, "{}", told.err);
    assert!(told.err.contains("newer") && told.err.contains("999"), "{}", told.err);
    assert_eq!(told.out, "", "nothing listens and no key is made");
}

// --- away and back --------------------------------------------------------------------------------

const CLIENTS: usize = 6;

/// What clients were told in the course of an outage.
#[derive(Default)]
struct Told {
    /// Keys whose run was completed with success, by the answer.
    completed: Mutex<Vec<String>>,
    /// Keys that were granted, by the answer, and not completed.
    granted: Mutex<Vec<String>>,
    refused: AtomicUsize,
    over: AtomicBool,
}

impl Told {
    /// Reserves and completes one key after the other until it is over.
    fn work(&self, gate: &Gate, n: usize) {
        for turn in 0.. {
            if self.over.load(Ordering::SeqCst) {
                return;
            }
            let key = format!("order:{n}:{turn}");
            let Some(granted) = self.taken(gate.reserve("ticket", &key, "w"), 201) else { continue };
            let lease = ("w", granted.fence());
            let done = gate.under_lease("complete", &granted.run_id(), lease, &json!({ "result": key }));
            let list = if self.taken(done, 200).is_some() { &self.completed } else { &self.granted };
            list.lock().unwrap().push(key);
        }
    }

    /// A success, or the one refusal there may be.
    fn taken(&self, answer: Option<Answer>, success: u16) -> Option<Answer> {
        let answer = answer.expect("the server lives, so it answers");
        if answer.status == success {
            return Some(answer);
        }
        assert!(["database_unavailable", "commit_unknown"].contains(&answer.code()), "{answer:?}");
        assert_eq!(answer.status, 503, "{answer:?}");
        assert!(answer.header("retry-after").is_some(), "{answer:?}");
        self.refused.fetch_add(1, Ordering::SeqCst);
        None
    }
}

fn readiness(gate: &Gate) -> u16 {
    gate.ask("GET", "/readyz", &[], &Value::Null).unwrap().status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_database_that_goes_away_is_told_to_callers_and_everything_claimed_is_there_when_it_is_back() {
    let Some(mut database) = test_server(PgOptions::default()).await else { return };
    let provider = ScriptedProvider::start([Step::created().held()]).await;
    let url = database.create_database().await.unwrap();
    let ground = Ground::at(url, &config(&provider.url()));
    let gate = ground.serve();
    eventually("ready", || (readiness(&gate) == 200).then_some(()));
    let on_the_wire = sent(&gate, "before");
    provider.requests(1).await;
    let told = Told::default();

    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|n| (n, &told, &gate)).collect();
        let clients = clients.into_iter().map(|(n, told, gate)| scope.spawn(move || told.work(gate, n)));
        let clients: Vec<_> = clients.collect();
        let end = Over(&told);
        told.completed_at_least(20);
        database.kill();
        away(&gate, &told);
        // The answer comes while nobody can write it down.
        provider.release();
        database.restart().unwrap();
        eventually("ready again", || (readiness(&gate) == 200).then_some(()));
        told.completed_at_least(told.completed() + 20);
        drop(end);
        clients.into_iter().for_each(|client| client.join().unwrap());
    });

    let after = sent(&gate, "after");
    for run in [&on_the_wire, &after] {
        gate.until_effect(run, &["completed"]);
    }
    audit(&ground, &gate, &provider.ledger(), &[on_the_wire, after]);
    assert_eq!(provider.ledger().executions.len(), 2);
    for key in told.completed.lock().unwrap().iter() {
        let again = gate.reserve("ticket", key, "another").unwrap();
        assert_eq!((again.status, &again.body["run"]["result"]), (200, &json!(key)), "{}", again.body);
    }
    for key in told.granted.lock().unwrap().iter() {
        let again = gate.reserve("ticket", key, "w").unwrap();
        let kept = again.body["repeated"] == true || again.body["run"]["state"] == "completed";
        assert!(kept && again.body["run"]["attempts"] == 1, "{}", again.body);
    }
}

impl Told {
    fn completed(&self) -> usize {
        self.completed.lock().unwrap().len()
    }

    fn completed_at_least(&self, count: usize) {
        eventually("clients that get on", || (self.completed() >= count).then_some(()));
    }
}

/// Tells the clients to stop, also where the test fails.
struct Over<'a>(&'a Told);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
    }
}

/// While the database is away.
fn away(gate: &Gate, told: &Told) {
    eventually("not ready", || (readiness(gate) == 503).then_some(()));
    let before = told.refused.load(Ordering::SeqCst);
    eventually("refusals", || (told.refused.load(Ordering::SeqCst) >= before + 2 * CLIENTS).then_some(()));
    let answer = gate.reserve("ticket", "order:away", "w").unwrap();
    assert_eq!((answer.status, answer.code()), (503, "database_unavailable"), "{answer:?}");
    assert_eq!(gate.ask("GET", "/healthz", &[], &Value::Null).unwrap().status, 200);
}

/// A run whose effect is in the outbox.
fn sent(gate: &Gate, key: &str) -> String {
    let granted = gate.reserve("ticket", key, "w").unwrap();
    let answer = gate.propose(&granted.run_id(), ("w", granted.fence()), &json!({ "text": key })).unwrap();
    assert_eq!(answer.body["answer"], "queued", "{}", answer.body);
    granted.run_id()
}

// --- busy -----------------------------------------------------------------------------------------

const BUSY_CLIENTS: usize = 20;
/// Of four or five calls each.
const BUSY_TURNS: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn hc_42_twenty_clients_of_one_sqlite_file_never_see_it_locked() {
    let Some(ground) = Ground::new(Backend::Sqlite, &config(NOBODY)).await else { return };
    let gate = ground.serve();
    ground.add_user("anna", "lead,approver");
    let off = json!({ "scope": "all", "enabled": false, "reason": "nobody is at the other end" });
    assert_eq!(gate.call("PUT", "/v1/switches", &off).unwrap().status, 200);
    let anna = gate.sign_in("anna");

    thread::scope(|scope| {
        let clients: Vec<_> = (0..BUSY_CLIENTS).map(|n| (n, &gate, &anna)).collect();
        let clients: Vec<_> =
            clients.into_iter().map(|(n, gate, anna)| scope.spawn(move || busy(gate, anna, n))).collect();
        // Others look into the file meanwhile, and one wants it for itself.
        assert_eq!(ground.verify()["verified"], true);
        let second = ground.house.run(&["serve"]);
        assert_eq!(second.code, 5, "{}", second.err);
        assert!(second.err.contains("in use by another process"), "{}", second.err);
        clients.into_iter().for_each(|client| client.join().unwrap());
    });

    let verified = ground.verify();
    assert_eq!(verified["verified"], true, "{verified:#}");
}

fn busy(gate: &Gate, anna: &Session, n: usize) {
    for turn in 0..BUSY_TURNS {
        let flow = if turn % 5 == 0 { "asked" } else { "ticket" };
        let granted = gate.reserve(flow, &format!("order:{n}:{turn}"), "w").unwrap();
        assert_eq!(granted.status, 201, "{}", granted.body);
        let (run, lease) = (granted.run_id(), ("w", granted.fence()));
        let renewed = gate.under_lease("renew", &run, lease, &json!({ "lease_ms": 60_000 })).unwrap();
        assert_eq!(renewed.status, 200, "{}", renewed.body);
        let wanted = gate.reserve("ticket", &format!("wanted:{turn}"), &format!("worker-{n}")).unwrap();
        assert!([201, 202].contains(&wanted.status), "{}", wanted.body);
        let done = if flow == "asked" {
            let waiting = gate.propose(&run, lease, &json!({ "text": "hello" })).unwrap();
            gate.decide(anna, &waiting.body["approval"], "approve").unwrap()
        } else {
            gate.under_lease("complete", &run, lease, &json!({ "result": n })).unwrap()
        };
        assert_eq!(done.status, 200, "{}", done.body);
    }
}
