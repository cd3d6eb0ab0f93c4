//! What an answer of a provider means: every answer x what is on record x before and after the settle delay x whether
//! the lookup is proof (SPEC section 8; G12; HC-26, HC-27).

use effectgate_core::{
    effect::{Effect, EffectState},
    look::{self, Meaning},
    notice::Alert,
    provider::Class,
    retry::Look,
    run::RunState,
};

use crate::{given::*, invariants::applied};

const DELAY_MS: i64 = 120_000;

fn found(id: &str) -> Look {
    Look::Found { external_id: Some(id.into()) }
}

fn completed(id: Option<&str>) -> Effect {
    Effect { external_id: id.map(str::to_owned), ..effect(1, EffectState::Completed) }
}

/// Sent once, settled as not happened on a person's word, and let go again.
fn sent_again() -> Effect {
    Effect { attempts: 1, ..effect(1, EffectState::Pending { due_at: at(0) }) }
}

#[test]
fn every_answer_against_everything_that_is_on_record() {
    use Meaning::*;
    let (unknown, review) = (EffectState::Unknown { look_at: at(0) }, EffectState::Review { since: at(0) });
    let reissued = Effect { unknown_since: Some(at(0)), ..sent_again() };
    let (many, nothing) = (Look::FoundMany { count: 2 }, Look::Nothing { detail: "503".into() });
    let table = [
        // effect                                 answer               age        proof  meaning
        (effect(1, unknown), found("x"), 0, false, Happened),
        (effect(1, review), found("x"), DELAY_MS, true, Happened),
        (effect(1, review), many.clone(), 0, false, HappenedTwice),
        (effect(1, unknown), Look::Absent, DELAY_MS - 1, true, TooEarly),
        (effect(1, review), Look::Absent, DELAY_MS, false, NotThere),
        (effect(1, review), Look::Absent, DELAY_MS, true, ProvedAbsent),
        (reissued.clone(), found("x"), 0, false, Happened),
        (reissued, Look::Absent, DELAY_MS, false, NotThere),
        (effect(1, unknown), Look::InProgress, DELAY_MS, true, UnderWay),
        (effect(1, unknown), nothing.clone(), DELAY_MS, true, NoInformation),
        (completed(Some("x")), found("x"), 0, false, Agrees),
        (completed(None), found("x"), 0, false, Agrees),
        (completed(Some("x")), Look::Found { external_id: None }, 0, false, Agrees),
        (completed(Some("x")), found("other"), 0, false, Contradicts),
        (completed(Some("x")), many.clone(), 0, false, Contradicts),
        (completed(Some("x")), Look::Absent, DELAY_MS - 1, true, TooEarly),
        (completed(Some("x")), Look::Absent, DELAY_MS, true, Contradicts),
        (completed(Some("x")), Look::Absent, DELAY_MS, false, NotThere),
        (completed(Some("x")), nothing, DELAY_MS, true, NoInformation),
        (effect(1, EffectState::Cancelled), found("x"), 0, false, Contradicts),
        (effect(1, EffectState::Cancelled), many.clone(), 0, false, Contradicts),
        (effect(1, EffectState::Cancelled), Look::Absent, 0, false, Agrees),
        (effect(1, EffectState::Failed), found("x"), 0, false, Contradicts),
        (effect(1, EffectState::Failed), Look::InProgress, 0, false, UnderWay),
        (sent_again(), found("x"), 0, false, Contradicts),
        (sent_again(), Look::Absent, 0, false, Agrees),
    ];
    for (effect, answer, age_ms, proof, expected) in table {
        let provider = with_lookup(Class::Advisory, proof);

        let meaning = look::meaning(&effect, &provider, &answer, at(age_ms));

        assert_eq!(meaning, expected, "{} {answer:?} after {age_ms}, proof: {proof}", effect.state.as_str());
    }
}

#[test]
fn a_look_that_was_asked_for_is_recorded_and_only_a_contradiction_is_told() {
    for (meaning, told) in [(Meaning::Happened, vec![]), (Meaning::Contradicts, vec![Alert::ContraryReport])] {
        let agg = agg(RunState::FailedTerminal { reason: "cancelled".into() }, vec![effect(1, EffectState::Cancelled)]);

        let noted = look::asked(&agg.run, &agg.effects[0], &OPERATOR, &found("x"), meaning, at(1));

        assert_eq!(alerts(&noted), told, "{meaning:?}");
        let after = applied(&agg, &noted);
        assert_eq!((&after.effects, &after.run.state), (&agg.effects, &agg.run.state));
        let text = &noted.entries[0].text;
        assert!(text.contains("\"external_id\":\"x\"") && text.contains(meaning.as_str()), "{text}");
    }
}

#[test]
fn a_finding_that_comes_too_late_is_on_record_if_it_says_otherwise_and_only_so_often() {
    let mut agg = agg(RunState::Completed, vec![completed(Some("x"))]);
    let late = |agg: &effectgate_core::run::Aggregate, meaning| {
        look::too_late(&agg.run, &agg.effects[0], &Look::FoundMany { count: 2 }, meaning, at(1))
    };

    assert!(late(&agg, Meaning::Agrees).is_none());
    assert_eq!(alerts(&late(&agg, Meaning::Contradicts).unwrap()), [Alert::ContraryReport]);
    agg.run.refusals = i32::MAX;
    assert!(late(&agg, Meaning::Contradicts).is_none());
}
