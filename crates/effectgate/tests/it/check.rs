//! `check` on the example and on what is not safe, presets and where values come from; the exit codes as they are
//! documented.

use std::fs;

use crate::support::{House, effectgate, root, said};

#[test]
fn the_example_is_sound_and_what_is_not_in_force_is_said() {
    let told = said(effectgate(&["check", "effectgate.example.toml", "--json"]).current_dir(root()));

    assert_eq!(told.code, 0, "{}", told.err);
    let report = told.json();
    assert_eq!(report["ok"], true);
    let notes = report["notes"].to_string();
    for note in ["CRM_TOKEN", "CHAT_WEBHOOK", "OIDC_SECRET", "SHOP_SECRET", "N8N_TOKEN"] {
        assert!(notes.contains(note), "{notes}");
    }
}

#[test]
fn on_the_machine_where_it_is_to_run_the_secrets_are_demanded() {
    let told = said(effectgate(&["check", "--secrets", "effectgate.example.toml"]).current_dir(root()));

    assert_eq!(told.code, 1);
    assert!(told.out.contains("fault: providers.crm.auth.bearer: the environment has no CRM_TOKEN"), "{}", told.out);
}

#[test]
fn every_fault_is_told_at_once_with_what_to_change() {
    let house = House::with(
        "[server]\nlisten = \"nowhere\"\n[flows.a]\nlease_ms = 0\n[flows.a.effects.x]\nprovider = \"absent\"\n",
    );

    let told = house.run(&["check", "--json"]);

    assert_eq!(told.code, 1);
    let report = told.json();
    let faults = report["faults"].as_array().unwrap();
    let paths: Vec<_> = faults.iter().filter_map(|f| f["path"].as_str()).collect();
    for path in ["server.listen", "flows.a.lease_ms", "flows.a.effects.x.provider"] {
        assert!(paths.contains(&path), "{paths:?}");
    }
    assert!(faults.iter().all(|f| f["change"].as_str().is_some_and(|c| !c.is_empty())), "{faults:?}");
}

#[test]
fn the_effective_config_hides_secrets() {
    let house = House::with("[database]\nurl = \"postgres://gate:hush-hush@db/gate\"\n");

    let told = house.run(&["check", "--effective"]);

    assert_eq!(told.code, 0, "{}", told.err);
    assert!(told.out.contains("body_bytes_max = 1048576"), "{}", told.out);
    assert!(!told.out.contains("hush-hush"), "{}", told.out);
}

#[test]
fn the_exit_codes_of_the_help_are_those_of_the_reference() {
    let page = fs::read_to_string(root().join("docs/reference/exit-codes.md")).unwrap();
    let help = said(&mut effectgate(&["--help"])).out;

    let (_, codes) = help.split_once("Exit codes:\n").unwrap();
    let lines: Vec<_> = codes.lines().filter_map(|line| line.trim().split_once("  ")).collect();

    assert_eq!(lines.len(), 7);
    for (code, meaning) in lines {
        assert!(page.contains(&format!("| {code} | {meaning} |")), "{code} {meaning}");
    }
}

#[test]
fn a_command_line_that_cannot_be_understood_is_usage() {
    assert_eq!(said(&mut effectgate(&["nothing-like-this"])).code, 2);
    assert_eq!(said(effectgate(&["completions", "bash"]).env("EFFECTGATE_THREADS", "none")).code, 2);
}

#[test]
fn check_says_what_a_preset_gave_and_what_is_ones_own() {
    let house =
        House::with("[providers.pay]\npreset = \"stripe\"\ntimeout_ms = 5_000\nauth = { bearer = \"hush-hush\" }\n");

    let told = house.run(&["check"]);

    assert_eq!(told.code, 0, "{}{}", told.out, told.err);
    for line in [
        "providers.pay.class = \"enforcing\"  (preset stripe)",
        "providers.pay.key_window_ms = 86400000  (preset stripe)",
        "providers.pay.facts.checked = \"2026-11-30\"  (preset stripe)",
        "providers.pay.timeout_ms = 5000  (yours)",
    ] {
        assert!(told.out.contains(line), "{line} in {}", told.out);
    }
    assert!(!told.out.contains("hush-hush"), "{}", told.out);

    let wrong = House::with("[providers.pay]\npreset = \"strpe\"\n").run(&["check", "--json"]);
    assert!(wrong.code != 0 && format!("{}{}", wrong.out, wrong.err).contains("Did you mean stripe?"), "{}", wrong.out);
}

#[test]
fn the_presets_are_listed_and_explained() {
    let list = said(&mut effectgate(&["providers", "--json"]));
    let stripe = said(&mut effectgate(&["providers", "show", "stripe"]));
    let mail = said(&mut effectgate(&["providers", "show", "smtp"]));
    let wrong = said(&mut effectgate(&["providers", "show", "strpe"]));

    assert_eq!((list.code, stripe.code, mail.code, wrong.code), (0, 0, 0, 3));
    let items = list.json()["items"].as_array().unwrap().clone();
    assert!(
        items.len() >= 17 && items.iter().all(|i| i["checked"] == "2026-11-30" && i["story"].is_array()),
        "{items:?}"
    );
    for shown in
        ["sent again with the same key", "key_poisoned", "Not promised", "preset = \"stripe\"", "docs.stripe.com"]
    {
        assert!(stripe.out.contains(shown), "{shown} in {}", stripe.out);
    }
    assert!(mail.out.contains("Message-ID"), "{}", mail.out);
    assert!(wrong.err.contains("did you mean stripe?"), "{}", wrong.err);
}
