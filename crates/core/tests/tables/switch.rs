//! The kill switch by scope (SPEC section 11; G11).

use effectgate_core::{
    effect::EffectState,
    run::RunState,
    sending,
    switch::{Ceiling, Scope, Switch},
};

use crate::given::*;

fn turned(scope: Scope, name: &str, enabled: bool) -> Switch {
    Switch { scope, name: name.into(), enabled, reason: "drill".into(), by: "user:anna".into(), at: at(0) }
}

#[test]
fn off_if_any_scope_that_applies_is_off() {
    use Scope::*;
    type Turned = (Scope, &'static str, bool);
    let table: [(&[Turned], bool); 18] = [
        // switches                                          stops the note of flow f at crm for tenant t
        (&[], false),
        (&[(All, "", true)], false),
        (&[(All, "", false)], true),
        (&[(Tenant, "t", false)], true),
        (&[(Tenant, "other", false)], false),
        (&[(Flow, "f", false)], true),
        (&[(Flow, "g", false)], false),
        (&[(Provider, "crm", false)], true),
        (&[(Provider, "pay", false)], false),
        (&[(EffectType, "note", false)], true),
        (&[(EffectType, "mail", false)], false),
        // A name counts in its own scope only, in its own spelling only.
        (&[(Flow, "crm", false), (Provider, "f", false), (EffectType, "t", false)], false),
        (&[(Provider, "CRM", false)], false),
        // One yes does not lift another's no.
        (&[(All, "", true), (Provider, "crm", false)], true),
        (&[(Provider, "crm", true), (All, "", false)], true),
        (&[(Tenant, "t", true), (Flow, "f", true), (Provider, "crm", true), (EffectType, "note", true)], false),
        (&[(Tenant, "t", true), (Flow, "f", true), (Provider, "crm", true), (EffectType, "note", false)], true),
        (&[(EffectType, "note", false), (All, "", true)], true),
    ];
    let run = agg(RunState::Approved, vec![effect(1, EffectState::Pending { due_at: at(0) })]);
    let applies = sending::applies(&run.run, &run.effects[0]);
    for (switches, stops) in table {
        let switches: Vec<Switch> = switches.iter().map(|(s, n, on)| turned(*s, n, *on)).collect();

        assert_eq!(applies.stopped_by(&switches).is_some(), stops, "{switches:?}");
    }
}

#[test]
fn nothing_lifts_the_environments_no() {
    for no in ["false", "FALSE", "0", "off", "no", "", " ", "ture", "enabled", "null", "true false"] {
        for config in [None, Some(true), Some(false)] {
            assert_eq!(Ceiling::from(Some(no), config), Ceiling::Off, "{no:?} {config:?}");
        }
    }
    for yes in ["true", "TRUE", " true ", "1", "on", "yes"] {
        assert_eq!(Ceiling::from(Some(yes), Some(true)), Ceiling::On, "{yes:?}");
    }
}
