//! What one budget is of: a config, its replicas, its keys and targets.

use effectgate_core::{
    budget::{Budget, Holder, Per},
    ids::FlowName,
};

use super::{crm, two, with};
use crate::common::*;

#[tokio::test]
async fn a_larger_budget_counts_from_the_restart_on() {
    let mut world = with(vec![crm(1)]);
    let (_, second) = two(&world).await;
    world.round().await;
    assert_eq!(world.effect_state(second.run.id).await, "pending");

    world.restart_with(|options| options.budgets = vec![crm(2)]);
    world.round().await;

    assert_eq!(world.effect_state(second.run.id).await, "completed");
}

#[tokio::test]
async fn a_budget_that_leaves_the_config_holds_nothing_back() {
    let mut world = with(vec![crm(1)]);
    let (_, second) = two(&world).await;
    world.round().await;

    world.restart_with(|options| options.budgets = vec![]);
    world.round().await;

    assert_eq!(world.effect_state(second.run.id).await, "completed");
}

#[tokio::test]
async fn two_replicas_share_one_budget() {
    let world = with(vec![crm(3)]);
    let other = world.another_engine();
    for n in 0..12 {
        world.queued(&format!("k{n}"), &format!("t{n}")).await;
    }

    for _ in 0..4 {
        let (one, two) = tokio::join!(world.engine.dispatch_tick(), other.dispatch_tick());
        assert_eq!((one.is_ok(), two.is_ok()), (true, true));
        world.engine.dispatch_idle().await;
        other.dispatch_idle().await;
    }

    assert_eq!(world.provider.executed(), 3);
}

#[tokio::test]
async fn counts_for_each_key_and_target_are_apart() {
    let per = |per| {
        let holder = Holder::Flow(FlowName::new("ticket"));
        Budget { holder, per, window_ms: HOUR, max: 1, amount: None }
    };
    for (per, sent) in [(per(Per::Target), 2), (per(Per::Key), 3), (per(Per::Provider), 1)] {
        let world = with(vec![per]);
        world.queued("a", "x").await;
        world.queued("b", "x").await;
        world.queued("c", "y").await;
        world.round().await;
        assert_eq!(world.provider.executed(), sent);
    }
}
