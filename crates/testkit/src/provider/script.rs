//! What a scripted provider does with a request: plain data, so that a test in this process and a `POST /_mode` from
//! another one say the same thing. Nothing here touches a socket.

use serde::{Deserialize, Serialize};

/// One answer of the script: what goes over the wire, and whether the effect is committed first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    #[serde(flatten)]
    pub act: Act,
    /// Whether the effect happens. Left out: yes for a 2xx and for every act that reads the whole request.
    #[serde(default)]
    pub executes: Option<bool>,
    /// Waits between the commit and the answer, in milliseconds. For separate processes; tests use `hold`.
    #[serde(default)]
    pub delay_ms: u64,
    /// Waits between the commit and the answer until one `release` is given.
    #[serde(default)]
    pub hold: bool,
}

/// What the peer sees on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum Act {
    /// Reads the request and answers. `{{id}}` in the body becomes the id of the execution (`pred_1` …).
    Answer {
        status: u16,
        #[serde(default)]
        headers: Vec<(String, String)>,
        #[serde(default)]
        body: String,
    },
    /// Reads the request, writes these bytes as they are, closes. `{{id}}` is replaced as in `answer`.
    Raw { text: String },
    /// Reads the request and closes (FIN) without a byte of answer.
    ReadThenClose,
    /// Reads the request and resets the connection (SO_LINGER 0).
    ReadThenReset,
    /// Reads the request and says nothing; the socket stays open until the client leaves.
    ReadThenSilence,
    /// Reads the request, writes a status line and half of a header, closes.
    HalfHeadThenClose,
    /// Reads the request, writes `100 Continue`, closes.
    ContinueThenClose,
    /// Reads the request, answers 201 with half of the announced body, closes.
    CutBody,
    /// Reads the head and this many bytes of the body, then resets.
    ReadPartThenReset { bytes: usize },
    /// Reads the head and this many bytes of the body, then says nothing until the client leaves.
    ReadPartThenSilence { bytes: usize },
    /// Answers after the head, never reads the body, and keeps the socket open.
    AnswerBeforeBody { status: u16 },
    /// Closes (FIN) before reading a byte.
    AcceptThenClose,
    /// Resets before reading a byte.
    AcceptThenReset,
}

/// A provider that keeps idempotency keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforcing {
    /// The header that carries the key.
    pub header: String,
    /// Another body under a known key is answered 422.
    #[serde(default)]
    pub compares_body: bool,
}

/// What `GET …?ref=KEY` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "lookup", rename_all = "snake_case")]
pub enum Lookup {
    /// Every execution with that reference, at once.
    Visible,
    /// Nothing, until another mode is set: an index that lags until a test says it has caught up.
    Hidden,
    /// Nothing for this many lookups more, then visible.
    HiddenFor { requests: u32 },
    /// This many items, whatever happened.
    Matches { count: u32 },
    /// An error answer.
    Status { status: u16 },
    /// The connection closes without an answer.
    Close,
}

/// A change of behaviour; members left out stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// Drops what is queued before `push` is applied.
    #[serde(default)]
    pub clear: bool,
    /// Queued for the next requests (or connections, for the two `accept_…` acts), in this order.
    #[serde(default)]
    pub push: Vec<Step>,
    /// For every request that finds the queue empty.
    #[serde(default)]
    pub default: Option<Step>,
    #[serde(default)]
    pub enforcing: Option<Enforcing>,
    /// Forgets every stored key and stops enforcing.
    #[serde(default)]
    pub advisory: bool,
    /// Forgets every stored key and goes on enforcing (the window has passed).
    #[serde(default)]
    pub forget_keys: bool,
    #[serde(default)]
    pub lookup: Option<Lookup>,
    /// Headers that name an execution for `lookup`, first match wins. Default: `Idempotency-Key`, `Webhook-Id`.
    #[serde(default)]
    pub reference_headers: Option<Vec<String>>,
    /// A top-level body member that names an execution, asked before the headers.
    #[serde(default)]
    pub reference_member: Option<String>,
    /// Lets this many held answers go.
    #[serde(default)]
    pub release: usize,
}

impl Act {
    /// Whether the act is decided when a connection is accepted, before any request.
    #[must_use]
    pub fn is_at_accept(&self) -> bool {
        matches!(self, Self::AcceptThenClose | Self::AcceptThenReset)
    }

    fn executes(&self) -> bool {
        match self {
            Self::Answer { status, .. } => (200..300).contains(status),
            Self::Raw { text } => text.starts_with("HTTP/1.1 2"),
            Self::ReadPartThenReset { .. } | Self::ReadPartThenSilence { .. } | Self::AnswerBeforeBody { .. } => false,
            act => !act.is_at_accept(),
        }
    }
}

impl Step {
    /// A 201 with the execution's id in `/id`.
    #[must_use]
    pub fn created() -> Self {
        Self::answer(201, r#"{"id":"{{id}}"}"#)
    }

    /// An answer with a JSON body.
    #[must_use]
    pub fn answer(status: u16, body: &str) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        Act::Answer { status, headers, body: body.to_owned() }.into()
    }

    /// An answer with a header and no body, such as a `Retry-After` or a `Location`.
    #[must_use]
    pub fn answer_with(status: u16, header: &str, value: &str) -> Self {
        Act::Answer { status, headers: vec![(header.to_owned(), value.to_owned())], body: String::new() }.into()
    }

    /// The same step, held until [`Mode::release`] lets it go.
    #[must_use]
    pub fn held(mut self) -> Self {
        self.hold = true;
        self
    }

    /// The same step with the commit forced on or off.
    #[must_use]
    pub fn executing(mut self, executes: bool) -> Self {
        self.executes = Some(executes);
        self
    }

    /// Whether the effect happens when this step is played.
    #[must_use]
    pub fn is_executing(&self) -> bool {
        self.executes.unwrap_or_else(|| self.act.executes())
    }
}

impl From<Act> for Step {
    fn from(act: Act) -> Self {
        Self { act, executes: None, delay_ms: 0, hold: false }
    }
}
