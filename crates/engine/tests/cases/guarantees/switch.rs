//! The switch holds (G11).

use effectgate_core::switch::{Ceiling, Scope};
use effectgate_store::Commit;

use crate::common::{Answer, Options, World};

#[tokio::test]
async fn g11_switch_holds_in_every_scope_in_the_commit_and_before_the_write() {
    let scopes = [
        (Scope::All, ""),
        (Scope::Tenant, "default"),
        (Scope::Flow, "ticket"),
        (Scope::Provider, "crm"),
        (Scope::EffectType, "note"),
    ];
    for (scope, name) in scopes {
        let world = World::new();
        // One that is about to write when the switch turns, and one that is due.
        world.provider.push(Answer::HoldBeforeWrite);
        let writing = world.queued("writing", "c-1").await;
        world.engine.dispatch_tick().await.unwrap();
        world.provider.until_hanging(1).await;
        let due = world.queued("due", "c-1").await;
        let agg = world.agg(due.run.id).await;
        let provider = &world.engine.policy().provider(&agg.effects[0].provider).unwrap().provider;
        let claim = effectgate_core::sending::claim(&agg.run, &agg.effects[0], provider, world.engine.now());
        let effectgate_core::sending::Due::Send(claim) = claim else { panic!("{claim:?}") };

        world.turn(scope, name, false).await;
        world.provider.release(1);
        world.engine.dispatch_idle().await;
        world.pass(3, 60_000).await;

        assert!(world.provider.seen().is_empty(), "{scope:?}");
        assert_eq!(world.effect_state(writing.run.id).await, "pending", "{scope:?}");
        assert_eq!(world.store.commit(claim.clone()).await.unwrap(), Commit::Lost, "{scope:?}: judged in the commit");
        let mut unguarded = claim;
        unguarded.switch = None;
        let control = world.store.commit(unguarded).await.unwrap();
        assert!(matches!(control, Commit::Committed { .. }), "{scope:?}: without the condition it would start");
    }
}

#[tokio::test]
async fn g11_switch_holds_what_is_absent_unreadable_or_malformed_means_off() {
    let off = World::with(Options { ceiling: Ceiling::Off, ..Options::default() });
    off.queued("k", "c-1").await;
    assert_eq!(off.round().await, 0);
    assert_eq!(Ceiling::from(None, None), Ceiling::Off);
    assert_eq!(Ceiling::from(Some("yess"), Some(true)), Ceiling::Off);

    let world = World::new();
    let held = world.queued("k", "c-1").await;
    world.raw().execute_batch("ALTER TABLE switches RENAME TO gone").unwrap();
    let _ = world.engine.dispatch_tick().await;
    world.engine.dispatch_idle().await;
    assert!(world.provider.seen().is_empty(), "switches that cannot be read are off");

    world.raw().execute_batch("ALTER TABLE gone RENAME TO switches").unwrap();
    world.round().await;
    assert_eq!(world.effect_state(held.run.id).await, "completed");
}
