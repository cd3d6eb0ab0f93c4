#!/usr/bin/env python3
"""The gate beside a real n8n: every scenario with and without it, effects counted at the far side. Ends with 1 on any
difference to what is expected.

    python3 n8n/e2e/run.py [--lab DIR] [--gate BINARY] [--only WORD] [--keep]

Installs n8n 2.41.1 and Node 24 into the lab folder (target/n8n-lab) if they are not there: about 3 GB and ten minutes.
Everything listens on loopback, on free ports; only programs that this run started are ended."""
import argparse
import datetime
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from lab import install
from lab.ground import Ground
from lab.table import Table
from scenarios import agents, crashes, decisions, deliveries, events, examples, faults, resumes, retries

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODULES = [deliveries, faults, retries, crashes, decisions, resumes, events, agents, examples]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", type=pathlib.Path, default=ROOT / "target" / "n8n-lab", help="where n8n and Node are, or will be")
    parser.add_argument("--gate", type=pathlib.Path, help="the binary; without it one is built (cargo build --release)")
    parser.add_argument("--only", default="", help="only sentences with this word in their name; several with commas")
    parser.add_argument("--package", type=pathlib.Path, default=HERE.parent / "n8n-nodes-effectgate", help="the community node's source")
    parser.add_argument("--record", type=pathlib.Path, help="write the table into this page, between its marks")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the run: logs and databases")
    return parser.parse_args()


def built(given):
    """The binary to test."""
    if given:
        return given.resolve()
    subprocess.run(["cargo", "build", "--release", "-p", "effectgate"], cwd=ROOT, check=True)
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "release" / "effectgate"


def sentences(only):
    words = [word for word in only.split(",") if word]
    every = [sentence for module in MODULES for sentence in module.SENTENCES]
    return [sentence for sentence in every if not words or any(word in sentence.__name__ for word in words)]


def play(ground, counts, sentence):
    print(f"{sentence.__name__.replace('_', ' ')}", flush=True)
    begun = time.monotonic()
    try:
        sentence(ground, counts)
    except Exception as error:
        traceback.print_exc()
        counts.fault(f"{sentence.__name__}: {type(error).__name__}: {error}")
    finally:
        ground.pass_everything()
    print(f"  {time.monotonic() - begun:.0f} s", flush=True)


def record(page, counts, binary):
    """Puts the table where the page has its marks."""
    version = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()
    said = f"{datetime.date.today()}, n8n {install.N8N} on SQLite, one process, {version} on SQLite.\n\n{counts.text()}"
    before, rest = page.read_text().split("--record -->\n", 1)
    _, after = rest.split("<!-- end of counts -->", 1)
    page.write_text(f"{before}--record -->\n{said}\n<!-- end of counts -->{after}")


def main():
    asked = arguments()
    lab, binary, counts = asked.lab.resolve(), built(asked.gate), Table()
    node = install.lab(lab)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="n8n-e2e-"))
    (folder / "n8n").mkdir()
    install.community_node(asked.package.resolve(), lab, node, folder / "n8n")
    print(f"n8n {install.N8N}, {binary}, logs in {folder}", flush=True)
    # An end from outside is an end like any other: what was started is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    ground = Ground(binary, lab, node, folder)
    try:
        ground.begin()
        for sentence in sentences(asked.only):
            play(ground, counts, sentence)
    finally:
        ground.close()
        if not asked.keep and not counts.faults:
            shutil.rmtree(folder)
    print("\n" + counts.text() + "\n")
    if asked.record:
        record(asked.record, counts, binary)
    for fault in counts.faults:
        print(f"NOT as expected: {fault}")
    return 1 if counts.faults else 0


if __name__ == "__main__":
    sys.exit(main())
