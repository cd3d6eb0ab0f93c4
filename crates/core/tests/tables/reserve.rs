//! Reserve, claim, renew: who may work on a run now (SPEC section 4; G1, G3, G4; HC-06).

use effectgate_core::{
    effect::EffectState,
    ids::{Fence, Owner},
    lease::{self, Claim, REFUSALS_MAX, Standing},
    notice::Alert,
    run::{Aggregate, AwaitReason, RunState},
    transition::{LeaseGuard, LeaseWrite},
};

use crate::{given::*, invariants::applied};

#[test]
fn a_reservation_of_a_known_key_gets_exactly_one_answer() {
    use Standing::{Claimable, Conflict, Repeated, Replay};
    let busy = |ms| Standing::Busy { retry_after_ms: ms };
    let states = run_states();
    let of = |word: &str| states.iter().find(|s| crate::given::word(s) == word).unwrap().clone();
    let table = [
        // state                              lease left  owner   hash  answer
        ("queued", None, "a", 1, Claimable),
        ("queued", None, "b", 1, Claimable),
        ("processing", Some(5_000), "a", 1, Repeated),
        ("processing", Some(5_000), "b", 1, busy(5_000)),
        ("processing", Some(1), "a", 1, Repeated),
        ("processing", Some(1), "b", 1, busy(100)),
        ("processing", Some(900_000), "b", 1, busy(30_000)),
        ("processing", Some(0), "a", 1, Claimable),
        ("processing", Some(-1), "a", 1, Claimable),
        ("processing", Some(-1), "b", 1, Claimable),
        ("failed_retryable model_timeout", None, "a", 1, Claimable),
        ("failed_retryable model_timeout", None, "b", 1, Claimable),
        ("awaiting_human approval", None, "a", 1, Replay),
        ("awaiting_human unknown_effect", None, "b", 1, Replay),
        ("approved", None, "a", 1, Replay),
        ("completed", None, "a", 1, Replay),
        ("failed_terminal rejected", None, "b", 1, Replay),
        ("quarantined semantic", None, "a", 1, Replay),
    ];
    for (state, left, who, _, expected) in &table {
        let run = run(of(state));
        let (lease, owner) = (left.map(lease), Owner::new(format!("worker-{who}")));

        assert_eq!(lease::standing(&run, lease.as_ref(), &hash(1), &owner), *expected, "{state} {left:?} {who}");
        // G3: another payload is a conflict in every state, whoever asks.
        assert_eq!(lease::standing(&run, lease.as_ref(), &hash(2), &owner), Conflict, "{state} {left:?} {who}");
    }
    let seen: Vec<_> = table.iter().map(|row| row.0).collect();
    assert!(states.iter().all(|s| seen.contains(&word(s).as_str())), "every state has a row");
}

fn claim(agg: &Aggregate) -> Claim {
    lease::claim(agg, &Owner::new("worker-b"), 30_000, at(1_000), &ADVISORY_ALL)
}

fn granted(agg: &Aggregate) -> Aggregate {
    let Claim::Granted(t) = claim(agg) else { panic!("not granted: {agg:?}") };
    assert_eq!(t.lease, LeaseWrite::Grant { ms: 30_000 });
    applied(agg, &t)
}

#[test]
fn a_claim_raises_fence_and_attempt_and_takes_the_lease() {
    let retry = RunState::FailedRetryable { reason: "x".into(), next_attempt_at: at(HOUR_MS) };
    let table = [
        ("queued", agg(RunState::Queued, vec![]), LeaseGuard::Free, 0),
        ("failed_retryable, before its time", agg(retry, vec![]), LeaseGuard::Free, 0),
        ("left behind", left_behind(vec![]), LeaseGuard::Over, 1),
    ];
    for (name, before, guard, takeovers) in table {
        let Claim::Granted(t) = claim(&before) else { panic!("{name}: not granted") };
        let after = applied(&before, &t);

        assert_eq!(t.lease_guard, guard, "{name}: the database judges at the write");
        assert_eq!((after.run.fence, after.run.attempts), (Fence(2), 2), "{name}");
        assert_eq!(after.run.takeovers, takeovers, "{name}");
        assert_eq!(after.run.owner, Some(Owner::new("worker-b")), "{name}");
    }
}

#[test]
fn what_is_held_or_does_not_start_again_is_not_claimed() {
    for state in run_states() {
        let free = matches!(state, RunState::Queued | RunState::FailedRetryable { .. });
        let refused = matches!(claim(&agg(state.clone(), vec![])), Claim::NotFree);

        assert_eq!(refused, !free, "{}", word(&state));
    }
}

#[test]
fn hc_06_the_sixth_claim_is_not_given() {
    let mut run = left_behind(vec![]);
    run.run.attempts = 0;
    for attempt in 1..=5 {
        run = granted(&run);
        assert_eq!(run.run.attempts, attempt);
        run.lease = Some(lease(-1));
    }

    let Claim::Ended(t) = claim(&run) else { panic!("the sixth claim was given") };
    let after = applied(&run, &t);

    assert_eq!(word(&after.run.state), "failed_terminal abandoned");
    assert_eq!(alerts(&t), [Alert::Exhausted]);
    assert_eq!(after.run.attempts, 5);
}

#[test]
fn a_takeover_alerts_from_the_second_on() {
    let mut run = left_behind(vec![]);
    for (takeover, expected) in [(1, vec![]), (2, vec![Alert::Takeover]), (3, vec![Alert::Takeover])] {
        let Claim::Granted(t) = claim(&run) else { panic!("not granted") };
        run = applied(&run, &t);
        run.lease = Some(lease(-1));

        assert_eq!((run.run.takeovers, alerts(&t)), (takeover, expected));
    }
}

#[test]
fn what_time_did_to_an_inline_effect_depends_on_the_provider_and_on_the_attempts() {
    let (sending, unknown) = (EffectState::Sending, EffectState::Unknown { look_at: at(0) });
    let (review, pending) = (EffectState::Review { since: at(0) }, EffectState::Pending { due_at: at(0) });
    let waits = "awaiting_human unknown_effect";
    let table = [
        // effect             provider         attempts   run                         effect
        (sending, &ADVISORY_ALL, 1, waits, "review"),
        (unknown, &ADVISORY_ALL, 1, waits, "review"),
        (review, &ADVISORY_ALL, 1, waits, "review"),
        (pending, &ADVISORY_ALL, 1, "processing", "pending"),
        (EffectState::Completed, &ADVISORY_ALL, 1, "processing", "completed"),
        (EffectState::Failed, &ADVISORY_ALL, 1, "processing", "failed"),
        (sending, &AllOf(None), 1, waits, "review"),
        (sending, &ENFORCING_ALL, 1, "processing", "sending"),
        (unknown, &ENFORCING_ALL, 1, "processing", "unknown"),
        (review, &ENFORCING_ALL, 1, "processing", "review"),
        // Used up: there is no next owner who could re-issue.
        (sending, &ENFORCING_ALL, 5, waits, "review"),
        (unknown, &ENFORCING_ALL, 5, waits, "review"),
        (sending, &ADVISORY_ALL, 5, waits, "review"),
        (pending, &ADVISORY_ALL, 5, "failed_terminal abandoned", "cancelled"),
        (EffectState::Completed, &ADVISORY_ALL, 5, "failed_terminal abandoned", "completed"),
    ];
    for (state, class_of, attempts, run_word, effect_word) in table {
        let mut before = left_behind(vec![inline(1, state)]);
        before.run.attempts = attempts;
        let what = format!("{} {:?} {attempts}", state.as_str(), class_of.0);

        let after = match lease::claim(&before, &Owner::new("worker-b"), 30_000, at(1), class_of) {
            Claim::Granted(t) | Claim::Ended(t) => applied(&before, &t),
            Claim::NotFree => panic!("{what}: not free"),
        };

        assert_eq!(word(&after.run.state), run_word, "{what}");
        assert_eq!(after.effects[0].state.as_str(), effect_word, "{what}");
    }
}

#[test]
fn a_run_whose_settled_effect_leaves_it_claimable_can_be_moved_by_a_claim_in_every_state() {
    // A provider that lost its class in the config: the guard must not ask for a lease that is not there.
    let before = agg(
        RunState::FailedRetryable { reason: "x".into(), next_attempt_at: at(0) },
        vec![inline(1, EffectState::Sending)],
    );

    let Claim::Ended(t) = claim(&before) else { panic!("claimed over an effect in doubt") };

    assert_eq!(t.lease_guard, LeaseGuard::Free);
    assert_eq!(applied(&before, &t).run.state, RunState::AwaitingHuman { reason: AwaitReason::UnknownEffect });
}

#[test]
fn renewing_names_owner_fence_and_the_bound_of_the_chain() {
    let before = agg(RunState::Processing, vec![]);

    let t = lease::renew(&before.run, &owner(), Fence(1), 5_000, &flow().lease, at(1));

    assert_eq!(t.lease_guard, LeaseGuard::Live { owner: owner(), fence: Fence(1) });
    assert_eq!(t.lease, LeaseWrite::Renew { ms: 5_000, total_ms_max: 1_800_000 });
    assert_eq!(applied(&before, &t).run.fence, Fence(1));
}

#[test]
fn hc_04_a_lease_is_bounded_to_be_a_lease() {
    let bounds = flow().lease;
    for (asked, expected) in [
        (None, Some(300_000)),
        (Some(1_000), Some(1_000)),
        (Some(600_000), Some(600_000)),
        (Some(0), None),
        (Some(-1), None),
        (Some(999), None),
        (Some(600_001), None),
        (Some(i64::MAX), None),
        (Some(i64::MIN), None),
    ] {
        assert_eq!(bounds.pick(asked).ok(), expected, "{asked:?}");
    }
}

#[test]
fn a_conflict_is_recorded_and_alters_nothing_of_the_run_in_any_state() {
    for state in run_states() {
        let before = agg(state.clone(), vec![]);

        let t = lease::conflict(&before.run, &hash(2), &OPERATOR, at(1)).unwrap();
        let after = applied(&before, &t);

        let seen = |a: &Aggregate| (a.run.state.clone(), a.run.version, a.run.owner.clone(), a.run.fence, a.lease);
        assert_eq!(seen(&after), seen(&before), "{}", word(&state));
        assert_eq!(alerts(&t), [Alert::Conflict]);
        assert!(t.entries[0].text.contains(&hash(1).to_string()) && t.entries[0].text.contains(&hash(2).to_string()));
    }
}

#[test]
fn refused_tries_are_recorded_up_to_a_bound() {
    let mut before = agg(RunState::Completed, vec![]);
    for _ in 0..REFUSALS_MAX {
        let t = lease::conflict(&before.run, &hash(2), &OPERATOR, at(1)).unwrap();
        before = applied(&before, &t);
    }
    assert!(lease::conflict(&before.run, &hash(2), &OPERATOR, at(1)).is_none());
}
