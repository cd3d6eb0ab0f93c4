//! A plan in words: what it is about, what it comes to, and each run with its verdict, why not, and how it stood before,
//! right after and stands now. The same for a dry run, a plan, and an execution that runs or has ended.

use std::collections::BTreeMap;

use effectgate_engine::replay::{KeyView, ReplayStanding, ReplayView, Standing, Verdict};

use super::super::{
    listing::{Moment, words},
    text::{Shown, plural},
    visit::Visit,
};

pub(super) struct Report {
    pub(super) flow: Shown,
    pub(super) event_type: Shown,
    pub(super) since: Moment,
    pub(super) until: Moment,
    pub(super) state: String,
    pub(super) limit: u32,
    pub(super) reason: Shown,
    pub(super) made_by: Shown,
    pub(super) made_at: Moment,
    /// In a sentence: how many match, may be recovered, may not.
    pub(super) headline: String,
    /// Something of it may be recovered.
    pub(super) recovers: bool,
    pub(super) more: bool,
    pub(super) figures: Vec<(&'static str, String)>,
    pub(super) providers: Vec<ProviderLine>,
    pub(super) keys: Vec<KeyLine>,
    /// The execution was begun: the columns before and after are shown.
    pub(super) is_begun: bool,
}

pub(super) struct ProviderLine {
    pub(super) name: Shown,
    pub(super) class: String,
    pub(super) effects: usize,
}

pub(super) struct KeyLine {
    pub(super) href: String,
    pub(super) key: Shown,
    /// A word for the style sheet, and what it says.
    pub(super) verdict: (&'static str, String),
    /// Why it is left alone, and what to do instead.
    pub(super) why: Option<String>,
    pub(super) providers: Option<Shown>,
    pub(super) results: Option<Shown>,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) now: String,
}

impl Report {
    pub(super) fn new(visit: &Visit, plan: &ReplayView) -> Self {
        let (counts, cost) = (plan.summary.counts, plan.summary.cost);
        let is_begun = matches!(plan.state, ReplayStanding::Running | ReplayStanding::Done);
        Self {
            flow: Shown::new(&plan.filter.flow),
            event_type: Shown::new(&plan.filter.event_type),
            since: Moment::new(visit, plan.filter.since),
            until: Moment::new(visit, plan.filter.until),
            state: words(plan.filter.state.as_str()),
            limit: plan.limit,
            reason: Shown::new(&plan.reason),
            made_by: Shown::new(&plan.made_by),
            made_at: Moment::new(visit, plan.made_at),
            headline: headline(plan),
            recovers: plan.total > 0,
            more: plan.summary.more,
            figures: vec![
                ("Match the filter", counts.matching.to_string()),
                ("May be recovered", counts.replayable.to_string()),
                ("Are left alone", counts.refused.to_string()),
                ("Have done something outside already", counts.with_results.to_string()),
                ("Attempts of workers, at most", cost.attempts.to_string()),
                ("Calls of a model, at least one each", cost.model_runs.to_string()),
                ("Effects that are still open", cost.effects_open.to_string()),
            ],
            providers: plan.summary.providers.iter().map(provider).collect(),
            keys: plan.keys.iter().flatten().map(line).collect(),
            is_begun,
        }
    }
}

fn headline(plan: &ReplayView) -> String {
    let (counts, n) = (plan.summary.counts, plan.summary.counts.matching);
    let (left, recovered) = (counts.refused, counts.replayable);
    let is_ahead = matches!(plan.state, ReplayStanding::DryRun | ReplayStanding::Planned);
    match n {
        0 if is_ahead => "No run fits this filter.".into(),
        0 => "No run fitted this filter.".into(),
        _ if is_ahead => {
            let fit = plural(n, "run fits", "runs fit");
            format!("{n} {fit}: {recovered} may be recovered, {left} are left alone.")
        }
        _ => {
            let fitted = plural(n, "run fitted", "runs fitted");
            format!("{n} {fitted}: {recovered} were to be recovered, {left} were left alone.")
        }
    }
}

fn provider(touched: &effectgate_engine::replay::ProviderTouched) -> ProviderLine {
    ProviderLine { name: Shown::new(&touched.name), class: words(&touched.class), effects: touched.effects }
}

fn line(key: &KeyView) -> KeyLine {
    KeyLine {
        href: format!("/runs/{}", key.run_id),
        key: Shown::new(&key.key),
        verdict: verdict(key),
        why: why(key),
        providers: listed(&key.providers),
        results: listed(&key.results),
        before: standing(Some(&key.before)),
        after: standing(key.after.as_ref()),
        now: standing(key.now.as_ref()),
    }
}

fn listed(names: &[String]) -> Option<Shown> {
    (!names.is_empty()).then(|| Shown::new(&names.join(", ")))
}

/// What became of it, or before the execution what would.
fn verdict(key: &KeyView) -> (&'static str, String) {
    match (key.verdict, key.outcome.as_deref()) {
        (Verdict::Refused, _) => ("neutral", "left alone".into()),
        (Verdict::Recover, Some("done")) => ("completed", "recovered".into()),
        (Verdict::Recover, Some("skipped")) => ("neutral", "skipped".into()),
        (Verdict::Recover, Some("waiting")) => ("pending", "waits".into()),
        (Verdict::Recover, _) => ("on", "may be recovered".into()),
    }
}

fn why(key: &KeyView) -> Option<String> {
    if let Some(why) = &key.why {
        return Some(match why.as_str() {
            "changed" => "it has changed since the plan was made".into(),
            "fault" => "the database could not read or write it; the server's log says why".into(),
            why => words(why),
        });
    }
    let refusal = key.refusal.as_deref()?;
    let next = key.next.as_deref().map(|next| format!("; instead: {next}")).unwrap_or_default();
    Some(format!("{}{next}", words(refusal)))
}

/// `failed retryable; effects: 1 completed, 1 review`.
fn standing(standing: Option<&Standing>) -> String {
    let Some(Standing { state, effects, .. }) = standing else { return "–".into() };
    format!("{}; {}", words(state), effects_in_words(effects))
}

fn effects_in_words(effects: &BTreeMap<String, usize>) -> String {
    if effects.is_empty() {
        return "no effects".into();
    }
    let parts: Vec<String> = effects.iter().map(|(state, n)| format!("{n} {}", words(state))).collect();
    format!("effects: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_with_its_effects() {
        let effects = BTreeMap::from([("completed".to_owned(), 1), ("review".to_owned(), 2)]);
        let stands = Standing { state: "failed_retryable".into(), version: 3, effects };
        assert_eq!(standing(Some(&stands)), "failed retryable; effects: 1 completed, 2 review");
        assert_eq!(standing(None), "–");
    }
}
