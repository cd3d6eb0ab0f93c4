//! Verifying on a page: some seconds of chains for each request, the counts so far carried in the address under a seal,
//! so that nobody can be shown a sum that was not counted. With `auto` the browser goes on by itself.

use std::time::{Duration, Instant};

use askama::Template;
use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use effectgate_core::ids::RunId;
use effectgate_engine::audit::Broken;
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Deserialize;

use super::super::{
    answer::{self, Frame},
    listing::address,
    text::{Shown, grouped},
    visit::{Entitled, Visit},
};
use crate::{
    auth::{Identity, allowed::Audit},
    problem::Result,
};

/// What was counted before, as it stands in the address.
#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub(crate) struct Before {
    after: String,
    chains: u64,
    entries: u64,
    broken: u64,
    seal: String,
    auto: String,
}

#[derive(Template)]
#[template(path = "journal_verify.html")]
struct VerifyPage {
    frame: Frame,
    chains: String,
    entries: String,
    broken: String,
    is_whole: bool,
    found: Vec<BrokenLine>,
    /// Where to go on; `None` when every chain was seen.
    next: Option<String>,
    next_auto: Option<String>,
    /// How far through the ids, in percent.
    percent: u64,
    is_auto: bool,
}

struct BrokenLine {
    run: String,
    href: String,
    detail: Shown,
}

const PATH: &str = "/journal/verify";
/// Long enough to get on, short enough that nobody wonders whether it hangs.
const BUDGET: Duration = Duration::from_secs(2);
/// Chains between two looks at the watch.
const STEP: u64 = 200;

pub(crate) async fn show(
    Entitled { visit, who, .. }: Entitled<Audit>,
    before: Result<Query<Before>, QueryRejection>,
) -> Response {
    let Query(before) = before.unwrap_or_default();
    // What was not sealed for this visit was not counted for it: from the beginning.
    let is_sealed = !before.seal.is_empty() && before.seal == seal(&visit, &before);
    let start = if is_sealed { before.clone() } else { Before::default() };
    match build(&visit, &who, start, before.auto == "1").await {
        Ok(page) => answer(&page),
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

fn answer(page: &VerifyPage) -> Response {
    let mut response = answer::page(StatusCode::OK, page);
    let go_on = page.next_auto.as_deref().filter(|_| page.is_auto && page.found.is_empty());
    if let Some(value) = go_on.and_then(|href| HeaderValue::from_str(&format!("0; url={href}")).ok()) {
        response.headers_mut().insert(HeaderName::from_static("refresh"), value);
    }
    response
}

fn seal(visit: &Visit, at: &Before) -> String {
    visit.forms().token(&format!("{PATH} {} {} {} {}", at.after, at.chains, at.entries, at.broken))
}

async fn build(visit: &Visit, who: &Identity, start: Before, is_auto: bool) -> Result<VerifyPage> {
    let begun = Instant::now();
    let mut after: Option<RunId> = start.after.parse().ok();
    let (mut chains, mut entries) = (start.chains, start.entries);
    let mut found: Vec<Broken> = Vec::new();
    loop {
        let audit = visit.app.engine.audit(who.tenant(), after, STEP).await?;
        (chains, entries) = (chains + audit.chains, entries + audit.entries);
        found.extend(audit.broken);
        after = audit.next;
        // What is broken is shown before going on.
        if after.is_none() || !found.is_empty() || begun.elapsed() >= BUDGET {
            break;
        }
    }
    let broken = start.broken + found.len() as u64;
    let next = after.map(|run| Before { after: run.to_string(), chains, entries, broken, ..Before::default() });
    let number = |n: u64| grouped(usize::try_from(n).unwrap_or(usize::MAX));
    Ok(VerifyPage {
        frame: Frame::english("Verify the journal", visit),
        chains: number(chains),
        entries: number(entries),
        broken: number(broken),
        is_whole: broken == 0,
        found: found.iter().map(broken_line).collect(),
        next: next.as_ref().map(|next| href(visit, next, "")),
        next_auto: next.as_ref().map(|next| href(visit, next, "1")),
        percent: after.map_or(100, |run| percent(&run)),
        is_auto,
    })
}

fn href(visit: &Visit, next: &Before, auto: &str) -> String {
    let (chains, entries, broken) = (next.chains.to_string(), next.entries.to_string(), next.broken.to_string());
    let seal = seal(visit, next);
    let query = [
        ("after", next.after.as_str()),
        ("chains", &chains),
        ("entries", &entries),
        ("broken", &broken),
        ("seal", &seal),
        ("auto", auto),
    ];
    address(PATH, &query)
}

fn broken_line(broken: &Broken) -> BrokenLine {
    BrokenLine {
        run: broken.run.to_string(),
        href: address(super::PATH, &[("run", &broken.run.to_string())]),
        detail: Shown::new(&answer::sentence(&broken.detail)),
    }
}

/// Ids are hashes and come in order, so the first byte says how many lie before.
fn percent(run: &RunId) -> u64 {
    u64::from(run.as_bytes().first().copied().unwrap_or_default()) * 100 / 256
}
