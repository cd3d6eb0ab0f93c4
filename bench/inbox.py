#!/usr/bin/env python3
"""The inbox with 10,000 approvals waiting, once with 1,000 and once with 100,000 runs behind them, on both databases: the
store's pages (crates/store/examples/inbox.rs) and GET /inbox of a server on the same data. A page must be far below
100 ms and must not grow with what lies behind it.

    bench/inbox.py [--behind 1000,100000] [--only sqlite|postgres] [--no-page] [--json FILE]

Needs what run.py needs, and: cargo build --release; cargo build --release -p effectgate-store --example inbox
(with CARGO_TARGET_DIR they are looked for there).
"""
import argparse, json, os, pathlib, re, statistics, subprocess, sys, tempfile, time, urllib.error, urllib.parse, urllib.request

import run

RELEASE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", run.GATE.parent.parent)) / "release"
run.GATE = RELEASE / "effectgate"
PASSWORD = "a bench has a long password"
REPEATS = 200


def store(url, behind):
    done = subprocess.run([RELEASE / "examples" / "inbox", url, str(behind)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["figures"]


class Browser:
    """Cookies by hand: what a browser keeps for 127.0.0.1, Secure or not."""

    def __init__(self, port):
        self.base, self.cookies = f"http://127.0.0.1:{port}", {}
        self.opener = urllib.request.build_opener(type("Stay", (urllib.request.HTTPRedirectHandler,),
                                                       {"redirect_request": lambda *_: None}))

    def ask(self, path, form=None):
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items()), "Origin": self.base,
                   "Sec-Fetch-Site": "same-origin"}
        body = urllib.parse.urlencode(form).encode() if form else None
        try:
            answer = self.opener.open(urllib.request.Request(self.base + path, body, headers))
        except urllib.error.HTTPError as refused:
            answer = refused
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return answer.status, answer.read().decode()

    def sign_in(self):
        _, page = self.ask("/login")
        csrf = re.search(r'name="csrf" value="([^"]*)"', page)[1]
        status, text = self.ask("/login", dict(csrf=csrf, next="/inbox", user="lead", password=PASSWORD))
        if status != 303:
            sys.exit(f"not signed in: {status}\n{text}")


def page(url):
    """GET /inbox as its reader waits for it: over the loopback, one after the other."""
    gate = run.Gate(database=url)
    try:
        config = pathlib.Path(gate.dir) / "bench.toml"
        subprocess.run([run.GATE, "--config", config, "user", "add", "lead", "--roles", "support-lead,approver"], check=True,
                       env={**gate.env, "EFFECTGATE_PASSWORD": PASSWORD}, capture_output=True)
        browser, took = Browser(gate.port), []
        browser.sign_in()
        for _ in range(REPEATS):
            began = time.perf_counter()
            status, text = browser.ask("/inbox")
            took.append((time.perf_counter() - began) * 1000)
            assert status == 200 and "/approvals/apr_" in text, (status, text[:2000])
        took.sort()
        return dict(p50_ms=statistics.median(took), p95_ms=took[int(len(took) * 0.95)], max_ms=took[-1])
    finally:
        gate.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--behind", default="1000,100000")
    parser.add_argument("--only", choices=["sqlite", "postgres"])
    parser.add_argument("--no-page", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    results = {}
    for database in [options.only] if options.only else ["sqlite", "postgres"]:
        pg = run.Postgres() if database == "postgres" else None
        try:
            for behind in map(int, options.behind.split(",")):
                with tempfile.TemporaryDirectory(prefix="eg-inbox-") as folder:
                    url = run.fresh_db(pg) if pg else f"sqlite:{folder}/inbox.db"
                    figures = store(url, behind)
                    if not options.no_page:
                        figures["GET /inbox"] = page(url)
                results[f"{database}, {behind} behind"] = figures
                print(f"{database}, 10,000 waiting, {behind:,} runs behind (load {os.getloadavg()[0]:.1f})")
                for name, took in figures.items():
                    print(f"   {name:28} p50 {took['p50_ms']:8.2f} ms   p95 {took['p95_ms']:8.2f} ms   max {took['max_ms']:8.2f} ms",
                          flush=True)
        finally:
            if pg:
                pg.stop()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
