"""The same webhook more than once."""
import json

from lab import table, web
from lab.gate import signed
from lab.house import SECRET

TEN = 10


def ten_identical_webhooks_at_once_make_one_effect(ground, counts):
    what = "ten identical webhooks at once"
    ways = {table.BARE: (ground.forms.bare, TEN), table.PLAIN: (ground.forms.plain, 1), table.OUT: (ground.forms.door, 1),
            table.NODE: (ground.forms.node, 1)}

    for way, (form, want) in ways.items():
        order, name = ground.order("ten"), ground.name("ten")
        workflow = ground.n8n.deploy(form(name))
        web.burst(TEN, "POST", ground.n8n.hook(name), {"order": order})
        ground.n8n.ended(workflow, TEN)
        if way in table.LEASED:
            ground.gate.settled("lead", f"order:{order}")
        counts.count(what, way, ground.provider.effects(order), want)


def ten_identical_webhooks_at_once_at_the_inbound_door_make_one_effect(ground, counts):
    what, order, workflow = "ten identical webhooks at once", ground.order("ten"), ground.inbound()
    raw = json.dumps({"order": order, "key": f"order:{order}"}).encode()
    before = len(ground.n8n.executions(workflow))

    told = web.burst(TEN, "POST", ground.gate.url + "/in/shop", {"order": order, "key": f"order:{order}"}, signed(raw))
    ground.gate.settled("lead", f"order:{order}")
    counts.count(what, table.INBOUND, ground.provider.effects(order), 1)
    answers = sorted(answer.body["answer"] for answer in told)
    counts.must("one is accepted, nine are told they are duplicates", answers == ["accepted"] + ["duplicate"] * 9, answers)
    executions = len(ground.n8n.ended(workflow, before + 1)) - before
    counts.must("n8n ran once", executions == 1, executions)

    forged = ground.gate.deliver(ground.order("forged"), SECRET[:-8] + "AAAAAAA=")
    counts.must("a forged signature is turned away", forged.status == 401, forged)


SENTENCES = [ten_identical_webhooks_at_once_make_one_effect, ten_identical_webhooks_at_once_at_the_inbound_door_make_one_effect]
