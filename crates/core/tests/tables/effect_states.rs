//! Every state of an effect x every command x executor: what it comes to. `-` is refused or nothing to do.

use effectgate_core::{
    effect::{Effect, EffectState, Executor},
    ids::Fence,
    inline::{self, Begin, Reported, Settle},
    operate::{self, Asker, Resolution},
    retry::{Class, Classified, Outcome, Settlement},
    run::{Aggregate, RunState},
    sending::{self, Due},
    transition::Transition,
};

use crate::{given::*, invariants::applied};

type Command = (&'static str, fn(&Aggregate) -> Option<Transition>);

const COMMANDS: [Command; 11] = [
    ("claim", |agg| match sending::claim(&agg.run, &agg.effects[0], &provider(ENFORCING), at(0)) {
        Due::Send(t) | Due::Divert(t) => Some(t),
        Due::Leave => None,
    }),
    ("expire", |agg| sending::expire(&agg.run, &agg.effects[0], at(0))),
    ("found", |agg| {
        let found = Settlement::Complete { external_id: Some("x".into()) };
        sending::reconciled(&agg.run, &agg.effects[0], &found, None, at(0))
    }),
    ("re-issue", |agg| sending::reconciled(&agg.run, &agg.effects[0], &Settlement::Reissue, None, at(0))),
    ("cancel", |agg| operate::cancel(agg, &agg.effects[0], &Asker::operator(OPERATOR), &[], "no", at(0)).ok()),
    ("happened", |agg| resolve(agg, &Resolution::Happened { external_id: None })),
    ("send again", |agg| resolve(agg, &Resolution::SendAgain)),
    ("never mind", |agg| resolve(agg, &Resolution::Cancel)),
    ("late report", |agg| {
        let found =
            Classified { class: Class::Applied, external_id: None, retry_after_ms: None, detail: None, repeats: false };
        sending::late_report(&agg.run, &agg.effects[0], &found, at(0))
    }),
    ("begin", |agg| match inline::begin(agg, &owner(), Fence(1), &wanted(1), &go(), true, at(0)) {
        Ok(Begin::Begun(t)) => Some(*t),
        _ => None,
    }),
    ("report applied", |agg| {
        let reported = Reported { outcome: Outcome::Applied, external_id: None, message: None };
        match inline::settle(agg, &agg.effects[0], &owner(), Fence(1), &reported, at(0)) {
            Ok(Settle::Settled(t)) => Some(*t),
            _ => None,
        }
    }),
];

fn resolve(agg: &Aggregate, resolution: &Resolution) -> Option<Transition> {
    operate::resolve(agg, &agg.effects[0], &OPERATOR, resolution, "seen", at(0)).ok()
}

/// Columns: scheduled, pending, sending, unknown, review; from completed, failed and cancelled nothing leads away.
fn check(table: &str, start: impl Fn(EffectState) -> Aggregate) {
    for line in table.lines().filter(|l| l.contains('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (name, run) = *COMMANDS.iter().find(|c| c.0 == cells[0]).expect(line);
        for (n, state) in effect_states().into_iter().enumerate() {
            let before = start(state);

            let found = run(&before).map(|t| applied(&before, &t).effects[0].state.as_str());

            let expected =
                cells.get(n + 1).copied().unwrap_or(if name == "late report" { state.as_str() } else { "-" });
            assert_eq!(found.unwrap_or("-"), expected, "{name} in {}", state.as_str());
        }
    }
    assert_eq!(table.lines().filter(|l| l.contains('|')).count(), COMMANDS.len(), "every command has a line");
}

#[test]
fn every_command_on_an_effect_of_the_dispatcher() {
    let table = "
        claim          | sending   | sending   | -       | -         | -
        expire         | -         | -         | unknown | -         | -
        found          | -         | -         | -       | completed | -
        re-issue       | -         | -         | -       | pending   | -
        cancel         | cancelled | cancelled | -       | -         | -
        happened       | -         | -         | -       | completed | completed
        send again     | -         | -         | -       | pending   | pending
        never mind     | -         | -         | -       | cancelled | cancelled
        late report    | scheduled | pending   | sending | unknown   | review
        begin          | -         | -         | -       | -         | -
        report applied | -         | -         | -       | -         | -
    ";
    check(table, |state| agg(RunState::Approved, vec![effect(1, state)]));
}

#[test]
fn every_command_on_an_effect_that_its_worker_performs() {
    let table = "
        claim          | -         | -         | -         | -         | -
        expire         | -         | -         | -         | -         | -
        found          | -         | -         | -         | completed | -
        re-issue       | -         | -         | -         | pending   | -
        cancel         | cancelled | cancelled | -         | -         | -
        happened       | -         | -         | -         | completed | completed
        send again     | -         | -         | -         | pending   | pending
        never mind     | -         | -         | -         | cancelled | cancelled
        late report    | scheduled | pending   | sending   | unknown   | review
        begin          | -         | sending   | -         | -         | -
        report applied | -         | -         | completed | -         | -
    ";
    check(table, |state| agg(RunState::Processing, vec![inline(1, state)]));
}

#[test]
fn g_12_nothing_leads_away_from_a_final_state() {
    for state in [EffectState::Completed, EffectState::Failed, EffectState::Cancelled] {
        for executor in [Executor::Dispatcher, Executor::Inline] {
            let settled = Effect { executor, external_id: Some("id-1".into()), ..effect(1, state) };
            let before = agg(RunState::Processing, vec![settled]);
            for (name, run) in COMMANDS {
                if let Some(t) = run(&before) {
                    assert_eq!(applied(&before, &t).effects, before.effects, "{name} in {state:?}");
                }
            }
        }
    }
}

#[test]
fn an_effect_that_may_have_left_is_not_cancelled_but_settled() {
    let mut pending = effect(1, EffectState::Pending { due_at: at(0) });
    pending.unknown_since = Some(at(0));
    let before = agg(RunState::Approved, vec![pending]);

    let refused =
        operate::cancel(&before, &before.effects[0], &Asker::operator(OPERATOR), &[], "no", at(0)).unwrap_err();

    assert_eq!(refused, operate::Refused::WrongState("pending"));
}
