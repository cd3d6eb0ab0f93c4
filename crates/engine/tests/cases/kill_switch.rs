//! The switch: what is off does not go, what was on the wire is recorded, and nothing is lost.

use std::collections::BTreeMap;

use effectgate_core::{approval::Verdict, gate::Gate, switch::Scope};

use crate::common::{Answer, Options, PAYLOAD, World, lead};

#[tokio::test(flavor = "multi_thread")]
async fn hc_38_after_the_turn_has_answered_nothing_leaves_and_afterwards_each_goes_once() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), batch: 10, ..Options::default() });
    for _ in 0..5 {
        world.provider.push(Answer::HoldBeforeWrite);
    }
    for _ in 0..5 {
        world.provider.push(Answer::Hang);
    }
    let mut runs = Vec::new();
    for n in 0..110 {
        runs.push(world.queued(&format!("k{n}"), &format!("c-{n}")).await.run.id);
        world.clock.advance_ms(1);
    }
    let asking = world.grant("asks", "w").await;
    world.propose(&asking, &[("mail", "a@example.test", "{}")]).await;
    let resting = world.grant("rests", "w").await;
    world.engine.fail(&world.call(&resting, "fail", "f"), "worker_error", None).await.unwrap();
    assert_eq!(world.engine.dispatch_tick().await.unwrap().started, 10);
    world.provider.until_hanging(10).await;
    let on_the_wire = world.provider.seen().len();
    assert_eq!(on_the_wire, 5);

    let receipt = world.turn(Scope::All, "", false).await;

    assert_eq!((receipt.queued, receipt.in_flight, receipt.awaiting, receipt.scheduled), (100, 10, 1, 0));
    world.provider.release(10);
    world.engine.dispatch_idle().await;
    world.decide(asking.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    let resumed = world.reserve("rests", PAYLOAD, "w2").await;
    assert!(matches!(resumed, effectgate_engine::reserve::Reserved::Granted { .. }), "working goes on while off");
    world.pass(6, 10_000).await;
    assert_eq!(world.provider.seen().len(), on_the_wire, "no request left after the turn had answered");
    let mut states = BTreeMap::new();
    for id in &runs {
        *states.entry(world.effect_state(*id).await).or_insert(0) += 1;
    }
    assert_eq!(states, BTreeMap::from([("completed", 5), ("pending", 105)]), "what was on the wire is on record");
    let view = world.engine.run(&world.caller.tenant, asking.run.id).await.unwrap();
    assert_eq!((view.effects[0].state.as_str(), view.effects[0].reason.as_deref()), ("pending", Some("switch_off")));

    world.turn(Scope::All, "", true).await;
    while world.round().await > 0 {}

    assert_eq!((world.provider.seen().len(), world.provider.executed()), (111, 111));
    for id in runs.into_iter().chain([asking.run.id]) {
        let effect = world.agg(id).await.effects.remove(0);
        assert_eq!((effect.state.as_str(), effect.attempts), ("completed", 1), "no attempt was burnt");
    }
    world.verify_all().await;
}

#[tokio::test]
async fn hc_38_every_turn_says_who_when_and_why_and_wants_a_reason() {
    let world = World::new();
    world.turn(Scope::Flow, "ticket", false).await;
    world.turn(Scope::Flow, "ticket", true).await;
    let house = effectgate_core::ids::RunId::house(&world.caller.tenant);

    let turns = world.facts(house, "switch_turned").await;
    assert_eq!(turns.len(), 2);
    assert!(turns.iter().all(|t| t["reason"] == "the test turns it"));
    let silent =
        effectgate_engine::switch::Turn { scope: Scope::All, name: String::new(), enabled: true, reason: " ".into() };
    let refused = world.engine.turn_switch(&world.caller.tenant, &crate::common::olga(), &silent).await;
    assert!(matches!(refused, Err(effectgate_engine::EngineError::ReasonRequired)));
    assert_eq!(world.alerts().await, ["switch", "switch"]);
}
