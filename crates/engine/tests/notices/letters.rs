//! Mails as they arrive at a server, read by a mail parser that is not ours.

use std::{collections::BTreeMap, sync::Arc};

use effectgate_core::time::Timestamp;
use effectgate_engine::{
    connect::{
        smtp::{SmtpLimits, SmtpServer, SmtpTls},
        tls::Tls,
    },
    connectors::{SmtpConnector, SmtpSettings},
    notify::{Channels, mail::MailChannel},
};
use effectgate_testkit::smtp::{SmtpScript, SmtpStub};
use mail_parser::{Message, MessageParser, MimeHeaders as _};

use crate::{
    common::{HOUR, TestClock, World},
    people::{MAIL, account, asking, known_by_oidc, waiting},
};

/// A world whose mails go to a real SMTP server.
async fn with_smtp() -> (World, SmtpStub) {
    let stub = SmtpStub::start(SmtpScript::default()).await;
    let address = stub.address();
    let settings = SmtpSettings {
        server: SmtpServer {
            host: address.ip().to_string(),
            port: address.port(),
            tls: SmtpTls::None,
            credentials: None,
            hello_name: "gate.test".into(),
        },
        from: "The Gate <gate@gate.test>".into(),
        allow_private: true,
        limits: SmtpLimits::default(),
        effects: Default::default(),
    };
    let clock = TestClock::new();
    let connector = SmtpConnector::new(settings, Tls::new(None).unwrap()).unwrap();
    let mail = MailChannel::new(connector, Arc::new(clock.clone()));
    let channels = Channels { mail: Some(Arc::new(mail)), ..Channels::default() };
    (World::on(asking(channels), clock), stub)
}

/// What arrived, by recipient, newest last.
fn mails(stub: &SmtpStub) -> BTreeMap<String, Vec<String>> {
    let mut mails: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for mail in stub.ledger().messages {
        assert_eq!(mail.rcpt_to.len(), 1, "nobody reads in a mail who else was asked");
        mails.entry(mail.rcpt_to[0].clone()).or_default().push(mail.data);
    }
    mails
}

fn parsed(data: &str) -> Message<'_> {
    MessageParser::default().parse(data.as_bytes()).unwrap()
}

fn text<'a>(message: &'a Message<'_>) -> std::borrow::Cow<'a, str> {
    message.body_text(0).unwrap()
}

fn html<'a>(message: &'a Message<'_>) -> std::borrow::Cow<'a, str> {
    message.body_html(0).unwrap()
}

/// The link, which stands alone on its line, and only once.
fn link(text: &str) -> String {
    let links: Vec<&str> = text.lines().filter(|line| line.contains("http://gate.test/a/")).collect();
    assert_eq!(links.len(), 1, "{text}");
    assert!(links[0].starts_with("http://gate.test/a/") && !links[0].contains(char::is_whitespace), "{text}");
    links[0].to_owned()
}

const PEOPLE: [(&str, &str, &str, &str); 5] = [
    ("en", "Europe/London", "Decision wanted: ticket", "UTC+01:00"),
    ("sv", "Europe/Stockholm", "Beslut önskas: ticket", "UTC+02:00"),
    ("de", "Europe/Berlin", "Entscheidung erbeten: ticket", "UTC+02:00"),
    ("ru", "Europe/Moscow", "Нужно решение: ticket", "UTC+03:00"),
    ("fa", "Asia/Tehran", "درخواست تصمیم: ticket", "UTC+03:30"),
];

#[tokio::test]
async fn each_person_reads_the_request_in_their_language_and_zone() {
    let (world, stub) = with_smtp().await;
    for (language, zone, ..) in PEOPLE {
        account(&world, &format!("of-{language}"), &["support-lead"], Some((language, zone))).await;
    }
    let key = "ticket.reply:zendesk:комментарий-åäö:1";
    waiting(&world, key, MAIL).await;

    world.engine.notify_tick().await.unwrap();

    let mails = mails(&stub);
    assert_eq!(mails.len(), 5);
    for (language, zone, subject, offset) in PEOPLE {
        let message = parsed(&mails[&format!("of-{language}@house.test")][0]);
        assert_eq!(message.subject().unwrap(), format!("{subject} {key}"));
        let (text, html) = (text(&message), html(&message));
        assert!(text.contains(zone) && text.contains(offset), "{text}");
        assert!(html.contains(zone) && html.contains(offset), "{html}");
        let dir = if language == "fa" { "rtl" } else { "ltr" };
        assert!(html.contains(&format!("<html lang=\"{language}\" dir=\"{dir}\">")), "{html}");
        assert!(html.contains(&format!("href=\"{}\"", link(&text))));
    }
}

#[tokio::test]
async fn a_mail_is_text_first_then_html_and_says_what_kind_of_mail_it_is() {
    let (world, stub) = with_smtp().await;
    account(&world, "anna", &["support-lead"], None).await;
    waiting(&world, "k1", MAIL).await;

    world.engine.notify_tick().await.unwrap();

    let mails = mails(&stub);
    let data = &mails["anna@house.test"][0];
    let message = parsed(data);
    assert_eq!(message.content_type().unwrap().subtype(), Some("alternative"));
    let types: Vec<_> = message.parts[1..].iter().map(|p| p.content_type().unwrap().subtype().unwrap()).collect();
    assert_eq!(types, ["plain", "html"]);
    let header = |name: &str| message.header_raw(name).unwrap_or_default().trim().to_owned();
    assert_eq!(header("Auto-Submitted"), "auto-generated");
    assert_eq!(header("X-Auto-Response-Suppress"), "All");
    assert_eq!(header("List-Id"), "Effectgate <effectgate.gate.test>");
    assert_eq!(header("Content-Language"), "en");
    assert!(message.message_id().unwrap().ends_with("@gate.test"));
    assert!(message.in_reply_to().as_text().is_none());
    for gone in ["<img", "<script", "<link", "<style", "src=", "url("] {
        assert!(!html(&message).contains(gone), "{gone}");
    }
}

#[tokio::test]
async fn whom_and_how_much_stand_before_the_text() {
    let (world, stub) = with_smtp().await;
    account(&world, "anna", &["support-lead"], None).await;
    waiting(&world, "k1", MAIL).await;

    world.engine.notify_tick().await.unwrap();

    let mails = mails(&stub);
    let message = parsed(&mails["anna@house.test"][0]);
    let text = text(&message);
    let quoted: Vec<&str> = text.lines().filter(|line| line.starts_with("> ")).collect();
    assert_eq!(quoted, ["> to: anna@example.test", "> amount: 9999.00", "> subject: Your order", "> text: Dear Anna"]);
}

#[tokio::test]
async fn hc_34_a_draft_that_acts_is_only_text_in_the_mail() {
    let (world, stub) = with_smtp().await;
    account(&world, "anna", &["support-lead"], Some(("fa", "Asia/Tehran"))).await;
    account(&world, "bo", &["support-lead"], None).await;
    let draft = include_str!("../data/handed/hc34-draft.json");
    waiting(&world, "k1", draft).await;

    world.engine.notify_tick().await.unwrap();

    for (to, data) in mails(&stub) {
        let message = parsed(&data[0]);
        let (text, html) = (text(&message).into_owned(), html(&message).into_owned());
        for (part, lt) in [(&text, "<"), (&html, "&lt;")] {
            assert!(part.contains(&format!("{lt}img src=x onerror=")), "{to}: {part}");
            assert!(part.contains("U+202E") && part.contains("× U+200B"), "{to}: {part}");
            assert!(part.contains("amount: 9999.00"), "the end is in sight; {to}: {part}");
            assert!(!part.contains(['\u{202e}', '\u{200b}']), "{to}");
        }
        assert!(!html.contains("<img") && !html.contains("<button") && !html.contains("<!--"), "{html}");
        assert!(text.lines().count() < 60, "{to}: four hundred blank lines are one mark");
        link(&text);
    }
}

#[tokio::test]
async fn no_line_of_a_text_from_outside_passes_for_ours() {
    let (world, stub) = with_smtp().await;
    account(&world, "anna", &["support-lead"], None).await;
    let payload =
        r#"{"to":"anna@example.test","subject":"s","text":"x\n\nhttp://evil.test/a/token\n-- \nFlow: sneaky"}"#;
    waiting(&world, "k1", payload).await;

    world.engine.notify_tick().await.unwrap();

    let mails = mails(&stub);
    let message = parsed(&mails["anna@house.test"][0]);
    let text = text(&message);
    link(&text);
    assert!(text.lines().filter(|line| line.contains("evil") || line.contains("sneaky")).all(|l| l.starts_with("> ")));
    assert_eq!(text.lines().filter(|line| *line == "-- ").count(), 1);
}

#[tokio::test]
async fn long_texts_are_cut_with_a_mark_and_no_line_is_too_long_for_a_server() {
    let (world, stub) = with_smtp().await;
    account(&world, "anna", &["support-lead"], Some(("sv", "Europe/Stockholm"))).await;
    let word = "å".repeat(5_000);
    let key = "k".repeat(255);
    waiting(&world, &key, &format!(r#"{{"to":"anna@example.test","subject":"{word}","text":"{word}"}}"#)).await;

    world.engine.notify_tick().await.unwrap();

    let mails = mails(&stub);
    let data = &mails["anna@house.test"][0];
    // RFC 5322 section 2.1.1.
    assert!(data.split("\r\n").all(|line| line.len() <= 998));
    assert!(data.split("\r\n\r\n").next().unwrap().is_ascii());
    let message = parsed(data);
    for part in [text(&message), html(&message)] {
        assert!(part.contains("[…avklippt här; kortet visar allt]"), "{part}");
        let shown = part.chars().filter(|c| *c == 'å').count();
        assert!((800..=830).contains(&shown), "{shown}");
    }
    assert!(message.subject().unwrap().ends_with('…'));
}

#[tokio::test]
async fn a_reminder_stands_below_what_it_reminds_of() {
    let (world, stub) = with_smtp().await;
    account(&world, "anna", &["support-lead"], None).await;
    waiting(&world, "k1", MAIL).await;
    world.engine.notify_tick().await.unwrap();

    world.clock.advance_ms(8 * HOUR);
    world.engine.sweep_tick().await.unwrap();
    world.engine.notify_tick().await.unwrap();

    let mails = mails(&stub);
    let (first, second) = (parsed(&mails["anna@house.test"][0]), parsed(&mails["anna@house.test"][1]));
    assert_eq!(second.in_reply_to().as_text(), first.message_id());
    assert_eq!(second.references().as_text(), first.message_id());
    assert_ne!(second.message_id(), first.message_id());
    assert!(second.subject().unwrap().starts_with("Reminder: "));
    assert_ne!(link(&text(&first)), link(&text(&second)), "each has a token of its own");
}

#[tokio::test]
async fn a_role_reaches_accounts_and_people_of_single_sign_on_each_once() {
    let (world, stub) = with_smtp().await;
    account(&world, "anna", &["support-lead"], None).await;
    account(&world, "bo", &["viewer"], None).await;
    account(&world, "gone", &["support-lead"], None).await;
    world.engine.user_disable(&world.caller.tenant, &crate::common::olga(), "gone").await.unwrap();
    known_by_oidc(&world, "carla", &["support-lead"], ("de", "Europe/Berlin")).await;
    known_by_oidc(&world, "dora", &["manager"], ("de", "Europe/Berlin")).await;
    waiting(&world, "k1", MAIL).await;

    world.engine.notify_tick().await.unwrap();

    let mails = mails(&stub);
    let told: Vec<_> = mails.iter().map(|(to, data)| (to.as_str(), data.len())).collect();
    assert_eq!(told, [("anna@house.test", 1), ("carla@sso.test", 1)]);
    assert!(parsed(&mails["carla@sso.test"][0]).subject().unwrap().starts_with("Entscheidung"));
}

#[tokio::test]
async fn a_repeat_has_the_same_message_id() {
    let (world, stub) = with_smtp().await;
    account(&world, "anna", &["support-lead"], None).await;
    stub.set_script(SmtpScript::replying(effectgate_testkit::smtp::At::Dot, "451 4.3.0 later"));
    waiting(&world, "k1", MAIL).await;
    world.engine.notify_tick().await.unwrap();
    let at = world.clock.clone();
    assert_eq!(stub.ledger().messages.len(), 0);

    stub.set_script(SmtpScript::default());
    at.advance_ms(HOUR);
    world.engine.notify_tick().await.unwrap();

    let approval = world.agg(world.id_of("k1")).await.approvals[0].id;
    let mails = mails(&stub);
    let id = parsed(&mails["anna@house.test"][0]).message_id().unwrap().to_owned();
    assert!(id.starts_with(&format!("{approval}.")), "{id}");
    assert!(Timestamp::from_micros(0) < effectgate_engine::clock::Clock::now(&at));
}
