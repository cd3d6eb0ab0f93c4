//! The database: does it answer, is its schema ours, does its clock agree, what is stuck in it, and is the switch on.

use effectgate_core::{switch::Ceiling, time::Timestamp};
use effectgate_engine::{Engine, policy::Policy};
use effectgate_store::Gauge;

use super::Finding;
use crate::{
    config::DatabaseSettings,
    exit::Failure,
    wire::{self, Access},
};

/// Leases are judged by the database's clock and shown by ours; a second apart is seen by people, a minute misleads.
const SKEW_WARN_MS: i64 = 1_000;
const SKEW_FAIL_MS: i64 = 60_000;

pub(super) async fn look(database: &DatabaseSettings, policy: Policy) -> Vec<Finding> {
    if matches!(database, DatabaseSettings::Sqlite { path, .. } if !path.exists()) {
        return vec![Finding::ok("database", "not there yet; the first start of the server makes it")];
    }
    let store = match wire::open(database, Access::Read).await {
        Ok(store) => store,
        Err(failure) => return vec![unreachable(&failure)],
    };
    let stuck_ms = policy.sweeper.stuck_ms;
    let ceiling = policy.ceiling;
    let engine = wire::engine(store, policy);
    let mut findings = health(&engine).await;
    findings.push(switch(&engine, ceiling).await);
    findings.extend(stuck(&engine, stuck_ms).await);
    engine.store().close().await;
    findings
}

fn unreachable(failure: &Failure) -> Finding {
    let action = match failure.code.as_str() {
        "database_too_new" => "Run the newer binary that made this schema.",
        "migration_changed" => "Another build made this schema; use that one, or restore a backup.",
        _ => "Check database.url and that the database runs; `effectgate migrate apply` brings an old schema up.",
    };
    Finding::fail("database", failure.text.clone(), action)
}

async fn health(engine: &Engine) -> Vec<Finding> {
    match engine.store().health().await {
        Err(error) => vec![Finding::fail("database", error.to_string(), "Check that the database runs.")],
        Ok(health) => {
            let stands = format!("{}, schema {}, as this binary knows it", health.backend, health.schema);
            vec![Finding::ok("database", stands), skew(engine.now(), health.clock)]
        }
    }
}

fn skew(ours: Timestamp, theirs: Timestamp) -> Finding {
    let apart = theirs.ms_since(ours);
    let detail = format!("the database's clock is {apart} ms from this machine's");
    let action = "Let NTP set both clocks.";
    match apart.abs() {
        ..SKEW_WARN_MS => Finding::ok("clock", detail),
        SKEW_WARN_MS..SKEW_FAIL_MS => Finding::warn("clock", detail, action),
        _ => Finding::fail("clock", detail, action),
    }
}

async fn switch(engine: &Engine, ceiling: Ceiling) -> Finding {
    if ceiling == Ceiling::Off {
        let detail = "actions are off by the config or AI_ACTIONS_ENABLED: no effect is sent";
        return Finding::warn("switch", detail, "Set actions.enabled = true when effects are to go.");
    }
    let switches = engine.switches().await;
    let off: Vec<_> =
        switches.iter().filter(|s| !s.enabled).map(|s| format!("{} {}", s.scope.as_str(), s.name)).collect();
    match off.as_slice() {
        [] => Finding::ok("switch", "on"),
        off => Finding::warn("switch", format!("off: {}", off.join(", ")), "`effectgate switch` shows who and why."),
    }
}

async fn stuck(engine: &Engine, stuck_ms: i64) -> Vec<Finding> {
    match engine.store().gauges().await {
        Ok(gauges) => gauges.iter().filter_map(|gauge| open_work(gauge, stuck_ms)).collect(),
        Err(error) => vec![Finding::fail("open work", error.to_string(), "Check that the database runs.")],
    }
}

fn open_work(gauge: &Gauge, stuck_ms: i64) -> Option<Finding> {
    let (what, count, minutes) = (format!("{}s {}", gauge.what, gauge.state), gauge.count, gauge.oldest_ms / 60_000);
    let detail = format!("{count}, the oldest unchanged for {minutes} min");
    match gauge.state.as_str() {
        _ if count == 0 => None,
        "review" | "unknown" => {
            Some(Finding::warn(what, detail, "`effectgate review` lists them; a person settles them."))
        }
        "quarantined" => Some(Finding::warn(what, detail, "Release or close them, with a reason.")),
        _ if gauge.oldest_ms > stuck_ms => Some(Finding::warn(
            what,
            detail,
            "Older than sweeper.stuck_ms; `effectgate explain` says what would make one go.",
        )),
        _ => Some(Finding::ok(what, detail)),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Verdict, *};

    #[test]
    fn clocks_that_disagree_are_said_so() {
        let at = Timestamp::from_micros(1_790_000_000_000_000);
        let table = [(0, Verdict::Ok), (-999, Verdict::Ok), (1_000, Verdict::Warn), (-60_000, Verdict::Fail)];
        for (ms, verdict) in table {
            assert_eq!(skew(at, at.plus_ms(ms)).verdict, verdict, "{ms}");
        }
    }

    #[test]
    fn what_waits_for_a_person_is_a_warning_at_any_age() {
        let gauge = |state: &str, count, oldest_ms| Gauge { what: "effect", state: state.into(), count, oldest_ms };

        let verdict = |gauge: Gauge| open_work(&gauge, 1_000).map(|f| f.verdict);

        assert_eq!(verdict(gauge("review", 1, 0)), Some(Verdict::Warn));
        assert_eq!(verdict(gauge("pending", 1, 0)), Some(Verdict::Ok));
        assert_eq!(verdict(gauge("pending", 1, 2_000)), Some(Verdict::Warn));
        assert_eq!(verdict(gauge("pending", 0, 2_000)), None);
    }
}
