#!/usr/bin/env python3
"""The benchmarks of the README, side by side: every round runs the baseline and the gate one after the other, ratios are
formed within a round, and the median of the rounds is reported with its spread.

    bench/run.py [WORKLOAD ...] [--rounds 3] [--seconds 4] [--json FILE]

Needs: target/release/effectgate, wrk, pgbench and the PostgreSQL server binaries, cc (for the slow flush), python3.
PostgreSQL refuses root, so as root it is run as the user `postgres`.
"""
import argparse, ctypes, json, os, pathlib, pwd, re, shutil, signal, socket, statistics, subprocess, sys, tempfile, time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
GATE = HERE.parent / "target" / "release" / "effectgate"
KEY = "bench-key-bench-key-bench-key-bench-key"
HZ = os.sysconf("SC_CLK_TCK")


def pg_bin():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        sys.exit("no PostgreSQL server binaries")
    return found[-1]


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_of(pids):
    """User and system seconds of processes, their dead children included."""
    total = 0
    for pid in pids:
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += sum(map(int, fields[11:15]))
        except OSError:
            pass
    return total / HZ


def children(pid):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rsplit(")", 1)[1].split()[1]) == pid:
                found.append(int(stat.parent.name))
        except (OSError, ValueError):
            pass
    return found


def rss_mb(pid, field="VmRSS"):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(field + r":\s+(\d+)", text)[1]) / 1024


class Postgres:
    """A private server, durable: fsync and synchronous_commit on."""

    def __init__(self, env=None):
        self.dir = tempfile.mkdtemp(prefix="eg-bench-pg-")
        self.user = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        if self.user:
            os.chown(self.dir, self.user.pw_uid, self.user.pw_gid)
        self.port, self.data = port(), f"{self.dir}/data"
        self._run("initdb", "-N", "-D", self.data, "-U", "postgres", "-A", "trust").check_returncode()
        options = dict(listen_addresses="127.0.0.1", port=self.port, unix_socket_directories=self.dir,
                       shared_buffers="512MB", max_wal_size="4GB", max_connections=400)
        args = [f"-c{k}={v}" for k, v in options.items()]
        self.process = subprocess.Popen([pg_bin() / "postgres", "-D", self.data, *args], preexec_fn=self._drop,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, **(env or {})})
        for _ in range(100):
            if self.sql("select 1", check=False):
                break
            time.sleep(0.1)

    def _drop(self):
        if self.user:
            os.setgid(self.user.pw_gid)
            os.setuid(self.user.pw_uid)

    def _run(self, name, *args):
        return subprocess.run([pg_bin() / name, *args], preexec_fn=self._drop, capture_output=True, text=True)

    def url(self, db="postgres"):
        return f"postgres://postgres@127.0.0.1:{self.port}/{db}"

    def sql(self, text, check=True):
        done = subprocess.run(["psql", "-qAt", self.url(), "-c", text], capture_output=True, text=True)
        if check:
            done.check_returncode()
        return done.returncode == 0

    def pids(self):
        return [self.process.pid, *children(self.process.pid)]

    def pgbench(self, script, clients, seconds, *extra):
        schema = subprocess.run(["psql", "-q", self.url(), "-f", HERE / "schema.sql"], capture_output=True, text=True)
        schema.check_returncode()
        logs = tempfile.mkdtemp()
        before = cpu_of(self.pids())
        done = subprocess.run(
            ["pgbench", "-n", "-M", "prepared", "-f", HERE / f"{script}.sql", "-c", str(clients), "-j", str(min(clients, 2)),
             "-T", str(seconds), "-l", f"--log-prefix={logs}/l", *extra, self.url()], capture_output=True, text=True)
        rate = re.search(r"^tps = ([0-9.]+)", done.stdout, re.M)
        if not rate:
            sys.exit(done.stdout + done.stderr)
        took = sorted(int(line.split()[2]) for log in pathlib.Path(logs).iterdir() for line in log.open())
        shutil.rmtree(logs)
        # Backends are gone by now; their time is in the postmaster's children.
        cpu = cpu_of(self.pids()) - before
        return dict(rate=float(rate[1]), p50_ms=took[len(took) // 2] / 1000, cpu_us=cpu / len(took) * 1e6)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


class Gate:
    """The server under test, on a fresh database."""

    def __init__(self, database=None, env=None, config="", keep=None):
        self.dir = keep or tempfile.mkdtemp(prefix="eg-bench-")
        self.port = port()
        path = pathlib.Path(self.dir) / "bench.toml"
        text = (HERE / "bench.toml").read_text().replace("127.0.0.1:0", f"127.0.0.1:{self.port}") + config
        path.write_text(text)
        self.env = {**os.environ, "EFFECTGATE_BOOTSTRAP_KEY": KEY,
                    "EFFECTGATE__DATABASE__URL": database or f"sqlite:{self.dir}/bench.db", **(env or {})}
        self.log = open(f"{self.dir}/log", "w")
        began = time.monotonic()
        self.process = subprocess.Popen([GATE, "serve", "--config", path], env=self.env, stdout=self.log, stderr=self.log)
        for _ in range(3000):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5).read()
                break
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(open(f"{self.dir}/log").read())
                time.sleep(0.005)
        self.start_ms = (time.monotonic() - began) * 1000

    def wrk(self, connections, seconds, hot=0, batch=0, path=None):
        env = {**os.environ, "HOT": str(hot), "RUN": str(time.time_ns()), "TOKEN": KEY, "BATCH": str(batch)}
        script = ["-s", HERE / "reserve.lua"] if path is None else ["--latency"]
        before = cpu_of([self.process.pid])
        done = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", *script,
                               f"http://127.0.0.1:{self.port}{path or '/'}"], env=env, capture_output=True, text=True)
        cpu = cpu_of([self.process.pid]) - before
        if path:
            rate = float(re.search(r"Requests/sec:\s+([0-9.]+)", done.stdout)[1])
            return dict(rate=rate, cpu_us=cpu / (rate * seconds) * 1e6)
        found = json.loads(re.search(r"^\{.*\}$", done.stdout, re.M)[0])
        if found["non2xx"] or found["socket_errors"]:
            print("   !", found, file=sys.stderr)
        found["cpu_us"] = cpu / max(found["rate"] * seconds, 1) * 1e6
        return found

    def stop(self, keep=False):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        if not keep:
            shutil.rmtree(self.dir, ignore_errors=True)


def disk_commit_ms(n=400):
    """Median of append and fdatasync of 4 KiB: one durable commit of this disk."""
    with tempfile.NamedTemporaryFile(dir=tempfile.gettempdir()) as f:
        took = []
        for _ in range(n):
            began = time.perf_counter()
            os.write(f.fileno(), b"x" * 4096)
            os.fdatasync(f.fileno())
            took.append(time.perf_counter() - began)
    return statistics.median(took) * 1000


def slow_flush():
    library = pathlib.Path(tempfile.mkdtemp()) / "slowsync.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, HERE / "slowsync.c", "-ldl"], check=True)
    os.chmod(library.parent, 0o755)
    return {"LD_PRELOAD": str(library)}


def in_gate(run, **kw):
    gate = Gate(**kw)
    try:
        return run(gate)
    finally:
        gate.stop()


def fresh_db(pg):
    name = f"bench_{time.time_ns()}"
    pg.sql(f"create database {name}")
    return pg.url(name)


# --- workloads: each gives {"ours": …, "theirs": …, "ratio": …} for one round ------------------------------------------

def new_keys_sqlite(pg, s):
    theirs = pg.pgbench("reserve_new", 64, s)
    ours = in_gate(lambda g: g.wrk(64, s))
    ceiling = in_gate(lambda g: g.wrk(64, max(s // 2, 1), path="/healthz"))
    return dict(ours=ours, theirs=theirs, ceiling=ceiling, ratio=ours["rate"] / theirs["rate"])


def new_keys_batch(pg, s):
    theirs = pg.pgbench("reserve_new", 64, s)
    ours = in_gate(lambda g: g.wrk(16, s, batch=100))
    return dict(ours=ours, theirs=theirs, ratio=ours["rate"] / theirs["rate"])


def new_keys_postgres(connections):
    def run(pg, s):
        theirs = pg.pgbench("reserve_new", 64, s)
        before = cpu_of(pg.pids())
        ours = in_gate(lambda g: g.wrk(connections, s), database=fresh_db(pg))
        ours["cpu_us_database"] = (cpu_of(pg.pids()) - before) / max(ours["rate"] * s, 1) * 1e6
        return dict(ours=ours, theirs=theirs, ratio=ours["rate"] / theirs["rate"])
    return run


def one_connection(pg, s):
    disk = disk_commit_ms()
    ours = in_gate(lambda g: g.wrk(1, s))
    allowed = 3 * disk + 0.2
    return dict(ours=ours, theirs=dict(disk_commit_ms=disk, allowed_ms=allowed), ratio=ours["p50_ms"] / allowed)


def hot_keys(postgres):
    def run(pg, s):
        theirs = pg.pgbench("reserve_hot", 10, s, "-D", "hot=10")
        ours = in_gate(lambda g: g.wrk(10, s, hot=10), database=fresh_db(pg) if postgres else None)
        return dict(ours=ours, theirs=theirs, ratio=ours["rate"] / theirs["rate"])
    return run


def slow_disk(_, s):
    slow = slow_flush()
    theirs = in_gate(lambda g: g.wrk(64, s), env={**slow, "EFFECTGATE__DATABASE__BATCH_MAX": "1"})
    ours = in_gate(lambda g: g.wrk(64, s), env=slow)
    return dict(ours=ours, theirs=theirs, ratio=ours["rate"] / theirs["rate"])


def dispatch(postgres):
    def run(pg, s):
        args = ["--database", fresh_db(pg)] if postgres else []
        done = subprocess.run([GATE, "bench", "dispatch", "--seconds", str(s), "--json", *args], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        found = json.loads(done.stdout)["figures"][0]
        ours = dict(rate=found["per_second"], cpu_us=found["server_cpu_us"], wake_p50_ms=found["p50_us"] / 1000,
                    wake_p95_ms=found["p95_us"] / 1000, effects=found["operations"])
        return dict(ours=ours, theirs=dict(goal=2000), ratio=ours["rate"] / 2000)
    return run


def growth(_, s, many=1_000_000):
    """Reservation rate with a million keys there against ten thousand; start and memory with a million keys."""
    def filled(n):
        gate = Gate()
        left = n
        while left > 0:
            found = gate.wrk(64, 2 if n < 100_000 else 10, batch=100)
            left -= found["requests"] * 100
        return gate
    small = filled(10_000)
    theirs = small.wrk(64, s)
    small.stop()
    large = filled(many)
    folder = large.dir
    large.stop(keep=True)
    large = Gate(keep=folder)
    idle = rss_mb(large.process.pid)
    ours = large.wrk(64, s)
    ours |= dict(start_ms=large.start_ms, rss_idle_mb=idle, rss_load_mb=rss_mb(large.process.pid),
                 file_mb=os.path.getsize(f"{folder}/bench.db") / 2**20)
    large.stop()
    return dict(ours=ours, theirs=theirs, ratio=ours["rate"] / theirs["rate"])


def memory(_, s):
    def run(gate):
        idle = rss_mb(gate.process.pid)
        found = gate.wrk(64, s)
        return found | dict(rss_idle_mb=idle, rss_load_mb=rss_mb(gate.process.pid), rss_peak_mb=rss_mb(gate.process.pid, "VmHWM"))
    ours = in_gate(run)
    return dict(ours=ours, theirs=dict(idle_mb=20, load_mb=64), ratio=ours["rss_load_mb"] / 64)


WORKLOADS = {
    "new-sqlite-64": (new_keys_sqlite, ">= 1.5x pgbench -c 64"),
    "new-sqlite-batch": (new_keys_batch, "(no goal) 100 keys per POST"),
    "new-postgres-64": (new_keys_postgres(64), ">= 1.2x pgbench -c 64"),
    "new-postgres-256": (new_keys_postgres(256), ">= 2x pgbench -c 64"),
    "one-connection": (one_connection, "p50 <= 3 disk commits + 0.2 ms (ratio <= 1)"),
    "hot-sqlite": (hot_keys(False), ">= 4x pgbench hot"),
    "hot-postgres": (hot_keys(True), ">= 4x pgbench hot"),
    "slow-disk": (slow_disk, ">= 10x one commit per request"),
    "dispatch-sqlite": (dispatch(False), ">= 2000/s (ratio >= 1)"),
    "dispatch-postgres": (dispatch(True), ">= 2000/s (ratio >= 1)"),
    "growth": (growth, ">= 0.75 at 1,000,000 keys against 10,000"),
    "memory": (memory, "20 MB idle, 64 MB under 64 connections"),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", nargs="*", default=list(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--json")
    options = parser.parse_args()
    # A task that waits for a flush must not wait for the end of another program's time slice as well.
    attr = __import__("struct").pack("=IIQiIQQQ", 48, 0, 0, 0, 0, 100_000, 0, 0)
    ctypes.CDLL(None, use_errno=True).syscall(314, 0, attr, 0)
    pg, results = Postgres(), {}
    try:
        for name in options.workload:
            run, goal = WORKLOADS[name]
            rounds = 1 if name == "growth" else options.rounds
            found = [run(pg, options.seconds) for _ in range(rounds)]
            ratios = sorted(r["ratio"] for r in found)
            middle = statistics.median(ratios)
            results[name] = dict(goal=goal, ratio=middle, ratios=ratios, load=os.getloadavg()[0], rounds=found)
            short = lambda r: {k: round(v, 2) for k, v in r.items() if isinstance(v, (int, float)) and v}
            best = min(found, key=lambda r: abs(r["ratio"] - middle))
            print(f"{name}: ratio {middle:.2f} ({ratios[0]:.2f}..{ratios[-1]:.2f}), goal {goal}; load {os.getloadavg()[0]:.1f}")
            for side in ("ours", "theirs", "ceiling"):
                if side in best:
                    print(f"   {side}: {short(best[side])}", flush=True)
    finally:
        pg.stop()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
