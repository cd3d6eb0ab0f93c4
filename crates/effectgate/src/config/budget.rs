//! `[[providers.NAME.budgets]]` and `[[flows.NAME.budgets]]`: how much may leave in a window of time.

use effectgate_core::budget::Per;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetConfig {
    /// `provider`, `flow`, `key` or `target`. Default: the section's own kind, one count for all of it.
    pub(crate) per: Option<Per>,
    pub(crate) window_ms: i64,
    pub(crate) max: i64,
    /// Where in an effect's payload its amount lies; without it every effect counts one.
    pub(crate) amount: Option<String>,
}
