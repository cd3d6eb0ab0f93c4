"""n8n's own ways to do a thing again: Retry On Fail at the node, and Retry of a whole execution."""
from lab import flow, table, web

RETRIES = 5


def five_retries_of_a_failed_execution_at_once_get_the_prior_outcome(ground, counts):
    what = "failed execution, retried five times at once"
    # The effect happened and its answer is lost; with HTTP nodes it is the gate's answer to the proposal that is lost.
    cases = {table.BARE: (ground.forms.bare, 1 + RETRIES, "error"), table.OUT: (ground.forms.door, 1, "error"),
             table.PLAIN: (ground.forms.plain, 1, "success"), table.NODE: (ground.forms.node, 1, "success")}

    for way, (form, want, after) in cases.items():
        order, name = ground.order("again"), ground.name("again")
        workflow = ground.n8n.deploy(form(name))
        if way in table.LEASED:
            ground.near.strike("forward-then-drop-response", path="/v1/runs/")
        else:
            ground.provider.plan(order, *[("act", "drop")] * (1 + RETRIES))
        web.ask("POST", ground.n8n.hook(name), {"order": order})
        failed = ground.n8n.ended(workflow)[0]
        counts.must(f"{way}: the execution failed", failed["status"] == "error", failed["status"])
        url = f"{ground.n8n.url}/api/v1/executions/{failed['id']}/retry"
        web.burst(RETRIES, "POST", url, {}, {"X-N8N-API-KEY": ground.n8n.api_key})
        again = ground.n8n.ended(workflow, 1 + RETRIES)[:RETRIES]
        counts.must(f"{way}: five more executions, each {after}", [e["status"] for e in again] == [after] * RETRIES, again)
        counts.count(what, way, ground.provider.effects(order), want)


def retry_on_fail_at_every_node_does_nothing_twice(ground, counts):
    what = "Retry On Fail at every node, every first answer lost"
    cases = {table.BARE: (ground.forms.bare, 2), table.OUT: (ground.forms.door, 1), table.PLAIN: (ground.forms.plain, 1),
             table.NODE: (ground.forms.node, 1)}

    for way, (form, want) in cases.items():
        order, name = ground.order("lost"), ground.name("lost")
        workflow = ground.n8n.deploy(form(name, **flow.RETRY))
        ground.talk.strike("forward-then-drop-response")
        for path in ("/v1/runs/", "/v1/runs", "/out/"):
            ground.near.strike("forward-then-drop-response", path=path)
        if way == table.BARE:
            ground.far.strike("forward-then-drop-response")
        web.ask("POST", ground.n8n.hook(name), {"order": order})
        ended = ground.n8n.ended(workflow)[0]
        counts.must(f"{way}: n8n shows success", ended["status"] == "success", ended["status"])
        if way in table.LEASED:
            ground.gate.settled("lead", f"order:{order}")
        counts.count(what, way, ground.provider.effects(order), want)
        ground.pass_everything()


SENTENCES = [five_retries_of_a_failed_execution_at_once_get_the_prior_outcome, retry_on_fail_at_every_node_does_nothing_twice]
