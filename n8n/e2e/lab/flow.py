"""n8n workflows as the API takes them, written node by node. What a workflow does stands in the scenarios and in `forms.py`."""

def expression(code):
    """Two closing braces in a row would end the expression for n8n, wherever they stand."""
    return "={{ JSON.stringify(" + code.replace("}}", "} }") + ") }}"


RETRY = {"retryOnFail": True, "maxTries": 3, "waitBetweenTries": 200}


def node(name, kind, version, parameters, **more):
    return {"id": name.lower().replace(" ", "-"), "name": name, "type": kind, "typeVersion": version, "position": [0, 0],
            "parameters": parameters, **more}


def webhook(path, mode="onReceived"):
    """`mode`: onReceived answers at once, lastNode and responseNode with what the workflow says."""
    parameters = {"httpMethod": "POST", "path": path, "responseMode": mode, "options": {}}
    return node("Webhook", "n8n-nodes-base.webhook", 2.1, parameters, webhookId=path)


def http(name, url, body, headers=None, timeout=10_000, method="POST", **more):
    """An HTTP Request node; `body` is the inside of an expression."""
    parameters = {"method": method, "url": url, "options": {"timeout": timeout}}
    if body is not None:
        parameters |= {"sendBody": True, "specifyBody": "json", "jsonBody": expression(body)}
    if headers:
        parameters |= {"sendHeaders": True, "headerParameters": {"parameters": [{"name": k, "value": v} for k, v in headers.items()]}}
    if "credentials" in more:
        parameters |= {"authentication": "genericCredentialType", "genericAuthType": next(iter(more["credentials"]))}
    return node(name, "n8n-nodes-base.httpRequest", 4.5, parameters, **more)


def when(name, left, right):
    """An IF node: its first output is where the expression `left` equals the text `right`."""
    condition = {"id": "c", "leftValue": "={{ " + left + " }}", "rightValue": right, "operator": {"type": "string", "operation": "equals"}}
    options = {"caseSensitive": True, "leftValue": "", "typeValidation": "loose", "version": 2}
    return node(name, "n8n-nodes-base.if", 2.2, {"conditions": {"options": options, "conditions": [condition], "combinator": "and"}, "options": {}})


def respond(body, name="Respond"):
    parameters = {"respondWith": "json", "responseBody": expression(body), "options": {}}
    return node(name, "n8n-nodes-base.respondToWebhook", 1.5, parameters)


def wait(name, method="POST"):
    """Waits for a call of the execution's resume URL."""
    parameters = {"resume": "webhook", "httpMethod": method, "responseMode": "onReceived", "options": {}}
    return node(name, "n8n-nodes-base.wait", 1.1, parameters, webhookId=f"hook-{name.lower().replace(' ', '-')}")


def chain(name, *nodes, wires=None, settings=None):
    """A workflow whose nodes follow each other by their first output; `wires` adds connections, as n8n writes them."""
    connections = {a["name"]: {"main": [[{"node": b["name"], "type": "main", "index": 0}]]} for a, b in zip(nodes, nodes[1:])}
    for frm, to in (wires or {}).items():
        connections[frm] = to
    placed = [{**each, "position": [220 * index, 0]} for index, each in enumerate(nodes)]
    return {"name": name, "nodes": placed, "connections": connections, "settings": {"executionOrder": "v1", **(settings or {})}}


def agent(name, path, text, model, *tools):
    """A webhook and an agent whose prompt is the expression `text`, with a chat model node and tool nodes."""
    thinks = node("Agent", "@n8n/n8n-nodes-langchain.agent", 3.1, {"promptType": "define", "text": text, "options": {}})
    wires = {model["name"]: {"ai_languageModel": [[{"node": "Agent", "type": "ai_languageModel", "index": 0}]]}}
    for tool in tools:
        wires[tool["name"]] = {"ai_tool": [[{"node": "Agent", "type": "ai_tool", "index": 0}]]}
    workflow = chain(name, webhook(path), thinks, wires=wires)
    workflow["nodes"] += [model, *tools]
    return workflow


def chat_model(credential):
    parameters = {"model": {"__rl": True, "mode": "id", "value": "scripted"}, "options": {"maxRetries": 0}}
    return node("Model", "@n8n/n8n-nodes-langchain.lmChatOpenAi", 1.2, parameters, credentials=credential)


def http_tool(name, description, *arguments, **more):
    """An HTTP Request node as a tool of an agent; arguments as of `http`."""
    tool = http(name, *arguments, **more)
    tool["parameters"]["toolDescription"] = description
    return {**tool, "type": "n8n-nodes-base.httpRequestTool"}


def mcp_tool(name, endpoint, credential):
    """n8n's MCP client over streamable HTTP; `endpoint` may be an expression."""
    parameters = {"endpointUrl": endpoint, "serverTransport": "httpStreamable", "authentication": "bearerAuth", "include": "all", "options": {}}
    return node(name, "@n8n/n8n-nodes-langchain.mcpClientTool", 1.2, parameters, credentials=credential)
