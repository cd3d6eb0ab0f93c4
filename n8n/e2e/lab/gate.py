"""The gate under test: the binary over SQLite in a folder of the run, its config, and what the lab asks it: as a worker with
an API key, and as a signed-in person where something is decided."""
import base64
import hashlib
import hmac
import json
import os
import subprocess
import time

from . import web
from .house import NOTE, PASSWORD, PERSON, SECRET, config
from .process import Program, free_port

KEY = "a-key-of-the-lab-only-0123456789-abcdef"


class Gate:
    def __init__(self, binary, folder):
        self._binary, self._folder, self._port = binary, folder, free_port()
        self.url, self._program, self._cookie = f"http://127.0.0.1:{self._port}", None, None

    def begin(self, far, n8n, n8n_key, back):
        """Writes the config and starts: `far` is where its providers are, `n8n` the workflow tool, with a key to look
        there, `back` the address under which what waits there is resumed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "effectgate.toml").write_text(config(self._port, far, n8n, n8n_key, back))
        (self._folder / "note.json").write_text(json.dumps(NOTE))
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

    def deliver(self, order, secret=SECRET):
        """An event at the inbound door, signed as Standard Webhooks says. Gives the answer."""
        raw = json.dumps({"order": order, "key": f"order:{order}"}).encode()
        return web.ask("POST", self.url + "/in/shop", raw, signed(raw, secret))

    def run_of(self, flow, key):
        """The run of a key, or None."""
        found = self.ask("GET", f"/v1/runs?flow={flow}&key={key.replace(':', '%3A')}").body["runs"]
        return found[0] if found else None

    def asked(self, flow, key):
        """Waits until somebody is asked about the run of this key; gives the approval's id."""
        def look():
            run = self.run_of(flow, key)
            return run and run["approval"] and run["approval"]["id"]
        return web.until(f"somebody is asked about {key}", look, 60)

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
        # What came in at the inbound door is queued first, and is brought again by the gate after a failure.
        moving = run and (run["state"] in ("queued", "processing", "failed_retryable") or any(effect["state"] in open_states for effect in run["effects"]))
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


def signed(raw, secret=SECRET):
    """The headers of a Standard Webhooks delivery of these bytes."""
    name, now = f"msg_{time.time_ns()}", str(int(time.time()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{name}.{now}.".encode() + raw, hashlib.sha256).digest()
    return {"webhook-id": name, "webhook-timestamp": now, "webhook-signature": f"v1,{base64.b64encode(mac).decode()}"}
