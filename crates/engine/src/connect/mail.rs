//! A mail effect's payload and the message made of it. Validation is meant to run before a person sees the effect, so
//! that a recipient list that is not what it looks like never reaches an approval card.
//!
//! The message is a pure function of payload and stamp: every attempt of one effect sends the same bytes.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lettre::Address;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart, SinglePart};
use serde_json::{Map, Value};
use thiserror::Error;

/// A server must take at least 100 recipients (RFC 5321 section 4.5.3.1.8); more might be cut.
const RECIPIENTS_MAX: usize = 100;
/// Characters; a header line may have 998 (RFC 5322 section 2.1.1).
const SUBJECT_CHARS_MAX: usize = 900;
/// Bytes of text in one encoded-word: 45 become 60 of base64, with the frame below the 75 of RFC 2047 section 2.
const ENCODED_WORD_BYTES: usize = 45;

/// A checked mail payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// Bare addresses in ASCII, each exactly one recipient.
    pub to: Vec<String>,
    pub subject: String,
    pub text: String,
    pub html: Option<String>,
}

/// Which member of a mail payload is wrong, and why.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{pointer}: {detail}")]
pub struct MailFieldError {
    /// JSON Pointer into the payload.
    pub pointer: String,
    pub detail: String,
}

/// What the sender adds, the same on every attempt of one effect.
#[derive(Debug, Clone)]
pub struct Stamp<'a> {
    /// `gate@example.test` or `The Gate <gate@example.test>`.
    pub from: &'a str,
    /// Without angle brackets: `EFFECT_ID@domain`. What a person searches for at the provider.
    pub message_id: &'a str,
    /// For example the time the effect was queued.
    pub date: SystemTime,
    /// More headers, by name: ours, in ASCII, each on one line. Effects have none.
    pub headers: &'a [(&'static str, String)],
}

/// A message ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    pub from: String,
    pub to: Vec<String>,
    /// With angle brackets, as in the header.
    pub message_id: String,
    /// Lines end in CRLF; not yet dot-stuffed.
    pub data: Vec<u8>,
}

/// Reads `{to, subject, text | body, html?}`. `to` is one address, or an array of them.
///
/// # Errors
/// The first member that is missing, wrong or unknown, by pointer.
pub fn validate_mail(payload: &Value) -> Result<Mail, MailFieldError> {
    let members = payload.as_object().ok_or_else(|| wrong("", "a mail is an object"))?;
    let known = ["to", "subject", "text", "body", "html"];
    if let Some(name) = members.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(wrong(&format!("/{}", escaped(name)), "not a member of a mail: to, subject, text (or body), html"));
    }
    Ok(Mail {
        to: recipients(members.get("to"))?,
        subject: subject(members)?,
        text: text(members)?,
        html: members.get("html").map(|value| body(value, "/html")).transpose()?,
    })
}

/// Makes the message.
///
/// # Errors
/// With an empty pointer where the stamp, not the payload, is at fault.
pub fn build(mail: &Mail, stamp: &Stamp<'_>) -> Result<Letter, MailFieldError> {
    let from: Mailbox = stamp.from.parse().map_err(|_| wrong("", "the sender's address is not one"))?;
    if !stamp.message_id.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '<' | '>')) {
        return Err(wrong("", "the Message-ID is not one"));
    }
    let message_id = format!("<{}>", stamp.message_id);
    let sender = from.email.to_string();
    let mut builder = Message::builder().from(from).date(stamp.date).message_id(Some(message_id.clone()));
    for address in &mail.to {
        builder = builder.to(Mailbox::new(None, address.parse().map_err(|_| wrong("/to", "not an address"))?));
    }
    let mut builder = builder.raw_header(subject_header(&mail.subject));
    for (name, value) in stamp.headers {
        builder = builder.raw_header(own_header(name, value)?);
    }
    let plain = SinglePart::plain(crlf(&mail.text));
    let built = match &mail.html {
        None => builder.singlepart(plain),
        Some(html) => builder.multipart(
            MultiPart::alternative()
                .boundary(boundary(stamp.message_id))
                .singlepart(plain)
                .singlepart(SinglePart::builder().header(ContentType::TEXT_HTML).body(crlf(html))),
        ),
    };
    let data = built.map_err(|e| wrong("", &e.to_string()))?.formatted();
    Ok(Letter { from: sender, to: mail.to.clone(), message_id, data })
}

fn recipients(value: Option<&Value>) -> Result<Vec<String>, MailFieldError> {
    match value {
        Some(Value::String(one)) => Ok(vec![address(one, "/to")?]),
        Some(Value::Array(many)) if many.is_empty() || many.len() > RECIPIENTS_MAX => {
            Err(wrong("/to", &format!("1 to {RECIPIENTS_MAX} addresses")))
        }
        Some(Value::Array(many)) => many.iter().enumerate().map(|(at, one)| listed(at, one)).collect(),
        _ => Err(wrong("/to", "an address, or an array of addresses")),
    }
}

fn listed(at: usize, value: &Value) -> Result<String, MailFieldError> {
    let pointer = format!("/to/{at}");
    match value {
        Value::String(one) => address(one, &pointer),
        _ => Err(wrong(&pointer, "an address is a string")),
    }
}

/// One bare address. Names, lists, comments, quoting and non-ASCII local parts are refused: what the card shows and
/// what RCPT TO says must be the same text.
fn address(text: &str, pointer: &str) -> Result<String, MailFieldError> {
    let bad = || wrong(pointer, "exactly one bare address such as anna@example.test");
    let (local, domain) = text.rsplit_once('@').ok_or_else(bad)?;
    if !local.chars().all(|c| c.is_ascii_graphic() && !"\"(),:;<>@[\\]".contains(c)) {
        return Err(bad());
    }
    let domain = url::Host::parse(domain).map_err(|_| bad())?;
    let url::Host::Domain(domain) = domain else { return Err(bad()) };
    let address = Address::new(local, domain).map_err(|_| bad())?;
    Ok(address.to_string())
}

fn subject(members: &Map<String, Value>) -> Result<String, MailFieldError> {
    let Some(Value::String(subject)) = members.get("subject") else {
        return Err(wrong("/subject", "a mail has a subject, as a string"));
    };
    if subject.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err(wrong("/subject", "a subject is one line without control characters"));
    }
    if subject.chars().count() > SUBJECT_CHARS_MAX {
        return Err(wrong("/subject", &format!("at most {SUBJECT_CHARS_MAX} characters")));
    }
    Ok(subject.clone())
}

fn text(members: &Map<String, Value>) -> Result<String, MailFieldError> {
    match (members.get("text"), members.get("body")) {
        (Some(_), Some(_)) => Err(wrong("/body", "text and body are two names of one member")),
        (Some(value), None) => body(value, "/text"),
        (None, Some(value)) => body(value, "/body"),
        (None, None) => Err(wrong("/text", "a mail has a text")),
    }
}

fn body(value: &Value, pointer: &str) -> Result<String, MailFieldError> {
    match value {
        Value::String(text) if text.contains('\0') => Err(wrong(pointer, "a text has no NUL characters")),
        Value::String(text) => Ok(text.clone()),
        _ => Err(wrong(pointer, "a text is a string")),
    }
}

/// The subject as a header that decodes to exactly this text. Plain ASCII goes as it is; everything else, and above
/// all text that looks like an encoded-word itself, is encoded, so it stays literal text at the reader.
fn subject_header(subject: &str) -> HeaderValue {
    let name = HeaderName::new_from_ascii_str("Subject");
    let is_plain = subject.chars().all(|c| c.is_ascii_graphic() || c == ' ') && subject.trim() == subject;
    if is_plain && !subject.contains("=?") {
        return HeaderValue::new(name, subject.to_owned());
    }
    let words: Vec<String> = pieces(subject).map(|piece| format!("=?utf-8?B?{}?=", STANDARD.encode(piece))).collect();
    HeaderValue::dangerous_new_pre_encoded(name, subject.to_owned(), words.join("\r\n "))
}

fn own_header(name: &'static str, value: &str) -> Result<HeaderValue, MailFieldError> {
    if !value.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
        return Err(wrong("", "a header of ours is not one line of ASCII"));
    }
    // Pre-encoded: the library would fold identifiers that must stay whole.
    Ok(HeaderValue::dangerous_new_pre_encoded(HeaderName::new_from_ascii_str(name), value.to_owned(), value.to_owned()))
}

/// Cuts at character borders: an encoded-word must not split a character (RFC 2047 section 5).
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let cut = rest.floor_char_boundary(ENCODED_WORD_BYTES);
        let (piece, tail) = rest.split_at(cut);
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Every line end as CRLF. The library would do it, by inserting byte for byte: a megabyte of line feeds takes it a
/// minute (quadratic; seen with lettre 0.11.23).
fn crlf(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' | '\n' => {
                if c == '\r' {
                    chars.next_if_eq(&'\n');
                }
                out.push_str("\r\n");
            }
            other => out.push(other),
        }
    }
    out
}

/// Derived from the Message-ID so that it never changes between attempts. `=_` cannot occur in quoted-printable or
/// base64 text (RFC 2045 section 6.7).
fn boundary(message_id: &str) -> String {
    use sha2::{Digest, Sha256};
    let hash = Sha256::digest(message_id.as_bytes());
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("=_{hex}")
}

fn escaped(member: &str) -> String {
    member.replace('~', "~0").replace('/', "~1")
}

fn wrong(pointer: &str, detail: &str) -> MailFieldError {
    MailFieldError { pointer: pointer.to_owned(), detail: detail.to_owned() }
}
