//! Notices by mail, over the same server and the same dialogue as mail effects: plain text first, then HTML. A repeat
//! has the same Message-ID; a reminder names the message that it follows.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use effectgate_core::outcome::{Phase, Report};
use serde_json::json;
use tokio::sync::Semaphore;

use super::{Channel, Message};
use crate::{
    clock::Clock,
    connect::{AlwaysOpen, mail::validate_mail},
    connectors::SmtpConnector,
};

/// Longer subjects are cut by mail programs anyway.
const SUBJECT_CHARS_MAX: usize = 200;
/// Connections to the server at once. Ten is what common servers allow one client (Postfix has 50, Exchange 20).
const CONNECTIONS_MAX: usize = 8;
/// A notice that arrives twice harms nobody, so the ten minutes that RFC 5321 gives the last reply are not waited for:
/// people wait meanwhile. A second copy has the same Message-ID.
const PATIENCE: Duration = Duration::from_secs(60);

/// Mail as a way to reach people.
pub struct MailChannel {
    connector: SmtpConnector,
    clock: Arc<dyn Clock>,
    connections: Semaphore,
}

impl MailChannel {
    #[must_use]
    pub fn new(connector: SmtpConnector, clock: Arc<dyn Clock>) -> Self {
        Self { connector, clock, connections: Semaphore::new(CONNECTIONS_MAX) }
    }

    /// The headers that say what kind of mail this is: no vacation notice answers it (RFC 3834 section 5, and what
    /// Exchange reads), a filter can find it (RFC 2919), a reminder stands below what it reminds of.
    fn headers(&self, message: &Message) -> Vec<(&'static str, String)> {
        let domain = self.connector.domain();
        let mut headers = vec![
            ("Auto-Submitted", "auto-generated".to_owned()),
            ("X-Auto-Response-Suppress", "All".to_owned()),
            ("List-Id", format!("Effectgate <effectgate.{domain}>")),
            ("Content-Language", message.language.tag().to_owned()),
        ];
        if let Some(first) = &message.follows {
            let id = format!("<{}@{domain}>", plain(first));
            headers.extend([("In-Reply-To", id.clone()), ("References", id)]);
        }
        headers
    }
}

#[async_trait]
impl Channel for MailChannel {
    async fn deliver(&self, to: &str, message: &Message) -> Result<(), String> {
        let subject = one_line(&message.subject);
        let payload = json!({"to": to, "subject": subject, "text": message.text, "html": message.html});
        let mail = validate_mail(&payload).map_err(|e| e.to_string())?;
        let (id, headers) = (plain(&message.id), self.headers(message));
        let _turn = self.connections.acquire().await.map_err(|e| e.to_string())?;
        let posted = self.connector.post(&mail, &id, self.clock.now(), &headers, &AlwaysOpen);
        match tokio::time::timeout(PATIENCE, posted).await {
            Ok(report) => accepted(&report),
            Err(_) => Err(format!("the mail server said nothing for {} s", PATIENCE.as_secs())),
        }
    }
}

/// Said in words: the server took it, or what it said instead.
pub(super) fn accepted(report: &Report) -> Result<(), String> {
    let status = report.answer.as_ref().map(|answer| answer.status);
    match status {
        Some(200..=299) if report.phase == Phase::Answered => Ok(()),
        Some(status) => Err(format!("the other side answered {status}")),
        None => Err(report.error.clone().unwrap_or_else(|| "no answer".to_owned())),
    }
}

fn one_line(subject: &str) -> String {
    let blank = |c: char| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c };
    subject.chars().map(blank).take(SUBJECT_CHARS_MAX).collect()
}

/// A Message-ID's left part: what is not plain becomes a hyphen.
fn plain(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' }).collect()
}
