//! Delivery: handing a run that came in at a source to its worker by one call, under a lease. What the call's answer
//! means, and what becomes of a run whose worker did not take it.
//!
//! A run that was taken needs nothing from here: its worker holds owner, fence and lease. One whose call has no known
//! end keeps its lease too, because the worker may have begun; the lease runs out, the next delivery has a higher fence.
//! What the worker then does is in [`crate::ending`] and its neighbours; how a call is made is the engine's.

use crate::{
    actor::Actor,
    ending::EndRefused,
    facts,
    ids::{Fence, Owner},
    journal::EntryKind,
    lease::{self, Doubt},
    notice::{Alert, Notice, NoticeKind},
    outcome::{Phase, Report},
    retry_after,
    run::{Aggregate, RunState},
    starting,
    time::Timestamp,
    transition::{Draft, LeaseGuard, Transition},
};

/// Why a run that nobody took is tried again.
pub const UNDELIVERED: &str = "undelivered";
/// Why a run that nobody took for too long has ended.
pub const UNDELIVERABLE: &str = "undeliverable";

/// What one call to a worker came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handover {
    /// 2xx: the worker has it.
    Taken { status: u16 },
    /// No worker began: it could not be reached, or its door turned the call away.
    TurnedAway { why: String, retry_after_ms: Option<i64> },
    /// The worker answered that it failed.
    Failed { status: u16 },
    /// It may have begun: the answer was lost, or came from something in between.
    Unknown { why: String },
}

impl Handover {
    /// As it is counted.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "delivered",
            Self::TurnedAway { .. } => UNDELIVERED,
            Self::Failed { .. } => "failed",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// Says what a call showed.
///
/// A door that is shut, and no execution has begun: other credentials (401, 403), a webhook that is not published (n8n
/// 2.41.1: 404), another method (405), too many (429), a database that is not ready (n8n 2.41.1: 503), and a proxy that
/// reaches nobody behind it (502; 521 to 523 at Cloudflare). Giving the claim back then is safe even where it is not so:
/// whoever has begun is refused by the fence. A proxy that heard no answer in time (408, 504; 520 and 524 at Cloudflare)
/// speaks of a worker that is likely at work. Any other status is the worker's own failure. An n8n that starts answers 200
/// before any webhook is there ([`starting`]): taken at its word, the run would wait for the end of a lease nobody holds.
#[must_use]
pub fn handover(report: &Report, now: Timestamp) -> Handover {
    let Some(answer) = &report.answer else {
        let why = report.error.clone().unwrap_or_default();
        return if report.phase < Phase::Request || report.bytes_sent == 0 {
            Handover::TurnedAway { why, retry_after_ms: None }
        } else {
            Handover::Unknown { why }
        };
    };
    let (status, said) = (answer.status, format!("it answered {}", answer.status));
    if starting::is_starting(answer) {
        return Handover::TurnedAway { why: "it is starting".to_owned(), retry_after_ms: None };
    }
    match status {
        200..=299 => Handover::Taken { status },
        401 | 403 | 404 | 405 | 429 | 502 | 503 | 521..=523 => {
            let wish = answer.retry_after.as_deref().and_then(|at| retry_after::parse(at, now.millis(), WAIT_MS_MAX));
            Handover::TurnedAway { why: said, retry_after_ms: wish.and_then(|ms| i64::try_from(ms).ok()) }
        }
        408 | 504 | 520 | 524 => Handover::Unknown { why: said },
        _ => Handover::Failed { status },
    }
}

/// A worker that starts is found within a second.
const WAIT_MS_MIN: i64 = 1_000;
/// One that is away for a day is asked about each run every five minutes: often enough for whoever mends it, and a day's
/// record of one run stays below six hundred entries.
const WAIT_MS_MAX: i64 = 300_000;
/// A restart of the worker takes minutes and is nobody's business; what takes longer is.
const TOLD_AFTER_MS: i64 = 600_000;

/// A call that reached no worker.
#[derive(Debug, Clone, Copy)]
pub struct Away<'a> {
    pub why: &'a str,
    /// Since when the run has been waiting for a worker to take it.
    pub since: Timestamp,
    /// People were told of it at an earlier try.
    pub told: bool,
    /// What the other side asked for, if it did.
    pub retry_after_ms: Option<i64>,
    /// The end of patience, counted from `since`.
    pub give_up_ms: i64,
}

/// Gives a claim back whose run no worker took. The attempt is not counted: that nobody is there is not the run's fault.
/// The wait grows with the time since which it has been tried, so no counter is kept; after `give_up_ms` the run ends
/// and people are told.
///
/// # Errors
/// The lease is lost.
pub fn undelivered(
    agg: &Aggregate,
    owner: &Owner,
    fence: Fence,
    away: &Away<'_>,
    now: Timestamp,
) -> Result<Transition, EndRefused> {
    if !agg.holds_lease(owner, fence) {
        return Err(EndRefused::LeaseLost);
    }
    let age_ms = now.ms_since(away.since).max(0);
    let guard = LeaseGuard::Live { owner: owner.clone(), fence };
    if age_ms >= away.give_up_ms {
        return Ok(undeliverable(agg, guard, away, now));
    }
    let wait_ms = (age_ms / 2).clamp(WAIT_MS_MIN, WAIT_MS_MAX).max(away.retry_after_ms.unwrap_or(0));
    let next_attempt_at = now.plus_ms(wait_ms);
    let told = away.told || age_ms >= TOLD_AFTER_MS;
    let mut draft = Draft::on(&agg.run, now);
    draft.require(guard);
    draft.run_mut().attempts -= 1;
    draft.state(RunState::FailedRetryable { reason: UNDELIVERED.into(), next_attempt_at });
    draft.entry(
        EntryKind::Undelivered,
        &DELIVERER,
        facts! { "fence" => fence, "reason" => short(away.why), "since" => away.since,
        "next_attempt_at" => next_attempt_at, "told" => told },
    );
    if told && !away.told {
        tell(&mut draft, away);
    }
    Ok(draft.changed())
}

/// Patience is over. An inline effect of an earlier worker that may have happened is a person's to settle first.
fn undeliverable(agg: &Aggregate, guard: LeaseGuard, away: &Away<'_>, now: Timestamp) -> Transition {
    let review = lease::inline_to_review(agg, now, Doubt::Anywhere, UNDELIVERABLE, &DELIVERER, guard.clone());
    if let Some(review) = review {
        return review;
    }
    let mut draft = Draft::on(&agg.run, now);
    draft.require(guard);
    draft.state(RunState::FailedTerminal { reason: UNDELIVERABLE.into() });
    draft.entry(
        EntryKind::Undelivered,
        &DELIVERER,
        facts! { "reason" => short(away.why), "since" => away.since, "next" => UNDELIVERABLE },
    );
    lease::drop_inline(&mut draft, agg, &DELIVERER);
    lease::alert(&mut draft, Alert::Undeliverable, not_taken(away));
    draft.changed()
}

/// Once for each run, and by mail or chat once for each source: one worker that is away is one piece of news.
fn tell(draft: &mut Draft, away: &Away<'_>) {
    let run = draft.run();
    let source = run.origin.inbound.as_ref().map_or("", |source| source.as_str());
    let kind = NoticeKind::Alert { alert: Alert::Undeliverable, detail: not_taken(away) };
    let notice = Notice::new(run.head.seq, 0, kind, format!("{UNDELIVERED}:{source}"), draft.now());
    draft.notice(notice);
}

fn not_taken(away: &Away<'_>) -> String {
    format!("no worker took it since {}: {}", away.since, short(away.why))
}

/// Notes that the worker said it has the run. `None` if it has gone on already, or lost it: the record says so itself.
#[must_use]
pub fn delivered(agg: &Aggregate, owner: &Owner, fence: Fence, status: u16, now: Timestamp) -> Option<Transition> {
    if !agg.holds_lease(owner, fence) {
        return None;
    }
    let mut draft = Draft::on(&agg.run, now);
    draft.require(LeaseGuard::Live { owner: owner.clone(), fence });
    draft.entry(EntryKind::Delivered, &DELIVERER, facts! { "fence" => fence, "status" => status });
    Some(draft.noted())
}

const DELIVERER: Actor = Actor::System("deliverer");

/// The other side's words, bounded: the journal is no log.
fn short(why: &str) -> String {
    why.chars().take(200).collect()
}
