//! How long a provider asks to be waited for, in every form the header has, and in forms it does not have.

use effectgate_core::time::Timestamp;
use effectgate_testkit::provider::Step;
use jiff::{ToSpan as _, tz::TimeZone};
use serde_json::Value;

use crate::world::{World, attempts};

/// The first pause of these providers: between half and all of a tenth of a second; and what a slow machine adds.
const OWN_MS: std::ops::RangeInclusive<i64> = 0..=2_000;
/// `retry_after_ms_max` without a word of the config.
const MOST_MS: i64 = 3_600_000;
/// A date has whole seconds, and the attempt ends a moment after it began.
const BLUR_MS: i64 = 3_000;

/// The header of a row as it would be now: what lies 1,680 s after the table's moment lies so far from here. And the
/// milliseconds that are right for it.
fn moved(header: &str, rule: &str) -> (String, std::ops::RangeInclusive<i64>) {
    let about = |ms: i64| ms - BLUR_MS..=ms + BLUR_MS;
    match rule.split(' ').next().unwrap().parse::<i64>() {
        Ok(0) => (header.to_owned(), OWN_MS),
        Ok(seconds) => (in_form_of(header, seconds), about(seconds * 1_000)),
        Err(_) if rule.starts_with("capped") => (header.to_owned(), about(MOST_MS)),
        Err(_) => (header.to_owned(), OWN_MS),
    }
}

fn in_form_of(header: &str, seconds: i64) -> String {
    let form = match header {
        date if date.contains('-') => "%A, %d-%b-%y %H:%M:%S GMT",
        date if date.ends_with("GMT") => "%a, %d %b %Y %H:%M:%S GMT",
        date if date.contains(':') => "%a %b %e %H:%M:%S %Y",
        number => return number.to_owned(),
    };
    let at = jiff::Timestamp::now().checked_add(seconds.seconds()).unwrap();
    TimeZone::UTC.to_datetime(at).strftime(form).to_string()
}

/// Milliseconds between an effect's last attempt and its next.
fn wait_ms(view: &Value, story: &Value) -> i64 {
    let moment = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{view:#}")).parse::<Timestamp>().unwrap();
    moment(&view["effects"][0]["next_attempt_at"]).ms_since(moment(&attempts(story).last().unwrap()["at"]))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_19_the_wait_is_the_one_that_was_asked_for_in_every_legal_form() {
    let world = World::new().await;
    let rows: Vec<_> = include_str!("../data/hc19-retry-after.tsv").lines().skip(1).collect();
    for (n, line) in rows.iter().enumerate() {
        let [row, _, rule] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        for status in [429, 503] {
            let (header, right) = moved(row, rule);
            world.provider.set_default(Step::answer_with(status, "Retry-After", &header));
            if right == OWN_MS {
                // It goes again at once; the second answer ends it.
                world.provider.set_default(Step::created());
                world.provider.push(Step::answer_with(status, "Retry-After", &header));
            }

            let run = world.queued("busy", &format!("order:{n}:{status}"));

            if right == OWN_MS {
                let story = world.until(&run, "completed");
                assert_eq!(attempts(&story).len(), 2, "{status} {header}: {story:#}");
                continue;
            }
            let view = world.until_waiting(&run, 1);
            let wait = wait_ms(&view, &world.until(&run, "pending"));
            assert!(right.contains(&wait), "{status} {header}: {wait} ms, {right:?} is right");
            assert_eq!((&view["state"], view["lease"].is_null()), (&"approved".into(), true), "no lease is held");
        }
    }
    let keys: std::collections::BTreeSet<_> = world.keys_seen().into_iter().collect();
    assert_eq!(keys.len(), rows.len() * 2, "an effect keeps its key");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_19_a_429_without_the_header_waits_its_own_pause_and_one_on_a_success_is_just_a_success() {
    let world = World::new().await;
    world.provider.push(Step::answer(429, "{}"));

    let limited = world.queued("blind", "order:1");
    let story = world.until(&limited, "completed");
    world.provider.push(Step {
        act: effectgate_testkit::provider::Act::Answer {
            status: 200,
            headers: vec![("Retry-After".to_owned(), "120".to_owned())],
            body: r#"{"id":"x-1"}"#.to_owned(),
        },
        ..Step::created()
    });
    let done = world.queued("blind", "order:2");
    let done = world.until(&done, "completed");

    assert_eq!(attempts(&story).len(), 2, "{story:#}");
    assert_eq!((attempts(&done).len(), &done["effects"][0]["external_id"]), (1, &"x-1".into()));
    assert_eq!(world.relay.counts().seen, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hc_19_the_waiting_effect_goes_when_its_time_has_come_and_under_its_key() {
    let world = World::new().await;
    world.provider.push(Step::answer_with(429, "Retry-After", "1"));

    let run = world.queued("blind", "order:1");
    let story = world.until(&run, "completed");

    let requests = world.ledger().requests;
    assert_eq!(attempts(&story).len(), 2, "{story:#}");
    assert!(requests[1].at_ms - requests[0].at_ms >= 1_000, "{} then {}", requests[0].at_ms, requests[1].at_ms);
    assert_eq!(requests[0].header("Idempotency-Key"), requests[1].header("Idempotency-Key"));
}
