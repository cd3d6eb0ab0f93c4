//! Runs the list: one item after the other, each bounded in time, and adds up what came of them.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::{
    evidence::{Evidence, Stop},
    item::Item,
    items,
    report::{Outcome, Report},
    stage::Stage,
    target::{Options, Target},
};

/// No item waits for anything longer: the slowest thing is a switch on a gate under load.
const ITEM_MAX: Duration = Duration::from_secs(120);

/// Judges the items, each told to `told` as it ends.
pub async fn run(mut target: Target, options: Options, mut told: impl FnMut(&Outcome)) -> Report {
    let began = Instant::now();
    let mut outcomes = Vec::new();
    for item in Item::ALL.iter().copied().filter(|item| options.items.contains(item)) {
        let outcome = judge(&mut target, &options, item).await;
        told(&outcome);
        outcomes.push(outcome);
    }
    let mut log_tail = None;
    if let Some(house) = &mut target.house {
        log_tail = Some(house.log_tail());
        // It ends with its owner anyway; nothing that was judged hangs on it.
        let _ = house.end().await;
    }
    let report = Report {
        ready: false,
        target: target.name,
        version: env!("CARGO_PKG_VERSION"),
        started_at: options.now,
        took_ms: ms(began),
        broken_guard: options.broken_guard,
        items: outcomes,
        not_asked: Item::ALL.iter().copied().filter(|item| !options.items.contains(item)).collect(),
        accepted: options.accepted,
        log_tail,
    };
    report.judged()
}

async fn judge(target: &mut Target, options: &Options, item: Item) -> Outcome {
    let began = Instant::now();
    let mut seen = Evidence::default();
    let mut stage = Stage::new(target, options, item);
    let done = match timeout(ITEM_MAX, items::judge(item, &mut stage, &mut seen)).await {
        Ok(done) => done,
        Err(_) => Err(Stop::Error(format!("it did not come to an end within {} s", ITEM_MAX.as_secs()))),
    };
    let (verdict, reason, evidence) = seen.close(done);
    Outcome { item, title: item.title(), verdict, reason, evidence, took_ms: ms(began) }
}

fn ms(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
