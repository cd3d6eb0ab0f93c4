//! What red worlds have shown, each as a test without dice.

use effectgate_core::switch::Scope;

use crate::{auditor, file::File, history::Event, quiet, world::World};

/// Seed 20261261 of the plan of 2026-11-30: the database answers an attempt's last look at the switch so late that a turn
/// was made, and has answered, meanwhile. What it read is no longer to be gone by (G11).
#[test]
fn g11_switch_holds_while_the_last_look_at_it_is_long_under_way() {
    quiet();
    let mut world = World::with_one_queued(1);
    world.provider.heal();
    // The dispatcher's tick reads the switches, then its attempt does.
    let go_on = world.tap.hold_up_the_switches(2);
    world.dispatch();
    world.turns(50);
    world.turn_off(Scope::All, "");
    go_on.notify_one();
    world.turns(50);

    let events = world.history.events();
    let started =
        events.iter().any(|e| matches!(e, Event::Committed { transition, .. } if !transition.attempts.is_empty()));
    assert!(started, "the attempt was under way when the switch was turned");
    assert!(!events.iter().any(|e| matches!(e, Event::Arrived(_))), "nothing left after the turn had answered");
    assert!(auditor::audit(&events).is_empty());
}
