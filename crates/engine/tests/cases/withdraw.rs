//! Taking back: a question before it is decided, an effect within its window; and questions that reach nobody.

use effectgate_core::{
    actor::{Actor, Person},
    approval::Verdict,
    gate::Gate,
    operate::Asker,
};
use effectgate_engine::{EngineError, view::approval_view};

use crate::common::{HOUR, Held, Options, World, lead, olga};

async fn waiting(world: &World) -> Held {
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", "{}")]).await;
    held
}

fn asks() -> Options {
    Options { gate: Gate::Approve, ..Options::default() }
}

fn as_themselves(person: Person) -> Asker {
    Asker { actor: Actor::Person(person.subject.clone()), person: Some(person), is_operator: false }
}

#[tokio::test]
async fn a_question_that_was_taken_back_is_decided_by_nobody_and_a_second_click_is_the_first() {
    let world = World::with(asks());
    let held = waiting(&world).await;
    let id = world.agg(held.run.id).await.approval().unwrap().id;
    let (tenant, operator) = (&world.caller.tenant, Asker::operator(olga()));

    let refused = world.engine.withdraw(tenant, id, &as_themselves(lead("anna")), "no").await;
    assert!(matches!(refused, Err(EngineError::NotEntitled)));
    let first = world.engine.withdraw(tenant, id, &operator, "sent by mistake").await.unwrap();
    let again = world.engine.withdraw(tenant, id, &operator, "sent by mistake").await.unwrap();
    let other = Asker::operator(Actor::ApiKey("ops".into()));
    let too_late = world.engine.withdraw(tenant, id, &other, "me too").await;

    assert_eq!((first.0, again.0), (false, true));
    assert_eq!(first.1.reason.as_deref(), Some("approval_withdrawn"));
    assert!(matches!(too_late, Err(EngineError::WrongState { state, .. }) if state == "withdrawn"));
    let Err(late) = world.decide(held.run.id, &lead("anna"), Verdict::Approve).await else { panic!("decided") };
    assert_eq!(late.code(), "approval_over");
    let view = approval_view(world.agg(held.run.id).await.approval().unwrap());
    assert_eq!((view.outcome.as_deref(), view.wanted), (Some("withdrawn"), 0));
    assert_eq!(view.withdrawn.unwrap().by, "user:olga");
    assert!(world.agg(held.run.id).await.effects.is_empty());
    world.verify(held.run.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawal_against_an_approval_is_one_end_in_each_of_100_rounds() {
    let world = World::with(asks());
    for round in 0..100 {
        let held = world.grant(&format!("k{round}"), "w").await;
        world.propose(&held, &[("note", "c-1", "{}")]).await;
        let id = world.agg(held.run.id).await.approval().unwrap().id;
        let (operator, anna) = (Asker::operator(olga()), lead("anna"));

        let (back, yes) = tokio::join!(
            world.engine.withdraw(&world.caller.tenant, id, &operator, "no"),
            world.decide(held.run.id, &anna, Verdict::Approve),
        );

        assert_ne!(back.is_ok(), yes.is_ok(), "{round}");
        assert_eq!(world.agg(held.run.id).await.effects.len(), usize::from(yes.is_ok()), "{round}");
    }
    world.verify_all().await;
}

#[tokio::test]
async fn whoever_is_asked_in_a_flow_takes_an_effect_back_within_its_window_and_not_after() {
    let world = World::with(Options { gate: Gate::CancelWindow { window_ms: 60_000 }, ..Options::default() });
    let (kept, gone) = (world.grant("kept", "w").await, world.grant("gone", "w").await);
    for held in [&kept, &gone] {
        world.propose(held, &[("note", "c-1", "{}")]).await;
    }
    let effects = [world.agg(kept.run.id).await.effects[0].id, world.agg(gone.run.id).await.effects[0].id];
    let (tenant, anna) = (&world.caller.tenant, as_themselves(lead("anna")));
    let stranger = as_themselves(Person { roles: ["viewer".into()].into(), ..lead("dora") });
    let before = world.agg(gone.run.id).await;

    assert!(!world.engine.may_cancel(&before, effects[1], &stranger));
    assert!(matches!(world.engine.cancel(tenant, effects[1], &stranger, "no").await, Err(EngineError::NotEntitled)));
    assert!(world.engine.may_cancel(&before, effects[1], &anna));
    world.engine.cancel(tenant, effects[1], &anna, "the customer called").await.unwrap();
    world.clock.advance_ms(60_000);
    world.engine.sweep_tick().await.unwrap();
    world.round().await;
    let late = world.engine.cancel(tenant, effects[0], &anna, "the customer called").await;

    assert!(matches!(late, Err(EngineError::WrongState { .. })), "{late:?}");
    assert_eq!(world.provider.executed(), 1);
    assert_eq!(world.facts(gone.run.id, "effect_cancelled").await[0]["reason"], "the customer called");
}

#[tokio::test]
async fn a_question_that_reached_nobody_says_so_while_it_is_open_and_when_it_ends() {
    let world = World::with(asks());
    let held = waiting(&world).await;
    for _ in 0..20 {
        world.engine.notify_tick().await.unwrap();
        world.clock.advance_ms(HOUR / 4);
    }
    let open = approval_view(world.agg(held.run.id).await.approval().unwrap());
    assert_eq!((open.delivery.as_deref(), open.outcome), (Some("undeliverable"), None));
    assert_eq!(world.alerts().await.iter().filter(|a| *a == "undeliverable").count(), 1);

    world.clock.advance_ms(24 * HOUR);
    world.engine.sweep_tick().await.unwrap();

    let over = approval_view(world.agg(held.run.id).await.approval().unwrap());
    assert_eq!((over.state.as_str(), over.outcome.as_deref()), ("expired", Some("undeliverable")));
    assert_eq!(over.delivery, None);
    assert_eq!(world.facts(held.run.id, "approval_expired").await[0]["outcome"], "undeliverable");
    world.verify(held.run.id).await;
}
