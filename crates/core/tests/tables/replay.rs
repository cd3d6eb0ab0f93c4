//! What a bulk replay may recover and what it refuses (SPEC section 12; HC-39): state x effects -> the contract, a line
//! each.

use effectgate_core::{
    effect::EffectState,
    ids::ReplayId,
    lease::ClassOf,
    replay::{self, Found, Refusal, ReplayState},
    run::{Aggregate, RunState},
};

use crate::{given::*, invariants::applied};

const PLAN: ReplayId = ReplayId::new([1; 20]);
const FINE: Found = Found { flow_known: true, content_erased: false, still_invalid: false };
const REVIEW: EffectState = EffectState::Review { since: at(0) };

fn retryable() -> RunState {
    RunState::FailedRetryable { reason: "model_timeout".into(), next_attempt_at: at(HOUR_MS) }
}

fn quarantined() -> RunState {
    RunState::Quarantined { reason: "schema".into() }
}

fn judge(agg: &Aggregate, class_of: &dyn ClassOf) -> Option<Refusal> {
    replay::refusal(agg, FINE, class_of)
}

#[test]
fn of_each_state_the_plan_says_what_the_protocol_says() {
    let of_state = |state: &RunState| match state {
        RunState::Queued => Some(Refusal::Queued),
        RunState::Processing => Some(Refusal::LeaseAlive),
        RunState::AwaitingHuman { reason } if reason.as_str() == "unknown_effect" => Some(Refusal::UnknownEffect),
        RunState::AwaitingHuman { .. } | RunState::Approved => Some(Refusal::NoRestart),
        RunState::Completed | RunState::FailedTerminal { .. } => Some(Refusal::Final),
        RunState::FailedRetryable { .. } | RunState::Quarantined { .. } => None,
    };
    for state in run_states() {
        assert_eq!(judge(&agg(state.clone(), vec![]), &ADVISORY_ALL), of_state(&state), "{state:?}");
    }
    assert_eq!(judge(&left_behind(vec![]), &ADVISORY_ALL), None, "a lease that is over");
}

#[test]
fn an_effect_in_doubt_is_the_desks_unless_the_next_owner_may_re_issue_it() {
    let table = [
        // run                                                        advisory                       enforcing
        (agg(retryable(), vec![inline(1, EffectState::Sending)]), Some(Refusal::UnknownEffect), None),
        (agg(retryable(), vec![inline(1, EffectState::Completed)]), None, None),
        (left_behind(vec![inline(1, REVIEW)]), Some(Refusal::UnknownEffect), None),
        (agg(RunState::Approved, vec![effect(1, REVIEW)]), Some(Refusal::UnknownEffect), Some(Refusal::UnknownEffect)),
        (
            agg(RunState::Approved, vec![effect(1, EffectState::Pending { due_at: at(0) })]),
            Some(Refusal::NoRestart),
            Some(Refusal::NoRestart),
        ),
    ];
    for (run, advisory, enforcing) in table {
        assert_eq!(judge(&run, &ADVISORY_ALL), advisory, "{run:?}");
        assert_eq!(judge(&run, &ENFORCING_ALL), enforcing, "{run:?}");
    }
    let gone = agg(retryable(), vec![inline(1, EffectState::Sending)]);
    assert_eq!(judge(&gone, &AllOf(None)), Some(Refusal::UnknownEffect), "a provider that left the config is advisory");
}

#[test]
fn what_the_config_and_the_content_say_comes_after_the_state() {
    let table = [
        (Found { flow_known: false, ..FINE }, Refusal::FlowGone),
        (Found { content_erased: true, ..FINE }, Refusal::ContentErased),
        (Found { still_invalid: true, ..FINE }, Refusal::StillInvalid),
    ];
    for (found, refusal) in table {
        assert_eq!(replay::refusal(&agg(quarantined(), vec![]), found, &ADVISORY_ALL), Some(refusal));
        assert_eq!(
            replay::refusal(&agg(RunState::Completed, vec![]), found, &ADVISORY_ALL),
            Some(Refusal::Final),
            "the state is the answer, whatever else is so"
        );
    }
}

#[test]
fn a_recovered_run_can_be_claimed_now_once_more_even_with_its_attempts_used_up() {
    let table = [
        // run                            after
        (agg(retryable(), vec![]), "failed_retryable model_timeout"),
        (left_behind(vec![]), "failed_retryable lease_over"),
        (agg(quarantined(), vec![]), "queued"),
    ];
    for (mut before, after) in table {
        before.run.attempts = before.run.attempts_max;

        let t = replay::recover(&before, PLAN, &OPERATOR, "the model is back", at(5)).unwrap();
        let run = applied(&before, &t).run;

        assert_eq!(word(&run.state), after);
        assert!(run.attempts < run.attempts_max && run.version == before.run.version + 1);
        assert!(run.state.next_attempt_at().is_none_or(|due| due == at(5)));
        assert_eq!(kinds(&t), ["replayed"]);
        let entry: serde_json::Value = serde_json::from_str(&t.entries[0].text).unwrap();
        assert_eq!(entry["facts"]["replay"], PLAN.to_string());
        assert_eq!(entry["facts"]["reason"], "the model is back");
        assert!(t.effects.is_empty() && t.attempts.is_empty() && t.notices.is_empty(), "nothing is sent or told");
    }
}

#[test]
fn from_no_other_state_is_there_a_recovery() {
    for state in run_states() {
        let may =
            matches!(state, RunState::FailedRetryable { .. } | RunState::Quarantined { .. } | RunState::Processing);
        let made = replay::recover(&agg(state.clone(), vec![]), PLAN, &OPERATOR, "r", at(1));
        assert_eq!(made.is_some(), may, "{state:?}");
    }
}

#[test]
fn every_refusal_has_a_word_and_a_way_to_go() {
    for refusal in Refusal::ALL {
        assert!(!refusal.as_str().is_empty() && !refusal.next().is_empty());
    }
    for state in ReplayState::ALL {
        assert_eq!(ReplayState::parse(state.as_str()), Some(state));
    }
    assert_eq!(ReplayState::parse("completed"), None);
}
