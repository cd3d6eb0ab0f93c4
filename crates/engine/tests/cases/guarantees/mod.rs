//! The guarantees of the product, one test each under its own name (the race-heavy ones stand beside their cases), and
//! where the guard can be taken out in a test, a control that shows what would happen without it.

mod bounds;
mod decisions;
mod leases;
mod outcomes;
mod record;
mod runs;
mod switch;

use effectgate_core::gate::Gate;

use crate::common::{Held, Options, World};

fn asks() -> Options {
    Options { gate: Gate::Approve, ..Options::default() }
}

/// A run in each state, by its word.
async fn in_every_state(world: &World) -> Vec<(&'static str, Held)> {
    let mut runs = vec![("processing", world.grant("processing", "w").await)];
    let held = world.grant("completed", "w").await;
    world.engine.complete(&world.call(&held, "c", "c"), "{}").await.unwrap();
    runs.push(("completed", held));
    for (word, class) in
        [("failed_retryable", "worker_error"), ("failed_terminal", "agent_limit"), ("quarantined", "semantic")]
    {
        let held = world.grant(word, "w").await;
        world.engine.fail(&world.call(&held, "f", "f"), class, None).await.unwrap();
        runs.push((word, held));
    }
    let held = world.grant("awaiting_human", "w").await;
    world.propose(&held, &[("mail", "a@example.test", "{}")]).await;
    runs.push(("awaiting_human", held));
    runs.push(("approved", world.queued("approved", "c-1").await));
    for (word, held) in &runs {
        assert_eq!(world.agg(held.run.id).await.run.state.as_str(), *word);
    }
    runs
}
