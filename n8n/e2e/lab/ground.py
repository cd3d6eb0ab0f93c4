"""Everything of one run, started and stopped together:

    sender -> n8n -> near relay -> gate -> far relay -> provider      (and n8n -> far relay -> provider without the gate)
              n8n -> talk relay -> model          gate -> back relay -> n8n, to resume what waits

Each relay loses what the scenario says, and nothing else."""
import itertools

from .forms import Forms
from .gate import KEY, Gate
from .model import Model
from .n8n import N8n
from .provider import Provider
from .relay import Relay


class Ground:
    def __init__(self, binary, lab, node, folder, **n8n):
        """`n8n` is added to the environment of n8n."""
        self._numbers, self._open = itertools.count(1), []
        self.provider, self.model = self._keep(Provider()), self._keep(Model())
        self.far = self._keep(Relay(binary, self.provider.url, folder / "relay-far.log"))
        self.n8n = N8n(lab, node, folder / "n8n", **n8n)
        self.back = self._keep(Relay(binary, self.n8n.url, folder / "relay-back.log"))
        # Waiting executions are resumed through this relay: their addresses begin so.
        self.n8n.settings["N8N_WEBHOOK_URL"] = self.back.url + "/"
        self.gate = Gate(binary, folder / "gate")
        self.near = self._keep(Relay(binary, self.gate.url, folder / "relay-near.log"))
        self.talk = self._keep(Relay(binary, self.model.url, folder / "relay-model.log"))
        self.forms = self._inbound = None

    def begin(self, with_node=True):
        """Starts n8n with an owner and an API key, the gate, and gives n8n the credentials for it."""
        self.n8n.start()
        self._open.append(_Closing(self.n8n.stop))
        self.n8n.set_up()
        self.gate.begin(self.far.url, self.n8n.url, self.n8n.api_key, self.back.url)
        self._keep(self.gate)
        credentials = self.n8n.credential("gate", "httpHeaderAuth", {"name": "Authorization", "value": f"Bearer {KEY}"})
        credentials |= self.n8n.credential("gate bearer", "httpBearerAuth", {"token": KEY})
        credentials |= self.n8n.credential("model", "openAiApi", {"apiKey": "none", "url": self.talk.url + "/v1", "header": False})
        if with_node:
            credentials |= self.n8n.credential("gate node", "effectgateApi", {"baseUrl": self.near.url, "apiKey": KEY})
        self.forms = Forms(self.near.url, self.far.url, self.talk.url, credentials)

    def inbound(self):
        """The workflow that the inbound door delivers to; its number at n8n."""
        if self._inbound is None:
            self._inbound = self.n8n.deploy(self.forms.delivered())
        return self._inbound

    def order(self, word):
        """A business event of its own: nothing in the lab is counted twice."""
        return f"{word}-{next(self._numbers)}"

    def name(self, word):
        """A name for a workflow and its webhook."""
        return f"lab-{word}-{next(self._numbers)}"

    def pass_everything(self):
        """Every relay forgets what it was told to lose."""
        for relay in (self.far, self.near, self.talk, self.back):
            relay.clear()

    def close(self):
        for part in reversed(self._open):
            part.close()

    def _keep(self, part):
        self._open.append(part)
        return part


class _Closing:
    def __init__(self, close):
        self.close = close
