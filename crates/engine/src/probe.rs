//! Named failure points, for crash tests: `EFFECTGATE_FAILPOINT=name=abort` ends the process at that point as kill -9
//! would; `name=pause` announces the point on standard error and waits there to be killed. Does nothing unless the
//! variable is set when the process starts.

use std::sync::OnceLock;

struct Point {
    name: String,
    action: Action,
}

#[derive(PartialEq)]
enum Action {
    Abort,
    Pause,
}

fn armed() -> Option<&'static Point> {
    static POINT: OnceLock<Option<Point>> = OnceLock::new();
    POINT
        .get_or_init(|| {
            let text = std::env::var("EFFECTGATE_FAILPOINT").ok()?;
            let (name, action) = text.split_once('=')?;
            let action = if action == "pause" { Action::Pause } else { Action::Abort };
            Some(Point { name: name.to_owned(), action })
        })
        .as_ref()
}

/// The process has come to the point `name`.
pub async fn at(name: &str) {
    let Some(point) = armed() else { return };
    if point.name != name {
        return;
    }
    #[expect(clippy::print_stderr, reason = "the test that armed the point waits for this line")]
    {
        eprintln!("failpoint {name}");
    }
    match point.action {
        Action::Abort => std::process::abort(),
        Action::Pause => std::future::pending().await,
    }
}

/// A guard that a debug build can be started without, as the positive control of `effectgate certify`: with the guard
/// out, the item that watches over it must turn red.
macro_rules! guards {
    ($($(#[$doc:meta])* $variant:ident = $word:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Guard { $($(#[$doc])* $variant),+ }

        impl Guard {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

guards! {
    /// A reservation is in the database before it is answered.
    DurableKey = "durable_key";
    /// A live lease keeps others out.
    Lease = "lease";
    /// A late owner is refused.
    Fence = "fence";
    /// Another payload under the same key is a conflict.
    PayloadConflict = "payload_conflict";
    /// A refusal of the provider is no success.
    ClassTable = "class_table";
    /// A token is written nowhere.
    TokenHash = "token_hash";
    /// The end of an approval.
    Expiry = "expiry";
    /// The audience.
    Role = "role";
    /// The check that a request comes from a page of ours.
    Csrf = "csrf";
    /// A decision once made is made.
    TokenSingleUse = "token_single_use";
    /// What a person must decide waits for one.
    Gate = "gate";
    /// A decision is about the bytes that were shown.
    DecidedBytes = "decided_bytes";
    /// An unknown outcome is not tried again.
    UnknownIsRetried = "unknown_is_retried";
    /// An attempt that was lost is unknown.
    LostAttemptIsPending = "lost_attempt_is_pending";
    /// The attempt is on record before the first byte.
    Intent = "intent";
    /// What the provider calls it is written down.
    JournalNames = "journal_names";
    /// A turn of the switch is kept.
    Switch = "switch";
    /// A run that is over has an end.
    Retention = "retention";
}

/// The guard that this process runs without.
///
/// # Errors
/// `EFFECTGATE_BROKEN` names no guard; nothing should start then, because a test would judge an unbroken build.
pub fn broken() -> Result<Option<Guard>, String> {
    match asked() {
        None => Ok(None),
        Some(word) => match Guard::ALL.iter().copied().find(|guard| guard.as_str() == word) {
            Some(guard) => Ok(Some(guard)),
            None => Err(format!("EFFECTGATE_BROKEN names no guard: {word:?}")),
        },
    }
}

#[cfg(debug_assertions)]
fn asked() -> Option<String> {
    std::env::var("EFFECTGATE_BROKEN").ok().filter(|word| !word.is_empty())
}

/// A release build has no such switch.
#[cfg(not(debug_assertions))]
fn asked() -> Option<String> {
    None
}

/// True if this process runs without the guard. Read once: a process is broken from its start or not at all.
#[cfg(debug_assertions)]
#[must_use]
pub fn is_broken(guard: Guard) -> bool {
    static BROKEN: OnceLock<Option<Guard>> = OnceLock::new();
    *BROKEN.get_or_init(|| broken().unwrap_or_default()) == Some(guard)
}

/// Never in a release build; the compiler takes out what stands behind it.
#[cfg(not(debug_assertions))]
#[must_use]
pub const fn is_broken(_: Guard) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_is_named_by_one_word() {
        for guard in Guard::ALL {
            assert_eq!(Guard::ALL.iter().filter(|other| other.as_str() == guard.as_str()).count(), 1);
        }
    }

    /// Nothing of the switch may be compiled into a build for service. The variable is read in one place, and that place
    /// is for debug builds.
    #[test]
    fn a_release_build_has_no_guard_switch() {
        let code = include_str!("probe.rs").split("#[cfg(test)]").next().unwrap();
        let reads: Vec<&str> = code.split("std::env::var(\"EFFECTGATE_BROKEN\")").collect();

        assert_eq!(reads.len(), 2, "the variable is read in more than one place");
        assert!(reads[0].trim_end().ends_with("#[cfg(debug_assertions)]\nfn asked() -> Option<String> {"));
        assert!(code.contains(
            "#[cfg(not(debug_assertions))]\n#[must_use]\npub const fn is_broken(_: Guard) -> bool {\n    false\n}"
        ));
    }
}
