//! A gate in service: judged in flows of certify's own, and no further than that.

use crate::{
    config::HEAD,
    support::{House, KEY, effectgate, said},
    verdicts::{free_port, verdicts},
};

const ACCOUNTS: &str = "[auth.local]\nenabled = true";

const PASSWORD: &str = "long enough for certify";

fn add_user(house: &House, name: &str, roles: &str) {
    let made = said(house.command(&["user", "add", name, "--roles", roles]).env("EFFECTGATE_PASSWORD", PASSWORD));
    assert_eq!(made.code, 0, "{}", made.err);
}

#[test]
fn a_gate_in_service_is_judged_in_flows_of_its_own() {
    let far = format!("127.0.0.1:{}", free_port());
    let snippet = said(&mut effectgate(&["certify", "--config-snippet", "--flow", "proof", "--far", &far]));
    assert_eq!(snippet.code, 0, "{}", snippet.err);
    let house = House::with(&HEAD.with(&[ACCOUNTS, &snippet.out]));
    add_user(&house, "carla", "approver,certify-approver");
    add_user(&house, "otto", "approver,operator");
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let mut certify = house.command(&["certify", "--json", "--url", &gate.url, "--flow", "proof", "--far", &far]);
    certify.args(["--login", "carla", "--other-login", "otto", "--look-on-ms", "800", "--accept", "crash"]);
    certify.args(["--look-in", "gate.db", "--look-in", "gate.db-wal", "--look-in", "server.log"]);
    certify.envs([("EFFECTGATE_KEY", KEY), ("EFFECTGATE_PASSWORD", PASSWORD), ("EFFECTGATE_OTHER_PASSWORD", PASSWORD)]);

    let judged = verdicts(&mut certify);

    assert_eq!(judged.code, 0, "{:#}", judged.report);
    let other: Vec<_> = judged.all().into_iter().filter(|(_, verdict)| *verdict != "pass").collect();
    assert_eq!(other, [("crash", "not_applicable")], "{:#}", judged.report);
    let left = said(house.command(&["review", "--json", "--url", &gate.url]).env("EFFECTGATE_KEY", KEY));
    assert_eq!(left.json()["items"].as_array().map(Vec::len), Some(0), "{}", left.out);
}

#[test]
fn what_could_not_be_judged_is_no_pass_unless_it_is_accepted_by_name() {
    let house = House::new();
    let gate = house.serve(&[("EFFECTGATE_BOOTSTRAP_KEY", KEY)]);
    let certify = |more: &[&str]| {
        let mut command = house.command(&["certify", "--json", "--url", &gate.url, "--only", "one_lease,switch"]);
        command.args(more).env("EFFECTGATE_KEY", KEY);
        verdicts(&mut command)
    };

    let (plain, half, accepted) =
        (certify(&[]), certify(&["--accept", "switch"]), certify(&["--accept", "switch,one_lease"]));

    assert_eq!(plain.all(), [("one_lease", "not_applicable"), ("switch", "not_applicable")]);
    assert_eq!((plain.code, half.code, accepted.code), (1, 1, 0), "{:#}", plain.report);
    assert!(plain.report["items"][0]["reason"].as_str().unwrap().contains("--flow"), "{:#}", plain.report);
}
