"""The workflows of `n8n/examples` as somebody imports them, each form played once against a gate with the config that lies beside
them. The other side is the workflow far-side.json: each of its executions is one effect."""
import json
import pathlib
import shutil

from lab import table, web
from lab.gate import KEY, Gate, signed
from lab.house import PASSWORD, PERSON, SECRET

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"
FORMS = {"node": table.NODE, "http": table.PLAIN}
REPLY = json.dumps({"label": "question", "reply": {"text": "It left today."}})


class House(Gate):
    """A gate with the examples' own config; only addresses and the secret are put in."""

    def begin_examples(self, n8n, back):
        shutil.copytree(FOLDER, self._folder)
        text = (FOLDER / "effectgate.toml").read_text()
        text = text.replace('[n8n]\nurl = "http://127.0.0.1:5678"', f'[n8n]\nurl = "{n8n}"\nallow_urls = ["{back}"]')
        text = text.replace("http://127.0.0.1:5678", n8n).replace("env:SHOP_SECRET", SECRET)
        head = f'[server]\nlisten = "127.0.0.1:{self._port}"\n[sweeper]\nperiod_ms = 200\n'
        (self._folder / "effectgate.toml").write_text(head + text)
        self._run("check", "effectgate.toml")
        self._run("user", "add", PERSON, "--roles", "support-lead,refunds,operator", EFFECTGATE_PASSWORD=PASSWORD)
        self.start()

    def send(self, event):
        """An event of the shop, signed."""
        raw = json.dumps(event).encode()
        return web.ask("POST", self.url + "/in/shop", raw, signed(raw))


def the_examples_can_be_imported_and_do_each_thing_once(ground, counts):
    gate = House(ground.gate._binary, ground.gate._folder.parent / "examples")
    gate.begin_examples(ground.n8n.url, ground.back.url)
    try:
        play(ground, counts, gate)
    finally:
        gate.close()


def play(ground, counts, gate):
    imports = Imports(ground, gate)
    far = imports.deploy("far-side")
    # Only ended ones: between running and ended n8n's lists may leave one out for a moment.
    seen = lambda: sum(1 for execution in ground.n8n.executions(far) if execution["status"] == "success")
    ground.model.script("You draft replies", lambda messages, tools: REPLY)
    ground.model.script("You help with orders", agent)
    for form, way in FORMS.items():
        for example in (lead, ticket, handover, refund, shop, tools):
            before = seen()
            expected = example(ground, gate, imports, form)
            web.until("the far side is reached", lambda: seen() >= before + expected, 60)
            counts.count(f"example {example.__name__}, everything twice", way, seen() - before, expected)


class Imports:
    """Files of the folder with this lab's addresses and credentials in them."""

    def __init__(self, ground, gate):
        n8n = self._n8n = ground.n8n
        self._addresses = {"http://127.0.0.1:8787": gate.url, "http://127.0.0.1:11434": ground.model.url,
                           "https://drafter.example.com": ground.model.url, "http://127.0.0.1:5678": n8n.url}
        self._credentials = n8n.credential("examples", "effectgateApi", {"baseUrl": gate.url, "apiKey": KEY})
        self._credentials |= n8n.credential("examples", "httpHeaderAuth", {"name": "Authorization", "value": f"Bearer {KEY}"})
        self._credentials |= n8n.credential("examples", "httpBearerAuth", {"token": KEY})
        self._credentials |= n8n.credential("examples", "openAiApi", {"apiKey": "none", "url": ground.model.url + "/v1", "header": False})

    def deploy(self, name):
        text = (FOLDER / f"{name}.json").read_text()
        for ours, here in self._addresses.items():
            text = text.replace(ours, here)
        workflow = json.loads(text)
        for node in workflow["nodes"]:
            kind = self._kind(node)
            if kind:
                node["credentials"] = {kind: self._credentials[kind]}
        return self._n8n.deploy({part: workflow[part] for part in ("name", "nodes", "connections", "settings")})

    def withdraw(self, workflow, path):
        self._n8n.unpublish(workflow, path)

    @staticmethod
    def _kind(node):
        if node["type"].startswith("n8n-nodes-effectgate."):
            return "effectgateApi"
        langchain = {"lmChatOpenAi": "openAiApi", "mcpClientTool": "httpBearerAuth"}
        return langchain.get(node["type"].rsplit(".", 1)[1]) or node["parameters"].get("genericAuthType")


def path(name, form):
    return f"effectgate-{name}" + ("-http" if form == "http" else "")


def twice(ground, hook, body):
    return [web.ask("POST", ground.n8n.hook(hook), body) for _ in range(2)]


def lead(ground, gate, imports, form):
    imports.deploy(f"lead-to-crm.{form}")
    twice(ground, path("lead", form), {"id": f"lead-{form}", "version": 1, "email": "anna@example.test", "name": "Anna"})
    return 1


def ticket(ground, gate, imports, form):
    workflow, comment = imports.deploy(f"ticket-reply.{form}"), f"comment-{form}"
    twice(ground, path("ticket", form), {"ticket": f"t-{form}", "comment": comment, "text": "Where is it?"})
    gate.decide(gate.asked("ticket-reply", f"desk:comment.created:{comment}:1"))
    ground.n8n.ended(workflow, 2, 120)
    return 1


def handover(ground, gate, imports, form):
    imports.deploy(f"draft-handover.{form}")
    comment = f"handed-{form}"
    twice(ground, path("handover", form), {"ticket": f"t-{form}", "comment": comment, "text": "Where is it?"})
    gate.decide(gate.asked("draft-handover", f"desk:draft.requested:{comment}:1"))
    return 1


def refund(ground, gate, imports, form):
    imports.deploy(f"refund.{form}")
    twice(ground, path("refund", form), {"order": f"o-{form}", "refund": "1", "amount_minor": 500})
    gate.decide(gate.asked("out.pay", f"refund:o-{form}:1"))
    return 1


def shop(ground, gate, imports, form):
    """Two good events, the first sent twice, and one that breaks the schema and stays where it is."""
    workflow = imports.deploy(f"quarantine-and-replay.{form}")
    good = lambda version: {"type": "order.paid", "data": {"id": f"shop-{form}", "version": version, "total_minor": 1250}}
    answers = [gate.send(event).body["answer"] for event in (good(1), good(1), good(2), {"type": "order.paid", "data": {"id": f"bad-{form}", "version": 1}})]
    if answers != ["accepted", "duplicate", "accepted", "quarantined"]:
        raise RuntimeError(f"the door said {answers}")
    for version in (1, 2):
        gate.settled("order-event", f"shop:order.paid:shop-{form}:{version}", 60)
    imports.withdraw(workflow, "effectgate-order-event")
    return 2


def tools(ground, gate, imports, form):
    """A model that calls each tool twice: one note, one refund after a decision; in the node form a coupon after one as well."""
    imports.deploy(f"agent-tools.{form}")
    ticket_id = f"agent-{form}"
    web.ask("POST", ground.n8n.hook(path("agent", form)), {"ticket": ticket_id, "order": f"order-{form}", "text": "I want my money back"})
    # The colon of the key stands encoded in the run's key, and that goes into a query as it is.
    key = f"ticket%253A{ticket_id}"
    if form == "node":
        gate.decide(gate.asked("questions", f"coupon:{ticket_id}"))
    gate.decide(gate.asked("support-agent", f"tool:refund:{key}:1"))
    return 3 if form == "node" else 2


def agent(messages, offered):
    """Calls each tool until it has called it twice; the coupon once, because its question is asked once."""
    called = [call["function"]["name"] for message in messages for call in message.get("tool_calls") or []]
    told = json.dumps(messages)
    order = told.split("Order ", 1)[1].split(".", 1)[0]
    known = {"order": order, "target": order, "text": "a note", "amount_minor": 500}
    for tool in offered:
        name, asks = tool["function"]["name"], tool["function"]["parameters"].get("properties", {})
        if called.count(name) < (1 if "coupon" in name else 2):
            return [(name, {member: known[member] for member in asks if member in known})]
    return "done"


SENTENCES = [the_examples_can_be_imported_and_do_each_thing_once]
