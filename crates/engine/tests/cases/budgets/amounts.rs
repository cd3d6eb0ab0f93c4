//! Budgets of money: the amount at its pointer.

use effectgate_core::{
    budget::{Budget, Holder, Per},
    ids::{FlowName, ProviderName},
};
use effectgate_engine::propose::Proposal;

use super::{due_of, effect_of, turn, with};
use crate::common::*;

#[tokio::test]
async fn money_is_counted_in_minor_units_at_its_pointer() {
    let holder = Holder::Flow(FlowName::new("ticket"));
    let budget = Budget { holder, per: Per::Flow, window_ms: HOUR, max: 1_000, amount: Some("/amount".into()) };
    let world = with(vec![budget]);
    let mut held = Vec::new();
    for (n, payload) in [r#"{"amount":600}"#, r#"{"amount":600}"#, r#"{"amount":400}"#].into_iter().enumerate() {
        let run = world.grant(&format!("k{n}"), "worker-1").await;
        world.propose(&run, &[("note", &format!("t{n}"), payload)]).await;
        held.push(run);
        world.clock.advance_ms(1);
    }

    world.round().await;

    assert_eq!(world.effect_state(held[0].run.id).await, "completed");
    assert_eq!(due_of(&world, &held[1]).await, turn(&world), "600 and 600 are more than 1000");
    assert_eq!(world.effect_state(held[2].run.id).await, "completed", "the smaller one still fits");
    assert_eq!(world.engine.budgets_now().await.unwrap()[0].used, Some(1_000));
}

#[tokio::test]
async fn an_amount_beyond_the_whole_budget_waits_for_a_person_and_holds_up_nobody() {
    let holder = Holder::Provider(ProviderName::new("crm"));
    let budget = Budget { holder, per: Per::Provider, window_ms: HOUR, max: 1_000, amount: Some("/amount".into()) };
    let mut world = with(vec![budget.clone()]);
    let big = world.grant("big", "worker-1").await;
    world.propose(&big, &[("note", "t", r#"{"amount":5000}"#)]).await;
    let small = world.grant("small", "worker-1").await;
    world.propose(&small, &[("note", "t", r#"{"amount":10}"#)]).await;

    world.round().await;

    let effect = effect_of(&world, big.run.id).await;
    assert_eq!(effect.reason.as_deref(), Some("budget_too_small"));
    assert_eq!(world.effect_state(small.run.id).await, "completed");
    let said = world.engine.explain(&world.caller.tenant, big.run.id).await.unwrap().reason;
    assert_eq!(said.code, "budget_too_small");
    assert!(said.text.contains("provider crm, 1000 of /amount an hour"), "{}", said.text);
    // A new config is looked at when the process starts, not an hour later.
    world.restart_with(|options| options.budgets = vec![Budget { max: 5_000, ..budget }]);
    world.clock.advance_ms(HOUR);
    world.round().await;
    assert_eq!(world.effect_state(big.run.id).await, "completed");
}

#[tokio::test]
async fn a_proposal_whose_amount_cannot_be_read_is_refused_where_it_is_made() {
    let holder = Holder::Flow(FlowName::new("ticket"));
    let budget = Budget { holder, per: Per::Target, window_ms: HOUR, max: 1_000, amount: Some("/amount".into()) };
    let world = with(vec![budget]);
    let held = world.grant("k", "worker-1").await;

    let asked = asked(&[("note", "t", r#"{"amount":12.50}"#)]);
    let answer = world.engine.propose(&world.call(&held, "proposal", "x"), &asked).await.unwrap().answer;

    let Proposal::Invalid { findings, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(findings[0].pointer, "/effects/0/payload/amount");
    assert!(findings[0].message.contains("flow ticket, 1000 of /amount an hour for each target"), "{findings:?}");
}
