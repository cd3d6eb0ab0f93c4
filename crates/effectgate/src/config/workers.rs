//! `[actions]`, `[dispatcher]`, `[sweeper]` and `[replay]`: whether effects go out at all, the pace of the workers, and
//! how long replay plans live.

use serde::{Deserialize, Serialize};

/// Left out means off. `AI_ACTIONS_ENABLED=false` in the environment beats it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ActionsConfig {
    pub(crate) enabled: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DispatcherConfig {
    /// Attempts under way at once at each provider that names no `rate.concurrent`. Default 4: each holds a connection
    /// for up to its time-out. Providers do not share, so one that hangs holds up nobody else.
    pub(crate) workers: i64,
    /// Default 500 ms: only what no nudge announced waits this long.
    pub(crate) period_ms: i64,
    /// Effects claimed for one provider in one go. Default 100: they share one commit; no more are claimed than there
    /// are free places.
    pub(crate) batch: i64,
}

impl Default for DispatcherConfig {
    fn default() -> Self {
        Self { workers: 4, period_ms: 500, batch: 100 }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SweeperConfig {
    /// Default 2 s: how late an expired lease or approval is seen, at most.
    pub(crate) period_ms: i64,
    /// Rows of a kind in one sweep. Default 100: bounded work, so a flood cannot starve the rest.
    pub(crate) batch: i64,
    /// A run that is not final and unchanged for this long raises an alert. Default 48 h: longer than an approval waits
    /// by default, so that waiting for a person is not called stuck.
    pub(crate) stuck_ms: i64,
}

impl Default for SweeperConfig {
    fn default() -> Self {
        Self { period_ms: 2_000, batch: 100, stuck_ms: 172_800_000 }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ReplayConfig {
    /// Default 15 min: long enough to read a plan with somebody, short enough that it still says what is so.
    pub(crate) plan_ms: i64,
    /// Default 30 days: as long as people ask what a replay did. Plans hold keys and external ids.
    pub(crate) kept_days: i64,
}

impl Default for ReplayConfig {
    fn default() -> Self {
        Self { plan_ms: 900_000, kept_days: 30 }
    }
}
