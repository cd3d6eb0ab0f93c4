"""Decisions of people: while n8n is down, after its workflow was taken back, and clicked ten times."""
from lab import flow, table, web

RESUMES, TRIALS = 10, 20


def a_decision_while_n8n_is_down_still_sends_the_effect(ground, counts):
    what, forms = "decided while n8n is down", ground.forms
    waits, asks = ground.name("wait"), ground.name("ask")
    mine, ours = ground.order("down"), ground.order("down")
    parked = ground.n8n.deploy(waiting(forms, waits))
    asking = ground.n8n.deploy(forms.plain(asks, flow_name="reply"))
    resume = web.ask("POST", ground.n8n.hook(waits), {"order": mine}).body["resume"]
    ground.n8n.waiting(parked)
    web.ask("POST", ground.n8n.hook(asks), {"order": ours})
    ground.n8n.ended(asking)
    approval = ground.gate.run_of("reply", f"order:{ours}")["approval"]["id"]

    ground.n8n.stop()
    clicked = click(resume)
    counts.must("the Wait link reaches nobody", clicked is None or clicked.status >= 500, clicked)
    decided = ground.gate.decide(approval)
    counts.must("the gate takes the decision", decided.status == 200, decided)
    ground.gate.settled("reply", f"order:{ours}")
    counts.count(f"{what}, before it is back", table.BARE, ground.provider.effects(mine), 0)
    counts.count(f"{what}, before it is back", table.PLAIN, ground.provider.effects(ours), 1)
    ground.n8n.start()
    counts.count(f"{what}, n8n started again", table.BARE, ground.provider.effects(mine), 0)
    counts.count(f"{what}, n8n started again", table.PLAIN, ground.provider.effects(ours), 1)


def an_unpublished_workflow_with_the_switch_off_sends_nothing(ground, counts):
    what, forms = "un-published, switch off, then decided", ground.forms
    waits, asks = ground.name("wait"), ground.name("ask")
    mine, ours = ground.order("off"), ground.order("off")
    parked = ground.n8n.deploy(waiting(forms, waits))
    asking = ground.n8n.deploy(forms.plain(asks, flow_name="reply"))
    resume = web.ask("POST", ground.n8n.hook(waits), {"order": mine}).body["resume"]
    ground.n8n.waiting(parked)
    web.ask("POST", ground.n8n.hook(asks), {"order": ours})
    ground.n8n.ended(asking)

    ground.n8n.unpublish(parked, waits)
    ground.n8n.unpublish(asking, asks)
    ground.gate.switch(False)
    try:
        web.ask("POST", resume, {"approved": True})
        ground.n8n.ended(parked)
        approval = ground.gate.run_of("reply", f"order:{ours}")["approval"]["id"]
        counts.must("the decision is taken", ground.gate.decide(approval).status == 200, approval)
        # Longer than ten rounds of the dispatcher: it would have sent by now.
        web.until("the effect waits", lambda: ground.gate.run_of("reply", f"order:{ours}")["state"] == "approved")
        _rest(1.5)
        counts.count(what, table.BARE, ground.provider.effects(mine), 1)
        counts.count(what, table.PLAIN, ground.provider.effects(ours), 0)
    finally:
        ground.gate.switch(True)
    ground.gate.settled("reply", f"order:{ours}")
    counts.count("the switch on again", table.PLAIN, ground.provider.effects(ours), 1)


def hc_45_ten_resumes_at_once_continue_a_wait_and_make_one_effect(ground, counts):
    what, forms = f"ten resumes at once of one Wait, {TRIALS} executions", ground.forms
    # Past the relays: the loser of a resume must find the second Wait, so nothing may be slow in between.
    cases = {table.BARE: (forms.effect_at(ground.provider.url), (TRIALS, RESUMES * TRIALS)),
             table.OUT: (forms.past_the_relay(ground.gate.url).out(), TRIALS)}

    for way, (effect, want) in cases.items():
        name, seen = ground.name("twice"), 0
        # A second Wait soon after the first: n8n looks at the status "waiting" alone, and the loser of the first finds it again.
        second = flow.wait("Wait 2")
        nodes = flow.webhook(name, "responseNode"), answer_with_link(), flow.wait("Wait 1"), effect, second
        workflow = ground.n8n.deploy(flow.chain(name, *nodes))
        for trial in range(TRIALS):
            order = ground.order("twice")
            resume = web.ask("POST", ground.n8n.hook(name), {"order": order}).body["resume"]
            parked = ground.n8n.waiting(workflow)
            web.burst(RESUMES, "POST", resume, {"approved": True})
            _end(ground, parked["id"], resume)
            seen += ground.provider.effects(order)
        counts.count(what, way, seen, want)


def click(link):
    """What a person gets who follows a Wait node's link; None where nobody answers."""
    try:
        return web.ask("POST", link, {"approved": True}, timeout=5)
    except OSError:
        return None


def waiting(forms, name):
    """Without the gate: a draft, a Wait whose link decides, the effect."""
    return flow.chain(name, flow.webhook(name, "responseNode"), forms.draft(), answer_with_link(), flow.wait("Wait"), forms.effect())


def answer_with_link():
    return flow.respond("{resume: $execution.resumeUrl}")


def _end(ground, number, resume):
    """Sends the execution through whatever Wait is left."""
    def look():
        status = ground.n8n.execution(number).get("status")
        if status == "waiting":
            web.ask("POST", resume, {"approved": True})
        return status in ("success", "error", "crashed", "canceled")
    web.until(f"execution {number} ends", look, 60)


def _rest(seconds):
    import time
    time.sleep(seconds)


SENTENCES = [a_decision_while_n8n_is_down_still_sends_the_effect, an_unpublished_workflow_with_the_switch_off_sends_nothing,
             hc_45_ten_resumes_at_once_continue_a_wait_and_make_one_effect]
