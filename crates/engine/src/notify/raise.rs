//! Raising an alert: to every route that wants it, once within the route's dedupe time.

use effectgate_core::notice::Alert;
use effectgate_store::DueNotice;

use super::{content, deliver::Told};
use crate::{engine::Engine, error::Result};

impl Engine {
    pub(super) async fn raise(&self, due: &DueNotice, alert: Alert, detail: &str) -> Result<Told> {
        let policy = self.policy();
        let mut told = Told::Skipped;
        for route in policy.alerts.iter().filter(|r| r.on.contains(&alert)) {
            let since = self.now().plus_ms(-route.dedupe_ms);
            if self.store().notice_sent_since(&due.notice.dedupe, since).await? {
                continue;
            }
            let said = content::alert(due.run, alert, detail, &policy.public_url, policy.channels.language);
            let facts = serde_json::json!({
                "kind": "alert", "alert": alert.as_str(), "run_id": due.run, "detail": detail,
            });
            let message = content::message(said, format!("{}-{}", due.run, due.notice.n), None, facts);
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
}
