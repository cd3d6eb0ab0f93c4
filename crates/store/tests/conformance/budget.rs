//! Budgets: counts that are charged in the transaction of what they are for.

use std::sync::Arc;

use effectgate_core::{
    budget::{Charge, Charged, USED_UP},
    effect::{Effect, EffectState},
    run::Aggregate,
    time::Timestamp,
    transition::Transition,
};
use effectgate_store::{Commit, Store};
use tokio::task::JoinSet;

use super::{Bench, fixtures::*};

const HOUR_MS: i64 = 3_600_000;

fn hour(at: Timestamp) -> (Timestamp, Timestamp) {
    effectgate_core::budget::window(HOUR_MS, at)
}

fn charge(scope: &str, amount: i64, max: i64, at: Timestamp) -> Charge {
    let (start, end) = hour(at);
    Charge { scope: scope.into(), start, end, amount, max: Some(max) }
}

/// A due effect in a run of its own.
async fn due(store: &Arc<dyn Store>, key: &str, now: Timestamp) -> Aggregate {
    approved(store, reserved(key, now), 1, now, |_| {}).await
}

/// The claim of a run's effect, charged.
fn claim(agg: &Aggregate, charges: Vec<Charge>, now: Timestamp) -> Transition {
    let mut claim = sending(agg, 1, LEASE_MS, now);
    claim.effects[0].effect.charged = charges
        .iter()
        .map(|c| Charged { scope: c.scope.clone(), start: c.start, end: c.end, amount: c.amount })
        .collect();
    claim.charges = charges;
    claim
}

async fn used(store: &Arc<dyn Store>, scope: &str, at: Timestamp) -> i64 {
    let (start, end) = hour(at);
    let rows = store.charge_list(&[scope.to_owned()], start).await.unwrap();
    let row = rows.into_iter().find(|row| row.start == start);
    row.map_or(0, |row| {
        assert_eq!((row.scope.as_str(), row.end), (scope, end));
        row.used
    })
}

pub async fn a_charge_is_added_with_what_it_is_for(b: &impl Bench) {
    let (store, now) = (b.store(), b.now().await);
    let agg = due(&store, "k", now).await;

    let agg = commit(&store, claim(&agg, vec![charge("pay", 3, 10, now)], now)).await;

    assert_eq!(agg.effects[0].state, EffectState::Sending);
    assert_eq!(used(&store, "pay", now).await, 3);
    assert_eq!(used(&store, "other", now).await, 0);
}

pub async fn a_count_without_room_writes_nothing_and_says_until_when(b: &impl Bench) {
    let (store, now) = (b.store(), b.now().await);
    let (first, second) = (due(&store, "a", now).await, due(&store, "b", now).await);
    commit(&store, claim(&first, vec![charge("pay", 7, 10, now)], now)).await;

    let over = store.commit(claim(&second, vec![charge("pay", 4, 10, now)], now)).await.unwrap();

    assert_eq!(over, Commit::OverBudget { scope: "pay".into(), until: hour(now).1 });
    assert_eq!(load(&store, &second.run).await, second);
    assert_eq!(store.attempt_list(second.run.id).await.unwrap(), []);
    assert_eq!(used(&store, "pay", now).await, 7);
}

pub async fn of_several_counts_all_are_charged_or_none(b: &impl Bench) {
    let (store, now) = (b.store(), b.now().await);
    let agg = due(&store, "k", now).await;
    let both = |max| vec![charge("flow", 1, 10, now), charge("pay", 5, max, now)];

    let over = store.commit(claim(&agg, both(4), now)).await.unwrap();
    assert_eq!(over, Commit::OverBudget { scope: "pay".into(), until: hour(now).1 });
    assert_eq!((used(&store, "flow", now).await, used(&store, "pay", now).await), (0, 0));

    commit(&store, claim(&agg, both(5), now)).await;
    assert_eq!((used(&store, "flow", now).await, used(&store, "pay", now).await), (1, 5));
}

pub async fn a_lost_commit_charges_nothing(b: &impl Bench) {
    let (store, now) = (b.store(), b.now().await);
    let agg = due(&store, "k", now).await;
    let stale = claim(&agg, vec![charge("pay", 1, 10, now)], now);
    commit(&store, touch(&agg.run, now)).await;

    assert_lost(&store, stale).await;

    assert_eq!(used(&store, "pay", now).await, 0);
}

pub async fn what_is_given_back_is_free_again(b: &impl Bench) {
    let (store, now) = (b.store(), b.now().await);
    let (first, second) = (due(&store, "a", now).await, due(&store, "b", now).await);
    let first = commit(&store, claim(&first, vec![charge("pay", 10, 10, now)], now)).await;
    let late = claim(&second, vec![charge("pay", 10, 10, now)], now);
    assert!(matches!(store.commit(late.clone()).await.unwrap(), Commit::OverBudget { .. }));

    let ended = moved(&first.run, now, |draft| {
        let after = Effect { state: EffectState::Failed, ..first.effects[0].clone() };
        draft.effect(Some(&first.effects[0]), after, None);
    });
    let first = commit(&store, ended).await;

    assert_eq!(first.effects[0].charged, []);
    assert_eq!(used(&store, "pay", now).await, 0);
    commit(&store, late).await;
    assert_eq!(used(&store, "pay", now).await, 10);
}

/// A smaller limit in the config counts at once, also for what was charged ahead.
pub async fn a_limit_is_judged_where_nothing_is_added(b: &impl Bench) {
    let (store, now) = (b.store(), b.now().await);
    let (first, second) = (due(&store, "a", now).await, due(&store, "b", now).await);
    commit(&store, claim(&first, vec![charge("pay", 8, 10, now)], now)).await;

    let judged = |max| store.commit(claim(&second, vec![charge("pay", 0, max, now)], now));

    assert!(matches!(judged(7).await.unwrap(), Commit::OverBudget { .. }));
    assert!(matches!(judged(8).await.unwrap(), Commit::Committed { .. }));
}

pub async fn the_next_window_begins_with_nothing(b: &impl Bench) {
    let (store, now) = (b.store(), b.now().await);
    let (first, second) = (due(&store, "a", now).await, due(&store, "b", now).await);
    commit(&store, claim(&first, vec![charge("pay", 10, 10, now)], now)).await;
    let next = now.plus_ms(HOUR_MS);

    commit(&store, claim(&second, vec![charge("pay", 10, 10, next)], now)).await;

    assert_eq!((used(&store, "pay", now).await, used(&store, "pay", next).await), (10, 10));
    let rows = store.charge_list(&["pay".to_owned()], hour(now).1).await.unwrap();
    assert_eq!(rows.len(), 1, "windows that end at the moment are over: {rows:?}");
}

pub async fn of_64_claims_at_once_a_budget_of_10_lets_10_go(b: &impl Bench) {
    let (stores, now) = ([b.store(), b.other().await], b.now().await);
    let mut claims = JoinSet::new();
    for n in 0..64 {
        let agg = due(&stores[0], &format!("k{n}"), now).await;
        let (store, claim) = (Arc::clone(&stores[n % 2]), claim(&agg, vec![charge("pay", 1, 10, now)], now));
        claims.spawn(async move {
            loop {
                match store.commit(claim.clone()).await {
                    Ok(commit) => return commit,
                    // Under serialisable isolation the others may be in the way for long.
                    Err(error) => assert!(error.is_passing(), "{error:?}"),
                }
            }
        });
    }
    let done = claims.join_all().await;

    let made = done.iter().filter(|commit| matches!(commit, Commit::Committed { .. })).count();
    let over = done.iter().filter(|commit| matches!(commit, Commit::OverBudget { .. })).count();
    assert_eq!((made, over), (10, 54));
    assert_eq!(used(&stores[1], "pay", now).await, 10);
}

/// Each names two counts, in one order and the other; whatever the store locks, it locks in an order of its own.
pub async fn claims_of_crossed_counts_do_not_wait_for_each_other_for_ever(b: &impl Bench) {
    let (stores, now) = ([b.store(), b.other().await], b.now().await);
    let mut claims = JoinSet::new();
    for n in 0..24 {
        let agg = due(&stores[0], &format!("k{n}"), now).await;
        let mut charges = vec![charge("a", 1, 100, now), charge("b", 1, 100, now)];
        if n % 4 < 2 {
            charges.reverse();
        }
        let (store, claim) = (Arc::clone(&stores[n % 2]), claim(&agg, charges, now));
        claims.spawn(async move {
            while let Err(error) = store.commit(claim.clone()).await {
                assert!(error.is_passing(), "{error:?}");
            }
        });
    }
    claims.join_all().await;

    assert_eq!((used(&stores[0], "a", now).await, used(&stores[0], "b", now).await), (24, 24));
}

pub async fn an_effect_keeps_what_it_was_charged(b: &impl Bench) {
    let (store, now) = (b.store(), b.now().await);
    let agg = due(&store, "k", now).await;
    assert_eq!(agg.effects[0].charged, []);

    let claim = claim(&agg, vec![charge("flow, \"x\"", 1, 10, now), charge("pay", 5, 10, now)], now);
    let charged = claim.effects[0].effect.charged.clone();
    let agg = commit(&store, claim).await;

    assert_eq!((charged.len(), &agg.effects[0].charged), (2, &charged));
}

pub async fn a_window_that_is_over_is_purged_after_a_day(b: &impl Bench) {
    let (store, now) = (b.store(), b.now().await);
    let agg = due(&store, "k", now).await;
    let agg = commit(&store, claim(&agg, vec![charge("pay", 1, 10, now)], now)).await;
    let before = now.plus_ms(-30 * DAY_MS);
    let left = || async { store.charge_list(&["pay".to_owned()], before).await.unwrap().len() };

    b.advance(DAY_MS).await;
    store.run_purge(10).await.unwrap();
    assert_eq!(left().await, 1);

    b.advance(HOUR_MS).await;
    store.run_purge(10).await.unwrap();
    assert_eq!(left().await, 0);

    // What is given back to a window that is gone takes nothing off and fails nothing.
    let ended = moved(&agg.run, now, |draft| {
        let after = Effect { state: EffectState::Failed, ..agg.effects[0].clone() };
        draft.effect(Some(&agg.effects[0]), after, None);
    });
    commit(&store, ended).await;
    assert_eq!(left().await, 0);
}

pub async fn what_waits_for_a_budget_is_found_in_its_order(b: &impl Bench) {
    let (store, now) = (b.store(), b.now().await);
    let later = |n: i64| EffectState::Pending { due_at: now.plus_ms(n * 1_000 + 600_000) };
    let agg = approved(&store, reserved("k", now), 4, now, |effect| {
        let n = effect.id.n;
        effect.state = later(i64::from(10 - n));
        effect.reason = (n != 2).then(|| if n == 4 { "not_sent".to_owned() } else { USED_UP.to_owned() });
    })
    .await;
    let smtp = agg.effects[0].provider.clone();

    let found = store.effect_waiting(&smtp, 10).await.unwrap();

    assert_eq!(found.iter().map(|due| due.effect.id.n).collect::<Vec<_>>(), [3, 1]);
    assert_eq!(store.effect_waiting(&smtp, 1).await.unwrap().len(), 1);
    assert!(store.effect_due(&smtp, 10).await.unwrap().is_empty());
    b.advance(700_000).await;
    assert!(store.effect_waiting(&smtp, 10).await.unwrap().is_empty(), "their moment has come");
}
