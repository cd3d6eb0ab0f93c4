//! A gate with the world around it: the binary over either database, a mail server that keeps what it takes, a provider
//! with a ledger, people with accounts, and a worker that proposes.

use effectgate_testkit::{
    provider::ScriptedProvider,
    smtp::{SmtpScript, SmtpStub, StoredMail},
};
use serde_json::{Value, json};

use crate::{
    config::{HEAD, http, ungated},
    ground::{Backend, Calls as _, Ground, eventually},
    support::{Gate, said},
};

pub(crate) const PASSWORD: &str = "long enough for us";
const OWNER: &str = "worker-1";

/// Name and roles of everybody with an account; their address is `NAME@house.test`.
pub(crate) const PEOPLE: [(&str, &str); 7] = [
    ("anna", "approver,support-lead"),
    ("bert", "approver,support-lead"),
    ("otto", "operator"),
    ("audra", "auditor"),
    ("sven", "switch_owner"),
    ("vera", "viewer"),
    ("ada", "admin"),
];

const NOTIFY: &str = r#"
[notify.mail]
provider = "mail"
from = "gate@house.test"
[notify.chat]
url = "CHAT/room"
allow_private = true
[providers.mail]
kind = "smtp"
host = "127.0.0.1"
port = MAIL_PORT
tls = "none"
allow_private = true
[providers.mail.effects.customer_mail]
"#;
const CRM: &str = r#"
class = "advisory"
timeout_ms = 2000
[providers.crm.effects.crm_note]
path = "/notes"
body = "{{ payload }}"
external_id = "/id"
"#;
const PAY: &str = r#"
class = "enforcing"
key_header = "Idempotency-Key"
key_window_ms = 86400000
facts = { source = "a test", checked = "2026-11-30" }
[providers.pay.effects.refund]
path = "/v1/refunds"
body = "{{ payload }}"
external_id = "/id"
"#;
const HELPDESK: &str = r#"
class = "advisory"
timeout_ms = 2000
[providers.helpdesk.effects.ticket_note]
path = "/tickets"
body = "{{ payload }}"
external_id = "/id"
[providers.helpdesk.lookup]
path = "/tickets?ref={{ provider_key }}"
found = "/items/0/id"
settle_delay_ms = 600000
"#;
const FLOWS: &str = r#"
[flows.ticket-reply]
[flows.ticket-reply.effects.customer_mail]
provider = "mail"
impact = "high"
gate = "approve"
[flows.ticket-reply.effects.crm_note]
provider = "crm"
impact = "low"
reversible = true
gate = "approve"
[flows.ticket-reply.approval]
audience = ["role:support-lead"]

[flows.refund]
[flows.refund.effects.refund]
provider = "pay"
impact = "high"
gate = "approve"
payload_schema = "schemas/refund.json"
[flows.refund.effects.customer_mail]
provider = "mail"
impact = "high"
gate = "approve"
[flows.refund.approval]
audience = ["role:support-lead"]
quorum = 2

[flows.by-link]
[flows.by-link.effects.crm_note]
provider = "crm"
impact = "normal"
gate = "approve"
[flows.by-link.approval]
audience = ["anna@house.test", "bert@house.test"]
login = "token"

[flows.newsletter]
[flows.newsletter.effects.crm_note]
provider = "crm"
impact = "low"
reversible = true
gate = "cancel_window"
window_ms = 3600000
"#;

/// The providers at this address, and the flows.
fn parts(url: &str) -> String {
    [
        http("crm", url, CRM),
        http("pay", url, PAY),
        http("helpdesk", url, HELPDESK),
        FLOWS.to_owned(),
        ungated("crm-sync", "crm_note", "crm"),
        ungated("desk-sync", "ticket_note", "helpdesk"),
    ]
    .concat()
}

/// What a refund looks like: the form of an edit is made from it.
const REFUND_SCHEMA: &str = r#"{
  "type": "object",
  "required": ["charge", "amount", "currency", "reason"],
  "additionalProperties": false,
  "properties": {
    "charge": { "type": "string", "title": "Charge", "maxLength": 40 },
    "amount": { "type": "integer", "title": "Amount in cents", "minimum": 1, "maximum": 500000 },
    "currency": { "type": "string", "enum": ["eur", "sek", "usd"], "title": "Currency" },
    "reason": { "type": "string", "title": "Reason", "maxLength": 200 }
  }
}"#;

pub(crate) struct World {
    pub(crate) ground: Ground,
    pub(crate) gate: Gate,
    pub(crate) mail: SmtpStub,
    pub(crate) provider: ScriptedProvider,
    pub(crate) chat: ScriptedProvider,
}

/// One effect as a worker asks for it.
pub(crate) fn mail_to(to: &str, subject: &str, text: &str) -> Value {
    let payload = json!({ "to": to, "subject": subject, "text": text });
    json!({ "type": "customer_mail", "target": to, "payload": payload })
}

pub(crate) fn note(target: &str, text: &str) -> Value {
    json!({ "type": "crm_note", "target": target, "payload": { "contact": target, "text": text } })
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::on(Backend::Sqlite, "").await.expect("SQLite is compiled in")
    }

    /// None where PostgreSQL is asked for and there is none. `more` is appended to the config.
    pub(crate) async fn on(backend: Backend, more: &str) -> Option<Self> {
        let mail = SmtpStub::start(SmtpScript::default()).await;
        let (provider, chat) = (ScriptedProvider::start([]).await, ScriptedProvider::start([]).await);
        let notify = NOTIFY.replace("CHAT", &chat.url()).replace("MAIL_PORT", &mail.address().port().to_string());
        let ground = Ground::new(backend, &HEAD.with(&[&notify, &parts(&provider.url()), more])).await?;
        std::fs::create_dir(ground.house.path("schemas")).unwrap();
        std::fs::write(ground.house.path("schemas/refund.json"), REFUND_SCHEMA).unwrap();
        for (name, roles) in PEOPLE {
            add_user(&ground, name, roles);
        }
        let gate = ground.serve();
        Some(Self { ground, gate, mail, provider, chat })
    }

    /// A run that is leased.
    pub(crate) fn reserved(&self, flow: &str, key: &str) -> (String, i64) {
        let granted = self.gate.reserve(flow, key, OWNER).unwrap();
        assert_eq!(granted.status, 201, "{}", granted.body);
        (granted.run_id(), granted.fence())
    }

    /// A run with these effects proposed; the answer to the proposal.
    pub(crate) fn proposed(&self, flow: &str, key: &str, effects: &[Value], more: &Value) -> Value {
        let (run, fence) = self.reserved(flow, key);
        let mut body = json!({ "output": { "label": "reply" }, "effects": effects });
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let answer = self.gate.under_lease("proposal", &run, (OWNER, fence), &body).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    /// A run that waits for people; its id.
    pub(crate) fn waiting(&self, flow: &str, key: &str, effects: &[Value]) -> String {
        let answer = self.proposed(flow, key, effects, &Value::Null);
        assert_eq!(answer["answer"], "waiting", "{answer}");
        answer["run"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn run(&self, id: &str) -> Value {
        self.gate.get(&format!("/v1/runs/{id}"))
    }

    /// State of the run and number of its effects in the outbox.
    pub(crate) fn standing(&self, id: &str) -> (String, usize) {
        let run = self.run(id);
        (run["state"].as_str().unwrap().to_owned(), run["effects"].as_array().unwrap().len())
    }

    /// The kinds of the run's journal entries, in order.
    pub(crate) fn kinds(&self, id: &str) -> Vec<String> {
        let story = self.gate.explain(id);
        story["timeline"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn until_state(&self, id: &str, state: &str) {
        eventually(&format!("{id} {state}"), || (self.run(id)["state"] == state).then_some(()));
    }

    /// Waits until everybody has been told, which the journal says last.
    pub(crate) fn until_told(&self, id: &str) {
        let is_told = || self.kinds(id).iter().any(|kind| kind == "notice_delivered");
        eventually(&format!("{id}: everybody is told"), || is_told().then_some(()));
    }

    /// Waits for the mail about this key to this person, and gives its link.
    pub(crate) async fn link(&self, name: &str, key: &str) -> String {
        let address = format!("{name}@house.test");
        let is_it = |mail: &StoredMail| mail.rcpt_to.contains(&address) && plain(mail).contains(key);
        let ledger = self.mail.until(|ledger| ledger.messages.iter().any(is_it)).await;
        let text = plain(ledger.messages.iter().rev().find(|mail| is_it(mail)).unwrap());
        let link = text.lines().map(str::trim).find(|line| line.starts_with(&self.gate.url));
        link.unwrap_or_else(|| panic!("no line is a link: {text}")).to_owned()
    }

    /// As [`Self::link`], without scheme and host.
    pub(crate) async fn path(&self, name: &str, key: &str) -> String {
        self.link(name, key).await.strip_prefix(&self.gate.url).unwrap().to_owned()
    }
}

fn add_user(ground: &Ground, name: &str, roles: &str) {
    let address = format!("{name}@house.test");
    let args = ["user", "add", name, "--roles", roles, "--email", &address];
    let made = said(ground.house.command(&args).env("EFFECTGATE_PASSWORD", PASSWORD));
    assert_eq!(made.code, 0, "{}", made.err);
}

/// What a mail program shows that shows no HTML.
pub(crate) fn plain(mail: &StoredMail) -> String {
    mail.texts().into_iter().find(|(kind, _)| kind.starts_with("text/plain")).map(|(_, text)| text).unwrap_or_default()
}
