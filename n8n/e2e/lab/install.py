"""Puts Node 24 and n8n below the lab's folder where they are not there yet, and the community node into n8n's own folder.

A plain `npm install n8n` fails: one dependency compiles and wants curl's headers. So install scripts are skipped and only
sqlite3 is built, with the headers that come with that very Node."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess

NODE, N8N = "24", "2.41.1"


def lab(folder):
    """Makes the lab complete and returns the folder of its `node`. The first time takes about ten minutes and 3 GB."""
    folder.mkdir(parents=True, exist_ok=True)
    node = node_at(folder) or _install_node(folder)
    if version_of_n8n(folder) != N8N:
        _install_n8n(folder, node)
    return node


def environment(node, **more):
    """The environment of a program that must find this Node first."""
    return {**os.environ, "PATH": f"{node}:{os.environ['PATH']}", "npm_config_update_notifier": "false", **more}


def node_at(folder):
    found = sorted((folder / "node24" / "node_modules").glob("**/node-*/bin/node"))
    return found[0].parent if found else None


def version_of_n8n(folder):
    manifest = folder / "app" / "node_modules" / "n8n" / "package.json"
    built = (folder / "app" / "node_modules" / "sqlite3" / "build" / "Release" / "node_sqlite3.node").exists()
    return json.loads(manifest.read_text())["version"] if built and manifest.exists() else None


def community_node(source, folder, node, user_folder):
    """Builds the package at `source` below the lab's folder, packs it, and installs it where n8n looks for installed community
    packages; the types are then called as after an installation from the registry. What is packed already is not built again."""
    build, stamp = folder / "node-build", _digest(source)
    package = folder / f"n8n-nodes-effectgate-{stamp}.tgz"
    if not package.exists():
        _build(source, build, node)
        shutil.copy(next(build.glob("*.tgz")), package)
    place = user_folder / ".n8n" / "nodes"
    _project(place, "installed-nodes")
    _run(node, place, "npm", "install", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", str(package))


def _digest(source):
    """Changes with every file of the package that can change what is packed."""
    digest = hashlib.sha256()
    for path in sorted(source.rglob("*")):
        parts = path.relative_to(source).parts
        if path.is_file() and not {"node_modules", "dist", "test"} & set(parts):
            digest.update("/".join(parts).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def _build(source, build, node):
    lock = (source / "package-lock.json").read_bytes()
    shutil.copytree(source, build, ignore=shutil.ignore_patterns("node_modules", "dist", "*.tgz"), dirs_exist_ok=True)
    installed = build / "installed-lock.json"
    if not installed.exists() or installed.read_bytes() != lock:
        print(f"installing what builds the node into {build}", flush=True)
        _run(node, build, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        installed.write_bytes(lock)
    for old in build.glob("*.tgz"):
        old.unlink()
    _run(node, build, "npm", "run", "build")
    _run(node, build, "npm", "pack", "--silent")


def _install_node(folder):
    place = folder / "node24"
    _project(place, "lab-node")
    print(f"installing Node {NODE} into {place}", flush=True)
    subprocess.run(["npm", "install", f"node@{NODE}", "--no-audit", "--no-fund"], cwd=place, check=True)
    return node_at(folder)


def _install_n8n(folder, node):
    place = folder / "app"
    _project(place, "lab-n8n")
    print(f"installing n8n {N8N} into {place}: some ten minutes", flush=True)
    _run(node, place, "npm", "install", f"n8n@{N8N}", "--ignore-scripts", "--no-audit", "--no-fund")
    _run(node, place, "npm", "rebuild", "sqlite3", npm_config_nodedir=str(node.parent))
    _run(node, place, "node", "-e", "require('sqlite3'); require('isolated-vm')")


def _project(place, name):
    place.mkdir(parents=True, exist_ok=True)
    manifest = place / "package.json"
    if not manifest.exists():
        manifest.write_text(json.dumps({"name": name, "version": "0.0.0", "private": True}))


def _run(node, place, *command, **env):
    done = subprocess.run(command, cwd=place, env=environment(node, **env), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} in {pathlib.Path(place).name}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
