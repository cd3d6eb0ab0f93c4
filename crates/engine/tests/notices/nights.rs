//! HC-43: the nights in which an hour comes twice. The product runs nothing by local time: every schedule is an instant
//! or a span from one, so each thing happens once, at its instant, whatever the clocks on the wall do.

use std::sync::Arc;

use effectgate_core::{
    flow::{Escalation, Retention},
    time::Timestamp,
};
use effectgate_engine::notify::Channels;
use effectgate_lang::{Language, Zone};

use crate::{
    common::{HOUR, Options, TestClock, World, channel::Kept},
    people::{MAIL, account, asking, waiting},
};

const MINUTE: i64 = 60_000;
const CASES: &str = include_str!("../data/handed/hc43-times.tsv");

/// The zone and the two instants that read the same, of the rows that have them.
fn doubled_hours() -> Vec<(String, [Timestamp; 2])> {
    let row = |line: &str| {
        let mut cells = line.split('\t');
        let (zone, rule, instants) = (cells.next()?, cells.next()?, cells.next()?);
        let at: Vec<Timestamp> = instants.split(' ').filter_map(|word| word.parse().ok()).collect();
        rule.starts_with("daily").then(|| (zone.to_owned(), [at[0], at[1]]))
    };
    CASES.lines().filter_map(row).collect()
}

/// Everything that time drives, set to the moment that reads the same twice.
struct Night {
    world: World,
    mail: Kept,
    first: Timestamp,
}

impl Night {
    async fn before(zone: &str, first: Timestamp) -> Self {
        let mail = Kept::default();
        let channels = Channels {
            mail: Some(Arc::new(mail.clone())),
            zone: Zone::parse(zone).unwrap(),
            language: Language::En,
            tell_expired: true,
            ..Channels::default()
        };
        let clock = TestClock::new();
        clock.set(first.plus_ms(-2 * HOUR));
        let options = Options {
            remind_ms: Some(2 * HOUR),
            escalate: Some(Escalation { after_ms: 2 * HOUR + 10 * MINUTE, audience: vec!["role:manager".into()] }),
            expires_ms: 2 * HOUR + 20 * MINUTE,
            retention: Retention { content_days: 1, key_days: 2, journal_days: 10 },
            ..asking(channels)
        };
        let world = World::on(options, clock);
        account(&world, "anna", &["support-lead"], None).await;
        account(&world, "mona", &["manager"], None).await;
        Self { world, mail, first }
    }

    /// Minute by minute until this long after the first of the two moments.
    async fn walk_until(&self, after_ms: i64) {
        let until = self.first.plus_ms(after_ms);
        while effectgate_engine::clock::Clock::now(&self.world.clock) < until {
            self.world.engine.sweep_tick().await.unwrap();
            self.world.engine.notify_tick().await.unwrap();
            self.world.clock.advance_ms(MINUTE);
        }
    }
}

#[tokio::test]
async fn hc_43_reminder_escalation_and_expiry_come_once_in_the_night_with_an_hour_twice() {
    for (zone, [first, second]) in doubled_hours() {
        assert_eq!(second.ms_since(first), HOUR);
        let night = Night::before(&zone, first).await;
        let run = waiting(&night.world, "k1", MAIL).await.run.id;

        night.walk_until(3 * HOUR).await;

        let kinds = night.world.kinds(run).await;
        for once in ["approval_reminded", "approval_escalated", "approval_expired"] {
            assert_eq!(kinds.iter().filter(|kind| *kind == once).count(), 1, "{zone}: {once}");
        }
        let subjects: Vec<String> = night.mail.to("anna@house.test").into_iter().map(|m| m.subject).collect();
        let begins = ["Decision wanted", "Reminder", "Escalated", "No decision"];
        assert_eq!(subjects.len(), begins.len(), "{zone}: {subjects:?}");
        assert!(subjects.iter().zip(begins).all(|(subject, begin)| subject.starts_with(begin)), "{zone}: {subjects:?}");
    }
}

#[tokio::test]
async fn hc_43_a_deadline_in_the_doubled_hour_is_shown_with_its_offset() {
    for (zone, [first, _]) in doubled_hours() {
        let night = Night::before(&zone, first).await;
        waiting(&night.world, "k1", MAIL).await;
        night.world.engine.notify_tick().await.unwrap();

        let message = &night.mail.to("anna@house.test")[0];
        let expected = effectgate_lang::when(first.plus_ms(20 * MINUTE), &Zone::parse(&zone).unwrap(), Language::En);
        assert!(message.text.contains(&expected) && expected.contains("(UTC"), "{}", message.text);
    }
}

#[tokio::test]
async fn hc_43_retention_runs_once_for_a_run_whose_time_is_up_in_that_night() {
    for (zone, [first, _]) in doubled_hours() {
        let night = Night::before(&zone, first).await;
        let world = &night.world;
        world.clock.set(first.plus_ms(-48 * HOUR));
        let held = world.grant("k1", "w").await;
        world.engine.complete(&world.call(&held, "complete", "r"), "{}").await.unwrap();
        world.clock.set(first.plus_ms(-HOUR));

        let (mut runs, mut contents) = (0, 0);
        for _ in 0..180 {
            let report = world.engine.sweep_tick().await.unwrap();
            runs += report.purged_runs;
            contents += report.purged_contents;
            world.clock.advance_ms(MINUTE);
        }

        assert_eq!((runs, contents), (1, 1), "{zone}");
    }
}
