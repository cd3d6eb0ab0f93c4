//! The mail connector: one effect, one letter, the same bytes on every attempt. The Message-ID is made of the effect's
//! id, the Date is the moment the effect was made, so a second copy can be seen to be one.
//!
//! What is approved is what is sent: a mail goes to the effect's target and to nobody else.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use effectgate_core::{
    effect::Effect,
    ids::EffectType,
    outcome::{Phase, Report},
    retry::{Look, Success},
    time::Timestamp,
};
use serde_json::{Value, json};

use super::{Faults, SettingError};
use crate::{
    connect::{
        WriteGate,
        guard::EgressGuard,
        mail::{Letter, Mail, Stamp, build, validate_mail},
        smtp::{SmtpLimits, SmtpServer, SmtpTls, send},
        tls::Tls,
    },
    connector::Connector,
    view::FindingView,
};

/// Everything one mail provider needs.
pub struct SmtpSettings {
    pub server: SmtpServer,
    /// `gate@example.test` or `The Gate <gate@example.test>`.
    pub from: String,
    /// True: the server may lie in the own network.
    pub allow_private: bool,
    pub limits: SmtpLimits,
    pub effects: BTreeSet<EffectType>,
}

/// A mail server.
pub struct SmtpConnector {
    server: SmtpServer,
    from: String,
    domain: String,
    guard: EgressGuard,
    tls: Tls,
    limits: SmtpLimits,
    effects: BTreeSet<EffectType>,
}

impl SmtpConnector {
    /// Judges the settings.
    ///
    /// # Errors
    /// Every setting that cannot be used, by its member.
    pub fn new(settings: SmtpSettings, tls: Tls) -> Result<Self, Vec<SettingError>> {
        let mut faults = Faults::default();
        let domain = letter_domain(&settings.from);
        if domain.is_none() {
            faults.add("from", "this is not a mail address", "Write gate@example.com or The Gate <gate@example.com>.");
        }
        let guard = judge_host(&settings, &mut faults);
        judge_credentials(&settings.server, &mut faults);
        let SmtpSettings { server, from, limits, effects, .. } = settings;
        let whole = domain.zip(guard);
        faults.or(whole.map(|(domain, guard)| Self { server, from, domain, guard, tls, limits, effects }))
    }

    /// Sends a letter of its own that is no effect: a notice to people.
    pub(crate) async fn post(
        &self,
        mail: &Mail,
        id: &str,
        at: Timestamp,
        headers: &[(&'static str, String)],
        gate: &dyn WriteGate,
    ) -> Report {
        match self.letter(mail, id, at, headers) {
            Ok(letter) => send(&letter, &self.server, &self.limits, &self.guard, &self.tls, gate).await,
            Err(error) => Report::not_sent(Phase::Resolve, format!("the mail could not be made: {error}")),
        }
    }

    /// The domain that Message-IDs end in: the sender's.
    pub(crate) fn domain(&self) -> &str {
        &self.domain
    }

    fn letter(
        &self,
        mail: &Mail,
        id: &str,
        at: Timestamp,
        headers: &[(&'static str, String)],
    ) -> Result<Letter, String> {
        let message_id = self.message_id(id);
        let since = Duration::from_micros(u64::try_from(at.micros()).unwrap_or(0));
        let stamp = Stamp { from: &self.from, message_id: &message_id, date: SystemTime::UNIX_EPOCH + since, headers };
        build(mail, &stamp).map_err(|e| e.to_string())
    }

    fn message_id(&self, id: &str) -> String {
        format!("{id}@{}", self.domain)
    }
}

#[async_trait]
impl Connector for SmtpConnector {
    async fn attempt(&self, effect: &Effect, gate: &dyn WriteGate) -> Report {
        let report = match mail_of(effect) {
            Ok(mail) => self.post(&mail, &effect.id.to_string(), effect.created_at, &[], gate).await,
            Err(error) => Report::not_sent(Phase::Resolve, format!("the mail could not be made: {error}")),
        };
        Report { handle: Some(self.handle(effect)), ..report }
    }

    fn success(&self, _: &EffectType) -> Success {
        Success { external_id: None, member: None }
    }

    async fn look(&self, _: &Effect) -> Look {
        Look::Nothing { detail: "a mail server cannot be asked".to_owned() }
    }

    fn check(&self, effect_type: &EffectType, target: &str, payload: &Value) -> Vec<FindingView> {
        if !self.effects.contains(effect_type) {
            return vec![FindingView::new("", "type", "the provider has no effect of this type")];
        }
        checked(target, payload).err().into_iter().collect()
    }

    fn handle(&self, effect: &Effect) -> String {
        format!("<{}>", self.message_id(&effect.id.to_string()))
    }
}

fn mail_of(effect: &Effect) -> Result<Mail, String> {
    let payload: Value = serde_json::from_str(&effect.payload).map_err(|_| "the payload is not JSON")?;
    checked(&effect.target, &payload).map_err(|finding| format!("{} {}", finding.pointer, finding.message))
}

/// The mail, if it goes to the target and to nobody else.
fn checked(target: &str, payload: &Value) -> Result<Mail, FindingView> {
    let mail = validate_mail(payload).map_err(|e| FindingView::new(e.pointer, "mail", e.detail))?;
    let target = validate_mail(&json!({"to": target, "subject": "", "text": ""}));
    let target = target.map_err(|_| FindingView::new("", "target", "the target is not one bare mail address"))?;
    if mail.to != target.to {
        return Err(FindingView::new("/to", "target", "a mail goes to the effect's target and to nobody else"));
    }
    Ok(mail)
}

/// The domain of a sender's address; `None` if it is not an address.
#[must_use]
pub fn letter_domain(from: &str) -> Option<String> {
    let mailbox: lettre::message::Mailbox = from.parse().ok()?;
    let domain = mailbox.email.domain();
    domain.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).then(|| domain.to_owned())
}

fn judge_host(settings: &SmtpSettings, faults: &mut Faults) -> Option<EgressGuard> {
    let server = &settings.server;
    let guard = EgressGuard::new([&server.host], settings.allow_private);
    let judged = guard.and_then(|guard| {
        let target = guard.check_host(&server.host, server.port)?;
        guard.check_literal(&target).map(|()| guard)
    });
    judged.map_err(|e| faults.add("host", e, "Use a public host, or allow_private = true for your own network.")).ok()
}

fn judge_credentials(server: &SmtpServer, faults: &mut Faults) {
    let is_here =
        server.host == "localhost" || server.host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if server.credentials.is_some() && server.tls == SmtpTls::None && !is_here {
        faults.add("tls", "a password would go out without TLS", "Use starttls or tls.");
    }
}
