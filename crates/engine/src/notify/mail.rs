//! Notices by mail, over the same server and the same dialogue as mail effects. A repeat has the same Message-ID.

use std::sync::Arc;

use async_trait::async_trait;
use effectgate_core::outcome::{Phase, Report};
use serde_json::json;

use super::{Channel, Message};
use crate::{
    clock::Clock,
    connect::{AlwaysOpen, mail::validate_mail},
    connectors::SmtpConnector,
};

/// Longer subjects are cut by mail programs anyway.
const SUBJECT_CHARS_MAX: usize = 200;

/// Mail as a way to reach people.
pub struct MailChannel {
    connector: SmtpConnector,
    clock: Arc<dyn Clock>,
}

impl MailChannel {
    #[must_use]
    pub fn new(connector: SmtpConnector, clock: Arc<dyn Clock>) -> Self {
        Self { connector, clock }
    }
}

#[async_trait]
impl Channel for MailChannel {
    async fn deliver(&self, to: &str, message: &Message) -> Result<(), String> {
        let payload = json!({"to": to, "subject": one_line(&message.subject), "text": message.text});
        let mail = validate_mail(&payload).map_err(|e| e.to_string())?;
        let report = self.connector.post(&mail, &plain(&message.id), self.clock.now(), &AlwaysOpen).await;
        accepted(&report)
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
