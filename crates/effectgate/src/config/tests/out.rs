//! The outbound door's section: what it comes to, and every section that opens a door nobody decided about.

use effectgate_engine::outbound::NotAllowed;
use http::Method;

use super::{
    refusals::{Change, changed, refusals},
    *,
};

const GATE: &str = "gate = \"approve\"                          # who decides";
const AUDIENCE: &str = "audience = [\"role:refunds\"] ";
const PATHS: &str = "paths = [\"/v1/refunds\"] ";
/// A flow that says the gate itself, in place of the section's own words.
const BY_FLOW: [Change; 2] = [(GATE, "flow = \"ticket-reply\" #"), (AUDIENCE, "#")];
const HTTP_EFFECT: Change = (
    "[flows.ticket-reply.approval]",
    "[flows.ticket-reply.effects.http]\nprovider = \"pay\"\n[flows.ticket-reply.approval]",
);

#[test]
fn a_section_without_a_flow_makes_one_with_its_own_gate() {
    let policy = load_example(&[]).resolve().unwrap().policy;

    let out = policy.providers[&ProviderName::new("pay")].out.as_ref().unwrap();
    let flow = &policy.flows[&out.flow].flow;
    assert_eq!((out.flow.as_str(), out.wait_ms, out.external_id.as_deref()), ("out.pay", 15_000, Some("/id")));
    assert_eq!(flow.effects[&EffectType::new("http")].gate, Gate::Approve);
    assert_eq!(flow.approval.as_ref().unwrap().audience, ["role:refunds"]);
    assert_eq!((flow.repairs_max, flow.retention.key_days), (0, 90));
    assert_eq!(out.rules.judge(&Method::POST, "/v1/refunds/re_1"), Ok(()));
    assert!(matches!(out.rules.judge(&Method::POST, "/v1/charges"), Err(NotAllowed::Path(_))));
    assert!(matches!(out.rules.judge(&Method::GET, "/v1/refunds"), Err(NotAllowed::Method(_))));
    assert!(policy.providers[&ProviderName::new("crm")].out.is_none(), "a door that nobody opened is closed");
}

#[test]
fn a_section_that_names_a_flow_goes_by_it() {
    let changes: Vec<Change> =
        BY_FLOW.into_iter().chain([HTTP_EFFECT, ("output_schema = \"schemas/ticket-reply.json\"", "")]).collect();

    let policy = changed(&changes).unwrap().policy;

    let out = policy.providers[&ProviderName::new("pay")].out.as_ref().unwrap();
    assert_eq!((out.flow.as_str(), policy.flows.len()), ("ticket-reply", 1));
}

#[test]
fn a_door_that_nobody_decided_about_does_not_open() {
    let by_flow = |more: &[Change]| -> Vec<Change> { BY_FLOW.iter().chain(more).copied().collect() };
    #[rustfmt::skip] // a line each
    let table: Vec<(Vec<Change>, &str, &str)> = vec![
        (vec![(GATE, "#"), (AUDIENCE, "#")], "gate", "who decides"),
        (vec![(AUDIENCE, "#")], "audience", "who is asked"),
        (vec![(GATE, "gate = \"none\" #"), (AUDIENCE, "#")], "gate", "must be reversible"),
        (vec![(GATE, "gate = \"none\"\nreversible = true\nimpact = \"low\" #")], "audience", "nobody is asked"),
        (vec![(GATE, "gate = \"cancel_window\"\nreversible = true #"), (AUDIENCE, "#")], "window_ms", "no length"),
        (vec![(GATE, "gate = \"exceptions\" #")], "gate", "a flow's"),
        (vec![(PATHS, "#")], "paths", "which paths"),
        (vec![(PATHS, "paths = [\"v1\"] #")], "paths", "no beginning of a path"),
        (vec![(PATHS, "paths = [\"/v1?x=1\"] #")], "paths", "no beginning of a path"),
        (vec![(PATHS, "headers = [\"Authorization\"]\npaths = [\"/\"] #")], "headers", "cannot be the caller's"),
        (vec![(PATHS, "headers = [\"a b\"]\npaths = [\"/\"] #")], "headers", "not a header name"),
        (vec![(PATHS, "methods = []\npaths = [\"/\"] #")], "methods", "no method"),
        (vec![(PATHS, "wait_ms = 60_001\npaths = [\"/\"] #")], "wait_ms", "outside"),
        (vec![(PATHS, "answer_bytes_max = 1\npaths = [\"/\"] #")], "answer_bytes_max", "outside"),
        (vec![("external_id = \"/id\"                       # where the answer says", "external_id = \"id\" #")], "external_id", "no JSON Pointer"),
        (vec![(GATE, "flow = \"ticket-reply\"\ngate = \"approve\" #"), HTTP_EFFECT], "gate", "says this"),
        (by_flow(&[]), "flow", "no effect http"),
        (by_flow(&[HTTP_EFFECT]), "flow", "no model output"),
        (vec![(GATE, "flow = \"absent\" #"), (AUDIENCE, "#")], "flow", "no flow"),
    ];
    for (changes, member, words) in table {
        let found = refusals(&changes);

        let at = format!("providers.pay.out.{member}");
        let hit = found.iter().any(|fault| fault.path == at && fault.what.contains(words));
        assert!(hit, "{changes:?} wants {at}: {words}; found {found:?}");
    }
}

#[test]
fn a_mail_server_has_no_door_and_a_door_has_its_flows_name_for_itself() {
    let door = "[providers.mail.out]\ngate = \"approve\"\naudience = [\"role:a\"]\npaths = [\"/\"]\n[providers.mail.effects.customer_mail] ";
    let found = refusals(&[("[providers.mail.effects.customer_mail] ", door)]);
    assert!(found.iter().any(|fault| fault.what.contains("http provider")), "{found:?}");

    let named = "[flows.\"out.pay\"]\n[flows.ticket-reply.approval]";
    let found = refusals(&[("[flows.ticket-reply.approval]", named)]);
    assert!(found.iter().any(|fault| fault.what.contains("the door's")), "{found:?}");
}
