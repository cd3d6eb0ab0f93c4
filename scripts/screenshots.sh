#!/usr/bin/env bash
# Pictures of every page and state (light, dark, phone; the card in five languages) into target/screenshots, or the
# folder given. Needs Chromium and chromedriver. EFFECTGATE_SERVE=1 keeps the town up afterwards, for a look by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-target/screenshots}")
mkdir -p "$folder"
EFFECTGATE_SCREENSHOTS=$folder cargo test -p effectgate --test pages -- --ignored --nocapture screenshots
echo "pictures in $folder"
