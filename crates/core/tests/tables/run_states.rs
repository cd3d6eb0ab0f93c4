//! Every state of a run x every command: what it comes to. `-` means refused, with nothing to commit.

use effectgate_core::{
    actor::Actor,
    approval::{self, Verdict, Wish},
    delivery::{self, Away},
    effect::EffectState,
    ending::{self, FailClass},
    ids::{Fence, Owner},
    inline::{self, Begin},
    lease::{self, Claim},
    operate::{self, Resolution},
    run::{Aggregate, RunState},
    transition::Transition,
};

use crate::{approval::asked, given::*, invariants::applied};

type Command = (&'static str, fn(&Aggregate) -> Option<Transition>);

const COMMANDS: [Command; 14] = [
    ("claim", |agg| match lease::claim(agg, &Owner::new("worker-b"), 1_000, at(1), &ADVISORY_ALL) {
        Claim::Granted(t) | Claim::Ended(t) => Some(t),
        Claim::NotFree => None,
    }),
    ("not delivered", |agg| {
        let away = Away { why: "refused", since: at(0), told: false, retry_after_ms: None, give_up_ms: 1_000 };
        delivery::undelivered(agg, &owner(), Fence(1), &away, at(1)).ok()
    }),
    ("complete", |agg| ending::complete(agg, &owner(), Fence(1), "{}", at(1)).ok()),
    ("fail retryable", |agg| fail(agg, FailClass::ModelTimeout)),
    ("fail for good", |agg| fail(agg, FailClass::AgentLimit)),
    ("fail to a person", |agg| fail(agg, FailClass::Semantic)),
    ("begin", |agg| match inline::begin(agg, &owner(), Fence(1), &wanted(9), &go(), false, at(1)) {
        Ok(Begin::Begun(t)) => Some(*t),
        _ => None,
    }),
    ("approve", |agg| decide(agg, Verdict::Approve)),
    ("reject", |agg| decide(agg, Verdict::Reject)),
    ("approval over", |agg| approval::expire(agg, at(8 * HOUR_MS))),
    ("remind", |agg| approval::remind(agg, at(2 * HOUR_MS))),
    ("effect settled", |agg| {
        let effect = agg.effects.iter().find(|e| matches!(e.state, EffectState::Review { .. }))?;
        operate::resolve(agg, effect, &OPERATOR, &Resolution::Happened { external_id: None }, "seen", at(1)).ok()
    }),
    ("release", |agg| operate::release(agg, &OPERATOR, "mended", at(1)).ok()),
    ("close", |agg| operate::close(agg, &OPERATOR, "given up", at(1)).ok()),
];

fn fail(agg: &Aggregate, class: FailClass) -> Option<Transition> {
    ending::fail(agg, &flow(), &owner(), Fence(1), class, None, at(1), 0.0, &ADVISORY_ALL).ok()
}

fn decide(agg: &Aggregate, verdict: Verdict) -> Option<Transition> {
    let approval = agg.approval()?;
    let wish = Wish { verdict, reason: Some("because".into()), shown: approval.effects_hash, edited: None };
    approval::decide(agg, approval.id, &person("anna", &["lead"]), &wish, at(1)).ok()
}

/// The rows of the table: one aggregate for every state, complete with what belongs to it.
fn rows() -> Vec<(&'static str, Aggregate)> {
    let in_review = vec![inline(1, EffectState::Review { since: at(0) })];
    let mut rows = vec![
        ("processing, left behind", left_behind(vec![])),
        ("awaiting_human approval", asked(&asks(), None)),
        (
            "awaiting_human unknown_effect",
            agg(RunState::AwaitingHuman { reason: effectgate_core::run::AwaitReason::UnknownEffect }, in_review),
        ),
        ("approved", agg(RunState::Approved, vec![effect(1, EffectState::Pending { due_at: at(0) })])),
    ];
    for state in run_states() {
        let name = state.as_str();
        if !matches!(state, RunState::AwaitingHuman { .. } | RunState::Approved) {
            rows.push((name, agg(state, vec![])));
        }
    }
    rows
}

#[test]
fn every_command_in_every_state() {
    // command            state (those not named refuse)  -> state afterwards
    let table = "
        claim            | queued                        | processing
        claim            | failed_retryable              | processing
        claim            | processing, left behind       | processing
        not delivered    | processing                    | failed_retryable undelivered
        complete         | processing                    | completed
        fail retryable   | processing                    | failed_retryable model_timeout
        fail for good    | processing                    | failed_terminal agent_limit
        fail to a person | processing                    | quarantined semantic
        begin            | processing                    | processing
        approve          | awaiting_human approval       | approved
        reject           | awaiting_human approval       | failed_terminal rejected
        approval over    | awaiting_human approval       | failed_terminal approval_expired
        remind           | awaiting_human approval       | awaiting_human approval
        effect settled   | awaiting_human unknown_effect | failed_retryable effect_settled
        release          | quarantined                   | queued
        close            | quarantined                   | failed_terminal closed
    ";
    let lines: Vec<Vec<&str>> =
        table.lines().map(|l| l.split('|').map(str::trim).collect()).filter(|l: &Vec<&str>| l.len() == 3).collect();
    let mut granted = 0;

    for (state, before) in rows() {
        for (command, run) in COMMANDS {
            let expected = lines.iter().find(|l| l[0] == command && l[1] == state).map(|l| l[2].to_owned());

            let found = run(&before).map(|t| word(&applied(&before, &t).run.state));

            granted += usize::from(found.is_some());
            assert_eq!(found, expected, "{command} in {state}");
        }
    }
    assert_eq!(granted, lines.len(), "every line was used");
}

#[test]
fn a_stale_owner_fence_or_lease_moves_nothing() {
    // owner, fence, lease left -> is it the holder
    let table = [
        ("worker-a", 1, 1, true),
        ("worker-a", 1, 0, false),
        ("worker-a", 1, -1, false),
        ("worker-a", 0, 1, false),
        ("worker-a", 2, 1, false),
        ("worker-b", 1, 1, false),
        ("Worker-A", 1, 1, false),
        ("", 1, 1, false),
    ];
    for (name, fence, left, holds) in table {
        let before = Aggregate { lease: Some(lease(left)), ..agg(RunState::Processing, vec![]) };
        let (owner, fence) = (Owner::new(name), Fence(fence));
        let fail = ending::fail(&before, &flow(), &owner, fence, FailClass::Semantic, None, at(1), 0.0, &ADVISORY_ALL);
        let begin = inline::begin(&before, &owner, fence, &wanted(1), &go(), false, at(1));
        let done = [
            ("complete", ending::complete(&before, &owner, fence, "{}", at(1)).is_ok()),
            ("fail", fail.is_ok()),
            ("begin", begin.is_ok()),
        ];
        for (command, took) in done {
            assert_eq!(took, holds, "{command} by {name:?} with fence {fence:?}, {left} ms left");
        }
    }
}

#[test]
fn hc_47_a_guessing_stranger_leaves_the_run_to_its_owner() {
    let before = agg(RunState::Processing, vec![]);
    for fence in -1..5 {
        let stranger = Owner::new("worker-b");
        assert!(ending::complete(&before, &stranger, Fence(fence), "{}", at(1)).is_err());
    }
    assert!(ending::complete(&before, &owner(), Fence(1), "{}", at(1)).is_ok());
}

#[test]
fn operators_must_say_why() {
    let quarantined = agg(RunState::Quarantined { reason: "x".into() }, vec![]);
    for blank in ["", " ", "\n\t "] {
        let refused = Some(operate::Refused::ReasonRequired);
        assert_eq!(operate::release(&quarantined, &OPERATOR, blank, at(1)).err(), refused);
        assert_eq!(operate::close(&quarantined, &OPERATOR, blank, at(1)).err(), refused);
    }
}

#[test]
fn the_journal_names_who_moved_the_run() {
    let quarantined = agg(RunState::Quarantined { reason: "x".into() }, vec![]);
    let anna = Actor::Person(person("anna", &[]).subject);

    let t = operate::release(&quarantined, &anna, " mended ", at(1)).unwrap();

    assert!(t.entries[0].text.contains(r#""actor":"user:anna""#), "{}", t.entries[0].text);
    assert!(t.entries[0].text.contains(r#""reason":"mended""#), "{}", t.entries[0].text);
}
