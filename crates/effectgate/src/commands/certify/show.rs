//! How the verdicts are told: a line for each item as it ends, its evidence below it; the whole report as JSON.

use console::style;
use effectgate_certify::{Item, Options, Outcome, Report, Verdict};
use serde_json::json;

use crate::{
    exit::Result,
    output::{Out, printable},
};

pub(super) fn list(out: Out) -> Result {
    if out.json {
        let items: Vec<_> = Item::ALL.iter().map(|item| json!({ "id": item.id(), "title": item.title() })).collect();
        return out.value(&json!({ "items": items }));
    }
    let rows: Vec<_> = Item::ALL.iter().map(|item| vec![item.id().to_owned(), item.title().to_owned()]).collect();
    out.table(&["item", "what a pass says"], &rows, "")
}

pub(super) fn begin(target: &str, options: &Options, out: Out) -> Result {
    if out.json {
        return Ok(());
    }
    out.line(format!("Judging {}: {} items.", printable(target), options.items.len()))?;
    match &options.broken_guard {
        Some(guard) => out.line(format!("A GUARD IS OUT OF THIS BUILD ON PURPOSE: {guard}. This certifies nothing.")),
        None => Ok(()),
    }
}

/// Writing can only fail because the reader went away, and the verdict is still to be found.
pub(super) fn outcome(outcome: &Outcome, out: Out) {
    if !out.json {
        drop(told(outcome, out));
    }
}

fn told(outcome: &Outcome, out: Out) -> Result {
    let id = outcome.item.id();
    out.line(format!("{}  {id:<19} {}", verdict(outcome.verdict, out), outcome.title))?;
    if let (Some(reason), Verdict::NotApplicable | Verdict::Error) = (&outcome.reason, outcome.verdict) {
        out.line(format!("        {}", printable(reason)))?;
    }
    outcome.evidence.iter().try_for_each(|fact| {
        let mark = if fact.holds { " " } else { "!" };
        let line = format!("      {mark} {}", printable(&fact.seen));
        out.line(if out.terminal && fact.holds { style(line).dim().to_string() } else { line })
    })
}

fn verdict(verdict: Verdict, out: Out) -> String {
    let word = match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::NotApplicable => "n/a ",
        Verdict::Error => "ERR ",
    };
    if !out.terminal {
        return word.to_owned();
    }
    let shown = style(word).bold();
    match verdict {
        Verdict::Pass => shown.green(),
        Verdict::NotApplicable => shown.yellow(),
        Verdict::Fail | Verdict::Error => shown.red(),
    }
    .to_string()
}

pub(super) fn end(report: &Report, out: Out) -> Result {
    if out.json {
        return out.value(report);
    }
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of one run")]
    let took = report.took_ms as f64 / 1_000.0;
    out.line(format!("{} ({took:.1} s)", report.summary()))
}
