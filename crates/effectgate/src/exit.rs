//! How a command ends: the exit codes, and the failure that carries one. Every command uses the same ones; they are
//! listed in `--help` and in docs/reference/exit-codes.md, and a test holds the two together.

use std::fmt;

use effectgate_engine::EngineError;
use effectgate_store::StoreError;
use serde_json::{Value, json};

/// The exit codes, of every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It was tried and did not come out as it should: a check found faults, a chain is broken, a bug.
    Failed = 1,
    /// The command line or its input cannot be understood (clap uses the same number).
    Usage = 2,
    /// What was named is not there.
    NotFound = 3,
    /// The server or the database understood and refused: the state, a rule, a conflict, an unsafe config.
    Refused = 4,
    /// Nobody answered, or the database is away or in use. Worth another try.
    Unavailable = 5,
    /// The key or the sign-in does not allow it.
    NotAllowed = 6,
}

/// The end of `--help`. The codes page carries the same lines of codes.
pub(crate) const AFTER_HELP: &str = "\
Environment:
  EFFECTGATE__SECTION__MEMBER  a value of the config; beats the file
  EFFECTGATE_LOG, RUST_LOG     what is logged, such as info or effectgate_engine=debug
  EFFECTGATE_THREADS           worker threads, 2 without it

Exit codes:
  0  done
  1  failed: a check found faults, a chain is broken, a count is not what it should be
  2  usage: the command line or its input cannot be understood
  3  not found: what was named is not there
  4  refused: understood, and not allowed by the state, a rule or the config
  5  unavailable: nobody answered, or the database is away or in use; worth another try
  6  not allowed: the API key or the sign-in does not permit it";

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Stable, for scripts.
    pub(crate) code: String,
    /// One sentence, without secrets.
    pub(crate) text: String,
    /// What to do, if that is known.
    pub(crate) hint: Option<String>,
}

pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn new(exit: Exit, code: &str, text: impl fmt::Display) -> Self {
        Self { exit, code: code.to_owned(), text: text.to_string(), hint: None }
    }

    pub(crate) fn failed(text: impl fmt::Display) -> Self {
        Self::new(Exit::Failed, "failed", text)
    }

    pub(crate) fn usage(text: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, "usage", text)
    }

    pub(crate) fn not_found(text: impl fmt::Display) -> Self {
        Self::new(Exit::NotFound, "not_found", text)
    }

    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// For `--json`.
    pub(crate) fn json(&self) -> Value {
        json!({ "error": { "code": self.code, "exit": self.exit as u8, "detail": self.text, "hint": self.hint } })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  {hint}"),
            None => Ok(()),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let exit = match error {
            EngineError::Store(error) => return error.into(),
            EngineError::NotFound(_) | EngineError::UnknownFlow => Exit::NotFound,
            EngineError::BadMember { .. } | EngineError::ReasonRequired => Exit::Usage,
            EngineError::Contended => Exit::Unavailable,
            _ => Exit::Refused,
        };
        Self::new(exit, error.code(), &error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let (exit, code) = match &error {
            StoreError::Unavailable { .. } => (Exit::Unavailable, "database_unavailable"),
            StoreError::CommitUnknown { .. } => (Exit::Unavailable, "commit_unknown"),
            StoreError::InUse { .. } => (Exit::Unavailable, "database_in_use"),
            StoreError::Open { .. } => (Exit::Unavailable, "database_not_open"),
            StoreError::TooNew { .. } => (Exit::Refused, "database_too_new"),
            StoreError::MigrationChanged { .. } => (Exit::Refused, "migration_changed"),
            StoreError::BadCursor => (Exit::Usage, "bad_cursor"),
            StoreError::Corrupt { .. } | StoreError::Rejected { .. } => (Exit::Failed, "database_row"),
        };
        Self::new(exit, code, error)
    }
}
