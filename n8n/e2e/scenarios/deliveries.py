"""The same webhook more than once."""
from lab import table, web

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


SENTENCES = [ten_identical_webhooks_at_once_make_one_effect]
