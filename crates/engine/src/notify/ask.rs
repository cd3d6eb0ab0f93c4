//! Asking an audience to decide: one mail to each person behind it, one message to the chat for its roles, each with a
//! link of its own; and the account of who was told, member by member.

use std::time::Duration;

use effectgate_core::{
    actor::Subject,
    approval::{Approval, ApprovalState, LoginRule, Telling, Verdict, note_telling},
    ids::ApprovalId,
    notice::{Notice, NoticeKind, Urgency},
    run::Aggregate,
    time::Timestamp,
    transition::Transition,
};
use effectgate_store::DueNotice;
use futures_util::future::join_all;
use sha2::{Digest as _, Sha256};

use super::{
    Channel, Channels, Message, content,
    deliver::{ATTEMPTS_MAX, Told, retry_ms},
    reader::Reader,
};
use crate::{
    engine::{Engine, Step},
    error::{EngineError, Result},
};

/// One message that is to go out, and the members of the audience that it reaches somebody for.
pub(super) struct Letter {
    members: Vec<String>,
    to: To,
}

enum To {
    Person(Reader),
    /// The chat, for the holders of a role.
    Room(String),
}

/// A message, its waiting for a connection included. Below the notice's claim, so that no other process begins to tell
/// the same people meanwhile.
const MESSAGE_WAIT: Duration = Duration::from_secs(9 * 60);
/// After this many tries in about a minute it is said that nobody could be told; the tries go on.
const LATE_ATTEMPTS: i32 = 3;
const NO_WAY: &str = "no channel reaches anybody behind it";

impl Letter {
    /// True if its reader is the one whose edit the others are told of.
    fn is_for_editor(&self, approval: &Approval) -> bool {
        let To::Person(reader) = &self.to else { return false };
        let (address, edit) = (Subject::mail(&reader.address), Verdict::Edit);
        let last = approval.decisions.iter().rfind(|decision| decision.verdict == edit);
        last.is_some_and(|by| by.subject == address || by.aliases.contains(&address))
    }
}

impl Engine {
    pub(super) async fn ask(
        &self,
        due: &DueNotice,
        id: ApprovalId,
        audience: &[String],
        urgency: Urgency,
        are_the_rest: bool,
    ) -> Result<Told> {
        let agg = self.load(&due.tenant, due.run).await?;
        let Some(approval) = open(&agg, id) else { return Ok(Told::Skipped) };
        let mut letters = self.letters(due, audience, approval).await?;
        letters.retain(|letter| urgency != Urgency::Edited || !letter.is_for_editor(approval));
        let mut messages = Vec::with_capacity(letters.len());
        for letter in &letters {
            match self.request(&agg, approval, due, letter, urgency).await {
                Ok(message) => messages.push(message),
                // Decided while we were at it.
                Err(EngineError::NotFound(_)) => return Ok(Told::Skipped),
                Err(error) => return Err(error),
            }
        }
        let posted = join_all(letters.iter().zip(&messages).map(|(letter, message)| self.post(letter, message))).await;
        let telling =
            Telling { approval: id, urgency, are_the_rest, ..account(id, urgency, audience, &letters, &posted) };
        self.note(due, telling, !letters.is_empty()).await
    }

    /// Adds the word to those who were asked that it ended without them, where the house wants it.
    pub(crate) fn with_closing_notice(&self, mut ended: Transition, now: Timestamp) -> Transition {
        if self.policy().channels.tell_expired
            && let Some(approval) = ended.approvals.iter().find(|a| a.state == ApprovalState::Expired)
        {
            let people = |subject: &&str| subject.starts_with("mail:") || subject.starts_with("user:");
            let requesters = approval.terms.requesters.iter().map(|r| r.as_str()).filter(people).map(str::to_owned);
            let audience = approval.terms.audience.iter().cloned().chain(requesters).collect();
            let kind = NoticeKind::ApprovalClosed { approval: approval.id, audience };
            let seq = ended.run.head.seq;
            ended.notices.push(Notice::new(seq, 0, kind, format!("{}:{seq}", approval.id), now));
        }
        ended
    }

    /// Those who were asked read that it is over. Nothing hangs on it, so nothing is noted.
    pub(super) async fn tell_closed(&self, due: &DueNotice, id: ApprovalId, audience: &[String]) -> Result<Told> {
        let agg = self.load(&due.tenant, due.run).await?;
        let Some(approval) = agg.approvals.iter().find(|a| a.id == id) else { return Ok(Told::Skipped) };
        let letters = self.letters(due, audience, approval).await?;
        let message = |letter: &Letter| {
            let (reading, to) = self.reading(letter);
            let facts = content::request_facts(&agg.run, approval, "approval_closed", None, None);
            let content = content::closed(&agg.run, approval, reading.as_reading(self.now()));
            let (id, first) = ids(id, due.notice.n, Some(Urgency::Reminder), &to);
            content::message(content, id, first, facts)
        };
        let messages: Vec<Message> = letters.iter().map(message).collect();
        let posted = join_all(letters.iter().zip(&messages).map(|(letter, message)| self.post(letter, message))).await;
        let is_any_told = posted.iter().any(std::result::Result::is_ok);
        Ok(match posted.into_iter().find_map(std::result::Result::err) {
            Some(error) if !is_any_told => Told::Failed(error),
            _ => Told::Sent,
        })
    }

    /// The messages that reach the audience: each address once, whoever it stands for.
    async fn letters(&self, due: &DueNotice, audience: &[String], approval: &Approval) -> Result<Vec<Letter>> {
        let people = self.people(&due.tenant).await?;
        let mut letters: Vec<Letter> = Vec::new();
        if self.policy().channels.mail.is_some() {
            for member in audience {
                for reader in people.behind(member) {
                    let same = |l: &&mut Letter| matches!(&l.to, To::Person(r) if r.is_same(&reader));
                    match letters.iter_mut().find(same) {
                        Some(letter) => letter.members.push(member.clone()),
                        None => letters.push(Letter { members: vec![member.clone()], to: To::Person(reader) }),
                    }
                }
            }
        }
        if self.policy().channels.chat.is_some() {
            letters.extend(rooms(audience, approval.terms.login));
        }
        Ok(letters)
    }

    async fn request(
        &self,
        agg: &Aggregate,
        approval: &Approval,
        due: &DueNotice,
        letter: &Letter,
        urgency: Urgency,
    ) -> Result<Message> {
        let (reading, to) = self.reading(letter);
        let link = self.mint_link(&agg.run.tenant, approval.id, &to).await?;
        let content = content::request(&agg.run, approval, urgency, &link, &to, reading.as_reading(self.now()));
        let facts = content::request_facts(&agg.run, approval, "approval_request", Some(urgency), Some(&link));
        let (id, follows) = ids(approval.id, due.notice.n, Some(urgency), &to);
        Ok(content::message(content, id, follows, facts))
    }

    /// How the letter's reader is spoken to, and whom its link is for.
    fn reading(&self, letter: &Letter) -> (Reader, String) {
        match &letter.to {
            To::Person(reader) => (reader.clone(), reader.address.clone()),
            To::Room(role) => (self.house_reader(role), role.clone()),
        }
    }

    async fn post(&self, letter: &Letter, message: &Message) -> std::result::Result<(), String> {
        let Channels { mail, chat, .. } = &self.policy().channels;
        let (channel, to) = match &letter.to {
            To::Person(reader) => (mail, reader.address.as_str()),
            To::Room(role) => (chat, role.as_str()),
        };
        let channel: &dyn Channel = channel.as_deref().ok_or("no such channel is configured")?;
        let posted = tokio::time::timeout(MESSAGE_WAIT, channel.deliver(to, message)).await;
        posted.unwrap_or_else(|_| Err("nothing was heard of it in time".to_owned()))
    }

    /// Writes down who was told, and says how the notice goes on.
    async fn note(&self, due: &DueNotice, telling: Telling, is_there_a_way: bool) -> Result<Told> {
        let attempts = due.notice.attempts + 1;
        let is_late = !is_there_a_way || attempts == LATE_ATTEMPTS || attempts >= ATTEMPTS_MAX;
        let telling = Telling { is_late, ..telling };
        let rest_due = self.now().plus_ms(retry_ms(1));
        self.change(&due.tenant, due.run, |agg, now| {
            Ok(match note_telling(agg, &telling, rest_due, now) {
                Some(transition) => Step::Write(Box::new(transition), ()),
                None => Step::Answer(()),
            })
        })
        .await?;
        let why =
            || telling.failed.iter().map(|(member, why)| format!("{member}: {why}")).collect::<Vec<_>>().join("; ");
        Ok(match (telling.told.is_empty(), is_there_a_way) {
            (false, _) => Told::Sent,
            (true, true) => Told::Failed(why()),
            (true, false) => Told::NoWay(why()),
        })
    }
}

/// The approval while people can still decide it.
fn open(agg: &Aggregate, id: ApprovalId) -> Option<&Approval> {
    agg.approvals.iter().find(|a| a.id == id && a.state == ApprovalState::Open)
}

/// One message to the chat for all the roles; where the link alone decides, one for each, because it decides as the
/// role that it was issued to.
fn rooms(audience: &[String], login: LoginRule) -> Vec<Letter> {
    let roles: Vec<String> = audience.iter().filter(|member| member.starts_with("role:")).cloned().collect();
    match (login, roles.first()) {
        (LoginRule::Required, Some(first)) => vec![Letter { to: To::Room(first.clone()), members: roles }],
        _ => roles.into_iter().map(|role| Letter { members: vec![role.clone()], to: To::Room(role) }).collect(),
    }
}

/// Who of the audience was told, and who was not.
fn account(
    approval: ApprovalId,
    urgency: Urgency,
    audience: &[String],
    letters: &[Letter],
    posted: &[std::result::Result<(), String>],
) -> Telling {
    let (mut told, mut failed) = (Vec::new(), Vec::new());
    for member in audience {
        let mine: Vec<_> =
            letters.iter().zip(posted).filter(|(letter, _)| letter.members.contains(member)).map(|(_, p)| p).collect();
        match mine.iter().find_map(|posted| posted.as_ref().err()) {
            _ if mine.iter().any(|posted| posted.is_ok()) => told.push(member.clone()),
            Some(error) => failed.push((member.clone(), error.clone())),
            None => failed.push((member.clone(), NO_WAY.to_owned())),
        }
    }
    Telling { approval, urgency, told, failed, are_the_rest: false, is_late: false }
}

/// The message's own id and the one it follows: the same for every try of a notice to one reader. The first request has
/// the id that all later ones name.
fn ids(approval: ApprovalId, n: i64, urgency: Option<Urgency>, to: &str) -> (String, Option<String>) {
    let reader: String = Sha256::digest(to.to_lowercase()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let first = format!("{approval}.{reader}");
    match urgency {
        Some(Urgency::First) => (first, None),
        _ => (format!("{approval}-{n}.{reader}"), Some(first)),
    }
}
