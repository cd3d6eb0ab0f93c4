//! Complete and fail: every class x attempts left or used up x repairs left or used up (SPEC section 8, the part for
//! model steps).

use effectgate_core::{
    effect::EffectState,
    ending::{self, EndRefused, FailClass},
    ids::Fence,
    notice::Alert,
    run::{Aggregate, RunState},
};

use crate::{given::*, invariants::applied};

fn fail(before: &Aggregate, class: FailClass) -> (Aggregate, Vec<Alert>) {
    let t = ending::fail(before, &flow(), &owner(), Fence(1), class, Some("words"), at(0), 0.0, &ADVISORY_ALL).unwrap();
    (applied(before, &t), alerts(&t))
}

#[test]
fn every_class_with_attempts_and_repairs_left_and_used_up() {
    use FailClass::*;
    let (used, over) = ("failed_terminal attempts_exhausted", "failed_terminal invalid_output");
    let retry = |class: FailClass| format!("failed_retryable {}", class.as_str());
    let table = [
        // class          attempts left        used up              repairs used up     both used up
        (ModelTimeout, retry(ModelTimeout), used, retry(ModelTimeout), used),
        (ModelUnavailable, retry(ModelUnavailable), used, retry(ModelUnavailable), used),
        (RateLimited, retry(RateLimited), used, retry(RateLimited), used),
        (Unparseable, retry(Unparseable), used, over.into(), over),
        (SchemaInvalid, retry(SchemaInvalid), used, over.into(), over),
        (
            Semantic,
            "quarantined semantic".into(),
            "quarantined semantic",
            "quarantined semantic".into(),
            "quarantined semantic",
        ),
        (PartialSuccess, retry(PartialSuccess), used, retry(PartialSuccess), used),
        (
            AgentLimit,
            "failed_terminal agent_limit".into(),
            "failed_terminal agent_limit",
            "failed_terminal agent_limit".into(),
            "failed_terminal agent_limit",
        ),
        (LostOwnership, retry(LostOwnership), used, retry(LostOwnership), used),
        (WorkerError, retry(WorkerError), used, retry(WorkerError), used),
    ];
    assert_eq!(table.each_ref().map(|row| row.0), FailClass::ALL, "every class has a row");
    for (class, left, attempts_used, repairs_used, both_used) in table {
        let cases = [(1, 0, left), (5, 0, attempts_used.into()), (4, 1, repairs_used), (5, 1, both_used.into())];
        for (attempts, repairs, expected) in cases {
            let mut before = agg(RunState::Processing, vec![]);
            (before.run.attempts, before.run.repairs_used) = (attempts, repairs);
            let what = format!("{} after {attempts} attempts, {repairs} repairs", class.as_str());

            let (after, told) = fail(&before, class);

            assert_eq!(word(&after.run.state), expected, "{what}");
            assert_eq!(after.run.attempts, attempts, "{what}: attempts count at the claim");
            assert_eq!(!told.is_empty(), after.run.state.is_final(), "{what}: people are told of an end");
        }
    }
}

#[test]
fn the_next_time_follows_the_attempts() {
    for (attempts, wait_ms) in [(1, 500), (2, 1_000), (3, 2_000), (4, 4_000)] {
        let mut before = agg(RunState::Processing, vec![]);
        before.run.attempts = attempts;

        let (after, _) = fail(&before, FailClass::ModelTimeout);
        let (repair, _) = fail(&before, FailClass::Unparseable);

        assert_eq!(after.run.state.next_attempt_at(), Some(at(wait_ms)), "attempt {attempts}, jitter 0 keeps half");
        assert_eq!(repair.run.state.next_attempt_at(), Some(at(0)), "asking the model again needs no wait");
    }
}

#[test]
fn a_repair_is_counted_and_a_retry_is_not() {
    let before = agg(RunState::Processing, vec![]);
    for (class, used) in [(FailClass::Unparseable, 1), (FailClass::SchemaInvalid, 1), (FailClass::ModelTimeout, 0)] {
        assert_eq!(fail(&before, class).0.run.repairs_used, used, "{}", class.as_str());
    }
}

#[test]
fn complete_refuses_while_an_inline_effect_may_have_happened() {
    for state in effect_states() {
        let refuses = matches!(state, EffectState::Sending | EffectState::Unknown { .. } | EffectState::Review { .. });
        let before = agg(RunState::Processing, vec![inline(1, state)]);

        let done = ending::complete(&before, &owner(), Fence(1), "{}", at(1));

        match done {
            Ok(t) => {
                let after = applied(&before, &t);
                assert_eq!(after.run.state, RunState::Completed);
                assert!(after.effects[0].state.is_final(), "{state:?}: nothing stays open");
            }
            Err(why) => assert_eq!((why, refuses), (EndRefused::EffectsOpen, true), "{state:?}"),
        }
    }
}

#[test]
fn complete_refuses_while_a_re_issue_is_pending() {
    let mut pending = inline(1, EffectState::Pending { due_at: at(0) });
    pending.unknown_since = Some(at(0));
    let before = agg(RunState::Processing, vec![pending]);

    assert_eq!(ending::complete(&before, &owner(), Fence(1), "{}", at(1)).err(), Some(EndRefused::EffectsOpen));
}

#[test]
fn an_inline_effect_in_doubt_turns_a_failure_over_to_a_person_unless_the_next_owner_re_issues_it() {
    let waits = "awaiting_human unknown_effect";
    let table = [
        // class                   provider         attempts  run
        (FailClass::ModelTimeout, &ADVISORY_ALL, 1, waits),
        (FailClass::Semantic, &ADVISORY_ALL, 1, waits),
        (FailClass::AgentLimit, &ADVISORY_ALL, 1, waits),
        (FailClass::ModelTimeout, &AllOf(None), 1, waits),
        (FailClass::ModelTimeout, &ENFORCING_ALL, 1, "failed_retryable model_timeout"),
        (FailClass::ModelTimeout, &ENFORCING_ALL, 5, waits),
        (FailClass::AgentLimit, &ENFORCING_ALL, 1, waits),
    ];
    for (class, class_of, attempts, expected) in table {
        let mut before = agg(RunState::Processing, vec![inline(1, EffectState::Sending)]);
        before.run.attempts = attempts;

        let t = ending::fail(&before, &flow(), &owner(), Fence(1), class, None, at(1), 0.0, class_of).unwrap();

        assert_eq!(word(&applied(&before, &t).run.state), expected, "{} {attempts}", class.as_str());
    }
}

#[test]
fn a_workers_words_are_cut_in_the_journal() {
    let before = agg(RunState::Processing, vec![]);
    let long = "x".repeat(100_000);
    let (owner, class) = (owner(), FailClass::WorkerError);

    let t = ending::fail(&before, &flow(), &owner, Fence(1), class, Some(&long), at(1), 0.0, &ADVISORY_ALL).unwrap();

    assert!(t.entries.iter().all(|e| e.text.len() < 2_000));
}
