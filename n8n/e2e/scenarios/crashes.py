"""n8n killed with -9 in the middle of things, and started again. One kill serves all workflows of a scenario."""
from lab import table, web

LEASE_MS = 3_000


class Line:
    """One workflow with one event in it."""

    def __init__(self, ground, word, workflow_of):
        self.order, self.name = ground.order(word), ground.name(word)
        self.workflow, self._ground = ground.n8n.deploy(workflow_of(self.name)), ground

    def deliver(self):
        web.ask("POST", self._ground.n8n.hook(self.name), {"order": self.order})

    def settled(self):
        self._ground.gate.settled("lead", f"order:{self.order}")

    def effects(self):
        return self._ground.provider.effects(self.order)

    def retry_the_crashed(self):
        """Presses Retry on the execution that crashed, which n8n runs again from its beginning, and waits for its end."""
        found = self._ground.n8n.executions(self.workflow)
        crashed = next(e for e in found if e["status"] == "crashed")
        self._ground.n8n.api("POST", f"/executions/{crashed['id']}/retry", {})
        self._ground.n8n.ended(self.workflow, len(found) + 1)


class InboundLine(Line):
    """The same through the inbound door: the gate brings the event to n8n, and again where nothing came of it."""

    def __init__(self, ground, word):
        self.order, self.workflow, self._ground = ground.order(word), ground.inbound(), ground

    def deliver(self):
        told = self._ground.gate.deliver(self.order)
        if told.status not in (200, 202):
            raise RuntimeError(f"/in: {told}")

    def settled(self):
        # A worker that was away is asked less often, and a call that n8n does not answer while it starts keeps its lease.
        self._ground.gate.settled("lead", f"order:{self.order}", 180)


def a_kill_in_the_middle_of_a_model_call_is_taken_over_and_makes_one_effect(ground, counts):
    what, forms = "kill -9 in a model call", ground.forms
    lines = {table.BARE: Line(ground, "killed", forms.bare), table.OUT: Line(ground, "killed", forms.door),
             table.PLAIN: Line(ground, "killed", lambda name: forms.plain(name, lease_ms=LEASE_MS)),
             table.NODE: Line(ground, "killed", lambda name: forms.node(name, lease_ms=LEASE_MS)),
             table.INBOUND: InboundLine(ground, "killed")}
    for line in lines.values():
        ground.model.hold(line.order)
        line.deliver()
    for line in lines.values():
        web.until("the model is asked", lambda line=line: ground.model.called(line.order), 30)

    restart_after_kill(ground, lines)
    lines[table.INBOUND].settled()

    for way, line in lines.items():
        # The inbound door has brought the event again by itself, once its lease was over.
        counts.count(f"{what}, n8n started again", way, line.effects(), 1 if way == table.INBOUND else 0)
    for way, line in lines.items():
        before = len(ground.n8n.executions(line.workflow))
        line.deliver()
        if way != table.INBOUND:
            ground.n8n.ended(line.workflow, before + 1)
        if way in table.LEASED or way == table.INBOUND:
            line.settled()
            run = ground.gate.run_of("lead", f"order:{line.order}")
            # The inbound door's call to an n8n that starts may be a claim of its own.
            good = run["attempts"] >= 2 if way == table.INBOUND else run["attempts"] == 2
            counts.must(f"{way}: the lease was taken over: {run['attempts']} claims", good, run)
        counts.count(f"{what}, and the event delivered again", way, line.effects(), 1)
    for way, line in lines.items():
        line.retry_the_crashed()
        counts.count(f"{what}, and Retry pressed on the crashed execution", way, line.effects(), 2 if way == table.BARE else 1)


def a_kill_between_the_effect_and_its_answer_makes_one_effect(ground, counts):
    what = "kill -9 between the effect and its answer"
    lines = {table.BARE: Line(ground, "cut", ground.forms.bare), table.OUT: Line(ground, "cut", ground.forms.door)}
    for line in lines.values():
        ground.provider.plan(line.order, ("delay", 1.5))
        line.deliver()
    for line in lines.values():
        web.until("the effect happened", lambda line=line: line.effects(), 30, 0.02)

    restart_after_kill(ground, lines)

    for way, line in lines.items():
        line.retry_the_crashed()
        counts.count(f"{what}, and Retry pressed", way, line.effects(), 2 if way == table.BARE else 1)


def restart_after_kill(ground, lines):
    """Kills n8n, starts it, and waits until it has noticed which executions had crashed."""
    ground.n8n.kill()
    ground.n8n.start()
    for line in lines.values():
        ground.n8n.ended(line.workflow)


SENTENCES = [a_kill_in_the_middle_of_a_model_call_is_taken_over_and_makes_one_effect,
             a_kill_between_the_effect_and_its_answer_makes_one_effect]
