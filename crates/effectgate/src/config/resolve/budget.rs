//! Budgets of providers and flows, in the order of the config: what is unlimited by a slip is refused.

use effectgate_core::{
    budget::{Budget, Holder, Per},
    ids::{FlowName, ProviderName},
    json::is_pointer,
};

use super::judge::Judge;
use crate::config::{Config, budget::BudgetConfig};

/// Below a second the rate limit (`rate.per_second`) is the right word, and costs no row in the database.
const WINDOW_MS_MIN: i64 = 1_000;
/// A quarter: what is longer is a matter for bookkeeping, and its count must outlive every retention.
const WINDOW_MS_MAX: i64 = 92 * 86_400_000;
/// Far above any sum in minor units that one effect moves, and far below where counts could overflow.
const MAX_MAX: i64 = 1_000_000_000_000_000;
/// Each budget is a row that is locked for each effect.
const BUDGETS_MAX: usize = 8;

pub(super) fn budgets(judge: &mut Judge<'_>, config: &Config) -> Vec<Budget> {
    let providers = config.providers.iter().map(|(name, provider)| {
        (format!("providers.{name}.budgets"), Holder::Provider(ProviderName::new(name)), provider.budgets.as_slice())
    });
    let flows = config.flows.iter().map(|(name, flow)| {
        (format!("flows.{name}.budgets"), Holder::Flow(FlowName::new(name)), flow.budgets.as_slice())
    });
    let sections: Vec<_> = providers.chain(flows).collect();
    sections.into_iter().flat_map(|(at, holder, budgets)| section(judge, &at, &holder, budgets)).collect()
}

fn section(judge: &mut Judge<'_>, at: &str, holder: &Holder, budgets: &[BudgetConfig]) -> Vec<Budget> {
    if budgets.len() > BUDGETS_MAX {
        let what = format!("{} budgets are more than {BUDGETS_MAX}", budgets.len());
        judge.refuse(at, what, "Each is a count that every effect waits for; keep the ones that matter.");
    }
    let mut resolved: Vec<Budget> = Vec::with_capacity(budgets.len());
    for (n, budget) in budgets.iter().enumerate() {
        let at = format!("{at}.{n}");
        let one = one(judge, &at, holder, budget);
        let is_twin = |b: &Budget| (b.per, b.window_ms, &b.amount) == (one.per, one.window_ms, &one.amount);
        if resolved.iter().any(is_twin) {
            judge.refuse(&at, "it counts the same as one above", "Keep the smaller of the two.");
        }
        resolved.push(one);
    }
    resolved
}

fn one(judge: &mut Judge<'_>, at: &str, holder: &Holder, budget: &BudgetConfig) -> Budget {
    let why = "Between a second and 92 days: shorter is a rate, longer is bookkeeping.";
    let window_ms = judge.within(&format!("{at}.window_ms"), budget.window_ms, WINDOW_MS_MIN, WINDOW_MS_MAX, why);
    let why = "At least 1: to let nothing leave, use the switch.";
    let max = judge.within(&format!("{at}.max"), budget.max, 1, MAX_MAX, why);
    if let Some(pointer) = budget.amount.as_deref().filter(|p| p.is_empty() || !is_pointer(p)) {
        let what = format!("{pointer:?} is no JSON Pointer to a member");
        judge.refuse(&format!("{at}.amount"), what, "Begin with /, as in \"/amount\".");
    }
    let own = match holder {
        Holder::Provider(_) => Per::Provider,
        Holder::Flow(_) => Per::Flow,
    };
    let per = budget.per.unwrap_or(own);
    Budget { holder: holder.clone(), per, window_ms, max, amount: budget.amount.clone() }
}
