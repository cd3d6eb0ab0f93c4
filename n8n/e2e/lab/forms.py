"""The same small workflow in its forms: a webhook, a model's draft, and one effect at the provider. Without the gate the effect
is an HTTP Request node; with it the workflow reserves, drafts and proposes, or sends its request to the outbound door."""
from . import flow
from .house import INBOUND_HOOK

ORDER = "$('Webhook').item.json.body.order"
# The owner is of this execution and node, so that the node's own retries get the same grant.
OWNER = "`n8n:${$workflow.id}:${$execution.id}:reserve`"

# Where run, owner and fence stand: in the answer to a reservation, or in the headers of a delivery by the gate.
RESERVED = tuple(f"$('Reserve').item.json.{member}" for member in ("run.id", "lease.owner", "lease.fence"))
_HEADERS = "$('Webhook').item.json.headers"
DELIVERED = (f"{_HEADERS}['effectgate-run']", f"{_HEADERS}['effectgate-owner']", f"Number({_HEADERS}['effectgate-fence'])")


class Forms:
    """Nodes with the addresses of one lab in them. `more` of each goes to the node: retryOnFail, onError …"""

    def __init__(self, gate, direct, model, credentials):
        """`gate` and `model` are base addresses, `direct` is the provider's as n8n sees it, `credentials` are n8n's by kind."""
        self.gate, self.direct, self.model, self._credentials = gate, direct, model, credentials

    def credential(self, kind):
        """What a node's `credentials` says of the one of this kind."""
        return {kind: self._credentials[kind]}

    def past_the_relay(self, gate):
        """The same forms with the gate's own address in them."""
        return Forms(gate, self.direct, self.model, self._credentials)

    def draft(self, **more):
        body = "{model: 'scripted', messages: [{role: 'user', content: 'draft for ' + " + ORDER + "}]}"
        return flow.http("Draft", f"{self.model}/v1/chat/completions", body, timeout=60_000, **more)

    def effect(self, path="/bare", timeout=3_000, **more):
        """Without the gate: the provider itself."""
        body = "{order: " + ORDER + ", text: 'a note'}"
        return flow.http("Effect", self.direct + path, body, timeout=timeout, **more)

    def effect_at(self, provider):
        """The same, past the relay."""
        return Forms(self.gate, provider, self.model, self._credentials).effect()

    def out(self, provider="crm", path="/out-notes", timeout=10_000, **more):
        """The same node through the outbound door: another URL, a credential and a key."""
        body, key = "{order: " + ORDER + ", text: 'a note'}", "={{ 'order:' + " + ORDER + " }}"
        return flow.http("Effect", f"{self.gate}/out/{provider}{path}", body, {"Idempotency-Key": key}, timeout,
                         credentials=self.credential("httpHeaderAuth"), **more)

    def reserve(self, name="lead", lease_ms=300_000, **more):
        body = "{flow: '%s', key: 'order:' + %s, payload: $json.body, owner: %s, lease_ms: %d}" % (name, ORDER, OWNER, lease_ms)
        return flow.http("Reserve", f"{self.gate}/v1/runs", body, credentials=self.credential("httpHeaderAuth"), **more)

    def granted(self):
        return flow.when("Granted", "$json.answer", "granted")

    def propose(self, effect="note", held=RESERVED, resume=None, **more):
        """Under the lease that `held` names. `resume` is the inside of an expression: where this execution will wait."""
        run, owner, fence = held
        choice = "$('Draft').item.json.choices[0]"
        payload = "{order: " + ORDER + ", text: 'a note'}"
        body = ("{owner: %s, fence: %s, output_text: %s.message.content, finish_reason: %s.finish_reason, "
                "effects: [{type: '%s', target: %s, payload: %s}]%s}") % (
                    owner, fence, choice, choice, effect, ORDER, payload, f", resume: {resume}" if resume else "")
        url = "=%s/v1/runs/{{ %s }}/proposal" % (self.gate, run)
        return flow.http("Propose", url, body, credentials=self.credential("httpHeaderAuth"), **more)

    def bare(self, name, mode="onReceived", path="/bare", **more):
        """Webhook, draft, effect: no gate."""
        return flow.chain(name, flow.webhook(name, mode), self.draft(**more), self.effect(path, **more))

    def door(self, name, mode="onReceived", provider="crm", path="/out-notes", **more):
        """Webhook, draft, effect through the outbound door."""
        return flow.chain(name, flow.webhook(name, mode), self.draft(**more), self.out(provider, path, **more))

    def plain(self, name, mode="onReceived", flow_name="lead", effect="note", lease_ms=300_000, **more):
        """Webhook, reserve, draft, propose: HTTP Request nodes only."""
        return flow.chain(name, flow.webhook(name, mode), self.reserve(flow_name, lease_ms, **more), self.granted(),
                          self.draft(**more), self.propose(effect, **more))

    def gated(self, name, resource, operation, parameters, **more):
        """A community node; what is not named has the node's own default."""
        return flow.node(name, "n8n-nodes-effectgate.effectgate", 1, {"resource": resource, "operation": operation, **parameters},
                         credentials=self.credential("effectgateApi"), **more)

    def reserve_node(self, name="lead", lease_ms=300_000, **more):
        key = {"keyMode": "whole", "key": "=order:{{ " + ORDER + " }}"}
        return self.gated("Reserve", "run", "reserve", {"flow": name, **key, "options": {"leaseMs": lease_ms}}, **more)

    def propose_node(self, effect="note", **more):
        row = {"type": effect, "target": "={{ " + ORDER + " }}", "payload": flow.expression("{order: " + ORDER + ", text: 'a note'}")}
        output = {"outputFormat": "text", "outputText": "={{ $json.choices[0].message.content }}"}
        return self.gated("Propose", "run", "propose", {**output, "effectsFrom": "fields", "effects": {"values": [row]}}, **more)

    def node(self, name, mode="onReceived", flow_name="lead", effect="note", lease_ms=300_000, **more):
        """Webhook, reserve, draft, propose: with the community node, whose first outputs are Acquired and Queued."""
        return flow.chain(name, flow.webhook(name, mode), self.reserve_node(flow_name, lease_ms, **more), self.draft(**more),
                          self.propose_node(effect, **more))

    def delivered(self, name=INBOUND_HOOK):
        """What the inbound door calls: draft, propose. Run, owner and fence come in headers, and the node finds them there."""
        return flow.chain(name, flow.webhook(name), self.draft(), self.propose_node())

    def delivered_plain(self, name=INBOUND_HOOK):
        """The same with HTTP Request nodes."""
        return flow.chain(name, flow.webhook(name), self.draft(), self.propose(held=DELIVERED))
