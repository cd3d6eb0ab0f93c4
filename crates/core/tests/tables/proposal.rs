//! Proposals: valid ones through the gate, invalid ones through the repairs (SPEC sections 5 and 6).

use effectgate_core::{
    effect::EffectState,
    ending::EndRefused,
    flow::Flow,
    gate::{self, Finding, Passage},
    ids::{EffectType, Fence},
    notice::Alert,
    proposal::{self, effects_hash},
    run::{Aggregate, RunState},
    transition::LeaseGuard,
};

use crate::{given::*, invariants::applied};

fn accept(passage: Passage, effects: usize, flow: &Flow) -> Aggregate {
    let before = agg(RunState::Processing, vec![]);
    let effects = (1..=effects as i32).map(wanted).collect();
    let t = proposal::accept(&before, flow, &owner(), valid(effects, passage), at(0)).unwrap();
    assert_eq!(t.lease_guard, LeaseGuard::Live { owner: owner(), fence: Fence(1) }, "fenced (G2)");
    applied(&before, &t)
}

#[test]
fn a_valid_proposal_goes_where_the_gate_says() {
    let nobody = Flow { approval: None, ..flow() };
    let none = Passage::Go { rules: vec![] };
    let table = [
        // gate            effects  flow      run                        in the outbox  approvals
        (go(), 1, flow(), "approved", 1, 0),
        (go(), 3, flow(), "approved", 3, 0),
        (none, 0, flow(), "completed", 0, 0),
        (person_decides(), 1, flow(), "awaiting_human approval", 0, 1),
        (person_decides(), 3, flow(), "awaiting_human approval", 0, 1),
        (go(), 1, nobody.clone(), "approved", 1, 0),
        (person_decides(), 1, nobody, "quarantined no_approver", 0, 0),
    ];
    for (passage, effects, flow, expected, outbox, approvals) in table {
        let what = format!("{passage:?} with {effects}");

        let after = accept(passage, effects, &flow);

        assert_eq!(word(&after.run.state), expected, "{what}");
        assert_eq!((after.effects.len(), after.approvals.len()), (outbox, approvals), "{what}");
        assert!(after.effects.iter().all(|e| e.is_decided() && e.state == EffectState::Pending { due_at: at(0) }));
    }
}

#[test]
fn an_automatic_go_names_the_rule_and_its_revision() {
    let before = agg(RunState::Processing, vec![]);

    let t = proposal::accept(&before, &flow(), &owner(), valid(vec![wanted(1)], go()), at(0)).unwrap();

    let entry = t.entries.iter().find(|e| e.kind == "auto_approved").unwrap();
    assert!(entry.text.contains("note: none") && entry.text.contains("sha256:1"), "{}", entry.text);
}

#[test]
fn a_cancel_window_holds_the_effect_back() {
    let before = agg(RunState::Processing, vec![]);
    let mut held = wanted(1);
    held.window_ms = 60_000;

    let t = proposal::accept(&before, &flow(), &owner(), valid(vec![held, wanted(2)], go()), at(0)).unwrap();
    let after = applied(&before, &t);

    assert_eq!(after.effects[0].state, EffectState::Scheduled { not_before: at(60_000) });
    assert_eq!(after.effects[1].state, EffectState::Pending { due_at: at(0) });
}

#[test]
fn open_inline_effects_must_be_settled_before_a_proposal() {
    for state in effect_states() {
        let before = agg(RunState::Processing, vec![inline(9, state)]);

        let done = proposal::accept(&before, &flow(), &owner(), valid(vec![wanted(1)], go()), at(0));

        assert_eq!(done.err(), (!state.is_final()).then_some(EndRefused::EffectsOpen), "{state:?}");
    }
}

#[test]
fn an_invalid_proposal_is_repaired_or_ends_the_run() {
    let table = [
        // reason         repairs max  used  left in the answer  run
        ("invalid_output", 1, 0, 1, "processing"),
        ("invalid_output", 1, 1, 0, "failed_terminal invalid_output"),
        ("invalid_output", 0, 0, 0, "failed_terminal invalid_output"),
        ("invalid_output", 3, 1, 2, "processing"),
        ("invalid_output", 3, 3, 0, "failed_terminal invalid_output"),
        ("agent_limit", 1, 0, 0, "failed_terminal agent_limit"),
        ("agent_limit", 3, 3, 0, "failed_terminal agent_limit"),
    ];
    for (reason, repairs_max, used, left, expected) in table {
        let mut before = agg(RunState::Processing, vec![]);
        before.run.repairs_used = used;
        let flow = Flow { repairs_max, ..flow() };

        let invalid = proposal::reject(&before, &flow, &owner(), reason, &["/label enum".into()], at(0));
        let after = applied(&before, &invalid.transition);

        let what = format!("{reason}, {used} of {repairs_max} used");
        assert_eq!((word(&after.run.state).as_str(), invalid.repairs_left), (expected, left), "{what}");
        assert_eq!(after.run.repairs_used - used, i32::from(left > 0), "{what}");
        let told = if after.run.state.is_final() { vec![Alert::InvalidOutput] } else { vec![] };
        assert_eq!(alerts(&invalid.transition), told, "{what}");
    }
}

#[test]
fn a_last_invalid_proposal_over_an_effect_in_doubt_waits_for_a_person() {
    let mut before = agg(RunState::Processing, vec![inline(1, EffectState::Sending)]);
    before.run.repairs_used = 1;

    let invalid = proposal::reject(&before, &flow(), &owner(), "invalid_output", &[], at(0));

    assert_eq!(word(&applied(&before, &invalid.transition).run.state), "awaiting_human unknown_effect");
    assert_eq!(alerts(&invalid.transition), [Alert::Review]);
}

#[test]
fn the_strictest_finding_wins_wherever_it_stands() {
    let (note, mail) = (EffectType::new("note"), EffectType::new("mail"));
    let go = Finding::Go { rule: "none".into(), window_ms: 0 };
    let held = Finding::Go { rule: "cancel_window".into(), window_ms: 60_000 };
    let ask = Finding::Person { why: "approve".into(), qualification: None };
    let nurse = Finding::Person { why: "regulated".into(), qualification: Some("nurse".into()) };
    let table: [(&[&Finding], bool, &[&str]); 9] = [
        // findings            goes   qualifications
        (&[], true, &[]),
        (&[&go], true, &[]),
        (&[&go, &held], true, &[]),
        (&[&ask], false, &[]),
        (&[&go, &ask], false, &[]),
        (&[&ask, &go], false, &[]),
        (&[&held, &nurse, &go], false, &["nurse"]),
        (&[&ask, &nurse], false, &["nurse"]),
        (&[&nurse, &ask, &go, &held], false, &["nurse"]),
    ];
    for (findings, goes, wanted) in table {
        let named = findings.iter().enumerate().map(|(n, f)| (if n % 2 == 0 { &note } else { &mail }, *f));

        match gate::strictest(named) {
            Passage::Go { rules } => assert!(goes && rules.len() == findings.len(), "{findings:?}"),
            Passage::Person { qualifications, why } => {
                assert!(!goes && qualifications == wanted, "{findings:?}");
                assert_eq!(why.len(), findings.iter().filter(|f| matches!(f, Finding::Person { .. })).count());
            }
        }
    }
}

#[test]
fn the_hash_of_the_effects_covers_type_target_bytes_order_and_number() {
    let base = vec![wanted(1), wanted(2)];
    let change = |f: fn(&mut Vec<proposal::Proposed>)| {
        let mut other = base.clone();
        f(&mut other);
        effects_hash(&other)
    };
    let others = [
        ("type", change(|e| e[0].effect_type = EffectType::new("mail"))),
        ("target", change(|e| e[0].target.push('x'))),
        ("bytes", change(|e| e[0].payload.push(' '))),
        ("order", change(|e| e.swap(0, 1))),
        ("number", change(|e| e.truncate(1))),
        ("nothing", change(Vec::clear)),
    ];
    for (what, other) in others {
        assert_ne!(other, effects_hash(&base), "{what}");
    }
    assert_eq!(effects_hash(&base.clone()), effects_hash(&base));
}
