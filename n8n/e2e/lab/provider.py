"""The far side: a provider that executes what reaches it and counts it, by the order in the body and by the key in the header.

Paths with `payments` in them execute once for each `Idempotency-Key` and give the first answer again (enforcing); every other
path executes whatever comes (advisory: a repeat is a second effect). Everything the run reports as an effect is counted here."""
import threading
import time

from .server import DROP, Server


class Provider(Server):
    def __init__(self):
        self._lock, self._effects, self._plans, self._first = threading.Lock(), [], {}, {}
        super().__init__()

    def plan(self, order, *steps):
        """What becomes of the next requests for this order, one step each, then all succeed. `("act", 500)` executes and
        answers 500; `("skip", 503)` answers without executing; `("act", "drop")` executes and closes; `("delay", seconds)`
        executes, waits and answers."""
        with self._lock:
            self._plans[order] = list(steps)

    def effects(self, order):
        """How often something was executed for this order."""
        with self._lock:
            return sum(1 for effect in self._effects if effect["order"] == order)

    def told(self, order):
        """The effects of this order: key, path, body, time."""
        with self._lock:
            return [effect for effect in self._effects if effect["order"] == order]

    def answer(self, request):
        order = request.body.get("order") if isinstance(request.body, dict) else None
        with self._lock:
            steps = self._plans.get(order)
            kind, value = steps.pop(0) if steps else ("act", 201)
            effect = None if kind == "skip" else self._execute(request, order)
        if kind == "delay":
            time.sleep(value)
        if value == "drop":
            return DROP
        status = value if kind in ("act", "skip") else 201
        return (status, {"id": effect} if status < 400 else {"error": "planned"})

    def _execute(self, request, order):
        key = request.headers.get("idempotency-key")
        if "payments" in request.path and key in self._first:
            return self._first[key]
        name = f"ext-{len(self._effects) + 1}"
        self._effects.append({"id": name, "order": order, "key": key, "path": request.path, "body": request.body, "at": time.time()})
        if key:
            self._first.setdefault(key, name)
        return name
