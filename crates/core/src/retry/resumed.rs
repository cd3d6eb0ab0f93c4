//! What the workflow tool's answer to a resume means. Its statuses alone do not say it: 409 is "not waiting yet" as well
//! as "over". Source: n8n 2.41.1, `webhooks/waiting-webhooks`, and what was observed on it.
//!
//! What it does not name is left to the rules for every provider: 2xx is applied, 500 and silence are unknown.

use super::{Class, Classified};
use crate::{
    effect::Effect,
    outcome::{Phase, Report},
    starting::is_starting,
};

/// Reads a report of a resume. `is_safe_to_repeat`: the place re-reads the decision before it goes on, so that a second
/// call does nothing. `None` where the general rules say it.
#[must_use]
pub fn resumed(report: &Report, effect: &Effect, is_safe_to_repeat: bool) -> Option<Classified> {
    let answer = report.answer.as_ref().filter(|_| report.phase == Phase::Answered)?;
    if is_starting(answer) {
        return Some(Classified::of(Class::Overloaded, "n8n is starting"));
    }
    let text = String::from_utf8_lossy(&answer.body).to_lowercase();
    let said = |words: &str| text.contains(words);
    match answer.status {
        409 if said("running") => Some(Classified::of(Class::Overloaded, "it runs and does not wait yet")),
        409 if said("finished") => Some(moved_on("the execution has ended already")),
        404 if said("does not exist") => Some(Classified::of(Class::Refused, "there is no such execution any more")),
        404 if said("matching path") => Some(not_waiting_here(effect, is_safe_to_repeat)),
        // About this one link, not about credentials of ours: others go on.
        401 => Some(Classified::of(Class::Refused, "the address carries no valid signature")),
        // Before anything is looked at.
        503 if said("database is not ready") => Some(Classified::of(Class::Overloaded, "its database is not ready")),
        _ => None,
    }
}

/// The execution is past this place, or the place takes no POST. A node of ours always does, and after a call in doubt
/// it is past it; otherwise saying "done" might leave an execution waiting that nobody looks after.
fn not_waiting_here(effect: &Effect, is_safe_to_repeat: bool) -> Classified {
    if is_safe_to_repeat || effect.unknown_since.is_some() {
        return moved_on("the execution has gone on from there already");
    }
    Classified::of(
        Class::Refused,
        "nothing waits for a POST there: it has gone on, or the Wait node's method is not POST",
    )
}

fn moved_on(detail: &str) -> Classified {
    Classified::of(Class::Applied, detail)
}
