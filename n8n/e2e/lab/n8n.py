"""A real n8n: started headless, its owner and API key made without a browser, its workflows deployed and its executions read.
What is worked around here (publication that is asynchronous, running executions that a list leaves out) was seen on 2.41.1."""
import http.cookiejar
import urllib.request

from . import web
from .install import environment
from .process import Program, free_port

OWNER = {"email": "owner@lab.invalid", "firstName": "Lab", "lastName": "Owner", "password": "Lab-owner-2026"}
ENDED = ("success", "error", "crashed", "canceled")


class N8n:
    def __init__(self, lab, node, folder, **settings):
        """`lab` has app/, `node` is the folder of Node's binary, `folder` gets n8n's data; `settings` are added to its environment."""
        self._lab, self._node, self._folder, self.settings = lab, node, folder, settings
        self._port, self._broker = free_port(), free_port()
        self.url, self._key, self._program = f"http://127.0.0.1:{self._port}", None, None

    def start(self):
        """Starts it and waits until it is ready: 16 to 140 s were seen, by the machine's load."""
        log, command = self._folder / "n8n.log", ["node", "node_modules/n8n/bin/n8n", "start"]
        command[0] = str(self._node / "node")
        self._program = Program(command, log, self._env(), self._lab / "app")
        web.until("n8n is ready", self._ready, 300, 0.5)

    def kill(self):
        """kill -9."""
        self._program.kill()

    def stop(self):
        self._program.stop()

    def set_up(self):
        """Owner, session and an API key with every scope."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        rest = lambda method, path, body=None: web.ask(method, f"{self.url}/rest{path}", body, {"browser-id": "lab"}, opener)
        rest("POST", "/owner/setup", OWNER)
        rest("POST", "/login", {"emailOrLdapLoginId": OWNER["email"], "password": OWNER["password"]})
        scopes = rest("GET", "/api-keys/scopes").body["data"]
        made = rest("POST", "/api-keys", {"label": "lab", "scopes": scopes, "expiresAt": None})
        self._key = made.body["data"]["rawApiKey"]

    def api(self, method, path, body=None):
        return web.ask(method, f"{self.url}/api/v1{path}", body, {"X-N8N-API-KEY": self._key})

    @property
    def api_key(self):
        return self._key

    def credential(self, name, kind, data):
        """Makes a credential and returns what a node's `credentials` says of it."""
        made = self.api("POST", "/credentials", {"name": name, "type": kind, "data": data})
        if made.status != 200:
            raise RuntimeError(f"credential {name}: {made}")
        return {kind: {"id": made.body["id"], "name": name}}

    def deploy(self, workflow):
        """Imports a workflow and publishes it; back when its webhook is there. Gives its id."""
        made = self.api("POST", "/workflows", workflow)
        if made.status != 200:
            raise RuntimeError(f"{workflow['name']}: {made}")
        published = self.api("POST", f"/workflows/{made.body['id']}/publish", {})
        if published.status != 200:
            raise RuntimeError(f"{workflow['name']}: {published}")
        for node in workflow["nodes"]:
            if node["type"] == "n8n-nodes-base.webhook":
                self._until_hook(node["parameters"]["path"])
        return made.body["id"]

    def unpublish(self, workflow, path):
        """Takes a workflow back; back when its webhook is gone."""
        self.api("POST", f"/workflows/{workflow}/unpublish")
        web.until("the webhook is gone", lambda: "Did you mean" not in str(web.ask("GET", self.hook(path)).body), 30)

    def hook(self, path):
        return f"{self.url}/webhook/{path}"

    def executions(self, workflow):
        """All executions of a workflow, newest first. Running ones are asked for by name: a list leaves them out."""
        listed = lambda more: self.api("GET", f"/executions?workflowId={workflow}&limit=100{more}").body["data"]
        found = {execution["id"]: execution for execution in listed("&status=running") + listed("")}
        return sorted(found.values(), key=lambda execution: -int(execution["id"]))

    def execution(self, number):
        """An execution with its data; without a word of it (an empty one) while n8n cannot answer."""
        told = self.api("GET", f"/executions/{number}?includeData=true")
        return told.body if told.status == 200 else {}

    def ended(self, workflow, count=1, timeout=90):
        """Waits until the workflow has `count` executions and none is under way; gives them, newest first."""
        def look():
            found = self.executions(workflow)
            return found if len(found) >= count and all(e["status"] in ENDED for e in found) else None
        return web.until(f"{count} executions of {workflow} end", look, timeout, 0.2)

    def waiting(self, workflow, timeout=30):
        """Waits until an execution of the workflow is parked; gives it."""
        look = lambda: next((e for e in self.executions(workflow) if e["status"] == "waiting"), None)
        return web.until("an execution waits", look, timeout, 0.2)

    def _until_hook(self, path):
        # A GET on a hook that takes POST starts nothing and says "Did you mean to make a POST request" once it is there.
        web.until(f"the webhook {path} is there", lambda: "Did you mean" in str(web.ask("GET", self.hook(path)).body), 60, 0.05)

    def _ready(self):
        self._program.must_run()
        return web.ask("GET", self.url + "/healthz/readiness").status == 200

    def _env(self):
        base = f"http://127.0.0.1:{self._port}"
        settings = {
            "HOME": self._folder, "N8N_USER_FOLDER": self._folder, "DB_TYPE": "sqlite", "N8N_ENCRYPTION_KEY": "lab-only-not-a-secret",
            "N8N_HOST": "127.0.0.1", "N8N_LISTEN_ADDRESS": "127.0.0.1", "N8N_PORT": self._port, "N8N_PROTOCOL": "http",
            "N8N_RUNNERS_BROKER_LISTEN_ADDRESS": "127.0.0.1", "N8N_RUNNERS_BROKER_PORT": self._broker,
            "N8N_EDITOR_BASE_URL": base, "N8N_WEBHOOK_URL": base + "/", "GENERIC_TIMEZONE": "UTC", "TZ": "UTC",
            "N8N_SECURE_COOKIE": "false", "N8N_LICENSE_AUTO_RENEW_ENABLED": "false", "EXTERNAL_FRONTEND_HOOKS_URLS": "",
            "N8N_VERIFIED_PACKAGES_ENABLED": "false", "N8N_UNVERIFIED_PACKAGES_ENABLED": "true",
            "N8N_DISABLED_MODULES": "mcp-registry,insights,instance-version-history", **{name: "false" for name in QUIET}, **self.settings}
        return environment(self._node, **{name: str(value) for name, value in settings.items()})


# Calls to n8n's own services, which a lab without internet would only log as failures.
QUIET = ("N8N_DIAGNOSTICS_ENABLED", "N8N_VERSION_NOTIFICATIONS_ENABLED", "N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED",
         "N8N_TEMPLATES_ENABLED", "N8N_PERSONALIZATION_ENABLED", "N8N_HIRING_BANNER_ENABLED", "N8N_DYNAMIC_BANNERS_ENABLED",
         "N8N_AI_ENABLED")
