//! Reconcile: with and without a lookup x every answer x before and after the settle delay x class x authoritative
//! (SPEC section 8; G10; HC-25, HC-26).

use effectgate_core::{
    effect::{Effect, EffectState},
    notice::Alert,
    provider::{Class as ProviderClass, Provider},
    retry::{self, LOOK_MS_MAX, Look, Settlement},
    run::RunState,
    sending,
};

use crate::{given::*, invariants::applied};

const UNKNOWN: EffectState = EffectState::Unknown { look_at: at(0) };

/// Unknown since, and first sent, so long ago.
fn unknown(age_ms: i64, attempts: i32) -> Effect {
    let since = Some(at(-age_ms));
    Effect { unknown_since: since, first_sent_at: since, attempts, ..effect(1, UNKNOWN) }
}

fn name(settlement: &Settlement) -> String {
    match settlement {
        Settlement::AskFirst => "ask".into(),
        Settlement::Complete { .. } => "complete".into(),
        Settlement::LookAgain { .. } => "look again".into(),
        Settlement::Reissue => "re-issue".into(),
        Settlement::SendAfterProof => "send after proof".into(),
        Settlement::Review { reason } => format!("review {reason}"),
    }
}

#[test]
fn before_a_look_the_class_the_window_and_the_attempts_decide() {
    let (enforcing, advisory) = (ENFORCING, ProviderClass::Advisory);
    let table = [
        // provider                     age             attempts  what to do
        (provider(enforcing), 0, 1, "re-issue"),
        (provider(enforcing), 23 * HOUR_MS - 1, 2, "re-issue"),
        (provider(enforcing), 23 * HOUR_MS, 1, "review key_window_over"),
        (provider(enforcing), 0, 3, "review attempts_exhausted"),
        (provider(advisory), 0, 1, "review outcome_unknown"),
        (provider(advisory), 0, 3, "review outcome_unknown"),
        (with_lookup(enforcing, false), 0, 1, "re-issue"),
        (with_lookup(enforcing, false), 23 * HOUR_MS, 1, "ask"),
        (with_lookup(enforcing, false), 0, 3, "ask"),
        (with_lookup(advisory, false), 0, 1, "ask"),
        (with_lookup(advisory, true), 0, 3, "ask"),
    ];
    for (provider, age, attempts, expected) in table {
        let settlement = retry::reconcile(&unknown(age, attempts), &provider, None, at(0));

        let what =
            format!("{} lookup {} age {age} attempts {attempts}", provider.class.as_str(), provider.lookup.is_some());
        assert_eq!(name(&settlement), expected, "{what}");
    }
}

#[test]
fn every_answer_of_a_lookup() {
    let (enforcing, advisory) = (ENFORCING, ProviderClass::Advisory);
    let (delay, over) = (120_000, 23 * HOUR_MS);
    let found = Look::Found { external_id: Some("x1".into()) };
    let (many, nothing) = (Look::FoundMany { count: 2 }, Look::Nothing { detail: "timeout".into() });
    let (absent, progress) = (Look::Absent, Look::InProgress);
    let table = [
        // look      class      authoritative  age            attempts  what to do
        (&found, advisory, false, 0, 1, "complete"),
        (&found, enforcing, false, over, 3, "complete"),
        (&many, advisory, false, 0, 1, "review found_many"),
        (&many, enforcing, true, delay, 1, "review found_many"),
        (&absent, advisory, false, 0, 1, "look again"),
        (&absent, advisory, true, 0, 1, "look again"),
        (&absent, advisory, true, delay - 1, 1, "look again"),
        (&absent, advisory, false, delay, 1, "review not_found"),
        (&absent, advisory, true, delay, 1, "send after proof"),
        (&absent, advisory, true, delay, 3, "review not_found"),
        (&absent, enforcing, false, delay - 1, 1, "look again"),
        (&absent, enforcing, false, delay, 1, "re-issue"),
        (&absent, enforcing, false, over, 1, "review not_found"),
        (&absent, enforcing, true, over, 1, "send after proof"),
        (&absent, enforcing, true, over, 3, "review not_found"),
        (&absent, enforcing, false, delay, 3, "review not_found"),
        (&nothing, advisory, true, delay, 1, "look again"),
        (&nothing, enforcing, false, delay, 1, "look again"),
        (&progress, advisory, true, delay, 1, "look again"),
        (&nothing, advisory, true, LOOK_MS_MAX, 1, "look again"),
        (&nothing, advisory, true, LOOK_MS_MAX + 1, 1, "review lookup_silent"),
        (&progress, advisory, false, LOOK_MS_MAX + 1, 1, "review lookup_silent"),
    ];
    for (look, class, authoritative, age, attempts, expected) in table {
        let provider = with_lookup(class, authoritative);

        let settlement = retry::reconcile(&unknown(age, attempts), &provider, Some(look), at(0));

        let what = format!("{} {} {authoritative} age {age} attempts {attempts}", look.as_str(), class.as_str());
        assert_eq!(name(&settlement), expected, "{what}");
    }
}

#[test]
fn g_10_no_answer_at_all_lets_an_advisory_provider_see_a_blind_resend() {
    let looks = [
        None,
        Some(Look::Absent),
        Some(Look::InProgress),
        Some(Look::FoundMany { count: 2 }),
        Some(Look::Nothing { detail: String::new() }),
    ];
    for provider in [provider(ProviderClass::Advisory), with_lookup(ProviderClass::Advisory, false)] {
        for look in &looks {
            for age in [0, 1, 119_999, 120_000, HOUR_MS, 1_000 * HOUR_MS] {
                let settlement = retry::reconcile(&unknown(age, 1), &provider, look.as_ref(), at(0));
                assert!(
                    !matches!(settlement, Settlement::Reissue | Settlement::SendAfterProof),
                    "{look:?} {age}: {settlement:?}"
                );
            }
        }
    }
}

/// Sweeps every five seconds at an advisory provider whose index lags; says when and how the effect was settled.
fn sweeps(provider: &Provider, visible_after_ms: i64) -> (i64, String) {
    let start = Effect { unknown_since: Some(at(0)), first_sent_at: Some(at(0)), ..effect(1, UNKNOWN) };
    let mut run = agg(RunState::Approved, vec![start]);
    for now in (0..300_000).step_by(5_000) {
        let effect = run.effects[0].clone();
        if effect.state.due_at().is_none_or(|due| due > at(now)) {
            continue;
        }
        let look = if now >= visible_after_ms { Look::Found { external_id: Some("x1".into()) } } else { Look::Absent };
        assert_eq!(retry::reconcile(&effect, provider, None, at(now)), Settlement::AskFirst);
        let settlement = retry::reconcile(&effect, provider, Some(&look), at(now));
        let t = sending::reconciled(&run.run, &effect, &settlement, Some(&look), at(now)).unwrap();
        run = applied(&run, &t);
        if !matches!(run.effects[0].state, EffectState::Unknown { .. }) {
            return (now, run.effects[0].state.as_str().to_owned());
        }
    }
    panic!("never settled: {:?}", run.effects[0])
}

#[test]
fn hc_26_not_found_early_is_not_not_sent() {
    let advisory = with_lookup(ProviderClass::Advisory, false);
    let authoritative = with_lookup(ProviderClass::Advisory, true);
    let table = [
        // provider         visible after  settled at  as
        (&advisory, 95_000, 95_000, "completed"),
        (&authoritative, 95_000, 95_000, "completed"),
        (&advisory, i64::MAX, 120_000, "review"),
        (&authoritative, i64::MAX, 120_000, "pending"),
    ];
    for (provider, visible, settled_at, state) in table {
        assert_eq!(sweeps(provider, visible), (settled_at, state.to_owned()), "visible after {visible}");
    }
}

#[test]
fn every_settlement_is_written_with_its_reason() {
    let table = [
        // settlement                                      state        reason               doubt  alerts
        (Settlement::Complete { external_id: Some("x1".into()) }, "completed", None, false, vec![]),
        (Settlement::LookAgain { at: at(5) }, "unknown", Some("look_again"), true, vec![]),
        (Settlement::Reissue, "pending", Some("reissue"), true, vec![]),
        (Settlement::SendAfterProof, "pending", Some("absent"), false, vec![]),
        (Settlement::Review { reason: "found_many" }, "review", Some("found_many"), true, vec![Alert::Review]),
    ];
    for (settlement, state, reason, doubt, told) in table {
        let before = agg(RunState::Approved, vec![unknown(0, 1)]);

        let t = sending::reconciled(&before.run, &before.effects[0], &settlement, None, at(1)).unwrap();
        let after = applied(&before, &t);

        let effect = &after.effects[0];
        assert_eq!((effect.state.as_str(), effect.reason.as_deref()), (state, reason), "{settlement:?}");
        assert_eq!((effect.unknown_since.is_some(), alerts(&t)), (doubt, told), "{settlement:?}");
        assert_eq!(word(&after.run.state), if state == "completed" { "completed" } else { "approved" });
    }
    let before = agg(RunState::Approved, vec![unknown(0, 1)]);
    assert!(sending::reconciled(&before.run, &before.effects[0], &Settlement::AskFirst, None, at(1)).is_none());
}

#[test]
fn after_proof_of_absence_the_key_window_begins_anew() {
    let before = agg(RunState::Approved, vec![unknown(30 * HOUR_MS, 1)]);

    let t = sending::reconciled(&before.run, &before.effects[0], &Settlement::SendAfterProof, None, at(1)).unwrap();

    assert_eq!(applied(&before, &t).effects[0].first_sent_at, None);
}
