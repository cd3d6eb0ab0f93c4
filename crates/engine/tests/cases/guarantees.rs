//! The guarantees of the product, one test each under its own name (the race-heavy ones stand beside their cases), and
//! where the guard can be taken out in a test, a control that shows what would happen without it.

use effectgate_core::{
    approval::{Refused, Verdict, Wish},
    effect::EffectState,
    gate::Gate,
    ids::{Fence, Owner},
    lease,
    operate::{Asker, Resolution},
    switch::{Ceiling, Scope},
    transition::{LeaseGuard, SendingGuard},
};
use effectgate_engine::{EngineError, propose::Proposal, reserve::Reserved};
use effectgate_store::Commit;
use futures_util::future::join_all;

use crate::common::{Answer, Held, Options, PAYLOAD, World, asked, enforcing, lead, request};

fn asks() -> Options {
    Options { gate: Gate::Approve, ..Options::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn g1_one_lease_over_threads_replicas_takeovers_and_renewals() {
    let world = World::with(Options { claims_max: 100, ..Options::default() });
    let engines = [world.engine.clone(), world.another_engine(), world.another_engine()];
    for round in 0..20 {
        let tries =
            (0..12).map(|n| engines[n % 3].reserve(&world.caller, request("k", PAYLOAD, &format!("o{round}-{n}"))));
        let granted: Vec<_> = join_all(tries)
            .await
            .into_iter()
            .filter_map(|answer| match answer.unwrap() {
                Reserved::Granted { lease, repeated: false, .. } => Some(lease.fence),
                _ => None,
            })
            .collect();
        assert_eq!(granted, [round + 1], "one lease, and its fence rose by one");
        world.clock.advance_ms(61_000);
    }
}

#[tokio::test]
async fn g1_one_lease_control_without_the_lease_guard_a_second_lease_would_be_given() {
    let world = World::new();
    let held = world.grant("k", "a").await;
    let mut agg = world.agg(held.run.id).await;
    agg.lease.as_mut().unwrap().is_live = false;
    let lease::Claim::Granted(claim) =
        lease::claim(&agg, &Owner::new("b"), 60_000, world.engine.now(), world.engine.policy())
    else {
        panic!()
    };
    let mut unguarded = claim.clone();
    unguarded.lease_guard = LeaseGuard::Any;

    assert_eq!(world.store.commit(claim).await.unwrap(), Commit::Lost);
    assert!(matches!(world.store.commit(unguarded).await.unwrap(), Commit::Committed { .. }));
}

#[tokio::test]
async fn g2_fenced_writes_of_a_late_owner_change_nothing_and_are_told_what_is_there() {
    let world = World::new();
    let late = world.grant("k", "a").await;
    world.clock.advance_ms(61_000);
    let there = world.grant("k", "b").await;
    let before = world.agg(late.run.id).await;
    let (call, owner, fence) = (|op: &str| world.call(&late, op, "x"), Owner::new("a"), Fence(late.lease.fence));
    let engine = &world.engine;

    let complete = engine.complete(&call("complete"), "{}").await.map(|_| ());
    let fail = engine.fail(&call("fail"), "worker_error", None).await.map(|_| ());
    let propose = engine.propose(&call("proposal"), &asked(&[("note", "c-1", "{}")])).await.map(|_| ());
    let renew = engine.renew(&world.caller.tenant, late.run.id, &owner, fence, None).await.map(|_| ());
    let begin = effectgate_engine::propose::Asked {
        effect_type: "note".into(),
        target: Some("c-1".into()),
        payload: "{}".into(),
    };
    let begin = engine.begin(&call("begin"), &begin).await.map(|_| ());

    for refused in [complete, fail, propose, renew, begin] {
        let Err(EngineError::LeaseLost { run }) = refused else { panic!("{refused:?}") };
        assert_eq!((run.id, run.attempts), (late.run.id, 2), "told what is there now");
    }
    assert_eq!(world.agg(late.run.id).await, before);
    assert!(before.holds_lease(&Owner::new("b"), Fence(there.lease.fence)));
}

#[tokio::test]
async fn g2_fenced_writes_control_without_the_sending_guard_a_late_settlement_would_count() {
    let world = World::new();
    world.provider.push(Answer::Hang);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;
    let agg = world.agg(held.run.id).await;
    let provider = &world.engine.policy().provider(&agg.effects[0].provider).unwrap().provider;
    let report = effectgate_core::outcome::Report::not_sent(effectgate_core::outcome::Phase::Connect, "late");
    let success = effectgate_core::retry::Success { external_id: None, member: None };
    let found = effectgate_core::retry::classify(&report, provider, &success, world.engine.now());
    let now = world.engine.now();
    let late = effectgate_core::sending::settle(&agg.run, &agg.effects[0], provider, now, &report, &found, now, 0.5);
    world.clock.advance_ms(60_000);
    let mut unguarded = late.clone();
    unguarded.sending_guard = SendingGuard::Any;

    assert_eq!(world.store.commit(late).await.unwrap(), Commit::Lost, "the dispatcher's lease is over");
    assert!(matches!(world.store.commit(unguarded).await.unwrap(), Commit::Committed { .. }));
}

#[tokio::test]
async fn g2_fenced_writes_an_attempt_that_stood_still_beyond_its_lease_writes_nothing() {
    let world = World::new();
    world.provider.push(Answer::HoldBeforeWrite);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;
    world.clock.advance_ms(60_000);
    world.engine.sweep_tick().await.unwrap();
    let id = world.agg(held.run.id).await.effects[0].id;
    world.resolve(id, Resolution::Cancel).await.unwrap();

    world.provider.release(1);
    world.engine.dispatch_idle().await;

    assert!(world.provider.seen().is_empty(), "a person was told that nothing was sent");
    assert_eq!(world.effect_state(held.run.id).await, "cancelled");
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

#[tokio::test]
async fn g3_one_payload_another_is_a_conflict_in_every_state_recorded_told_and_never_merged() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), ..Options::default() });
    let runs = in_every_state(&world).await;
    for (word, held) in &runs {
        let before = world.agg(held.run.id).await;
        let content = world.store.run_content(&world.caller.tenant, held.run.id).await.unwrap();

        let answer = world.reserve(word, r#"{"another":1}"#, "x").await;

        assert!(matches!(answer, Reserved::Conflict { .. }), "{word}: {answer:?}");
        let after = world.agg(held.run.id).await;
        assert_eq!((&after.run.state, after.run.version), (&before.run.state, before.run.version), "{word}");
        assert_eq!(after.run.payload_hash, before.run.payload_hash);
        assert_eq!(world.store.run_content(&world.caller.tenant, held.run.id).await.unwrap(), content);
        assert_eq!(world.facts(held.run.id, "conflict").await.len(), 1, "{word}");
    }
    let conflicts = world.alerts().await.into_iter().filter(|a| a == "conflict").count();
    assert_eq!(conflicts, runs.len());
}

#[tokio::test]
async fn g4_no_restart_of_what_is_decided_waiting_or_over() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), ..Options::default() });
    for (word, held) in in_every_state(&world).await {
        world.clock.advance_ms(61_000);
        let answer = world.reserve(word, PAYLOAD, "another").await;
        let starts = matches!(word, "processing" | "failed_retryable");
        assert_eq!(matches!(answer, Reserved::Granted { .. }), starts, "{word}: {answer:?}");
        if !starts {
            assert!(matches!(&answer, Reserved::Replay { run } if run.state == word && run.id == held.run.id));
            assert_eq!(world.agg(held.run.id).await.run.attempts, 1);
        }
    }
    let flow = effectgate_core::ids::FlowName::new("ticket");
    world.clock.advance_ms(61_000);
    while let Some(Reserved::Granted { run, .. }) =
        world.engine.claim(&world.caller, &flow, Some("poll"), None).await.unwrap()
    {
        assert!(matches!(run.key.as_str(), "processing" | "failed_retryable"), "{}", run.key);
    }
}

#[tokio::test]
async fn g5_decided_bytes_are_the_only_bytes_that_leave() {
    let world = World::new();
    let held = world.queued("k", "c-1").await;
    world.raw().execute("UPDATE effects SET payload = '{\"text\":\"forged\"}'", []).unwrap();

    world.round().await;

    assert!(world.provider.seen().is_empty());
    let effect = &world.agg(held.run.id).await.effects[0];
    assert_eq!((effect.state.as_str(), effect.reason.as_deref()), ("review", Some("bytes_changed")));

    // The control: the same row with the bytes that were decided goes.
    let control = world.queued("control", "c-1").await;
    world.round().await;
    assert_eq!(world.effect_state(control.run.id).await, "completed");
}

#[tokio::test]
async fn g5_decided_bytes_an_approval_is_bound_to_what_was_shown() {
    let world = World::with(asks());
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", "{}")]).await;
    let agg = world.agg(held.run.id).await;
    let id = agg.approvals[0].id;
    let other = effectgate_core::digest::Digest::of(b"another card");
    let wish = |shown| Wish { verdict: Verdict::Approve, reason: None, shown, edited: None };

    let stale = world.engine.decide(&world.caller.tenant, id, &lead("anna"), &wish(other)).await;
    assert!(matches!(stale, Err(EngineError::DecisionRefused { why: Refused::Changed { .. }, .. })));
    let forged = r#"UPDATE approvals SET proposed = replace(proposed, '"c-1"', '"c-2"')"#;
    assert_eq!(world.raw().execute(forged, []).unwrap(), 1);
    let shown = agg.approvals[0].effects_hash;
    let refused = world.engine.decide(&world.caller.tenant, id, &lead("anna"), &wish(shown)).await;

    assert!(matches!(refused, Err(EngineError::DecisionRefused { why: Refused::Changed { .. }, .. })), "{refused:?}");
    assert!(world.agg(held.run.id).await.effects.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn g6_single_use_a_repeated_click_gets_the_first_answer_and_one_effect() {
    let world = World::with(asks());
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", "{}")]).await;
    let anna = lead("anna");

    let clicks = join_all((0..10).map(|_| world.decide(held.run.id, &anna, Verdict::Approve))).await;

    let first = clicks.iter().filter(|c| !c.as_ref().unwrap().repeated).count();
    assert_eq!(first, 1);
    assert!(clicks.iter().all(|c| c.as_ref().unwrap().run.state == "approved"));
    world.round().await;
    assert_eq!((world.provider.seen().len(), world.facts(held.run.id, "decided").await.len()), (1, 1));
}

#[tokio::test]
async fn g7_atomic_decision_a_failure_anywhere_in_it_leaves_nothing_of_it() {
    for (table, when) in [
        ("effects", "BEFORE INSERT"),
        ("journal", "BEFORE INSERT"),
        ("approvals", "BEFORE UPDATE"),
        ("runs", "BEFORE UPDATE"),
    ] {
        let world = World::with(asks());
        let held = world.grant("k", "w").await;
        world.propose(&held, &[("note", "c-1", "{}")]).await;
        let before = world.agg(held.run.id).await;
        let kinds = world.kinds(held.run.id).await;
        let raw = world.raw();
        raw.execute_batch(&format!("CREATE TRIGGER broken {when} ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END"))
            .unwrap();

        assert!(world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.is_err(), "{table}");

        assert_eq!(world.agg(held.run.id).await, before, "{table}");
        assert_eq!(world.kinds(held.run.id).await, kinds, "{table}");
        raw.execute_batch("DROP TRIGGER broken").unwrap();
        world.decide(held.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    }
}

#[tokio::test]
async fn g8_intent_first_the_attempt_is_on_the_disk_before_the_first_byte() {
    let world = World::new();
    world.provider.push(Answer::HoldBeforeWrite);
    let held = world.queued("k", "c-1").await;
    world.engine.dispatch_tick().await.unwrap();
    world.provider.until_hanging(1).await;

    let killed = world.killed();
    let attempts = killed.store.attempt_list(held.run.id).await.unwrap();
    assert_eq!((attempts.len(), world.provider.seen().len()), (1, 0));
    assert!(attempts[0].end.is_none());
    killed.pass(1, 61_000).await;

    assert_eq!(killed.effect_state(held.run.id).await, "review", "started without an end: unknown, never pending");
    assert!(killed.provider.seen().is_empty(), "and not sent by the process that found it");
    world.provider.release(1);
}

#[tokio::test]
async fn g9_honest_outcome_only_proof_and_definite_answers_settle() {
    let table = [
        (Answer::Ok, "completed"),
        (Answer::ConnectionRefused, "pending"),
        (Answer::Status(429, None), "pending"),
        (Answer::Status(503, Some("1".into())), "pending"),
        (Answer::Status(400, None), "failed"),
        (Answer::Status(401, None), "failed"),
        (Answer::Status(404, None), "failed"),
        (Answer::Status(422, None), "failed"),
        (Answer::Status(302, None), "failed"),
        (Answer::Status(408, None), "unknown"),
        (Answer::Status(409, None), "unknown"),
        (Answer::Status(500, None), "unknown"),
        (Answer::Status(502, None), "unknown"),
        (Answer::Status(503, None), "unknown"),
        (Answer::Status(504, None), "unknown"),
        (Answer::AcceptThenDrop, "unknown"),
        (Answer::OkWith(200, "<html>not JSON".into()), "unknown"),
        (Answer::PanicOnTheWire, "unknown"),
        (Answer::Panic, "pending"),
    ];
    for class in [effectgate_core::provider::Class::Advisory, enforcing()] {
        for (answer, state) in &table {
            let world = World::with(Options { class, ..Options::default() });
            world.provider.push(answer.clone());
            let held = world.queued("k", "c-1").await;
            world.round().await;
            assert_eq!(world.effect_state(held.run.id).await, *state, "{answer:?} at {}", class.as_str());
        }
    }
}

#[tokio::test]
async fn g10_no_blind_resend_at_an_advisory_provider_without_a_persons_word() {
    let world = World::new();
    world.provider.push(Answer::AcceptThenDrop);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(200, 600_000).await;
    assert_eq!(world.provider.seen().len(), 1);
    let id = world.agg(held.run.id).await.effects[0].id;

    let unnamed =
        world.engine.resolve(&world.caller.tenant, id, &crate::common::olga(), &Resolution::SendAgain, "  ").await;
    assert!(matches!(unnamed, Err(EngineError::ReasonRequired)));
    world.resolve(id, Resolution::SendAgain).await.unwrap();
    world.round().await;

    assert_eq!(world.provider.seen().len(), 2);
    let entries = world.store.journal_read(held.run.id, 0, 1_000).await.unwrap();
    let word = entries.iter().find(|e| e.kind == "effect_resolved").unwrap();
    assert!(word.text.contains(r#""actor":"user:olga""#), "{}", word.text);

    // The control: an enforcing provider, where the same key makes it safe.
    let control = World::with(Options { class: enforcing(), ..Options::default() });
    control.provider.push(Answer::AcceptThenDrop);
    control.queued("k", "c-1").await;
    control.round().await;
    control.pass(1, 60_000).await;
    assert_eq!(control.provider.seen().len(), 2);
}

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

#[tokio::test]
async fn g12_monotonic_what_is_final_stays_as_it_is_whatever_comes() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), ..Options::default() });
    let sent = world.queued("sent", "c-1").await;
    world.round().await;
    let refused = world.queued("refused", "c-1").await;
    let effect = world.agg(refused.run.id).await.effects[0].id;
    world
        .engine
        .cancel(&world.caller.tenant, effect, &Asker::operator(crate::common::olga()), "not wanted")
        .await
        .unwrap();
    let done = world.grant("done", "w").await;
    world.engine.complete(&world.call(&done, "complete", "1"), r#"{"n":1}"#).await.unwrap();
    for held in [&sent, &refused, &done] {
        let before = world.agg(held.run.id).await;
        assert!(before.run.state.is_final());

        let _ = world.engine.complete(&world.call(held, "complete", "2"), r#"{"n":2}"#).await.unwrap_err();
        let _ = world.engine.fail(&world.call(held, "fail", "2"), "worker_error", None).await.unwrap_err();
        for effect in &before.effects {
            let _ = world.resolve(effect.id, Resolution::SendAgain).await.unwrap_err();
            let _ = world.resolve(effect.id, Resolution::Cancel).await.unwrap_err();
        }
        let tenant = &world.caller.tenant;
        let _ = world.engine.close(tenant, held.run.id, &crate::common::olga(), "x").await.unwrap_err();
        world.pass(5, 600_000).await;

        assert_eq!(world.agg(held.run.id).await, before);
    }
}

#[tokio::test]
async fn g13_whole_record_every_change_of_a_run_has_its_entry() {
    let world = World::with(Options { mail_gate: Some(Gate::Approve), class: enforcing(), ..Options::default() });
    world.provider.push(Answer::AcceptThenDrop);
    let runs = in_every_state(&world).await;
    world.round().await;
    world.pass(2, 60_000).await;
    world.decide(world.id_of("awaiting_human"), &lead("anna"), Verdict::Approve).await.unwrap();
    world.round().await;

    for (word, held) in runs {
        let agg = world.agg(held.run.id).await;
        world.verify(held.run.id).await;
        assert!(agg.run.head.seq >= agg.run.version, "{word}: a version without an entry");
    }
    // The control: a row that moved without an entry is found.
    world.raw().execute("UPDATE runs SET journal_seq = journal_seq + 1 WHERE key = 'completed'", []).unwrap();
    let agg = world.agg(world.id_of("completed")).await;
    let entries = world.store.journal_read(agg.run.id, 0, 100).await.unwrap();
    assert!(effectgate_core::journal::verify(agg.run.id, &entries, agg.run.head).is_err());
}

#[tokio::test]
async fn g13_whole_record_erasing_content_leaves_a_chain_that_verifies_and_no_content() {
    let world = World::new();
    let held = world.grant("k", "w").await;
    world.propose(&held, &[("note", "c-1", r#"{"text":"Dear Ms Berg"}"#)]).await;
    world.round().await;
    world.clock.advance_ms(31 * 24 * crate::common::HOUR);
    world.engine.sweep_tick().await.unwrap();

    world.verify(held.run.id).await;
    assert_eq!(world.kinds(held.run.id).await.last().map(String::as_str), Some("purged"));
    let agg = world.agg(held.run.id).await;
    assert_eq!((agg.run.state.as_str(), agg.effects[0].payload.as_str()), ("completed", ""));
    assert!(matches!(world.reserve("k", PAYLOAD, "w").await, Reserved::Replay { .. }), "the key still stands");
}

#[tokio::test]
async fn g14_durable_ack_what_was_answered_is_there_after_a_kill() {
    let world = World::with(asks());
    let reserved = world.grant("reserved", "w").await;
    assert_eq!(world.killed().agg(reserved.run.id).await.run.state.as_str(), "processing");
    let asking = world.grant("asking", "w").await;
    let answer = world.propose(&asking, &[("note", "c-1", "{}")]).await;
    assert!(matches!(answer, Proposal::Waiting { .. }));
    assert_eq!(world.killed().agg(asking.run.id).await.run.state.as_str(), "awaiting_human");
    world.decide(asking.run.id, &lead("anna"), Verdict::Approve).await.unwrap();
    let killed = world.killed();
    assert_eq!(killed.effect_state(asking.run.id).await, "pending");
    world.engine.complete(&world.call(&reserved, "complete", "r"), r#"{"crm_id":"N-1"}"#).await.unwrap();

    let killed = world.killed();
    let replayed = killed.reserve("reserved", PAYLOAD, "w2").await;
    let Reserved::Replay { run } = replayed else { panic!("{replayed:?}") };
    assert_eq!(run.result.unwrap().get(), r#"{"crm_id":"N-1"}"#);
    killed.verify_all().await;
    killed.round().await;
    assert_eq!(killed.effect_state(asking.run.id).await, "completed");
}

#[tokio::test]
async fn g14_durable_ack_a_store_that_is_dropped_without_being_closed_has_everything() {
    let mut world = World::new();
    let held = world.queued("k", "c-1").await;
    world.turn(Scope::Provider, "crm", false).await;

    world.reopen();

    assert_eq!(world.effect_state(held.run.id).await, "pending");
    assert_eq!(world.round().await, 0, "the switch is as it was turned");
    world.turn(Scope::Provider, "crm", true).await;
    world.round().await;
    assert_eq!(world.effect_state(held.run.id).await, "completed");
}

#[tokio::test]
async fn g15_bounded_attempts_takeovers_repairs_lease_life_and_refusals() {
    let world = World::with(Options { claims_max: 3, attempts_max: 3, ..Options::default() });
    world.provider.always(Answer::ConnectionRefused);
    let sent = world.queued("sent", "c-1").await;
    world.round().await;
    world.pass(100, 60_000).await;
    assert_eq!(world.store.attempt_list(sent.run.id).await.unwrap().len(), 3);

    let held = world.grant("renewed", "w").await;
    let (owner, fence) = (Owner::new("w"), Fence(held.lease.fence));
    let since = world.agg(held.run.id).await.lease.unwrap().since;
    let mut last = since;
    for _ in 0..100 {
        world.clock.advance_ms(59_000);
        match world.engine.renew(&world.caller.tenant, held.run.id, &owner, fence, None).await {
            Ok(lease) => last = lease.expires_at,
            Err(refused) => assert!(matches!(refused, EngineError::LeaseLost { .. }), "{refused}"),
        }
    }
    assert_eq!(last.ms_since(since), 1_800_000, "a chain of renewals has an end");

    let flooded = world.grant("flooded", "w").await;
    for n in 0..100 {
        world.reserve("flooded", &format!("[{n}]"), "x").await;
    }
    let refusals = world.facts(flooded.run.id, "conflict").await.len();
    assert_eq!(refusals, usize::try_from(lease::REFUSALS_MAX).unwrap(), "nobody fills a disk with refused tries");

    let huge = vec![("note", "c-1", "{}"); effectgate_engine::propose::EFFECTS_MAX + 1];
    let many = world.propose(&world.grant("many", "w").await, &huge).await;
    assert!(matches!(many, Proposal::Invalid { .. }), "{many:?}");
}

#[tokio::test]
async fn g15_bounded_attempts_under_way_at_once() {
    let world = World::with(Options { concurrent: 4, ..Options::default() });
    world.provider.always(Answer::Hang);
    for n in 0..10 {
        world.queued(&format!("k{n}"), "c-1").await;
    }
    let report = world.engine.dispatch_tick().await.unwrap();
    let more = world.engine.dispatch_tick().await.unwrap();

    assert_eq!((report.started, more.started, world.engine.under_way()), (4, 0, 4));
    world.provider.release(100);
    world.engine.dispatch_idle().await;
    let mut completed = 0;
    for n in 0..10 {
        let agg = world.agg(world.id_of(&format!("k{n}"))).await;
        completed += usize::from(agg.effects[0].state == EffectState::Completed);
    }
    assert_eq!(completed, 4);
}
