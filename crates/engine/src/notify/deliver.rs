//! Delivering notices: to the mail addresses of an audience, to the chat. Claimed by compare-and-set, so replicas do not
//! tell twice on purpose; a crash in between may, and harms nobody.

use effectgate_core::{
    ids::{ApprovalId, RunId, Tenant},
    notice::{Alert, Notice, NoticeKind, NoticeState, Urgency},
    run::{Aggregate, RunState},
};
use effectgate_store::DueNotice;

use super::{Message, text};
use crate::{
    engine::Engine,
    error::{EngineError, Result},
};

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

/// Notices of one tick. More wait for the next, a moment later.
const BATCH: u32 = 50;
/// Longer than any delivery takes (SMTP waits at most 10 minutes for its last reply, and people wait meanwhile).
const CLAIM_MS: i64 = 11 * 60_000;
/// A mail server that is away for an hour is waited for: 8 tries, 10 s doubling.
const ATTEMPTS_MAX: i32 = 8;
const RETRY_MS: i64 = 10_000;

enum Told {
    Sent,
    Skipped,
    Failed(String),
}

impl Engine {
    /// Delivers what is due.
    ///
    /// # Errors
    /// The store. A delivery that fails is not an error here: it is tried again and then raised as undeliverable.
    pub async fn notify_tick(&self) -> Result<NotifyReport> {
        let due = self.store().notice_due(BATCH).await?;
        let mut report = NotifyReport { seen: due.len(), ..NotifyReport::default() };
        for due in due {
            if self.store().notice_claim(&due, self.now().plus_ms(CLAIM_MS)).await? {
                let told = self.tell(&due).await;
                self.settle_notice(due, told, &mut report).await?;
            }
        }
        Ok(report)
    }

    async fn tell(&self, due: &DueNotice) -> Told {
        let told = match &due.notice.kind {
            NoticeKind::ApprovalRequest { approval, audience, urgency } => {
                self.ask_audience(due, *approval, audience, *urgency).await
            }
            NoticeKind::Alert { alert, detail } => self.raise(due, *alert, detail).await,
        };
        told.unwrap_or_else(|error| Told::Failed(error.to_string()))
    }

    async fn settle_notice(&self, due: DueNotice, told: Told, report: &mut NotifyReport) -> Result<()> {
        let attempts = due.notice.attempts + 1;
        let (state, due_at) = match &told {
            Told::Sent => {
                report.sent += 1;
                (NoticeState::Sent, self.now())
            }
            Told::Skipped => {
                report.skipped += 1;
                (NoticeState::Sent, self.now())
            }
            Told::Failed(_) if attempts < ATTEMPTS_MAX => {
                report.retried += 1;
                (NoticeState::Pending, self.now().plus_ms(RETRY_MS << attempts.min(8)))
            }
            Told::Failed(_) => {
                report.undeliverable += 1;
                (NoticeState::Undeliverable, self.now())
            }
        };
        if let Told::Failed(error) = &told {
            tracing::warn!(run = %due.run, attempts, error, "a notice could not be delivered");
            metrics::counter!("effectgate_notices_failed_total").increment(1);
        }
        let notice = Notice { attempts, state, due_at, ..due.notice.clone() };
        self.store().notice_settle(due.run, &notice).await?;
        if state == NoticeState::Undeliverable && matches!(notice.kind, NoticeKind::ApprovalRequest { .. }) {
            self.raise_undeliverable(&due.tenant, due.run).await?;
        }
        Ok(())
    }

    /// Asks each member of the audience: people by mail, the chat once for roles.
    async fn ask_audience(
        &self,
        due: &DueNotice,
        id: ApprovalId,
        audience: &[String],
        urgency: Urgency,
    ) -> Result<Told> {
        let agg = self.load(&due.tenant, due.run).await?;
        if !matches!(agg.run.state, RunState::AwaitingHuman { .. }) {
            return Ok(Told::Skipped);
        }
        let mut told = Told::Skipped;
        for member in audience {
            match self.ask_member(&agg, &due.notice, id, member, urgency).await? {
                // One who was told is enough to go on; the others are tried again only if nobody was.
                Told::Sent => told = Told::Sent,
                Told::Failed(error) if !matches!(told, Told::Sent) => told = Told::Failed(error),
                _ => {}
            }
        }
        Ok(told)
    }

    async fn ask_member(
        &self,
        agg: &Aggregate,
        notice: &Notice,
        id: ApprovalId,
        member: &str,
        urgency: Urgency,
    ) -> Result<Told> {
        let channels = &self.policy().channels;
        let addresses = self.addresses(&agg.run.tenant, member).await?;
        let mut told = Told::Failed(format!("nobody to tell: no channel reaches {member}"));
        if let Some(mail) = &channels.mail {
            for address in addresses {
                let message = self.request(agg, notice, id, &address, urgency).await?;
                told = match mail.deliver(&address, &message).await {
                    Ok(()) => Told::Sent,
                    Err(error) => Told::Failed(error),
                };
            }
        }
        if let Some(chat) = &channels.chat
            && member.starts_with("role:")
        {
            let message = self.request(agg, notice, id, member, urgency).await?;
            told = match (chat.deliver(member, &message).await, told) {
                (Ok(()), _) | (_, Told::Sent) => Told::Sent,
                (Err(error), _) => Told::Failed(error),
            };
        }
        Ok(told)
    }

    /// A mail address is itself; a role is the addresses of the people who hold it.
    async fn addresses(&self, tenant: &Tenant, member: &str) -> Result<Vec<String>> {
        let Some(role) = member.strip_prefix("role:") else { return Ok(vec![member.to_owned()]) };
        let users = self.store().user_list(tenant).await?;
        let holders = users.into_iter().filter(|u| !u.disabled && u.roles.iter().any(|r| r == role));
        Ok(holders.filter_map(|u| u.email).collect())
    }

    async fn request(
        &self,
        agg: &Aggregate,
        notice: &Notice,
        id: ApprovalId,
        to: &str,
        urgency: Urgency,
    ) -> Result<Message> {
        let link = self.mint_link(&agg.run.tenant, id, to).await?;
        let approval = agg.approvals.iter().find(|a| a.id == id).ok_or(EngineError::NotFound("approval"))?;
        Ok(text::request(&agg.run, approval, urgency, &link, notice.n))
    }

    async fn raise(&self, due: &DueNotice, alert: Alert, detail: &str) -> Result<Told> {
        let policy = self.policy();
        let mut told = Told::Skipped;
        for route in policy.alerts.iter().filter(|r| r.on.contains(&alert)) {
            let since = self.now().plus_ms(-route.dedupe_ms);
            if self.store().notice_sent_since(&due.notice.dedupe, since).await? {
                continue;
            }
            let message = text::alert(due.run, alert, detail, &policy.public_url, due.notice.n);
            let delivered = match route.to.as_str() {
                "notify.chat" => match &policy.channels.chat {
                    Some(chat) => chat.deliver("", &message).await,
                    None => Err("no chat is configured".into()),
                },
                to => match &policy.channels.mail {
                    Some(mail) => mail.deliver(to.strip_prefix("mail:").unwrap_or(to), &message).await,
                    None => Err("no mail is configured".into()),
                },
            };
            match delivered {
                Ok(()) => told = Told::Sent,
                Err(error) => return Ok(Told::Failed(error)),
            }
        }
        Ok(told)
    }

    /// An approval request that reached nobody: an alert on the other channel, and a mark that the inbox shows.
    async fn raise_undeliverable(&self, tenant: &Tenant, run: RunId) -> Result<()> {
        self.change(tenant, run, |agg, now| {
            let mut draft = effectgate_core::transition::Draft::on(&agg.run, now);
            effectgate_core::approval::note_undeliverable(&mut draft, agg);
            Ok(crate::engine::Step::Write(Box::new(draft.noted()), ()))
        })
        .await?;
        Ok(())
    }
}
