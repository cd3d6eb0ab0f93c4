"""The gate under test: the binary over SQLite in a folder of the run, its config, and what the lab asks it: as a worker with
an API key, and as a signed-in person where something is decided."""
import os
import subprocess

from . import web
from .process import Program, free_port

KEY = "a-key-of-the-lab-only-0123456789-abcdef"
PERSON, PASSWORD = "lena", "a-password-of-the-lab"

# Two providers behind the relay: `crm` promises nothing, `pay` keeps our key. Flow `lead` writes a note at once, `refund`
# pays at once, `reply` writes a note that a person decides about. Windows and pauses are short; nothing else is unusual.
CONFIG = """
[server]
listen = "127.0.0.1:{port}"
public_url = "http://127.0.0.1:{port}"
[database]
url = "sqlite:gate.db"
[actions]
enabled = true
[dispatcher]
period_ms = 100
[sweeper]
period_ms = 200

[providers.crm]
kind = "http"
class = "advisory"
url = "{far}"
allow_private = true
timeout_ms = 2_000
sending_margin_ms = 500
backoff = {{ base_ms = 100, max_ms = 500 }}
breaker = {{ failures = 1000 }}
effects.note = {{ path = "/notes", external_id = "/id" }}
effects.note_of_node = {{ path = "/node-notes", external_id = "/id" }}
out = {{ gate = "none", impact = "low", reversible = true, paths = ["/out-notes"], external_id = "/id", wait_ms = 5_000 }}

[providers.pay]
kind = "http"
class = "enforcing"
url = "{far}"
allow_private = true
timeout_ms = 2_000
sending_margin_ms = 500
key_header = "Idempotency-Key"
key_window_ms = 3_600_000
key_window_margin_ms = 60_000
backoff = {{ base_ms = 100, max_ms = 500 }}
breaker = {{ failures = 1000 }}
effects.payment = {{ path = "/payments", external_id = "/id" }}
effects.payment_of_node = {{ path = "/node-payments", external_id = "/id" }}
out = {{ gate = "none", impact = "low", reversible = true, paths = ["/out-payments"], external_id = "/id", wait_ms = 5_000 }}

[flows.lead]
key = "given"
lease_ms_min = 500
effects.note = {{ provider = "crm", impact = "low", reversible = true, gate = "none" }}
effects.note_of_node = {{ provider = "crm", impact = "low", reversible = true, gate = "none" }}
[flows.refund]
key = "given"
lease_ms_min = 500
effects.payment = {{ provider = "pay", impact = "low", reversible = true, gate = "none" }}
effects.payment_of_node = {{ provider = "pay", impact = "low", reversible = true, gate = "none" }}
[flows.reply]
key = "given"
effects.note = {{ provider = "crm", impact = "low", reversible = true, gate = "approve" }}
approval = {{ audience = ["role:lead"], login = "required" }}
"""


class Gate:
    def __init__(self, binary, folder, far, more=""):
        """`far` is where its providers are; `more` is added to the config."""
        self._binary, self._folder, self._port = binary, folder, free_port()
        self.url, self._program, self._cookie = f"http://127.0.0.1:{self._port}", None, None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "effectgate.toml").write_text(CONFIG.format(port=self._port, far=far) + more)
        self._run("check", "effectgate.toml")
        self._run("user", "add", PERSON, "--roles", "lead,switch_owner", EFFECTGATE_PASSWORD=PASSWORD)
        self.start()

    def start(self):
        env = {**self._env(), "EFFECTGATE_BOOTSTRAP_KEY": KEY}
        self._program = Program([self._binary, "serve"], self._folder / "gate.log", env, self._folder)
        web.until("the gate is ready", self._ready, 30)

    def close(self):
        self._program.stop()

    def ask(self, method, path, body=None):
        """As a program, with the API key."""
        return web.ask(method, self.url + path, body, {"authorization": f"Bearer {KEY}"})

    def run_of(self, flow, key):
        """The run of a key, or None."""
        found = self.ask("GET", f"/v1/runs?flow={flow}&key={key.replace(':', '%3A')}").body["runs"]
        return found[0] if found else None

    def settled(self, flow, key, timeout=30):
        """Waits until nothing of the run moves by itself any more, and returns it: it ended, a person has it, or an effect
        is on the review desk."""
        return web.until(f"{flow} {key} settles", lambda: self._at_rest(flow, key), timeout)

    def look_for_a_person(self, run, happened):
        """What a person does at the review desk who has looked at the far side: settles every effect nobody knows about.
        Gives how many there were."""
        review = [effect for effect in run["effects"] if effect["state"] == "review"]
        for effect in review:
            word = {"verdict": "happened"} if happened else {"verdict": "did_not_happen", "then": "send_again"}
            told = self.ask("POST", f"/v1/effects/{effect['id']}/resolve", {**word, "reason": "looked at the provider"})
            if told.status != 200:
                raise RuntimeError(f"resolve: {told}")
        return len(review)

    def decide(self, approval, decision="approve"):
        """As a person of the audience, with the hash of what the gate shows now."""
        shown = self._person("GET", f"/v1/approvals/{approval}").body
        body = {"decision": decision, "effects_hash": shown["effects_hash"], "reason": "decided by the lab"}
        return self._person("POST", f"/v1/approvals/{approval}/decide", body)

    def switch(self, enabled):
        """The kill switch of the whole gate."""
        told = self.ask("PUT", "/v1/switches", {"scope": "all", "enabled": enabled, "reason": "the lab"})
        if told.status != 200:
            raise RuntimeError(f"switch: {told}")

    def _at_rest(self, flow, key):
        run = self.run_of(flow, key)
        open_states = ("pending", "scheduled", "leased", "sending", "unknown")
        moving = run and (run["state"] == "processing" or any(effect["state"] in open_states for effect in run["effects"]))
        return None if moving else run

    def _person(self, method, path, body=None):
        if self._cookie is None:
            told = web.ask("POST", self.url + "/v1/session", {"user": PERSON, "password": PASSWORD})
            self._cookie = told.headers["set-cookie"].split(";")[0]
        return web.ask(method, self.url + path, body, {"cookie": self._cookie, "effectgate-csrf": "1"})

    def _ready(self):
        self._program.must_run()
        return web.ask("GET", self.url + "/readyz").status == 200

    def _env(self):
        return {name: value for name, value in os.environ.items() if not name.startswith(("EFFECTGATE", "AI_ACTIONS"))}

    def _run(self, *arguments, **env):
        done = subprocess.run([self._binary, *arguments], cwd=self._folder, env={**self._env(), **env}, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"effectgate {' '.join(arguments)}: {done.stdout} {done.stderr}")
