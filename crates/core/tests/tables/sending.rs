//! The dispatcher's moves: claim for send, settle, the end of a sending lease, late reports (SPEC section 8; G5, G8 to
//! G10, G12; HC-25).

use effectgate_core::{
    effect::{Effect, EffectState},
    notice::Alert,
    outcome::{Phase, Report},
    provider::Class as ProviderClass,
    retry::{Class, Classified},
    run::{Aggregate, RunState},
    sending::{self, Due},
    time::Timestamp,
    transition::SendingGuard,
};

use crate::{given::*, invariants::applied};

const PENDING: EffectState = EffectState::Pending { due_at: at(0) };

fn claim(effect: &Effect, class: ProviderClass, now: Timestamp) -> (&'static str, Option<Aggregate>) {
    let before = agg(RunState::Approved, vec![effect.clone()]);
    match sending::claim(&before.run, effect, &provider(class), now) {
        Due::Send(t) => ("send", Some(applied(&before, &t))),
        Due::Divert(t) => (if t.notices.is_empty() { "unknown" } else { "review" }, Some(applied(&before, &t))),
        Due::Leave => ("leave", None),
    }
}

#[test]
fn what_is_due_as_decided_is_sent_and_nothing_else() {
    let scheduled = EffectState::Scheduled { not_before: at(0) };
    let decided = effect(1, PENDING);
    let undecided = Effect { decided: None, ..effect(1, PENDING) };
    let changed = Effect { payload: r#"{"text":"hullo"}"#.into(), ..effect(1, PENDING) };
    let moved = Effect { target: "somebody else".into(), ..effect(1, PENDING) };
    let renamed = Effect { effect_type: effectgate_core::ids::EffectType::new("refund"), ..effect(1, PENDING) };
    let reissue = Effect { unknown_since: Some(at(0)), first_sent_at: Some(at(0)), attempts: 1, ..effect(1, PENDING) };
    let retried = Effect { first_sent_at: Some(at(0)), attempts: 1, ..effect(1, PENDING) };
    let day = 24 * HOUR_MS;
    let (enforcing, advisory) = (ENFORCING, ProviderClass::Advisory);
    let table = [
        // effect                    provider   now             comes to
        ("decided", &decided, enforcing, 0, "send"),
        ("decided", &decided, advisory, 0, "send"),
        ("not due", &decided, enforcing, -1, "leave"),
        ("scheduled, due", &effect(1, scheduled), enforcing, 0, "send"),
        ("scheduled, not due", &effect(1, scheduled), enforcing, -1, "leave"),
        ("no decision", &undecided, enforcing, 0, "review"),
        ("other bytes", &changed, enforcing, 0, "review"),
        ("other target", &moved, enforcing, 0, "review"),
        ("other type", &renamed, enforcing, 0, "review"),
        ("not due, other bytes", &changed, enforcing, -1, "leave"),
        ("re-issue in the window", &reissue, enforcing, 23 * HOUR_MS - 1, "send"),
        ("re-issue after it", &reissue, enforcing, 23 * HOUR_MS, "unknown"),
        ("re-issue a day later", &reissue, enforcing, 2 * day, "unknown"),
        ("re-issue at an advisory one", &reissue, advisory, 0, "unknown"),
        ("retry of what never happened, a day later", &retried, enforcing, 2 * day, "send"),
    ];
    for (name, effect, class, now, expected) in table {
        assert_eq!(claim(effect, class, at(now)).0, expected, "{name} at {}", class.as_str());
    }
}

#[test]
fn an_attempt_is_on_record_before_the_first_byte() {
    let before = agg(RunState::Approved, vec![effect(1, PENDING)]);

    let Due::Send(t) = sending::claim(&before.run, &before.effects[0], &provider(ENFORCING), at(5)) else {
        panic!("not sent")
    };
    let after = applied(&before, &t);

    let sent = &after.effects[0];
    assert_eq!((sent.state, sent.attempts, sent.fence.0), (EffectState::Sending, 1, 1));
    assert_eq!(sent.first_sent_at, Some(at(5)));
    assert_eq!((t.attempts.len(), t.attempts[0].end.is_none(), t.attempts[0].fence), (1, true, sent.fence));
    assert_eq!(t.effects[0].sending_ms, Some(40_000), "the longest attempt and the margin");
    let applies = t.switch.expect("the switch is judged in the same write (G11)");
    assert_eq!((applies.flow.as_str(), applies.provider.as_str(), applies.effect_type.as_str()), ("f", "crm", "note"));
}

struct Row {
    class: Class,
    attempts: i32,
    unknown: bool,
    state: &'static str,
    attempts_after: i32,
    told: Vec<Alert>,
}

fn row(class: Class, attempts: i32, unknown: bool, state: &'static str, attempts_after: i32, told: &[Alert]) -> Row {
    Row { class, attempts, unknown, state, attempts_after, told: told.to_vec() }
}

fn settle(agg: &Aggregate, class: Class, provider_class: ProviderClass, now: Timestamp) -> (Aggregate, Vec<Alert>) {
    let report = Report { phase: Phase::Request, bytes_sent: 7, answer: None, error: Some("x".into()), handle: None };
    let id = (class == Class::Applied).then(|| "x1".to_owned());
    let found =
        Classified { class, external_id: id, retry_after_ms: None, detail: Some("switch_off".into()), repeats: false };
    let provider = provider(provider_class);
    let t = sending::settle(&agg.run, &agg.effects[0], &provider, at(-5), &report, &found, now, 0.0);
    let (id, fence) = (agg.effects[0].id, agg.effects[0].fence);
    assert_eq!(t.sending_guard, SendingGuard::Live { effect: id, fence }, "a late one loses");
    assert_eq!(t.attempts[0].end.as_ref().map(|e| e.class), Some(class), "the end is on record");
    (applied(agg, &t), alerts(&t))
}

#[test]
fn every_class_settles_the_effect() {
    use Class::*;
    let (circuit, review, used) = (Alert::CircuitOpen, Alert::Review, Alert::Exhausted);
    let table = [
        // class            attempts  unknown  state      attempts  alerts
        row(Applied, 1, false, "completed", 1, &[]),
        row(Applied, 3, true, "completed", 3, &[]),
        row(HeldBack, 1, false, "pending", 0, &[]),
        row(HeldBack, 3, false, "pending", 2, &[]),
        row(HeldBack, 3, true, "pending", 2, &[]),
        row(NotSent, 1, false, "pending", 1, &[]),
        row(NotSent, 3, false, "failed", 3, &[used]),
        row(NotSent, 1, true, "unknown", 1, &[]),
        row(NotSent, 3, true, "review", 3, &[review]),
        row(RateLimited, 1, false, "pending", 1, &[]),
        row(RateLimited, 3, false, "failed", 3, &[used]),
        row(RateLimited, 3, true, "review", 3, &[review]),
        row(Overloaded, 1, false, "pending", 1, &[]),
        row(Refused, 1, false, "failed", 1, &[]),
        row(Unauthorized, 1, false, "failed", 1, &[circuit]),
        row(Unauthorized, 1, true, "review", 1, &[circuit, review]),
        row(Redirect, 1, false, "failed", 1, &[]),
        row(Redirect, 1, true, "review", 1, &[review]),
        row(ConflictInFlight, 1, false, "unknown", 1, &[]),
        row(Unknown, 1, false, "unknown", 1, &[]),
        row(Unknown, 3, true, "unknown", 3, &[]),
    ];
    for Row { class, attempts, unknown, state, attempts_after, told } in table {
        for provider_class in [ENFORCING, ProviderClass::Advisory] {
            let mut sending = effect(1, EffectState::Sending);
            (sending.attempts, sending.unknown_since) = (attempts, unknown.then(|| at(-9)));
            let before = agg(RunState::Approved, vec![sending]);
            let what = format!("{class:?} after {attempts}, unknown: {unknown}, {}", provider_class.as_str());

            let (after, alerts) = settle(&before, class, provider_class, at(0));

            let effect = &after.effects[0];
            assert_eq!((effect.state.as_str(), effect.attempts), (state, attempts_after), "{what}");
            assert_eq!(alerts, told, "{what}");
            assert_eq!(effect.external_id.is_some(), class == Applied, "{what}");
        }
    }
}

#[test]
fn waits_that_are_not_the_effects_fault_count_no_attempt_however_often() {
    let mut run = agg(RunState::Approved, vec![effect(1, PENDING)]);
    for round in 0..20 {
        let Due::Send(t) = sending::claim(&run.run, &run.effects[0], &provider(ENFORCING), at(round)) else {
            panic!("round {round}: not sent")
        };
        run = settle(&applied(&run, &t), Class::HeldBack, ENFORCING, at(round)).0;

        assert_eq!((run.effects[0].state.as_str(), run.effects[0].attempts), ("pending", 0), "round {round}");
        assert_eq!(run.effects[0].first_sent_at, None, "nothing left, so the key window has not begun");
    }
}

#[test]
fn the_key_window_begins_with_the_first_attempt_that_may_have_arrived() {
    for (class, begun) in [(Class::NotSent, None), (Class::HeldBack, None), (Class::Unknown, Some(at(-1)))] {
        let mut sending = effect(1, EffectState::Sending);
        sending.first_sent_at = Some(at(-1));

        let (after, _) = settle(&agg(RunState::Approved, vec![sending]), class, ENFORCING, at(0));

        assert_eq!(after.effects[0].first_sent_at, begun, "{class:?}");
    }
}

#[test]
fn the_doubt_is_as_young_as_the_last_attempt_that_may_have_arrived() {
    for (class, since) in
        [(Class::Unknown, 0), (Class::ConflictInFlight, 0), (Class::NotSent, -9), (Class::RateLimited, -9)]
    {
        let mut sending = effect(1, EffectState::Sending);
        sending.unknown_since = Some(at(-9));

        let (after, _) = settle(&agg(RunState::Approved, vec![sending]), class, ENFORCING, at(0));

        assert_eq!(after.effects[0].unknown_since, Some(at(since)), "{class:?}");
    }
}

#[test]
fn g_8_a_started_attempt_without_an_end_is_unknown_never_pending() {
    let before = agg(RunState::Approved, vec![effect(1, EffectState::Sending)]);
    let (id, fence) = (before.effects[0].id, before.effects[0].fence);

    let t = sending::expire(&before.run, &before.effects[0], at(9)).unwrap();
    let after = applied(&before, &t);

    assert_eq!(t.sending_guard, SendingGuard::Over { effect: id, fence }, "the database judges that it is over");
    assert_eq!(after.effects[0].state, EffectState::Unknown { look_at: at(9) });
    assert_eq!(after.effects[0].unknown_since, Some(at(9)));
}

#[test]
fn a_late_report_is_recorded_and_told_and_changes_nothing() {
    for state in effect_states() {
        let before = agg(RunState::Approved, vec![effect(1, state), effect(2, PENDING)]);
        let found =
            Classified { class: Class::Refused, external_id: None, retry_after_ms: None, detail: None, repeats: false };

        let t = sending::late_report(&before.run, &before.effects[0], &found, at(1)).unwrap();
        let after = applied(&before, &t);

        assert_eq!((after.effects, after.run.version), (before.effects, before.run.version), "{state:?}");
        assert_eq!((kinds(&t), alerts(&t)), (vec!["late_report"], vec![Alert::ContraryReport]), "{state:?}");
    }
}
