//! `[notify.*]` and `[[alerts]]`.

use std::sync::Arc;

use effectgate_engine::{
    clock::SystemClock,
    connect::tls::Tls,
    connectors::SmtpConnector,
    notify::{
        Channel, Channels,
        chat::{ChatChannel, ChatForm, ChatSecret},
        mail::MailChannel,
    },
    policy::AlertRoute,
};

use effectgate_lang::{Language, Zone};

use super::{approval::is_address, judge::Judge, smtp};
use crate::config::{
    Config,
    notify::{AlertConfig, ChatConfig, ChatKind, MailConfig},
};

const MONTH_MS: i64 = 30 * 86_400_000;

pub(super) fn channels(judge: &mut Judge<'_>, config: &Config) -> Channels {
    let mail = config.notify.mail.as_ref().and_then(|mail| self::mail(judge, config, mail));
    let chat = config.notify.chat.as_ref().and_then(|chat| self::chat(judge, chat));
    let (language, zone) = (language(judge, config), zone(judge, config));
    Channels { mail, chat, language, zone, tell_expired: config.notify.tell_expired }
}

fn language(judge: &mut Judge<'_>, config: &Config) -> Language {
    let Some(word) = &config.notify.language else { return Language::default() };
    Language::of_tag(word).unwrap_or_else(|| {
        let ours = Language::ALL.map(Language::tag).join(", ");
        judge.refuse("notify.language", format!("{word:?} is no language of ours"), format!("Write one of {ours}."));
        Language::default()
    })
}

fn zone(judge: &mut Judge<'_>, config: &Config) -> Zone {
    let Some(name) = &config.notify.zone else { return Zone::utc() };
    Zone::parse(name).unwrap_or_else(|| {
        let what = format!("{name:?} is no zone of the IANA database");
        judge.refuse("notify.zone", what, "Write a name such as Europe/Stockholm, or UTC.");
        Zone::utc()
    })
}

fn mail(judge: &mut Judge<'_>, config: &Config, mail: &MailConfig) -> Option<Arc<dyn Channel>> {
    if !smtp::is_smtp(config, &mail.provider) {
        let what = format!("{:?} is not an smtp provider", mail.provider);
        judge.refuse("notify.mail.provider", what, "Name one of [providers.*] with kind = \"smtp\".");
        return None;
    }
    let provider = config.providers.get(&mail.provider)?;
    // The provider's own section tells what is wrong with the server; here only the sender is new.
    let mut unheard = judge.deaf();
    let settings = smtp::settings(&mut unheard, "notify.mail", config, provider, &mail.from)?;
    let ca_file = provider.ca_file.as_deref().map(|file| judge.place(file));
    let connector = SmtpConnector::new(settings, Tls::new(ca_file.as_deref()).ok()?);
    let own = |member: &str| member == "from";
    let connector = connector.map_err(|faults| {
        judge.refuse_settings("notify.mail", faults.into_iter().filter(|f| own(&f.member)).collect());
    });
    Some(Arc::new(MailChannel::new(connector.ok()?, Arc::new(SystemClock))))
}

fn chat(judge: &mut Judge<'_>, chat: &ChatConfig) -> Option<Arc<dyn Channel>> {
    let at = "notify.chat.url";
    let Some(url) = judge.secret(at, chat.url.as_ref(), chat.url_file.as_deref()) else {
        if chat.url.is_none() && chat.url_file.is_none() {
            judge.refuse(at, "a chat is reached by its webhook's URL", "Give url = \"env:NAME\" or url_file.");
        }
        return None;
    };
    let form = form(judge, chat)?;
    let channel = ChatChannel::new(&url, form, chat.allow_private, Tls::new(None).ok()?, Arc::new(SystemClock));
    let channel = channel.map_err(|fault| judge.refuse_settings("notify.chat", vec![fault])).ok()?;
    Some(Arc::new(channel))
}

fn form(judge: &mut Judge<'_>, chat: &ChatConfig) -> Option<ChatForm> {
    let is_signed = chat.secret.is_some() || chat.secret_file.is_some();
    match (chat.kind, is_signed) {
        (ChatKind::Slack, false) => Some(ChatForm::Slack),
        (ChatKind::Slack, true) => {
            let what = "Slack and what copies it read no signature";
            judge.refuse("notify.chat.secret", what, "Leave it out, or say kind = \"webhook\".");
            None
        }
        (ChatKind::Webhook, false) => Some(ChatForm::Generic(None)),
        (ChatKind::Webhook, true) => {
            let secret = judge.secret("notify.chat.secret", chat.secret.as_ref(), chat.secret_file.as_deref())?;
            let secret = ChatSecret::new(&secret);
            let secret = secret.map_err(|fault| judge.refuse_settings("notify.chat", vec![fault])).ok()?;
            Some(ChatForm::Generic(Some(secret)))
        }
    }
}

pub(super) fn alerts(judge: &mut Judge<'_>, config: &Config) -> Vec<AlertRoute> {
    config.alerts.iter().enumerate().map(|(at, alert)| route(judge, config, at, alert)).collect()
}

fn route(judge: &mut Judge<'_>, config: &Config, at: usize, alert: &AlertConfig) -> AlertRoute {
    let at = format!("alerts[{at}]");
    if alert.on.is_empty() {
        judge.refuse(&format!("{at}.on"), "the route is for no alert", "Name some, or leave the route out.");
    }
    let address = alert.to.strip_prefix("mail:").filter(|address| is_address(address));
    let problem = match (alert.to.as_str(), address) {
        ("notify.chat", _) if config.notify.chat.is_some() => None,
        ("notify.chat", _) => Some("there is no [notify.chat]"),
        (_, Some(_)) if config.notify.mail.is_some() => None,
        (_, Some(_)) => Some("there is no [notify.mail]"),
        _ => Some("this is no place to tell people"),
    };
    if let Some(what) = problem {
        judge.refuse(&format!("{at}.to"), what, "Write notify.chat or mail:ADDRESS, and configure that channel.");
    }
    let why = "Between nothing and a month.";
    let dedupe_ms = judge.within(&format!("{at}.dedupe_ms"), alert.dedupe_ms, 0, MONTH_MS, why);
    AlertRoute { on: alert.on.clone(), to: alert.to.clone(), dedupe_ms }
}
