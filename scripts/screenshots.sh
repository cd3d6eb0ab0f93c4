#!/usr/bin/env bash
# Pictures of the pages (light, dark, narrow) into target/screenshots, or the folder given. Needs Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-target/screenshots}")
mkdir -p "$folder"
EFFECTGATE_SCREENSHOTS=$folder cargo test -p effectgate-web --test pages_browser -- --ignored --nocapture screenshots
echo "pictures in $folder"
