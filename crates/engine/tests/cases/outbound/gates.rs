//! The switch and the gate before a request of the door, and what people read of it.

use effectgate_core::{approval::Verdict, gate::Gate, ids::ProviderName, provider::Class, switch::Scope};
use effectgate_engine::outbound::OutAnswer;

use super::{
    ask,
    budgets::{refund_of, with_budget},
    kept, refund, send, world,
};
use crate::common::{HOUR, lead};

#[tokio::test]
async fn with_the_switch_off_nothing_is_sent_and_it_goes_when_the_switch_is_on() {
    let (provider, world) = world([], Class::Advisory, Gate::None).await;
    world.turn(Scope::Provider, "crm", false).await;

    for _ in 0..2 {
        let answer = send(&world, &refund("k")).await;
        assert!(matches!(answer, OutAnswer::SwitchOff { .. }), "{answer:?}");
    }
    assert_eq!(provider.ledger().connections, 0);
    world.turn(Scope::Provider, "crm", true).await;
    world.round().await;

    assert_eq!(kept(ask(&world, &refund("k")).await).0.status, 201);
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn where_the_gate_wants_a_person_nothing_is_sent_before_one_agrees() {
    let (provider, world) = world([], Class::Advisory, Gate::Approve).await;
    let (yes, no) = (world.id_of("yes"), world.id_of("no"));
    for key in ["yes", "no"] {
        let OutAnswer::AwaitingApproval { run } = send(&world, &refund(key)).await else { panic!("{key}") };
        assert!(run.approval.is_some_and(|approval| approval.state == "open"));
    }
    assert_eq!(provider.ledger().connections, 0);

    world.decide(yes, &lead("anna"), Verdict::Approve).await.unwrap();
    world.decide(no, &lead("anna"), Verdict::Reject).await.unwrap();
    world.round().await;

    assert_eq!(kept(ask(&world, &refund("yes")).await).0.status, 201);
    let answer = ask(&world, &refund("no")).await;
    assert!(matches!(&answer, OutAnswer::NotSent { why, .. } if why.contains("rejected")), "{answer:?}");
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn a_cancel_window_holds_it_back_and_says_until_when() {
    let (provider, world) = world([], Class::Advisory, Gate::CancelWindow { window_ms: 2 * HOUR }).await;

    let OutAnswer::Scheduled { wait_ms, .. } = send(&world, &refund("k")).await else { panic!("not scheduled") };
    assert_eq!((wait_ms, provider.ledger().connections), (2 * HOUR, 0));
    world.pass(2, HOUR).await;

    assert_eq!(kept(ask(&world, &refund("k")).await).0.status, 201);
}

#[tokio::test]
async fn an_edit_cannot_lead_out_of_the_door() {
    let (_provider, world) = world([], Class::Advisory, Gate::Approve).await;
    send(&world, &refund("k")).await;
    let agg = world.agg(world.id_of("k")).await;
    let shown = &agg.approval().unwrap().proposed[0];
    let connector = &world.engine.policy().provider(&ProviderName::new("crm")).unwrap().connector;
    let check = |payload: &str| {
        let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
        connector.check(&shown.effect_type, &shown.target, &payload)
    };

    assert_eq!(check(&shown.payload), []);
    assert_eq!(check(&shown.payload.replace("1.10", "1.20")), []);
    assert_eq!(check(&shown.payload.replace("/v1/refunds", "/v1/charges"))[0].pointer, "/path");
    assert_eq!(check(&shown.payload.replace("/v1/refunds", "/v1/refunds/re_1"))[0].pointer, "/path");
    assert!(!check(&shown.payload.replace("\"method\"", "\"host\":\"x\",\"method\"")).is_empty());
}

#[tokio::test]
async fn people_read_method_and_path_and_not_the_type_of_every_request() {
    let (_provider, world) = with_budget(1_000, Some("/amount")).await;
    let _ = send(&world, &refund_of("k", 2_000)).await;

    let told = world.engine.explain(&world.caller.tenant, world.id_of("k")).await.unwrap();

    let queued = told.timeline.iter().find(|moment| moment.kind == "effect_queued").unwrap();
    assert_eq!(queued.text, "put POST /v1/refunds into the outbox for crm");
    assert!(told.reason.text.starts_with("POST /v1/refunds asks for more"), "{}", told.reason.text);
}

#[test]
fn an_effect_is_named_by_its_type_and_one_of_the_door_by_its_target() {
    for (effect_type, target, name) in [
        ("http", "POST /v1/refunds", "POST /v1/refunds"),
        ("http", "", "a request"),
        ("http", "anna@example.test", "http"),
        ("refund", "POST /v1/refunds", "refund"),
    ] {
        assert_eq!(effectgate_engine::outbound::named(effect_type, target), name);
    }
}
