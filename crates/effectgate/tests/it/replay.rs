//! Replay and correction as users do them: at the command line, and with a server that is killed in the middle.

use serde_json::{Value, json};

use crate::{
    config::{HEAD, Head, NOBODY, http, ungated},
    ground::{Backend, Calls as _, Ground, eventually, on_both_backends},
    support::{Gate, House, KEY, Said, said},
};

fn config() -> String {
    let crm = http("crm", NOBODY, r#"effects.note = { path = "/notes" }"#);
    let head = Head { connections_max: Some(4), dispatcher_ms: None, ..HEAD };
    head.with(&[&crm, &ungated("ticket", "note", "crm")])
}

on_both_backends! {
    a_replay_killed_between_a_recovery_and_its_note_goes_on_and_does_nothing_twice;
}

/// Runs that their worker gave back.
fn failed(gate: &Gate, n: usize) -> Vec<String> {
    let one = |n: usize| {
        let (_, granted) = gate.post(
            KEY,
            "/v1/runs",
            &json!({"flow": "ticket", "key": format!("k:{n}"), "payload": {}, "owner": "w"}),
        );
        let run = granted["run"]["id"].as_str().unwrap().to_owned();
        let body = json!({"owner": "w", "fence": granted["lease"]["fence"], "class": "model_timeout"});
        assert_eq!(gate.post(KEY, &format!("/v1/runs/{run}/fail"), &body).0, 200);
        run
    };
    (0..n).map(one).collect()
}

async fn a_replay_killed_between_a_recovery_and_its_note_goes_on_and_does_nothing_twice(backend: Backend) {
    let Some(ground) = Ground::new(backend, &config()).await else { return };
    let mut gate = ground.serve_with("replay.after_commit", "abort");
    let runs = failed(&gate, 5);
    let filter = json!({"flow": "ticket", "event_type": "*", "since": "2020-01-01T00:00:00Z",
        "until": "2100-01-01T00:00:00Z", "state": "failed_retryable"});
    let (status, plan) =
        gate.post(KEY, "/v1/replays", &json!({"filter": filter, "limit": 10, "reason": "the model is back"}));
    assert_eq!((status, &plan["total"]), (201, &json!(5)), "{plan}");
    let path = format!("/v1/replays/{}", plan["id"].as_str().unwrap());
    // Whether the answer came before the end is no matter.
    let _ = gate.call("POST", &format!("{path}/execute"), &json!({}));
    gate.until_dead();
    // As if the dead replica's hold were over.
    ground.sql("UPDATE replays SET held_until = 0").await;

    let gate = ground.serve();
    let report = eventually("the replay ends", || {
        let report = gate.get(&path);
        (report["state"] == "done").then_some(report)
    });

    assert_eq!((&report["done"], &report["skipped"]), (&json!(5), &json!(0)), "{report}");
    for run in runs {
        let journal = gate.get(&format!("/v1/runs/{run}/journal"));
        let entries = journal["entries"].as_array().unwrap();
        let replayed = entries.iter().filter(|entry| entry["kind"] == "replayed").count();
        assert_eq!(replayed, 1, "{journal}");
    }
    let again = gate.call("POST", &format!("{path}/execute"), &json!({})).unwrap();
    assert_eq!((again.status, &again.body["done"]), (200, &json!(5)));
    assert_eq!(ground.verify()["verified"], json!(true));
}

fn asked(house: &House, gate: &Gate, args: &[&str]) -> Said {
    said(house.command(args).env("EFFECTGATE_URL", &gate.url).env("EFFECTGATE_KEY", KEY))
}

fn json_of(house: &House, gate: &Gate, args: &[&str]) -> Value {
    let all: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let said = asked(house, gate, &all);
    assert_eq!(said.code, 0, "{}", said.err);
    said.json()
}

const PLAN: [&str; 16] = [
    "replay",
    "plan",
    "--flow",
    "ticket",
    "--event-type",
    "*",
    "--since",
    "2020-01-01T00:00:00Z",
    "--until",
    "2100-01-01T00:00:00Z",
    "--state",
    "any",
    "--limit",
    "10",
    "--reason",
    "the model is back",
];

#[test]
fn a_replay_is_planned_executed_and_shown_at_the_command_line() {
    let house = House::with(&config());
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let runs = failed(&gate, 3);

    let dry = json_of(&house, &gate, &[&PLAN[..], &["--dry-run"]].concat());
    assert_eq!((&dry["dry_run"], &dry["counts"]["replayable"]), (&json!(true), &json!(3)));
    let plan = json_of(&house, &gate, &PLAN);
    let id = plan["id"].as_str().unwrap();
    let report = json_of(&house, &gate, &["replay", "execute", id]);
    let again = asked(&house, &gate, &["replay", "execute", id]);
    let listed = json_of(&house, &gate, &["replay", "list"]);

    assert_eq!((&report["state"], &report["done"]), (&json!("done"), &json!(3)));
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(runs.iter().all(|run| again.out.contains(run)) && again.out.contains("3 done, 0 skipped, of 3"));
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "the dry run kept nothing");
    // A filter that is not whole, and a plan that is not there.
    assert_eq!(asked(&house, &gate, &PLAN[..14]).code, 2);
    let nowhere = format!("rpl_{}", "0".repeat(32));
    assert_eq!(asked(&house, &gate, &["replay", "show", &nowhere]).code, 3);
}

#[test]
fn a_correction_is_made_at_the_command_line_and_an_open_run_is_refused_with_the_way_to_go() {
    let house = House::with(&config());
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    std::fs::write(house.path("new.json"), r#"{"cents": 10.50}"#).unwrap();
    let (_, granted) =
        gate.post(KEY, "/v1/runs", &json!({"flow": "ticket", "key": "c:1", "payload": {}, "owner": "w"}));
    let run = granted["run"]["id"].as_str().unwrap();
    let wish = |key: &str| {
        let args = ["correct", run, "--new-key", key, "--payload", "new.json", "--reason", "wrong order"];
        asked(&house, &gate, &args)
    };

    let early = wish("c:2");
    let done = gate.post(KEY, &format!("/v1/runs/{run}/complete"), &json!({"owner": "w", "fence": 1, "result": {}}));
    let (made, again, disguised) = (wish("c:2"), wish("c:2"), wish("c:1-again"));

    assert_eq!((early.code, done.0), (4, 200));
    assert!(early.err.contains("/v1/replays"), "{}", early.err);
    assert_eq!((made.code, again.code, disguised.code), (0, 0, 2), "{} {}", made.err, disguised.err);
    assert!(made.out.contains("made") && again.out.contains("was there already"), "{} {}", made.out, again.out);
    assert!(disguised.err.contains("correction_key"), "{}", disguised.err);
}
