#!/usr/bin/env python3
"""What the gate adds to an n8n execution: webhook -> reserve at the gate -> respond, beside webhook -> HTTP Request to an empty
server -> respond. Same node, same credential, same body; every key is new. Latency: one caller, the ways one after the other by
turns, so that whatever else the machine does strikes them alike. Throughput: ten callers, rounds by turns, the ratio formed within a
round, and its median.

    python3 n8n/e2e/bench.py [--lab DIR] [--gate BINARY] [--calls 300] [--rounds 6] [--seconds 10] [--legacy]

`--legacy` runs n8n with N8N_EXPRESSION_ENGINE=legacy and without saving successful executions: its fastest, so the hardest for
the gate. Goal: at most 10 ms more at p50, and none of n8n's throughput."""
import argparse
import http.client
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time
from urllib.parse import urlparse

import run
from lab import flow, install, web
from lab.ground import Ground
from lab.process import Program, free_port

GOAL_MS = 10
CALLERS = 10
LEGACY = {"N8N_EXPRESSION_ENGINE": "legacy", "EXECUTIONS_DATA_SAVE_ON_SUCCESS": "none"}
GATE, EMPTY, NONE = "reserve at the gate", "plain HTTP Request, empty server", "no HTTP node at all"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", type=pathlib.Path, default=run.ROOT / "target" / "n8n-lab")
    parser.add_argument("--gate", type=pathlib.Path)
    parser.add_argument("--calls", type=int, default=300, help="of each way, for the latency")
    parser.add_argument("--rounds", type=int, default=6, help="of the throughput")
    parser.add_argument("--seconds", type=float, default=10, help="of one way in one round")
    parser.add_argument("--legacy", action="store_true")
    return parser.parse_args()


class Way:
    """A published workflow and connections to its webhook."""

    def __init__(self, n8n, word, *middle):
        self.hook = urlparse(n8n.hook(word))
        self.ms, self.rates, self._local, self._keys = [], [], threading.local(), iter(range(10**9))
        n8n.deploy(flow.chain(word, flow.webhook(word, "responseNode"), *middle, flow.respond("{done: true}")))

    def call(self):
        """One execution, from the request to its answer, in milliseconds."""
        body = json.dumps({"order": f"{self.hook.path}-{next(self._keys)}"})
        begun = time.perf_counter()
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = http.client.HTTPConnection(self.hook.hostname, self.hook.port, timeout=60)
        connection.request("POST", self.hook.path, body, {"content-type": "application/json"})
        answer = connection.getresponse()
        told = answer.read()
        if answer.status != 200 or b"done" not in told:
            raise RuntimeError(f"{self.hook.path}: {answer.status} {told[:200]}")
        return (time.perf_counter() - begun) * 1000

    def rate(self, seconds):
        """Executions a second with ten callers."""
        done, end = [], time.perf_counter() + seconds

        def caller():
            while time.perf_counter() < end:
                self.call()
                done.append(1)

        begun = time.perf_counter()
        threads = [threading.Thread(target=caller) for _ in range(CALLERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(done) / (time.perf_counter() - begun)


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measure(ways, calls, rounds, seconds):
    order = list(ways.values())
    for way in order * 10:
        way.call()
    for turn in range(calls):
        # Each round begins with another way: none always follows the same one.
        for way in order[turn % len(order):] + order[:turn % len(order)]:
            way.ms.append(way.call())
    for turn in range(rounds):
        for way in order[turn % len(order):] + order[:turn % len(order)]:
            way.rates.append(way.rate(seconds))


def report(ways):
    """Prints the table and gives whether the goals are met."""
    print("| way | p50 ms | p95 ms | executions/s, median of rounds |\n| --- | --- | --- | --- |")
    for name, way in ways.items():
        print(f"| {name} | {quantile(way.ms, .5):.1f} | {quantile(way.ms, .95):.1f} | {statistics.median(way.rates):.1f} |")
    gate, empty = ways[GATE], ways[EMPTY]
    added = quantile(gate.ms, .5) - quantile(empty.ms, .5)
    pairs = statistics.median(a - b for a, b in zip(gate.ms, empty.ms))
    ratios = sorted(a / b for a, b in zip(gate.rates, empty.rates))
    ratio = statistics.median(ratios)
    print(f"\nadded at p50: {added:.1f} ms (median of the differences within a turn: {pairs:.1f} ms; goal: at most {GOAL_MS})")
    print(f"throughput against the empty server: {ratio:.3f} (rounds {ratios[0]:.3f} to {ratios[-1]:.3f}; goal: none taken)")
    print(f"load average {' '.join(f'{load:.1f}' for load in os.getloadavg())}, {os.cpu_count()} cores")
    return added <= GOAL_MS


def main():
    asked = arguments()
    lab, binary = asked.lab.resolve(), run.built(asked.gate)
    node, folder = install.lab(lab), pathlib.Path(tempfile.mkdtemp(prefix="n8n-bench-"))
    (folder / "n8n").mkdir()
    port = free_port()
    empty = Program([node / "node", run.HERE / "lab" / "empty.js", port], folder / "empty.log")
    ground = Ground(binary, lab, node, folder, **(LEGACY if asked.legacy else {}))
    try:
        ground.begin(with_node=False)
        forms = ground.forms.past_the_relay(ground.gate.url)
        reserve = forms.reserve()
        url = f"http://127.0.0.1:{port}/v1/runs"
        web.until("the empty server answers", lambda: web.ask("POST", url, {}).status == 200, 10)
        plain = {**reserve, "name": "Reserve", "parameters": {**reserve["parameters"], "url": url}}
        ways = {GATE: Way(ground.n8n, "bench-gate", reserve), EMPTY: Way(ground.n8n, "bench-empty", plain), NONE: Way(ground.n8n, "bench-none")}
        measure(ways, asked.calls, asked.rounds, asked.seconds)
        print(f"n8n {install.N8N}{', legacy expression engine, successes not saved' if asked.legacy else ', default settings'}, "
              f"{asked.calls} calls by turns, {asked.rounds} rounds of {asked.seconds:g} s with {CALLERS} callers\n")
        return 0 if report(ways) else 1
    finally:
        ground.close()
        empty.stop()


if __name__ == "__main__":
    sys.exit(main())
