//! People at the command line: the switch, a decision, an effect that is cancelled.

use std::{
    io::Read as _,
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
};

use serde_json::{Value, json};

use crate::{
    config,
    support::{Gate, House, KEY, Said, said},
};

const APPROVED: &str = r#"
[server]
listen = "127.0.0.1:0"
[actions]
enabled = true
[providers.bank]
kind = "http"
url = "http://127.0.0.1:9"
allow_private = true
[providers.bank.effects.refund]
path = "/refunds"
[flows.refund.effects.refund]
provider = "bank"
impact = "high"
gate = "approve"
[flows.refund.approval]
audience = ["role:lead"]
"#;

/// A house where a refund waits for a person, and its server with the switch off, so that nothing is tried.
fn waiting() -> (House, Gate) {
    let house = House::with(APPROVED);
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    assert_eq!(asked(&house, &gate, &["switch", "off", "all", "--reason", "a test"]).code, 0);
    let (_, granted) =
        gate.post(KEY, "/v1/runs", &json!({ "flow": "refund", "key": "r:1", "payload": {}, "owner": "w" }));
    let effect = json!({ "type": "refund", "target": "order-1", "payload": { "cents": 100 } });
    let body = json!({ "owner": "w", "fence": granted["lease"]["fence"], "output": {}, "effects": [effect] });
    let path = format!("/v1/runs/{}/proposal", granted["run"]["id"].as_str().unwrap());
    assert_eq!(gate.post(KEY, &path, &body).1["answer"], "waiting");
    (house, gate)
}

fn asked(house: &House, gate: &Gate, args: &[&str]) -> Said {
    said(house.command(args).args(["--json"]).env("EFFECTGATE_URL", &gate.url).env("EFFECTGATE_KEY", KEY))
}

fn first(said: &Said, pointer: &str) -> Value {
    said.json().pointer(pointer).cloned().unwrap_or_else(|| panic!("{pointer}: {}", said.out))
}

#[test]
fn a_signed_in_person_decides_and_an_api_key_cannot() {
    let (house, gate) = waiting();
    let made = said(
        house
            .command(&["user", "add", "anna", "--roles", "lead,approver"])
            .env("EFFECTGATE_PASSWORD", "long enough for us"),
    );
    assert_eq!(made.code, 0, "{}", made.err);
    let approval = first(&asked(&house, &gate, &["approve"]), "/items/0/id").as_str().unwrap().to_owned();
    let decide = |password: &str| {
        let args = ["approve", "decide", &approval, "approve", "--user", "anna", "--json"];
        said(house.command(&args).env("EFFECTGATE_URL", &gate.url).env("EFFECTGATE_PASSWORD", password))
    };

    let by_key = gate.post(
        KEY,
        &format!("/v1/approvals/{approval}/decide"),
        &json!({ "decision": "approve", "effects_hash": "x" }),
    );
    assert_eq!(by_key.0, 403);
    assert_eq!(decide("not the password").code, 6);
    let decided = decide("long enough for us");
    let again = decide("long enough for us");

    assert_eq!((decided.code, again.code), (0, 0), "{} {}", decided.err, again.err);
    assert_eq!((&decided.json()["run"]["state"], &again.json()["repeated"]), (&json!("approved"), &json!(true)));
    let story = asked(&house, &gate, &["explain", "r:1"]).json();
    assert_eq!(story["approved_by"][0]["subject"], "user:anna");
    assert_eq!(story["effects"][0]["reason"], "switch_off");
}

#[test]
fn what_show_printed_is_edited_in_a_file_and_somebody_else_has_to_agree() {
    let (house, gate) = waiting();
    for name in ["anna", "bert"] {
        let add = ["user", "add", name, "--roles", "lead"];
        assert_eq!(said(house.command(&add).env("EFFECTGATE_PASSWORD", "long enough for us")).code, 0);
    }
    let approval = first(&asked(&house, &gate, &["approve"]), "/items/0/id").as_str().unwrap().to_owned();
    let as_person = |name: &str, args: &[&str]| {
        let args: Vec<&str> = ["approve"].iter().chain(args).chain(&["--user", name, "--json"]).copied().collect();
        said(house.command(&args).env("EFFECTGATE_URL", &gate.url).env("EFFECTGATE_PASSWORD", "long enough for us"))
    };
    let shown = as_person("anna", &["show", &approval]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), shown.out.replace(r#""cents":100"#, r#""cents":99"#)).unwrap();
    let file = file.path().to_str().unwrap();

    let no = as_person("anna", &["decide", &approval, "reject", "--reason", "x", "--edit", file]);
    let edited = as_person("anna", &["decide", &approval, "approve", "--edit", file]);
    let again = as_person("anna", &["decide", &approval, "approve", "--edit", file]);
    let late = as_person("bert", &["decide", &approval, "approve", "--edit", file]);
    let approved = as_person("bert", &["decide", &approval, "approve"]);

    assert_eq!((no.code, edited.code, again.code, late.code), (2, 0, 0, 4), "{} {}", edited.err, late.err);
    assert_eq!((&edited.json()["decision"], &again.json()["repeated"]), (&json!("edit"), &json!(true)));
    assert_eq!(edited.json()["run"]["state"], "awaiting_human");
    assert_eq!(approved.json()["run"]["state"], "approved", "{}", approved.err);
    let over = asked(&house, &gate, &["approve", "withdraw", &approval, "--reason", "too late"]);
    assert_ne!(over.code, 0);
    let told = asked(&house, &gate, &["approve", "show", &approval]).json();
    assert_eq!(told["effects"][0]["payload"], json!({ "cents": 99 }));
}

#[test]
fn the_switch_wants_a_reason_and_shows_who_turned_it() {
    let (house, gate) = waiting();

    assert_eq!(asked(&house, &gate, &["switch", "off", "provider", "bank"]).code, 2);
    assert_eq!(asked(&house, &gate, &["switch", "off", "provider", "--reason", "x"]).code, 2);
    let unknown = asked(&house, &gate, &["switch", "off", "provider", "bnak", "--reason", "x"]);
    assert_ne!(unknown.code, 0);
    let shown = asked(&house, &gate, &["switch"]).json();

    let all = shown["switches"].as_array().unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(
        (&all[0]["enabled"], &all[0]["reason"], &all[0]["by"]),
        (&json!(false), &json!("a test"), &json!("key:bootstrap"))
    );
}

#[test]
fn a_list_for_a_pipe_has_one_tab_separated_line_for_each_run() {
    let (house, gate) = waiting();

    let listed = said(house.command(&["runs"]).env("EFFECTGATE_URL", &gate.url).env("EFFECTGATE_KEY", KEY));

    let lines: Vec<Vec<&str>> = listed.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), 2, "{}", listed.out);
    assert_eq!(lines[0][..4], ["run", "flow", "key", "state"]);
    assert_eq!(lines[1][1..4], ["refund", "r:1", "awaiting_human"]);
}

/// A provider that reads whatever comes and closes without a word; it tells of each request.
fn silent_provider() -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (told, requests) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            swallow(stream.unwrap());
            if told.send(()).is_err() {
                return;
            }
        }
    });
    (url, requests)
}

fn swallow(mut stream: TcpStream) {
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.ends_with(b"}") {
        let read = stream.read(&mut part).unwrap();
        request.extend_from_slice(&part[..read]);
    }
}

#[test]
fn an_unknown_effect_waits_on_the_desk_and_goes_again_only_on_a_persons_word() {
    let (url, requests) = silent_provider();
    let house = House::with(&config::to(&url));
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let reserve = json!({ "flow": "ticket", "key": "t:1", "payload": {}, "owner": "w" });
    let (_, granted) = gate.post(KEY, "/v1/runs", &reserve);
    let effect = json!({ "type": "note", "target": "c", "payload": { "text": "hello" } });
    let body = json!({ "owner": "w", "fence": granted["lease"]["fence"], "output": {}, "effects": [effect] });
    let path = format!("/v1/runs/{}/proposal", granted["run"]["id"].as_str().unwrap());
    assert_eq!(gate.post(KEY, &path, &body).1["answer"], "queued");
    requests.recv().unwrap();
    let desk = || loop {
        let listed = asked(&house, &gate, &["effects", "--state", "review"]);
        if let Some(id) = listed.json().pointer("/items/0/id").and_then(Value::as_str) {
            return id.to_owned();
        }
    };

    let effect = desk();
    assert_eq!(first(&asked(&house, &gate, &["review"]), "/items/0/id"), json!(effect));
    assert!(requests.try_recv().is_err(), "sent again before anybody said so");
    assert_eq!(asked(&house, &gate, &["review", "resolve", &effect, "--reason", "x"]).code, 2);
    let again = |fence: &[&str]| {
        let args = [&["review", "resolve", &effect, "--send-again", "--reason", "not in the CRM"], fence].concat();
        asked(&house, &gate, &args)
    };
    assert_eq!(again(&[]).code, 2, "sent again without saying which attempt is meant");
    let shown = first(&asked(&house, &gate, &["review"]), "/items/0/fence").to_string();
    let sent = again(&["--fence", &shown]);
    assert_eq!(sent.code, 0, "{}", sent.err);
    requests.recv().unwrap();
    assert_eq!(desk(), effect);
    // The answer was lost and the same line is typed again, after the second attempt was lost as well.
    let repeated = again(&["--fence", &shown]);
    assert_eq!(repeated.code, 0, "{}", repeated.err);
    assert_eq!(desk(), effect);
    assert!(requests.try_recv().is_err(), "one word sent twice: {}", repeated.out);
    let args = ["review", "resolve", &effect, "--happened", "n-7", "--reason", "seen in the CRM"];
    let settled = asked(&house, &gate, &args).json();

    let run = settled.get("run").unwrap();
    assert_eq!((&run["state"], &run["effects"][0]["external_id"]), (&json!("completed"), &json!("n-7")));
    let story = asked(&house, &gate, &["explain", "t:1"]).json();
    assert_eq!(story["effects"][0]["attempts"].as_array().map(Vec::len), Some(2));
}
