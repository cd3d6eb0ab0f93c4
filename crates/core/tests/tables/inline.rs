//! Inline effects: begin and settle, repeats, takeovers and contrary reports (SPEC section 8; G5, G9 to G12; HC-27).

use effectgate_core::{
    effect::{Effect, EffectState},
    ending::EndRefused,
    gate::Passage,
    ids::{Fence, Owner},
    inline::{self, Begin, Reported, Settle},
    lease::{self, Claim},
    notice::Alert,
    proposal::Proposed,
    retry::Outcome,
    run::{Aggregate, RunState},
};

use crate::{given::*, invariants::applied};

fn begin(agg: &Aggregate, fence: i64, may_reissue: bool) -> Begin {
    inline::begin(agg, &owner(), Fence(fence), &wanted(1), &go(), may_reissue, at(1)).unwrap()
}

fn begun(agg: &Aggregate, fence: i64, may_reissue: bool) -> Aggregate {
    match begin(agg, fence, may_reissue) {
        Begin::Begun(t) => applied(agg, &t),
        other => panic!("not begun: {other:?}"),
    }
}

fn reported(outcome: Outcome) -> Reported {
    Reported { outcome, external_id: Some("x1".into()), message: None }
}

fn settle(agg: &Aggregate, fence: i64, outcome: Outcome) -> Settle {
    inline::settle(agg, &agg.effects[0], &owner(), Fence(fence), &reported(outcome), at(2)).unwrap()
}

fn settled(agg: &Aggregate, fence: i64, outcome: Outcome) -> Aggregate {
    match settle(agg, fence, outcome) {
        Settle::Settled(t) => applied(agg, &t),
        other => panic!("not settled: {other:?}"),
    }
}

/// The next owner's run: the lease ran out and worker-a claimed again, with fence 2.
fn taken_over(mut agg: Aggregate) -> Aggregate {
    agg.lease = Some(lease(-1));
    let Claim::Granted(t) = lease::claim(&agg, &owner(), 30_000, at(1), &ENFORCING_ALL) else { panic!("not granted") };
    Aggregate { lease: Some(lease(30_000)), ..applied(&agg, &t) }
}

#[test]
fn the_marker_is_written_before_the_effect() {
    let before = agg(RunState::Processing, vec![]);

    let Begin::Begun(t) = begin(&before, 1, false) else { panic!("not begun") };
    let after = applied(&before, &t);

    let effect = &after.effects[0];
    assert_eq!((effect.state, effect.attempts, effect.fence), (EffectState::Sending, 1, Fence(1)));
    assert_eq!((effect.first_sent_at, effect.is_decided()), (Some(at(1)), true));
    assert!(t.switch.is_some(), "no attempt starts with the switch off (G11)");
    assert_eq!(kinds(&t), ["auto_approved", "effect_begun"], "the rule is named (G5)");
}

#[test]
fn what_wants_a_person_or_a_window_does_not_begin_inline() {
    let window = Proposed { window_ms: 1_000, ..wanted(1) };
    let before = agg(RunState::Processing, vec![]);
    for (name, wanted, passage, gated) in [
        ("goes by itself", wanted(1), go(), false),
        ("a person decides", wanted(1), person_decides(), true),
        ("a cancel window", window, go(), true),
        ("regulated", wanted(1), Passage::Person { why: vec![], qualifications: vec!["nurse".into()] }, true),
    ] {
        let done = inline::begin(&before, &owner(), Fence(1), &wanted, &passage, false, at(1)).unwrap();

        assert_eq!(matches!(done, Begin::Gated { .. }), gated, "{name}");
    }
}

#[test]
fn a_begin_for_the_second_time_tells_what_is_known() {
    let doubt = Effect { unknown_since: Some(at(0)), ..inline(1, EffectState::Pending { due_at: at(0) }) };
    let of = |state| inline(1, state);
    let pending = of(EffectState::Pending { due_at: at(0) });
    let (unknown, review) = (of(EffectState::Unknown { look_at: at(0) }), of(EffectState::Review { since: at(0) }));
    let table = [
        // before                                 fence  key holds  begun
        ("not sent", &pending, 1, false, true),
        ("not sent", &pending, 2, true, true),
        ("a re-issue", &doubt, 1, true, true),
        ("a re-issue, window over", &doubt, 1, false, false),
        ("its own call", &of(EffectState::Sending), 1, true, false),
        ("the last owner's call", &of(EffectState::Sending), 2, true, true),
        ("the last owner's call, window over", &of(EffectState::Sending), 2, false, false),
        ("unknown", &unknown, 2, true, false),
        ("on the desk", &review, 2, true, false),
        ("done", &of(EffectState::Completed), 2, true, false),
        ("refused", &of(EffectState::Failed), 2, true, false),
        ("called off", &of(EffectState::Cancelled), 2, true, false),
    ];
    for (name, effect, fence, may_reissue, expected) in table {
        let mut before = agg(RunState::Processing, vec![effect.clone()]);
        before.run.fence = Fence(fence);

        match begin(&before, fence, may_reissue) {
            Begin::Begun(t) => {
                let after = applied(&before, &t);
                assert!(expected, "{name}: begun");
                assert_eq!(after.effects[0].provider_key, before.effects[0].provider_key, "hc_24: the same key");
            }
            Begin::Known(known) => assert!(!expected && *known == before.effects[0], "{name}: known"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn one_intention_never_becomes_two_effects() {
    let before = begun(&agg(RunState::Processing, vec![]), 1, false);
    let other = Proposed { payload: r#"{"text":"other"}"#.into(), ..wanted(1) };

    let differs = inline::begin(&before, &owner(), Fence(1), &other, &go(), true, at(2)).unwrap();
    let second = inline::begin(&before, &owner(), Fence(1), &wanted(2), &go(), true, at(2)).unwrap();

    assert!(matches!(differs, Begin::Differs(_)));
    assert!(matches!(second, Begin::Begun(_)), "another target is another effect");
}

#[test]
fn a_workers_report_settles_its_own_call() {
    let table = [
        // outcome           effect       doubt   id
        (Outcome::Applied, "completed", false),
        (Outcome::Refused, "failed", false),
        (Outcome::NotSent, "pending", false),
        (Outcome::Unknown, "unknown", true),
    ];
    for (outcome, state, doubt) in table {
        let before = begun(&agg(RunState::Processing, vec![]), 1, false);

        let after = settled(&before, 1, outcome);

        assert_eq!(after.effects[0].state.as_str(), state, "{outcome:?}");
        assert_eq!(after.effects[0].is_in_doubt(), doubt, "{outcome:?}");
        assert_eq!(after.run.state, RunState::Processing, "{outcome:?}");
    }
}

#[test]
fn g_9_the_last_owners_call_stays_in_doubt_until_an_answer_settles_it() {
    let table = [
        // second report     effect       in doubt
        (Outcome::Applied, "completed", false),
        (Outcome::Refused, "failed", false),
        (Outcome::NotSent, "pending", true),
        (Outcome::Unknown, "unknown", true),
    ];
    for (outcome, state, doubt) in table {
        let left = begun(&agg(RunState::Processing, vec![]), 1, false);
        let again = begun(&taken_over(left), 2, true);

        let after = settled(&again, 2, outcome);

        assert_eq!(after.effects[0].state.as_str(), state, "{outcome:?}");
        assert_eq!(after.effects[0].is_in_doubt(), doubt, "{outcome:?}");
    }
}

#[test]
fn a_report_needs_the_lease_and_the_begun_call() {
    let sending = begun(&agg(RunState::Processing, vec![]), 1, false);
    let stranger =
        inline::settle(&sending, &sending.effects[0], &Owner::new("b"), Fence(1), &reported(Outcome::Applied), at(2));
    let next = taken_over(sending);

    assert_eq!(stranger.err(), Some(EndRefused::LeaseLost));
    assert!(matches!(settle(&next, 2, Outcome::Applied), Settle::NotBegun), "begun by the last owner");
    let of_the_dispatcher = agg(RunState::Processing, vec![effect(1, EffectState::Sending)]);
    assert!(matches!(settle(&of_the_dispatcher, 1, Outcome::Applied), Settle::NotBegun));
}

#[test]
fn hc_27_a_late_report_takes_nothing_back() {
    use Outcome::{Applied, NotSent, Refused, Unknown};
    let table = [
        // state                   report    contrary
        (EffectState::Completed, Applied, false),
        (EffectState::Completed, Refused, true),
        (EffectState::Completed, NotSent, true),
        (EffectState::Completed, Unknown, false),
        (EffectState::Failed, Refused, false),
        (EffectState::Failed, Applied, true),
        (EffectState::Failed, NotSent, true),
        (EffectState::Failed, Unknown, false),
        (EffectState::Cancelled, NotSent, false),
        (EffectState::Cancelled, Applied, true),
        (EffectState::Cancelled, Unknown, false),
    ];
    for (state, outcome, contrary) in table {
        for run_state in [RunState::Processing, RunState::Completed] {
            let before = agg(run_state.clone(), vec![inline(1, state)]);

            match settle(&before, 1, outcome) {
                Settle::Agrees => assert!(!contrary, "{state:?} {outcome:?}"),
                Settle::Contrary(Some(t)) => {
                    assert!(contrary, "{state:?} {outcome:?}");
                    let after = applied(&before, &t);
                    assert_eq!((after.effects, after.run.state), (before.effects, run_state), "changed nothing");
                    assert_eq!((kinds(&t), alerts(&t)), (vec!["late_report"], vec![Alert::ContraryReport]));
                }
                other => panic!("{state:?} {outcome:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn contrary_reports_are_recorded_up_to_a_bound() {
    let mut run = agg(RunState::Completed, vec![inline(1, EffectState::Completed)]);
    let mut recorded = 0;
    while let Settle::Contrary(Some(t)) = settle(&run, 1, Outcome::Refused) {
        run = applied(&run, &t);
        recorded += 1;
    }
    assert_eq!(recorded, lease::REFUSALS_MAX);
}
