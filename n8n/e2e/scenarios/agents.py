"""Agents. The model is a stubborn one: it calls its tool twice at once, and a third time in other words, whatever it was told.
The other one does what it reads: n8n tells a model about a lost answer "You can retry the request immediately"."""
from lab import flow, table, web
from lab.forms import ORDER

KEY = "={{ 'order:' + " + ORDER + " }}"
TEXT = "$fromAI('text', 'what to write', 'string')"
ABOUT = "Writes a note about the order"


def a_model_that_calls_its_tool_three_times_makes_one_effect(ground, counts):
    what = "an agent whose model calls its tool three times"
    for way, (tool, want) in tools(ground, 3).items():
        order = ground.order("agent")
        ground.model.script(order, stubborn(order))
        run_agent(ground, tool, order)
        counts.count(what, way, ground.provider.effects(order), want)


def a_model_that_is_told_to_retry_a_lost_answer_makes_one_effect(ground, counts):
    what = "an agent whose tool's answer is lost"
    for way, (tool, want) in tools(ground, 2).items():
        order = ground.order("told")
        loss = Loss(ground, way)
        ground.model.script(order, obedient(order, loss.before_call))
        run_agent(ground, tool, order)
        ground.pass_everything()
        counts.must(f"{way}: the model was told of the loss and called again", loss.calls == 2, loss.calls)
        counts.count(what, way, ground.provider.effects(order), want)


def an_agents_tool_behind_human_review_runs_only_when_it_was_approved(ground, counts):
    for decision, want in (("approve", 1), ("reject", 0)):
        order, forms = ground.order("reviewed"), ground.forms
        ground.model.script(order, obedient(order))
        tool = flow.http_tool("note", ABOUT, forms.direct + "/bare", "{order: " + ORDER + ", text: " + TEXT + "}")
        key = {"keyMode": "whole", "key": "=review:{{ " + ORDER + " }}"}
        asks = {"waitFor": "question", "flow": "questions", "questionType": "decision", "message": "=May {{ $tool.name }} run?", **key}
        review = forms.gated("Review", "approval", "sendAndWait", asks, webhookId=ground.name("review"))
        review["type"] += "HitlTool"
        name = ground.name("reviewed")
        workflow = flow.agent(name, name, "=Write a note about {{ " + ORDER + " }}", flow.chat_model(forms.credential("openAiApi")), review)
        workflow["nodes"].append(tool)
        workflow["connections"]["note"] = {"ai_tool": [[{"node": "Review", "type": "ai_tool", "index": 0}]]}
        number = ground.n8n.deploy(workflow)
        web.ask("POST", ground.n8n.hook(name), {"order": order})
        ground.n8n.waiting(number)
        ground.gate.decide(ground.gate.run_of("questions", f"review:{order}")["approval"]["id"], decision)
        ground.n8n.ended(number, timeout=120)
        counts.count(f"an agent's tool behind Human review, {decision}", table.NODE, ground.provider.effects(order), want)


class Loss:
    """Loses the answer to the first call of a tool. `_WHERE` says at which relay, at which path, and how many requests of that
    path come before the call: n8n's MCP client begins each call with initialize, initialized and tools/list."""

    _WHERE = {table.BARE: ("far", "/bare", 0), table.OUT: ("near", "/out", 0), table.TOOLS: ("near", "/v1/tools", 0),
              table.MCP: ("near", "/mcp", 3)}

    def __init__(self, ground, way):
        relay, self._path, self._before = self._WHERE[way]
        self._relay, self.calls = getattr(ground, relay), 0

    def before_call(self):
        self.calls += 1
        if self.calls > 1:
            return
        if self._before:
            self._relay.strike("forward-and-respond", self._before, self._path)
        self._relay.strike("forward-then-drop-response", path=self._path)


def tools(ground, bare):
    """The same tool without the gate and through it, and how many effects it makes."""
    forms = ground.forms
    header = forms.credential("httpHeaderAuth")
    body = "{order: " + ORDER + ", text: " + TEXT + "}"
    return {
        table.BARE: (flow.http_tool("note", ABOUT, forms.direct + "/bare", body), bare),
        table.OUT: (flow.http_tool("note", ABOUT, forms.gate + "/out/crm/out-notes", body, {"Idempotency-Key": KEY}, credentials=header), 1),
        table.TOOLS: (flow.http_tool("note", ABOUT, forms.gate + "/v1/tools/lead/note", "{target: " + ORDER + ", ...(" + body + ")}",
                                     {"Idempotency-Key": KEY}, credentials=header), 1),
        table.MCP: (flow.mcp_tool("Effectgate", "=" + forms.gate + "/mcp/lead?key={{ encodeURIComponent('order:' + " + ORDER + ") }}",
                                  forms.credential("httpBearerAuth")), 1),
    }


def run_agent(ground, tool, order):
    name = ground.name("agent")
    workflow = flow.agent(name, name, "=Write a note about {{ " + ORDER + " }}", flow.chat_model(ground.forms.credential("openAiApi")), tool)
    number = ground.n8n.deploy(workflow)
    web.ask("POST", ground.n8n.hook(name), {"order": order})
    ended = ground.n8n.ended(number)[0]
    if ended["status"] != "success":
        raise RuntimeError(f"the agent ended with {ground.n8n.execution(ended['id'])['data']['resultData'].get('error')}")


def stubborn(order):
    def replies(messages, offered):
        asked = sum(len(message.get("tool_calls") or []) for message in messages)
        call = lambda text: (offered[0]["function"]["name"], arguments(offered[0], order, text))
        return [call("a note"), call("a note")] if asked == 0 else [call("another note")] if asked < 3 else "done"
    return replies


def obedient(order, before_call=lambda: None):
    """Calls once, and again when it is told of a loss; `before_call` is called just before each."""
    def replies(messages, offered):
        told, asked = messages[-1], sum(len(message.get("tool_calls") or []) for message in messages)
        again = told["role"] == "tool" and ("retry" in str(told["content"]).lower() or "fetch failed" in str(told["content"]))
        if asked and not (again and asked < 3):
            return "done"
        before_call()
        return [(offered[0]["function"]["name"], arguments(offered[0], order, "a note"))]
    return replies


def arguments(tool, order, text):
    """What the tool's schema asks for, and nothing else."""
    known = {"text": text, "order": order, "target": order}
    return {name: known[name] for name in tool["function"]["parameters"]["properties"] if name in known}


SENTENCES = [a_model_that_calls_its_tool_three_times_makes_one_effect, a_model_that_is_told_to_retry_a_lost_answer_makes_one_effect,
             an_agents_tool_behind_human_review_runs_only_when_it_was_approved]
