//! The inbox, in its simplest form: the open approvals that the signed-in person was asked to decide.

use askama::Template;
use axum::response::Response;
use effectgate_core::approval::{ApprovalState, is_in_audience};
use effectgate_engine::EngineError;
use effectgate_store::{ApprovalFilter, ApprovalItem};
use http::StatusCode;

use super::{
    answer::{self, Frame},
    approval::login_path,
    card::is_open,
    text::{Shown, plural},
    time::When,
    visit::Visit,
};
use crate::{auth::SignedIn, problem::Result};

#[derive(Template)]
#[template(path = "inbox.html")]
struct InboxPage {
    frame: Frame,
    lines: Vec<Line>,
    /// True if there are more open approvals than were looked at.
    is_cut: bool,
}

/// One approval that waits.
struct Line {
    href: String,
    flow: Shown,
    key: Shown,
    effects: Vec<EffectLine>,
    more: Option<String>,
    expires: When,
    is_high: bool,
}

struct EffectLine {
    kind: Shown,
    target: Shown,
}

/// What a page of the store may hold, and how many pages are looked through for one person's share.
const PAGE: u32 = 200;
const PAGES_MAX: usize = 10;
const EFFECTS_SHOWN: usize = 3;

pub(crate) async fn show(visit: Visit) -> Response {
    let Some(signed_in) = &visit.signed_in else { return answer::see(&login_path(&visit, None, "/inbox")) };
    match waiting(&visit, signed_in).await {
        Ok((items, is_cut)) => {
            let lines = items.into_iter().map(|item| line(&item, &visit)).collect();
            answer::page(StatusCode::OK, &InboxPage { frame: Frame::new("Inbox", Some(&visit)), lines, is_cut })
        }
        Err(problem) => answer::problem(&problem, Some(&visit)),
    }
}

/// The person's open approvals, those that end first on top, and whether the search was given up.
async fn waiting(visit: &Visit, signed_in: &SignedIn) -> Result<(Vec<ApprovalItem>, bool)> {
    let (mut found, mut cursor) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let filter = ApprovalFilter { state: Some(ApprovalState::Open.as_str().into()), cursor, limit: PAGE };
        let page =
            visit.app.engine.store().approval_find(&signed_in.tenant, &filter).await.map_err(EngineError::from)?;
        let mine = |item: &ApprovalItem| {
            is_open(&item.approval, visit.now) && is_in_audience(&item.approval, &signed_in.person)
        };
        found.extend(page.items.into_iter().filter(mine));
        cursor = page.next;
        if cursor.is_none() {
            return Ok((found, false));
        }
    }
    Ok((found, true))
}

fn line(item: &ApprovalItem, visit: &Visit) -> Line {
    let proposed = &item.approval.proposed;
    let more = proposed.len().saturating_sub(EFFECTS_SHOWN);
    Line {
        href: format!("/approvals/{}", item.approval.id),
        flow: Shown::new(item.run.flow.as_str()),
        key: Shown::new(&item.run.key),
        effects: proposed
            .iter()
            .take(EFFECTS_SHOWN)
            .map(|p| EffectLine { kind: Shown::new(p.effect_type.as_str()), target: Shown::new(&p.target) })
            .collect(),
        more: (more > 0).then(|| format!("and {more} more {}", plural(more, "effect", "effects"))),
        expires: When::new(item.approval.expires_at, visit.now),
        is_high: proposed.iter().any(|p| p.impact == "high"),
    }
}
