//! The part of a config that certify works in: a provider that certify itself plays, and flows that nothing else uses.
//! All names begin with one word, so that a gate in service can give certify its own corner and nothing besides.

/// The names in a config, all made from one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    word: String,
}

/// How long an approval of the short flow waits. Long enough to open its card first on a busy machine.
pub const SHORT_MS: u64 = 2_000;
/// The lease that is left to expire; the shortest that a flow may allow is 100 ms.
pub const LEASE_MS: u64 = 500;
/// The one effect type.
pub const EFFECT: &str = "certify_note";
/// The role that the role flow asks; nobody else needs it.
pub const ROLE: &str = "certify-approver";
/// Whom a link stands for.
pub const ADDRESS: &str = "certify@example.test";
/// Where certify plays the corner's provider unless told otherwise, so that a config can name it.
pub const FAR: &str = "127.0.0.1:9787";
/// Where the relay in front of a workflow's sandbox listens unless told otherwise.
pub const RELAY: &str = "127.0.0.1:9788";

/// Flows of the corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Goes by itself, to the part of the provider that keeps no keys.
    Go,
    /// Goes by itself, to the part that keeps keys.
    Kept,
    /// A person decides by link.
    Link,
    /// The same, and soon too late.
    Short,
    /// A signed-in person of a role decides.
    Role,
}

impl Ground {
    /// A corner of this name: a flow name of the config (letters, digits, `-`, `_`).
    #[must_use]
    pub fn new(word: &str) -> Option<Self> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_name = (1..=40).contains(&word.len()) && word.chars().all(fits);
        is_name.then(|| Self { word: word.to_owned() })
    }

    /// The name of a flow.
    #[must_use]
    pub fn flow(&self, flow: Flow) -> String {
        let word = &self.word;
        match flow {
            Flow::Go => word.clone(),
            Flow::Kept => format!("{word}-kept"),
            Flow::Link => format!("{word}-link"),
            Flow::Short => format!("{word}-short"),
            Flow::Role => format!("{word}-role"),
        }
    }

    /// The sections of the config. `provider` is the address that the gate reaches certify's provider at.
    #[must_use]
    pub fn config(&self, provider: &str) -> String {
        let word = &self.word;
        let short = SHORT_MS;
        let lease = LEASE_MS;
        format!(
            r#"# For `effectgate certify`: a provider that certify plays while it runs, and flows that nothing else uses.
# Nothing stops a second execution over there.
[providers.{word}]
kind = "http"
class = "advisory"
url = "{provider}"
allow_private = true
connect_timeout_ms = 500
timeout_ms = 2_000
sending_margin_ms = 500
backoff = {{ base_ms = 100, max_ms = 1_000 }}
breaker = {{ failures = 50, open_ms = 1_000 }}
[providers.{word}.effects.{EFFECT}]
method = "POST"
path = "/plain/{{{{ target }}}}?ref={{{{ provider_key }}}}"
body = "{{{{ payload }}}}"
external_id = "/id"

# The same provider's part that honours keys.
[providers.{word}-kept]
kind = "http"
class = "enforcing"
url = "{provider}"
allow_private = true
connect_timeout_ms = 500
timeout_ms = 2_000
sending_margin_ms = 500
key_header = "Idempotency-Key"
key_window_ms = 3_600_000
key_window_margin_ms = 60_000
facts = {{ source = "effectgate certify plays it", checked = "2026-11-30" }}
backoff = {{ base_ms = 100, max_ms = 1_000 }}
breaker = {{ failures = 50, open_ms = 1_000 }}
[providers.{word}-kept.effects.{EFFECT}]
method = "POST"
path = "/kept/{{{{ target }}}}?ref={{{{ provider_key }}}}"
body = "{{{{ payload }}}}"
external_id = "/id"

[flows.{word}]
lease_ms_min = {lease}
effects.{EFFECT} = {{ provider = "{word}", impact = "low", reversible = true, gate = "none" }}

[flows.{word}-kept]
effects.{EFFECT} = {{ provider = "{word}-kept", impact = "low", reversible = true, gate = "none" }}

[flows.{word}-link]
effects.{EFFECT} = {{ provider = "{word}", impact = "normal", gate = "approve" }}
approval = {{ audience = ["{ADDRESS}"], login = "token", link_in_answer = true }}

[flows.{word}-short]
effects.{EFFECT} = {{ provider = "{word}", impact = "normal", gate = "approve" }}
approval = {{ audience = ["{ADDRESS}"], login = "token", link_in_answer = true, expires_ms = {short} }}

[flows.{word}-role]
effects.{EFFECT} = {{ provider = "{word}", impact = "normal", gate = "approve" }}
approval = {{ audience = ["role:{ROLE}"], login = "required", link_in_answer = true }}
"#
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_is_named_by_one_word_that_cannot_leave_its_place() {
        assert!(Ground::new("certify").is_some());
        for bad in ["", "a b", "x]\n[server", "a.b", "\"", &"x".repeat(41)] {
            assert!(Ground::new(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn every_name_of_the_corner_begins_with_its_word() {
        let ground = Ground::new("proof").unwrap();
        let config = ground.config("http://127.0.0.1:1");

        for flow in [Flow::Go, Flow::Kept, Flow::Link, Flow::Short, Flow::Role] {
            assert!(config.contains(&format!("[flows.{}]", ground.flow(flow))));
        }
        let sections = config.lines().filter(|line| line.starts_with('['));
        sections.for_each(|s| assert!(s.contains(".proof"), "{s}"));
    }
}
