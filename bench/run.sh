#!/usr/bin/env bash
# Builds the release binary and runs every benchmark. Takes about ten minutes after the build.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --locked --release
exec python3 bench/run.py "$@"
