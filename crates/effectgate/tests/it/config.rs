//! The configs of the gates under test: the head that they share and the blocks that come again, so that a test writes
//! only what it is about. `DATABASE` stands where the address of its database belongs. A config whose text is itself the
//! subject of a test stands there in full.

/// What a gate runs with, whatever it is for: a free port, actions on, workers that look often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    /// The gate's own number where none is said.
    pub(crate) connections_max: Option<u32>,
    /// The gate's own pause where none is said.
    pub(crate) dispatcher_ms: Option<u32>,
    pub(crate) sweeper_ms: u32,
}

pub(crate) const HEAD: Head = Head { connections_max: None, dispatcher_ms: Some(50), sweeper_ms: 100 };

impl Head {
    /// The head, then these parts.
    pub(crate) fn with(&self, parts: &[&str]) -> String {
        let said = |line: &str, n: Option<u32>| n.map(|n| format!("{line} = {n}\n")).unwrap_or_default();
        let head = [
            "[server]\nlisten = \"127.0.0.1:0\"\n[database]\nurl = \"DATABASE\"\n".to_owned(),
            said("connections_max", self.connections_max),
            "[actions]\nenabled = true\n".to_owned(),
            said("[dispatcher]\nperiod_ms", self.dispatcher_ms),
            said("[sweeper]\nperiod_ms", Some(self.sweeper_ms)),
        ];
        [head.concat(), parts.join("\n")].concat()
    }
}

/// An HTTP provider on loopback; `more` goes on in its table.
pub(crate) fn http(name: &str, url: &str, more: &str) -> String {
    format!("[providers.{name}]\nkind = \"http\"\nurl = \"{url}\"\nallow_private = true\n{more}\n")
}

/// A flow whose one effect goes to this provider without a person.
pub(crate) fn ungated(flow: &str, effect: &str, provider: &str) -> String {
    let rules = r#"impact = "low", reversible = true, gate = "none""#;
    format!("[flows.{flow}]\neffects.{effect} = {{ provider = \"{provider}\", {rules} }}\n")
}

/// Nobody listens there.
pub(crate) const NOBODY: &str = "http://127.0.0.1:9";

/// One flow whose provider nobody answers for.
pub(crate) fn to_nobody() -> String {
    to(NOBODY)
}

/// One flow `ticket` whose effect `note` goes to a provider at this address.
pub(crate) fn to(url: &str) -> String {
    let crm = http("crm", url, r#"effects.note = { path = "/notes" }"#);
    Head { dispatcher_ms: None, ..HEAD }.with(&[&crm, &ungated("ticket", "note", "crm")])
}
