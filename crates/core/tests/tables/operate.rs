//! What a person does: settle a review, cancel, send a run on (SPEC section 8, review; HC-46).

use effectgate_core::{
    effect::{Effect, EffectState},
    lease::{self, Claim},
    operate::{self, Asker, Refused, Resolution},
    provider::Class as ProviderClass,
    retry::KEY_POISONED,
    run::{Aggregate, AwaitReason, RunState},
    sending::{self, Due},
};

use crate::{given::*, invariants::applied};

const REVIEW: EffectState = EffectState::Review { since: at(0) };
const WAITS: RunState = RunState::AwaitingHuman { reason: AwaitReason::UnknownEffect };

fn resolve(agg: &Aggregate, n: usize, resolution: &Resolution) -> Result<Aggregate, Refused> {
    let t = operate::resolve(agg, &agg.effects[n], &OPERATOR, resolution, "looked", at(1))?;
    Ok(applied(agg, &t))
}

#[test]
fn a_persons_word_settles_the_doubt() {
    let happened = Resolution::Happened { external_id: Some("x1".into()) };
    let table = [
        // word                   effect      run                          id
        (&happened, "completed", "completed", Some("x1")),
        (&Resolution::SendAgain, "pending", "approved", None),
        (&Resolution::Cancel, "cancelled", "failed_terminal cancelled", None),
    ];
    for (resolution, effect, run, id) in table {
        let before = agg(RunState::Approved, vec![self::effect_in_review(3)]);

        let after = resolve(&before, 0, resolution).unwrap();

        assert_eq!(after.effects[0].state.as_str(), effect, "{resolution:?}");
        assert_eq!(word(&after.run.state), run, "{resolution:?}");
        assert_eq!(after.effects[0].external_id.as_deref(), id, "{resolution:?}");
        assert_eq!(after.effects[0].unknown_since, None, "{resolution:?}");
    }
}

fn effect_in_review(attempts: i32) -> Effect {
    Effect { attempts, ..effect(1, REVIEW) }
}

#[test]
fn hc_46_each_decision_to_send_again_is_one_more_attempt_with_the_same_key() {
    let mut run = agg(RunState::Approved, vec![effect_in_review(3)]);
    let key = run.effects[0].provider_key.clone();
    for round in 1..4 {
        run = resolve(&run, 0, &Resolution::SendAgain).unwrap();
        let again = resolve(&run, 0, &Resolution::SendAgain);
        assert_eq!(again.err(), Some(Refused::WrongState("pending")), "a double click is one");
        let Due::Send(t) = sending::claim(&run.run, &run.effects[0], &provider(ProviderClass::Advisory), at(round))
        else {
            panic!("round {round}: not sent")
        };
        run = applied(&run, &t);
        let lost = sending::expire(&run.run, &run.effects[0], at(round)).unwrap();
        run = applied(&run, &lost);

        assert_eq!(run.effects[0].provider_key, key);
        assert_eq!(run.effects[0].fence.0, 1 + round);
    }
}

#[test]
fn hc_25_a_persons_word_moves_no_key_window() {
    let first = effect_in_review(3).first_sent_at;
    for resolution in [Resolution::SendAgain, Resolution::Cancel, Resolution::Happened { external_id: None }] {
        let before = agg(RunState::Approved, vec![effect_in_review(3)]);

        let after = resolve(&before, 0, &resolution).unwrap();

        assert_eq!((first.is_some(), after.effects[0].first_sent_at), (true, first), "{resolution:?}");
    }
}

#[test]
fn a_key_that_only_repeats_an_error_is_not_sent_again() {
    let spent = Effect { reason: Some(KEY_POISONED.into()), ..effect_in_review(2) };
    let before = agg(RunState::Approved, vec![spent.clone()]);

    assert_eq!(resolve(&before, 0, &Resolution::SendAgain).err(), Some(Refused::KeyPoisoned(spent.id)));
    for resolution in [Resolution::Cancel, Resolution::Happened { external_id: None }] {
        assert!(resolve(&before, 0, &resolution).unwrap().effects[0].state.is_final(), "{resolution:?}");
    }
}

#[test]
fn only_a_doubt_is_settled_and_only_with_a_reason() {
    for state in effect_states() {
        let before = agg(RunState::Approved, vec![effect(1, state)]);
        let in_doubt = matches!(state, EffectState::Unknown { .. } | EffectState::Review { .. });

        let done = resolve(&before, 0, &Resolution::SendAgain);
        let mute = operate::resolve(&before, &before.effects[0], &OPERATOR, &Resolution::SendAgain, " ", at(1));

        assert_eq!(done.err(), (!in_doubt).then(|| Refused::WrongState(state.as_str())), "{state:?}");
        assert_eq!(mute.err(), Some(Refused::ReasonRequired), "{state:?}");
    }
}

#[test]
fn a_run_that_waited_goes_on_when_the_last_inline_review_is_settled() {
    let sending = inline(2, EffectState::Sending);
    let unknown = inline(2, EffectState::Unknown { look_at: at(0) });
    let settled = "failed_retryable effect_settled";
    let table = [
        // beside the one that is settled                     run
        ("nothing else", None, settled),
        ("another review", Some(inline(2, REVIEW)), "awaiting_human unknown_effect"),
        // Unsettled at an enforcing provider: the next owner re-issues it.
        ("one still sending", Some(sending), settled),
        ("one still unknown", Some(unknown), settled),
        ("one done", Some(inline(2, EffectState::Completed)), settled),
    ];
    for (name, other, expected) in table {
        for resolution in [Resolution::Happened { external_id: None }, Resolution::SendAgain, Resolution::Cancel] {
            let before = agg(WAITS, std::iter::once(inline(1, REVIEW)).chain(other.clone()).collect());

            let after = resolve(&before, 0, &resolution).unwrap();

            assert_eq!(word(&after.run.state), expected, "{name}, {resolution:?}");
        }
    }
}

#[test]
fn a_run_that_a_person_sent_on_is_claimed_even_where_its_attempts_were_used_up() {
    let mut waits = agg(WAITS, vec![inline(1, REVIEW)]);
    let mut quarantined = agg(RunState::Quarantined { reason: "semantic".into() }, vec![]);
    (waits.run.attempts, quarantined.run.attempts) = (5, 5);
    let settled = resolve(&waits, 0, &Resolution::Happened { external_id: None }).unwrap();
    let released = applied(&quarantined, &operate::release(&quarantined, &OPERATOR, "mended", at(1)).unwrap());

    for (name, mut run) in [("settled", settled), ("released", released)] {
        let Claim::Granted(t) = lease::claim(&run, &owner(), 1_000, at(2), &ADVISORY_ALL) else {
            panic!("{name}: not granted")
        };
        run = applied(&run, &t);
        run.lease = Some(lease(-1));
        let next = lease::claim(&run, &owner(), 1_000, at(3), &ADVISORY_ALL);
        assert!(matches!(next, Claim::Ended(_)), "{name}: one more, not for ever");
    }
}

#[test]
fn a_cancelled_effect_wants_a_reason_and_is_on_record() {
    let before = agg(RunState::Approved, vec![effect(1, EffectState::Scheduled { not_before: at(9) })]);

    let mute = operate::cancel(&before, &before.effects[0], &Asker::operator(OPERATOR), &[], "\t", at(1));
    let t = operate::cancel(&before, &before.effects[0], &Asker::operator(OPERATOR), &[], "second thoughts", at(1))
        .unwrap();

    assert_eq!(mute.err(), Some(Refused::ReasonRequired));
    assert_eq!(kinds(&t), ["effect_cancelled", "failed"]);
    assert!(t.entries[0].text.contains("second thoughts"));
}
