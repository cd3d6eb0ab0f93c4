//! A budget with what is used and left of its present window.

use effectgate_core::budget::Per;
use effectgate_engine::budget::BudgetNow;

use super::super::text::Shown;

pub(super) struct BudgetLine {
    /// Whose count, and its limit.
    pub(super) whose: Shown,
    pub(super) limit: String,
    /// `3 used, 7 left until …`.
    pub(super) stands: String,
    pub(super) is_used_up: bool,
}

impl BudgetLine {
    pub(super) fn new(budget: &BudgetNow) -> Self {
        let stands = match (budget.used, budget.per) {
            (Some(used), _) => {
                format!("{used} used, {} left until {}", (budget.max - used).max(0), budget.until)
            }
            (None, Per::Key) => "a count for each key".to_owned(),
            (None, _) => "a count for each target".to_owned(),
        };
        Self {
            whose: Shown::new(&budget.whose),
            limit: budget.limit.clone(),
            stands,
            is_used_up: budget.used.is_some_and(|used| used >= budget.max),
        }
    }
}
