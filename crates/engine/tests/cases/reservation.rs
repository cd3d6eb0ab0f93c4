//! Who gets the run: twins, duplicates, expired leases, and what counts as the same payload.

use effectgate_core::{
    ids::{Fence, Owner},
    lease,
    payload::IdentityRule,
    run::RunState,
    transition::Transition,
};
use effectgate_engine::{EngineError, call::LeaseCall, reserve::Reserved};
use effectgate_store::Commit;
use futures_util::future::join_all;

use crate::{
    common::{Options, PAYLOAD, World, request},
    handed,
};

fn code(answer: &Reserved) -> &'static str {
    match answer {
        Reserved::Granted { repeated: false, .. } => "granted",
        Reserved::Granted { repeated: true, .. } => "granted again",
        Reserved::Busy { .. } => "busy",
        Reserved::Replay { .. } => "replay",
        Reserved::Conflict { .. } => "conflict",
    }
}

async fn came(world: &World, key: &str, payload: &str) -> &'static str {
    code(&world.reserve(key, payload, "w").await)
}

#[tokio::test]
async fn hc_01_twins_that_come_apart_are_one_grant_and_the_rest_is_told_what_is_there() {
    let world = World::new();
    for round in 0..200 {
        let key = format!("evt-{round}");
        let mut answers = Vec::new();
        for (n, apart_ms) in [0, 30, 60, 155].into_iter().enumerate() {
            world.clock.advance_ms(apart_ms);
            answers.push(world.reserve(&key, PAYLOAD, &format!("o{n}")).await);
            // In every other round the winner has finished before the last one comes.
            if let (2, 1, Reserved::Granted { run, lease, .. }) = (n, round % 2, &answers[0]) {
                let held = crate::common::Held { run: *run.clone(), lease: lease.clone() };
                world.engine.complete(&world.call(&held, "complete", "r"), "{}").await.unwrap();
            }
        }

        let last = if round % 2 == 1 { "replay" } else { "busy" };
        assert_eq!(answers.iter().map(code).collect::<Vec<_>>(), ["granted", "busy", "busy", last], "round {round}");
    }
    assert_eq!(world.store.chain_heads(None, None, 500).await.unwrap().len(), 200, "one row a round");
}

#[tokio::test(flavor = "multi_thread")]
async fn hc_01_twins_at_two_replicas_are_one_grant() {
    let world = World::new();
    let engines = [world.engine.clone(), world.another_engine()];
    for round in 0..50 {
        let key = format!("evt-{round}");
        let tries = (0..10).map(|n| {
            let request = request(&key, PAYLOAD, &format!("o{n}"));
            engines[n % 2].reserve(&world.caller, request)
        });

        let answers = join_all(tries).await;

        let granted = answers.iter().filter(|a| code(a.as_ref().unwrap()) == "granted").count();
        let busy = answers.iter().filter(|a| code(a.as_ref().unwrap()) == "busy").count();
        assert_eq!((granted, busy), (1, 9), "round {round}");
    }
}

#[tokio::test]
async fn hc_02_a_duplicate_is_told_the_real_run_and_later_its_result() {
    let world = World::new();
    let held = world.grant("k", "a").await;

    let Reserved::Busy { run: told, retry_after_ms } = world.reserve("k", PAYLOAD, "b").await else { panic!() };
    let followed = world.engine.run(&world.caller.tenant, told.id).await.unwrap();
    world.engine.complete(&world.call(&held, "complete", "r"), r#"{"crm_id":"N-1"}"#).await.unwrap();
    let Reserved::Replay { run: done } = world.reserve("k", PAYLOAD, "b").await else { panic!() };

    assert!(retry_after_ms > 0);
    assert_eq!((told.id, followed.id, done.id), (held.run.id, held.run.id, held.run.id));
    assert_eq!((followed.state.as_str(), done.state.as_str()), ("processing", "completed"));
    assert_eq!(done.result.unwrap().get(), r#"{"crm_id":"N-1"}"#);
    let after = world.engine.run(&world.caller.tenant, told.id).await.unwrap();
    assert_eq!(after.result.unwrap().get(), r#"{"crm_id":"N-1"}"#, "the reference still works");
}

/// What a sweeper that read the run now would write if it found the attempts used up.
async fn old_sweep(world: &World, id: effectgate_core::ids::RunId) -> Transition {
    let mut agg = world.agg(id).await;
    agg.run.attempts_max = agg.run.attempts;
    lease::overtaken(&agg, world.engine.now(), world.engine.policy()).unwrap()
}

async fn left_behind(world: &World) -> crate::common::Held {
    let held = world.grant("k", "a").await;
    world.clock.advance_ms(61_000);
    held
}

#[tokio::test]
async fn hc_03_a_sweep_on_an_old_reading_does_not_touch_what_another_owner_completed() {
    let world = World::new();
    let held = left_behind(&world).await;
    let old = old_sweep(&world, held.run.id).await;

    let next = world.grant("k", "b").await;
    world.engine.complete(&world.call(&next, "complete", "r"), r#"{"by":"b"}"#).await.unwrap();
    let swept = world.store.commit(old).await.unwrap();

    assert_eq!(swept, Commit::Lost);
    let run = world.engine.run(&world.caller.tenant, held.run.id).await.unwrap();
    assert_eq!((run.state.as_str(), run.result.unwrap().get()), ("completed", r#"{"by":"b"}"#));
    assert_eq!(world.engine.sweep_tick().await.unwrap().leases.moved, 0);
}

#[tokio::test]
async fn hc_03_a_sweep_on_an_old_reading_does_not_touch_what_another_owner_works_on() {
    let world = World::new();
    let held = left_behind(&world).await;
    let old = old_sweep(&world, held.run.id).await;

    let next = world.grant("k", "b").await;
    let before = world.agg(held.run.id).await;
    let swept = world.store.commit(old).await.unwrap();

    assert_eq!(swept, Commit::Lost);
    assert_eq!(world.agg(held.run.id).await, before, "owner, fence, version and lease are b's");
    assert!(before.holds_lease(&Owner::new("b"), Fence(next.lease.fence)));
    let report = world.engine.sweep_tick().await.unwrap();
    assert_eq!((report.leases.seen, report.leases.moved), (0, 0));
}

#[tokio::test]
async fn hc_03_a_sweep_of_a_sending_effect_loses_against_the_attempt_that_ended_meanwhile() {
    let world = World::new();
    world.provider.push(crate::common::Answer::Hang);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;
    let agg = world.agg(held.run.id).await;
    let old = effectgate_core::sending::expire(&agg.run, &agg.effects[0], world.engine.now()).unwrap();

    assert_eq!(world.store.commit(old.clone()).await.unwrap(), Commit::Lost, "its lease lives");
    world.provider.release(1);
    world.engine.dispatch_idle().await;
    world.clock.advance_ms(60_000);

    assert_eq!(world.store.commit(old).await.unwrap(), Commit::Lost);
    assert_eq!(world.effect_state(held.run.id).await, "completed");
}

#[tokio::test]
async fn hc_03_a_sweep_loses_the_row_that_moved_between_its_reading_and_its_write() {
    let world = World::with(Options { claims_max: 1, ..Options::default() });
    let mut ids = Vec::new();
    for n in 0..20 {
        ids.push(world.grant(&format!("k{n}"), "a").await.run.id);
    }
    world.clock.advance_ms(61_000);

    // Two sweepers over the same rows: each row is moved by one of them and lost, or not seen, by the other.
    let other = world.another_engine();
    let (one, two) = tokio::join!(world.engine.sweep_tick(), other.sweep_tick());

    let (one, two) = (one.unwrap().leases, two.unwrap().leases);
    assert_eq!(one.moved + two.moved, 20, "{one:?} {two:?}");
    for id in ids {
        assert_eq!(world.kinds(id).await, ["reserved", "abandoned"]);
    }
}

#[tokio::test]
async fn hc_04_a_lease_of_no_length_or_of_years_is_refused_and_leaves_no_row() {
    let world = World::new();
    for ms in [0, -1_000, 400, 1_000_000_000_000, i64::MIN, i64::MAX] {
        let mut asked = request("k", PAYLOAD, "w");
        asked.lease_ms = Some(ms);
        let refused = world.engine.reserve(&world.caller, asked).await;
        assert!(matches!(refused, Err(EngineError::BadLease(_))), "{ms}: {refused:?}");
    }
    assert!(world.store.chain_heads(None, None, 10).await.unwrap().is_empty());

    let held = world.grant("k", "w").await;
    let lease = world.agg(held.run.id).await.lease.unwrap();
    assert_eq!(lease.expires_at.ms_since(lease.since), 60_000, "left out: the flow's default");
    let (owner, fence) = (Owner::new("w"), Fence(held.lease.fence));
    for ms in [0, -1, 400, 1_000_000_000_000, i64::MAX] {
        let refused = world.engine.renew(&world.caller.tenant, held.run.id, &owner, fence, Some(ms)).await;
        assert!(matches!(refused, Err(EngineError::BadLease(_))), "{ms}: {refused:?}");
    }
    assert_eq!(world.agg(held.run.id).await.lease.unwrap().expires_at, lease.expires_at);
}

#[tokio::test]
async fn hc_04_no_row_in_processing_may_lack_an_end_of_its_lease() {
    let world = World::new();
    world.grant("k", "w").await;
    let raw = world.raw();

    let refused = raw.execute("UPDATE runs SET lease_expires_at = NULL", []).unwrap_err();
    let both = raw.execute("UPDATE runs SET lease_expires_at = NULL, lease_since = NULL", []).unwrap_err();

    assert!(refused.to_string().contains("CHECK") && both.to_string().contains("CHECK"), "{refused} {both}");
}

#[tokio::test]
async fn hc_05_a_takeover_is_judged_at_the_write_and_not_when_it_was_decided() {
    let world = World::new();
    let held = world.grant("k", "a").await;
    let mut agg = world.agg(held.run.id).await;
    // A claimer that believes the lease to be over, wrongly at first.
    agg.lease.as_mut().unwrap().is_live = false;
    let lease::Claim::Granted(claim) =
        lease::claim(&agg, &Owner::new("b"), 60_000, world.engine.now(), world.engine.policy())
    else {
        panic!("not claimable")
    };

    let early = world.store.commit(claim.clone()).await.unwrap();
    world.clock.advance_ms(60_000);
    let late = world.store.commit(claim).await.unwrap();

    assert_eq!(early, Commit::Lost);
    assert!(matches!(late, Commit::Committed { lease: Some(lease) } if lease.left_ms == 60_000), "{late:?}");
}

#[tokio::test]
async fn hc_05_an_owner_who_decided_in_time_and_writes_too_late_is_refused() {
    let world = World::new();
    let held = world.grant("k", "a").await;
    let agg = world.agg(held.run.id).await;
    let (owner, fence, now) = (Owner::new("a"), Fence(held.lease.fence), world.engine.now());
    let complete = effectgate_core::ending::complete(&agg, &owner, fence, "{}", now).unwrap();
    let mut complete = complete;
    complete.retain(&Options::default().retention);

    world.clock.advance_ms(60_000);

    assert_eq!(world.store.commit(complete).await.unwrap(), Commit::Lost);
    assert_eq!(world.agg(held.run.id).await.run.state, RunState::Processing);
}

#[tokio::test]
async fn hc_07_members_in_another_order_are_the_same_payload_and_elements_are_not() {
    let world = World::new();
    assert_eq!(came(&world, "k", handed!("hc07-a.json")).await, "granted");

    let Reserved::Busy { run, .. } = world.reserve("k", handed!("hc07-b.json"), "b").await else { panic!() };
    assert_eq!(code(&world.reserve("k", handed!("hc07-c.json"), "b").await), "conflict");

    let expected = handed!("hc07-expected.txt");
    let (_, hash) = run.payload_hash.rsplit_once(':').unwrap();
    assert!(expected.contains(&format!("a,b  {hash}")), "{}", run.payload_hash);
}

#[tokio::test]
async fn hc_08_names_sort_by_utf_16_units_so_three_spellings_are_one_payload() {
    let world = World::new();

    assert_eq!(came(&world, "k", handed!("hc08-a.json")).await, "granted");
    assert_eq!(came(&world, "k", handed!("hc08-b.json")).await, "granted again");
    let Reserved::Busy { run, .. } = world.reserve("k", handed!("hc08-c.json"), "b").await else { panic!() };

    let (_, hash) = run.payload_hash.rsplit_once(':').unwrap();
    assert!(handed!("hc08-expected.txt").contains(&format!("SHA-256 of those bytes: {hash}")));
}

#[tokio::test]
async fn hc_09_integers_that_no_double_holds_are_never_taken_for_each_other() {
    let world = World::new();
    assert_eq!(came(&world, "k", handed!("hc09-a.json")).await, "granted");
    assert_eq!(came(&world, "k", handed!("hc09-b.json")).await, "conflict");
    assert_eq!(came(&world, "k", handed!("hc09-c.json")).await, "conflict");
    assert_eq!(came(&world, "k", handed!("hc09-a.json")).await, "granted again");

    let refused = world.engine.reserve(&world.caller, request("k2", handed!("hc09-d.json"), "w")).await;
    let Err(EngineError::BadJson { pointer, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(pointer, "/payload/amount");

    // One rule, in the docs: a number whose decimal value no double keeps is another number.
    assert_eq!(came(&world, "k3", handed!("hc09-e.json")).await, "granted");
    assert_eq!(came(&world, "k3", handed!("hc09-f.json")).await, "conflict");
}

#[tokio::test]
async fn hc_09_every_digit_reaches_the_provider() {
    let world = World::new();
    let held = world.grant("k", "w").await;
    for (n, payload) in [handed!("hc09-a.json"), handed!("hc09-b.json"), handed!("hc09-e.json")].into_iter().enumerate()
    {
        let held = if n == 0 { held.clone() } else { world.grant(&format!("k{n}"), "w").await };
        world.propose(&held, &[("note", "c-1", payload)]).await;
        world.round().await;
        assert_eq!(world.provider.seen()[n].payload, payload);
    }
}

#[tokio::test]
async fn hc_10_the_named_part_of_an_envelope_is_the_identity() {
    let named = vec!["/params/name".to_owned(), "/params/arguments".to_owned()];
    let world = World::with(Options { identity: named, ..Options::default() });

    assert_eq!(came(&world, "k", handed!("hc10-1.json")).await, "granted");
    assert_eq!(code(&world.reserve("k", handed!("hc10-2.json"), "b").await), "busy");
    assert_eq!(code(&world.reserve("k", handed!("hc10-3.json"), "b").await), "conflict");
}

#[tokio::test]
async fn hc_10_with_the_whole_body_as_identity_the_answer_names_the_members_that_differ() {
    let world = World::new();
    assert_eq!(came(&world, "k", handed!("hc10-1.json")).await, "granted");

    let Reserved::Conflict { differs, stored, came, .. } = world.reserve("k", handed!("hc10-2.json"), "b").await else {
        panic!()
    };

    assert_eq!(differs, ["/id", "/params/_meta/progressToken"]);
    assert_ne!(stored, came);
    assert!(!format!("{differs:?}").contains("p2"), "names, never values");
}

#[tokio::test]
async fn hc_10_a_later_rule_turns_no_old_replay_into_a_conflict() {
    let mut world = World::with(Options { identity: vec!["/params/arguments".into()], ..Options::default() });
    assert_eq!(came(&world, "k", handed!("hc10-1.json")).await, "granted");

    world.restart_with(|options| options.identity = vec![String::new()]);

    assert_eq!(code(&world.reserve("k", handed!("hc10-2.json"), "b").await), "busy");
    assert_eq!(code(&world.reserve("k", handed!("hc10-3.json"), "b").await), "conflict");
    assert_eq!(code(&world.reserve("new", handed!("hc10-1.json"), "b").await), "granted");
    assert_eq!(
        code(&world.reserve("new", handed!("hc10-2.json"), "b").await),
        "conflict",
        "the new rule, for new keys"
    );
    assert!(IdentityRule::parse(&world.agg(world.id_of("k")).await.run.identity_rule).is_ok());
}

#[tokio::test]
async fn hc_47_nothing_a_duplicate_does_touches_the_original() {
    let world = World::new();
    let held = world.grant("k", "a").await;
    let id = held.run.id;
    assert_eq!(code(&world.reserve("k", PAYLOAD, "b").await), "busy");
    let before = world.agg(id).await;

    for (owner, fence) in [("b", 1), ("b", 2), ("b", 0), ("a", 2), ("a", 0), ("A", 1)] {
        let (name, tenant) = (Owner::new(owner), world.caller.tenant.clone());
        let call = |op: &str| LeaseCall::new(tenant.clone(), id, name.clone(), Fence(fence), op, b"x");
        let complete = world.engine.complete(&call("complete"), "{}").await;
        assert!(matches!(complete, Err(EngineError::LeaseLost { .. })), "{owner} {fence}");
        for class in ["worker_error", "agent_limit"] {
            let failed = world.engine.fail(&call(class), class, None).await;
            assert!(matches!(failed, Err(EngineError::LeaseLost { .. })), "{owner} {fence} {class}");
        }
        let renewed = world.engine.renew(&tenant, id, &name, Fence(fence), None).await;
        assert!(matches!(renewed, Err(EngineError::LeaseLost { .. })), "{owner} {fence}");
        let released = world.engine.release(&tenant, id, &crate::common::olga(), "because").await;
        assert!(matches!(released, Err(EngineError::WrongState { .. })));
    }
    assert_eq!(world.agg(id).await, before);
    assert_eq!(code(&world.reserve("k", r#"{"other":1}"#, "c").await), "conflict");

    let flagged = world.agg(id).await;
    assert_eq!(
        (&flagged.run.state, flagged.run.version, flagged.lease),
        (&before.run.state, before.run.version, before.lease)
    );
    assert_eq!(world.alerts().await, ["conflict"]);
    let done = world.engine.complete(&world.call(&held, "complete", "r"), "{}").await.unwrap();
    assert_eq!(done.answer.run.state, "completed");
    world.verify(id).await;
}
