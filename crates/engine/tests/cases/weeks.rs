//! What is counted, week by week: on a clock that is moved over weeks, through a database that goes away, and past a kill.

use effectgate_core::{
    approval::Verdict,
    gate::{Exceptions, Gate},
    ids::{FlowName, Tenant},
};
use effectgate_engine::{
    reserve::{Request, Reserved},
    tally::count::Count,
    weeks::{Week, Weeks},
};

use crate::common::{Answer, HOUR, Options, PAYLOAD, World, lead, request};

const DAY: i64 = 24 * HOUR;

async fn weeks(world: &World, n: u16) -> Weeks {
    world.engine.tally_flush().await.unwrap();
    world.engine.weeks(&world.caller.tenant, n, None).await.unwrap()
}

async fn last(world: &World) -> Week {
    weeks(world, 1).await.weeks.remove(0)
}

/// The clock at the beginning of a week.
fn on_monday(world: &World) {
    world.clock.set("2026-09-21T00:00:00Z".parse().unwrap());
}

fn count(weeks: &Weeks, what: Count) -> Vec<u64> {
    weeks.weeks.iter().map(|week| week.of(what)).collect()
}

#[tokio::test]
async fn every_answer_to_a_reservation_is_counted_in_its_week() {
    let world = World::new();
    on_monday(&world);
    world.reserve("a", PAYLOAD, "w1").await;
    world.reserve("a", PAYLOAD, "w1").await;
    for _ in 0..3 {
        world.reserve("a", PAYLOAD, "w2").await;
    }
    world.clock.advance_ms(7 * DAY - 1);
    world.reserve("a", "{}", "w2").await;
    world.clock.advance_ms(1);
    let held = world.grant("b", "w").await;
    world.propose(&held, &[("note", "c-1", "{}")]).await;
    world.reserve("b", PAYLOAD, "w").await;

    let weeks = weeks(&world, 3).await;

    assert_eq!(count(&weeks, Count::Granted), [0, 1, 1]);
    assert_eq!(count(&weeks, Count::Repeated), [0, 1, 0]);
    assert_eq!(count(&weeks, Count::Busy), [0, 3, 0]);
    assert_eq!(count(&weeks, Count::Conflict), [0, 1, 0], "the last moment of Sunday is still that week's");
    assert_eq!(count(&weeks, Count::Replay), [0, 0, 1]);
    assert_eq!(weeks.weeks[0].duplicate_rate(), None);
    assert_eq!(weeks.weeks[1].duplicate_rate(), Some(4.0 / 6.0));
    assert_eq!(weeks.weeks[2].duplicate_rate(), Some(0.5));
}

#[tokio::test]
async fn waits_count_in_the_week_of_the_decision_and_percentiles_are_within_a_tenth() {
    let world = World::with(Options { gate: Gate::Approve, ..Options::default() });
    on_monday(&world);
    let minutes = [1, 2, 3, 5, 8, 13, 21, 34, 55, 600];
    for (n, wait) in minutes.into_iter().enumerate() {
        let held = world.queued(&format!("k{n}"), "c-1").await;
        world.clock.advance_ms(wait * 60_000);
        let verdict = if n % 2 == 0 { Verdict::Approve } else { Verdict::Reject };
        world.decide(held.run.id, &lead("anna"), verdict).await.unwrap();
    }
    let over = world.queued("over", "c-1").await;
    world.clock.advance_ms(7 * DAY);
    world.engine.sweep_tick().await.unwrap();
    assert_eq!(world.agg(over.run.id).await.run.state.as_str(), "failed_terminal");

    let weeks = weeks(&world, 2).await;

    let week = &weeks.weeks[0];
    assert_eq!((week.of(Count::Approved), week.of(Count::Rejected), week.decided()), (5, 5, 10));
    for (share, minutes) in [(0.5, 8.0), (0.9, 55.0), (0.95, 600.0)] {
        let (said, truth) = (week.wait_ms(share).unwrap(), minutes * 60_000.0);
        assert!((said - truth).abs() / truth <= 0.1, "p{share}: {said} is not {truth}");
    }
    assert_eq!(
        (count(&weeks, Count::Expired), weeks.weeks[1].decided()),
        (vec![0, 1], 0),
        "an expiry is nobody's wait"
    );
    assert_eq!(count(&weeks, Count::Person), [11, 0]);
}

#[tokio::test]
async fn a_question_that_reached_nobody_is_no_expiry_like_others() {
    let world = World::with(Options { gate: Gate::Approve, ..Options::default() });
    on_monday(&world);
    let untold = world.queued("untold", "c-1").await;
    for _ in 0..8 {
        world.engine.notify_tick().await.unwrap();
        world.clock.advance_ms(60_000);
    }
    assert!(world.agg(untold.run.id).await.approval().unwrap().terms.undeliverable, "the world has no channel");
    world.clock.advance_ms(7 * DAY);
    world.engine.sweep_tick().await.unwrap();

    let weeks = weeks(&world, 2).await;

    assert_eq!((count(&weeks, Count::Undeliverable), count(&weeks, Count::Expired)), (vec![0, 1], vec![0, 0]));
}

#[tokio::test]
async fn valid_invalid_and_repaired_proposals_are_told_apart() {
    let schema = serde_json::json!({"type": "object", "required": ["label"]});
    let world = World::with(Options { output_schema: Some(schema), ..Options::default() });
    for (key, outputs) in [("a", vec![r#"{"label":1}"#]), ("b", vec!["{}", r#"{"label":1}"#]), ("c", vec!["{}", "{}"])]
    {
        let held = world.grant(key, "w").await;
        for (n, output) in outputs.into_iter().enumerate() {
            let mut asked = crate::common::asked(&[]);
            asked.output = effectgate_engine::propose::Output::Json(output.into());
            let call = world.call(&held, "proposal", &format!("{n}"));
            for _ in 0..2 {
                // The second is a repeat that gets the first answer, and is no second proposal.
                world.engine.propose(&call, &asked).await.unwrap();
            }
        }
    }

    let week = last(&world).await;

    assert_eq!((week.of(Count::Valid), week.of(Count::Invalid)), (1, 2));
    assert_eq!((week.of(Count::ValidRepaired), week.of(Count::InvalidRepaired)), (1, 1));
    assert_eq!((week.invalid_rate(), week.first_invalid_rate()), (Some(0.6), Some(2.0 / 3.0)));
}

#[tokio::test]
async fn what_the_gate_lets_go_and_what_the_sample_picks_are_counted() {
    let rules = |sample| Gate::Exceptions(Exceptions { rules: vec![], evidence: None, sample });
    let world = World::with(Options { gate: rules(1.0), mail_gate: Some(rules(0.0)), ..Options::default() });
    for key in ["a", "b", "c"] {
        let held = world.grant(key, "w").await;
        world.propose(&held, &[("mail", "c-1", "{}")]).await;
    }
    world.queued("d", "c-1").await;

    let week = last(&world).await;

    assert_eq!((week.of(Count::Automatic), week.of(Count::Person), week.of(Count::Sampled)), (3, 1, 1));
    assert_eq!(week.automatic_share(), Some(0.75));
}

#[tokio::test]
async fn an_effect_that_comes_into_doubt_counts_once_and_its_review_too() {
    let world = World::new();
    let held = world.queued("a", "c-1").await;
    world.provider.push(Answer::AcceptThenDrop);
    world.round().await;
    world.pass(3, DAY).await;
    assert_eq!(world.effect_state(held.run.id).await, "review");

    let weeks = weeks(&world, 2).await;

    assert_eq!(count(&weeks, Count::Unknown).iter().sum::<u64>(), 1);
    assert_eq!(count(&weeks, Count::Review).iter().sum::<u64>(), 1);
}

#[tokio::test]
async fn takeovers_and_used_up_attempts_are_counted() {
    let world = World::with(Options { claims_max: 2, ..Options::default() });
    world.grant("a", "w1").await;
    world.clock.advance_ms(61_000);
    world.grant("a", "w2").await;
    world.clock.advance_ms(61_000);
    world.engine.sweep_tick().await.unwrap();

    let week = last(&world).await;

    assert_eq!((week.of(Count::Takeover), week.of(Count::RunExhausted), week.exhausted()), (1, 1, 1));
}

#[tokio::test]
async fn a_flush_that_fails_keeps_its_counts_and_the_next_one_brings_them() {
    let world = World::new();
    world.grant("a", "w").await;
    let raw = world.raw();
    raw.execute_batch("CREATE TRIGGER no BEFORE INSERT ON tallies BEGIN SELECT RAISE(ABORT, 'not now'); END").unwrap();

    assert!(world.engine.tally_flush().await.is_err());
    world.reserve("a", PAYLOAD, "w2").await;
    raw.execute_batch("DROP TRIGGER no").unwrap();

    let week = last(&world).await;
    assert_eq!((week.of(Count::Granted), week.of(Count::Busy)), (1, 1));
    assert_eq!(world.engine.tally_flush().await.unwrap(), 0, "nothing is written twice");
}

#[tokio::test]
async fn a_kill_loses_the_counts_of_one_period_and_no_entry_of_the_journal() {
    let world = World::new();
    world.grant("a", "w").await;
    world.engine.tally_flush().await.unwrap();
    world.grant("b", "w").await;

    let killed = world.killed();

    assert_eq!(last(&killed).await.of(Count::Granted), 1);
    for key in ["a", "b"] {
        assert_eq!(killed.kinds(killed.id_of(key)).await, ["reserved"]);
    }
}

#[tokio::test]
async fn flows_and_tenants_are_counted_apart() {
    let world = World::new();
    world.grant("a", "w").await;
    world.grant_in("held_back", "a").await;
    let mut other = world.caller.clone();
    other.tenant = Tenant::new("other");
    for key in ["a", "b"] {
        let answer = world.engine.reserve(&other, request(key, PAYLOAD, "w")).await.unwrap();
        assert!(matches!(answer, Reserved::Granted { .. }));
    }

    let all = weeks(&world, 1).await;
    let one = world.engine.weeks(&world.caller.tenant, 1, Some("held_back")).await.unwrap();
    let theirs = world.engine.weeks(&other.tenant, 1, None).await.unwrap();
    let nobody = world.engine.weeks(&Tenant::new("nobody"), 4, None).await.unwrap();

    assert_eq!((count(&all, Count::Granted), count(&one, Count::Granted)), (vec![2], vec![1]));
    assert_eq!(all.flows.iter().map(String::as_str).collect::<Vec<_>>(), ["held_back", "ticket"]);
    assert_eq!(count(&theirs, Count::Granted), [2]);
    assert!(nobody.weeks.iter().all(Week::is_empty) && nobody.weeks.len() == 4 && nobody.flows.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_duplicate_is_lost_between_many_tasks_two_flows_and_flushes() {
    let world = std::sync::Arc::new(World::new());
    world.grant("hot", "w").await;
    world.grant_in("held_back", "hot").await;
    let tasks = (0..8).map(|n| {
        let world = world.clone();
        tokio::spawn(async move {
            for i in 0..500 {
                let flow = FlowName::new(if i % 2 == 0 { "ticket" } else { "held_back" });
                let request = Request { flow, ..request("hot", PAYLOAD, &format!("other-{n}")) };
                let answer = world.engine.reserve(&world.caller, request).await.unwrap();
                assert!(matches!(answer, Reserved::Busy { .. }));
                if i % 100 == 0 {
                    world.engine.tally_flush().await.unwrap();
                }
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }

    assert_eq!(last(&world).await.of(Count::Busy), 4_000);
}
