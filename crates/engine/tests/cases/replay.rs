//! Bulk replay (SPEC section 12; HC-39): a dry run that cannot send, a plan that is executed once, whoever executes it
//! and wherever it is cut off.

use std::{collections::BTreeMap, sync::Arc};

use effectgate_core::{
    ids::{FlowName, ReplayId, RunId},
    key::KeyParts,
    provider::Class,
    replay::{ReplayFilter, ReplayState},
};
use effectgate_engine::{
    EngineError,
    notify::Channels,
    replay::{KeyView, PlanRequest, ReplayStanding, ReplayView, Verdict},
    reserve::KeyGiven,
};
use futures_util::future::join_all;

use crate::common::{Answer, HOUR, Options, World, asked, channel::Kept, enforcing, olga, request};

fn wanted(world: &World, state: ReplayState, dry_run: bool) -> PlanRequest {
    let now = effectgate_engine::clock::Clock::now(&world.clock);
    let filter = ReplayFilter {
        flow: FlowName::new("ticket"),
        event_type: None,
        since: now.plus_ms(-24 * HOUR),
        until: now.plus_ms(1),
        state,
    };
    PlanRequest { filter, limit: 100, reason: "the model is back".into(), dry_run }
}

async fn plan(world: &World, request: PlanRequest) -> ReplayView {
    world.engine.replay_plan(&world.caller.tenant, &olga(), request).await.unwrap()
}

async fn report(world: &World, id: ReplayId) -> ReplayView {
    world.engine.replay_find(&world.caller.tenant, id, true).await.unwrap()
}

/// Begins and works to the end, in this task.
async fn execute(world: &World, id: ReplayId) -> ReplayView {
    world.engine.replay_start(&world.caller.tenant, &olga(), id, None).await.unwrap();
    world.engine.replay_work(&world.caller.tenant, id).await.unwrap();
    report(world, id).await
}

async fn failed(world: &World, key: &str) -> RunId {
    let held = world.grant(key, "w").await;
    world.engine.fail(&world.call(&held, "fail", key), "model_timeout", None).await.unwrap();
    held.run.id
}

async fn quarantined(world: &World, key: &str) -> RunId {
    let held = world.grant(key, "w").await;
    world.engine.fail(&world.call(&held, "fail", key), "semantic", None).await.unwrap();
    held.run.id
}

fn keys(view: &ReplayView) -> &[KeyView] {
    view.keys.as_deref().unwrap()
}

/// Every row of every table, as text.
fn dump(world: &World) -> BTreeMap<String, Vec<String>> {
    let raw = world.raw();
    let mut names = raw.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let rows = |name: &String| {
        let mut all = raw.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let width = all.column_count();
        let line = |row: &rusqlite::Row<'_>| {
            Ok((0..width)
                .map(|n| format!("{:?}", row.get::<_, rusqlite::types::Value>(n).unwrap()))
                .collect::<Vec<_>>()
                .join("|"))
        };
        let mut lines: Vec<String> = all.query_map([], line).unwrap().map(Result::unwrap).collect();
        lines.sort();
        lines
    };
    names.iter().map(|name| (name.clone(), rows(name))).collect()
}

/// The tables that differ.
fn changed(before: &BTreeMap<String, Vec<String>>, after: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    after.iter().filter(|(name, rows)| before.get(*name) != Some(rows)).map(|(name, _)| name.clone()).collect()
}

/// 30 runs to be retried, 5 with an effect whose outcome nobody knows, 5 completed; mail and chat are heard.
async fn hc_39() -> (World, Kept, Kept) {
    let (mail, chat) = (Kept::default(), Kept::default());
    let channels =
        Channels { mail: Some(Arc::new(mail.clone())), chat: Some(Arc::new(chat.clone())), ..Channels::default() };
    let world = World::with(Options { channels, ..Options::default() });
    for n in 0..30 {
        failed(&world, &format!("failed-{n}")).await;
    }
    for n in 0..5 {
        world.provider.push(Answer::AcceptThenDrop);
        world.queued(&format!("unknown-{n}"), "c-1").await;
        world.round().await;
    }
    for n in 0..5 {
        world.queued(&format!("done-{n}"), "c-1").await;
        world.round().await;
    }
    world.engine.sweep_tick().await.unwrap();
    world.engine.notify_tick().await.unwrap();
    (world, mail, chat)
}

#[tokio::test]
async fn hc_39_a_dry_run_sends_nothing_and_changes_no_row_but_one_entry() {
    let (world, mail, chat) = hc_39().await;
    let heard = (world.provider.seen().len(), world.provider.looked(), mail.got().len(), chat.got().len());
    let before = dump(&world);

    let view = plan(&world, wanted(&world, ReplayState::Any, true)).await;

    let after = dump(&world);
    assert_eq!(changed(&before, &after), ["heads", "journal"]);
    let added: Vec<_> = after["journal"].iter().filter(|row| !before["journal"].contains(row)).collect();
    assert!(added.len() == 1 && added[0].contains("replay_dry_run"), "{added:?}");
    assert_eq!(after["journal"].len(), before["journal"].len() + 1);
    assert_eq!((view.dry_run, view.id, view.state), (true, None, ReplayStanding::DryRun));
    let counts = view.summary.counts;
    assert_eq!((counts.matching, counts.replayable, counts.refused, counts.with_results), (40, 30, 10, 5));
    let why = |code: &str| keys(&view).iter().filter(|key| key.refusal.as_deref() == Some(code)).count();
    assert_eq!((why("unknown_effect"), why("final")), (5, 5));
    let recovered = keys(&view).iter().filter(|key| key.verdict == Verdict::Recover);
    assert!(recovered.clone().all(|key| key.key.starts_with("failed-")));
    let touched: Vec<_> = view.summary.providers.iter().map(|p| (p.name.as_str(), p.class.as_str())).collect();
    assert_eq!(touched, [("crm", "advisory"), ("other", "advisory")], "target systems");
    assert!(keys(&view).iter().filter(|key| key.key.starts_with("done-")).all(|key| key.results.len() == 1));
    // Whatever wakes up afterwards finds nothing that the dry run left behind.
    world.round().await;
    world.engine.sweep_tick().await.unwrap();
    world.engine.notify_tick().await.unwrap();
    let now = (world.provider.seen().len(), world.provider.looked(), mail.got().len(), chat.got().len());
    assert_eq!(now, heard);
}

#[tokio::test]
async fn hc_39_the_real_run_after_it_does_just_what_the_dry_run_said() {
    let (world, mail, chat) = hc_39().await;
    let dry = plan(&world, wanted(&world, ReplayState::Any, true)).await;
    let sent = (world.provider.seen().len(), mail.got().len(), chat.got().len());

    let real = plan(&world, wanted(&world, ReplayState::Any, false)).await;
    assert_eq!((&real.summary, keys(&real)), (&dry.summary, keys(&dry)));
    assert_eq!(keys(&report(&world, real.id.unwrap()).await), keys(&real), "no outcome before the execution");
    let done = execute(&world, real.id.unwrap()).await;

    assert_eq!((done.state, done.total, done.done, done.skipped), (ReplayStanding::Done, 30, 30, 0));
    for (said, key) in keys(&dry).iter().zip(keys(&done)) {
        let recovered = said.verdict == Verdict::Recover;
        assert_eq!(key.outcome.as_deref(), recovered.then_some("done"), "{}", key.key);
        assert_eq!(world.kinds(key.run_id).await.contains(&"replayed".to_owned()), recovered, "{}", key.key);
        assert_eq!(key.before, said.before);
    }
    assert_eq!(
        (world.provider.seen().len(), mail.got().len(), chat.got().len()),
        sent,
        "a replay itself sends nothing"
    );
    world.verify_all().await;
    // Workers go on with the recovered runs, under their own keys.
    let claimed = world.engine.claim(&world.caller, &FlowName::new("ticket"), Some("w2"), None).await.unwrap();
    assert!(claimed.is_some());
    let now = report(&world, real.id.unwrap()).await;
    let states = |key: &KeyView| (key.after.as_ref().unwrap().state.clone(), key.now.as_ref().unwrap().state.clone());
    let moved = keys(&now).iter().filter(|key| key.outcome.is_some()).map(states);
    assert_eq!(moved.filter(|(after, now)| after == "failed_retryable" && now == "processing").count(), 1);
}

#[tokio::test]
async fn executing_twice_creates_nothing() {
    let world = World::new();
    for n in 0..3 {
        failed(&world, &format!("k{n}")).await;
    }
    let id = plan(&world, wanted(&world, ReplayState::FailedRetryable, false)).await.id.unwrap();
    let first = execute(&world, id).await;
    let before = dump(&world);

    let second = execute(&world, id).await;

    assert_eq!(changed(&before, &dump(&world)), Vec::<String>::new());
    assert_eq!((keys(&second), second.done), (keys(&first), 3));
    // A second plan over the same runs is another decision, and is one entry more in each.
    let again = plan(&world, wanted(&world, ReplayState::FailedRetryable, false)).await;
    assert_eq!(again.summary.counts.replayable, 3);
}

#[tokio::test]
async fn what_changed_since_the_plan_is_skipped_with_its_reason() {
    let world = World::new();
    let (claimed, kept) = (failed(&world, "claimed").await, failed(&world, "kept").await);
    let id = plan(&world, wanted(&world, ReplayState::FailedRetryable, false)).await.id.unwrap();
    world.grant("claimed", "w2").await;

    let done = execute(&world, id).await;

    let of = |run: RunId| keys(&done).iter().find(|key| key.run_id == run).unwrap().clone();
    assert_eq!((of(claimed).outcome.as_deref(), of(claimed).why.as_deref()), (Some("skipped"), Some("changed")));
    assert_eq!((of(kept).outcome.as_deref(), done.done, done.skipped), (Some("done"), 1, 1));
    assert_eq!(world.agg(claimed).await.run.state.as_str(), "processing");
    assert!(!world.kinds(claimed).await.contains(&"replayed".to_owned()));
}

#[tokio::test]
async fn a_run_that_the_database_will_not_write_holds_up_no_other_one_of_its_plan() {
    let world = World::new();
    let (broken, sound) = (failed(&world, "broken").await, failed(&world, "sound").await);
    let id = plan(&world, wanted(&world, ReplayState::FailedRetryable, false)).await.id.unwrap();
    let refuse = "CREATE TRIGGER refuses BEFORE UPDATE ON runs WHEN NEW.key = 'broken'
        BEGIN SELECT RAISE(ABORT, 'never'); END";
    world.raw().execute_batch(refuse).unwrap();

    let done = execute(&world, id).await;

    let of = |run: RunId| keys(&done).iter().find(|key| key.run_id == run).unwrap().clone();
    assert_eq!((of(broken).outcome.as_deref(), of(broken).why.as_deref()), (Some("skipped"), Some("fault")));
    assert_eq!((of(sound).outcome.as_deref(), done.state), (Some("done"), ReplayStanding::Done));
    assert!(!world.kinds(broken).await.contains(&"replayed".to_owned()));
}

#[tokio::test]
async fn a_plan_that_was_cut_off_goes_on_by_the_sweeper_and_does_nothing_twice() {
    let world = World::new();
    for n in 0..60 {
        failed(&world, &format!("k{n}")).await;
    }
    let id = plan(&world, wanted(&world, ReplayState::FailedRetryable, false)).await.id.unwrap();
    world.engine.replay_start(&world.caller.tenant, &olga(), id, Some("looked at it")).await.unwrap();
    world.engine.sweep_tick().await.unwrap();
    let half = report(&world, id).await;
    assert_eq!((half.state, half.dealt_with() > 0, half.dealt_with() < 60), (ReplayStanding::Running, true, true));
    // Killed between a recovery and the note that it was done.
    let one = keys(&half).iter().find(|key| key.outcome.as_deref() == Some("done")).unwrap().run_id;
    let forget = "UPDATE replay_items SET state = 'waiting', outcome = NULL WHERE run_id = ?1";
    assert_eq!(world.raw().execute(forget, [one.as_bytes()]).unwrap(), 1);
    let world = world.killed();

    for _ in 0..4 {
        world.engine.sweep_tick().await.unwrap();
    }

    let done = report(&world, id).await;
    assert_eq!((done.state, done.done, done.skipped), (ReplayStanding::Done, 60, 0));
    for key in keys(&done) {
        let entries = world.facts(key.run_id, "replayed").await;
        assert_eq!(entries.len(), 1, "{}", key.key);
        assert_eq!(entries[0]["reason"], "looked at it");
    }
    world.verify_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_replicas_that_execute_one_plan_do_each_item_once() {
    let world = World::new();
    for n in 0..20 {
        failed(&world, &format!("k{n}")).await;
    }
    let id = plan(&world, wanted(&world, ReplayState::FailedRetryable, false)).await.id.unwrap();
    let (one, two) = (world.another_engine(), world.another_engine());
    let (tenant, actor) = (&world.caller.tenant, olga());
    let (a, b) = tokio::join!(
        one.replay_start(tenant, &actor, id, Some("one")),
        two.replay_start(tenant, &actor, id, Some("two"))
    );
    a.unwrap();
    b.unwrap();
    // Past the hold, as two would be whose clocks or networks stalled: each has the same items in hand.
    let found = world.store.replay_find(tenant, id).await.unwrap().unwrap();
    let items = world.store.replay_items(id, 0, 100, true).await.unwrap();
    let both = [&one, &two].map(|engine| join_all(items.iter().map(|item| engine.replay_item(&found, item.clone()))));
    for result in join_all(both).await.into_iter().flatten() {
        result.unwrap();
    }
    world.engine.replay_work(tenant, id).await.unwrap();

    let done = report(&world, id).await;
    assert_eq!((done.state, done.done, done.skipped), (ReplayStanding::Done, 20, 0));
    for key in keys(&done) {
        assert_eq!(world.facts(key.run_id, "replayed").await.len(), 1, "{}", key.key);
    }
    let house = RunId::house(tenant);
    let kinds = world.kinds(house).await;
    assert_eq!(kinds, ["replay_planned", "replay_started", "replay_ended"], "begun once, ended once");
}

#[tokio::test]
async fn a_lease_that_is_over_and_what_was_held_back_are_recovered_even_with_their_attempts_used_up() {
    let world = World::with(Options { claims_max: 1, ..Options::default() });
    let left = world.grant("left", "w").await.run.id;
    let held = quarantined(&world, "held").await;
    world.clock.advance_ms(60_001);

    let view = plan(&world, wanted(&world, ReplayState::Any, false)).await;
    execute(&world, view.id.unwrap()).await;

    assert_eq!(world.agg(left).await.run.state.as_str(), "failed_retryable");
    assert_eq!(world.agg(held).await.run.state.as_str(), "queued");
    for _ in 0..2 {
        let claimed = world.engine.claim(&world.caller, &FlowName::new("ticket"), Some("w2"), None).await.unwrap();
        assert!(claimed.is_some(), "once more");
    }
}

#[tokio::test]
async fn what_was_held_back_for_its_schema_is_refused_until_something_was_mended() {
    let mut world = World::new();
    let held = quarantined(&world, "held").await;
    let wants_name = serde_json::json!({"type": "object", "required": ["name"]});
    world.restart_with(|options| options.payload_schema = Some(wants_name));
    let refused = plan(&world, wanted(&world, ReplayState::Quarantined, true)).await;
    assert_eq!(keys(&refused)[0].refusal.as_deref(), Some("still_invalid"));

    world.restart_with(|options| options.payload_schema = None);
    let view = plan(&world, wanted(&world, ReplayState::Quarantined, false)).await;
    execute(&world, view.id.unwrap()).await;

    assert_eq!(world.agg(held).await.run.state.as_str(), "queued");
}

#[tokio::test]
async fn a_filter_by_event_type_finds_only_keys_that_came_in_parts() {
    let world = World::new();
    failed(&world, "whole").await;
    for (event_type, id) in [("order.paid", "1"), ("order.refused", "2")] {
        let parts = KeyParts {
            source: "shop".into(),
            event_type: event_type.into(),
            external_id: id.into(),
            version: "1".into(),
        };
        let asked = effectgate_engine::reserve::Request { key: KeyGiven::Parts(parts), ..request("", "{}", "w") };
        world.engine.reserve(&world.caller, asked).await.unwrap();
    }
    let mut wish = wanted(&world, ReplayState::Any, true);
    wish.filter.event_type = Some("order.paid".into());

    let view = plan(&world, wish).await;

    let found: Vec<_> = keys(&view).iter().map(|key| key.key.as_str()).collect();
    assert_eq!(found, ["shop:order.paid:1:1"]);
    assert_eq!(view.filter.event_type, "order.paid");
}

#[tokio::test]
async fn a_plan_holds_no_more_than_its_limit_and_says_so() {
    let world = World::new();
    for n in 0..5 {
        failed(&world, &format!("k{n}")).await;
    }

    let view = plan(&world, PlanRequest { limit: 3, ..wanted(&world, ReplayState::FailedRetryable, true) }).await;

    assert_eq!((view.summary.counts.matching, view.summary.more), (3, true));
    for limit in [0, 1_001] {
        let asked = PlanRequest { limit, ..wanted(&world, ReplayState::Any, true) };
        let refused = world.engine.replay_plan(&world.caller.tenant, &olga(), asked).await;
        assert!(matches!(refused, Err(EngineError::BadMember { pointer, .. }) if pointer == "/limit"));
    }
    let unsaid = PlanRequest { reason: " ".into(), ..wanted(&world, ReplayState::Any, true) };
    let refused = world.engine.replay_plan(&world.caller.tenant, &olga(), unsaid).await;
    assert!(matches!(refused, Err(EngineError::ReasonRequired)));
}

#[tokio::test]
async fn a_plan_that_was_not_executed_in_time_is_not_executed() {
    let world = World::new();
    let run = failed(&world, "k").await;
    let id = plan(&world, wanted(&world, ReplayState::FailedRetryable, false)).await.id.unwrap();
    world.clock.advance_ms(15 * 60_000);

    let late = world.engine.replay_start(&world.caller.tenant, &olga(), id, None).await;

    assert!(matches!(late, Err(EngineError::ReplayExpired { .. })));
    assert_eq!(report(&world, id).await.state, ReplayStanding::Expired);
    assert!(!world.kinds(run).await.contains(&"replayed".to_owned()));
}

#[tokio::test]
async fn an_inline_effect_in_doubt_is_the_desks_at_an_advisory_provider_and_the_next_owners_at_an_enforcing_one() {
    for (class, refusal) in [(enforcing(), None), (Class::Advisory, Some("unknown_effect"))] {
        let world = World::with(Options { class, ..Options::default() });
        let held = world.grant("k", "w").await;
        let note = asked(&[("note", "c-1", "{}")]).effects.unwrap().remove(0);
        world.engine.begin(&world.call(&held, "begin", "x"), &note).await.unwrap();
        world.clock.advance_ms(60_001);

        let view = plan(&world, wanted(&world, ReplayState::Processing, false)).await;
        let done = execute(&world, view.id.unwrap()).await;

        assert_eq!(keys(&view)[0].refusal.as_deref(), refusal);
        assert_eq!(view.summary.cost.effects_open, usize::from(refusal.is_none()));
        assert_eq!(done.done, i64::from(refusal.is_none()));
        assert_eq!(world.effect_state(held.run.id).await, "sending", "a replay touches no effect");
    }
}
