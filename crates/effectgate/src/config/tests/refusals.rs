//! Every config that cannot be safe, a line each: what is changed in the example, which member is refused, and a few
//! words of the sentence that says why. A path that begins with a dot lies in the flow. A positive control stands beside: the example itself starts.

use super::*;

/// What is put in place of which text of the example.
pub(super) type Change = (&'static str, &'static str);

pub(super) fn changed(changes: &[Change]) -> Result<Resolved, ConfigErrors> {
    let folder = example().parent().unwrap().to_path_buf();
    let mut text = std::fs::read_to_string(example()).unwrap();
    for (old, new) in changes {
        assert_eq!(text.matches(old).count(), 1, "{old:?} stands once in the example");
        text = text.replacen(old, new, 1);
    }
    // Beside the example, so that its schemas are found; written elsewhere, so that tests do not meet.
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("effectgate.toml");
    std::fs::write(&path, text).unwrap();
    let loaded = load(Some(&path), with(&[]))?;
    Loaded { folder, ..loaded }.resolve()
}

pub(super) fn refusals(changes: &[Change]) -> Vec<ConfigError> {
    changed(changes).err().map(|errors| errors.0).unwrap_or_default()
}

const MAIL_EFFECT: &str = "impact = \"high\"                           # high | normal | low; default high\ngate = \"approve\"                          # approve";
const NOTE_EXCEPTIONS: &str = "reversible = true\ngate = \"exceptions\"\n[flows.ticket-reply.effects.crm_note.exceptions]\nrules = [\"output.label in ['question', 'thanks']\", \"size(output.note) < 2000\"]\nevidence = { name = \"label-accuracy\", threshold = 0.97, file = \"evidence/ticket-reply.json\" }\nsample = 0.05 ";
const RULES: &str = "rules = [\"output.label in ['question', 'thanks']\", \"size(output.note) < 2000\"]";
const EVIDENCE: &str =
    "evidence = { name = \"label-accuracy\", threshold = 0.97, file = \"evidence/ticket-reply.json\" }\n";
const AUDIENCE: &str = "audience = [\"role:support-lead\"]          # roles";
const ESCALATE: &str = "escalate = { after_ms = 57_600_000, audience = [\"role:manager\"] }";
const LOGIN: &str = "login = \"required\"                        #";
const CRM: &str = "class = \"advisory\"                        #";
const PAY_KEY: &str = "key_header = \"Idempotency-Key\"            #";
const PAY_WINDOW: &str = "key_window_ms = 86_400_000\n";
const PAY_MARGIN: &str = "key_window_margin_ms = 3_600_000";
const SMTP: &str = "kind = \"smtp\" ";
const SHOP_SCHEME: &str = "scheme = \"standard-webhooks\", secret";
const SHOP_SECRET: &str = ", secret = \"env:SHOP_SECRET\"";
const SHOP_PARTS: &str =
    "key_parts = { source = \"'shop'\", event_type = \"/type\", external_id = \"/data/id\", version = \"'1'\" }\n";
const SHOP_URL: &str = "url = \"http://127.0.0.1:5678/webhook/ticket\"";

#[test]
fn a_config_that_cannot_be_safe_does_not_start() {
    #[rustfmt::skip] // a line each
    let table: &[(&[Change], &str, &str)] = &[
        // server and database
        (&[("body_bytes_max = 1_048_576", "body_bytes_max = 0")], "server.body_bytes_max", "outside"),
        (&[("body_bytes_max = 1_048_576", "body_bytes_max = 9_999_999_999")], "server.body_bytes_max", "outside"),
        (&[("listen = \"127.0.0.1:8787\"", "listen = \"localhost\"")], "server.listen", "not an address and port"),
        (&[("public_url = \"http://127.0.0.1:8787\" ", "public_url = \"gate.example.com\" ")], "server.public_url", "link"),
        (&[("# tool_wait_ms = 20_000 ", "tool_wait_ms = 60_000 ")], "server.tool_wait_ms", "outside"),
        (&[("# description = \"…\" ", "description = \" \" ")], ".effects.customer_mail.description", "1 to 1000 characters"),
        (&[("sqlite:effectgate.db", "mysql://db")], "database.url", "neither sqlite: nor postgres"),
        (&[("sqlite:effectgate.db", "sqlite::memory:")], "database.url", "no file"),
        (&[("workers = 4 ", "workers = 0 ")], "dispatcher.workers", "outside"),
        (&[("period_ms = 2_000", "period_ms = 0")], "sweeper.period_ms", "outside"),
        // telling people
        (&[("# language = \"en\" ", "language = \"xx\" ")], "notify.language", "no language of ours"),
        (&[("# zone = \"UTC\" ", "zone = \"Mars/Olympus\" ")], "notify.zone", "no zone"),
        (&[("# secret = \"env:CHAT_SECRET\" ", "secret = \"env:CHAT_WEBHOOK\" ")], "notify.chat.secret", "read no signature"),
        (&[("# kind = \"slack\" ", "kind = \"webhook\" #"), ("# secret = \"env:CHAT_SECRET\" ", "secret = \"env:CHAT_WEBHOOK\" ")], "notify.chat.secret", "Standard Webhooks"),
        // leases
        (&[("lease_ms = 300_000 ", "lease_ms = 0 ")], ".lease_ms", "outside"),
        (&[("lease_ms = 300_000 ", "lease_ms = 600_001 ")], ".lease_ms", "outside"),
        (&[("lease_ms_min = 1_000", "lease_ms_min = 0")], ".lease_ms_min", "outside"),
        (&[("lease_ms_min = 1_000", "lease_ms_min = -5")], ".lease_ms_min", "outside"),
        (&[("lease_ms_max = 600_000", "lease_ms_max = 600_000_000")], ".lease_ms_max", "outside"),
        (&[("lease_total_ms_max = 1_800_000", "lease_total_ms_max = 1")], ".lease_total_ms_max", "outside"),
        (&[("# step_timeout_ms = 120_000", "step_timeout_ms = 298_000")], ".lease_ms", "can end before step_timeout_ms"),
        (&[("# inline = false", "inline = true")], ".lease_ms", "the inline effect customer_mail at mail"),
        (&[("\nattempts_max = 5\n# backoff = { base_ms = 5_000", "\nattempts_max = 0\n# backoff = { base_ms = 5_000")], ".attempts_max", "outside"),
        // approvals
        (&[("[flows.ticket-reply.approval]\naudience", "[flows.other.approval]\naudience")], ".approval", "nobody is named"),
        (&[(AUDIENCE, "audience = []          # roles")], ".approval.audience", "nobody is asked"),
        (&[(AUDIENCE, "audience = [\"support-lead\"] # roles")], ".approval.audience", "neither a role nor"),
        (&[(AUDIENCE, "audience = [\"role:\"] # roles")], ".approval.audience", "neither a role nor"),
        (&[("quorum = 1", "quorum = 0")], ".approval.quorum", "outside"),
        (&[("quorum = 1", "quorum = 2"), (AUDIENCE, "audience = [\"a@example.test\", \"A@example.test\"] # roles"), (ESCALATE, "")], ".approval.quorum", "2 people are wanted and 1 named"),
        (&[(LOGIN, "login = \"token\" #")], ".approval.login", "high impact"),
        (&[(LOGIN, "login = \"token\" #"), ("link_in_answer = false", "link_in_answer = true")], ".approval.link_in_answer", "high impact"),
        (&[("expires_ms = 86_400_000\nremind", "expires_ms = 0\nremind")], ".approval.expires_ms", "outside"),
        (&[("expires_ms = 86_400_000\nremind", "expires_ms = 99_999_999_999\nremind")], ".approval.expires_ms", "outside"),
        (&[("remind_ms = 28_800_000", "remind_ms = 90_000_000")], ".approval.remind_ms", "outside"),
        (&[("after_ms = 57_600_000", "after_ms = 86_400_000")], ".approval.escalate.after_ms", "outside"),
        (&[("audience = [\"role:manager\"]", "audience = []")], ".approval.escalate.audience", "nobody"),
        // gates
        (&[(NOTE_EXCEPTIONS, "gate = \"none\" ")], ".effects.crm_note.gate", "must be reversible"),
        (&[("gate = \"approve\"                          # approve", "reversible = true\ngate = \"none\" #")], ".effects.customer_mail.gate", "must not have high impact"),
        (&[("gate = \"approve\"                          # approve", "window_ms = 60_000\ngate = \"cancel_window\" #")], ".effects.customer_mail.gate", "taken back"),
        (&[("gate = \"approve\"                          # approve", "reversible = true\ngate = \"cancel_window\" #")], ".effects.customer_mail.window_ms", "no length"),
        (&[("gate = \"approve\"                          # approve", "gate = \"regulated\" #")], ".effects.customer_mail.qualification", "which qualification"),
        (&[("gate = \"approve\"                          # approve", "window_ms = 60_000\ngate = \"approve\" #")], ".effects.customer_mail.window_ms", "no meaning"),
        (&[("gate = \"approve\"                          # approve", "gate = \"exceptions\" #")], ".effects.customer_mail.exceptions", "nothing is said"),
        (&[(RULES, "")], ".effects.crm_note.exceptions.rules", "without rules"),
        (&[(RULES, "rules = [\"output.label ==\"]")], ".effects.crm_note.exceptions.rules[0]", "cannot be read"),
        (&[(RULES, "rules = [\"true\", \"secrets.x == 1\"]")], ".effects.crm_note.exceptions.rules[1]", "unknown"),
        (&[(EVIDENCE, "")], ".effects.crm_note.exceptions.evidence", "no evaluation"),
        (&[("file = \"evidence/ticket-reply.json\"", "file = \"evidence/nothing.json\"")], ".effects.crm_note.exceptions.evidence.file", "cannot be read"),
        (&[("name = \"label-accuracy\"", "name = \"tone\"")], ".effects.crm_note.exceptions.evidence", "another name"),
        (&[("sample = 0.05", "sample = 1.5")], ".effects.crm_note.exceptions.sample", "not a share"),
        (&[("sample = 0.05", "sample = -0.1")], ".effects.crm_note.exceptions.sample", "not a share"),
        // effects and schemas
        (&[("provider = \"mail\"\nimpact", "provider = \"post\"\nimpact")], ".effects.customer_mail.provider", "no provider"),
        (&[("provider = \"mail\"\nimpact", "provider = \"crm\"\nimpact")], ".effects.customer_mail.provider", "has no effect customer_mail"),
        (&[("to = \"/customer/email\"", "to = \"customer.email\"")], ".effects.customer_mail.to", "no JSON Pointer"),
        (&[("payload_schema = \"schemas/ticket.json\"", "payload_schema = \"schemas/none.json\"")], ".payload_schema", "cannot be read"),
        (&[("payload_schema = \"schemas/ticket.json\"", "payload_schema = \"effectgate.example.toml\"")], ".payload_schema", "effectgate.example.toml"),
        (&[("payload_identity = [\"\"] ", "payload_identity = [\"id\"] ")], ".payload_identity", "JSON Pointer"),
        (&[("payload_identity = [\"\"] ", "payload_identity = [] ")], ".payload_identity", "between 1 and"),
        (&[("key_parts = [\"source\", ", "key_parts = [")], ".key_parts", "in that order"),
        (&[("key_parts = [\"source\"", "key = \"given\"\nkey_parts = [\"source\"")], ".key", "given or made of parts"),
        (&[("[flows.ticket-reply]\n", "[flows.Tickets.approval]\n[flows.ticket-reply]\n")], "flows.Tickets", "not a name"),
        // retention
        (&[("key_days = 90", "key_days = 0")], ".retention.key_days", "outside"),
        (&[("content_days = 30, key_days = 90", "content_days = 1, key_days = 1"), ("expires_ms = 86_400_000\nremind", "expires_ms = 172_800_000\nremind")], ".retention.key_days", "shorter than the wait for an approval"),
        (&[("content_days = 30, key_days = 90", "content_days = 1, key_days = 1"), ("# review_alert_ms = 14_400_000", "review_alert_ms = 172_800_000")], ".retention.key_days", "shorter than the wait for a review"),
        (&[("content_days = 30", "content_days = 91")], ".retention.content_days", "outside"),
        // providers: classes
        (&[(PAY_KEY, "#")], "providers.pay.key_header", "told our key"),
        (&[(PAY_WINDOW, "")], "providers.pay.key_window_ms", "how long the provider remembers"),
        (&[(PAY_MARGIN, "key_window_margin_ms = 86_400_000")], "providers.pay.key_window_margin_ms", "does not fit"),
        (&[(PAY_MARGIN, "key_window_margin_ms = 0")], "providers.pay.key_window_margin_ms", "does not fit"),
        (&[(PAY_KEY, "key_field = \"key\"\nkey_header = \"Idempotency-Key\" #")], "providers.pay.key_field", "one place"),
        (&[(CRM, "class = \"advisory\"\nretry_unknown = true #")], "providers.crm.retry_unknown", "never sent again by itself"),
        (&[(CRM, "class = \"advisory\"\nkey_window_ms = 86_400_000 #")], "providers.crm.key_window_ms", "no key window"),
        (&[(CRM, "class = \"advisory\"\nconflict_in_flight = true #")], "providers.crm.conflict_in_flight", "409"),
        (&[(CRM, "class = \"advisory\"\nin_flight = [{ status = 409, pointer = \"/code\", equals = 1 }] #")], "providers.crm.in_flight", "409"),
        (&[(PAY_WINDOW, "key_window_ms = 86_400_000\nin_flight = [{ status = 200, pointer = \"/code\", equals = 1 }]\n")], "providers.pay.in_flight", "200"),
        (&[(PAY_WINDOW, "key_window_ms = 86_400_000\nin_flight = [{ status = 422, pointer = \"code\", equals = 1 }]\n")], "providers.pay.in_flight", "code"),
        (&[("facts = { source", "facts = { replayed = { header = \"a b\", equals = \"true\" }, source")], "providers.pay.facts.replayed.header", "not a header name"),
        (&[(SMTP, "kind = \"smtp\"\nclass = \"enforcing\" ")], "providers.mail.class", "second copy"),
        (&[("# refused = [409]", "refused = [500]")], "providers.crm.refused", "definite refusal"),
        (&[("# refused = [409]", "refused = [429]")], "providers.crm.refused", "definite refusal"),
        (&[("# not_done = [503]", "not_done = [500]")], "providers.crm.not_done", "nothing was done"),
        (&[("# sending_margin_ms = 30_000 ", "sending_margin_ms = 100 ")], "providers.crm.sending_margin_ms", "outside"),
        // providers: where and how
        (&[("url = \"http://127.0.0.1:9001\"             # only this host; private addresses need allow_private\nallow_private = true", "url = \"http://127.0.0.1:9001\"")], "providers.crm.url", "loopback"),
        (&[("url = \"http://127.0.0.1:9001\"", "url = \"http://169.254.169.254\"\nca_file = \"none.pem\"")], "providers.crm.ca_file", "could not be read"),
        (&[("url = \"http://127.0.0.1:9001\"", "url = \"127.0.0.1:9001\"")], "providers.crm.url", "no URL"),
        (&[("auth = { bearer = \"env:CRM_TOKEN\" }", "auth = { bearer = \"env:NOT_SET\" }")], "providers.crm.auth.bearer", "has no NOT_SET"),
        (&[("auth = { bearer = \"env:CRM_TOKEN\" }", "auth = { username = \"x\" }")], "providers.crm.auth", "not one way"),
        (&[("timeout_ms = 10_000 ", "timeout_ms = 0 ")], "providers.crm.timeout_ms", "outside"),
        (&[("timeout_ms = 10_000 ", "timeout_ms = 86_400_000 ")], "providers.crm.timeout_ms", "outside"),
        (&[("connect_timeout_ms = 2_000", "connect_timeout_ms = 20_000")], "providers.crm.connect_timeout_ms", "outside"),
        (&[("per_second = 20", "per_second = 0")], "providers.crm.rate.per_second", "not a rate"),
        (&[("concurrent = 4 }", "concurrent = 0 }")], "providers.crm.rate.concurrent", "outside"),
        (&[("path = \"/notes\"\n", "")], "providers.crm.effects.crm_note.path", "no path"),
        (&[("path = \"/notes?ref={{ provider_key }}\"", "path = \"/notes?ref={{ key }}\"")], "providers.crm.lookup.path", "names nothing"),
        (&[("path = \"/notes?ref={{ provider_key }}\"", "path = \"/notes\"")], "providers.crm.lookup.path", "any answer would be"),
        (&[("settle_delay_ms = 120_000", "settle_delay_ms = 0"), ("authoritative = false", "authoritative = true")], "providers.crm.lookup.settle_delay_ms", "outside"),
        (&[("host = \"127.0.0.1\"\n", "")], "providers.mail.host", "has a host"),
        (&[("host = \"127.0.0.1\"\n", "host = \"10.0.0.7\"\n")], "providers.mail.host", "private"),
        (&[("port = 2525", "port = 0")], "providers.mail.port", "outside"),
        (&[("port = 2525", "url = \"https://a.example.com\"\nport = 2525")], "providers.mail.url", "http providers"),
        (&[("# username = \"gate\"", "username = \"gate\"")], "providers.mail.password", "come together"),
        (&[("[providers.mail.effects.customer_mail] ", "[providers.mail.effects.customer_mail]\npath = \"/x\" ")], "providers.mail.effects.customer_mail", "made of its payload"),
        // people are told
        (&[("provider = \"mail\"                         # an smtp", "provider = \"crm\" # an smtp")], "notify.mail.provider", "not an smtp provider"),
        (&[("from = \"gate@example.test\"\n\n", "from = \"gate\"\n\n")], "notify.mail.from", "not a mail address"),
        (&[("url = \"env:CHAT_WEBHOOK\"", "url = \"http://127.0.0.1/hook\"")], "notify.chat.url", "loopback"),
        (&[("to = \"notify.chat\" ", "to = \"pager\" ")], "alerts[0].to", "no place"),
        (&[("to = \"notify.chat\" ", "to = \"mail:nobody\" ")], "alerts[0].to", "no place"),
        // people sign in
        (&[("# trusted_proxies = [\"10.0.0.5\"]", "trusted_proxies = [\"proxy.test\"]")], "server.trusted_proxies[0]", "neither"),
        (&[("issuer = \"https://sso", "issuer = \"http://sso")], "auth.oidc.issuer", "https"),
        (&[("issuer = \"https://sso.example.test\"", "issuer = \"https://sso.example.test?a=b\"")], "auth.oidc.issuer", "https"),
        (&[("client_id = \"effectgate\"", "client_id = \"\"")], "auth.oidc.client_id", "empty"),
        (&[("client_secret = \"env:OIDC_SECRET\"", "")], "auth.oidc.client_secret", "no secret"),
        (&[("client_secret = \"env:OIDC_SECRET\"", "client_secret = \"env:ABSENT\"")], "auth.oidc.client_secret", "no ABSENT"),
        (&[("\"operator\", \"switch_owner\"]", "\"worker\"]")], "auth.oidc.roles.ops", "API keys"),
        (&[("\"operator\", \"switch_owner\"]", "]")], "auth.oidc.roles.ops", "no roles"),
        (&[("\"operator\", \"switch_owner\"]", "\"a b\"]")], "auth.oidc.roles.ops", "no role"),
        (&[("client_id = \"effectgate\"", "client_id = \"effectgate\"\ntenant = { claim = \"org\", allow = [] }")], "auth.oidc.tenant", "listed"),
        (&[("client_id = \"effectgate\"", "client_id = \"effectgate\"\nscopes = [\"a b\"]")], "auth.oidc.scopes", "one word"),
        (&[("client_id = \"effectgate\"", "client_id = \"effectgate\"\ntimeout_ms = 1")], "auth.oidc.timeout_ms", "outside"),
        (&[("idle_ms = 28_800_000", "idle_ms = 86_400_001")], "auth.session.idle_ms", "absolute_ms"),
        (&[("absolute_ms = 86_400_000", "absolute_ms = 1")], "auth.session.absolute_ms", "outside"),
        (&[("\ntries_max = 10 ", "\ntries_max = 101 ")], "auth.lockout.tries_max", "outside"),
        (&[("account_tries_max = 100 ", "account_tries_max = 0 ")], "auth.lockout.account_tries_max", "outside"),
        (&[("account_window_ms = 3_600_000", "account_window_ms = 0")], "auth.lockout.account_window_ms", "outside"),
        // inbound
        (&[("flow = \"ticket-reply\"", "flow = \"ticket\"")], "sources.shop.flow", "no flow"),
        (&[("external_id = \"/data/id\"", "external_id = \"data.id\"")], "sources.shop.key_parts.external_id", "JSON Pointer"),
        (&[("external_id = \"/data/id\"", "external_id = \"'17'\"")], "sources.shop.key_parts.external_id", "the same for every event"),
        (&[("external_id = \"/data/id\"", "external_id = \"header:a b\"")], "sources.shop.key_parts.external_id", "header"),
        (&[(SHOP_PARTS, "")], "sources.shop.key", "which key"),
        (&[(SHOP_PARTS, "key = \"'shop'\"\n")], "sources.shop.key", "the same for every event"),
        (&[("\nkey_parts = { source", "\nkey = \"/id\"\nkey_parts = { source")], "sources.shop.key", "twice"),
        (&[("[sources.shop]", "[sources.Shop]")], "sources.Shop", "not a name"),
        (&[(SHOP_SECRET, "")], "sources.shop.signature.secret", "no secret"),
        (&[(SHOP_SECRET, ", secret = \"env:ABSENT\"")], "sources.shop.signature.secret", "no ABSENT"),
        (&[(SHOP_SECRET, ", secret = \"whsec_c2hvcnQ=\"")], "sources.shop.signature.secret", "guessed"),
        (&[(SHOP_SECRET, ", secret = \"not base64\"")], "sources.shop.signature.secret", "Standard Webhooks"),
        (&[(SHOP_SECRET, ", secret = \"env:SHOP_SECRET\", secret_old = \"x\"")], "sources.shop.signature.secret_old", "Standard Webhooks"),
        (&[(SHOP_SECRET, ", secret = \"env:SHOP_SECRET\", secret_file = \"x\"")], "sources.shop.signature.secret", "twice"),
        (&[(SHOP_SECRET, ", secret = \"env:SHOP_SECRET\", tolerance_ms = 0")], "sources.shop.signature.tolerance_ms", "outside"),
        (&[(SHOP_SECRET, ", secret = \"env:SHOP_SECRET\", header = \"x-tag\"")], "sources.shop.signature.header", "does not read"),
        (&[(SHOP_SCHEME, "scheme = \"none\", secret")], "sources.shop.signature.secret", "has no secret"),
        (&[(SHOP_SCHEME, "scheme = \"hmac\", secret")], "sources.shop.signature.header", "where the signature stands"),
        (&[(SHOP_SCHEME, "scheme = \"hmac\", header = \"x tag\", secret")], "sources.shop.signature.header", "not a header name"),
        (&[(SHOP_SCHEME, "scheme = \"hmac\", header = \"x-tag\", timestamp_header = \"x-at\", signed = \"{body}\", secret")], "sources.shop.signature.signed", "can be changed"),
        (&[(SHOP_SCHEME, "scheme = \"github\", tolerance_ms = 1_000, secret")], "sources.shop.signature.tolerance_ms", "does not read"),
        (&[(SHOP_URL, "url = \"webhook/ticket\"")], "sources.shop.deliver.url", "no URL"),
        (&[(SHOP_URL, "url = \"ftp://127.0.0.1/\"")], "sources.shop.deliver.url", "http"),
        (&[(SHOP_URL, "lease_ms = 14_999, url = \"http://127.0.0.1:5678/\"")], "sources.shop.deliver.lease_ms", "can end before the call"),
        (&[(SHOP_URL, "lease_ms = 600_001, url = \"http://127.0.0.1:5678/\"")], "sources.shop.deliver.lease_ms", "outside"),
        (&[(SHOP_URL, "timeout_ms = 0, url = \"http://127.0.0.1:5678/\"")], "sources.shop.deliver.timeout_ms", "outside"),
        (&[(SHOP_URL, "concurrent = 0, url = \"http://127.0.0.1:5678/\"")], "sources.shop.deliver.concurrent", "outside"),
        (&[(SHOP_URL, "give_up_ms = 1, url = \"http://127.0.0.1:5678/\"")], "sources.shop.deliver.give_up_ms", "outside"),
        (&[("auth = { bearer = \"env:N8N_TOKEN\" }", "auth = { bearer = \"env:ABSENT\" }")], "sources.shop.deliver.auth.bearer", "no ABSENT"),
    ];

    for (changes, path, words) in table {
        let path = if path.starts_with('.') { format!("flows.ticket-reply{path}") } else { (*path).to_owned() };
        let found = refusals(changes);
        let told = found.iter().find(|error| error.path == path && error.what.contains(words));
        assert!(told.is_some(), "{changes:?} wants {path}: {words}; got {found:#?}");
        assert!(told.is_some_and(|error| error.advice.ends_with('.')), "{told:?} says what to change");
    }
    assert_eq!(refusals(&[]), []);
}

#[test]
fn all_faults_are_told_at_once() {
    let found = refusals(&[
        ("lease_ms = 300_000 ", "lease_ms = 0 "),
        ("quorum = 1", "quorum = 0"),
        ("timeout_ms = 10_000 ", "timeout_ms = 0 "),
        ("sample = 0.05", "sample = 7"),
        ("path = \"/notes\"\n", "path = \"notes\"\n"),
        ("sqlite:effectgate.db", "redis://x"),
    ]);

    let mut paths: Vec<&str> = found.iter().map(|error| error.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "database.url",
            "flows.ticket-reply.approval.quorum",
            "flows.ticket-reply.effects.crm_note.exceptions.sample",
            "flows.ticket-reply.lease_ms",
            "providers.crm.effects.crm_note.path",
            "providers.crm.timeout_ms",
        ]
    );
}

#[test]
fn a_schema_that_reaches_out_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("effectgate.toml");
    std::fs::write(folder.path().join("s.json"), r#"{"$ref": "https://example.com/s.json"}"#).unwrap();
    std::fs::write(folder.path().join("twice.json"), r#"{"type": "object", "type": "array"}"#).unwrap();
    std::fs::write(&path, "[flows.f]\npayload_schema = \"s.json\"\noutput_schema = \"twice.json\"").unwrap();

    let errors = load(Some(&path), Environment::default()).unwrap().resolve().err().unwrap().0;

    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].path == "flows.f.payload_schema" && errors[0].what.contains("nothing is fetched"), "{errors:?}");
    assert_eq!(errors[1].path, "flows.f.output_schema");
}

#[test]
fn retry_unknown_is_no_fault_where_the_key_makes_it_safe() {
    assert_eq!(refusals(&[(PAY_KEY, "retry_unknown = true\nkey_header = \"Idempotency-Key\" #")]), []);
}

#[test]
fn a_link_may_decide_about_what_has_no_high_impact() {
    assert_eq!(
        refusals(&[(LOGIN, "login = \"token\" #"), (MAIL_EFFECT, "impact = \"normal\"\ngate = \"approve\" # approve")]),
        []
    );
}

#[test]
fn a_key_from_a_header_that_nobody_signed_is_said() {
    let github = (SHOP_SCHEME, "scheme = \"github\", secret");
    let whole = |rule| (SHOP_PARTS, rule);
    let parts = ("event_type = \"/type\"", "event_type = \"header:x-github-event\"");
    let table: &[(&[Change], Option<&str>)] = &[
        (&[], None),
        (&[github], None),
        (&[whole("key = \"header:webhook-id\"\n")], None),
        (&[whole("key = \"header:x-id\"\n")], Some("sources.shop.key: ")),
        (&[github, whole("key = \"header:x-github-delivery\"\n")], Some("sources.shop.key: ")),
        (&[github, parts], Some("sources.shop.key_parts: ")),
    ];
    for (changes, wanted) in table {
        let notes = changed(changes).unwrap().notes;
        let said = notes.iter().find(|note| note.contains("the signature does not cover"));
        assert_eq!(said.map(|note| note.starts_with(wanted.unwrap_or("?"))), wanted.map(|_| true), "{notes:?}");
    }
}
