//! Requests of the door that a budget counts.

use effectgate_core::{
    budget::{Budget, Holder, Per},
    gate::Gate,
    ids::ProviderName,
    provider::Class,
};
use effectgate_engine::{
    EngineError,
    outbound::{OutAnswer, OutRequest},
};
use effectgate_testkit::provider::ScriptedProvider;

use super::{ask, kept, options, refund, send};
use crate::common::{HOUR, Options, World};

/// A world whose provider has a budget of this many an hour, or of this sum of a member of the request's body.
pub(super) async fn with_budget(max: i64, amount: Option<&str>) -> (ScriptedProvider, World) {
    let provider = ScriptedProvider::start([]).await;
    let holder = Holder::Provider(ProviderName::new("crm"));
    let budget = Budget { holder, per: Per::Provider, window_ms: HOUR, max, amount: amount.map(str::to_owned) };
    let world = World::with(Options { budgets: vec![budget], ..options(&provider.url(), Class::Advisory, Gate::None) });
    (provider, world)
}

pub(super) fn refund_of(key: &str, cents: i64) -> OutRequest {
    OutRequest { body: format!("{{\"amount\":{cents}}}").into(), ..refund(key) }
}

async fn to_the_turn(world: &World) {
    let turn = effectgate_core::budget::window(HOUR, world.engine.now()).1;
    world.clock.advance_ms(turn.ms_since(world.engine.now()));
    world.round().await;
}

#[tokio::test]
async fn a_request_over_the_budget_waits_for_the_windows_turn_and_is_told_of_which_budget() {
    let (provider, world) = with_budget(1, None).await;
    assert_eq!(kept(send(&world, &refund("a")).await).0.status, 201);

    let second = send(&world, &refund("b")).await;

    let OutAnswer::BudgetUsedUp { why, until, wait_ms, run } = second else { panic!("{second:?}") };
    let turn = effectgate_core::budget::window(HOUR, world.engine.now()).1;
    assert!(why.contains("provider crm, 1 an hour") && why.contains(&turn.to_string()), "{why}");
    assert_eq!((until, wait_ms), (Some(turn), turn.ms_since(world.engine.now())));
    assert_eq!((run.state.as_str(), provider.ledger().requests.len()), ("approved", 1));
    let again = ask(&world, &refund("b")).await;
    assert!(matches!(again, OutAnswer::BudgetUsedUp { .. }), "{again:?}");
    to_the_turn(&world).await;
    assert_eq!(kept(ask(&world, &refund("b")).await).0.status, 201);
    assert_eq!(provider.ledger().requests.len(), 2);
}

#[tokio::test]
async fn the_amount_of_a_budget_is_read_in_the_requests_own_json_body() {
    let (provider, world) = with_budget(1_000, Some("/amount")).await;
    assert_eq!(kept(send(&world, &refund_of("a", 700)).await).0.status, 201);
    assert_eq!(world.engine.budgets_now().await.unwrap()[0].used, Some(700));

    let second = send(&world, &refund_of("b", 400)).await;
    assert!(matches!(second, OutAnswer::BudgetUsedUp { until: Some(_), .. }), "{second:?}");
    assert_eq!(kept(send(&world, &refund_of("c", 300)).await).0.status, 201, "what has room is not held up");
    let hopeless = send(&world, &refund_of("d", 1_001)).await;
    let OutAnswer::BudgetUsedUp { why, until: None, .. } = hopeless else { panic!("{hopeless:?}") };
    assert!(why.starts_with("POST /v1/refunds asks for more than the whole budget of provider crm"), "{why}");

    to_the_turn(&world).await;
    assert_eq!(kept(ask(&world, &refund_of("b", 400)).await).0.status, 201);
    assert_eq!(provider.ledger().requests.len(), 3);
}

#[tokio::test]
async fn a_request_without_the_amount_that_a_budget_counts_takes_no_key() {
    let (provider, world) = with_budget(1_000, Some("/amount")).await;
    let plain = OutRequest { content_type: Some("text/plain".into()), ..refund_of("k", 5) };
    // An amount in the query or beside the body is none.
    let beside = OutRequest { body: "{}".into(), path: "/v1/refunds?amount=5".into(), ..refund("k") };
    for request in [refund("k"), plain, beside] {
        let refused = world.engine.out_begin(&world.caller, &request).await.unwrap_err();
        let EngineError::InvalidPayload { findings } = refused else { panic!("{refused}") };
        assert_eq!(findings[0].pointer, "/payload/json/amount");
        assert!(findings[0].message.contains("provider crm, 1000 of /amount an hour"), "{}", findings[0].message);
    }

    assert_eq!(kept(send(&world, &refund_of("k", 5)).await).0.status, 201, "the key is free");
    assert_eq!(provider.ledger().requests.len(), 1);
}
