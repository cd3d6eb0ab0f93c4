"""The provider's call broken at every place where it can break, with Retry On Fail on at n8n's node as its users have it.

At the advisory provider an outcome that nobody can know goes to the review desk; the person there looks at the far side, as the
count does, and says so. At the enforcing one the gate asks again under its own key."""
from lab import flow, table, web

# What the relay does to the first exchange, and how many effects that makes without the gate: n8n sends again.
RELAYED = {
    "forward-and-respond": 1, "fail-before-forward": 1, "forward-then-drop-response": 2, "duplicate": 2,
    "reset-before-forward": 1, "reset-after-forward": 2, "reset-mid-answer": 2,
    "close-before-forward": 1, "close-after-forward": 2, "close-mid-answer": 2,
    "silence-before-forward": 1, "silence-after-forward": 2, "silence-mid-answer": 2,
}
# What the provider itself does with the first request.
PLANNED = {"executed, answers 500": (("act", 500), 2), "answers 503, not executed": (("skip", 503), 1),
           "executed, answers after 4 s": (("delay", 4), 2)}
BARE, OUT, PLAIN, NODE = table.BARE, table.OUT, table.PLAIN, table.NODE


class Lines:
    """The workflows under test, deployed once; each event goes through all of them at once."""

    def __init__(self, ground):
        forms, retry = ground.forms, flow.RETRY
        self._ground, self._ways = ground, []
        self._add("bare", (BARE, "advisory"), "/bare", forms.bare("NAME", **retry), None)
        self._add("out", (OUT, "advisory"), "/out-notes", forms.door("NAME", **retry), "out.crm")
        self._add("plain", (PLAIN, "advisory"), "/notes", forms.plain("NAME", **retry), "lead")
        self._add("node", (NODE, "advisory"), "/node-notes", forms.node("NAME", effect="note_of_node", **retry), "lead")
        self._add("bare", (BARE, "enforcing"), "/bare-payments", forms.bare("NAME", path="/bare-payments", **retry), None)
        self._add("out", (OUT, "enforcing"), "/out-payments", forms.door("NAME", provider="pay", path="/out-payments", **retry), "out.pay")
        self._add("plain", (PLAIN, "enforcing"), "/payments", forms.plain("NAME", flow_name="refund", effect="payment", **retry), "refund")
        paying = forms.node("NAME", flow_name="refund", effect="payment_of_node", **retry)
        self._add("node", (NODE, "enforcing"), "/node-payments", paying, "refund")
        self._events = 0

    def _add(self, word, column, path, workflow, flow_name):
        name = self._ground.name(word)
        for node in workflow["nodes"]:
            if node["name"] == "Webhook":
                node["parameters"]["path"] = node["webhookId"] = name
        number = self._ground.n8n.deploy({**workflow, "name": name})
        self._ways.append((column, path, name, number, flow_name))

    def send(self, prepare):
        """One event of its own for each way, all under way together; gives {(way, class): (effects, note)}."""
        ground, orders = self._ground, {}
        self._events += 1
        for column, path, name, _, _ in self._ways:
            orders[column] = ground.order("fault")
            prepare(path, orders[column])
        for column, _, name, _, _ in self._ways:
            web.ask("POST", ground.n8n.hook(name), {"order": orders[column]})
        return {column: self._outcome(column, number, flow_name, orders[column]) for column, _, _, number, flow_name in self._ways}

    def _outcome(self, column, workflow, flow_name, order):
        ground = self._ground
        ground.n8n.ended(workflow, self._events)
        if flow_name is None:
            return ground.provider.effects(order), ""
        key = f"order:{order}"
        run = ground.gate.settled(flow_name, key)
        asked = ground.gate.look_for_a_person(run, happened=ground.provider.effects(order) > 0)
        if asked:
            ground.gate.settled(flow_name, key)
        return ground.provider.effects(order), "(a person looked)" if asked else ""


def a_provider_call_that_breaks_anywhere_makes_one_effect(ground, counts):
    lines = Lines(ground)
    for fault, bare in RELAYED.items():
        seen = lines.send(lambda path, _, fault=fault: ground.far.strike(fault, path=path))
        ground.far.clear()
        _count(counts, f"relay {fault}", seen, bare, doubled=fault == "duplicate")
    for name, (step, bare) in PLANNED.items():
        seen = lines.send(lambda _, order, step=step: ground.provider.plan(order, step))
        _count(counts, f"provider {name}", seen, bare, doubled=False)


def _count(counts, what, seen, bare, doubled):
    for (way, kind), (effects, note) in seen.items():
        # Bytes that the network delivers twice are two effects at a provider that promises nothing: no caller can see it.
        gated = 2 if doubled and kind == "advisory" else 1
        counts.count(f"{what}, {kind}", way, effects, bare if way == BARE else gated, note)


SENTENCES = [a_provider_call_that_breaks_anywhere_makes_one_effect]
