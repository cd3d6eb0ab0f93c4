"""`effectgate relay` before an upstream, steered by one-off rules through its control listener (docs/relay.md)."""
from . import web
from .process import Program, free_port


class Relay:
    def __init__(self, binary, upstream, log):
        self.port, control = free_port(), free_port()
        self.url, self._control = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{control}"
        self._program = Program(
            [binary, "relay", "--upstream", upstream, "--listen", f"127.0.0.1:{self.port}", "--control", f"127.0.0.1:{control}"], log)
        web.until("the relay listens", lambda: web.ask("GET", self._control + "/counts").status == 200, 15)

    def strike(self, fault, times=1, path="/", method="POST"):
        """The next `times` exchanges at paths that begin so get this fault."""
        rule = {"fault": fault, "times": times, "matches": {"method": method, "path_prefix": path}}
        told = web.ask("POST", self._control + "/rules", rule)
        if told.status >= 300:
            raise RuntimeError(f"the relay refuses {rule}: {told}")

    def clear(self):
        web.ask("DELETE", self._control + "/rules")

    def counts(self):
        return web.ask("GET", self._control + "/counts").body

    def close(self):
        self._program.stop()
