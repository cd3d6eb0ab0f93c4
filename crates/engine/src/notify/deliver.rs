//! The notifier: takes what is due, has it delivered, and notes who was told. Claimed by compare-and-set, so replicas do
//! not tell twice on purpose; a crash in between may, and harms nobody.
//!
//! Many notices are under way at once, and of one notice every message: a mail server that hangs holds up no chat.

use effectgate_core::notice::{Notice, NoticeKind, NoticeState};
use effectgate_store::DueNotice;
use tokio::task::JoinSet;

use crate::{engine::Engine, error::Result};

/// What one tick of the notifier saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct NotifyReport {
    pub seen: usize,
    pub sent: usize,
    pub retried: usize,
    pub undeliverable: usize,
    /// Told within the dedupe time, or nobody to tell any more.
    pub skipped: usize,
}

/// Notices under way at once; each waits for a few answers, the connections to a server are bounded by its channel.
const UNDER_WAY_MAX: usize = 64;
/// Longer than any notice takes: [`super::ask`] gives up waiting for a message after nine minutes.
const CLAIM_MS: i64 = 11 * 60_000;
/// A mail server that is away for an hour is waited for: 8 tries, 20 s doubling.
pub(super) const ATTEMPTS_MAX: i32 = 8;
const RETRY_MS: i64 = 10_000;

/// How one try ended.
pub(super) enum Told {
    Sent,
    Skipped,
    /// Worth another try.
    Failed(String),
    /// Nothing to wait for: there is no way to anybody, or it was tried often enough.
    NoWay(String),
}

/// The pause before the next try, after this many.
pub(super) fn retry_ms(attempts: i32) -> i64 {
    RETRY_MS << attempts.clamp(0, 8)
}

impl Told {
    fn given_up(self) -> Self {
        match self {
            Self::Failed(error) => Self::NoWay(error),
            other => other,
        }
    }
}

impl NotifyReport {
    fn count(&mut self, told: &Told) {
        match told {
            Told::Sent => self.sent += 1,
            Told::Skipped => self.skipped += 1,
            Told::Failed(_) => self.retried += 1,
            Told::NoWay(_) => self.undeliverable += 1,
        }
    }
}

impl Engine {
    /// Delivers what is due, and what becomes due meanwhile; returns when nothing is under way any more.
    ///
    /// # Errors
    /// The store. A delivery that fails is not an error here: it is tried again and then raised as undeliverable.
    pub async fn notify_tick(&self) -> Result<NotifyReport> {
        let mut report = NotifyReport::default();
        // Tasks of their own: a delivery that nobody polls while the next notices are claimed may have been handed one of
        // the database's few connections, and would keep it from the very claim that is waited for.
        let mut under_way = JoinSet::new();
        loop {
            let room = u32::try_from(UNDER_WAY_MAX - under_way.len()).unwrap_or(0);
            let due = if room == 0 { Vec::new() } else { self.store().notice_due(room).await? };
            for due in due {
                if self.store().notice_claim(&due, self.now().plus_ms(CLAIM_MS)).await? {
                    report.seen += 1;
                    let engine = self.clone();
                    under_way.spawn(async move { engine.deliver(due).await });
                }
            }
            if under_way.is_empty() {
                return Ok(report);
            }
            tokio::select! {
                Some(told) = under_way.join_next() => match told {
                    Ok(told) => report.count(&told?),
                    // Its claim ends by itself, and then it is tried again; the others go on.
                    Err(error) => tracing::error!(%error, "a delivery broke off"),
                },
                // More came; what is under way goes on.
                () = self.nudges().notifier.notified(), if under_way.len() < UNDER_WAY_MAX => {}
            }
        }
    }

    async fn deliver(&self, due: DueNotice) -> Result<Told> {
        let told = match &due.notice.kind {
            NoticeKind::ApprovalRequest { approval, audience, urgency } => {
                self.ask(&due, *approval, audience, *urgency, false).await
            }
            NoticeKind::ApprovalRest { approval, audience, urgency } => {
                self.ask(&due, *approval, audience, *urgency, true).await
            }
            NoticeKind::ApprovalClosed { approval, audience } => self.tell_closed(&due, *approval, audience).await,
            NoticeKind::Resume { approval, n } => self.resume(&due, *approval, *n).await,
            NoticeKind::Alert { alert, detail } => self.raise(&due, *alert, detail).await,
            NoticeKind::Events { at, events } => self
                .fan_out(&due.tenant, due.run, due.notice.n, *at, events)
                .await
                .map(|n| if n == 0 { Told::Skipped } else { Told::Sent }),
        };
        let told = told.unwrap_or_else(|error| Told::Failed(error.to_string()));
        let told = if due.notice.attempts + 1 >= ATTEMPTS_MAX { told.given_up() } else { told };
        self.settle_notice(&due, &told).await?;
        Ok(told)
    }

    async fn settle_notice(&self, due: &DueNotice, told: &Told) -> Result<()> {
        let attempts = due.notice.attempts + 1;
        let (state, due_at) = match told {
            Told::Sent | Told::Skipped => (NoticeState::Sent, self.now()),
            Told::Failed(_) => (NoticeState::Pending, self.now().plus_ms(retry_ms(attempts))),
            Told::NoWay(_) => (NoticeState::Undeliverable, self.now()),
        };
        if let Told::Failed(error) | Told::NoWay(error) = told {
            tracing::warn!(run = %due.run, attempts, error, "a notice could not be delivered");
            metrics::counter!("effectgate_notices_failed_total").increment(1);
        }
        let notice = Notice { attempts, state, due_at, ..due.notice.clone() };
        self.store().notice_settle(due.run, &notice).await?;
        Ok(())
    }
}
