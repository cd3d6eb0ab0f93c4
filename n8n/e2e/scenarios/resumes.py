"""Executions that wait for a decision and are resumed by the gate. `After` is what the workflow does once it goes on: a plain
request to the provider, so every continuation is counted."""
from lab import flow, table, web
from lab.forms import ORDER

MANY = 10


def plain(forms, name):
    """HTTP Request nodes and a Wait node: the proposal says where the execution will wait."""
    resume = "{url: $execution.resumeUrl, execution: $execution.id, node: 'wait'}"
    nodes = forms.reserve("reply"), forms.granted(), forms.draft(), forms.propose(resume=resume), flow.wait("Wait"), after(forms)
    return flow.chain(name, flow.webhook(name), *nodes)


def node(forms, name):
    """The community node: Send and Wait behind the output "Waiting for a Person" of Propose, which is its second."""
    decision = forms.gated("Decision", "approval", "sendAndWait", {"waitFor": "approval"}, webhookId=f"{name}-decision")
    nodes = forms.reserve_node("reply"), forms.draft(), forms.propose_node(), decision, after(forms)
    waiting = {"Propose": {"main": [[], [{"node": "Decision", "type": "main", "index": 0}]]}}
    return flow.chain(name, flow.webhook(name), *nodes, wires=waiting)


def after(forms):
    return flow.http("After", forms.direct + "/continued", "{order: 'after-' + " + ORDER + "}")


FORMS = {table.PLAIN: plain, table.NODE: node}


def a_decision_while_n8n_is_down_sends_the_effect_and_resumes_the_execution_once(ground, counts):
    what, parked = "decided while n8n is down", {way: park(ground, form) for way, form in FORMS.items()}

    ground.n8n.stop()
    for order, approval, _ in parked.values():
        ground.gate.decide(approval)
        ground.gate.settled("reply", f"order:{order}")
    for way, (order, _, _) in parked.items():
        counts.count(f"{what}, with a waiting execution", way, ground.provider.effects(order), 1)
    ground.n8n.start()
    for way, (order, _, workflow) in parked.items():
        ground.n8n.ended(workflow, timeout=180)
        counts.count(f"{what}, continued after it is back", way, ground.provider.effects(f"after-{order}"), 1)
        counts.count(f"{what}, effects after it is back", way, ground.provider.effects(order), 1)


def hc_45_a_lost_answer_to_a_resume_continues_the_execution_once(ground, counts):
    for way, form in FORMS.items():
        order, approval, workflow = park(ground, form)
        ground.back.strike("forward-then-drop-response", path="/webhook-waiting/")
        ground.gate.decide(approval)
        ground.n8n.ended(workflow, timeout=120)
        ground.gate.settled("n8n-resume", f"resume:{approval}", 120)
        counts.count("the answer to a resume is lost: continued", way, ground.provider.effects(f"after-{order}"), 1)
        counts.count("the answer to a resume is lost: effects", way, ground.provider.effects(order), 1)


def hc_45_a_decision_before_the_execution_is_parked_still_resumes_it(ground, counts):
    order, name = ground.order("early"), ground.name("early")
    resume = "{url: $execution.resumeUrl, execution: $execution.id, node: 'wait'}"
    forms = ground.forms
    # The decision comes while the execution is still busy: n8n answers "running", which is no end.
    busy = flow.http("Busy", forms.direct + "/busy", "{order: 'busy-' + " + ORDER + "}")
    nodes = forms.reserve("reply"), forms.granted(), forms.draft(), forms.propose(resume=resume), busy, flow.wait("Wait"), after(forms)
    workflow = ground.n8n.deploy(flow.chain(name, flow.webhook(name), *nodes))
    ground.provider.plan(f"busy-{order}", ("delay", 3))

    web.ask("POST", ground.n8n.hook(name), {"order": order})
    ground.gate.decide(ground.gate.asked("reply", f"order:{order}"))
    ground.n8n.ended(workflow, timeout=120)
    counts.count("decided before the execution waits: continued", table.PLAIN, ground.provider.effects(f"after-{order}"), 1)


def ten_decisions_at_once_continue_ten_executions_once_each(ground, counts):
    for way, form in FORMS.items():
        name = ground.name("many")
        workflow = ground.n8n.deploy(form(ground.forms, name))
        orders = [ground.order("many") for _ in range(MANY)]
        for order in orders:
            web.ask("POST", ground.n8n.hook(name), {"order": order})
        for approval in [ground.gate.asked("reply", f"order:{order}") for order in orders]:
            ground.gate.decide(approval)
        ground.n8n.ended(workflow, MANY, 180)
        seen = sum(ground.provider.effects(f"after-{order}") for order in orders)
        counts.count(f"{MANY} waiting executions, all decided: continued", way, seen, MANY)


def park(ground, form):
    """An execution that waits: its order, the approval, its workflow."""
    order, name = ground.order("parked"), ground.name("parked")
    workflow = ground.n8n.deploy(form(ground.forms, name))
    web.ask("POST", ground.n8n.hook(name), {"order": order})
    ground.n8n.waiting(workflow)
    return order, ground.gate.asked("reply", f"order:{order}"), workflow


SENTENCES = [a_decision_while_n8n_is_down_sends_the_effect_and_resumes_the_execution_once,
             hc_45_a_lost_answer_to_a_resume_continues_the_execution_once,
             hc_45_a_decision_before_the_execution_is_parked_still_resumes_it,
             ten_decisions_at_once_continue_ten_executions_once_each]
