//! Corrections: the key must be upstream's own, the original must have ended (SPEC section 12; HC-46).

use effectgate_core::{
    correct::{self, is_made_from},
    effect::{Effect, EffectState},
    ids::{FlowName, RunId, Tenant},
    operate::Refused,
    run::RunState,
};

use crate::{given::*, invariants::applied};

#[test]
fn a_key_made_from_the_old_one_is_recognised() {
    let table = [
        // old                              new                                    made from it
        ("order-17", "order-17", true),
        ("order-17", "ORDER-17", true),
        ("order-17", " order - 17 ", true),
        ("order-17", "order_17", true),
        ("order-17", "order:17", true),
        ("order-17", "ｏｒｄｅｒ-17", true),
        ("order-17", "or\u{200b}der-17", true),
        ("order-17", "order-17-2", true),
        ("order-17", "order-17:retry", true),
        ("order-17", "order-17 (1)", true),
        ("order-17", "order-17b", true),
        ("order-17", "re:order-17", true),
        ("order-17", "reorder-17", true),
        ("order-17", "x/order-17/2", true),
        ("order-17", "order-172", false),
        ("order-17", "order-18", false),
        ("order-17", "order-1", false),
        ("order-17", "refund-17", false),
        ("zendesk:comment:987:1", "zendesk:comment:987:2", false),
        ("zendesk:comment:987:1", "zendesk:comment:987:12", false),
        ("zendesk:comment:987:1", "zendesk:comment:987:1:2", true),
        ("zendesk:comment:987:1", "zendesk:comment:1024:1", false),
        ("17", "117", false),
        ("17", "17-again", true),
        ("билет-5", "БИЛЕТ-5-повтор", true),
        ("билет-5", "билет-6", false),
        ("::", "::2", true),
        ("::", "order", false),
    ];
    for (old, new, made) in table {
        assert_eq!(is_made_from(new, old), made, "{old:?} -> {new:?}");
    }
}

#[test]
fn only_a_run_that_has_ended_is_corrected_and_its_results_go_along() {
    for state in run_states() {
        let is_final = state.is_final();
        let made = correct::correction(&agg(state.clone(), vec![]), &OPERATOR, "wrong order");
        assert_eq!(made.is_ok(), is_final, "{state:?}");
        if !is_final {
            assert_eq!(made, Err(Refused::WrongState(state.as_str())));
        }
    }
    let sent = Effect { external_id: Some("x-1".into()), ..effect(1, EffectState::Completed) };
    let original = agg(RunState::Completed, vec![sent, effect(2, EffectState::Failed)]);

    let known = correct::correction(&original, &OPERATOR, " wrong order ").unwrap();

    assert_eq!((known.reason.as_str(), known.original_key.as_str()), ("wrong order", "k"));
    assert_eq!(known.results.len(), 1, "only what happened");
    assert_eq!(known.results[0].external_id.as_deref(), Some("x-1"));
    assert_eq!(correct::correction(&original, &OPERATOR, "  "), Err(Refused::ReasonRequired));
}

#[test]
fn the_originals_record_names_the_correction_and_nothing_else_of_it_changes() {
    let original = agg(RunState::Completed, vec![]);
    let by = RunId::derive(&Tenant::new("t"), &FlowName::new("f"), "other");

    let t = correct::corrected(&original, by, "other", &OPERATOR, "wrong order", at(9));
    let after = applied(&original, &t);

    assert_eq!(kinds(&t), ["corrected"]);
    assert!(t.entries[0].text.contains(&by.to_string()));
    assert_eq!((after.run.version, after.run.updated_at), (original.run.version, original.run.updated_at));
}
