//! `doctor`: looks at everything a server needs and says, line by line, what is well, what to watch, and what to mend.
//! Reads and asks only; nothing is written, and nothing is sent to a provider but the opening of a connection.

mod database;
mod folder;
mod issuer;
mod providers;

use serde::Serialize;

use crate::{
    commands::Here,
    config::{Loaded, Resolved},
    exit::{Failure, Result},
    output::Out,
    wire,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// One line of the report.
#[derive(Debug, Clone, Serialize)]
struct Finding {
    what: String,
    verdict: Verdict,
    detail: String,
    /// What to do; only where there is something to do.
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    action: Option<String>,
}

impl Finding {
    fn ok(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { what: what.into(), verdict: Verdict::Ok, detail: detail.into(), action: None }
    }

    fn warn(what: impl Into<String>, detail: impl Into<String>, action: &str) -> Self {
        let action = Some(action.to_owned());
        Self { what: what.into(), verdict: Verdict::Warn, detail: detail.into(), action }
    }

    fn fail(what: impl Into<String>, detail: impl Into<String>, action: &str) -> Self {
        Self { verdict: Verdict::Fail, ..Self::warn(what, detail, action) }
    }
}

pub(crate) async fn run(_: &Args, here: &Here) -> Result {
    let findings = look(here).await;
    let failed = findings.iter().filter(|f| f.verdict == Verdict::Fail).count();
    if here.out.json {
        here.out.value(&serde_json::json!({ "ok": failed == 0, "findings": findings }))?;
    } else {
        findings.iter().try_for_each(|finding| show(finding, here.out))?;
    }
    if failed == 0 { Ok(()) } else { Err(Failure::failed(format!("{failed} to mend"))) }
}

async fn look(here: &Here) -> Vec<Finding> {
    let read = wire::read_config(here.config.as_deref());
    let (loaded, resolved) = match read.and_then(|loaded| Ok((loaded.resolve()?, loaded))) {
        Ok((resolved, loaded)) => (loaded, resolved),
        Err(failure) => return vec![Finding::fail("config", failure.text, "Mend the config; the rest follows it.")],
    };
    let mut findings = config(&resolved);
    findings.extend(rest(&loaded, resolved).await);
    findings
}

fn config(resolved: &Resolved) -> Vec<Finding> {
    let sound = format!("{} flows, {} providers", resolved.policy.flows.len(), resolved.policy.providers.len());
    let notes = resolved.notes.iter().map(|note| Finding::warn("config", note.clone(), "Read it; it may be meant."));
    std::iter::once(Finding::ok("config", sound)).chain(notes).collect()
}

async fn rest(loaded: &Loaded, resolved: Resolved) -> Vec<Finding> {
    let mut findings = folder::look(&resolved.database);
    let Resolved { policy, database, people, .. } = resolved;
    let public_url = policy.public_url.clone();
    findings.extend(database::look(&database, policy).await);
    findings.extend(providers::look(&loaded.config).await);
    findings.extend(issuer::look(people.oidc, &public_url).await);
    findings
}

fn show(finding: &Finding, out: Out) -> Result {
    let word = match finding.verdict {
        Verdict::Ok => "ok  ",
        Verdict::Warn => "warn",
        Verdict::Fail => "FAIL",
    };
    let word = match (out.terminal, finding.verdict) {
        (false, _) => word.to_owned(),
        (true, Verdict::Ok) => console::style(word).green().to_string(),
        (true, Verdict::Warn) => console::style(word).yellow().to_string(),
        (true, Verdict::Fail) => console::style(word).red().bold().to_string(),
    };
    out.line(format!("{word}  {}: {}", finding.what, finding.detail))?;
    finding.action.iter().try_for_each(|action| out.line(format!("      → {action}")))
}
