//! The positive control: a build without one of its guards, and the item that watches over that guard. It must turn red,
//! and what stands beside it must stay green, or the list would prove nothing.

use effectgate_engine::probe::Guard;

use crate::{support::effectgate, verdicts::verdicts};

/// Guard, the item that must turn red, and others that must stay green.
macro_rules! broken {
    ($($guard:ident: $item:literal, [$($green:literal),*];)+) => {
        const TABLE: &[&str] = &[$(stringify!($guard)),+];

        mod turns_red {
            $(#[test]
            fn $guard() {
                super::without(stringify!($guard), $item, &[$($green),*]);
            })+
        }
    };
}

broken! {
    durable_key: "key_before_model", [];
    lease: "one_lease", ["payload_conflict", "retention"];
    fence: "takeover", ["one_lease", "payload_conflict"];
    payload_conflict: "payload_conflict", ["one_lease", "retention"];
    class_table: "class_table", ["journal_names"];
    token_hash: "token_hash", ["token_replay"];
    expiry: "token_expiry", ["token_hash"];
    role: "approver_role", ["csrf"];
    csrf: "csrf", ["approver_role"];
    token_single_use: "token_replay", ["csrf"];
    gate: "approval_outbox", ["one_lease", "retention"];
    decided_bytes: "decided_bytes", ["token_replay"];
    unknown_is_retried: "unknown_no_resend", ["one_lease"];
    lost_attempt_is_pending: "crash", ["unknown_no_resend"];
    intent: "crash", ["one_lease"];
    journal_names: "journal_names", ["decided_bytes"];
    switch: "switch", ["one_lease"];
    retention: "retention", ["one_lease"];
}

/// Runs certify on a build that lacks the guard.
fn without(guard: &str, item: &str, green: &[&str]) {
    let only = std::iter::once(item).chain(green.iter().copied()).collect::<Vec<_>>().join(",");
    let mut certify = effectgate(&["certify", "--self", "--json", "--only", &only]);

    let broken = verdicts(certify.env("EFFECTGATE_BROKEN", guard));

    assert_eq!(broken.code, 1, "{:#}", broken.report);
    assert_eq!(broken.report["broken_guard"], guard);
    let red: Vec<_> = broken.all().into_iter().filter(|(_, verdict)| *verdict != "pass").collect();
    assert_eq!(red, [(item, "fail")], "{:#}", broken.report);
}

#[test]
fn every_guard_has_a_build_without_it_whose_item_turns_red() {
    let guards: Vec<&str> = Guard::ALL.iter().map(|guard| guard.as_str()).collect();

    assert_eq!(TABLE, guards);
}

#[test]
fn a_guard_that_is_none_starts_nothing() {
    let mut certify = effectgate(&["certify", "--self", "--json", "--only", "one_lease"]);

    let refused = crate::support::said(certify.env("EFFECTGATE_BROKEN", "leese"));

    assert_eq!(refused.code, 2, "{} {}", refused.out, refused.err);
    assert!(refused.err.contains("names no guard"), "{}", refused.err);
}

#[test]
fn a_server_without_a_guard_says_so_loudly() {
    let house = crate::support::House::new();

    drop(house.serve(&[("EFFECTGATE_BROKEN", "lease")]));

    let log = std::fs::read_to_string(house.path("server.log")).unwrap();
    assert!(log.contains("THE GUARD \"lease\" IS OUT"), "{log}");
}
