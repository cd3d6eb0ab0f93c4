//! Budgets through the whole engine: dispatcher, people, workers, restarts.

mod amounts;
mod charges;
mod inline;
mod scopes;
mod windows;

use effectgate_core::{
    budget::{Budget, Holder, Per},
    effect::EffectState,
    ids::{ProviderName, RunId},
    time::Timestamp,
};

use crate::common::*;

/// A budget of the provider `crm`.
fn crm(max: i64) -> Budget {
    let holder = Holder::Provider(ProviderName::new("crm"));
    Budget { holder, per: Per::Provider, window_ms: HOUR, max, amount: None }
}

fn with(budgets: Vec<Budget>) -> World {
    World::with(Options { budgets, ..Options::default() })
}

/// The end of the present hour.
fn turn(world: &World) -> Timestamp {
    effectgate_core::budget::window(HOUR, world.engine.now()).1
}

/// One after the other: what came at the same moment has no order.
async fn two(world: &World) -> (Held, Held) {
    let first = world.queued("a", "x").await;
    world.clock.advance_ms(1);
    (first, world.queued("b", "y").await)
}

async fn due_of(world: &World, held: &Held) -> Timestamp {
    match world.agg(held.run.id).await.effects[0].state {
        EffectState::Pending { due_at } => due_at,
        other => panic!("{other:?}"),
    }
}

async fn effect_of(world: &World, id: RunId) -> effectgate_core::effect::Effect {
    world.agg(id).await.effects[0].clone()
}
