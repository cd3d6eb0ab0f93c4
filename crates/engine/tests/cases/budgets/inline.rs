//! Effects that a worker performs itself, under a budget.

use effectgate_core::{
    budget::{Budget, Holder, Per},
    ids::{EffectId, ProviderName},
    retry::Outcome,
};
use effectgate_engine::{EngineError, check::Asked, inline::Begun};

use super::{crm, turn, with};
use crate::common::*;

async fn begin(world: &World, held: &Held, target: &str) -> Result<Begun, EngineError> {
    let asked = Asked { effect_type: "note".into(), target: Some(target.into()), payload: r#"{"text":"x"}"#.into() };
    world.engine.begin(&world.call(held, "begin", target), &asked).await.map(|answered| answered.answer)
}

#[tokio::test]
async fn an_inline_effect_over_budget_is_not_begun_and_its_worker_is_told_until_when() {
    let world = with(vec![crm(1)]);
    let (first, second) = (world.grant("a", "worker-1").await, world.grant("b", "worker-1").await);
    let begun = begin(&world, &first, "x").await.unwrap();
    assert!(begun.begun);

    let refused = begin(&world, &second, "y").await;

    let Err(EngineError::BudgetUsedUp { budget, until }) = refused else { panic!("{refused:?}") };
    assert_eq!((budget.as_str(), until.map(|(at, _)| at)), ("provider crm, 1 an hour", Some(turn(&world))));
    assert!(world.agg(second.run.id).await.effects.is_empty(), "nothing was written");

    // The first one's worker says that the provider refused: its charge is free again.
    let reported = effectgate_core::inline::Reported { outcome: Outcome::Refused, external_id: None, message: None };
    let id = EffectId { run: first.run.id, n: 1 };
    world.engine.settle_inline(&world.call(&first, "settle", "x"), id, &reported).await.unwrap();
    assert!(begin(&world, &second, "y").await.unwrap().begun);
}

#[tokio::test]
async fn a_worker_is_told_the_budget_that_is_used_up_and_no_other_of_a_like_name() {
    let each = Budget { per: Per::Key, max: 9, ..crm(9) };
    let cr = Budget { holder: Holder::Provider(ProviderName::new("cr")), ..crm(9) };
    let world = with(vec![cr, each, crm(1)]);
    let (first, second) = (world.grant("a", "worker-1").await, world.grant("b", "worker-1").await);
    begin(&world, &first, "x").await.unwrap();

    let refused = begin(&world, &second, "y").await;

    let Err(EngineError::BudgetUsedUp { budget, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(budget, "provider crm, 1 an hour");
}

#[tokio::test]
async fn an_inline_effect_whose_outcome_is_unknown_keeps_its_charge() {
    let world = with(vec![crm(1)]);
    let (first, second) = (world.grant("a", "worker-1").await, world.grant("b", "worker-1").await);
    begin(&world, &first, "x").await.unwrap();
    let reported = effectgate_core::inline::Reported { outcome: Outcome::Unknown, external_id: None, message: None };
    let id = EffectId { run: first.run.id, n: 1 };
    world.engine.settle_inline(&world.call(&first, "settle", "x"), id, &reported).await.unwrap();

    assert!(matches!(begin(&world, &second, "y").await, Err(EngineError::BudgetUsedUp { .. })));
}
