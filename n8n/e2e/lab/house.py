"""The house of the gate under test: its config, and who is in it."""
import base64

PERSON, PASSWORD = "lena", "a-password-of-the-lab"
# What senders sign with at the inbound door.
SECRET = "whsec_" + base64.b64encode(b"a secret that only the lab knows").decode()
# The webhook that the inbound door delivers to.
INBOUND_HOOK = "lab-inbound"

# What a note may say; an agent's tool shows it to the model.
NOTE = {"type": "object", "properties": {"order": {"type": "string"}, "text": {"type": "string"}}, "required": ["order"]}

# Two providers behind the relay: `crm` promises nothing, `pay` keeps our key. Flow `lead` writes a note at once, `refund`
# pays at once, `reply` writes a note that a person decides about. Windows and pauses are short; nothing else is unusual.
_CONFIG = """
[server]
listen = "127.0.0.1:{port}"
public_url = "http://127.0.0.1:{port}"
[database]
url = "sqlite:gate.db"
[actions]
enabled = true
[dispatcher]
period_ms = 100
[sweeper]
period_ms = 200

[providers.crm]
kind = "http"
class = "advisory"
url = "{far}"
allow_private = true
timeout_ms = 2_000
sending_margin_ms = 500
backoff = {{ base_ms = 100, max_ms = 500 }}
breaker = {{ failures = 1000 }}
effects.note = {{ path = "/notes", external_id = "/id" }}
effects.note_of_node = {{ path = "/node-notes", external_id = "/id" }}
out = {{ gate = "none", impact = "low", reversible = true, paths = ["/out-notes"], external_id = "/id", wait_ms = 5_000 }}

[providers.pay]
kind = "http"
class = "enforcing"
url = "{far}"
allow_private = true
timeout_ms = 2_000
sending_margin_ms = 500
key_header = "Idempotency-Key"
key_window_ms = 3_600_000
key_window_margin_ms = 60_000
backoff = {{ base_ms = 100, max_ms = 500 }}
breaker = {{ failures = 1000 }}
effects.payment = {{ path = "/payments", external_id = "/id" }}
effects.payment_of_node = {{ path = "/node-payments", external_id = "/id" }}
out = {{ gate = "none", impact = "low", reversible = true, paths = ["/out-payments"], external_id = "/id", wait_ms = 5_000 }}

[flows.lead]
key = "given"
lease_ms_min = 500
effects.note = {{ provider = "crm", payload_schema = "note.json", impact = "low", reversible = true, gate = "none" }}
effects.note_of_node = {{ provider = "crm", impact = "low", reversible = true, gate = "none" }}
[flows.refund]
key = "given"
lease_ms_min = 500
effects.payment = {{ provider = "pay", impact = "low", reversible = true, gate = "none" }}
effects.payment_of_node = {{ provider = "pay", impact = "low", reversible = true, gate = "none" }}
[flows.reply]
key = "given"
effects.note = {{ provider = "crm", impact = "low", reversible = true, gate = "approve" }}
approval = {{ audience = ["role:lead"], login = "required" }}

[providers.record]
kind = "record"

[flows.questions]
key = "given"
effects.decision = {{ provider = "record", gate = "approve" }}
approval = {{ audience = ["role:lead"], login = "required" }}

[sources.shop]
flow = "lead"
signature = {{ scheme = "standard-webhooks", secret = "{secret}" }}
key = "/key"
deliver = {{ url = "{n8n}/webhook/{hook}", lease_ms = 15_000, timeout_ms = 5_000 }}

[n8n]
url = "{n8n}"
allow_urls = ["{back}"]
api_key = "{n8n_key}"
"""


def config(port, far, n8n, n8n_key, back):
    """The config of a gate on this port whose providers are at `far` and whose workflow tool is at `n8n`, and resumed
    at `back`."""
    return _CONFIG.format(port=port, far=far, n8n=n8n, n8n_key=n8n_key, back=back, secret=SECRET, hook=INBOUND_HOOK)
