//! How an approved run ends: by the ends of its one to three effects, in every mix and every order.

use effectgate_core::{
    effect::{Effect, EffectState},
    operate::{self, Asker},
    outcome::{Answer, Phase, Report},
    retry::{Class, Classified},
    run::{Aggregate, RunState},
    sending,
};

use crate::{given::*, invariants::applied};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Completed,
    Failed,
    Cancelled,
}

/// Ends one effect of the run the way the product does.
fn end(agg: &Aggregate, n: usize, end: End) -> Aggregate {
    let effect = &agg.effects[n];
    let transition = match end {
        End::Completed => settle(agg, effect, Class::Applied),
        End::Failed => settle(agg, effect, Class::Refused),
        End::Cancelled => operate::cancel(agg, effect, &Asker::operator(OPERATOR), &[], "called back", at(1)).unwrap(),
    };
    applied(agg, &transition)
}

fn settle(agg: &Aggregate, effect: &Effect, class: Class) -> effectgate_core::transition::Transition {
    let answer = Answer { status: 200, retry_after: None, body: Vec::new(), body_complete: true, replayed: false };
    let report = Report { phase: Phase::Answered, bytes_sent: 9, answer: Some(answer), error: None, handle: None };
    let found = Classified { class, external_id: Some("x".into()), retry_after_ms: None, detail: None, repeats: false };
    sending::settle(&agg.run, effect, &provider(ENFORCING), at(0), &report, &found, at(1), 0.0)
}

fn expected(ends: &[End]) -> &'static str {
    if ends.contains(&End::Failed) {
        "failed_terminal effect_failed"
    } else if ends.contains(&End::Cancelled) {
        "failed_terminal cancelled"
    } else {
        "completed"
    }
}

fn mixes(length: usize) -> Vec<Vec<End>> {
    let all = [End::Completed, End::Failed, End::Cancelled];
    (0..length).fold(vec![vec![]], |mixes, _| {
        mixes.into_iter().flat_map(|mix| all.map(|end| [mix.clone(), vec![end]].concat())).collect()
    })
}

#[test]
fn a_run_ends_with_its_last_effect_and_not_before() {
    let mut seen = 0;
    for mix in (1..=3).flat_map(mixes) {
        let start = |(n, end): (usize, &End)| match end {
            End::Cancelled => effect(n as i32 + 1, EffectState::Pending { due_at: at(0) }),
            _ => effect(n as i32 + 1, EffectState::Sending),
        };
        let mut run = agg(RunState::Approved, mix.iter().enumerate().map(start).collect());
        for (n, one) in mix.iter().enumerate() {
            assert_eq!(run.run.state, RunState::Approved, "{mix:?} before effect {n}");
            run = end(&run, n, *one);
        }
        assert_eq!(word(&run.run.state), expected(&mix), "{mix:?}");
        seen += 1;
    }
    assert_eq!(seen, 3 + 9 + 27);
}

#[test]
fn the_last_entry_says_how_many_effects_did_happen() {
    let effects =
        vec![effect(1, EffectState::Completed), effect(2, EffectState::Failed), effect(3, EffectState::Sending)];
    let before = agg(RunState::Approved, effects);

    let t = settle(&before, &before.effects[2], Class::Applied);

    let last: serde_json::Value = serde_json::from_str(&t.entries.last().unwrap().text).unwrap();
    assert_eq!(last["kind"], "failed");
    assert_eq!((&last["facts"]["happened"], &last["facts"]["failed"]), (&2.into(), &1.into()));
    assert_eq!(word(&applied(&before, &t).run.state), "failed_terminal effect_failed");
}

#[test]
fn an_effect_that_is_open_in_any_way_keeps_the_run_open() {
    for state in effect_states() {
        let before = agg(RunState::Approved, vec![effect(1, EffectState::Sending), effect(2, state)]);

        let after = end(&before, 0, End::Completed);

        assert_eq!(after.run.state.is_final(), state.is_final(), "{state:?}");
    }
}

#[test]
fn only_an_approved_run_is_ended_by_its_effects() {
    for state in run_states().into_iter().filter(|s| !s.is_final() && *s != RunState::Approved) {
        let before = agg(state.clone(), vec![effect(1, EffectState::Sending)]);

        assert_eq!(end(&before, 0, End::Completed).run.state, state);
    }
}
