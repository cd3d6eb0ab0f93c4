//! Budgets: whose count, which window, where room is, what is given back. A line each.

use effectgate_core::{
    actor::Actor,
    budget::{self, AHEAD_MAX, Budget, Charge, Charged, Holder, Per, Plan, Used, Wait, Want, window},
    effect::{Effect, EffectState},
    ids::{FlowName, ProviderName},
    notice::{Alert, NoticeKind},
    operate::{self, Asker, Resolution},
    outcome::{Phase, Report},
    provider::Class,
    retry::{self, Classified},
    run::{Aggregate, RunState},
    sending::{self, Charging, Due},
    time::Timestamp,
};

use crate::given::*;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn of_provider(max: i64, window_ms: i64) -> Budget {
    let holder = Holder::Provider(ProviderName::new("crm"));
    Budget { holder, per: Per::Provider, window_ms, max, amount: None }
}

fn want(scope: &str, amount: i64, max: i64, window_ms: i64) -> Want {
    let words = scope.to_owned();
    Want { scope: scope.into(), window_ms, max, amount: Some(amount), budget: words.clone(), words }
}

/// A count: its scope, the beginning of its window, how much is used.
type Row = (&'static str, Timestamp, i64);

fn used(rows: &[Row]) -> Used {
    let mut used = Used::default();
    rows.iter().for_each(|(scope, start, n)| used.insert((*scope).into(), *start, *n));
    used
}

/// The beginning of the n-th hour of the tests' time.
fn hour(n: i64) -> Timestamp {
    window(HOUR, at(0)).0.plus_ms(n * HOUR)
}

#[test]
fn windows_follow_each_other_since_the_epoch() {
    let micros = Timestamp::from_micros;
    for (ms, at, start, end) in [
        (1_000, 0, 0, 1_000_000),
        (1_000, 999_999, 0, 1_000_000),
        (1_000, 1_000_000, 1_000_000, 2_000_000),
        (HOUR, 3_599_999_999, 0, 3_600_000_000),
        (1_000, -1, -1_000_000, 0),
    ] {
        assert_eq!(window(ms, micros(at)), (micros(start), micros(end)), "{ms} {at}");
    }
}

#[test]
fn each_effect_counts_where_its_budget_says() {
    let run = run(RunState::Approved);
    let effect = effect(1, EffectState::Pending { due_at: at(0) });
    let (provider, flow) = (Holder::Provider(effect.provider.clone()), Holder::Flow(run.flow.clone()));
    let whose = |holder: &Holder, per| {
        let budget = Budget { holder: holder.clone(), per, window_ms: HOUR, max: 10, amount: None };
        budget::wants(&[budget], &run, &effect, "")[0].scope.clone()
    };
    let flow_name = run.flow.as_str();

    assert_eq!(whose(&provider, Per::Provider), "provider crm | 3600000 | effects");
    assert_eq!(whose(&provider, Per::Flow), format!("provider crm, flow {flow_name} | 3600000 | effects"));
    assert_eq!(whose(&flow, Per::Flow), format!("flow {flow_name} | 3600000 | effects"));
    assert_eq!(whose(&flow, Per::Provider), format!("flow {flow_name}, provider crm | 3600000 | effects"));
    assert_eq!(whose(&flow, Per::Key), format!("flow {flow_name}, key {} | 3600000 | effects", run.id));
    assert!(!whose(&provider, Per::Target).contains(&effect.target), "a target is told by a hash");
    assert_ne!(whose(&provider, Per::Target), whose(&flow, Per::Target));
}

#[test]
fn a_budget_of_another_provider_or_flow_concerns_nobody_here() {
    let run = run(RunState::Approved);
    let effect = effect(1, EffectState::Pending { due_at: at(0) });
    for holder in [Holder::Provider(ProviderName::new("other")), Holder::Flow(FlowName::new("other"))] {
        let budget = Budget { holder, per: Per::Key, window_ms: HOUR, max: 1, amount: None };
        assert_eq!(budget::wants(&[budget], &run, &effect, ""), []);
    }
}

#[test]
fn amounts_are_whole_minor_units_or_nothing() {
    for (payload, pointer, amount) in [
        (r#"{"amount":1250}"#, "/amount", Some(1_250)),
        (r#"{"a":{"b":[0,7]}}"#, "/a/b/1", Some(7)),
        (r#"{"amount":0}"#, "/amount", Some(0)),
        (r#"{"amount":-1}"#, "/amount", None),
        (r#"{"amount":12.5}"#, "/amount", None),
        (r#"{"amount":12.0}"#, "/amount", None),
        (r#"{"amount":1e3}"#, "/amount", None),
        (r#"{"amount":"1250"}"#, "/amount", None),
        (r#"{"amount":null}"#, "/amount", None),
        (r#"{"amount":99999999999999999999}"#, "/amount", None),
        (r#"{}"#, "/amount", None),
        ("", "/amount", None),
    ] {
        assert_eq!(budget::amount_at(payload, pointer), amount, "{payload}");
    }
}

#[test]
fn a_budget_reads_as_a_sentence() {
    for (window_ms, words) in
        [(60_000, "10 a minute"), (HOUR, "10 an hour"), (DAY, "10 a day"), (90_000, "10 every 90 s")]
    {
        assert_eq!(of_provider(10, window_ms).limit_words(), words);
    }
    let money = Budget { amount: Some("/amount".into()), per: Per::Target, ..of_provider(50_000, DAY) };
    assert_eq!(money.words(), "provider crm, 50000 of /amount a day for each target");
}

#[test]
fn room_is_found_now_or_in_the_first_window_that_has_some() {
    let wants = [want("pay", 1, 2, HOUR)];
    let table: &[(&[Row], Option<i64>)] = &[
        (&[], None),
        (&[("pay", hour(0), 1)], None),
        (&[("pay", hour(0), 2)], Some(1)),
        (&[("pay", hour(0), 3)], Some(1)),
        (&[("pay", hour(0), 2), ("pay", hour(1), 2)], Some(2)),
        (&[("pay", hour(0), 2), ("pay", hour(1), 1), ("pay", hour(2), 2)], Some(1)),
        (&[("other", hour(0), 9), ("pay", hour(1), 9)], None),
    ];
    for (rows, later) in table {
        let plan = budget::plan(&wants, &[], &used(rows), at(0));
        match (plan, later) {
            (Plan::Now { charges, charged }, None) => {
                assert_eq!(charges, [line("pay", hour(0), 1, Some(2))], "{rows:?}");
                assert_eq!(charged.len(), 1);
            }
            (Plan::Later { at, charges, .. }, Some(n)) => {
                assert_eq!((at, &charges[0].start), (hour(*n), &hour(*n)), "{rows:?}");
            }
            (plan, _) => panic!("{rows:?}: {plan:?}"),
        }
    }
}

fn line(scope: &str, start: Timestamp, amount: i64, max: Option<i64>) -> Charge {
    Charge { scope: scope.into(), start, end: start.plus_ms(HOUR), amount, max }
}

#[test]
fn every_budget_must_have_room_at_the_same_moment() {
    let wants = [want("hourly", 1, 1, HOUR), want("daily", 1, 5, DAY)];
    let today = window(DAY, at(0)).0;

    let hourly = budget::plan(&wants, &[], &used(&[("hourly", hour(0), 1), ("daily", today, 1)]), at(0));
    assert!(matches!(hourly, Plan::Later { at, ref by, .. } if at == hour(1) && by.scope == "hourly"), "{hourly:?}");

    let daily = budget::plan(&wants, &[], &used(&[("hourly", hour(0), 1), ("daily", today, 5)]), at(0));
    let tomorrow = today.plus_ms(DAY);
    assert!(matches!(daily, Plan::Later { at, ref by, .. } if at == tomorrow && by.scope == "daily"), "{daily:?}");
}

#[test]
fn what_never_fits_is_looked_at_again_after_an_hour() {
    for amount in [Some(11), None] {
        let wants = [Want { amount, ..want("pay", 0, 10, 1_000) }];
        let Plan::Never { at: until, charges, .. } = budget::plan(&wants, &[], &Used::default(), at(0)) else {
            panic!()
        };
        assert_eq!((until, charges), (at(0).plus_ms(HOUR), vec![]));
    }
    let whole = budget::plan(&[want("pay", 10, 10, HOUR)], &[], &Used::default(), at(0));
    assert!(matches!(whole, Plan::Now { .. }));
}

#[test]
fn a_queue_that_is_too_long_is_dealt_with_in_portions() {
    let ahead = i64::try_from(AHEAD_MAX).unwrap();
    let rows: Vec<Row> = (0..ahead).map(|n| ("pay", hour(n), 1)).collect();

    let plan = budget::plan(&[want("pay", 1, 1, HOUR)], &[], &used(&rows), at(0));

    let Plan::Later { at, charges, charged, .. } = plan else { panic!("{plan:?}") };
    assert_eq!((at, charges, charged), (hour(ahead), vec![], vec![]));
}

/// An effect is charged once: what it is charged in this window stays, what it is charged in another moves.
#[test]
fn a_charge_is_an_effects_not_an_attempts() {
    let wants = [want("pay", 3, 10, HOUR)];
    let held = |n| vec![Charged { scope: "pay".into(), start: hour(n), end: hour(n + 1), amount: 3 }];

    // In this very window: nothing is added, and the limit is judged again.
    let Plan::Now { charges, charged } = budget::plan(&wants, &held(0), &used(&[("pay", hour(0), 10)]), at(0)) else {
        panic!()
    };
    assert_eq!((charges, charged), (vec![line("pay", hour(0), 0, Some(10))], held(0)));

    // In an earlier one, with nothing that may have happened: it moves.
    let Plan::Now { charges, .. } = budget::plan(&wants, &held(-1), &Used::default(), at(0)) else { panic!() };
    assert_eq!(charges, [line("pay", hour(-1), -3, None), line("pay", hour(0), 3, Some(10))]);

    // Charged ahead, and there is room now: it moves too.
    let Plan::Now { charges, .. } = budget::plan(&wants, &held(5), &used(&[("pay", hour(5), 3)]), at(0)) else {
        panic!()
    };
    assert_eq!(charges, [line("pay", hour(0), 3, Some(10)), line("pay", hour(5), -3, None)]);
}

fn charged_effect(state: EffectState) -> Effect {
    let one = Charged { scope: "pay".into(), start: hour(0), end: hour(1), amount: 3 };
    Effect { charged: vec![one], ..effect(1, state) }
}

fn aggregate(effect: &Effect) -> Aggregate {
    agg(RunState::Approved, vec![effect.clone()])
}

/// Settles an attempt of a charged effect by a class; gives what is taken off and what stays charged.
fn settled(class: retry::Class, unknown: bool, attempts: i32) -> (Vec<Charge>, usize) {
    let mut effect = charged_effect(EffectState::Sending);
    effect.attempts = attempts;
    effect.unknown_since = unknown.then(|| at(0));
    let agg = aggregate(&effect);
    let report = Report { phase: Phase::Request, bytes_sent: 1, answer: None, error: None, handle: None };
    let found = Classified { class, external_id: None, retry_after_ms: None, detail: None, repeats: false };
    let provider = provider(Class::Advisory);
    let t = sending::settle(&agg.run, &effect, &provider, at(0), &report, &found, at(1), 0.5);
    (t.charges.clone(), t.effects[0].effect.charged.len())
}

#[test]
fn a_charge_is_given_back_only_by_what_provably_did_not_happen() {
    use retry::Class::*;
    let back = || vec![line("pay", hour(0), -3, None)];
    // class, an earlier attempt is in doubt, attempts, what is given back
    let table = [
        (Applied, false, 1, false),
        (Refused, false, 1, true),
        (Redirect, false, 1, true),
        (Unauthorized, false, 1, true),
        // Waits for its next attempt: the charge is the effect's.
        (NotSent, false, 1, false),
        (RateLimited, false, 1, false),
        (HeldBack, false, 1, false),
        // Exhausted, and nothing can have happened.
        (NotSent, false, 100, true),
        (RateLimited, false, 100, true),
        // May have happened.
        (Unknown, false, 1, false),
        (Unknown, true, 1, false),
        (NotSent, true, 100, false),
        // Definitely refused, but an earlier attempt of it is in doubt.
        (Refused, true, 1, false),
    ];
    for (class, unknown, attempts, is_given_back) in table {
        let wanted = if is_given_back { (back(), 0) } else { (vec![], 1) };
        assert_eq!(settled(class, unknown, attempts), wanted, "{class:?} {unknown} {attempts}");
    }
}

#[test]
fn a_persons_word_gives_a_charge_back_or_keeps_it() {
    let olga = Actor::System("olga");
    for (how, is_given_back) in [
        (Resolution::Cancel, true),
        (Resolution::Happened { external_id: None }, false),
        // One more attempt, charged by now.
        (Resolution::SendAgain, false),
    ] {
        let effect = charged_effect(EffectState::Review { since: at(0) });
        let t = operate::resolve(&aggregate(&effect), &effect, &olga, &how, "looked it up", at(1)).unwrap();
        assert_eq!(!t.charges.is_empty(), is_given_back, "{how:?}");
        assert_eq!(t.effects[0].effect.charged.is_empty(), is_given_back, "{how:?}");
    }
    let waiting = charged_effect(EffectState::Pending { due_at: hour(1) });
    let cancelled = operate::cancel(&aggregate(&waiting), &waiting, &Asker::operator(olga), &[], "no", at(1)).unwrap();
    assert_eq!(cancelled.charges, [line("pay", hour(0), -3, None)]);
}

#[test]
fn a_lost_attempt_keeps_its_charge() {
    let effect = charged_effect(EffectState::Sending);
    let t = sending::expire(&aggregate(&effect).run, &effect, at(1)).unwrap();
    assert_eq!((t.charges.len(), t.effects[0].effect.charged.len()), (0, 1));
}

#[test]
fn a_wait_counts_no_attempt_and_is_told_once() {
    let effect = effect(1, EffectState::Pending { due_at: at(0) });
    let agg = aggregate(&effect);
    let wants = [want("pay", 1, 1, HOUR)];
    let wait = || Wait::of(budget::plan(&wants, &[], &used(&[("pay", hour(0), 1)]), at(0))).unwrap();

    let t = budget::hold(&agg.run, &effect, wait(), Some("budget:pay".into()), at(0));

    let after = &t.effects[0].effect;
    assert_eq!(after.state, EffectState::Pending { due_at: hour(1) });
    assert_eq!((after.reason.as_deref(), after.attempts, after.fence), (Some(budget::USED_UP), 0, effect.fence));
    assert_eq!(t.charges, [line("pay", hour(1), 1, Some(1))]);
    assert!(matches!(&t.notices[0].kind, NoticeKind::Alert { alert: Alert::Budget, .. }));
    assert_eq!(t.entries.last().unwrap().kind, "budget_used_up");
    assert!(budget::hold(&agg.run, &effect, wait(), None, at(0)).notices.is_empty());
}

#[test]
fn what_waits_for_a_budget_is_claimed_as_soon_as_there_is_room() {
    let provider = provider(Class::Advisory);
    let claim = |reason: &str| {
        let effect = Effect { reason: Some(reason.into()), ..effect(1, EffectState::Pending { due_at: hour(1) }) };
        sending::claim_within(&aggregate(&effect).run, &effect, &provider, &Charging::default(), at(0))
    };

    assert!(matches!(claim(budget::USED_UP), Due::Send(_)));
    assert!(matches!(claim(budget::TOO_SMALL), Due::Send(_)));
    assert!(matches!(claim("not_sent"), Due::Leave));
}

#[test]
fn an_attempt_says_in_the_record_what_it_was_charged() {
    let effect = effect(1, EffectState::Pending { due_at: at(0) });
    let charging = Charging {
        charges: vec![line("pay", hour(0), 1, Some(1))],
        charged: charged_effect(EffectState::Sending).charged,
        words: vec!["provider crm, 10 an hour".into()],
    };
    let agg = aggregate(&effect);
    let Due::Send(t) = sending::claim_within(&agg.run, &effect, &provider(Class::Advisory), &charging, at(0)) else {
        panic!()
    };
    assert!(t.entries[0].text.contains(r#""budgets":["provider crm, 10 an hour"]"#), "{}", t.entries[0].text);
    assert_eq!((t.charges.len(), t.effects[0].effect.charged.len()), (1, 1));
}
