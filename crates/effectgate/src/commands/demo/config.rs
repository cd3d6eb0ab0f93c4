//! The demo's part of a config: two providers on loopback, three flows. Times are short, so that what takes minutes in
//! service takes a second here; nothing else differs from a real one.

/// The sections. `provider` is the scripted provider's address.
pub(super) fn sections(provider: &str) -> String {
    format!(
        r#"# Nothing over there stops a second execution, but one can ask for a note by its reference.
[providers.crm]
kind = "http"
class = "advisory"
url = "{provider}"
allow_private = true
connect_timeout_ms = 500
timeout_ms = 1_000
[providers.crm.effects.crm_note]
method = "POST"
path = "/crm/notes?ref={{{{ provider_key }}}}"
body = "{{{{ payload }}}}"
external_id = "/id"
[providers.crm.lookup]
method = "GET"
path = "/crm/notes?ref={{{{ provider_key }}}}"
found = "/items/0/id"
settle_delay_ms = 200
period_ms = 100

# Nothing stops a second execution, and nobody can be asked: a person settles what is unknown.
[providers.bank]
kind = "http"
class = "advisory"
url = "{provider}"
allow_private = true
connect_timeout_ms = 500
timeout_ms = 1_000
sending_margin_ms = 500
[providers.bank.effects.refund]
method = "POST"
path = "/bank/refunds?ref={{{{ provider_key }}}}"
body = "{{{{ payload }}}}"
external_id = "/id"
[providers.bank.effects.payout]
method = "POST"
path = "/bank/payouts?ref={{{{ provider_key }}}}"
body = "{{{{ payload }}}}"
external_id = "/id"

[flows.note]
[flows.note.effects.crm_note]
provider = "crm"
impact = "low"
reversible = true
gate = "none"

[flows.refund]
[flows.refund.effects.refund]
provider = "bank"
impact = "normal"
gate = "approve"
[flows.refund.approval]
audience = ["lead@example.test"]
login = "token"
link_in_answer = true

[flows.payout]
[flows.payout.effects.payout]
provider = "bank"
impact = "low"
reversible = true
gate = "none"
"#
    )
}

#[cfg(test)]
mod tests {
    use crate::{
        config::{Environment, load},
        throwaway,
    };

    #[test]
    fn the_demos_config_starts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("demo.toml");
        let sections = super::sections("http://127.0.0.1:9");
        std::fs::write(&path, throwaway::config(&sections, folder.path())).expect("written");

        let resolved = load(Some(&path), Environment::default()).and_then(|loaded| loaded.resolve());

        assert!(resolved.is_ok(), "{}", resolved.err().map(|e| e.to_string()).unwrap_or_default());
    }
}
