"""The Effectgate Trigger: publishing its workflow registers it at the gate, and what the gate tells it begins the workflow. What
the workflow then does once or twice is counted at the provider as everywhere."""
import base64
import hashlib
import hmac
import json
import time

from lab import flow, table, web
from lab.gate import KEY

KEY_OF_RUN = "$('Trigger').item.json.data.run.key"


def a_decision_begins_the_triggers_workflow_and_a_forged_event_does_not(ground, counts):
    listener = Listener(ground, plain)
    counts.must("publishing registers the trigger", listener.registered()["events"] == ["approval.decided"], listener.registered())
    told = listener.decide_one()
    ground.n8n.ended(listener.workflow)
    counts.count("a decision begins the Trigger's workflow", table.NODE, ground.provider.effects(told), 1)

    order = ground.order("forged")
    raw = json.dumps({"type": "approval.decided", "data": {"run": {"key": order}}}).encode()
    for word, headers in (("another key", signed(raw, "another-key")), ("no signature", {}),
                          ("a signature over other bytes", signed(raw + b" ", KEY)), ("an old one", signed(raw, KEY, 3_600))):
        answer = web.ask("POST", listener.url, raw, headers)
        counts.must(f"a forged event with {word} is turned away with 401", answer.status == 401, answer)
    executions = ground.n8n.ended(listener.workflow)
    counts.must("they began nothing", len(executions) == 1, executions)
    counts.count("forged events at the Trigger", table.NODE, ground.provider.effects(order), 0)

    ground.n8n.api("POST", f"/workflows/{listener.workflow}/unpublish")
    web.until("the gate has forgotten the trigger", lambda: listener.registered() is None, 30)


def an_event_whose_answer_is_lost_comes_twice_and_its_id_as_the_key_makes_one_effect(ground, counts):
    for way, (form, want) in {table.BARE: (plain, 2), table.NODE: (kept, 1)}.items():
        listener = Listener(ground, form)
        ground.back.strike("forward-then-drop-response", path=f"/webhook/{listener.name}/")
        told = listener.decide_one()
        ended = ground.n8n.ended(listener.workflow, 2)
        counts.must(f"{way}: the workflow began twice", len(ended) == 2, ended)
        found = [run for run in ground.gate.ask("GET", "/v1/runs?flow=lead").body["runs"] if run["key"].startswith("evt_")]
        for run in found:
            ground.gate.settled("lead", run["key"])
        counts.count("the answer to an event is lost", way, ground.provider.effects(told), want)
        ground.n8n.api("POST", f"/workflows/{listener.workflow}/unpublish")


class Listener:
    """A published workflow that begins with the trigger; `form` says what follows it."""

    def __init__(self, ground, form):
        self._ground, self.name = ground, ground.name("told")
        trigger = flow.node("Trigger", "n8n-nodes-effectgate.effectgateTrigger", 1, {"events": ["approval.decided"], "flow": "reply"},
                            credentials=ground.forms.credential("effectgateApi"), webhookId=self.name)
        # n8n gives its own addresses with the relay before it.
        self.url = f"{ground.back.url}/webhook/{self.name}/webhook"
        self.workflow = ground.n8n.deploy(flow.chain(self.name, trigger, *form(ground.forms)))
        web.until("the trigger is registered", self.registered, 60)

    def registered(self):
        """What the gate knows of this trigger, or None."""
        found = self._ground.gate.ask("GET", "/v1/subscriptions").body["data"]
        return next((each for each in found if each["url"] == self.url), None)

    def decide_one(self):
        """Lets something be asked and decides it; gives the name under which the workflow's effect is counted."""
        ground, order = self._ground, self._ground.order("asked")
        asking = ground.name("asks")
        ground.n8n.deploy(ground.forms.plain(asking, flow_name="reply"))
        web.ask("POST", ground.n8n.hook(asking), {"order": order})
        ground.gate.decide(ground.gate.asked("reply", f"order:{order}"))
        told = f"told-order:{order}"
        web.until("the workflow has done its part", lambda: ground.provider.effects(told), 60)
        return told


def plain(forms):
    """What follows the trigger is a request to the provider."""
    return [flow.http("Told", forms.direct + "/told", "{order: 'told-' + " + KEY_OF_RUN + "}")]


def kept(forms):
    """What follows the trigger reserves with the event's id as the key."""
    key = {"keyMode": "whole", "key": "={{ $json.effectgate.delivery }}"}
    row = {"type": "note", "target": "={{ " + KEY_OF_RUN + " }}", "payload": flow.expression("{order: 'told-' + " + KEY_OF_RUN + "}")}
    proposal = {"outputFormat": "text", "outputText": "{}", "effectsFrom": "fields", "effects": {"values": [row]}}
    return [forms.gated("Reserve", "run", "reserve", {"flow": "lead", **key}), forms.gated("Propose", "run", "propose", proposal)]


def signed(raw, key, age=0):
    """The headers of an event as the gate signs it, under this API key and so many seconds ago (docs/subscriptions.md)."""
    name, then = f"evt_{time.time_ns()}-0", str(int(time.time()) - age)
    derived = hmac.new(hashlib.sha256(key.encode()).digest(), b"effectgate webhook signature v1", hashlib.sha256).digest()
    mac = hmac.new(derived, f"{name}.{then}.".encode() + raw, hashlib.sha256).digest()
    return {"webhook-id": name, "webhook-timestamp": then, "webhook-signature": "v1," + base64.b64encode(mac).decode()}


SENTENCES = [a_decision_begins_the_triggers_workflow_and_a_forged_event_does_not,
             an_event_whose_answer_is_lost_comes_twice_and_its_id_as_the_key_makes_one_effect]
