//! Rules: expressions in CEL over the facts of a run, which decide whether an effect may go by itself.
//!
//! The library has no limit on cost, memory or stack of its own, and aborts the process where a stack runs over. So a
//! rule is parsed and judged once, when the config is read, on a thread with a stack of its own ([`limits`] says what is
//! refused), and facts are bounded before they reach it ([`facts`]). Anything but a plain `true` means that a person
//! decides; the reason is kept, without values.

mod facts;
mod limits;

use std::sync::{Arc, LazyLock};
use std::thread;

use cel::{Context, Env, ExecutionError, Program, Value as Outcome};
use sha2::{Digest, Sha256};

pub use facts::{Facts, ITEMS_MAX};
pub use limits::{DEPTH_MAX, NESTING_MAX, STEPS_MAX};

use crate::text;

/// A longer rule is refused: parsing is the one part whose cost and stack only the length bounds.
pub const RULE_BYTES_MAX: usize = 4 * 1024;
/// Stack for parsing and evaluating. A debug build's parser took about 170 KiB for each `{` (tried: 96 of them overran
/// 16 MiB), so brackets are counted before it sees them and 64 MiB leave several times what is then possible. Only
/// touched pages cost memory.
const STACK_BYTES: usize = 64 * 1024 * 1024;
/// Opening brackets a rule may have, wherever they stand: the parser does not hold its own depth limit on `{` and `[?`.
const BRACKETS_MAX: [(u8, usize); 2] = [(b'{', 16), (b'[', 64)];
/// A message of the library is cut here.
const MESSAGE_BYTES_MAX: usize = 300;

/// The library's standard functions, built once: it takes longer than evaluating a rule.
static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib().with_optional_support(false)));

/// A rule that passed every check.
pub struct Rule {
    source: String,
    revision: String,
    program: Program,
    names: Vec<&'static str>,
}

/// What a rule says about one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleResult {
    Holds,
    DoesNotHold,
    /// It could not be evaluated, or gave something else than a truth value. Counts as not holding.
    Failed(String),
}

/// Why a rule was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("the rule has {bytes} bytes, the limit is {RULE_BYTES_MAX}")]
    TooLong { bytes: usize },
    #[error("a rule may have 16 {{ and 64 [ at most, those in texts included")]
    TooManyBrackets,
    #[error("the rule cannot be read: {message}")]
    Syntax { message: String },
    #[error("the name {name:?} is unknown: payload, output and run are there")]
    NameUnknown { name: String },
    #[error("the function {name:?} is unknown")]
    FunctionUnknown { name: String },
    #[error("the rule is nested deeper than {DEPTH_MAX} levels")]
    TooDeep,
    #[error("a loop inside a loop inside a loop is not allowed")]
    LoopsTooDeep,
    #[error("the rule may take {steps} steps on the largest facts, the limit is {STEPS_MAX}")]
    TooCostly { steps: u64 },
    #[error("{what}")]
    NotAllowed { what: &'static str },
    #[error("the rule could not be checked: {message}")]
    Unchecked { message: String },
}

impl Rule {
    /// Compiles a rule.
    ///
    /// Guarantees: bounded time and stack for any source; a rule that compiles evaluates in bounded time and memory on
    /// any facts.
    ///
    /// Errors: see [`RuleError`]; types are not checked (the library has no type checker), so `payload.a + 1` on a text
    /// fails when it is evaluated.
    pub fn compile(source: &str) -> Result<Rule, RuleError> {
        if source.len() > RULE_BYTES_MAX {
            return Err(RuleError::TooLong { bytes: source.len() });
        }
        let is_crowded = |(bracket, max)| source.bytes().filter(|byte| *byte == bracket).count() > max;
        if BRACKETS_MAX.into_iter().any(is_crowded) {
            return Err(RuleError::TooManyBrackets);
        }
        let checked = on_own_stack(|| {
            let program = ENV.compile(source).map_err(|error| RuleError::Syntax { message: first_line(&error) })?;
            let names = limits::check(program.expression())?;
            Ok((program, names))
        });
        let (program, names) = checked.unwrap_or_else(|message| Err(RuleError::Unchecked { message }))?;
        let revision = format!("sha256:{}", hex::encode(Sha256::digest(source)));
        Ok(Rule { source: source.to_owned(), revision, program, names })
    }

    /// Returns the rule as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns `sha256:` and the hex SHA-256 of the source, which names this rule in the journal.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// Evaluates the rule. Blocks; at most [`STEPS_MAX`] steps.
    ///
    /// Guarantees: never panics; the same facts give the same result (a loop over an object's members sees them in no
    /// particular order, so do not index what it collects).
    pub fn holds(&self, facts: &Facts<'_>) -> RuleResult {
        on_own_stack(|| self.evaluate(facts)).unwrap_or_else(RuleResult::Failed)
    }

    fn evaluate(&self, facts: &Facts<'_>) -> RuleResult {
        let mut context = Context::with_env(Arc::clone(&ENV));
        let mut room = facts::Room::default();
        for name in &self.names {
            match room.bring_in(facts.named(name)) {
                Ok(value) => context.add_variable_from_value(*name, value),
                Err(why) => return RuleResult::Failed(format!("{name} {why}")),
            }
        }
        match self.program.execute(&context) {
            Ok(Outcome::Bool(true)) => RuleResult::Holds,
            Ok(Outcome::Bool(false)) => RuleResult::DoesNotHold,
            Ok(other) => RuleResult::Failed(format!("the rule gives a value of type {}", other.type_of())),
            Err(error) => RuleResult::Failed(explain(&error)),
        }
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rule").field("source", &self.source).field("revision", &self.revision).finish_non_exhaustive()
    }
}

/// Runs `work` on a thread with a known stack, whatever thread the caller is on, and turns a panic of the library into
/// an error.
fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("rule".to_owned()).stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| format!("no thread could be started: {error}"))?;
        thread.join().map_err(|_| "the CEL library panicked".to_owned())
    })
}

fn first_line(error: &impl ToString) -> String {
    text::cut(error.to_string().lines().next().unwrap_or_default(), MESSAGE_BYTES_MAX)
}

/// Says what went wrong without repeating values: the library's own messages print them whole.
fn explain(error: &ExecutionError) -> String {
    let why = match error {
        ExecutionError::NoSuchKey(name) => format!("there is no member {name:?}"),
        ExecutionError::NoSuchOverload(mismatch) => mismatch.to_string(),
        ExecutionError::UndeclaredReference(name) => format!("{name:?} is unknown"),
        ExecutionError::UnexpectedType { got, want } => format!("{want} is needed and {got} is there"),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => "division by zero".to_owned(),
        ExecutionError::Overflow(operator, ..) => format!("{operator} overflows"),
        ExecutionError::IndexOutOfBounds(_) => "an index is out of bounds".to_owned(),
        ExecutionError::ValuesNotComparable(..) => "values of these types cannot be compared".to_owned(),
        _ => "the rule cannot be evaluated on these facts".to_owned(),
    };
    text::cut(&why, MESSAGE_BYTES_MAX)
}
