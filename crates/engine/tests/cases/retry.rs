//! When and how often something is tried again, by what the provider said.

use effectgate_core::{effect::EffectState, time::Timestamp};

use crate::{
    common::{Answer, HOUR, Options, World, enforcing},
    handed,
};

/// 2026-10-21T07:00:00Z, the table's moment.
const NOW_S: i64 = 1_792_566_000;

/// Wait in milliseconds of the one effect after an attempt that was answered like this, and the attempts counted.
async fn waits(answer: Answer) -> (i64, i32) {
    let world = World::new();
    world.clock.set(Timestamp::from_micros(NOW_S * 1_000_000));
    world.provider.push(answer);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    let agg = world.agg(held.run.id).await;
    let EffectState::Pending { due_at } = agg.effects[0].state else { panic!("{:?}", agg.effects[0]) };
    assert_eq!(agg.run.state.as_str(), "approved", "no lease is held while it waits");
    (due_at.ms_since(world.engine.now()), agg.effects[0].attempts)
}

#[tokio::test]
async fn hc_19_the_wait_is_the_one_that_was_asked_for_in_every_legal_form() {
    // The first backoff of this provider: between half and all of a second.
    let own = 500..=1_000;
    for line in handed!("hc19-retry-after.tsv").lines().skip(1) {
        let [header, _, rule] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let wanted = match rule.split(' ').next().unwrap().parse::<i64>() {
            Ok(0) => own.clone(),
            Ok(seconds) => seconds * 1_000..=seconds * 1_000,
            Err(_) if rule.starts_with("capped") => HOUR..=HOUR,
            Err(_) => own.clone(),
        };
        for status in [429, 503] {
            let (wait, attempts) = waits(Answer::Status(status, Some(header.into()))).await;
            // A 503 says "not done" only with a Retry-After; one that cannot be read is there all the same.
            assert!(wanted.contains(&wait), "{status} {header}: {wait} ms, wanted {wanted:?}");
            assert_eq!(attempts, 1, "an answer of the provider counts");
        }
    }
    assert!(own.contains(&waits(Answer::Status(429, None)).await.0));
}

#[tokio::test]
async fn hc_19_the_waiting_effect_goes_when_its_time_has_come_and_under_its_key() {
    let world = World::new();
    world.provider.push(Answer::Status(429, Some("120".into())));
    world.provider.push(Answer::Status(503, Some("120".into())));
    let held = world.queued("k", "c-1").await;
    world.round().await;

    world.pass(1, 119_000).await;
    assert_eq!(world.provider.seen().len(), 1);
    world.pass(1, 1_000).await;
    world.pass(1, 119_000).await;
    assert_eq!(world.provider.seen().len(), 2);
    world.pass(1, 1_000).await;

    let seen = world.provider.seen();
    assert_eq!(world.effect_state(held.run.id).await, "completed");
    assert!(seen.len() == 3 && seen.iter().all(|s| s.provider_key == seen[0].provider_key));
}

#[tokio::test]
async fn hc_19_a_retry_after_on_a_success_is_just_a_success() {
    let world = World::new();
    world.provider.push(Answer::OkWith(200, r#"{"id":"x"}"#.into()));
    let held = world.queued("k", "c-1").await;
    world.round().await;
    assert_eq!(world.effect_state(held.run.id).await, "completed");
}

#[tokio::test]
async fn hc_21_a_member_that_is_there_is_no_failure() {
    let files = [
        (handed!("hc21-ok-1.json"), "pred_1"),
        (handed!("hc21-ok-2.json"), "row_9"),
        (handed!("hc21-ok-3.json"), "row_9"),
        (handed!("hc21-ok-4.json"), "row_9"),
    ];
    for (body, id) in files {
        let world = World::new();
        world.provider.always(Answer::OkWith(200, body.into()));
        let held = world.queued("k", "c-1").await;
        world.round().await;
        world.pass(5, 60_000).await;

        let effect = &world.agg(held.run.id).await.effects[0];
        assert_eq!((effect.state.as_str(), effect.external_id.as_deref()), ("completed", Some(id)));
        assert_eq!(world.provider.seen().len(), 1);
    }
}

/// Requests at the provider, attempts on record, and how the effect ended, after an hour in which it always answers so.
async fn ended(options: Options, answer: Answer) -> (usize, usize, String) {
    let world = World::with(Options { attempts_max: 4, ..options });
    world.provider.always(answer);
    let held = world.queued("k", "c-1").await;
    world.round().await;
    world.pass(60, 60_000).await;
    let attempts = world.store.attempt_list(held.run.id).await.unwrap();
    let effect = world.agg(held.run.id).await.effects.remove(0);
    assert_eq!(world.facts(held.run.id, "attempt_started").await.len(), attempts.len());
    assert_eq!(i32::try_from(attempts.len()).unwrap(), effect.attempts);
    (world.provider.seen().len(), attempts.len(), effect.state.as_str().to_owned())
}

#[tokio::test]
async fn hc_23_what_is_counted_is_what_was_sent() {
    let declared = Answer::Status(503, Some("1".into()));
    assert_eq!(ended(Options::default(), declared).await, (4, 4, "failed".into()));
    let enforced = Options { class: enforcing(), ..Options::default() };
    assert_eq!(ended(enforced.clone(), Answer::Status(503, None)).await, (4, 4, "review".into()));
    assert_eq!(ended(Options::default(), Answer::Status(503, None)).await, (1, 1, "review".into()));
    assert_eq!(ended(Options::default(), Answer::ConnectionRefused).await, (0, 4, "failed".into()));
    assert_eq!(ended(enforced, Answer::AcceptThenDrop).await, (4, 4, "review".into()));
    assert_eq!(ended(Options::default(), Answer::AcceptThenDrop).await, (1, 1, "review".into()), "a time-out: once");
}
