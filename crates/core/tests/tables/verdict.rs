//! The retry matrix: every class x enforcing or advisory x attempts left or used up x an earlier attempt unknown.

use effectgate_core::{
    effect::EffectState,
    provider::Class as ProviderClass,
    retry::{self, Backoff, Class, Classified, Outcome, Verdict},
};

use crate::given::*;

fn found(class: Class) -> Classified {
    Classified { class, external_id: None, retry_after_ms: None, detail: None, repeats: false }
}

/// One word, for the table.
fn name(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Complete => "complete".into(),
        Verdict::Retry { .. } => "retry".into(),
        Verdict::HoldBack => "hold back".into(),
        Verdict::Unknown { .. } => "unknown".into(),
        Verdict::Fail { reason } => format!("fail {reason}"),
        Verdict::Review { reason } => format!("review {reason}"),
    }
}

const MATRIX: &str = "
    class              | first time         | used up                 | after an unknown | both
    applied            | complete           | complete                | complete         | complete
    held_back          | hold back          | hold back               | hold back        | hold back
    not_sent           | retry              | fail attempts_exhausted | unknown          | review attempts_exhausted
    rate_limited       | retry              | fail attempts_exhausted | unknown          | review attempts_exhausted
    overloaded         | retry              | fail attempts_exhausted | unknown          | review attempts_exhausted
    refused            | fail refused       | fail refused            | fail refused     | fail refused
    unauthorized       | fail unauthorized  | fail unauthorized       | review unauthorized | review unauthorized
    redirect           | fail redirect      | fail redirect           | review redirect  | review redirect
    conflict_in_flight | unknown            | unknown                 | unknown          | unknown
    unknown            | unknown            | unknown                 | unknown          | unknown
";

#[test]
fn every_class_at_both_kinds_of_provider() {
    let mut rows = 0;
    for line in MATRIX.lines().skip(2).filter(|l| l.contains('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let class = Class::parse(cells[0]).expect(line);
        for provider_class in [ENFORCING, ProviderClass::Advisory] {
            for (n, (attempts, unknown)) in [(1, false), (3, false), (1, true), (3, true)].into_iter().enumerate() {
                let mut effect = effect(1, EffectState::Sending);
                effect.attempts = attempts;
                effect.unknown_since = unknown.then(|| at(-1));

                let verdict = retry::verdict(&found(class), &effect, &provider(provider_class), at(0), 0.5);

                assert_eq!(name(&verdict), cells[n + 1], "{line}\nat {}", provider_class.as_str());
            }
        }
        rows += 1;
    }
    assert_eq!(rows, Class::ALL.len(), "every class has a row");
}

#[test]
fn g_9_only_proof_or_a_definite_answer_leaves_sending_otherwise_than_unknown() {
    for class in Class::ALL {
        for unknown in [None, Some(at(-1))] {
            let mut effect = effect(1, EffectState::Sending);
            effect.unknown_since = unknown;
            let verdict = retry::verdict(&found(class), &effect, &provider(ProviderClass::Advisory), at(0), 0.0);

            let says_nothing_happened = matches!(verdict, Verdict::Retry { .. });
            let proof = matches!(class.outcome(), Outcome::NotSent | Outcome::Refused) && unknown.is_none();
            assert!(!says_nothing_happened || proof, "{class:?} {unknown:?}");
            assert_eq!(matches!(verdict, Verdict::Complete), class == Class::Applied, "{class:?}");
        }
    }
}

#[test]
fn the_wait_is_the_longer_of_the_providers_wish_and_our_own_backoff() {
    let table = [
        // wish        attempts  jitter  wait
        (None, 1, 0.0, 500),
        (None, 1, 1.0, 1_000),
        (None, 2, 0.0, 1_000),
        (None, 3, 1.0, 4_000),
        (Some(0), 1, 0.0, 500),
        (Some(120_000), 1, 1.0, 120_000),
        (Some(100), 2, 0.0, 1_000),
    ];
    for (wish, attempts, jitter, wait) in table {
        let mut effect = effect(1, EffectState::Sending);
        effect.attempts = attempts;
        let provider = effectgate_core::provider::Provider { attempts_max: 9, ..provider(ENFORCING) };
        let found = Classified { retry_after_ms: wish, ..found(Class::RateLimited) };

        let verdict = retry::verdict(&found, &effect, &provider, at(0), jitter);

        assert_eq!(verdict, Verdict::Retry { at: at(wait) }, "{wish:?} {attempts} {jitter}");
    }
}

#[test]
fn a_wait_is_never_nothing_never_negative_and_never_beyond_the_limit() {
    let usual = Backoff { base_ms: 1_000, max_ms: 60_000 };
    let odd = [Backoff { base_ms: 0, max_ms: 0 }, Backoff { base_ms: i64::MAX, max_ms: i64::MAX }, usual];
    for backoff in odd {
        for attempts in [i32::MIN, -1, 0, 1, 2, 7, 31, 32, 64, i32::MAX] {
            for jitter in [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0, 0.5, 1.0, 2.0, f64::INFINITY] {
                let wait = backoff.wait_ms(attempts, jitter);
                assert!(wait >= 0 && wait <= backoff.max_ms.max(1), "{backoff:?} {attempts} {jitter}: {wait}");
            }
        }
    }
    assert!((1..100).all(|attempts| usual.wait_ms(attempts, 0.0) >= 500));
}

#[test]
fn when_an_unknown_effect_is_looked_at_first() {
    let table = [
        // provider                                        look after
        (provider(ProviderClass::Advisory), 0),
        (with_lookup(ProviderClass::Advisory, false), 5_000),
        (provider(ENFORCING), 500),
        (with_lookup(ENFORCING, false), 500),
    ];
    for (provider, wait) in table {
        let verdict = retry::verdict(&found(Class::Unknown), &effect(1, EffectState::Sending), &provider, at(0), 0.0);

        assert_eq!(verdict, Verdict::Unknown { look_at: at(wait) }, "{:?} {:?}", provider.class, provider.lookup);
    }
}

#[test]
fn hc_25_the_key_holds_inside_the_window_less_the_margin() {
    let table = [
        // first sent                 holds at enforcing
        (None, true),
        (Some(0), true),
        (Some(-(23 * HOUR_MS - 1)), true),
        (Some(-23 * HOUR_MS), false),
        (Some(-24 * HOUR_MS), false),
        (Some(-48 * HOUR_MS), false),
    ];
    for (first, holds) in table {
        let mut effect = effect(1, EffectState::Unknown { look_at: at(0) });
        effect.first_sent_at = first.map(at);

        assert_eq!(retry::key_holds(&effect, &provider(ENFORCING), at(0)), holds, "{first:?}");
        assert!(!retry::key_holds(&effect, &provider(ProviderClass::Advisory), at(0)), "{first:?}");
    }
}

#[test]
fn an_answer_that_the_provider_keeps_is_not_asked_for_again() {
    let poisoned = "review key_poisoned".to_owned();
    for class in Class::ALL {
        for (attempts, unknown) in [(1, false), (2, true), (3, true)] {
            let mut effect = effect(1, EffectState::Sending);
            effect.attempts = attempts;
            effect.unknown_since = unknown.then(|| at(-1));
            let kept = Classified { repeats: true, ..found(class) };

            let verdict = |found: &Classified| name(&retry::verdict(found, &effect, &provider(ENFORCING), at(0), 0.5));

            let expected = if class == Class::Unknown { poisoned.clone() } else { verdict(&found(class)) };
            assert_eq!(verdict(&kept), expected, "{class:?} {attempts}: only where nothing is known does it matter");
        }
    }
}
